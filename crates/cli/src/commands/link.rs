//! `gantry link`: npm's way to work on a package beside the projects that use it. Its folder is linked to for the whole machine,
//! and projects link to what is linked to there.

use crate::changes::Task;
use crate::commands::install;
use crate::failure::{exit_status, print_failure};
use crate::global::{GLOBAL, global_place, is_asked, real_path};
use crate::options::{InstallArguments, LinkArguments, SaveArguments};
use crate::prefix::Place;
use gantry_engine::{EngineError, Fault};
use gantry_manifest::{Manifest, NpmrcValue};
use gantry_native::{GlobalFolder, GlobalPackage, ProjectDirectory};
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
    /// What is put in place for the whole machine first: a folder that was named, or what is not there yet.
    missing: Option<String>,
}

/// Links to the project for the whole machine, or to the workspace that the command is started in.
fn link_project(install: &InstallArguments) -> Result<u8, Fault> {
    let global = for_the_machine(install)?;
    let place = Place::find(install.resolve.prefix.as_deref(), install.workspaces.in_workspace())?;
    let folder = absolute(&place.workspace.unwrap_or(place.project))?;
    Ok(add(&global, &[as_spec(&folder)], &SaveArguments::default()))
}

/// Links in the project to what there is for the whole machine. Folders are linked to there first, and what there is nothing of is
/// installed there.
fn link_into_project(packages: &[String], save: &SaveArguments, install: &InstallArguments) -> Result<u8, Fault> {
    // The project itself is left out, as by npm.
    let place = Place::find(install.resolve.prefix.as_deref(), install.workspaces.in_workspace())?;
    let project = real_path(&absolute(&place.project)?);
    let is_here = |package: &&String| absolute(Path::new(package)).is_ok_and(|path| real_path(&path) == project);
    let packages: Vec<&String> = packages.iter().filter(|package| !is_here(package)).collect();
    if packages.is_empty() {
        return link_project(install);
    }
    let global = for_the_machine(install)?;
    let machine = global_place(&global)?;
    let before = machine.installed()?;
    let wanted = packages.iter().map(|package| wanted(package, &before)).collect::<Result<Vec<_>, _>>()?;
    let missing: Vec<String> = wanted.iter().filter_map(|wanted| wanted.missing.clone()).collect();
    if !missing.is_empty() {
        let status = add(&global, &missing, &SaveArguments::default());
        if status != 0 {
            return Ok(status);
        }
    }
    let after = machine.installed()?;
    let links = wanted.iter().map(|wanted| Ok(as_spec(&folder_of(&machine, &after, &wanted.name)?)));
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

/// What an argument means: a package by its name, whatever else is said of it where it is `installed` for the whole machine, or a
/// folder.
fn wanted(argument: &str, installed: &[GlobalPackage]) -> Result<Wanted, Fault> {
    let (name, spec) = Spec::parse_argument(argument).map_err(|error| Fault::of_setting(error.to_string()))?;
    let SpecKind::Directory { path } = spec.kind else {
        if name.is_empty() {
            return Err(Fault::of_setting(format!("link {argument}: nothing says which package that is"))
                .with_hint(format!("Name it: <name>@{argument}")));
        }
        let is_there = installed.iter().any(|package| package.name == name);
        return Ok(Wanted { name, missing: (!is_there).then(|| argument.to_owned()) });
    };
    let folder = absolute(Path::new(&path))?;
    let path = folder.join("package.json").display().to_string();
    let text = ProjectDirectory::read(&folder)?.package_json.unwrap_or_else(|| b"{}".to_vec());
    let manifest = Manifest::parse_package_json(&text, &path).map_err(|error| EngineError::from(error).to_fault())?;
    match manifest.name.filter(|name| !name.is_empty()) {
        Some(name) => Ok(Wanted { name: name.to_string(), missing: Some(as_spec(&folder)) }),
        None => Err(Fault::new("DEPENDENCY_NAMELESS", format!("{path} gives no name, or is not there"))
            .with_hint("Name the folder of a package, and give the package a name.")),
    }
}

/// The folder that a package is for the whole machine: the user's where it is a link.
fn folder_of(machine: &GlobalFolder, installed: &[GlobalPackage], name: &str) -> Result<PathBuf, Fault> {
    match installed.iter().find(|package| package.name == name) {
        Some(package) => Ok(package.target.clone().unwrap_or_else(|| machine.folder_of(name))),
        None => Err(Fault::of_setting(format!("{name} is not installed for the whole machine"))
            .with_hint("Leave out --dry-run: what is not there cannot be linked to.")),
    }
}

fn as_spec(folder: &Path) -> String {
    format!("file:{}", folder.display())
}

fn absolute(folder: &Path) -> Result<PathBuf, Fault> {
    std::path::absolute(folder)
        .map_err(|error| Fault::of_setting(format!("{}: the path cannot be followed: {error}", folder.display())))
}
