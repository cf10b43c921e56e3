//! From options and npm's settings to what the engine takes.

use crate::certificates::{chooses_system_certificates, client_certificates, extra_certificates, trusted_certificates};
use crate::changes::{Task, changes};
use crate::dev_engines;
use crate::global::{MANIFEST, manifest_of, real_path};
use crate::loudness;
use crate::npm_options::meant;
use crate::options::{InstallArguments, LockFieldsOption, RebuildArguments, ReviewArguments, WhyArguments};
use crate::prefix::{InWorkspace, Place};
use crate::scripts::{Surroundings, allowed_scripts, listed_in, reviewed_scripts, script_environment};
use crate::workspaces::workspace_choice;
use clap::ValueEnum;
use gantry_engine::{
    EngineError, Extent, Fault, InstallRequest, LockFields, LockUse, Slots, WorkspaceChoice, configured_node_version,
    configured_omit, cutoff, dry_run_of, lock_use, lockfile_version, refuse_credentials_without_address,
    resolve_settings,
};
use gantry_layout::{Omit, Scripts};
use gantry_manifest::{Config, Manifest, NpmrcValue};
use gantry_native::{
    ConfigSources, GlobalFolder, HttpSettings, LoadedConfig, NativeClock, NativeHostSettings, ProjectDirectory,
    ProjectFiles, ProxySettings, ScriptSettings, machine_home, machine_release, machine_target, store_home,
};
use gantry_platform::Clock;
use gantry_registry::{CacheMode, DEFAULT_REGISTRY, RegistrySettings, ReplaceHost, RetryPolicy};
use gantry_resolver::{InstallStrategy, ResolveOptions, Target};
use gantry_spec::without_secrets;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything an install needs.
pub struct Settings {
    pub host: NativeHostSettings,
    pub request: InstallRequest,
    /// Whether to change nothing, and to tell what would be changed.
    pub dry_run: bool,
    /// npm's `allow-scripts-pin`.
    pub pins: bool,
    /// npm's `unicode`, where it is set: whether lines between words are drawn with what ASCII lacks.
    pub unicode: Option<bool>,
    pub warnings: Vec<(&'static str, String)>,
}

/// Reads the project and all settings.
pub fn load(arguments: &InstallArguments, place: &Place, task: &Task<'_>) -> Result<Settings, Fault> {
    let project = absolute(&place.project)?;
    let global = place.global.as_ref();
    if global.is_none() {
        refuse_on_the_line(&arguments.resolve.settings)?;
    }
    let options = line_of(arguments, Some(task));
    // npm's `prefix` is the project's folder, unless the command is for the whole machine.
    let named = arguments.resolve.prefix.is_some().then(|| global.map_or(project.clone(), GlobalFolder::prefix));
    let here = match &named {
        None if global.is_some() => absolute(&Place::find(None, InWorkspace::Belongs)?.project)?,
        Some(named) => named.clone(),
        None => project.clone(),
    };
    let sources = config_sources(options, named.as_deref(), &here, global.is_some());
    let LoadedConfig { config, files, names, unreadable } = sources.load();
    loudness::heed(&config);
    let dry_run = dry_run_of(&config, global.is_some())?;
    refuse_credentials_without_address(&files)?;
    let left_out = |file: String| ("CONFIG_INVALID", format!("settings in {file}: they are left out"));
    let mut warnings: Vec<(&'static str, String)> = unreadable.into_iter().map(left_out).collect();
    warnings.extend(misspelled(&names));
    warnings.extend(place.warning());
    let workspaces = match task {
        Task::Resolve => WorkspaceChoice::Whole,
        _ => workspace_choice(&config, place, &project)?,
    };

    let (files_there, package_json_path) = match global {
        None => (ProjectDirectory::read(&project)?, project.join("package.json").display().to_string()),
        Some(folder) => (files_of_global(folder, task, &workspaces)?, MANIFEST.to_owned()),
    };
    let ProjectFiles { package_json, lockfile, lockfile_name, yarn_lock } = files_there;
    // Who adds something begins a project.
    let begun = || matches!(task, Task::Add(packages, _) if !packages.is_empty()).then(|| b"{}".to_vec());
    let package_json = package_json.or_else(begun).ok_or_else(|| manifest_missing(&package_json_path))?;

    let extent = if config.get_bool("package-lock-only") == Some(true) { Extent::LockOnly } else { Extent::Tree };
    if global.is_some() && extent == Extent::LockOnly {
        return Err(Fault::of_setting("what is installed for the whole machine has no lock")
            .with_hint("Leave out package-lock-only, or --global."));
    }
    let node_version = configured_node_version(&config)?.or_else(|| sources.node_version());
    let omit = configured_omit(&config, sources.environment.get("NODE_ENV").map(String::as_str))?;
    let mut resolve = resolve_options(&config, node_version, &omit, &project)?;
    if global.is_some() {
        (resolve.global, resolve.strategy) = (true, InstallStrategy::Shallow);
        // Paths of folders are made relative to it, and links with these lead from where it really is.
        resolve.project_path = real_path(&project).to_string_lossy().into_owned();
    }
    let machine = Target { node_version: resolve.target.node_version.clone(), ..machine_target(None) };
    let scripts = allowed_scripts(&sources, &config, &files, &package_json, &mut warnings)?;
    if !matches!(task, Task::List | Task::Outdated) {
        warnings.extend(dev_engines::check(&package_json, (&machine, machine_release().as_deref()), resolve.force)?);
    }
    let mut request = InstallRequest {
        package_json,
        package_json_path,
        lockfile,
        lockfile_path: lockfile_name.to_owned(),
        yarn_lock,
        lockfile_version: lockfile_version(&config)?,
        lock_use: if global.is_some() { LockUse::Ignore } else { lock_use(&config) },
        mode: task.mode(),
        extent,
        lock_fields: match arguments.lock_fields {
            LockFieldsOption::Npm => LockFields::Npm,
            LockFieldsOption::Fast => LockFields::Fast,
        },
        omit,
        without_commands: config.get_bool("bin-links") == Some(false),
        strict_scripts: is_strict(&config),
        resolve,
        changes: changes(task, &config, &project, global)?,
        workspaces,
        timing: arguments.timing || arguments.trace.is_some(),
    };
    if matches!(task, Task::Update(_)) {
        request = request.into_update();
    }
    let surroundings = Surroundings {
        sources: sources.clone(),
        config: config.clone(),
        project: here,
        command: task.npm_command(),
        node_version: request.resolve.target.node_version.clone().into(),
    };
    let scripts = script_settings(scripts, surroundings, arguments.resolve.json);
    let pins = pins(&config);
    let unicode = config.get_bool("unicode");
    let connections = connections(&config, &mut warnings);
    let host = NativeHostSettings {
        store: store_directory(arguments.resolve.store_dir.as_deref(), &sources)?,
        http: http_settings(&config, &sources.environment, connections, &mut warnings)?,
        slots: slots(connections),
        registry: registry_settings(config, &mut warnings)?,
        scripts,
        project,
        global: place.global.clone(),
    };
    Ok(Settings { host, request, dry_run, pins, unicode, warnings })
}

/// What the line says, and what the command means by itself, as settings.
pub fn line_of(arguments: &InstallArguments, task: Option<&Task<'_>>) -> Vec<(String, NpmrcValue)> {
    let meant = task.map(Task::options_layer).unwrap_or_default();
    [options_layer(arguments), arguments.workspaces.layer(), meant, arguments.resolve.settings.clone()].concat()
}

/// What a command for the whole machine starts from: nothing, unless it looks at what is there.
fn files_of_global(
    folder: &GlobalFolder,
    task: &Task<'_>,
    workspaces: &WorkspaceChoice,
) -> Result<ProjectFiles, Fault> {
    if *workspaces != WorkspaceChoice::Whole {
        return Err(Fault::of_setting("what is installed for the whole machine has no workspaces")
            .with_hint("Leave out what chooses some, or --global."));
    }
    let package_json = match task {
        Task::List | Task::Outdated => manifest_of(&folder.installed()?),
        _ => b"{}".to_vec(),
    };
    Ok(ProjectFiles { package_json: Some(package_json), ..ProjectFiles::default() })
}

/// Whether approval is for what is installed alone.
fn pins(config: &Config) -> bool {
    config.get_bool("allow-scripts-pin") != Some(false)
}

/// Which scripts are run, and how; who prints fills in what is told of them. `is_data`: whether stdout is for data.
fn script_settings(allowed: Scripts, surroundings: Surroundings, is_data: bool) -> ScriptSettings {
    let config = &surroundings.config;
    let shell = config.get_text("script-shell").unwrap_or("sh").into();
    let is_foreground = config.get_bool("foreground-scripts") == Some(true);
    let environment = Arc::new(move || script_environment(&surroundings));
    // Whoever has removed this program since then has another one by its name.
    let installer = std::env::current_exe().unwrap_or_else(|_| "gantry".into());
    let spares_stdout = is_data;
    ScriptSettings { allowed, installer, shell, environment, is_foreground, spares_stdout, ..ScriptSettings::default() }
}

/// What running the scripts of an installed project needs.
pub struct LoadedScripts {
    /// The project's folder; absolute.
    pub project: PathBuf,
    pub root: Manifest,
    /// npm's `bin-links`.
    pub links_commands: bool,
    /// npm's `strict-allow-scripts`.
    pub is_strict: bool,
    /// npm's `allow-scripts-pin`.
    pub pins: bool,
    /// The folder of the store that the packages are from.
    pub store: PathBuf,
    pub settings: ScriptSettings,
    pub warnings: Vec<(&'static str, String)>,
}

/// Reads what `rebuild` needs.
pub fn load_scripts(place: &Place, arguments: &RebuildArguments) -> Result<LoadedScripts, Fault> {
    let project = absolute(&place.project)?;
    refuse_on_the_line(&arguments.settings)?;
    let flag =
        arguments.foreground_scripts.then(|| ("foreground-scripts".to_owned(), NpmrcValue::Text("true".to_owned())));
    let options = flag.into_iter().chain(arguments.settings.clone()).collect();
    let sources = config_sources(options, arguments.prefix.as_ref().map(|_| &*project), &project, false);
    let LoadedConfig { config, files, .. } = sources.load();
    loudness::heed(&config);
    let package_json = ProjectDirectory::read(&project)?.package_json.unwrap_or_else(|| b"{}".to_vec());
    let path = project.join("package.json").display().to_string();
    let root =
        Manifest::parse_package_json(&package_json, &path).map_err(|error| EngineError::from(error).to_fault())?;
    let mut warnings = Vec::new();
    let scripts = allowed_scripts(&sources, &config, &files, &package_json, &mut warnings)?;
    let node_version = sources.node_version();
    let links_commands = config.get_bool("bin-links") != Some(false);
    let is_strict = is_strict(&config);
    let pins = pins(&config);
    let store = store_directory(arguments.store_dir.as_deref(), &sources)?;
    let surroundings = Surroundings { sources, config, project: project.clone(), command: "rebuild", node_version };
    let settings = script_settings(scripts, surroundings, arguments.json);
    Ok(LoadedScripts { project, root, links_commands, is_strict, pins, store, settings, warnings })
}

/// npm's `strict-allow-scripts`, which says nothing where no script is to run.
fn is_strict(config: &Config) -> bool {
    config.get_bool("strict-allow-scripts") == Some(true) && config.get_bool("ignore-scripts") != Some(true)
}

/// What saying which packages may run scripts needs.
pub struct LoadedReview {
    /// The project's folder; absolute.
    pub project: PathBuf,
    pub package_json: Vec<u8>,
    pub package_json_path: String,
    pub root: Manifest,
    /// What is said now, whether scripts are to run or not.
    pub scripts: Scripts,
    /// Whether files of settings list packages, too.
    pub is_listed_elsewhere: bool,
    /// npm's `ignore-scripts`.
    pub ignores_scripts: bool,
    /// npm's `allow-scripts-pin`.
    pub pins: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
    pub warnings: Vec<(&'static str, String)>,
}

/// Reads it.
pub fn load_review(place: &Place, arguments: &ReviewArguments) -> Result<LoadedReview, Fault> {
    let project = absolute(&place.project)?;
    refuse_on_the_line(&arguments.settings)?;
    let dry_run = arguments.dry_run.then(|| ("dry-run".to_owned(), NpmrcValue::Text("true".to_owned())));
    let options = dry_run.into_iter().chain(arguments.settings.clone()).collect();
    let sources = config_sources(options, arguments.prefix.as_ref().map(|_| &*project), &project, false);
    let LoadedConfig { config, files, .. } = sources.load();
    loudness::heed(&config);
    let package_json_path = project.join("package.json").display().to_string();
    let package_json =
        ProjectDirectory::read(&project)?.package_json.ok_or_else(|| manifest_missing(&package_json_path))?;
    let root = Manifest::parse_package_json(&package_json, &package_json_path)
        .map_err(|error| EngineError::from(error).to_fault())?;
    let mut warnings = Vec::new();
    let scripts = reviewed_scripts(&sources, &config, &files, &package_json, &mut warnings)?;
    Ok(LoadedReview {
        dry_run: dry_run_of(&config, false)?,
        pins: pins(&config),
        is_listed_elsewhere: !listed_in(&files).is_empty(),
        ignores_scripts: config.get_bool("ignore-scripts") == Some(true),
        project,
        package_json,
        package_json_path,
        root,
        scripts,
        warnings,
    })
}

fn manifest_missing(path: &str) -> Fault {
    Fault::new("MANIFEST_MISSING", format!("{path} is missing"))
        .with_hint("Run the command in a project's folder, or name one with --prefix.")
}

/// A project's folder, wherever the command is.
fn absolute(prefix: &Path) -> Result<PathBuf, Fault> {
    std::path::absolute(prefix).map_err(|error| Fault::of_setting(format!("--prefix {}: {error}", prefix.display())))
}

/// A project for those who only look at it.
pub struct LoadedProject {
    pub files: ProjectFiles,
    /// The settings that say what its dependencies are.
    pub options: ResolveOptions,
    /// What to look at.
    pub workspaces: WorkspaceChoice,
}

/// Reads a project.
pub fn load_project(place: &Place, arguments: &WhyArguments) -> Result<LoadedProject, Fault> {
    let prefix = &place.project;
    let project = absolute(prefix)?;
    refuse_on_the_line(&arguments.settings)?;
    let options = [arguments.workspaces.layer(), arguments.settings.clone()].concat();
    let LoadedConfig { config, .. } =
        config_sources(options, arguments.prefix.as_ref().map(|_| &*project), &project, false).load();
    loudness::heed(&config);
    let options = resolve_options(&config, None, &Omit::default(), &project)?;
    let workspaces = workspace_choice(&config, place, &project)?;
    Ok(LoadedProject { files: ProjectDirectory::read(&project)?, options, workspaces })
}

/// Warns of settings in files that have no effect and are nearly one that would.
fn misspelled(files: &[(PathBuf, Vec<String>)]) -> Vec<(&'static str, String)> {
    let of_file = |(file, names): &(PathBuf, Vec<String>)| {
        let file = file.display();
        let warning = |name: &String| {
            let meant = meant(name)?;
            let name = without_secrets(name);
            Some(("CONFIG_UNKNOWN", format!("{name} in {file} has no effect: {meant} is probably meant")))
        };
        names.iter().filter_map(warning).collect::<Vec<_>>()
    };
    files.iter().flat_map(of_file).collect()
}

/// Refuses what is not supported, of what can be left out of the line.
fn refuse_on_the_line(settings: &[(String, NpmrcValue)]) -> Result<(), Fault> {
    let mut line = Config::new();
    line.push_layer(settings.to_vec());
    dry_run_of(&line, false).map(drop).map_err(|fault| fault.with_hint("Leave the option out."))
}

/// `named`: the folder that `--prefix` gives, for npm the project's and the `prefix` below which the installation's settings are.
/// `is_global`: whether the command is for the whole machine, and the settings of the project do not count.
pub fn config_sources(
    mut options: Vec<(String, NpmrcValue)>,
    named: Option<&Path>,
    project: &Path,
    is_global: bool,
) -> ConfigSources {
    if let Some(named) = named {
        options.push(("prefix".to_owned(), NpmrcValue::Text(named.to_string_lossy().into_owned())));
    }
    let (environment, project) = (environment().collect(), project.to_owned());
    ConfigSources { options, environment, project, is_global, home: machine_home(), asked_node: None }
}

/// The variables of this process that are text.
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
}

fn options_layer(arguments: &InstallArguments) -> Vec<(String, NpmrcValue)> {
    let InstallArguments {
        resolve,
        lockfile_version,
        lockfile_only,
        save,
        no_save,
        ignore_scripts,
        foreground_scripts,
        ..
    } = arguments;
    let mut layer = Vec::new();
    let mut text = |key: &str, value: &Option<String>| {
        if let Some(value) = value {
            layer.push((key.to_owned(), NpmrcValue::Text(value.clone())));
        }
    };
    text("registry", &resolve.registry);
    text("tag", &resolve.tag);
    text("os", &resolve.os);
    text("cpu", &resolve.cpu);
    text("libc", &resolve.libc);
    text("node-version", &resolve.node_version);
    text("lockfile-version", lockfile_version);
    let mut switch = |key: &str, value: bool| layer.push((key.to_owned(), NpmrcValue::Text(value.to_string())));
    if resolve.no_package_lock {
        switch("package-lock", false);
    }
    if *no_save || *save {
        switch("save", *save);
    }
    let mut flag = |key: &str, on: bool| {
        if on {
            switch(key, true);
        }
    };
    flag("offline", resolve.offline);
    flag("prefer-offline", resolve.prefer_offline);
    flag("prefer-online", resolve.prefer_online);
    flag("package-lock-only", *lockfile_only);
    flag("ignore-scripts", *ignore_scripts);
    flag("foreground-scripts", *foreground_scripts);
    flag("legacy-peer-deps", resolve.legacy_peer_deps);
    flag("strict-peer-deps", resolve.strict_peer_deps);
    flag("force", resolve.force);
    for (key, names) in [("omit", names(&resolve.omit)), ("include", names(&resolve.include))] {
        if !names.is_empty() {
            layer.push((key.to_owned(), NpmrcValue::List(names)));
        }
    }
    layer
}

fn names<Kind: ValueEnum>(kinds: &[Kind]) -> Vec<String> {
    kinds.iter().filter_map(|kind| Some(kind.to_possible_value()?.get_name().to_owned())).collect()
}

fn resolve_options(
    config: &Config,
    node_version: Option<String>,
    omit: &Omit,
    project: &Path,
) -> Result<ResolveOptions, Fault> {
    let machine = machine_target(node_version);
    let text = |key: &str| config.get(key).filter(|value| !value.is_empty() && *value != "null").map(str::to_owned);
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
    let mut options = resolve_settings(config, target, omit).map_err(Fault::of_setting)?;
    options.before = cutoff(config, NativeClock::default().unix_milliseconds())?;
    options.folder_name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    options.project_path = project.to_string_lossy().into_owned();
    options.home_path = machine_home().map(|home| home.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(options)
}

fn registry_settings(config: Config, warnings: &mut Vec<(&'static str, String)>) -> Result<RegistrySettings, Fault> {
    let configured = config.get("registry").filter(|value| !value.is_empty()).or(DEFAULT_REGISTRY);
    let Some(registry) = configured else {
        return Err(Fault::new("CONFIG_NO_REGISTRY", "no registry is configured, and this build knows no default")
            .with_hint("Set one with --registry or in .npmrc."));
    };
    let mut registry = registry.to_owned();
    if !registry.ends_with('/') {
        registry.push('/');
    }
    let replace_host = ReplaceHost::from_setting(config.get("replace-registry-host"));
    let (retry, unclear) = RetryPolicy::of_config(&config);
    warnings.extend(unclear.into_iter().map(|message| ("CONFIG_INVALID", message)));
    let cache_mode = CacheMode::of_config(&config);
    Ok(RegistrySettings { default_registry: registry, replace_host, retry, cache_mode, config })
}

/// Parts of large tarballs at a time. With the connections of [`slots`] they stay below what proxies were seen to stall at.
const PARTS: usize = 48;

/// More than any system has files for; a larger number means as many as there are.
const MOST_CONNECTIONS: usize = 1 << 16;

/// npm's `maxsockets`, if it is set.
fn connections(config: &Config, warnings: &mut Vec<(&'static str, String)>) -> Option<usize> {
    let connections = config.get("maxsockets").map(|text| text.parse().ok().filter(|count| *count > 0));
    if connections == Some(None) {
        warnings.push(("CONFIG_INVALID", "maxsockets is not a number above 0: it is left out".to_owned()));
    }
    connections.flatten().map(|count: usize| count.min(MOST_CONNECTIONS))
}

/// Connections to a registry at most: npm's own default of 15 would leave the network empty. With 256 other installers have
/// seen proxies stall.
fn slots(connections: Option<usize>) -> Slots {
    let together = connections.unwrap_or(128);
    let documents = together.div_ceil(2);
    // Those that wait to be unpacked hold no connection.
    Slots { documents, packages: 2 * together, together }
}

fn http_settings(
    config: &Config,
    environment: &BTreeMap<String, String>,
    connections: Option<usize>,
    warnings: &mut Vec<(&'static str, String)>,
) -> Result<HttpSettings, Fault> {
    let certificates = trusted_certificates(config, warnings)?;
    let client_certificates = client_certificates(config, warnings)?;
    let exceptions = config.get_list("noproxy").join(",");
    let proxy =
        ProxySettings::new(config.get_text("https-proxy").or(config.get_text("proxy")), Some(&exceptions), environment);
    Ok(HttpSettings {
        certificates,
        extra_certificates: extra_certificates(environment, warnings),
        is_system_chosen: chooses_system_certificates(environment),
        client_certificates,
        accept_invalid_certificates: config.get_bool("strict-ssl") == Some(false),
        proxy,
        user_agent: concat!("gantry/", env!("CARGO_PKG_VERSION")).to_owned(),
        // Who bounds connections bounds all of them.
        parts: if connections.is_none() { PARTS } else { 0 },
        most: connections,
    })
}

/// Where the store is, by the option or the environment.
pub fn store_place(named: Option<&Path>) -> Result<PathBuf, Fault> {
    store_directory(named, &config_sources(Vec::new(), None, Path::new("."), false))
}

fn store_directory(named: Option<&Path>, sources: &ConfigSources) -> Result<PathBuf, Fault> {
    let from = |key: &str| sources.environment.get(key).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = named.map(Path::to_owned).or_else(|| from("GANTRY_STORE_DIR")) {
        let what = if named.is_some() { "--store-dir" } else { "GANTRY_STORE_DIR" };
        return std::path::absolute(&path)
            .map_err(|error| Fault::of_setting(format!("{what} {}: {error}", path.display())));
    }
    // By the XDG specification a relative one counts for nothing.
    let data = from("XDG_DATA_HOME").filter(|data| data.is_absolute());
    let data = data.or_else(|| store_home().map(|home| home.join(".local/share")));
    data.map(|data| data.join("gantry/store")).ok_or_else(|| {
        Fault::new(
            "CONFIG_INVALID",
            "no place for the store: neither HOME nor XDG_DATA_HOME names one that can be used",
        )
        .with_hint("Name one with --store-dir or GANTRY_STORE_DIR.")
    })
}
