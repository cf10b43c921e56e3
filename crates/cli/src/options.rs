//! The command line.

mod review;

pub use review::{
    ApproveScriptsArguments, DenyScriptsArguments, InstallScriptsArguments, Review, ReviewArguments, Which,
};

use clap::{Args, Parser, Subcommand, ValueEnum};
use gantry_manifest::NpmrcValue;
use std::path::PathBuf;

/// Installs npm packages as npm does, faster.
#[derive(Debug, Parser)]
#[command(
    name = "gantry",
    version,
    propagate_version = true,
    after_help = "Settings of npm are options, too, in the forms that npm takes."
)]
pub struct Options {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Install a project's dependencies, with packages named also these, and bring its lock file up to date; with `-g` packages for
    /// the whole machine.
    #[command(visible_aliases = ["i", "add"], aliases = ["in", "ins", "inst", "insta", "instal"])]
    Install(AddArguments),
    /// Remove packages from a project's dependencies.
    #[command(visible_aliases = ["remove", "rm", "un"], aliases = ["r", "unlink"])]
    Uninstall(RemoveArguments),
    /// Bring packages up to date as far as package.json allows: those named, else all.
    #[command(visible_aliases = ["up", "upgrade"])]
    Update(UpdateArguments),
    /// Take out of the tree and the lock what nothing needs, and out of the tree what `--omit` names.
    Prune(InstallArguments),
    /// Look up again what is in the tree more than once, so that fewer packages do.
    #[command(visible_alias = "ddp")]
    Dedupe(InstallArguments),
    /// Tell what `dedupe` would change.
    FindDupes(InstallArguments),
    /// Install exactly what the lock file says; fail where it does not fit package.json.
    #[command(visible_alias = "clean-install", aliases = ["ic", "install-clean"])]
    Ci(InstallArguments),
    /// Link to the project's folder for the whole machine; with packages, link in the project to what is there, or to folders.
    #[command(visible_alias = "ln")]
    Link(LinkArguments),
    /// Run the scripts of installed packages that may run them: of those named, else of all.
    #[command(visible_alias = "rb")]
    Rebuild(RebuildArguments),
    /// Let installed packages run their scripts: write them into `allowScripts` of package.json.
    ApproveScripts(ApproveScriptsArguments),
    /// Refuse it to them in all versions.
    DenyScripts(DenyScriptsArguments),
    /// Look after `allowScripts` of package.json: approve, deny, list packages of which it says nothing, take out what means
    /// nothing any more.
    InstallScripts(InstallScriptsArguments),
    /// Tell what is in the tree, and what is wrong there: what the project asks for, or packages and who asks for them.
    #[command(visible_alias = "list")]
    Ls(ListArguments),
    /// Tell of which packages the registry has newer versions than are installed.
    Outdated(OutdatedArguments),
    /// Tell why packages are in the tree: who depends on them, up to the project.
    Why(WhyArguments),
    /// Tell which peer dependencies contradict each other, and which changes would end it; with packages, the same as `why`.
    Explain(ExplainArguments),
    /// Print a digest of node_modules that is the same on every platform.
    Digest(DigestArguments),
    /// Look after the store, where packages and metadata are kept for all projects.
    #[command(visible_alias = "cache")]
    Store(StoreArguments),
}

impl Command {
    /// Gives it npm's settings that the line has beside these options.
    pub fn give(&mut self, settings: Vec<(String, NpmrcValue)>) {
        match self {
            Self::Install(AddArguments { install, .. })
            | Self::Uninstall(RemoveArguments { install, .. })
            | Self::Update(UpdateArguments { install, .. })
            | Self::Link(LinkArguments { install, .. })
            | Self::Prune(install)
            | Self::Dedupe(install)
            | Self::FindDupes(install)
            | Self::Ci(install) => install.resolve.settings = settings,
            Self::Explain(arguments) => arguments.resolve.settings = settings,
            Self::Ls(arguments) => arguments.resolve.settings = settings,
            Self::Outdated(arguments) => arguments.resolve.settings = settings,
            Self::Why(arguments) => arguments.settings = settings,
            Self::Rebuild(arguments) => arguments.settings = settings,
            Self::ApproveScripts(ApproveScriptsArguments { review, .. })
            | Self::DenyScripts(DenyScriptsArguments { review, .. })
            | Self::InstallScripts(InstallScriptsArguments { review, .. }) => review.settings = settings,
            Self::Digest(_) | Self::Store(_) => {}
        }
    }
}

