//! Running npm on a copy of a project.
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::TestkitError;

/// A platform to install for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) name: &'static str,
    arguments: &'static [&'static str],
}

/// The platforms that recordings serve.
pub(super) const TARGETS: [Target; 2] = [
    Target { name: "linux x64", arguments: &["--os=linux", "--cpu=x64", "--libc=glibc"] },
    Target { name: "wasm32", arguments: &["--os=linux", "--cpu=wasm32", "--libc=glibc"] },
];

/// A project to record.
#[derive(Clone, Debug)]
pub(super) struct Project {
    pub(super) name: String,
    pub(super) package_json: Vec<u8>,
}

impl Project {
    /// Every sub-folder with a package.json, sorted by name.
    pub(super) fn all(folder: &Path) -> Result<Vec<Project>, TestkitError> {
        let mut projects = Vec::new();
        for entry in fs::read_dir(folder).map_err(TestkitError::file("read", folder))? {
            let entry = entry.map_err(TestkitError::file("read", folder))?;
            let file = entry.path().join("package.json");
            if let (Ok(package_json), Some(name)) = (fs::read(&file), entry.file_name().to_str()) {
                projects.push(Project { name: name.to_owned(), package_json });
            }
        }
        if projects.is_empty() {
            return Err(TestkitError::NoProjects { folder: folder.to_owned() });
        }
        projects.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(projects)
    }

    /// A fresh folder with nothing but the package.json.
    pub(super) fn copy_into(&self, scratch: &Path) -> Result<PathBuf, TestkitError> {
        let folder = scratch.join(&self.name);
        fs::create_dir_all(&folder).map_err(TestkitError::file("create", &folder))?;
        let file = folder.join("package.json");
        fs::write(&file, &self.package_json).map_err(TestkitError::file("write", &file))?;
        Ok(folder)
    }
}

/// npm with a cache of its own.
#[derive(Clone, Debug)]
pub(super) struct Npm {
    cache: PathBuf,
    settings: Vec<OsString>,
}

impl Npm {
    /// npm as the user has configured it, but for the cache.
    pub(super) fn new(cache: PathBuf) -> Self {
        Self { cache, settings: Vec::new() }
    }

    /// Ignores the user's configuration and knows only this registry.
    pub(super) fn with_only_registry(mut self, url: &str, scratch: &Path) -> Result<Self, TestkitError> {
        // Two files: npm refuses to load one twice.
        let [user, global] = ["user-npmrc", "global-npmrc"].map(|name| scratch.join(name));
        for file in [&user, &global] {
            fs::write(file, "").map_err(TestkitError::file("write", file))?;
        }
        for (name, value) in [
            ("--registry=", OsStr::new(url)),
            ("--userconfig=", user.as_os_str()),
            ("--globalconfig=", global.as_os_str()),
            ("--noproxy=", OsStr::new("127.0.0.1")),
        ] {
            let mut setting = OsString::from(name);
            setting.push(value);
            self.settings.push(setting);
        }
        Ok(self)
    }

    pub(super) fn cache(&self) -> &Path {
        &self.cache
    }

    /// The registry npm is configured with.
    pub(super) fn registry(&self, folder: &Path) -> Result<String, TestkitError> {
        Ok(self.run(folder, "(settings)", &["config", "get", "registry"])?.trim().to_owned())
    }

    /// Writes a package-lock.json.
    pub(super) fn resolve(&self, folder: &Path, project: &str) -> Result<(), TestkitError> {
        self.run(folder, project, &["install", "--package-lock-only"]).map(drop)
    }

    /// Installs from the package-lock.json.
    pub(super) fn install(&self, folder: &Path, project: &str, target: Target) -> Result<(), TestkitError> {
        self.run(folder, project, &[&["ci"], target.arguments].concat()).map(drop)
    }

    fn run(&self, folder: &Path, project: &str, arguments: &[&str]) -> Result<String, TestkitError> {
        const QUIET: [&str; 5] =
            ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"];
        let output = Command::new("npm")
            .args(arguments)
            .args(QUIET)
            .arg("--cache")
            .arg(&self.cache)
            .args(&self.settings)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .map_err(|source| TestkitError::NpmMissing { source })?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let lines: Vec<&str> = stderr.lines().collect();
            let last = lines[lines.len().saturating_sub(20)..].join("\n");
            return Err(TestkitError::NpmFailed {
                arguments: arguments.join(" "),
                project: project.into(),
                stderr: last,
            });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
