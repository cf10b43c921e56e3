//! What the page may ask for, and what that means to the pipeline.

use crate::javascript::FileBytes;
use crate::recorded::ProjectOptions;
use bytes::Bytes;
use gantry_engine::{
    Changes, Extent, Fault, InstallMode, InstallRequest, LockFields, Update, WorkspaceSettings, changes_saved,
    configured_node_version, configured_omit, cutoff, lock_use, lockfile_version, refuse_credentials_without_address,
    refuse_unsupported, resolve_settings,
};
use gantry_layout::Omit;
use gantry_manifest::{Config, NpmrcValue, parse_npmrc, without_userinfo};
use gantry_registry::{CacheMode, RegistrySettings, ReplaceHost, RetryPolicy};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A page runs WebAssembly variants of native packages, and nothing else of them.
const DEFAULT_OS: &str = "linux";
const DEFAULT_CPU: &str = "wasm32";

/// A lock that locks nothing.
const EMPTY_LOCK: &str = r#"{"lockfileVersion":3,"requires":true,"packages":{}}"#;

/// Options of `Coordinator.open`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CoordinatorOptions {
    pub registry: String,
    #[serde(default)]
    scopes: BTreeMap<String, String>,
    /// Of `registry`.
    token: Option<String>,
    /// By the addresses of registries.
    #[serde(default)]
    tokens: BTreeMap<String, String>,
    fetch_timeout: Option<f64>,
    fetch_retries: Option<f64>,
    fetch_retry_factor: Option<f64>,
    fetch_retry_mintimeout: Option<f64>,
    fetch_retry_maxtimeout: Option<f64>,
    replace_registry_host: Option<String>,
    /// Bytes of a pack that gets no more packages.
    pub pack_bytes: Option<u64>,
    /// Whether nothing of the store outlives this worker.
    #[serde(default)]
    pub in_memory: bool,
}

/// Options of `Coordinator.install`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct InstallOptions {
    #[serde(default = "default_project")]
    pub project: String,
    package_json: String,
    lockfile: Option<String>,
    /// Whether everything is resolved as if there were no lock and no tree.
    #[serde(default)]
    pub anew: bool,
    target: Option<TargetOptions>,
    omit: Option<Vec<String>>,
    #[serde(default)]
    frozen: bool,
    offline: Option<bool>,
    prefer_offline: Option<bool>,
    prefer_online: Option<bool>,
    lock_fields: Option<String>,
    lockfile_version: Option<u32>,
    lockfile_name: Option<String>,
    #[serde(default)]
    timing: bool,
    before: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, FileBytes>,
    changes: Option<ChangeOptions>,
    #[serde(default)]
    workspace: Vec<String>,
    workspaces: Option<bool>,
    include_workspace_root: Option<bool>,
    /// Text of the project's `.npmrc`.
    npmrc: Option<String>,
    /// What `${NAME}` in that stands for.
    #[serde(default)]
    environment: BTreeMap<String, String>,
}

/// What is to change of the dependencies.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChangeOptions {
    #[serde(default)]
    add: Vec<String>,
    #[serde(default)]
    remove: Vec<String>,
    update: Option<UpdateOption>,
    save_as: Option<String>,
    save_prefix: Option<String>,
}

/// Names, or `true` for everything.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum UpdateOption {
    Names(Vec<String>),
    All(bool),
}

impl ChangeOptions {
    /// npm's settings of how what is added is saved, as far as they are given.
    fn layer(&self) -> Result<Vec<(String, NpmrcValue)>, Fault> {
        const KINDS: [(&str, &str); 4] =
            [("prod", "save-prod"), ("dev", "save-dev"), ("optional", "save-optional"), ("peer", "save-peer")];
        let text = |key: &str, value: &str| (key.to_owned(), NpmrcValue::Text(value.to_owned()));
        let mut layer = Vec::new();
        if let Some(kind) = self.save_as.as_deref() {
            if KINDS.iter().all(|(name, _)| *name != kind) {
                let message = format!("saveAs: {kind} is none of prod, dev, optional, peer");
                return Err(Fault::new("INVALID_OPTION", message));
            }
            layer.extend(KINDS.map(|(name, key)| text(key, if name == kind { "true" } else { "false" })));
        }
        if let Some(prefix) = &self.save_prefix {
            layer.push(text("save-prefix", prefix));
        }
        Ok(layer)
    }

