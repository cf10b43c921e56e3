//! What is installed for the whole machine: npm's `global` mode. Below a prefix, packages are in `lib/node_modules`, each with what it
//! needs in itself, and links to their commands in `bin`. Nobody wrote down what belongs there, and others (whoever packages Node.js)
//! put things there, too: an install touches the packages that it was asked for, and commands that are theirs.

use crate::actual;
use crate::moves::{Moves, SET_ASIDE};
use crate::workspace::{MODULES, Workspace, entries};
use crate::{NativeError, ProjectLock};
use gantry_manifest::Lockfile;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The folder below the prefix that has the `node_modules`.
const LIBRARY: &str = "lib";

/// The places of what is installed for the whole machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalFolder {
    prefix: PathBuf,
    replaces_foreign: bool,
}

/// What is installed under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalPackage {
    /// The name of its folder, with its scope.
    pub name: String,
    /// The folder of the user that it is, where it is a link to one; absolute.
    pub target: Option<PathBuf>,
}

impl GlobalFolder {
    /// Those below an absolute `prefix`. `replaces_foreign`: whether a command may take the place of what is not the package's own
    /// (npm's `force`).
    pub fn new(prefix: &Path, replaces_foreign: bool) -> Self {
        Self { prefix: without_dots(prefix), replaces_foreign }
    }

    /// What stands for the project: the folder that has the `node_modules`.
    pub fn project(&self) -> PathBuf {
        self.prefix.join(LIBRARY)
    }

    /// npm's `prefix`.
    pub fn prefix(&self) -> PathBuf {
        self.prefix.clone()
    }

    /// The packages with all that is nested in them, as a lock would list them.
    pub fn tree(&self) -> Lockfile {
        actual::scanned_globally(&self.project())
    }

    /// Makes [the project](Self::project) where it is not there yet, and takes the right to change it.
    ///
    /// # Errors
    /// It cannot be made, or somebody else is changing it.
    pub fn create(&self) -> Result<Option<ProjectLock>, NativeError> {
        let project = self.project();
        fs::create_dir_all(&project).map_err(NativeError::io("create", &project))?;
        ProjectLock::take(&project)
    }

    /// Where a package of this name is, or would be; absolute.
    pub fn folder_of(&self, name: &str) -> PathBuf {
        self.project().join(MODULES).join(name)
    }

    /// Where links to commands are.
    pub fn commands(&self) -> PathBuf {
        self.prefix.join("bin")
    }

    /// Whether a command may take the place of what is not the package's own.
    pub(crate) fn replaces_foreign(&self) -> bool {
        self.replaces_foreign
    }

    /// Where the link to a command leads, by its target as seen from `node_modules/.bin`.
    pub(crate) fn command_target(target: &str) -> String {
        let inside = target.strip_prefix("../").unwrap_or(target);
        format!("../{LIBRARY}/{MODULES}/{inside}")
    }

