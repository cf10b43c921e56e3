//! Running the scripts of what was put in place, as npm does (`arborist/lib/arborist/rebuild.js`, `@npmcli/run-script`).
//!
//! One kind of script after the other, each of all packages before the next: as many at a time as there are processors, in
//! npm's order. Packages come before the user's folders, whose commands are linked to once they are prepared. What a script of a
//! package prints is kept for the case that it fails, unless it is to be seen.

mod environment;
mod process;

pub use environment::ScriptEnvironment;

use crate::git::commits_being_built;
use crate::{Interrupt, NativeError};
use environment::Context;
use gantry_engine::Fault;
use gantry_layout::{Scripted, Scripts};
use process::{Output, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread;

/// What is run of packages, in this order.
const OF_PACKAGES: [&str; 3] = ["preinstall", "install", "postinstall"];
/// What is run of the user's folders that links lead to: up to [`PREPARE`] it may make their commands.
const OF_FOLDERS: [&str; 4] = ["preinstall", PREPARE, "install", "postinstall"];
const PREPARE: &str = "prepare";
/// What is run of the project itself.
pub(crate) const OF_PROJECT: [&str; 7] =
    ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];

/// What builds a package that has a `binding.gyp` and says nothing of how.
const GYP: &str = "node-gyp rebuild";

/// Which scripts are run, and how.
#[derive(Clone)]
pub struct ScriptSettings {
    /// What may run them.
    pub allowed: Scripts,
    /// The command that installs what a package of a repository is built with: this one.
    pub installer: PathBuf,
    /// Commits whose packages are being built by who runs this command.
    pub building: Vec<String>,
    /// The shell that they are handed to: npm's `script-shell`.
    pub shell: OsString,
    /// Makes what they find in their environment beside what this process has; called where there are any.
    pub environment: Arc<dyn Fn() -> ScriptEnvironment + Send + Sync>,
    /// Whether what packages print is to be seen, so that they run one after the other: npm's `foreground-scripts`.
    pub is_foreground: bool,
    /// Whether what scripts print goes to stderr, since stdout is for data.
    pub spares_stdout: bool,
    /// Told of each script that begins.
    pub began: Arc<dyn Fn(&ScriptBegan<'_>) + Send + Sync>,
}

/// A script that begins.
#[derive(Debug, Clone, Copy)]
pub struct ScriptBegan<'a> {
    /// `name@version` of whose it is; empty of a project without a name.
    pub label: &'a str,
    /// What it is called.
    pub event: &'a str,
    /// What the shell is told.
    pub command: &'a str,
    /// Whether what it prints will be seen.
    pub is_seen: bool,
}

impl Default for ScriptSettings {
    fn default() -> Self {
        Self {
            allowed: Scripts::None,
            installer: "gantry".into(),
            building: commits_being_built(),
            shell: "sh".into(),
            environment: Arc::new(ScriptEnvironment::default),
            is_foreground: false,
            spares_stdout: false,
            began: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for ScriptSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allowed, shell, is_foreground, spares_stdout, .. } = self;
        formatter
            .debug_struct("ScriptSettings")
            .field("allowed", allowed)
            .field("shell", shell)
            .field("is_foreground", is_foreground)
            .field("spares_stdout", spares_stdout)
            .finish_non_exhaustive()
    }
}

/// What came of running them.
#[derive(Debug, Default)]
pub(crate) struct ScriptsRun {
    /// Labels of what had scripts that ran to their end.
    pub run: Vec<String>,
    /// Optional packages of which one failed, by path.
    pub failed: Vec<(String, Fault)>,
}

/// What is to run scripts now.
pub(crate) struct Due<'s> {
    /// Packages, and folders that links lead to.
    pub scripted: Vec<&'s Scripted>,
    /// Whether those of the project are that packages have, too, before all others.
    pub has_project: bool,
}

/// Runs the scripts of packages and folders of a project. The first failure of one that is not optional is the error; what is
/// under way is ended then, as where `interrupt` is raised. `link_commands` links to the commands of folders that their scripts
/// may have made.
pub(crate) fn run_scripts(
    project: &Path,
    due: Due<'_>,
    settings: &ScriptSettings,
    interrupt: &Interrupt,
    link_commands: &mut dyn FnMut() -> Result<(), NativeError>,
) -> Result<ScriptsRun, NativeError> {
    let (folders, packages): (Vec<&Scripted>, Vec<&Scripted>) =
        due.scripted.into_iter().partition(|scripted| scripted.is_link);
    let state = Mutex::new(ScriptsRun::default());
    let runner = Runner::new(settings, interrupt);
    let the_project = due.has_project.then(|| Owner::of_project(project)).flatten();
    for (first, group, events) in [(the_project, packages, &OF_PACKAGES[..]), (None, folders, &OF_FOLDERS[..])] {
        let others = group.into_iter().filter_map(|scripted| Owner::of(project, scripted));
        let owners: Vec<Owner<'_>> = first.into_iter().chain(others).collect();
        let mut any = false;
        for &event in events {
            any |= runner.run_event(&owners, event, &state)?;
            if event == PREPARE && any {
                link_commands()?;
            }
        }
    }
    let mut run = state.into_inner().expect("no thread panics while it holds this lock");
    run.run.sort();
    run.run.dedup();
    Ok(run)
}

