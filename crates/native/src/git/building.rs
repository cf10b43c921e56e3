//! Building packages in their repositories (pacote's `git.js`): this command installs in a folder of their own what they are built
//! with, and by that runs their scripts.

use super::{OF_A_REPOSITORY, running};
use crate::folder::{bundles, files_in};
use crate::scripts::{OF_PROJECT, read_manifest};
use crate::store::temporary_directory;
use crate::temporary::make_parent;
use crate::{NativeError, ScriptBegan, ScriptSettings};
use futures_util::future::LocalBoxFuture;
use gantry_archive::Entry;
use gantry_engine::{Builder, Fault};
use serde_json::Value;
use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// What npm installs for.
const OCCASIONS: [&str; 6] = ["postinstall", "build", "preinstall", "install", "prepack", "prepare"];

/// The options of the installation, which count whatever the environment says (pacote's `npmInstallCmd` and `npmCliConfig`). What
/// is printed is for this program, what scripts print for the user.
const OPTIONS: [&str; 10] = [
    "install",
    "--no-global",
    "--force",
    "--no-save",
    "--no-package-lock-only",
    "--no-dry-run",
    "--include=dev",
    "--include=peer",
    "--include=optional",
    "--json",
];

/// Commits that are being built, one a line: repositories that need each other to be built are built once.
const BUILDING: &str = "GANTRY_BUILDING";

/// Commits that are being built by who runs this process.
pub(crate) fn commits_being_built() -> Vec<String> {
    env::var(BUILDING).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// How many lines of what the installation says are told where it fails.
const LINES: usize = 100;

/// Builds packages in folders of the store.
#[derive(Debug)]
pub(crate) struct NativeBuilder {
    runtime: Handle,
    /// The store.
    store: PathBuf,
    /// Where the folders are made.
    temporary: PathBuf,
    scripts: ScriptSettings,
    /// For as many as are built at a time.
    turns: Semaphore,
}

impl NativeBuilder {
    /// What builds in folders of `temporary`, for packages of `store`.
    pub fn new(runtime: Handle, store: PathBuf, temporary: PathBuf, scripts: ScriptSettings) -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let turns = Semaphore::new(if scripts.is_foreground { 1 } else { processors });
        Self { runtime, store, temporary, scripts, turns }
    }

    /// Builds the package of `commit` in its repository, which is in `folder`.
    pub async fn build_in(&self, name: &str, commit: &str, folder: &Path) -> Result<(), Fault> {
        if !is_to_be_built(&read_manifest(folder).unwrap_or_default()) {
            return Ok(());
        }
        let mut command = Command::new(&self.scripts.installer);
        command.args(OPTIONS).arg("--store-dir").arg(&self.store).current_dir(folder);
        let is_seen = self.scripts.is_foreground;
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(if is_seen { Stdio::inherit() } else { Stdio::piped() });
        command.envs((self.scripts.environment)().variables);
        for variable in OF_A_REPOSITORY {
            command.env_remove(variable);
        }
        let building = self.scripts.building.iter().map(String::as_str).chain([commit]);
        command.env(BUILDING, building.collect::<Vec<&str>>().join("\n"));
        let _turn = self.turns.acquire().await;
        (self.scripts.began)(&ScriptBegan { label: name, event: "prepare", command: "gantry install", is_seen });
        // Given up with what asks for it.
        let mut ran = JoinSet::new();
        ran.spawn_on(running::output(command), &self.runtime);
        let output = ran.join_next().await.map_or_else(|| Err(io::ErrorKind::Other.into()), |ran| ran?);
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(failure(name, &output)),
            Err(error) => {
                let program = self.scripts.installer.display();
                Err(failed(name, &format!("{program} cannot be run: {error}")))
            }
        }
    }

    async fn build_of(
        &self,
        name: &str,
        commit: &str,
        files: Vec<Entry<'static>>,
    ) -> Result<Vec<Entry<'static>>, Fault> {
        let directory = temporary_directory(&self.temporary, "git-")?;
        let folder = directory.path();
        for entry in files {
            let path = folder.join(&entry.path);
            make_parent(&path)?;
            let mode = if entry.executable { 0o755 } else { 0o644 };
            fs::write(&path, &entry.data)
                .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)))
                .map_err(NativeError::io("write", &path))?;
        }
        self.build_in(name, commit, folder).await?;
        files_of(folder)
    }
}

impl Builder for NativeBuilder {
    fn build<'a>(
        &'a self,
        name: &'a str,
        commit: &'a str,
        files: Vec<Entry<'static>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Entry<'static>>, Fault>> {
        Box::pin(self.build_of(name, commit, files))
    }
}

/// The files of a repository, sorted by path.
pub(super) fn files_of(folder: &Path) -> Result<Vec<Entry<'static>>, Fault> {
    files_in(folder, &|_| false, &|_| true)
        .map_err(|error| NativeError::io("read the repository in", folder)(error).into())
}

/// Whether npm would install something for a package, and something would come of it.
fn is_to_be_built(manifest: &Value) -> bool {
    let has = |script: &&str| manifest["scripts"][*script].as_str().is_some_and(|text| !text.is_empty());
    let is_occasion = OCCASIONS.iter().any(has) || !manifest["workspaces"].is_null();
    is_occasion && (OF_PROJECT.iter().any(has) || bundles(manifest))
}

/// What an installation says that failed.
fn failure(name: &str, output: &Output) -> Fault {
    let said = String::from_utf8_lossy(&output.stdout);
    let mut events = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let error = events.rfind(|event| event["type"] == "error").unwrap_or_default();
    let printed = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = printed.trim_end().lines().collect();
    let lines = lines[lines.len().saturating_sub(LINES)..].join("\n");
    let why = error["message"].as_str().map_or_else(|| output.status.to_string(), str::to_owned);
    let message = if lines.is_empty() { why } else { format!("{why}\n{lines}") };
    let fault = failed(name, &message);
    // The disk that is full for one is full for all.
    let of_the_machine = error["code"].as_str().map(|code| Fault::new(code.to_owned(), fault.message.clone()));
    match of_the_machine.filter(Fault::is_of_this_machine) {
        Some(fault) => fault.with_package(name).with_hint(error["hint"].as_str().unwrap_or_default()),
        None => fault,
    }
}

fn failed(name: &str, why: &str) -> Fault {
    Fault::new("GIT_BUILD_FAILED", format!("{name} cannot be built from its repository: {why}")).with_package(name).with_hint(
        "Nothing was changed. As it is in its repository it is installed where \"allowScripts\" in package.json says false of it, \
         or with --ignore-scripts.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_would_make_no_difference_is_not_built() {
        for (manifest, expected) in [
            (json!({}), false),
            (json!({ "scripts": { "test": "x" } }), false),
            (json!({ "scripts": { "prepare": "x" } }), true),
            (json!({ "scripts": { "prepare": "" } }), false),
            (json!({ "scripts": { "postinstall": "x" } }), true),
            // npm installs for these, and runs none of them.
            (json!({ "scripts": { "build": "x", "prepack": "x" } }), false),
            (json!({ "scripts": { "build": "x" }, "bundleDependencies": ["a"] }), true),
            (json!({ "scripts": { "build": "x" }, "bundledDependencies": true }), true),
            (json!({ "scripts": { "build": "x" }, "bundleDependencies": [] }), false),
            // npm does not install for these alone.
            (json!({ "scripts": { "prepublish": "x" } }), false),
            (json!({ "scripts": { "prepublish": "x" }, "workspaces": ["a"] }), true),
        ] {
            assert_eq!(is_to_be_built(&manifest), expected, "{manifest}");
        }
    }
}
