//! npm's `global` mode: what is installed for the whole machine, and where.

use crate::options::InstallArguments;
use crate::prefix::{Place, below_home};
use crate::settings::{config_sources, environment, line_of};
use gantry_engine::Fault;
use gantry_manifest::{Config, NpmrcValue, environment_layer};
use gantry_native::{GlobalFolder, GlobalPackage, LoadedConfig};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The setting.
pub const GLOBAL: &str = "global";

/// How the packages are called where a project's `package.json` would be.
pub const MANIFEST: &str = "what is installed for the whole machine";

/// Whether the line or the environment asks for it; in files it would change what every command does.
pub fn is_asked(line: &[(String, NpmrcValue)]) -> bool {
    let mut config = Config::new();
    config.push_layer(line.to_vec());
    config.push_layer(environment_layer(environment()));
    match config.get_bool(GLOBAL) {
        Some(global) => global,
        None => config.get("location") == Some(GLOBAL),
    }
}

/// The place that a command is for: the whole machine where that is asked for, else a project.
pub fn place(arguments: &InstallArguments) -> Result<Place, Fault> {
    if !is_asked(&arguments.resolve.settings) {
        return Place::find(arguments.resolve.prefix.as_deref(), arguments.workspaces.in_workspace());
    }
    let folder = global_place(arguments)?;
    Ok(Place { project: folder.project(), workspace: None, global: Some(folder) })
}

/// Where packages for the whole machine are.
pub fn global_place(arguments: &InstallArguments) -> Result<GlobalFolder, Fault> {
    let named = arguments.resolve.prefix.as_deref();
    let here = std::env::current_dir()
        .map_err(|error| Fault::of_setting(format!("the current folder cannot be found: {error}")))?;
    let named = named.map(|named| absolute(&below_home(named))).transpose()?;
    let sources = config_sources(line_of(arguments, None), named.as_deref(), &here, true);
    let LoadedConfig { config, .. } = sources.load();
    let prefix = sources.global_prefix(&config).ok_or_else(|| {
        Fault::new(
            "PREFIX_UNKNOWN",
            "nothing tells where packages for the whole machine are: there is no node on the PATH",
        )
        .with_hint("Set prefix in the user's .npmrc, or name a folder with --prefix.")
    })?;
    Ok(GlobalFolder::new(&absolute(&prefix)?, config.get_bool("force") == Some(true)))
}

fn absolute(path: &Path) -> Result<PathBuf, Fault> {
    std::path::absolute(path).map_err(|error| Fault::of_setting(format!("--prefix {}: {error}", path.display())))
}

/// A path without the links in what is there of it.
pub fn real_path(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let real = existing.and_then(|(above, real)| Some(real.join(path.strip_prefix(above).ok()?)));
    real.unwrap_or_else(|| path.to_owned())
}

/// The packages that there are, as a manifest would list them: each in whatever version it is there, and links as what they lead to.
pub fn manifest_of(packages: &[GlobalPackage]) -> Vec<u8> {
    let asked = |package: &GlobalPackage| {
        let spec = package.target.as_ref().map_or("*".to_owned(), |target| format!("file:{}", target.display()));
        (package.name.clone(), json!(spec))
    };
    let dependencies: Map<String, Value> = packages.iter().map(asked).collect();
    json!({ "dependencies": dependencies }).to_string().into_bytes()
}

/// What `update` installs anew: packages of these names that are there, or all; what is a link to a folder is as new as that.
pub fn updated(folder: &GlobalFolder, names: &[String]) -> Result<Vec<String>, Fault> {
    let is_meant =
        |package: &GlobalPackage| package.target.is_none() && (names.is_empty() || names.contains(&package.name));
    let packages = folder.installed()?.into_iter().filter(is_meant);
    Ok(packages.map(|package| format!("{}@*", package.name)).collect())
}