    fn understood(self, config: &Config) -> Result<Changes, Fault> {
        let update = match self.update {
            Some(UpdateOption::All(true)) => Update::All,
            Some(UpdateOption::Names(names)) if !names.is_empty() => {
                Update::of_names(names).map_err(|message| Fault::new("INVALID_OPTION", message))?
            }
            _ => Update::Nothing,
        };
        let mut changes = Changes { add: self.add, remove: self.remove, update, ..changes_saved(config) };
        if changes.add.is_empty() && changes.remove.is_empty() {
            // As npm has it: bringing up to date changes no range unless that is asked for.
            changes.save = config.get_bool("save") == Some(true);
        }
        Ok(changes)
    }
}

#[derive(Debug, Deserialize)]
struct TargetOptions {
    os: String,
    cpu: String,
    libc: Option<String>,
}

fn default_project() -> String {
    "default".to_owned()
}

impl CoordinatorOptions {
    /// npm's settings of how patient to be, as a page gives them.
    fn patience(&self) -> Result<Vec<(String, NpmrcValue)>, Fault> {
        let given = [
            ("fetchRetries", "fetch-retries", self.fetch_retries, 0.0),
            ("fetchTimeout", "fetch-timeout", self.fetch_timeout, 1.0),
            ("fetchRetryFactor", "fetch-retry-factor", self.fetch_retry_factor, 0.0),
            ("fetchRetryMintimeout", "fetch-retry-mintimeout", self.fetch_retry_mintimeout, 0.0),
            ("fetchRetryMaxtimeout", "fetch-retry-maxtimeout", self.fetch_retry_maxtimeout, 0.0),
        ];
        let given = given.into_iter().filter_map(|(name, key, value, least)| Some((name, key, value?, least)));
        let settings = given.map(|(name, key, value, least)| {
            if !value.is_finite() || value < least {
                let message = format!("{name}: {value} is not a number of at least {least}");
                return Err(Fault::new("INVALID_OPTION", message));
            }
            Ok((key.to_owned(), NpmrcValue::Text(value.to_string())))
        });
        settings.collect()
    }

    /// Settings for the registry client of a page at `origin`.
    pub fn registry_settings(self, origin: &str) -> Result<RegistrySettings, Fault> {
        let address = |text: &str| {
            let usable = text.starts_with("http://") || text.starts_with("https://");
            let invalid = || {
                Fault::new("INVALID_OPTION", format!("registry {} is not an http address", without_userinfo(text).0))
            };
            if usable { Ok(format!("{}/", text.trim_end_matches('/'))) } else { Err(invalid()) }
        };
        let registry = address(&self.registry)?;
        let mut layer = self.patience()?;
        layer.push(("registry".to_owned(), NpmrcValue::Text(registry.clone())));
        // By which a file could name another registry for packages without one.
        layer.push(("scope".to_owned(), NpmrcValue::Null));
        for (scope, url) in &self.scopes {
            layer.push((format!("@{}:registry", scope.trim_start_matches('@')), NpmrcValue::Text(address(url)?)));
        }
        // The first of two for one address counts.
        let mut tokens: Vec<(String, &String)> = self.token.iter().map(|token| (registry.clone(), token)).collect();
        for (url, token) in &self.tokens {
            tokens.push((address(url)?, token));
        }
        for (url, token) in tokens {
            if let Some((_, place)) = url.split_once(':') {
                layer.push((format!("{place}:_authToken"), NpmrcValue::Text(token.clone())));
            }
        }
        // A registry on the page's own origin is a proxy: the addresses it passes on are of another host, which a page cannot be
        // sure to reach.
        let is_proxy = registry.strip_prefix(origin).is_some_and(|rest| rest.starts_with('/'));
        let is_proxied = is_proxy && self.replace_registry_host.is_none();
        if let Some(host) = self.replace_registry_host {
            layer.push(("replace-registry-host".to_owned(), NpmrcValue::Text(host)));
        }
        let mut config = Config::new();
        config.push_layer(layer);
        let (mut settings, _) = registry_settings(registry, config);
        if is_proxied {
            settings.replace_host = ReplaceHost::Proxied;
        }
        Ok(settings)
    }
}