/// Options of `install`.
#[derive(Debug, Args)]
pub struct AddArguments {
    /// Packages to add to package.json: name, name@range, name@tag, a folder, a tarball or its address, a repository.
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,
    #[command(flatten)]
    pub save: SaveArguments,
    #[command(flatten)]
    pub install: InstallArguments,
}

/// Options of `link`.
#[derive(Debug, Args)]
pub struct LinkArguments {
    /// Packages that there are for the whole machine, or are installed there first, or folders.
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,
    #[command(flatten)]
    pub save: SaveArguments,
    #[command(flatten)]
    pub install: InstallArguments,
}

/// How what is added goes into package.json.
#[derive(Debug, Default, Args)]
pub struct SaveArguments {
    /// Into dependencies, whatever it was before.
    #[arg(short = 'P', long, group = "save_as")]
    pub save_prod: bool,
    /// Into devDependencies.
    #[arg(short = 'D', long, group = "save_as")]
    pub save_dev: bool,
    /// Into optionalDependencies.
    #[arg(short = 'O', long, group = "save_as")]
    pub save_optional: bool,
    /// Into peerDependencies.
    #[arg(long, group = "save_as")]
    pub save_peer: bool,
    /// Into bundleDependencies, too.
    #[arg(short = 'B', long)]
    pub save_bundle: bool,
    /// With the exact version instead of a range.
    #[arg(short = 'E', long)]
    pub save_exact: bool,
    /// What the range begins with.
    #[arg(long, value_name = "PREFIX")]
    pub save_prefix: Option<String>,
}

impl SaveArguments {
    /// Whether they say as what something is to be listed.
    pub fn names_a_kind(&self) -> bool {
        self.save_prod || self.save_dev || self.save_optional || self.save_peer
    }
}

/// Options of `uninstall`.
#[derive(Debug, Args)]
pub struct RemoveArguments {
    /// Names of dependencies.
    #[arg(required = true, value_name = "PACKAGE")]
    pub packages: Vec<String>,
    #[command(flatten)]
    pub install: InstallArguments,
}

/// Options of `update`.
#[derive(Debug, Args)]
pub struct UpdateArguments {
    /// Names of packages, wherever they are in the tree.
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,
    #[command(flatten)]
    pub install: InstallArguments,
}

/// Which part of a project with workspaces a command is for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct WorkspaceArguments {
    /// A workspace to work on alone: its name, its folder, or a folder that workspaces are in; may be repeated. In the folder of
    /// a workspace that is the one, unless others are named.
    #[arg(short, long, value_name = "NAME")]
    pub workspace: Vec<String>,
    /// All workspaces, without the project itself.
    #[arg(long, visible_alias = "ws", overrides_with = "no_workspaces")]
    pub workspaces: bool,
    /// The project without its workspaces; the folder of a workspace is a project of its own.
    #[arg(long)]
    pub no_workspaces: bool,
    /// With the workspaces that are chosen also the project itself.
    #[arg(long, visible_alias = "iwr", overrides_with = "no_include_workspace_root")]
    pub include_workspace_root: bool,
    /// Without the project itself, whatever the settings say.
    #[arg(long, hide = true)]
    pub no_include_workspace_root: bool,
}