/// Whether a project has scripts that are run when it is installed.
pub(crate) fn has_project_scripts(project: &Path) -> bool {
    !scripts_of(project, &OF_PROJECT).is_empty()
}

/// Runs the project's own scripts, one after the other, to be seen.
pub(crate) fn run_project_scripts(
    project: &Path,
    settings: &ScriptSettings,
    interrupt: &Interrupt,
) -> Result<(), NativeError> {
    let Some(owner) = Owner::of_project(project) else { return Ok(()) };
    let runner = Runner::new(settings, interrupt);
    let scripts: Vec<(&str, String)> =
        OF_PROJECT.into_iter().filter_map(|event| Some((event, owner.script(event)?))).collect();
    for (event, command) in &scripts {
        runner.run_script(&owner, event, command, true, &|| interrupt.is_raised())?;
    }
    Ok(())
}

/// Runs the script of a folder of the user's by which that gets ready to be packed, if it has one (pacote's `dir.js`).
pub(crate) fn prepare_folder(
    folder: &Path,
    settings: &ScriptSettings,
    interrupt: &Interrupt,
) -> Result<(), NativeError> {
    let Some(project) = Owner::of_project(folder) else { return Ok(()) };
    let scripted = Scripted::of_folder(folder.to_string_lossy().into_owned(), project.label.clone());
    let owner = Owner { scripted: Some(&scripted), ..project };
    let Some(command) = owner.script(PREPARE) else { return Ok(()) };
    let runner = Runner::new(settings, interrupt);
    runner.run_script(&owner, PREPARE, &command, settings.is_foreground, &|| interrupt.is_raised())
}

/// What all scripts of a command have in common.
struct Runner<'r> {
    settings: &'r ScriptSettings,
    interrupt: &'r Interrupt,
    /// Made for the first.
    environment: OnceLock<ScriptEnvironment>,
}

/// Whose scripts are run.
struct Owner<'s> {
    /// `None` of the project.
    scripted: Option<&'s Scripted>,
    project: PathBuf,
    folder: PathBuf,
    label: String,
    package_json: Value,
}

impl<'s> Owner<'s> {
    /// `None` of what has no manifest that can be read: then npm runs nothing, either.
    fn of(project: &Path, scripted: &'s Scripted) -> Option<Self> {
        let folder = project.join(&scripted.folder);
        // A script finds its folder where it is, whatever leads to it.
        let folder = if scripted.is_link { fs::canonicalize(&folder).unwrap_or(folder) } else { folder };
        let package_json = read_manifest(&folder)?;
        let (project, label) = (project.to_owned(), scripted.label.clone());
        Some(Self { scripted: Some(scripted), project, folder, label, package_json })
    }

    fn of_project(project: &Path) -> Option<Self> {
        let package_json = read_manifest(project)?;
        let (folder, label) = (project.to_owned(), label_of(&package_json));
        Some(Self { scripted: None, project: project.to_owned(), folder, label, package_json })
    }

    /// What is to be run, if anything is.
    fn script(&self, event: &str) -> Option<String> {
        let script = |event: &str| {
            let script = self.package_json["scripts"][event].as_str()?;
            (!script.is_empty()).then(|| script.to_owned())
        };
        let builds = || {
            let objects = self.package_json["gypfile"] == Value::Bool(false);
            event == "install"
                && !objects
                && script("preinstall").is_none()
                && self.folder.join("binding.gyp").is_file()
        };
        script(event).or_else(|| builds().then(|| GYP.to_owned()))
    }
}

impl<'r> Runner<'r> {
    fn new(settings: &'r ScriptSettings, interrupt: &'r Interrupt) -> Self {
        Self { settings, interrupt, environment: OnceLock::new() }
    }