/// Settings that go by `config`, and what is wrong with it.
fn registry_settings(default_registry: String, config: Config) -> (RegistrySettings, Vec<String>) {
    let replace_host = ReplaceHost::from_setting(config.get("replace-registry-host"));
    let (retry, unclear) = RetryPolicy::of_config(&config);
    // Each install has its own.
    let cache_mode = CacheMode::Default;
    (RegistrySettings { config, default_registry, replace_host, retry, cache_mode }, unclear)
}

impl InstallOptions {
    /// npm's settings for this install: what the page gives, and below that what the project's `.npmrc` says.
    pub fn take_config(&mut self) -> Result<InstallConfig, Fault> {
        let mut npmrc = Vec::new();
        if let Some(text) = self.npmrc.take() {
            npmrc = parse_npmrc(&text, &|name: &str| self.environment.get(name).cloned());
            let mut file = Config::new();
            file.push_layer(npmrc.clone());
            refuse_credentials_without_address(&file)?;
        }
        let mut config = Config::new();
        config.push_layer(self.layer()?);
        config.push_layer(npmrc.clone());
        refuse_unsupported(&config)?;
        if config.get_bool("package-lock-only") == Some(true) {
            let message = "the setting package-lock-only=true is not supported in a page";
            return Err(Fault::new("CONFIG_UNSUPPORTED", message).with_hint("Leave it out of `npmrc`."));
        }
        Ok(InstallConfig { config, npmrc })
    }

    fn layer(&mut self) -> Result<Vec<(String, NpmrcValue)>, Fault> {
        let mut layer = Vec::new();
        let mut set = |key: &str, value: NpmrcValue| layer.push((key.to_owned(), value));
        if let Some(TargetOptions { os, cpu, libc }) = self.target.take() {
            set("os", NpmrcValue::Text(os));
            set("cpu", NpmrcValue::Text(cpu));
            set("libc", libc.map_or(NpmrcValue::Null, NpmrcValue::Text));
        }
        if let Some(omit) = self.omit.take() {
            Omit::from_names(omit.iter().map(String::as_str)).map_err(|other| {
                Fault::new("INVALID_OPTION", format!("omit: {other} is none of dev, optional, peer"))
            })?;
            set("omit", NpmrcValue::List(omit));
            // What else has a say in it.
            for key in ["include", "production", "only", "also", "dev", "optional"] {
                set(key, NpmrcValue::Null);
            }
        }
        if let Some(before) = self.before.take() {
            set("before", NpmrcValue::Text(before));
        }
        if let Some(version) = self.lockfile_version {
            if !(1..=3).contains(&version) {
                return Err(Fault::new("INVALID_OPTION", format!("lockfileVersion: {version} is none of 1, 2, 3")));
            }
            set("lockfile-version", NpmrcValue::Text(version.to_string()));
        }
        // Who chooses among several that go together chooses all of them.
        let switch = |value: Option<bool>| value.map_or(NpmrcValue::Null, |value| NpmrcValue::Text(value.to_string()));
        if !self.workspace.is_empty() || self.workspaces.is_some() {
            let named = std::mem::take(&mut self.workspace);
            set("workspace", if named.is_empty() { NpmrcValue::Null } else { NpmrcValue::List(named) });
            set("workspaces", switch(self.workspaces));
        }
        if self.include_workspace_root.is_some() {
            set("include-workspace-root", switch(self.include_workspace_root));
        }
        let modes = [self.offline, self.prefer_offline, self.prefer_online];
        if modes.iter().any(Option::is_some) {
            for (key, value) in ["offline", "prefer-offline", "prefer-online"].into_iter().zip(modes) {
                set(key, NpmrcValue::Text((value == Some(true)).to_string()));
            }
        }
        if let Some(changes) = &self.changes {
            layer.extend(changes.layer()?);
        }
        Ok(layer)
    }

    /// The user's files that the page has given, by path: relative to the project, without `.` and empty parts.
    pub fn take_files(&mut self) -> BTreeMap<String, Bytes> {
        let normal = |path: &str| {
            let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
            parts.join("/")
        };
        let files = std::mem::take(&mut self.files).into_iter();
        files.map(|(path, FileBytes(bytes))| (normal(&path), Bytes::from(bytes))).collect()
    }

