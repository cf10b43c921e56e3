//! Why packages are in the tree of a project, by what is recorded of it.

use crate::recorded::{LockFile, ProjectOptions};
use gantry_engine::{EngineError, Fault};
use gantry_manifest::Lockfile;
use gantry_resolver::{Explanation, Project, ResolveOptions, explain};
use gantry_store::ProjectRecord;
use serde_json::Value;

/// Why the packages that `query` names are in the tree of the project `name`, as JSON.
pub(crate) fn explain_recorded(name: &str, record: &ProjectRecord, query: &str) -> Result<String, Fault> {
    let fault = |error: EngineError| error.to_fault();
    let options = ProjectOptions::decode(name, record)?;
    // What says most of what is installed: the lock file, unless that stayed behind.
    let is_current = options.lock_file == LockFile::Current;
    let text = if is_current { options.lockfile(&record.lock) } else { record.lock.clone() };
    let lock = Lockfile::parse(&text, "package-lock.json").map_err(|error| fault(error.into()))?;
    let found = explain(Project::of_lock(&lock), &lock, &ResolveOptions::default(), query)
        .map_err(|error| fault(error.into()))?;
    Ok(Value::from(found.iter().map(Explanation::to_json).collect::<Vec<_>>()).to_string())
}