    /// What is installed, sorted by name. Names with a dot in front are nobody's business.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn installed(&self) -> Result<Vec<GlobalPackage>, NativeError> {
        let modules = self.project().join(MODULES);
        let names = actual::names_in(&modules)?;
        let package = |name: String| {
            let place = modules.join(&name);
            let target = fs::read_link(&place).ok().map(|target| followed(&place, &target));
            GlobalPackage { name, target }
        };
        let is_package = |name: &String| fs::metadata(modules.join(name)).is_ok_and(|metadata| metadata.is_dir());
        let mut packages: Vec<GlobalPackage> = names.into_iter().filter(is_package).map(package).collect();
        packages.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(packages)
    }

    /// Removes packages of these names with their commands; those that are not there are left out. Gives how many packages went, those
    /// that were nested in others among them. `_lock` is the right to change [the project](Self::project).
    ///
    /// # Errors
    /// What is there cannot be moved; then nothing has changed.
    pub fn remove(&self, names: &[String], _lock: &ProjectLock) -> Result<usize, NativeError> {
        let project = self.project();
        let is_there = |place: &PathBuf| fs::symlink_metadata(place).is_ok();
        let places = names.iter().map(|name| self.folder_of(name)).filter(is_there);
        let places: Vec<PathBuf> = places.collect();
        if places.is_empty() {
            return Ok(0);
        }
        let count = places.iter().map(|place| actual::count_packages(place)).sum();
        let workspace = Workspace::create(&project, &project.join(MODULES))?;
        let mut moves = Moves::default();
        if let Err(error) = self.set_aside(&places, &workspace, &mut moves) {
            workspace.give_up(moves);
            return Err(error);
        }
        moves.keep();
        places.iter().for_each(|place| leave_scope(place));
        workspace.remove()?;
        Ok(count)
    }

    fn set_aside(&self, places: &[PathBuf], workspace: &Workspace, moves: &mut Moves) -> Result<(), NativeError> {
        for command in self.commands_of(places)? {
            moves.unlink(&command)?;
        }
        for (number, place) in places.iter().enumerate() {
            moves.rename(SET_ASIDE, place, &workspace.old().join(number.to_string()))?;
        }
        Ok(())
    }

    /// The links in `bin` that lead into packages at these places.
    pub(crate) fn commands_of(&self, places: &[PathBuf]) -> Result<Vec<PathBuf>, NativeError> {
        let folder = self.commands();
        let paths = entries(&folder)?.into_iter().map(|name| folder.join(name));
        Ok(paths.filter(|path| leads_into(path, places)).collect())
    }
}

/// Removes the folder of a scope that nothing is left in.
fn leave_scope(place: &Path) {
    if let Some(folder) = place.parent().filter(|folder| !folder.ends_with(MODULES)) {
        let _ = fs::remove_dir(folder);
    }
}

/// Whether a link leads to one of these places or to something in it.
pub(crate) fn leads_into(link: &Path, places: &[PathBuf]) -> bool {
    let target = fs::read_link(link).map(|target| followed(link, &target));
    target.is_ok_and(|target| places.iter().any(|place| target.starts_with(place)))
}

/// Where a link leads, by its text alone.
fn followed(link: &Path, target: &Path) -> PathBuf {
    without_dots(&link.parent().unwrap_or(link).join(target))
}

/// An absolute path without `.` and `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_by_their_text() {
        let link = Path::new("/p/bin/tsc");
        assert_eq!(followed(link, Path::new("../lib/node_modules/a/./b.js")), Path::new("/p/lib/node_modules/a/b.js"));
        assert_eq!(followed(link, Path::new("/q/tsc")), Path::new("/q/tsc"));
    }

    #[test]
    fn what_is_in_bin_belongs_to_the_package_it_leads_into() {
        let folder = tempfile::tempdir().unwrap();
        let global = GlobalFolder::new(&folder.path().join("x/.."), false);
        let modules = global.project().join(MODULES);
        for name in ["a", "a-b", ".hidden", "@s/c"] {
            fs::create_dir_all(modules.join(name)).unwrap();
        }
        fs::write(modules.join("file"), "").unwrap();
        std::os::unix::fs::symlink(folder.path(), modules.join("linked")).unwrap();
        fs::create_dir_all(global.commands()).unwrap();
        for (name, target) in [("a", "../lib/node_modules/a/a.js"), ("b", "../lib/node_modules/a-b/b.js")] {
            std::os::unix::fs::symlink(target, global.commands().join(name)).unwrap();
        }
        assert_eq!(global.commands_of(&[modules.join("a")]).unwrap(), [global.commands().join("a")]);
        let installed = global.installed().unwrap();
        let names: Vec<&str> = installed.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(names, ["@s/c", "a", "a-b", "linked"]);
        assert_eq!(installed[3].target.as_deref(), Some(folder.path()));

        let lock = ProjectLock::take(&global.project()).unwrap().unwrap();
        assert_eq!(global.remove(&["a".to_owned(), "@s/c".to_owned(), "unknown".to_owned()], &lock).unwrap(), 2);
        assert!(fs::symlink_metadata(global.commands().join("a")).is_err());
        assert!(fs::symlink_metadata(global.commands().join("b")).is_ok());
        let mut left: Vec<_> = entries(&modules).unwrap();
        left.sort();
        assert_eq!(left, [".hidden", "a-b", "file", "linked"]);
    }
}