    /// The engine's request; a lock that is not given is the project's last one. `now` is in milliseconds since 1970.
    pub fn into_request(
        self,
        config: &Config,
        project: &ProjectOptions,
        previous: Option<Bytes>,
        now: f64,
    ) -> Result<InstallRequest, Fault> {
        let omit = project.omit()?;
        let mut resolve = resolve_settings(config, project.target(), &omit).map_err(Fault::of_setting)?;
        resolve.folder_name.clone_from(&self.project);
        resolve.before = cutoff(config, now)?;
        let lock_fields = match self.lock_fields.as_deref() {
            None | Some("npm") => LockFields::Npm,
            Some("fast") => LockFields::Fast,
            Some(other) => {
                return Err(Fault::new("INVALID_OPTION", format!("lockFields: {other} is neither npm nor fast")));
            }
        };
        let changes = self.changes.map(|changes| changes.understood(config)).transpose()?.unwrap_or_default();
        if self.frozen && !changes.is_empty() {
            let message = "add, remove and update change the lock, which frozen keeps as it is";
            return Err(Fault::new("INVALID_OPTION", message));
        }
        let is_update = changes.update != Update::Nothing && changes.add.is_empty() && changes.remove.is_empty();
        let lockfile = self.lockfile.or_else(|| self.anew.then(|| EMPTY_LOCK.to_owned()));
        let request = InstallRequest {
            package_json: self.package_json.into_bytes(),
            package_json_path: "package.json".to_owned(),
            lockfile: lockfile.map(String::into_bytes).or_else(|| previous.map(|lock| lock.to_vec())),
            lockfile_path: self.lockfile_name.unwrap_or_else(|| "package-lock.json".to_owned()),
            lockfile_version: lockfile_version(config)?,
            lock_use: lock_use(config),
            mode: if self.frozen { InstallMode::Ci } else { InstallMode::Install },
            extent: Extent::Tree,
            lock_fields,
            omit,
            changes,
            workspaces: WorkspaceSettings::of_config(config, None).choice(String::new())?,
            resolve,
            timing: self.timing,
            ..InstallRequest::default()
        };
        Ok(if is_update { request.into_update() } else { request })
    }
}

/// npm's settings for an install.
pub(super) struct InstallConfig {
    pub config: Config,
    /// The part of it that the project's `.npmrc` says.
    pub npmrc: Vec<(String, NpmrcValue)>,
}

impl InstallConfig {
    /// Settings for the registry client of an install, whose store has been opened with others: those go before the file. With
    /// what is wrong with them; `None` where they are the store's.
    pub fn registry_settings(&self, of_store: &RegistrySettings) -> Option<(RegistrySettings, Vec<String>)> {
        if self.npmrc.is_empty() {
            return None;
        }
        let mut config = of_store.config.clone();
        config.push_layer(self.npmrc.clone());
        let (mut settings, unclear) = registry_settings(of_store.default_registry.clone(), config);
        if of_store.replace_host == ReplaceHost::Proxied {
            settings.replace_host = ReplaceHost::Proxied;
        }
        Some((settings, unclear))
    }

    /// What of it is kept with the project.
    pub fn project_options(&self) -> Result<ProjectOptions, Fault> {
        let text = |key: &str| self.config.get_text(key).map(str::to_owned);
        let omit = configured_omit(&self.config, None)?;
        let omit = [("dev", omit.dev), ("optional", omit.optional), ("peer", omit.peer)];
        Ok(ProjectOptions {
            os: text("os").unwrap_or_else(|| DEFAULT_OS.to_owned()),
            cpu: text("cpu").unwrap_or_else(|| DEFAULT_CPU.to_owned()),
            libc: text("libc"),
            omit: omit.into_iter().filter(|(_, is_omitted)| *is_omitted).map(|(kind, _)| kind.to_owned()).collect(),
            force: self.config.get_bool("force") == Some(true),
            legacy_peer_deps: self.config.get_bool("legacy-peer-deps") == Some(true),
            node_version: configured_node_version(&self.config)?,
            ..ProjectOptions::default()
        })
    }
}
