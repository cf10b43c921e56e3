//! From options and npm's settings to what the engine takes.

use crate::options::{InstallArguments, LockFieldsOption, OmitKind};
use gantry_engine::{Extent, Fault, InstallMode, InstallRequest, LockFields, Slots};
use gantry_layout::Omit;
use gantry_manifest::{Config, NpmrcValue};
use gantry_native::{ConfigSources, HttpSettings, NativeHostSettings, ProjectDirectory, ProjectFiles, machine_target};
use gantry_registry::{DEFAULT_REGISTRY, RegistrySettings, ReplaceHost, RetryPolicy, host_of};
use gantry_resolver::{InstallStrategy, ResolveOptions, Target};
use std::path::{Path, PathBuf};

/// Settings of npm that change the result and that are not there yet: better said than passed over.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("package-lock", "false"),
    ("install-links", "true"),
    ("dry-run", "true"),
    ("global", "true"),
    ("workspaces", "true"),
];

/// Everything an install needs.
pub struct Settings {
    pub host: NativeHostSettings,
    pub request: InstallRequest,
    pub warnings: Vec<(&'static str, String)>,
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new("CONFIG_INVALID", message.into())
}

/// Reads the project and all settings.
pub fn load(arguments: &InstallArguments, mode: InstallMode) -> Result<Settings, Fault> {
    let project = std::path::absolute(&arguments.prefix)
        .map_err(|error| invalid(format!("--prefix {}: {error}", arguments.prefix.display())))?;
    let sources = ConfigSources {
        options: options_layer(arguments),
        environment: std::env::vars_os()
            .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        project: project.clone(),
    };
    let config = sources.load()?;
    refuse_unsupported(&config)?;

    let ProjectFiles { package_json, lockfile, lockfile_name } = ProjectDirectory::read(&project)?;
    let package_json_path = project.join("package.json").display().to_string();
    let package_json = package_json.ok_or_else(|| {
        Fault::new("MANIFEST_MISSING", format!("{package_json_path} is missing"))
            .with_hint("Run the command in a project's folder, or name one with --prefix.")
    })?;

    let node_version = config.get("node-version").map(str::to_owned).or_else(|| sources.node_version());
    let omit = omitted(arguments, &config, sources.environment.get("NODE_ENV").map(String::as_str))?;
    let request = InstallRequest {
        package_json,
        package_json_path,
        lockfile,
        lockfile_path: lockfile_name.to_owned(),
        mode,
        extent: if config.get_bool("package-lock-only") == Some(true) { Extent::LockOnly } else { Extent::Tree },
        lock_fields: match arguments.lock_fields {
            LockFieldsOption::Npm => LockFields::Npm,
            LockFieldsOption::Fast => LockFields::Fast,
        },
        omit,
        resolve: resolve_options(&config, node_version, omit, &project)?,
    };
    let host = NativeHostSettings {
        store: store_directory(arguments, &sources)?,
        http: http_settings(&config)?,
        registry: registry_settings(config)?,
        slots: Slots { packuments: 64, packages: 64 },
        project,
    };
    Ok(Settings { host, request, warnings: Vec::new() })
}

fn options_layer(arguments: &InstallArguments) -> Vec<(String, NpmrcValue)> {
    let mut layer = Vec::new();
    let mut text = |key: &str, value: &Option<String>| {
        if let Some(value) = value {
            layer.push((key.to_owned(), NpmrcValue::Text(value.clone())));
        }
    };
    text("registry", &arguments.registry);
    text("os", &arguments.os);
    text("cpu", &arguments.cpu);
    text("libc", &arguments.libc);
    text("node-version", &arguments.node_version);
    let mut flag = |key: &str, on: bool| {
        if on {
            layer.push((key.to_owned(), NpmrcValue::Text("true".to_owned())));
        }
    };
    flag("package-lock-only", arguments.lockfile_only);
    flag("legacy-peer-deps", arguments.legacy_peer_deps);
    flag("strict-peer-deps", arguments.strict_peer_deps);
    flag("force", arguments.force);
    layer
}

fn refuse_unsupported(config: &Config) -> Result<(), Fault> {
    for (key, value) in UNSUPPORTED {
        if config.get(key) == Some(value) {
            return Err(Fault::new("CONFIG_UNSUPPORTED", format!("the setting {key}={value} is not supported yet"))
                .with_hint("Remove it from .npmrc or the environment for this project."));
        }
    }
    for key in ["min-release-age"] {
        if config.get(key).is_some_and(|value| !value.is_empty() && value != "null" && value != "0") {
            return Err(Fault::new("CONFIG_UNSUPPORTED", format!("the setting {key} is not supported yet")));
        }
    }
    match config.get("lockfile-version") {
        None | Some("3" | "null" | "") => Ok(()),
        Some(other) => {
            Err(Fault::new("CONFIG_UNSUPPORTED", format!("lockfile-version={other}: only version 3 is written")))
        }
    }
}

fn omitted(arguments: &InstallArguments, config: &Config, node_env: Option<&str>) -> Result<Omit, Fault> {
    let mut omit = Omit::default();
    if arguments.omit.is_empty() {
        let configured = config.get_list("omit");
        omit.dev = configured.is_empty() && node_env == Some("production");
        for kind in configured {
            match kind.as_str() {
                "dev" => omit.dev = true,
                "optional" => omit.optional = true,
                "peer" => omit.peer = true,
                "" => {}
                other => return Err(invalid(format!("omit={other}: only dev, optional and peer can be omitted"))),
            }
        }
    }
    let mut set = |kinds: &[OmitKind], value: bool| {
        for kind in kinds {
            match kind {
                OmitKind::Dev => omit.dev = value,
                OmitKind::Optional => omit.optional = value,
                OmitKind::Peer => omit.peer = value,
            }
        }
    };
    set(&arguments.omit, true);
    set(&arguments.include, false);
    for kind in config.get_list("include") {
        match kind.as_str() {
            "dev" => omit.dev = false,
            "optional" => omit.optional = false,
            "peer" => omit.peer = false,
            _ => {}
        }
    }
    Ok(omit)
}

fn resolve_options(
    config: &Config,
    node_version: Option<String>,
    omit: Omit,
    project: &Path,
) -> Result<ResolveOptions, Fault> {
    let machine = machine_target(node_version);
    let text = |key: &str| config.get(key).filter(|value| !value.is_empty() && *value != "null").map(str::to_owned);
    let is = |key: &str| config.get_bool(key) == Some(true);
    let os = text("os");
    let moved = os.as_ref().is_some_and(|os| *os != machine.os);
    let target = Target {
        // Another system's C library is not this machine's.
        libc: text("libc").or(if moved { None } else { machine.libc }),
        os: os.unwrap_or(machine.os),
        cpu: text("cpu").unwrap_or(machine.cpu),
        node_version: machine.node_version,
        npm_version: machine.npm_version,
    };
    let mut options = ResolveOptions::default();
    options.target = target;
    options.strategy = match config.get("install-strategy") {
        None | Some("hoisted" | "") => InstallStrategy::Hoisted,
        Some("nested") => InstallStrategy::Nested,
        Some("shallow") => InstallStrategy::Shallow,
        Some("linked") => InstallStrategy::Linked,
        Some(other) => {
            return Err(invalid(format!("install-strategy={other} is none of hoisted, nested, shallow, linked")));
        }
    };
    options.legacy_peer_deps = is("legacy-peer-deps");
    options.strict_peer_deps = is("strict-peer-deps");
    options.force = is("force");
    options.prefer_dedupe = is("prefer-dedupe");
    options.engine_strict = is("engine-strict");
    options.default_tag = text("tag").unwrap_or(options.default_tag);
    options.before = text("before");
    options.omit_resolved = is("omit-lockfile-registry-resolved");
    options.omit_dev = omit.dev;
    options.omit_optional = omit.optional;
    options.omit_peer = omit.peer;
    options.folder_name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(options)
}

fn registry_settings(config: Config) -> Result<RegistrySettings, Fault> {
    let configured = config.get("registry").filter(|value| !value.is_empty()).or(DEFAULT_REGISTRY);
    let Some(registry) = configured else {
        return Err(Fault::new("CONFIG_NO_REGISTRY", "no registry is configured, and this build knows no default")
            .with_hint("Set one with --registry or in .npmrc."));
    };
    let mut registry = registry.to_owned();
    if !registry.ends_with('/') {
        registry.push('/');
    }
    let public_host = DEFAULT_REGISTRY.and_then(host_of);
    let replace_host = match config.get("replace-registry-host") {
        None | Some("npmjs" | "") => public_host.map_or(ReplaceHost::Never, ReplaceHost::Host),
        Some("always") => ReplaceHost::Always,
        Some("never") => ReplaceHost::Never,
        Some(host) => ReplaceHost::Host(host_of(host).unwrap_or_else(|| host.to_owned())),
    };
    let number = |key: &str| config.get(key).and_then(|value| value.parse::<f64>().ok()).filter(|value| *value >= 0.0);
    let mut retry = RetryPolicy::default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "negative numbers are filtered out")]
    {
        retry.retries = number("fetch-retries").map_or(retry.retries, |value| value as u32);
        retry.timeout_milliseconds = number("fetch-timeout").map_or(retry.timeout_milliseconds, |value| value as u64);
    }
    retry.factor = number("fetch-retry-factor").unwrap_or(retry.factor);
    retry.min_wait_milliseconds = number("fetch-retry-mintimeout").unwrap_or(retry.min_wait_milliseconds);
    retry.max_wait_milliseconds = number("fetch-retry-maxtimeout").unwrap_or(retry.max_wait_milliseconds);
    Ok(RegistrySettings { default_registry: registry, replace_host, retry, config })
}

