//! What steers a resolution: the machine it is for, and npm's settings that change the tree.

use gantry_manifest::{TextStyle, YarnLock};
use gantry_spec::SpecKind;
use std::sync::Arc;

/// How packages are laid out below `node_modules`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum InstallStrategy {
    /// As high as possible, nested on conflict: npm's default.
    #[default]
    Hoisted,
    /// In place, nothing shared (`legacy-bundling`).
    Nested,
    /// Only direct dependencies at the top (`global-style`).
    Shallow,
    /// Links into a store folder.
    Linked,
}

/// The machine a tree is resolved for. Node's and npm's versions steer which versions are picked; operating system,
/// processor and C library only decide which optional packages are installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As in `process.platform`: `linux`, `darwin`, `win32`.
    pub os: String,
    /// As in `process.arch`: `x64`, `arm64`, `wasm32`.
    pub cpu: String,
    /// `glibc` or `musl`, where it is known.
    pub libc: Option<String>,
    /// Without the leading `v`; empty when unknown, which accepts every `engines.node`.
    pub node_version: String,
    /// The npm version that `engines.npm` is checked against; empty accepts all.
    pub npm_version: String,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            os: "linux".to_owned(),
            cpu: "x64".to_owned(),
            libc: Some("glibc".to_owned()),
            node_version: "20.20.2".to_owned(),
            npm_version: "11.19.1".to_owned(),
        }
    }
}

/// Whose packages may come from somewhere else than a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Allowance {
    /// Anybody's.
    #[default]
    All,
    /// Those that the project or one of its workspaces asks for.
    Root,
    /// Nobody's.
    None,
}

/// What may come from somewhere else than a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allowances {
    /// `allow-git`: repositories.
    pub git: Allowance,
    /// `allow-remote`: tarballs at an address.
    pub remote: Allowance,
    /// `allow-file`: tarballs on disk.
    pub file: Allowance,
    /// `allow-directory`: folders.
    pub directory: Allowance,
}

impl Allowances {
    /// Why what a specifier means may not be had, for somebody who `is_own` if it is the project or one of its workspaces;
    /// `None` where it may.
    pub fn refusal(&self, kind: &SpecKind, is_own: bool) -> Option<String> {
        let (allowance, kind) = match kind {
            SpecKind::Git(_) => (self.git, "git"),
            SpecKind::Remote { .. } => (self.remote, "remote"),
            SpecKind::File { .. } => (self.file, "file"),
            SpecKind::Directory { .. } => (self.directory, "directory"),
            _ => return None,
        };
        match allowance {
            Allowance::All => None,
            Allowance::Root if is_own => None,
            Allowance::Root => {
                Some(format!("packages of type {kind:?} that the project does not ask for itself are not allowed"))
            }
            Allowance::None => Some(format!("packages of type {kind:?} are not allowed")),
        }
    }

    /// Whether nothing is forbidden.
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}

/// When packages that bring others along, or list them in a shrinkwrap of their own, are looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Opening {
    /// As they are placed, before what is placed after them (`package-lock-only`; `complete` of arborist's `buildIdealTree`).
    #[default]
    Placed,
    /// As they are unpacked, once the tree stands (`loadShrinkwrapsAndUpdateTrees` and `loadBundlesAndUpdateTrees` in arborist's
    /// `reify.js`). What they need and do not list in a shrinkwrap stays missing, and what they bring along counts only then.
    Unpacked,
    /// As by [`Unpacked`](Self::Unpacked), but nothing is unpacked.
    Never,
}

/// The project's `yarn.lock`, and what is needed to understand it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct YarnHints {
    /// The file.
    pub lock: Arc<YarnLock>,
    /// The host that Yarn has for npm's public registry; empty where it is not known.
    pub yarn_host: String,
    /// That registry's own host.
    pub npm_host: String,
}