/// Options of whatever installs.
#[derive(Debug, Clone, Args)]
pub struct InstallArguments {
    #[command(flatten)]
    pub resolve: ResolveArguments,
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,
    /// Stop at the lock file.
    #[arg(long, visible_alias = "package-lock-only")]
    pub lockfile_only: bool,
    /// Version of the lock file to write (1, 2 or 3); the one that is there is kept unless it is 1.
    #[arg(long, value_name = "VERSION")]
    pub lockfile_version: Option<String>,
    /// Write package.json, which `update` does not unless told to.
    #[arg(short = 'S', long, overrides_with = "no_save")]
    pub save: bool,
    /// Leave package.json and the lock file as they are.
    #[arg(long)]
    pub no_save: bool,
    /// Run no scripts: neither the project's nor those of packages that `allowScripts` in package.json allows to.
    #[arg(long)]
    pub ignore_scripts: bool,
    /// Show what scripts of packages print, and run them one after the other.
    #[arg(long)]
    pub foreground_scripts: bool,
    /// Which lock fields to write: npm's, or only what needs no further request.
    #[arg(long, value_name = "WHICH", default_value = "npm")]
    pub lock_fields: LockFieldsOption,
    /// Print at the end where the time went.
    #[arg(long)]
    pub timing: bool,
    /// Write every request and every piece of work to this file, for Chrome's trace viewer or Perfetto.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

impl InstallArguments {
    /// Nothing said but what the tree depends on.
    pub fn plain(resolve: ResolveArguments) -> Self {
        Self {
            resolve,
            workspaces: WorkspaceArguments::default(),
            lockfile_only: false,
            lockfile_version: None,
            save: false,
            no_save: false,
            ignore_scripts: false,
            foreground_scripts: false,
            lock_fields: LockFieldsOption::Npm,
            timing: false,
            trace: None,
        }
    }
}

/// Options of whatever resolves a project's dependencies.
#[derive(Debug, Clone, Args)]
pub struct ResolveArguments {
    /// The project's folder; unless given the nearest one, from here upwards, with a package.json or a node_modules.
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,
    /// Where packages and metadata are kept; unless given the variable GANTRY_STORE_DIR, else a folder of the user's.
    #[arg(long, value_name = "DIR")]
    pub store_dir: Option<PathBuf>,
    /// The registry for packages without a scope registry of their own.
    #[arg(long, value_name = "URL")]
    pub registry: Option<String>,
    /// Which tag a bare name means; `latest` unless given.
    #[arg(long)]
    pub tag: Option<String>,
    /// Ask for nothing: everything must be in the store.
    #[arg(long)]
    pub offline: bool,
    /// Use what is in the store however old it is; ask only for what is not there.
    #[arg(long)]
    pub prefer_offline: bool,
    /// Ask whether what is in the store has changed, even if it is fresh.
    #[arg(long)]
    pub prefer_online: bool,
    /// Neither read nor write a lock file.
    #[arg(long)]
    pub no_package_lock: bool,
    /// Install for this operating system (as in Node's process.platform).
    #[arg(long)]
    pub os: Option<String>,
    /// Install for this processor (as in Node's process.arch).
    #[arg(long)]
    pub cpu: Option<String>,
    /// Install for this C library.
    #[arg(long)]
    pub libc: Option<String>,
    /// Pick versions for this version of Node.js instead of the one on the PATH.
    #[arg(long, value_name = "VERSION")]
    pub node_version: Option<String>,
    /// Leave out these dependencies; may be repeated.
    #[arg(long, value_name = "KIND")]
    pub omit: Vec<OmitKind>,
    /// Install these dependencies even if a setting omits them; may be repeated.
    #[arg(long, value_name = "KIND")]
    pub include: Vec<IncludeKind>,
    /// Ignore peer dependencies.
    #[arg(long)]
    pub legacy_peer_deps: bool,
    /// Fail on every peer conflict, also those between dependencies.
    #[arg(long)]
    pub strict_peer_deps: bool,
    /// Accept peer conflicts and wrong platforms.
    #[arg(long)]
    pub force: bool,
    /// Print events and the result as JSON, one a line.
    #[arg(long)]
    pub json: bool,
    /// What else the line says of npm's settings.
    #[arg(skip)]
    pub settings: Vec<(String, NpmrcValue)>,
}

/// Options of `digest`.
#[derive(Debug, Args)]
pub struct DigestArguments {
    /// The project's folder; unless given the nearest one, from here upwards, with a package.json or a node_modules.
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,
}

/// Options of `rebuild`.
#[derive(Debug, Args)]
pub struct RebuildArguments {
    /// Names, or name@range.
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,
    /// The project's folder; unless given the nearest one, from here upwards, with a package.json or a node_modules.
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,
    /// Where the project's packages are kept; unless given the variable GANTRY_STORE_DIR, else a folder of the user's.
    #[arg(long, value_name = "DIR")]
    pub store_dir: Option<PathBuf>,
    /// Show what scripts print, and run them one after the other.
    #[arg(long)]
    pub foreground_scripts: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// What else the line says of npm's settings.
    #[arg(skip)]
    pub settings: Vec<(String, NpmrcValue)>,
}

/// Options of `ls`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Names, or name@range: only these, and what leads to them.
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,
    /// All levels, not only what the project and its workspaces ask for.
    #[arg(short, long)]
    pub all: bool,
    /// So many levels, the first being 0.
    #[arg(long, value_name = "LEVELS")]
    pub depth: Option<usize>,
    /// Of what the project and its workspaces ask for only links.
    #[arg(long)]
    pub link: bool,
    /// Print paths, one a line.
    #[arg(short, long)]
    pub parseable: bool,
    /// With the paths names, versions, where links lead to, and what is wrong, with colons between them.
    #[arg(short, long, requires = "parseable")]
    pub long: bool,
    /// Look at the lock file instead of the tree.
    #[arg(long)]
    pub package_lock_only: bool,
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,
    #[command(flatten)]
    pub resolve: ResolveArguments,
}

