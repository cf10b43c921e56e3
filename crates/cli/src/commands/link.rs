//! `gantry link`: npm's way to work on a package beside the projects that use it. Its folder is linked to for the whole machine,
//! and projects link to what is linked to there.

use crate::changes::Task;
use crate::commands::install;
use crate::failure::{exit_status, print_failure};
use crate::global::{GLOBAL, global_place, is_asked};
use crate::options::{InstallArguments, LinkArguments, SaveArguments};
use crate::prefix::Place;
use gantry_engine::{EngineError, Fault};
use gantry_manifest::{Manifest, NpmrcValue};
use gantry_native::{GlobalFolder, ProjectDirectory};
use gantry_spec::{Spec, SpecKind};
use std::path::{Path, PathBuf};

/// Links to the project, or in it; returns the exit status.
pub fn run(arguments: LinkArguments) -> u8 {
    let LinkArguments { packages, save, mut install } = arguments;
    set(&mut install, "install-links", "false");
    let linked =
        if packages.is_empty() { link_project(&install) } else { link_into_project(&packages, &save, &install) };
    linked.unwrap_or_else(|fault| {
        print_failure(&fault, install.resolve.json);
        exit_status(&fault)
    })
}

/// A package that is to be linked to.
struct Wanted {
    name: String,
    /// Its folder, where that was named.
    folder: Option<PathBuf>,
}

/// Links to the project for the whole machine, or to the workspace that the command is started in.
fn link_project(install: &InstallArguments) -> Result<u8, Fault> {
    let global = for_the_machine(install)?;
    let place = Place::find(install.resolve.prefix.as_deref(), install.workspaces.in_workspace())?;
    let folder = absolute(&place.workspace.unwrap_or(place.project))?;
    Ok(add(&global, &[as_spec(&folder)], &SaveArguments::default()))
}

/// Links in the project to packages that are linked to for the whole machine; folders are linked to there first.
fn link_into_project(packages: &[String], save: &SaveArguments, install: &InstallArguments) -> Result<u8, Fault> {
    let global = for_the_machine(install)?;
    let machine = global_place(&global)?;
    let wanted = packages.iter().map(|package| wanted(package)).collect::<Result<Vec<_>, _>>()?;
    // Where one cannot be linked to nothing is.
    for Wanted { name, .. } in wanted.iter().filter(|wanted| wanted.folder.is_none()) {
        linked_folder(&machine, name)?;
    }
    let folders: Vec<String> = wanted.iter().filter_map(|wanted| wanted.folder.as_deref().map(as_spec)).collect();
    if !folders.is_empty() {
        let status = add(&global, &folders, &SaveArguments::default());
        if status != 0 {
            return Ok(status);
        }
    }
    let links = wanted.iter().map(|wanted| Ok(as_spec(&linked_folder(&machine, &wanted.name)?)));
    let links = links.collect::<Result<Vec<_>, Fault>>()?;
    let mut install = install.clone();
    // As for npm nothing is written down unless that is asked for.
    install.no_save |= !install.save && !save.names_a_kind();
    Ok(add(&install, &links, save))
}

fn add(install: &InstallArguments, specs: &[String], save: &SaveArguments) -> u8 {
    install::run(install, &Task::Add(specs, save))
}

/// The same for the whole machine.
fn for_the_machine(install: &InstallArguments) -> Result<InstallArguments, Fault> {
    if is_asked(&install.resolve.settings) {
        return Err(Fault::of_setting("link is for projects: it links to them for the whole machine")
            .with_hint("Leave out --global."));
    }
    let mut global = install.clone();
    set(&mut global, GLOBAL, "true");
    Ok(global)
}

fn set(install: &mut InstallArguments, setting: &str, value: &str) {
    install.resolve.settings.retain(|(other, _)| other != setting);
    install.resolve.settings.push((setting.to_owned(), NpmrcValue::Text(value.to_owned())));
}

/// What an argument means: the name of what is linked to for the whole machine, or a folder.
fn wanted(argument: &str) -> Result<Wanted, Fault> {
    let (name, spec) = Spec::parse_argument(argument).map_err(|error| Fault::of_setting(error.to_string()))?;
    let SpecKind::Directory { path } = spec.kind else { return Ok(Wanted { name, folder: None }) };
    let folder = absolute(Path::new(&path))?;
    let path = folder.join("package.json").display().to_string();
    let text = ProjectDirectory::read(&folder)?.package_json.unwrap_or_else(|| b"{}".to_vec());
    let manifest = Manifest::parse_package_json(&text, &path).map_err(|error| EngineError::from(error).to_fault())?;
    match manifest.name.filter(|name| !name.is_empty()) {
        Some(name) => Ok(Wanted { name: name.to_string(), folder: Some(folder) }),
        None => Err(Fault::new("DEPENDENCY_NAMELESS", format!("{path} gives no name, or is not there"))
            .with_hint("Name the folder of a package, and give the package a name.")),
    }
}

/// The folder that a package is for the whole machine.
fn linked_folder(machine: &GlobalFolder, name: &str) -> Result<PathBuf, Fault> {
    match machine.installed()?.into_iter().find(|package| package.name == name) {
        Some(package) => package.target.ok_or_else(|| {
            Fault::of_setting(format!("{name} is installed for the whole machine, and no link to a folder"))
                .with_hint(format!("Install it in the project: gantry install {name}"))
        }),
        None => Err(Fault::of_setting(format!("no folder is linked to for the whole machine as {name}")).with_hint(
            "Run `gantry link` in the package's folder first, or give that folder in the place of the name.",
        )),
    }
}

fn as_spec(folder: &Path) -> String {
    format!("file:{}", folder.display())
}

fn absolute(folder: &Path) -> Result<PathBuf, Fault> {
    std::path::absolute(folder)
        .map_err(|error| Fault::of_setting(format!("{}: the path cannot be followed: {error}", folder.display())))
}
