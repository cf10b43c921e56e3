//! `gantry why`

use crate::failure::{exit_status, print_failure};
use crate::options::WhyArguments;
use crate::output::{print_line, print_text, warn};
use crate::prefix::Place;
use crate::settings::{LoadedProject, load_project};
use gantry_engine::{EngineError, Fault, paths_of_choice};
use gantry_manifest::{Lockfile, Manifest};
use gantry_resolver::{Explanation, Project, explain};

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
            print_text(&texts.join("\n\n"));
            0
        }
        Err(fault) => {
            print_failure(&fault, arguments.json);
            exit_status(&fault)
        }
    }
}

fn explanations(arguments: &WhyArguments) -> Result<Vec<Explanation>, Fault> {
    let place = Place::find(arguments.prefix.as_deref(), arguments.workspaces.in_workspace())?;
    let loaded = load_project(&place, arguments)?;
    let LoadedProject { files, options, workspaces } = loaded;
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
    let tell = |code: &str, message: String| {
        if !arguments.json {
            warn(code, &message);
        }
    };
    let part = paths_of_choice(&workspaces, &project, &lock, &options, &tell).map_err(fault)?;
    // npm's rule, too: a part that has nothing leaves nothing out.
    let packages = arguments.packages.join(", ");
    if let Some(part) = part.filter(|part| !part.is_empty() && !found.is_empty()) {
        found.retain(|explanation| part.contains(explanation.location()));
        if found.is_empty() {
            return Err(Fault::new("PACKAGE_UNKNOWN", format!("nothing that was chosen needs {packages}"))
                .with_hint("Ask in the project's folder, without choosing workspaces, to be told who does."));
        }
    }
    if found.is_empty() {
        return Err(Fault::new("PACKAGE_UNKNOWN", format!("nothing in {path} is called {packages}"))
            .with_hint("Give a package's name, name@range, or its folder: node_modules/name."));
    }
    Ok(found)
}
