//! What the machine and npm's configuration files say.

use gantry_manifest::{Config, NpmrcValue, environment_layer, parse_npmrc};
use gantry_resolver::Target;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Settings that are paths: one that begins with `~/` begins at the user's home. Those of client certificates are none of them,
/// as for npm.
const PATHS: [&str; 4] = ["cafile", "globalconfig", "prefix", "userconfig"];

/// Where settings come from, strongest first: options, environment, then the `.npmrc` files of the project, the user, the
/// installation and npm itself.
#[derive(Debug, Clone, Default)]
pub struct ConfigSources {
    /// From the command line.
    pub options: Vec<(String, NpmrcValue)>,
    /// The process's environment.
    pub environment: BTreeMap<String, String>,
    /// The project's folder.
    pub project: PathBuf,
    /// Whether they are for the whole machine, for which what the project's file says does not count.
    pub is_global: bool,
    /// The user's home as the system knows it, for an environment without `HOME`.
    pub home: Option<PathBuf>,
    /// What Node.js says where it is, if it was asked.
    pub asked_node: Option<PathBuf>,
}

/// What the sources say.
#[derive(Debug, Default)]
pub struct LoadedConfig {
    /// All of it.
    pub config: Config,
    /// What files, and nobody else, say: npm refuses some settings only there, and not in its own.
    pub files: Config,
    /// The names of the settings in each file, as they stand there.
    pub names: Vec<(PathBuf, Vec<String>)>,
    /// Files that are there and cannot be read, and why. npm goes on without them, too.
    pub unreadable: Vec<String>,
}

/// The settings of one file.
type Layer = Vec<(String, NpmrcValue)>;

impl LoadedConfig {
    /// Adds the settings of a file.
    fn add(&mut self, path: &Path, sources: &ConfigSources) {
        if let Some(layer) = self.read(path, sources) {
            self.names.push((path.to_owned(), layer.iter().map(|(name, _)| name.clone()).collect()));
            self.files.push_layer(layer.clone());
            self.config.push_layer(layer);
        }
    }

    /// Reads the settings of a file; what is no text in it becomes replacement characters.
    fn read(&mut self, path: &Path, sources: &ConfigSources) -> Option<Layer> {
        match fs::read(path) {
            Ok(text) => {
                let lookup = |name: &str| sources.environment.get(name).cloned();
                Some(sources.at_home(parse_npmrc(&String::from_utf8_lossy(&text), &lookup)))
            }
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    self.unreadable.push(format!("{}: {error}", path.display()));
                }
                None
            }
        }
    }

    /// What is known so far, with npm's own settings, which are the weakest, below it.
    fn above(&self, own: Option<&Layer>) -> Cow<'_, Config> {
        let Some(own) = own else { return Cow::Borrowed(&self.config) };
        let mut config = self.config.clone();
        config.push_layer(own.clone());
        Cow::Owned(config)
    }
}

impl ConfigSources {
    /// Reads and layers everything. Where a file is, what comes before it may say, as for npm: the project where the user's
    /// is, and the user where that of the installation is; and npm's own settings where both are.
    pub fn load(&self) -> LoadedConfig {
        let mut loaded = LoadedConfig::default();
        let own = self.npm_folder().and_then(|npm| loaded.read(&npm.join("npmrc"), self));
        let environment = self.environment.iter().map(|(key, value)| (key.clone(), value.clone()));
        loaded.config.push_layer(self.at_home(self.options.clone()));
        loaded.config.push_layer(self.at_home(environment_layer(environment)));
        let project = self.project.join(".npmrc");
        // In the user's home it is the user's.
        if !self.is_global && self.user_config(&loaded.above(own.as_ref())).as_ref() != Some(&project) {
            loaded.add(&project, self);
        }
        let user = self.user_config(&loaded.above(own.as_ref()));
        if let Some(user) = user {
            loaded.add(&user, self);
        }
        let global = self.global_config(&loaded.above(own.as_ref()));
        if let Some(global) = global {
            loaded.add(&global, self);
        }
        if let Some(own) = own {
            loaded.config.push_layer(own);
        }
        loaded
    }