fn http_settings(config: &Config) -> Result<HttpSettings, Fault> {
    let mut certificates: Vec<Vec<u8>> = Vec::new();
    if let Some(path) = config.get("cafile").filter(|path| !path.is_empty() && *path != "null") {
        let pem = std::fs::read(path).map_err(|error| invalid(format!("cafile {path}: {error}")))?;
        certificates.push(pem);
    }
    for certificate in config.get_list("ca") {
        if !certificate.is_empty() && certificate != "null" {
            certificates.push(certificate.replace("\\n", "\n").into_bytes());
        }
    }
    let text = |key: &str| {
        config.get(key).filter(|value| !value.is_empty() && !matches!(*value, "null" | "false")).map(str::to_owned)
    };
    Ok(HttpSettings {
        certificates,
        accept_invalid_certificates: config.get_bool("strict-ssl") == Some(false),
        http_proxy: text("proxy"),
        https_proxy: text("https-proxy"),
        no_proxy: text("noproxy"),
        user_agent: concat!("gantry/", env!("CARGO_PKG_VERSION")).to_owned(),
    })
}

fn store_directory(arguments: &InstallArguments, sources: &ConfigSources) -> Result<PathBuf, Fault> {
    if let Some(path) = &arguments.store_dir {
        return std::path::absolute(path).map_err(|error| invalid(format!("--store-dir {}: {error}", path.display())));
    }
    let from = |key: &str| sources.environment.get(key).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = from("XDG_DATA_HOME").or_else(|| from("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join("gantry/store")).ok_or_else(|| {
        Fault::new("CONFIG_INVALID", "no place for the store: neither HOME nor XDG_DATA_HOME is set")
            .with_hint("Name one with --store-dir.")
    })
}
