//! What the command has scripts find in their environment, as npm does (`@npmcli/config/lib/set-envs.js`).

use crate::npm_options::is_switch;
use gantry_manifest::{Config, NpmrcValue};
use gantry_native::{ConfigSources, ScriptEnvironment, machine_target};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// npm's settings that are not for other processes: those that it hands to none, as they are out of use or mean this command, and
/// what is said below.
const KEPT: [&str; 19] = [
    "allow-scripts",
    "also",
    "cache-max",
    "cache-min",
    "cert",
    "dev",
    "global-style",
    "if-present",
    "include-workspace-root",
    "key",
    "legacy-bundling",
    "min-release-age",
    "min-release-age-exclude",
    "only",
    "optional",
    "prefix",
    "shrinkwrap",
    "workspace",
    "workspaces",
];

/// Switches that are on unless somebody says otherwise.
const ON: [&str; 14] = [
    "audit",
    "bin-links",
    "commit-hooks",
    "description",
    "format-package-lock",
    "fund",
    "git-tag-version",
    "package-lock",
    "rebuild-bundle",
    "save",
    "strict-ssl",
    "unicode",
    "update-notifier",
    "workspaces-update",
];

/// What the environment is made of.
#[derive(Debug, Clone)]
pub struct Surroundings {
    pub sources: ConfigSources,
    pub config: Config,
    pub project: PathBuf,
    /// npm's name of the command.
    pub command: &'static str,
    /// The version of Node.js that runs the project.
    pub node_version: Option<String>,
}

/// Makes it.
pub fn script_environment(surroundings: &Surroundings) -> ScriptEnvironment {
    let Surroundings { sources, config, project, command, node_version } = surroundings;
    let mut variables: Vec<(String, OsString)> = Vec::new();
    let mut set = |name: &str, value: &dyn AsRef<std::ffi::OsStr>| {
        variables.push((name.to_owned(), value.as_ref().to_owned()));
    };
    for (key, value) in config.all() {
        let is_private = key.starts_with(['/', '@', '_']) || key.contains('\0') || key.contains('=');
        let name = format!("npm_config_{}", key.replace('-', "_").to_lowercase());
        let is_there = || {
            let is_said = sources.options.iter().any(|(other, _)| other == key);
            !is_said && sources.environment.keys().any(|other| other.eq_ignore_ascii_case(&name))
        };
        if is_private || KEPT.contains(&key) || is_default(key, value) || is_there() {
            continue;
        }
        set(&name, &text_of(key, value).replace('\0', ""));
    }
    let sources = &sources.clone().behind_shims();
    let npm = sources.npm_folder();
    let in_npm = |path: &str| npm.as_ref().map(|npm| npm.join(path)).filter(|path| path.exists());
    let target = machine_target(node_version.clone());
    set("npm_command", command);
    set("npm_config_local_prefix", project);
    let installation = if sources.is_global { config.clone() } else { without_own_prefix(config, project) };
    if let Some(prefix) = sources.global_prefix(&installation) {
        set("npm_config_global_prefix", &prefix);
        set("npm_config_prefix", &prefix);
    }
    set("npm_config_npm_version", &target.npm_version);
    // Who asks which installer this is wants to know which lock and which rules it has.
    let agent = format!(
        "npm/{} node/v{} {} {} workspaces/false gantry/{}",
        target.npm_version,
        target.node_version,
        target.os,
        target.cpu,
        env!("CARGO_PKG_VERSION")
    );
    set("npm_config_user_agent", &agent);
    if let Some(gyp) = in_npm("node_modules/node-gyp/bin/node-gyp.js") {
        set("npm_config_node_gyp", &gyp);
    }
    if let Some(script) = in_npm("bin/npm-cli.js") {
        set("npm_execpath", &script);
    }
    if let Some(node) = sources.node() {
        set("NODE", &node);
        set("npm_node_execpath", &node);
    }
    if let Ok(here) = std::env::current_dir() {
        set("INIT_CWD", &here);
    }
    if let Some(home) = sources.home() {
        set("HOME", &home);
    }
    if let Some(options) = config.get_text("node-options") {
        set("NODE_OPTIONS", &options);
    }
    ScriptEnvironment {
        variables,
        node_gyp_folder: in_npm("node_modules/@npmcli/run-script/lib/node-gyp-bin"),
        path: std::env::var_os("PATH").unwrap_or_default(),
    }
}

/// Whether a switch is what it is anyway.
fn is_default(key: &str, value: &NpmrcValue) -> bool {
    is_switch(key)
        && matches!(value, NpmrcValue::Text(text) if text == if ON.contains(&key) { "true" } else { "false" })
}

/// A setting as npm hands it on: what is off is empty, and lists have an empty line between their parts.
fn text_of(key: &str, value: &NpmrcValue) -> String {
    match value {
        NpmrcValue::Null => String::new(),
        NpmrcValue::Text(text) if text == "false" && is_switch(key) => String::new(),
        NpmrcValue::Text(text) => text.clone(),
        NpmrcValue::List(values) => values.join("\n\n"),
    }
}

/// The settings without the project's folder as prefix, which `--prefix` is for this command alone.
fn without_own_prefix(config: &Config, project: &Path) -> Config {
    match config.get("prefix") {
        Some(prefix) if Path::new(prefix) == project => Config::new(),
        _ => config.clone(),
    }
}