    /// A variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<&String> {
        self.environment.get(name).filter(|value| !value.is_empty())
    }

    /// The user's home, as npm finds it: what `HOME` says, else what the system knows of the user.
    pub fn home(&self) -> Option<PathBuf> {
        match self.environment.get("HOME") {
            Some(home) => (!home.is_empty()).then(|| PathBuf::from(home)),
            None => self.home.clone(),
        }
    }

    fn at_home(&self, mut layer: Vec<(String, NpmrcValue)>) -> Vec<(String, NpmrcValue)> {
        for (key, value) in &mut layer {
            if let (true, NpmrcValue::Text(text)) = (PATHS.contains(&key.as_str()), value)
                && let (Some(rest), Some(home)) = (text.strip_prefix("~/"), self.home())
            {
                *text = format!("{}/{rest}", home.to_string_lossy().trim_end_matches('/'));
            }
        }
        layer
    }

    fn user_config(&self, config: &Config) -> Option<PathBuf> {
        let home = || self.home().map(|home| home.join(".npmrc"));
        config.get("userconfig").map(PathBuf::from).or_else(home)
    }

    /// Where npm itself is: the folder that `npm` of the `PATH` is a link into, else the one that comes with Node.js. Whoever
    /// packages npm (Homebrew) may have put settings there.
    pub fn npm_folder(&self) -> Option<PathBuf> {
        let path = self.environment.get("PATH")?;
        let linked = executable(path, "npm").and_then(|npm| fs::canonicalize(npm).ok());
        let script = linked.filter(|script| script.ends_with("bin/npm-cli.js"));
        if let Some(npm) = script.as_deref().and_then(Path::parent).and_then(Path::parent) {
            return Some(npm.to_owned());
        }
        Some(self.node()?.parent()?.parent()?.join("lib/node_modules/npm"))
    }

    /// npm's `globalconfig`: `etc/npmrc` below its prefix.
    fn global_config(&self, config: &Config) -> Option<PathBuf> {
        let named = config.get("globalconfig").map(PathBuf::from);
        named.or_else(|| self.global_prefix(config).map(|prefix| prefix.join("etc/npmrc")))
    }

    /// npm's `prefix`, unless somebody says otherwise where `node` is installed, whatever leads to it.
    pub fn global_prefix(&self, config: &Config) -> Option<PathBuf> {
        if let Some(prefix) = config.get("prefix").or_else(|| self.variable("PREFIX").map(String::as_str)) {
            return Some(PathBuf::from(prefix));
        }
        let node = self.node()?;
        let installed = node.parent()?.parent()?;
        Some(match self.variable("DESTDIR") {
            Some(moved) => Path::new(moved).join(installed.strip_prefix("/").unwrap_or(installed)),
            None => installed.to_owned(),
        })
    }

    /// The file of the Node.js that would run the project. What a process knows of its own file (Node's `execPath`) has no links
    /// in it.
    pub fn node(&self) -> Option<PathBuf> {
        self.asked_node.clone().or_else(|| fs::canonicalize(executable(self.environment.get("PATH")?, "node")?).ok())
    }

    /// The same with what is behind the `node` of a version manager, which starts the one that it chooses for the project: that
    /// is asked, which takes as long as it takes to start.
    #[must_use]
    pub fn behind_shims(mut self) -> Self {
        if let Some(node) = self.node().filter(|node| is_shim(node)) {
            let mut command =
                Command::new(self.environment.get("PATH").and_then(|path| executable(path, "node")).unwrap_or(node));
            let output = command.args(["-p", "process.execPath"]).current_dir(&self.project).output();
            let text = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
            self.asked_node = text.map(|text| PathBuf::from(text.trim())).filter(|node| node.is_file());
        }
        self
    }

    /// The version of the Node.js that would run the project: from the headers installed beside it where they are, which
    /// takes microseconds, else by asking it. `None` where there is none.
    pub fn node_version(&self) -> Option<String> {
        let node = executable(self.environment.get("PATH")?, "node")?;
        let real = fs::canonicalize(&node).ok()?;
        version_in_headers(&real).or_else(|| {
            let output = Command::new(&node).arg("--version").output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            Some(text.trim().trim_start_matches('v').to_owned()).filter(|version| !version.is_empty())
        })
    }
}

/// The first file of this name in the folders of `path`.
fn executable(path: &str, name: &str) -> Option<PathBuf> {
    path.split(':').map(|folder| Path::new(folder).join(name)).find(|file| file.is_file())
}

/// Whether a file that is called for Node.js only starts it: a script, or a program of another name.
fn is_shim(node: &Path) -> bool {
    let is_called = |name: &str| node.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name));
    let is_script = || {
        let mut start = [0; 2];
        fs::File::open(node).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
    };
    !is_called("node") || is_script()
}

fn version_in_headers(node: &Path) -> Option<String> {
    let header = node.parent()?.parent()?.join("include/node/node_version.h");
    let text = fs::read_to_string(header).ok()?;
    let number = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(&format!("#define {name} ")))?;
        line.rsplit(' ').next()?.parse::<u32>().ok()
    };
    let is_release = number("NODE_VERSION_IS_RELEASE")? == 1;
    let version = format!(
        "{}.{}.{}",
        number("NODE_MAJOR_VERSION")?,
        number("NODE_MINOR_VERSION")?,
        number("NODE_PATCH_VERSION")?
    );
    is_release.then_some(version)
}

/// This machine as a target: Node's names for its operating system, processor and C library.
pub fn machine_target(node_version: Option<String>) -> Target {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let cpu = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "x86" => "ia32",
        other => other,
    };
    let default = Target::default();
    Target {
        os: os.to_owned(),
        cpu: cpu.to_owned(),
        libc: (os == "linux").then(|| if has_musl() { "musl" } else { "glibc" }.to_owned()),
        node_version: node_version.unwrap_or(default.node_version),
        npm_version: default.npm_version,
    }
}

/// The home of the user who runs this: what `HOME` says, else what the system knows, as Node's `os.homedir()`.
pub fn machine_home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// The home that a store may be in unless somebody names another place. Root with somebody else's home (`sudo` that keeps it) has
/// its own: what other users can write to must not get into what is root's.
pub fn store_home() -> Option<PathBuf> {
    let home = machine_home().filter(|home| home.is_absolute());
    let is_root = rustix::process::geteuid().is_root();
    let is_foreign = |home: &PathBuf| fs::metadata(home).is_ok_and(|data| data.uid() != 0);
    if is_root && home.as_ref().is_some_and(is_foreign) { root_home() } else { home }
}

/// Root's home by the list of users.
fn root_home() -> Option<PathBuf> {
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let home = users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|user| user.get(2) == Some(&"0"))?;
    home.get(5).filter(|home| home.starts_with('/')).map(PathBuf::from)
}

/// The release of the operating system, as Node's `os.release()` gives it; `None` where it is no text.
pub fn machine_release() -> Option<String> {
    rustix::system::uname().release().to_str().ok().map(str::to_owned)
}

/// A system whose only dynamic loader is musl's.
fn has_musl() -> bool {
    let loader = |prefix: &str| {
        let entries = fs::read_dir("/lib").into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
    };
    loader("ld-musl-") && !Path::new("/lib64/ld-linux-x86-64.so.2").exists() && !loader("ld-linux-")
}

#[cfg(test)]
mod tests;
