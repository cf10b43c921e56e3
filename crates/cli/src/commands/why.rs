//! `gantry why`

use crate::failure::{exit_status, print_failure};
use crate::options::WhyArguments;
use crate::output::print_line;
use crate::prefix::{InWorkspace, Place};
use crate::settings::load_project;
use gantry_engine::{EngineError, Fault};
use gantry_manifest::{Lockfile, Manifest};
use gantry_resolver::{Explanation, Project, explain, paths_of_workspace};

/// Tells why packages are in the tree; returns the exit status.
pub fn run(arguments: &WhyArguments) -> u8 {
    match explanations(arguments) {
        Ok(found) if arguments.json => {
            let values: Vec<_> = found.iter().map(Explanation::to_json).collect();
            print_line(&serde_json::Value::from(values).to_string());
            0
        }
        Ok(found) => {
            let texts: Vec<String> = found.iter().map(Explanation::to_string).collect();
            print_line(&texts.join("\n\n"));
            0
        }
        Err(fault) => {
            print_failure(&fault, arguments.json);
            exit_status(&fault)
        }
    }
}

fn explanations(arguments: &WhyArguments) -> Result<Vec<Explanation>, Fault> {
    let place = Place::find(&arguments.prefix, InWorkspace::Belongs)?;
    let (files, options) = load_project(&place.project, &arguments.prefix)?;
    let fault = |error: EngineError| error.to_fault();
    let path = files.lockfile_name;
    let bytes = files.lockfile.ok_or_else(|| fault(EngineError::LockMissing { path: path.to_owned() }))?;
    let lock = Lockfile::parse(&bytes, path).map_err(|error| fault(error.into()))?;
    let mut project = Project::of_lock(&lock);
    if let Some(bytes) = &files.package_json {
        // What is asked for now, and with which overrides.
        project.root = Manifest::parse_package_json(bytes, "package.json").map_err(|error| fault(error.into()))?;
    }
    let mut found = Vec::new();
    for package in &arguments.packages {
        found.extend(explain(project.clone(), &lock, &options, package).map_err(|error| fault(error.into()))?);
    }
    // In the folder of a workspace npm only tells of what this one needs.
    let folder = place.workspace.as_ref().and_then(|folder| folder.strip_prefix(&place.project).ok());
    if let Some(folder) = folder {
        let folder = folder.to_string_lossy().replace('\\', "/");
        let part = paths_of_workspace(&project, &lock, &folder, &options).map_err(|error| fault(error.into()))?;
        found.retain(|explanation| part.contains(explanation.location()));
    }
    if found.is_empty() {
        let packages = arguments.packages.join(", ");
        return Err(Fault::new("PACKAGE_UNKNOWN", format!("nothing in {path} is called {packages}"))
            .with_hint("Give a package's name, name@range, or its folder: node_modules/name."));
    }
    Ok(found)
}
