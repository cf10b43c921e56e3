//! npm's settings and what each takes as an option, from the definitions that npm 11 comes with
//! (`@npmcli/config/lib/definitions/definitions.js`), with the short forms that it has for them.
//!
//! Left out is `versions`, which is a command of its own.

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`, and nothing else unless it is one of these.
    Switch(&'static [&'static str]),
    /// `true`, `false` or a text.
    SwitchOrText,
    /// A text, a number, a path, an address, a time.
    Value,
    /// The same, or nothing: `--no-name`.
    ValueOrNone,
    /// Any number of texts, each by an option of its own.
    List,
}

const SWITCHES: &[&str] = &[
    "all",
    "allow-same-version",
    "allow-scripts-pending",
    "allow-scripts-pin",
    "audit",
    "bin-links",
    "bypass-2fa",
    "commit-hooks",
    "dangerously-allow-all-scripts",
    "description",
    "dev",
    "diff-ignore-all-space",
    "diff-name-only",
    "diff-no-prefix",
    "diff-text",
    "dry-run",
    "engine-strict",
    "force",
    "foreground-scripts",
    "format-package-lock",
    "fund",
    "git-tag-version",
    "global",
    "global-style",
    "if-present",
    "ignore-scripts",
    "include-attestations",
    "include-staged",
    "include-workspace-root",
    "init-private",
    "install-links",
    "json",
    "legacy-bundling",
    "legacy-peer-deps",
    "link",
    "long",
    "offline",
    "omit-lockfile-registry-resolved",
    "package-lock",
    "package-lock-only",
    "packages-all",
    "parseable",
    "prefer-dedupe",
    "prefer-offline",
    "prefer-online",
    "progress",
    "provenance",
    "read-only",
    "rebuild-bundle",
    "save",
    "save-bundle",
    "save-dev",
    "save-exact",
    "save-optional",
    "save-peer",
    "save-prod",
    "shrinkwrap",
    "sign-git-commit",
    "sign-git-tag",
    "strict-allow-scripts",
    "strict-peer-deps",
    "strict-ssl",
    "timing",
    "unicode",
    "update-notifier",
    "usage",
    "version",
    "workspaces-update",
];

/// Switches that are off, on or neither.
const SWITCHES_OR_NONE: &[&str] = &["expect-results", "optional", "production", "workspaces", "yes"];

const VALUES: &[&str] = &[
    "allow-directory",
    "allow-file",
    "allow-git",
    "allow-remote",
    "auth-type",
    "cache",
    "cache-max",
    "cache-min",
    "cafile",
    "call",
    "diff-dst-prefix",
    "diff-src-prefix",
    "diff-unified",
    "editor",
    "fetch-retries",
    "fetch-retry-factor",
    "fetch-retry-maxtimeout",
    "fetch-retry-mintimeout",
    "fetch-timeout",
    "git",
    "globalconfig",
    "heading",
    "init-author-email",
    "init-author-name",
    "init-author-url",
    "init-license",
    "init-module",
    "init-type",
    "init-version",
    "init.author.email",
    "init.author.name",
    "init.author.url",
    "init.license",
    "init.module",
    "init.version",
    "install-strategy",
    "location",
    "loglevel",
    "logs-max",
    "maxsockets",
    "message",
    "node-gyp",
    "pack-destination",
    "prefix",
    "preid",
    "provenance-file",
    "registry",
    "replace-registry-host",
    "save-prefix",
    "sbom-format",
    "sbom-type",
    "scope",
    "searchexclude",
    "searchlimit",
    "searchopts",
    "searchstaleness",
    "shell",
    "tag",
    "tag-version-prefix",
    "umask",
    "user-agent",
    "userconfig",
    "viewer",
];

const VALUES_OR_NONE: &[&str] = &[
    "_auth",
    "access",
    "also",
    "audit-level",
    "before",
    "cert",
    "cpu",
    "depth",
    "expect-result-count",
    "expires",
    "https-proxy",
    "key",
    "libc",
    "local-address",
    "lockfile-version",
    "logs-dir",
    "min-release-age",
    "name",
    "node-options",
    "only",
    "orgs-permission",
    "os",
    "otp",
    "packages-and-scopes-permission",
    "password",
    "proxy",
    "script-shell",
    "token-description",
    "which",
];

const LISTS: &[&str] = &[
    "allow-scripts",
    "ca",
    "cidr",
    "diff",
    "include",
    "min-release-age-exclude",
    "noproxy",
    "omit",
    "orgs",
    "package",
    "packages",
    "scopes",
    "workspace",
];

const GROUPS: &[(&[&str], Kind)] = &[
    (SWITCHES, Kind::Switch(&[])),
    (SWITCHES_OR_NONE, Kind::Switch(&["null"])),
    (&["color"], Kind::Switch(&["always"])),
    (&["browser"], Kind::SwitchOrText),
    (VALUES, Kind::Value),
    (VALUES_OR_NONE, Kind::ValueOrNone),
    (LISTS, Kind::List),
];

/// Short forms, and the words that each stands for.
const SHORT_FORMS: &[(&str, &[&str])] = &[
    ("?", &["--usage"]),
    ("B", &["--save-bundle"]),
    ("C", &["--prefix"]),
    ("D", &["--save-dev"]),
    ("E", &["--save-exact"]),
    ("H", &["--usage"]),
    ("L", &["--location"]),
    ("O", &["--save-optional"]),
    ("P", &["--save-prod"]),
    ("S", &["--save"]),
    ("a", &["--all"]),
    ("c", &["--call"]),
    ("d", &["--loglevel", "info"]),
    ("dd", &["--loglevel", "verbose"]),
    ("ddd", &["--loglevel", "silly"]),
    ("desc", &["--description"]),
    ("enjoy-by", &["--before"]),
    ("f", &["--force"]),
    ("g", &["--global"]),
    ("h", &["--usage"]),
    ("iwr", &["--include-workspace-root"]),
    ("l", &["--long"]),
    ("local", &["--no-global"]),
    ("m", &["--message"]),
    ("n", &["--no-yes"]),
    ("no", &["--no-yes"]),
    ("p", &["--parseable"]),
    ("porcelain", &["--parseable"]),
    ("q", &["--loglevel", "warn"]),
    ("quiet", &["--loglevel", "warn"]),
    ("readonly", &["--read-only"]),
    ("reg", &["--registry"]),
    ("s", &["--loglevel", "silent"]),
    ("silent", &["--loglevel", "silent"]),
    ("v", &["--version"]),
    ("verbose", &["--loglevel", "verbose"]),
    ("w", &["--workspace"]),
    ("ws", &["--workspaces"]),
    ("y", &["--yes"]),
];

fn settings() -> impl Iterator<Item = (&'static str, Kind)> {
    GROUPS.iter().flat_map(|(names, kind)| names.iter().map(|name| (*name, *kind)))
}

/// The names of all settings.
pub fn setting_names() -> impl Iterator<Item = &'static str> {
    settings().map(|(name, _)| name)
}

/// The setting of this name.
pub fn setting(name: &str) -> Option<(&'static str, Kind)> {
    settings().find(|(other, _)| *other == name)
}

/// Whether a setting is on or off.
pub fn is_switch(name: &str) -> bool {
    setting(name).is_some_and(|(_, kind)| matches!(kind, Kind::Switch(_)))
}

/// The one setting whose name begins so: npm 11 still takes `--prod` for `--production`.
pub fn abbreviated(beginning: &str) -> Option<(&'static str, Kind)> {
    let mut found = settings().filter(|(name, _)| name.starts_with(beginning));
    found.next().filter(|_| found.next().is_none())
}

/// What a short form stands for.
pub fn short_form(name: &str) -> Option<&'static [&'static str]> {
    SHORT_FORMS.iter().find(|(short, _)| *short == name).map(|(_, words)| *words)
}
