//! Recording what real projects need, in one command.
//!
//! npm itself does all the talking to the registry it is configured with, under its own settings and credentials, into
//! a cache that is thrown away afterwards; what it put there is then imported into the recording. So the recording
//! holds exactly what an install of each project asks for, on Linux x64 with glibc and for wasm32:
//! 1. `npm install --package-lock-only` brings every document the resolution reads;
//! 2. `npm ci` brings the tarballs of this platform, and again with `--cpu=wasm32` those of wasm variants.
//!
//! No script of any package runs. All projects are recorded together or not at all, because documents of two dates do
//! not fit together; a stamp over their package.json makes a second run return at once.
mod npm;
mod npm_cache;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::encoded::hex;
use crate::{Recording, ServerOptions, TestkitError};
use npm::{Npm, Project};

const STAMP: &str = "stamp.json";
/// Raised when recordings must be made anew because their form changed.
const FORMAT: u32 = 1;

/// What to record, and where to.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// Folder whose sub-folders hold a package.json each.
    pub projects: PathBuf,
    /// The recording.
    pub into: PathBuf,
    /// Whether to record although nothing changed.
    pub refresh: Refresh,
}

/// When to record again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// Only if the projects changed.
    IfChanged,
    /// In any case.
    Always,
}

/// What a recording holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Form of the recording.
    pub format: u32,
    /// Digest of the names and package.json files of all projects.
    pub projects_digest: String,
    /// Names of the projects, sorted.
    pub projects: Vec<String>,
    /// Seconds since 1970 when it was recorded.
    pub recorded_at: u64,
    /// Documents held.
    pub packuments: usize,
    /// Tarballs held.
    pub tarballs: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Names that packages in the locks mention and that npm never asked for, such as optional peers.
    pub mentioned_only: Vec<String>,
}

/// Records, unless the recording is already that of these projects. `say` gets a line for each step.
pub fn record(options: &RecordOptions, say: &dyn Fn(&str)) -> Result<Summary, TestkitError> {
    let projects = Project::all(&options.projects)?;
    let digest = digest(&projects);
    let recording = Recording::new(&options.into);
    let present = read_stamp(&recording).filter(|stamp| stamp.format == FORMAT && stamp.projects_digest == digest);
    if let Some(summary) = present
        && options.refresh == Refresh::IfChanged
    {
        say("the recording is up to date");
        return Ok(summary);
    }
    let scratch = scratch_folder(&options.into)?;
    let npm = Npm::new(scratch.path().join("cache"));
    let mut mentioned = BTreeSet::new();
    for project in &projects {
        say(&format!("{}: resolving", project.name));
        let folder = project.copy_into(scratch.path())?;
        npm.resolve(&folder, &project.name)?;
        collect_mentioned(&folder.join("package-lock.json"), &mut mentioned)?;
        for target in npm::TARGETS {
            say(&format!("{}: tarballs for {}", project.name, target.name));
            npm.install(&folder, &project.name, target)?;
        }
        // Trees are large and of no further use.
        fs::remove_dir_all(&folder).map_err(TestkitError::file("remove", &folder))?;
    }
    say("importing");
    npm_cache::import(&npm.registry(scratch.path())?, &npm.cache().join("_cacache"), &recording)?;
    let names: BTreeSet<String> = recording.names()?.into_iter().collect();
    let mut summary = Summary {
        format: FORMAT,
        projects_digest: digest,
        projects: projects.into_iter().map(|project| project.name).collect(),
        recorded_at: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_secs()),
        packuments: names.len(),
        tarballs: recording.tarball_count()?,
        bytes: 0,
        mentioned_only: mentioned.difference(&names).cloned().collect(),
    };
    summary.bytes = recording.size()?;
    let text = serde_json::to_vec_pretty(&summary).map_err(TestkitError::document(STAMP))?;
    recording.write_note(STAMP, &text)?;
    Ok(summary)
}

/// Installs every project from the recording alone, with npm's own settings left aside. Gives back the paths that were
/// missing, sorted; none means that the recording is complete.
pub fn verify(options: &RecordOptions, say: &dyn Fn(&str)) -> Result<Vec<String>, TestkitError> {
    let server = ServerOptions::new(Recording::new(&options.into)).start()?;
    let scratch = scratch_folder(&options.into)?;
    for project in Project::all(&options.projects)? {
        say(&format!("{}: installing from the recording", project.name));
        let npm = Npm::new(scratch.path().join(format!("{}-cache", project.name)))
            .with_only_registry(server.url(), scratch.path())?;
        let folder = project.copy_into(scratch.path())?;
        npm.resolve(&folder, &project.name)?;
        for target in npm::TARGETS {
            npm.install(&folder, &project.name, target)?;
        }
        fs::remove_dir_all(&folder).map_err(TestkitError::file("remove", &folder))?;
    }
    let missing: BTreeSet<String> =
        server.log().into_iter().filter(|entry| entry.miss).map(|entry| entry.path).collect();
    Ok(missing.into_iter().collect())
}

/// Beside the recording, so that scratch and result share a file system with room for both.
fn scratch_folder(recording: &Path) -> Result<tempfile::TempDir, TestkitError> {
    let parent = recording.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(TestkitError::file("create", parent))?;
    tempfile::Builder::new().prefix(".recording-").tempdir_in(parent).map_err(TestkitError::file("create", parent))
}

fn read_stamp(recording: &Recording) -> Option<Summary> {
    // A stamp that cannot be read only means recording once more.
    serde_json::from_slice(&recording.read_note(STAMP).ok()??).ok()
}

fn digest(projects: &[Project]) -> String {
    let mut hasher = Sha256::new();
    for project in projects {
        for part in [project.name.as_bytes(), &project.package_json] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hex(&hasher.finalize())
}

/// Every name that the packages of a lock mention as a dependency of any kind that an install may follow.
fn collect_mentioned(lock: &Path, names: &mut BTreeSet<String>) -> Result<(), TestkitError> {
    let text = fs::read(lock).map_err(TestkitError::file("read", lock))?;
    let lock: Value = serde_json::from_slice(&text).map_err(TestkitError::document(lock.display().to_string()))?;
    let packages = lock.get("packages").and_then(Value::as_object);
    for package in packages.into_iter().flat_map(|packages| packages.values()) {
        for field in ["dependencies", "optionalDependencies", "peerDependencies"] {
            names.extend(package.get(field).and_then(Value::as_object).into_iter().flat_map(|map| map.keys().cloned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
