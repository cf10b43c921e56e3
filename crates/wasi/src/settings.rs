//! From the command line, the environment and the project's `.npmrc` to what the engine takes.
//!
//! The user's and the machine's own `.npmrc` are not the host's to open, and so not read.

use crate::WasiError;
use crate::options::Options;
use crate::project::read_optional;
use crate::system::{Meaning, meaning};
use gantry_engine::{
    EngineError, Fault, InstallMode, InstallRequest, WorkspaceSettings, configured_node_version, configured_omit,
    refuse_unsupported, resolve_settings,
};
use gantry_layout::Omit;
use gantry_manifest::{Config, Lockfile, Manifest, NpmrcValue, environment_layer, parse_npmrc};
use gantry_registry::{CacheMode, DEFAULT_REGISTRY, RegistrySettings, ReplaceHost, RetryPolicy};
use gantry_resolver::{ResolveOptions, Target};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Refuses a folder that the host has not opened.
pub(crate) fn require_folder(path: &Path, option: &'static str) -> Result<(), WasiError> {
    match fs::metadata(path) {
        Ok(data) if data.is_dir() => Ok(()),
        _ => Err(WasiError::NotOpened { path: path.to_owned(), option }),
    }
}

/// Makes the store's folder where it is not there yet.
pub(crate) fn provide_store(path: &Path) -> Result<(), WasiError> {
    if require_folder(path, "--store-dir").is_ok() {
        return Ok(());
    }
    fs::create_dir_all(path).map_err(|error| match meaning(&error) {
        Meaning::Denied | Meaning::Full => WasiError::io("create", path)(error),
        _ => WasiError::NotOpened { path: path.to_owned(), option: "--store-dir" },
    })
}

/// Reads the project and all settings.
pub(crate) fn load(options: &Options) -> Result<(InstallRequest, RegistrySettings), Fault> {
    let prefix = &options.prefix;
    require_folder(prefix, "--prefix")?;
    let config = config(options)?;
    refuse_unsupported(&config)?;
    let package_json_path = prefix.join("package.json").display().to_string();
    let package_json = read_optional(&prefix.join("package.json"))?.ok_or_else(|| {
        Fault::new("MANIFEST_MISSING", format!("{package_json_path} is missing"))
            .with_hint("Name the project's folder with --prefix.")
    })?;
    let shrinkwrap = read_optional(&prefix.join("npm-shrinkwrap.json"))?.filter(|bytes| !bytes.is_empty());
    let (lockfile, lockfile_path) = match shrinkwrap {
        Some(bytes) => (Some(bytes), "npm-shrinkwrap.json"),
        None => (read_optional(&prefix.join("package-lock.json"))?, "package-lock.json"),
    };
    let node_env = std::env::var_os("NODE_ENV").and_then(|value| value.into_string().ok());
    let omit = configured_omit(&config, node_env.as_deref())?;
    let mut resolve = resolve_options(&config, &omit)?;
    resolve.folder_name = folder_name(prefix, &package_json, lockfile.as_deref());
    resolve.project_path = prefix.display().to_string();
    let request = InstallRequest {
        package_json,
        package_json_path,
        lockfile,
        lockfile_path: lockfile_path.to_owned(),
        mode: InstallMode::Ci,
        omit,
        workspaces: WorkspaceSettings::of_config(&config, None).choice(String::new())?,
        resolve,
        ..InstallRequest::default()
    };
    Ok((request, registry_settings(config)?))
}

/// What the lock and the manifest say of the project, for those who only look.
pub(crate) fn parse_lock(request: &InstallRequest) -> Result<Lockfile, Fault> {
    let bytes = request.lockfile.as_deref().filter(|bytes| !bytes.is_empty());
    let missing = || EngineError::LockMissing { path: request.lockfile_path.clone() }.to_fault();
    Lockfile::parse(bytes.ok_or_else(missing)?, &request.lockfile_path)
        .map_err(|error| EngineError::from(error).to_fault())
}

fn config(options: &Options) -> Result<Config, Fault> {
    let variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let mut config = Config::new();
    let mut layer: Vec<(String, NpmrcValue)> = Vec::new();
    for (key, value) in &options.settings {
        match layer.iter_mut().find(|(other, _)| other == key) {
            Some((_, NpmrcValue::List(values))) => values.push(value.clone()),
            Some((_, known)) => *known = NpmrcValue::Text(value.clone()),
            None if matches!(key.as_str(), "omit" | "include" | "workspace") => {
                layer.push((key.clone(), NpmrcValue::List(vec![value.clone()])));
            }
            None => layer.push((key.clone(), NpmrcValue::Text(value.clone()))),
        }
    }
    config.push_layer(layer);
    config.push_layer(environment_layer(variables.clone()));
    if let Some(text) = read_optional(&options.prefix.join(".npmrc"))? {
        let lookup = |name: &str| variables.get(name).cloned();
        config.push_layer(parse_npmrc(&String::from_utf8_lossy(&text), &lookup));
    }
    Ok(config)
}

/// A program cannot ask WASI which machine it is on: unless told otherwise the tree is for a machine that runs WebAssembly,
/// as in a page.
fn resolve_options(config: &Config, omit: &Omit) -> Result<ResolveOptions, Fault> {
    let text = |key: &str| config.get(key).filter(|value| !value.is_empty() && *value != "null").map(str::to_owned);
    let default = Target::default();
    let target = Target {
        os: text("os").unwrap_or_else(|| "linux".to_owned()),
        cpu: text("cpu").unwrap_or_else(|| "wasm32".to_owned()),
        libc: text("libc"),
        node_version: configured_node_version(config)?.unwrap_or(default.node_version),
        npm_version: default.npm_version,
    };
    if let Some(strategy) = text("install-strategy").filter(|strategy| strategy != "hoisted") {
        return Err(Fault::new(
            "CONFIG_UNSUPPORTED",
            format!("install-strategy={strategy} is not supported under WASI"),
        ));
    }
    resolve_settings(config, target, omit).map_err(Fault::of_setting)
}

/// The name that the lock of a project without a name carries. The folder's own is the host's secret: what is opened as
/// `/project` may be called anything. So it is the lock's, where only the folder could have given it.
fn folder_name(prefix: &Path, package_json: &[u8], lock: Option<&[u8]>) -> String {
    let named = Manifest::parse_package_json(package_json, "package.json").ok().and_then(|manifest| manifest.name);
    let of_lock = || Lockfile::parse(lock?, "package-lock.json").ok()?.name.map(String::from);
    let own = prefix.file_name().map(|name| name.to_string_lossy().into_owned());
    match named {
        Some(_) => own,
        None => of_lock().or(own),
    }
    .unwrap_or_default()
}

fn registry_settings(config: Config) -> Result<RegistrySettings, Fault> {
    let configured = config.get("registry").filter(|value| !value.is_empty()).or(DEFAULT_REGISTRY);
    let registry = configured.ok_or_else(|| {
        Fault::new("CONFIG_NO_REGISTRY", "no registry is configured, and this build knows no default")
            .with_hint("Set one with --registry or in .npmrc.")
    })?;
    Ok(RegistrySettings {
        default_registry: format!("{}/", registry.trim_end_matches('/')),
        replace_host: ReplaceHost::from_setting(config.get("replace-registry-host")),
        // Nobody will answer the second time either.
        retry: RetryPolicy { retries: 0, ..RetryPolicy::default() },
        cache_mode: CacheMode::Offline,
        config,
    })
}
