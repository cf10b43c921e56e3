//! What scripts find in their environment (`@npmcli/run-script/lib`, `@npmcli/config/lib/set-envs.js`).

use gantry_layout::Scripted;
use serde_json::{Map, Value};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// What all scripts of a command have in common.
#[derive(Debug, Clone, Default)]
pub struct ScriptEnvironment {
    /// Variables by name.
    pub variables: Vec<(String, OsString)>,
    /// A folder with `node-gyp`, which counts where the packages have none.
    pub node_gyp_folder: Option<PathBuf>,
    /// The `PATH` that the command has.
    pub path: OsString,
}

/// One script.
pub(super) struct Context<'a> {
    pub project: &'a Path,
    pub folder: &'a Path,
    pub package_json: &'a Value,
    /// `None` of the project's.
    pub scripted: Option<&'a Scripted>,
    pub event: &'a str,
    pub command: &'a str,
}

impl ScriptEnvironment {
    /// Gives a script its environment.
    pub(super) fn apply(&self, command: &mut Command, context: &Context<'_>) {
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env("PATH", self.path_for(context.folder));
        if let Some(scripted) = context.scripted {
            let is = |flag: bool| if flag { "1" } else { "" };
            let Scripted { optional, peer, dev, dev_optional, .. } = scripted;
            command.env("npm_package_optional", is(*optional));
            command.env("npm_package_dev", is(*dev));
            command.env("npm_package_peer", is(*peer));
            command.env("npm_package_dev_optional", is(*dev_optional && !dev && !optional));
            if let Some(resolved) = &scripted.resolved {
                command.env("npm_package_resolved", absolute(resolved, context.project));
            }
            if let Some(integrity) = &scripted.integrity {
                command.env("npm_package_integrity", &**integrity);
            }
        }
        for (name, value) in package_variables(context.package_json) {
            command.env(name, value);
        }
        command.env("npm_package_json", context.folder.join("package.json"));
        command.env("npm_lifecycle_event", context.event);
        command.env("npm_lifecycle_script", context.command);
    }

    /// The commands of the packages in every folder upwards, then `node-gyp`, then what the command has.
    fn path_for(&self, folder: &Path) -> OsString {
        let mut path = OsString::new();
        for folder in folder.ancestors() {
            path.push(folder.join("node_modules/.bin"));
            path.push(":");
        }
        if let Some(folder) = &self.node_gyp_folder {
            path.push(folder);
            path.push(":");
        }
        path.push(&self.path);
        path
    }
}

/// What a lock calls a file or a folder of the user, by its absolute path.
fn absolute(resolved: &str, project: &Path) -> OsString {
    let Some(path) = resolved.strip_prefix("file:") else { return resolved.into() };
    let mut place = PathBuf::new();
    for component in project.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(place.pop()),
            other => place.push(other),
        }
    }
    let mut text = OsString::from("file:");
    text.push(place);
    text
}

/// What a manifest puts there: some of its members, flat.
fn package_variables(package_json: &Value) -> Vec<(String, OsString)> {
    let mut variables = Vec::new();
    for member in ["name", "version", "config", "engines"] {
        if let Some(value) = package_json.get(member) {
            flatten(&format!("npm_package_{member}"), value, &mut variables);
        }
    }
    if let Some(commands) = commands(package_json) {
        flatten("npm_package_bin", &commands, &mut variables);
    }
    let is_possible = |text: &OsStr| !text.as_encoded_bytes().contains(&0);
    variables.retain(|(name, value)| is_possible(name.as_ref()) && is_possible(value));
    variables
}

/// The commands of a package by name, in the long form.
fn commands(package_json: &Value) -> Option<Value> {
    match package_json.get("bin")? {
        Value::String(file) => {
            let name = package_json.get("name")?.as_str()?;
            let name = name.rsplit('/').next()?.to_owned();
            Some(Value::Object(Map::from_iter([(name, Value::String(file.clone()))])))
        }
        other => Some(other.clone()),
    }
}

fn flatten(name: &str, value: &Value, into: &mut Vec<(String, OsString)>) {
    match value {
        Value::Null | Value::Bool(false) => into.push((name.to_owned(), OsString::new())),
        Value::Bool(true) => into.push((name.to_owned(), "true".into())),
        Value::Number(number) => into.push((name.to_owned(), number.to_string().into())),
        Value::String(text) => into.push((name.to_owned(), text.into())),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| flatten(&format!("{name}_{index}"), item, into));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| flatten(&format!("{name}_{key}"), member, into));
        }
    }
}