/// Options of `outdated`.
#[derive(Debug, Args)]
pub struct OutdatedArguments {
    /// Names of packages, wherever they are in the tree; none for what the project and its workspaces ask for.
    #[arg(value_name = "PACKAGE")]
    pub packages: Vec<String>,
    /// Tell of everything that any package asks for.
    #[arg(short, long)]
    pub all: bool,
    /// Tell also in which field of package.json a package is asked for, where, and where it is described.
    #[arg(short, long)]
    pub long: bool,
    /// Print lines for programs: path, wanted, current, latest and who asks, with colons between them.
    #[arg(short, long)]
    pub parseable: bool,
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,
    #[command(flatten)]
    pub resolve: ResolveArguments,
}

/// Options of `why`.
#[derive(Debug, Args)]
pub struct WhyArguments {
    /// Names, name@range, or folders such as node_modules/name.
    #[arg(required = true, value_name = "PACKAGE")]
    pub packages: Vec<String>,
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,
    /// The project's folder; unless given the nearest one, from here upwards, with a package.json or a node_modules.
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,
    /// Print one JSON list instead of text.
    #[arg(long)]
    pub json: bool,
    /// What else the line says of npm's settings.
    #[arg(skip)]
    pub settings: Vec<(String, NpmrcValue)>,
}

/// Options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// Names, name@range, or folders such as node_modules/name.
    #[arg(value_name = "PACKAGE", conflicts_with_all = DECIDE_THE_TREE)]
    pub packages: Vec<String>,
    #[command(flatten)]
    pub workspaces: WorkspaceArguments,
    #[command(flatten)]
    pub resolve: ResolveArguments,
}

/// Options of `store`.
#[derive(Debug, Args)]
pub struct StoreArguments {
    /// What to do.
    #[arg(value_enum)]
    pub action: StoreAction,
    /// Where packages and metadata are kept; unless given the variable GANTRY_STORE_DIR, else a folder of the user's.
    #[arg(long, value_name = "DIR")]
    pub store_dir: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// What to do with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StoreAction {
    /// Print where it is.
    Path,
    /// Tell how much is in it, and how much of that no project has.
    Status,
    /// List its packages.
    Ls,
    /// Look whether every file is what was unpacked, and take out packages of which one is not.
    Verify,
    /// Take out packages that no project has.
    Prune,
    /// Take out everything.
    #[value(alias = "clean")]
    Clear,
}

/// What means nothing where the tree is there already. Not the store: the environment may name it for all commands.
const DECIDE_THE_TREE: [&str; 15] = [
    "registry",
    "tag",
    "offline",
    "prefer_offline",
    "prefer_online",
    "no_package_lock",
    "os",
    "cpu",
    "libc",
    "node_version",
    "omit",
    "include",
    "legacy_peer_deps",
    "strict_peer_deps",
    "force",
];

/// A kind of dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OmitKind {
    /// What only development needs.
    Dev,
    /// What may fail to install.
    Optional,
    /// What only peers ask for.
    Peer,
}

/// What may be left out, and what never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IncludeKind {
    /// What is needed to run.
    Prod,
    /// What only development needs.
    Dev,
    /// What may fail to install.
    Optional,
    /// What only peers ask for.
    Peer,
}

/// `--lock-fields`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LockFieldsOption {
    /// As npm writes them.
    Npm,
    /// Without completion.
    Fast,
}
