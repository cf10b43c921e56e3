//! What the page may ask for, and what that means to the pipeline.

use crate::javascript::FileBytes;
use crate::project::ProjectOptions;
use bytes::Bytes;
use gantry_engine::{Changes, Extent, Fault, InstallMode, InstallRequest, LockFields, Update, WorkspaceSettings};
use gantry_manifest::{Config, DependencyKind, NpmrcValue, without_userinfo};
use gantry_registry::{CacheMode, RegistrySettings, ReplaceHost, RetryPolicy};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A page runs WebAssembly variants of native packages, and nothing else of them.
const DEFAULT_OS: &str = "linux";
const DEFAULT_CPU: &str = "wasm32";

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
    target: Option<TargetOptions>,
    #[serde(default)]
    omit: Vec<String>,
    #[serde(default)]
    frozen: bool,
    #[serde(default)]
    offline: bool,
    #[serde(default)]
    prefer_offline: bool,
    #[serde(default)]
    prefer_online: bool,
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
    #[serde(default)]
    include_workspace_root: bool,
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
    fn understood(self) -> Result<Changes, Fault> {
        let kind = match self.save_as.as_deref() {
            None => None,
            Some("prod") => Some(DependencyKind::Production),
            Some("dev") => Some(DependencyKind::Development),
            Some("optional") => Some(DependencyKind::Optional),
            Some("peer") => Some(DependencyKind::Peer),
            Some(other) => {
                let message = format!("saveAs: {other} is none of prod, dev, optional, peer");
                return Err(Fault::new("INVALID_OPTION", message));
            }
        };
        let update = match self.update {
            Some(UpdateOption::All(true)) => Update::All,
            Some(UpdateOption::Names(names)) if !names.is_empty() => {
                Update::of_names(names).map_err(|message| Fault::new("INVALID_OPTION", message))?
            }
            _ => Update::Nothing,
        };
        let mut changes = Changes { add: self.add, remove: self.remove, update, kind, ..Changes::default() };
        if let Some(prefix) = self.save_prefix {
            changes.prefix = prefix;
        }
        // As npm has it: bringing up to date changes no range.
        changes.save = !(changes.add.is_empty() && changes.remove.is_empty());
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
    /// npm's settings, as a page gives them.
    fn retry_policy(&self) -> Result<RetryPolicy, Fault> {
        let given = |name: &str, option: Option<f64>, least: f64| match option {
            Some(value) if !value.is_finite() || value < least => {
                Err(Fault::new("INVALID_OPTION", format!("{name}: {value} is not a number of at least {least}")))
            }
            option => Ok(option),
        };
        let mut retry = RetryPolicy::default();
        let retries = given("fetchRetries", self.fetch_retries, 0.0)?;
        let timeout = given("fetchTimeout", self.fetch_timeout, 1.0)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "negative numbers are refused")]
        {
            retry.retries = retries.map_or(retry.retries, |value| value as u32);
            retry.timeout_milliseconds = timeout.map_or(retry.timeout_milliseconds, |value| value as u64);
        }
        let factor = given("fetchRetryFactor", self.fetch_retry_factor, 0.0)?;
        let least = given("fetchRetryMintimeout", self.fetch_retry_mintimeout, 0.0)?;
        let most = given("fetchRetryMaxtimeout", self.fetch_retry_maxtimeout, 0.0)?;
        retry.factor = factor.unwrap_or(retry.factor);
        retry.min_wait_milliseconds = least.unwrap_or(retry.min_wait_milliseconds);
        retry.max_wait_milliseconds = most.unwrap_or(retry.max_wait_milliseconds);
        Ok(retry)
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
        let mut layer = vec![("registry".to_owned(), NpmrcValue::Text(registry.clone()))];
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
        let mut config = Config::new();
        config.push_layer(layer);
        let replace_host = match self.replace_registry_host.as_deref() {
            // A registry on the page's own origin is a proxy: the addresses it passes on are of another host, which a
            // page cannot be sure to reach.
            None if registry.strip_prefix(origin).is_some_and(|rest| rest.starts_with('/')) => ReplaceHost::Always,
            setting => ReplaceHost::from_setting(setting),
        };
        let retry = self.retry_policy()?;
        let cache_mode = CacheMode::Default;
        Ok(RegistrySettings { config, default_registry: registry, replace_host, retry, cache_mode })
    }
}

impl InstallOptions {
    /// What of it is kept with the project.
    pub fn project_options(&self) -> ProjectOptions {
        let (os, cpu, libc) = match &self.target {
            Some(target) => (target.os.clone(), target.cpu.clone(), target.libc.clone()),
            None => (DEFAULT_OS.to_owned(), DEFAULT_CPU.to_owned(), None),
        };
        ProjectOptions { os, cpu, libc, omit: self.omit.clone(), ..ProjectOptions::default() }
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

    /// How far kept documents are trusted.
    pub fn cache_mode(&self) -> CacheMode {
        CacheMode::of(self.offline, self.prefer_offline, self.prefer_online)
    }

    /// The engine's request; a lock that is not given is the project's last one.
    pub fn into_request(self, project: &ProjectOptions, previous: Option<Bytes>) -> Result<InstallRequest, Fault> {
        let omit = project.omit()?;
        let mut resolve = project.resolve()?;
        resolve.folder_name.clone_from(&self.project);
        resolve.before = self.before;
        let lock_fields = match self.lock_fields.as_deref() {
            None | Some("npm") => LockFields::Npm,
            Some("fast") => LockFields::Fast,
            Some(other) => {
                return Err(Fault::new("INVALID_OPTION", format!("lockFields: {other} is neither npm nor fast")));
            }
        };
        if let Some(other) = self.lockfile_version.filter(|version| !(1..=3).contains(version)) {
            return Err(Fault::new("INVALID_OPTION", format!("lockfileVersion: {other} is none of 1, 2, 3")));
        }
        let workspaces = WorkspaceSettings {
            workspace: self.workspace,
            workspaces: self.workspaces,
            include_workspace_root: self.include_workspace_root,
        };
        let changes = self.changes.map(ChangeOptions::understood).transpose()?.unwrap_or_default();
        if self.frozen && !changes.is_empty() {
            let message = "add, remove and update change the lock, which frozen keeps as it is";
            return Err(Fault::new("INVALID_OPTION", message));
        }
        Ok(InstallRequest {
            package_json: self.package_json.into_bytes(),
            package_json_path: "package.json".to_owned(),
            lockfile: self.lockfile.map(String::into_bytes).or_else(|| previous.map(|lock| lock.to_vec())),
            lockfile_path: self.lockfile_name.unwrap_or_else(|| "package-lock.json".to_owned()),
            lockfile_version: self.lockfile_version,
            mode: if self.frozen { InstallMode::Ci } else { InstallMode::Install },
            extent: Extent::Tree,
            lock_fields,
            omit,
            changes,
            workspaces: workspaces.choice(String::new())?,
            resolve,
            timing: self.timing,
            ..InstallRequest::default()
        })
    }
}
