//! Options of the commands that say which packages may run scripts.

use super::Options;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, ValueEnum};
use gantry_manifest::NpmrcValue;
use std::path::PathBuf;

/// What is to be said, or told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Review<'a> {
    /// That these may run scripts; in all versions only if that is asked for.
    Approve { which: Which<'a>, all_versions: bool },
    /// That they must not.
    Deny(Which<'a>),
    /// Of which packages nothing is said.
    List,
    /// Nothing any more of what is not there.
    Prune,
}

/// Which packages are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    /// All of which nothing is said.
    Unreviewed,
    /// These, by name, perhaps with a version or a range.
    Named(&'a [String]),
}

/// Options of `approve-scripts`.
#[derive(Debug, Args)]
#[command(after_help = "Then `gantry rebuild` runs the scripts.")]
pub struct ApproveScriptsArguments {
    /// Names, or name@range, of what is installed.
    #[arg(value_name = "PACKAGE", required_unless_present_any = ["all", "allow_scripts_pending"])]
    packages: Vec<String>,
    /// All packages with scripts of which nothing is said.
    #[arg(short, long, conflicts_with = "packages")]
    all: bool,
    /// Only list these.
    #[arg(long, conflicts_with_all = ["packages", "all"])]
    allow_scripts_pending: bool,
    /// Approve all versions, instead of those that are installed.
    #[arg(long)]
    no_allow_scripts_pin: bool,
    #[command(flatten)]
    pub review: ReviewArguments,
}

impl ApproveScriptsArguments {
    /// What is asked for.
    pub fn task(&self) -> Review<'_> {
        let approve =
            || Review::Approve { which: which(self.all, &self.packages), all_versions: self.no_allow_scripts_pin };
        if self.allow_scripts_pending { Review::List } else { approve() }
    }
}

/// Options of `deny-scripts`.
#[derive(Debug, Args)]
pub struct DenyScriptsArguments {
    /// Names, or name@range, of what is installed.
    #[arg(value_name = "PACKAGE", required_unless_present = "all")]
    packages: Vec<String>,
    /// All packages with scripts of which nothing is said.
    #[arg(short, long, conflicts_with = "packages")]
    all: bool,
    /// As for npm wrong here: who asks for a list wants nothing refused.
    #[arg(long, hide = true, conflicts_with_all = ["packages", "all"])]
    pub allow_scripts_pending: bool,
    #[command(flatten)]
    pub review: ReviewArguments,
}

impl DenyScriptsArguments {
    /// What is asked for.
    pub fn task(&self) -> Review<'_> {
        Review::Deny(which(self.all, &self.packages))
    }
}

/// Options of `install-scripts`.
#[derive(Debug, Args)]
pub struct InstallScriptsArguments {
    /// What to do.
    #[arg(value_enum)]
    action: ReviewAction,
    /// Names, or name@range, of what is installed: to approve or to deny.
    #[arg(value_name = "PACKAGE")]
    packages: Vec<String>,
    /// Approve or deny all packages with scripts of which nothing is said.
    #[arg(short, long, conflicts_with = "packages")]
    all: bool,
    /// Approve all versions, instead of those that are installed.
    #[arg(long)]
    no_allow_scripts_pin: bool,
    #[command(flatten)]
    pub review: ReviewArguments,
}

/// What to do with `allowScripts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReviewAction {
    /// Let packages run their scripts, as `approve-scripts`.
    Approve,
    /// Refuse it to them, as `deny-scripts`.
    Deny,
    /// List packages with scripts of which nothing is said.
    #[value(alias = "list")]
    Ls,
    /// Take out entries that no installed package with scripts is meant by.
    Prune,
}

impl InstallScriptsArguments {
    /// What is asked for.
    pub fn task(&self) -> Result<Review<'_>, clap::Error> {
        let is_named = self.all || !self.packages.is_empty();
        let which = which(self.all, &self.packages);
        match self.action {
            ReviewAction::Approve if is_named => Ok(Review::Approve { which, all_versions: self.no_allow_scripts_pin }),
            ReviewAction::Deny if is_named => Ok(Review::Deny(which)),
            ReviewAction::Ls if !is_named => Ok(Review::List),
            ReviewAction::Prune if !is_named => Ok(Review::Prune),
            ReviewAction::Ls | ReviewAction::Prune => {
                Err(wrong(ErrorKind::ArgumentConflict, "ls and prune take neither packages nor --all"))
            }
            ReviewAction::Approve | ReviewAction::Deny => {
                Err(wrong(ErrorKind::MissingRequiredArgument, "approve and deny take packages, or --all"))
            }
        }
    }
}

/// What these commands have in common.
#[derive(Debug, Args)]
pub struct ReviewArguments {
    /// Change nothing, and tell what would be changed.
    #[arg(long)]
    pub dry_run: bool,
    /// The project's folder; unless given the nearest one, from here upwards, with a package.json or a node_modules.
    #[arg(long, value_name = "DIR")]
    pub prefix: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// What else the line says of npm's settings.
    #[arg(skip)]
    pub settings: Vec<(String, NpmrcValue)>,
}

fn which(all: bool, packages: &[String]) -> Which<'_> {
    if all { Which::Unreviewed } else { Which::Named(packages) }
}

fn wrong(kind: ErrorKind, message: &str) -> clap::Error {
    let mut gantry = Options::command();
    gantry.build();
    match gantry.find_subcommand_mut("install-scripts") {
        Some(command) => command.error(kind, message),
        None => gantry.error(kind, message),
    }
}
