//! npm's settings that decide on the tree, as `.npmrc`, the environment and a command line give them, under npm's names.

use crate::error::Fault;
use crate::request::{Changes, LockUse};
use gantry_layout::Omit;
use gantry_manifest::{Config, DependencyKind};
use gantry_resolver::{Allowance, Allowances, InstallStrategy, ResolveOptions, Target};
use gantry_spec::Version;
use std::time::{Duration, UNIX_EPOCH};

/// Settings of npm that change the result and that are not there yet: better said than passed over.
const UNSUPPORTED: [(&str, bool); 1] = [("global", true)];

/// npm's setting to change nothing and tell what would be changed.
const DRY_RUN: &str = "dry-run";

/// Settings that only the command has.
const OF_THE_COMMAND: [(&str, bool); 3] = [("bin-links", false), ("install-links", true), (DRY_RUN, true)];

/// Refuses settings that an install would have to pass over.
pub fn refuse_unsupported(config: &Config) -> Result<(), Fault> {
    refuse(config, &UNSUPPORTED)?;
    refuse(config, &OF_THE_COMMAND)
}

/// As [`refuse_unsupported`], by the command, which can tell what an install would change, and install for the whole machine, if
/// this one `is_global`. Gives back whether it is to do no more than tell.
pub fn dry_run_of(config: &Config, is_global: bool) -> Result<bool, Fault> {
    if !is_global {
        refuse(config, &UNSUPPORTED)?;
    }
    Ok(config.get_bool(DRY_RUN) == Some(true))
}

fn refuse(config: &Config, unsupported: &[(&str, bool)]) -> Result<(), Fault> {
    for (key, value) in unsupported {
        if config.get_bool(key) == Some(*value) {
            return Err(Fault::new("CONFIG_UNSUPPORTED", format!("the setting {key}={value} is not supported here"))
                .with_hint("Remove it from .npmrc or the environment for this project."));
        }
    }
    Ok(())
}

/// npm refuses to run with these as well: nobody can tell which registry they are for. Those of the environment it only passes
/// over.
pub fn refuse_credentials_without_address(files: &Config) -> Result<(), Fault> {
    let names = files.credentials_without_address();
    let Some(first) = names.first() else { return Ok(()) };
    let first = if first.ends_with("authtoken") { "_authToken" } else { first };
    Err(Fault::of_setting(format!("credentials for no registry in particular are never sent: {}", names.join(", ")))
        .with_hint(format!("Write //host/path/:{first}=… with the registry's address in .npmrc.")))
}

/// The rules of a resolution for a machine. Gives back what is wrong with a setting.
///
/// Left to who knows them: `before`, which takes a clock, and where the project is.
pub fn resolve_settings(config: &Config, target: Target, omit: &Omit) -> Result<ResolveOptions, String> {
    let is = |key: &str| config.get_bool(key) == Some(true);
    let mut options = ResolveOptions::default();
    options.target = target;
    (options.omit_dev, options.omit_optional, options.omit_peer) = (omit.dev, omit.optional, omit.peer);
    options.save = config.get_bool("save") != Some(false);
    options.strategy = match config.get("install-strategy") {
        None | Some("hoisted" | "") => InstallStrategy::Hoisted,
        Some("nested") => InstallStrategy::Nested,
        Some("shallow") => InstallStrategy::Shallow,
        Some("linked") => InstallStrategy::Linked,
        Some(other) => return Err(format!("install-strategy={other} is none of hoisted, nested, shallow, linked")),
    };
    // The names that these had before npm 9; the later one counts.
    if is("global-style") {
        options.strategy = InstallStrategy::Shallow;
    }
    if is("legacy-bundling") {
        options.strategy = InstallStrategy::Nested;
    }
    options.legacy_peer_deps = is("legacy-peer-deps");
    options.strict_peer_deps = is("strict-peer-deps");
    options.force = is("force");
    options.prefer_dedupe = is("prefer-dedupe");
    options.engine_strict = is("engine-strict");
    if let Some(tag) = config.get("tag").filter(|tag| !tag.is_empty() && *tag != "null") {
        tag.clone_into(&mut options.default_tag);
    }
    options.before_exclude = config.get_list("min-release-age-exclude");
    options.allowed = Allowances {
        git: allowance(config, "allow-git")?,
        remote: allowance(config, "allow-remote")?,
        file: allowance(config, "allow-file")?,
        directory: allowance(config, "allow-directory")?,
    };
    options.install_links = is("install-links");
    options.omit_resolved = is("omit-lockfile-registry-resolved");
    Ok(options)
}

fn allowance(config: &Config, key: &str) -> Result<Allowance, String> {
    match config.get(key) {
        None | Some("all" | "") => Ok(Allowance::All),
        Some("root") => Ok(Allowance::Root),
        Some("none") => Ok(Allowance::None),
        Some(other) => Err(format!("{key}={other} is none of all, root, none")),
    }
}

/// What is left out: kinds that `omit` names and `include` does not. Gives back what is wrong with a setting.
pub fn omitted(omit: &[String], include: &[String]) -> Result<Omit, String> {
    let kinds = |key: &str, names: &[String]| {
        let names = names.iter().map(String::as_str).filter(|name| !matches!(*name, "" | "prod"));
        Omit::from_names(names).map_err(|other| format!("{key}={other}: it is none of dev, optional, peer"))
    };
    let (omit, include) = (kinds("omit", omit)?, kinds("include", include)?);
    Ok(Omit {
        dev: omit.dev && !include.dev,
        optional: omit.optional && !include.optional,
        peer: omit.peer && !include.peer,
    })
}