/// npm's settings that change the tree, under npm's names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResolveOptions {
    /// The machine.
    pub target: Target,
    /// `install-strategy`.
    pub strategy: InstallStrategy,
    /// `legacy-peer-deps`: peer dependencies make no edges at all.
    pub legacy_peer_deps: bool,
    /// `strict-peer-deps`: conflicts below the root fail too.
    pub strict_peer_deps: bool,
    /// `force`: peer conflicts, wrong overrides and wrong platforms never fail.
    pub force: bool,
    /// `prefer-dedupe`.
    pub prefer_dedupe: bool,
    /// `engine-strict`: wrong engines fail instead of warning.
    pub engine_strict: bool,
    /// `tag`: what a bare name and `latest` preference mean.
    pub default_tag: String,
    /// `before`: an ISO 8601 time; younger versions are not considered.
    pub before: Option<String>,
    /// `min-release-age-exclude`: names of packages, or patterns of names, to which `before` does not apply.
    pub before_exclude: Vec<String>,
    /// What may come from somewhere else than a registry.
    pub allowed: Allowances,
    /// `install-links`: folders that the project does not have inside of it, and those that packages made of folders ask for, are
    /// packed and installed as other packages are, and not linked to.
    pub install_links: bool,
    /// `global`: the project is the folder of what is installed for the whole machine. Each package has what it needs in itself,
    /// its peers, too, so that none comes in another one's way.
    pub global: bool,
    /// `omit-lockfile-registry-resolved`.
    pub omit_resolved: bool,
    /// `save`: when false (`npm ci`, `--no-save`) optional peers that do not fit are left alone.
    pub save: bool,
    /// `omit` contains `dev`, `optional`, `peer`: such packages are not checked for engines and platform.
    pub omit_dev: bool,
    /// See [`omit_dev`](Self::omit_dev).
    pub omit_optional: bool,
    /// See [`omit_dev`](Self::omit_dev).
    pub omit_peer: bool,
    /// Name of the project's folder, which the lock file carries when the manifest has no name.
    pub folder_name: String,
    /// The project's folder, absolute, for specifiers that name absolute paths; empty where there is no such thing.
    pub project_path: String,
    /// The user's home folder, absolute, for specifiers that start with `~/`; empty where there is none.
    pub home_path: String,
    /// Indentation and line ends of the lock file: those of `package.json`. `None` keeps the lock's, or npm's default.
    pub style: Option<TextStyle>,
    /// The project's `yarn.lock`: a hint for what is looked up where there is no lock, and brought up to date.
    pub yarn: Option<YarnHints>,
    /// Direct dependencies the user asked for by name just now: they are looked up again even where they fit.
    pub explicit: Vec<String>,
    /// Whose dependencies `explicit` are: folders of workspaces, relative to the project, and the empty path for the project
    /// itself. They are looked at before what the project depends on.
    pub explicit_in: Vec<String>,
    /// Packages to be looked up again wherever they are (`npm update name`).
    pub update: Vec<String>,
    /// Everything is looked up again: neither a lock nor a tree is started from, though there may be either.
    pub update_all: bool,
    /// Whether the user asked for a change (`npm install name`, `uninstall`, `update`), rather than for what the files say.
    pub requested: bool,
    /// When packages are looked into.
    pub opening: Opening,
    /// Whether the tree that is there is started from, and not a lock. What that says its packages are there for is believed,
    /// as npm believes its hidden lock, unless it is more than what follows from it.
    pub from_tree: bool,
}

impl Default for ResolveOptions {
    fn default() -> Self {
        Self {
            target: Target::default(),
            strategy: InstallStrategy::default(),
            legacy_peer_deps: false,
            strict_peer_deps: false,
            force: false,
            prefer_dedupe: false,
            engine_strict: false,
            default_tag: "latest".to_owned(),
            before: None,
            before_exclude: Vec::new(),
            allowed: Allowances::default(),
            install_links: false,
            global: false,
            omit_resolved: false,
            save: true,
            omit_dev: false,
            omit_optional: false,
            omit_peer: false,
            folder_name: String::new(),
            project_path: String::new(),
            home_path: String::new(),
            style: None,
            yarn: None,
            explicit: Vec::new(),
            explicit_in: vec![String::new()],
            update: Vec::new(),
            update_all: false,
            requested: false,
            opening: Opening::default(),
            from_tree: false,
        }
    }
}