    /// Tells whether there was anything to run.
    fn run_event(&self, owners: &[Owner<'_>], event: &str, state: &Mutex<ScriptsRun>) -> Result<bool, NativeError> {
        let has_failed = |owner: &Owner<'_>| {
            owner.scripted.is_some_and(|scripted| locked(state).failed.iter().any(|(path, _)| *path == scripted.path))
        };
        let due = owners.iter().filter(|owner| !has_failed(owner));
        let due: Vec<(&Owner<'_>, String)> =
            due.filter_map(|owner| owner.script(event).map(|command| (owner, command))).collect();
        let next = AtomicUsize::new(0);
        let failure: Mutex<Option<NativeError>> = Mutex::new(None);
        let is_over = || self.interrupt.is_raised() || locked(&failure).is_some();
        let work = || {
            while let Some((owner, command)) = due.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !is_over()) {
                let result = self.run_script(owner, event, command, self.settings.is_foreground, &is_over);
                let optional = owner.scripted.filter(|scripted| scripted.optional);
                match (result, optional) {
                    (Ok(()), _) => locked(state).run.push(owner.label.clone()),
                    (Err(error), Some(scripted))
                        if !matches!(error, NativeError::Interrupted) && !error.is_of_scarcity() =>
                    {
                        locked(state).failed.push((scripted.path.clone(), error.into()));
                    }
                    (Err(error), _) => drop(locked(&failure).get_or_insert(error)),
                }
            }
        };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.settings.is_foreground { 1 } else { processors.min(due.len()) };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Where the system allows no more threads, those that are there do it.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        match failure.into_inner().expect("no thread panics while it holds this lock") {
            Some(error) => Err(error),
            None => self.interrupt.check().map(|()| !due.is_empty()),
        }
    }

    /// Runs one script; an error says what it printed last, unless that was seen.
    fn run_script(
        &self,
        owner: &Owner<'_>,
        event: &str,
        command: &str,
        is_seen: bool,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), NativeError> {
        let settings = self.settings;
        (settings.began)(&ScriptBegan { label: &owner.label, event, command, is_seen });
        let mut shell = Command::new(&settings.shell);
        shell.arg("-c").arg(command).current_dir(&owner.folder);
        let context = Context {
            project: &owner.project,
            folder: &owner.folder,
            package_json: &owner.package_json,
            scripted: owner.scripted,
            event,
            command,
        };
        self.environment.get_or_init(|| (settings.environment)()).apply(&mut shell, &context);
        let output = if is_seen {
            shell.stdin(Stdio::inherit()).stderr(Stdio::inherit());
            shell.stdout(if settings.spares_stdout { std::io::stderr().into() } else { Stdio::inherit() });
            Output::Seen
        } else {
            Output::Kept
        };
        let ended = run(shell, output, is_over).map_err(|source| match owner.folder.is_dir() {
            true => NativeError::Shell {
                shell: settings.shell.clone().into(),
                package: owner.label.clone(),
                event: event.to_owned(),
                source,
            },
            false => NativeError::Io { action: "run the shell in", path: owner.folder.clone(), source },
        })?;
        if ended.status.success() {
            return Ok(());
        }
        if ended.was_ended || is_over() {
            return Err(NativeError::Interrupted);
        }
        Err(NativeError::Script {
            package: owner.label.clone(),
            event: event.to_owned(),
            command: command.to_owned(),
            ending: ended.status.to_string(),
            output: ended.output,
            is_of_project: owner.scripted.is_none(),
        })
    }
}

/// The manifest in a folder; `None` if none is there that can be read.
pub(crate) fn read_manifest(folder: &Path) -> Option<Value> {
    let bytes = fs::read(folder.join("package.json")).ok()?;
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).ok()
}

fn label_of(package_json: &Value) -> String {
    let text = |member: &str| package_json[member].as_str().unwrap_or_default();
    match (text("name"), text("version")) {
        ("", _) => String::new(),
        (name, "") => name.to_owned(),
        (name, version) => format!("{name}@{version}"),
    }
}

/// Whether a package in `folder` has scripts that are run when it is installed.
pub fn has_install_scripts(folder: &Path) -> bool {
    !scripts_of_package(folder).is_empty()
}

/// The scripts that are run of a package in `folder` when it is installed, in order: what each is called, and what the shell is
/// told.
pub fn scripts_of_package(folder: &Path) -> Vec<(&'static str, String)> {
    scripts_of(folder, &OF_PACKAGES)
}

/// The same of the package of a repository, with what builds it there first.
pub fn scripts_of_repository(folder: &Path) -> Vec<(&'static str, String)> {
    [scripts_of(folder, &[PREPARE]), scripts_of_package(folder)].concat()
}

/// The same of a folder of the user that a link leads to.
pub fn scripts_of_folder(folder: &Path) -> Vec<(&'static str, String)> {
    scripts_of(folder, &OF_FOLDERS)
}

fn scripts_of(folder: &Path, events: &[&'static str]) -> Vec<(&'static str, String)> {
    let Some(package_json) = read_manifest(folder) else { return Vec::new() };
    let (project, folder, label) = (folder.to_owned(), folder.to_owned(), String::new());
    let owner = Owner { scripted: None, project, folder, label, package_json };
    events.iter().filter_map(|event| Some((*event, owner.script(event)?))).collect()
}

/// The packages among these that were put in place anew, and all folders of the user.
pub(crate) fn due<'s>(scripted: &'s [Scripted], placed: &[&str]) -> Due<'s> {
    let placed: BTreeSet<&str> = placed.iter().copied().collect();
    let is_due = |scripted: &&Scripted| scripted.is_link || placed.contains(scripted.path.as_str());
    Due { scripted: scripted.iter().filter(is_due).collect(), has_project: false }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics while it holds this lock")
}