/// npm's `lockfile-version`.
pub fn lockfile_version(config: &Config) -> Result<Option<u32>, Fault> {
    let text = config.get("lockfile-version").map(str::trim).filter(|text| !matches!(*text, "" | "null"));
    let Some(text) = text else { return Ok(None) };
    match text.parse() {
        Ok(version @ 1..=3) => Ok(Some(version)),
        _ => Err(Fault::of_setting(format!("lockfile-version={text}: it is none of 1, 2, 3"))
            .with_hint("Leave it out to keep the version of the lock that is there.")),
    }
}

/// npm's `package-lock`, of which `shrinkwrap` is another name, and `save`. Who asks for the lock alone gets one.
pub fn lock_use(config: &Config) -> LockUse {
    let is_off = |key: &str| config.get_bool(key) == Some(false);
    let ignored = match config.get_bool("package-lock") {
        Some(wanted) => !wanted,
        None => is_off("shrinkwrap"),
    };
    if ignored && config.get_bool("package-lock-only") != Some(true) {
        LockUse::Ignore
    } else if is_off("save") {
        LockUse::Read
    } else {
        LockUse::ReadAndWrite
    }
}

/// npm's `node-version`, a version in full: a range, or `20`, would say nothing of the packages that need 20.1.
pub fn configured_node_version(config: &Config) -> Result<Option<String>, Fault> {
    let Some(text) = config.get("node-version").filter(|text| !text.is_empty() && *text != "null") else {
        return Ok(None);
    };
    let version = text.trim().trim_start_matches('v');
    match Version::parse_strict(version) {
        Some(_) => Ok(Some(version.to_owned())),
        None => Err(Fault::of_setting(format!("node-version={text} is not a version"))
            .with_hint("Write it in full, as node --version prints it: 20.11.1")),
    }
}

/// npm's `omit` less its `include`, with the older settings that mean the same.
pub fn configured_omit(config: &Config, node_env: Option<&str>) -> Result<Omit, Fault> {
    let mut omit = config.get_list("omit");
    let mut include = config.get_list("include");
    let add = |list: &mut Vec<String>, kind: &str| list.push(kind.to_owned());
    let is = |key: &str| config.get_bool(key);
    if config.get("omit").is_none() && node_env == Some("production") {
        add(&mut omit, "dev");
    }
    if is("production") == Some(true) || matches!(config.get("only"), Some("prod" | "production")) {
        add(&mut omit, "dev");
    } else if is("production") == Some(false) {
        add(&mut include, "dev");
    }
    if is("dev") == Some(true) || config.get("also").is_some_and(|kind| kind.starts_with("dev")) {
        add(&mut include, "dev");
    }
    match is("optional") {
        Some(true) => add(&mut include, "optional"),
        Some(false) => add(&mut omit, "optional"),
        None => {}
    }
    omitted(&omit, &include).map_err(Fault::of_setting)
}

/// The time after which versions do not exist: `before`, or so many days ago (`min-release-age`), whichever is set closer to
/// the command line. `now` is in milliseconds since 1970.
pub fn cutoff(config: &Config, now: f64) -> Result<Option<String>, Fault> {
    let text = |key: &str| config.get(key).filter(|value| !value.is_empty() && *value != "null");
    let Some(key) = config.more_specific("before", "min-release-age") else { return Ok(None) };
    if key == "before" {
        return Ok(text("before").map(str::to_owned));
    }
    let Some(age) = text("min-release-age") else { return Ok(None) };
    let days = age.trim().parse::<f64>().ok().filter(|days| days.is_finite() && *days >= 0.0);
    let days = days.ok_or_else(|| Fault::of_setting(format!("min-release-age={age} is not a number of days")))?;
    let then = Duration::try_from_secs_f64((now / 1000.0 - days * 86_400.0).floor()).ok().filter(|_| days > 0.0);
    Ok(then.map(|then| humantime::format_rfc3339_seconds(UNIX_EPOCH + then).to_string()))
}

/// How npm's settings would have it saved what is added to a project; nothing is.
pub fn changes_saved(config: &Config) -> Changes {
    let is = |key: &str| config.get_bool(key) == Some(true);
    let mut changes =
        Changes { kind: kind(config), save: config.get_bool("save") != Some(false), ..Changes::default() };
    // Peers cannot be bundled.
    changes.bundle = is("save-bundle") && !is("save-peer");
    if is("save-exact") {
        changes.prefix.clear();
    } else if let Some(prefix) = config.get("save-prefix") {
        prefix.clone_into(&mut changes.prefix);
    }
    changes
}

fn kind(config: &Config) -> Option<DependencyKind> {
    let is = |key: &str| config.get_bool(key) == Some(true);
    match (is("save-optional"), is("save-peer")) {
        (true, true) => Some(DependencyKind::PeerOptional),
        (true, false) => Some(DependencyKind::Optional),
        (false, true) => Some(DependencyKind::Peer),
        (false, false) if is("save-dev") => Some(DependencyKind::Development),
        (false, false) => is("save-prod").then_some(DependencyKind::Production),
    }
}
