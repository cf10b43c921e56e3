//! What the machine and npm's configuration files say.

use crate::NativeError;
use gantry_manifest::{Config, NpmrcValue, environment_layer, parse_npmrc};
use gantry_resolver::Target;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where settings come from, strongest first: options, environment, then the `.npmrc` files of the project, the user and
/// the installation.
#[derive(Debug, Default)]
pub struct ConfigSources {
    /// From the command line.
    pub options: Vec<(String, NpmrcValue)>,
    /// The process's environment.
    pub environment: BTreeMap<String, String>,
    /// The project's folder.
    pub project: PathBuf,
}

impl ConfigSources {
    /// Reads and layers everything. Files that are not there are passed over.
    pub fn load(&self) -> Result<Config, NativeError> {
        let lookup = |name: &str| self.environment.get(name).cloned();
        let environment: Vec<(String, String)> =
            self.environment.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut config = Config::new();
        config.push_layer(self.options.clone());
        config.push_layer(environment_layer(environment));
        let mut add = |path: Option<PathBuf>| -> Result<(), NativeError> {
            let Some(path) = path else { return Ok(()) };
            match fs::read_to_string(&path) {
                Ok(text) => config.push_layer(parse_npmrc(&text, &lookup)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(NativeError::io("read", &path)(error)),
            }
            Ok(())
        };
        let home = self.environment.get("HOME").map(PathBuf::from);
        add(Some(self.project.join(".npmrc")))?;
        add(self.setting("userconfig").map(PathBuf::from).or_else(|| home.map(|home| home.join(".npmrc"))))?;
        add(self.global_config())?;
        Ok(config)
    }

    /// `npm_config_<name>`, in either case, as npm reads it.
    fn setting(&self, name: &str) -> Option<&String> {
        let key = format!("npm_config_{name}");
        self.environment.iter().find(|(known, _)| known.eq_ignore_ascii_case(&key)).map(|(_, value)| value)
    }

    /// npm's `globalconfig`: `etc/npmrc` below its prefix, which is where `node` is installed.
    fn global_config(&self) -> Option<PathBuf> {
        if let Some(path) = self.setting("globalconfig") {
            return Some(PathBuf::from(path));
        }
        let prefix = match self.setting("prefix").or_else(|| self.environment.get("PREFIX")) {
            Some(prefix) => PathBuf::from(prefix),
            None => node_executable(self.environment.get("PATH")?)?.parent()?.parent()?.to_owned(),
        };
        Some(prefix.join("etc/npmrc"))
    }

    /// The version of the Node.js that would run the project: from the headers installed beside it where they are, which
    /// takes microseconds, else by asking it. `None` where there is none.
    pub fn node_version(&self) -> Option<String> {
        let node = node_executable(self.environment.get("PATH")?)?;
        let real = fs::canonicalize(&node).ok()?;
        version_in_headers(&real).or_else(|| {
            let output = Command::new(&node).arg("--version").output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            Some(text.trim().trim_start_matches('v').to_owned()).filter(|version| !version.is_empty())
        })
    }
}

fn node_executable(path: &str) -> Option<PathBuf> {
    path.split(':').map(|folder| Path::new(folder).join("node")).find(|node| node.is_file())
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
