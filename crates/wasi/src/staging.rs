//! Where a tree is built before it is published, and where what it replaces waits to be removed: `.gantry-wasi` in the
//! project, with `new` and `old` in it, each laid out as the project is.
//!
//! Publishing is nothing but renames:
//! 1. all of the new tree is in `new`;
//! 2. for each `node_modules`, the one that is there goes to `old`, then the new one to its place; where one of these
//!    fails, those before it are taken back;
//! 3. the staging folder is removed.
//!
//! A command that is ended in between leaves the staging folder: the next one puts back what has no successor yet. The
//! native command knows folders of this name and shape and does the same. One of another shape is not ours and stays; even
//! one of this shape may have come with a clone, so that no link in it or on the way to a place is followed.

use crate::WasiError;
use crate::system::{Meaning, meaning};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

const NAME: &str = ".gantry-wasi";
const MODULES: &str = "node_modules";

/// The staging folder of a project; removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Staging {
    project: PathBuf,
    path: PathBuf,
    is_kept: bool,
}

impl Staging {
    /// An empty one. What an earlier command left is put right first.
    pub fn create(project: &Path) -> Result<Self, WasiError> {
        sweep(project)?;
        let staging = Self { project: project.to_owned(), path: project.join(NAME), is_kept: false };
        for part in [staging.new_tree(), staging.old_tree()] {
            fs::create_dir_all(&part).map_err(WasiError::io("create", &part))?;
        }
        Ok(staging)
    }

    /// Where to build.
    pub fn new_tree(&self) -> PathBuf {
        self.path.join("new")
    }

    fn old_tree(&self) -> PathBuf {
        self.path.join("old")
    }

    /// Puts what was built for `places` in their places and takes away what is at `gone`; all are folders relative to the
    /// project. Either all of it is done or nothing.
    pub fn publish(mut self, places: &[String], gone: &[String]) -> Result<(), WasiError> {
        let mut done: Vec<(PathBuf, PathBuf)> = Vec::new();
        let published = self.move_all(places, gone, &mut done);
        if published.is_err() {
            // What cannot be put back stays where the next command finds it.
            self.is_kept = !done.iter().rev().all(|(from, to)| fs::rename(to, from).is_ok());
        }
        published
    }

    fn move_all(
        &self,
        places: &[String],
        gone: &[String],
        done: &mut Vec<(PathBuf, PathBuf)>,
    ) -> Result<(), WasiError> {
        let mut rename = |action: &'static str, from: PathBuf, to: PathBuf| -> Result<(), WasiError> {
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent).map_err(WasiError::io("create", parent))?;
            }
            fs::rename(&from, &to).map_err(WasiError::io(action, &from))?;
            done.push((from, to));
            Ok(())
        };
        for place in gone.iter().chain(places) {
            let there = self.project.join(place);
            if fs::symlink_metadata(&there).is_ok() {
                rename("set aside", there, self.old_tree().join(place))?;
            }
            if places.contains(place) {
                rename("publish", self.new_tree().join(place), self.project.join(place))?;
            }
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.is_kept {
            // The next command tries again.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Puts back what a command that was ended had set aside and not replaced, and removes what else it left.
pub(crate) fn sweep(project: &Path) -> Result<(), WasiError> {
    let left = project.join(NAME);
    match fs::symlink_metadata(&left) {
        Err(error) if meaning(&error) == Meaning::NotFound => return Ok(()),
        Err(error) => return Err(WasiError::io("read", &left)(error)),
        Ok(_) if !is_staging(&left) => return Err(WasiError::NotStaging { path: left }),
        Ok(_) => {}
    }
    restore(&left.join("old"), project);
    fs::remove_dir_all(&left).map_err(WasiError::io("remove", &left))
}

/// Whether it is a folder with nothing in it but what a command puts there.
fn is_staging(path: &Path) -> bool {
    let is_part = |entry: &DirEntry| {
        let name = entry.file_name();
        (name == "new" || name == "old") && is_directory(&entry.path())
    };
    is_directory(path)
        && fs::read_dir(path).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|it| is_part(&it))))
}

/// Whether `path` is a folder, not a link to one.
fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

fn restore(old: &Path, place: &Path) {
    for entry in fs::read_dir(old).into_iter().flatten().flatten() {
        let (from, to) = (entry.path(), place.join(entry.file_name()));
        if !is_directory(&from) {
            continue;
        }
        if entry.file_name() != MODULES {
            if is_directory(&to) {
                restore(&from, &to);
            }
        } else if fs::symlink_metadata(&to).is_err() {
            let _ = fs::rename(&from, &to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NAME, Staging};
    use crate::links::make_link;
    use std::fs;
    use std::path::Path;

    fn write(root: &Path, path: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }

    fn strings(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn a_new_tree_replaces_the_old_one_and_nothing_is_left_over() {
        let project = tempfile::tempdir().unwrap();
        write(project.path(), "node_modules/old/index.js");
        write(project.path(), "packages/a/node_modules/old/index.js");
        let staging = Staging::create(project.path()).unwrap();
        write(&staging.new_tree(), "node_modules/new/index.js");
        staging.publish(&strings(&["node_modules"]), &strings(&["packages/a/node_modules"])).unwrap();
        assert!(project.path().join("node_modules/new/index.js").is_file());
        assert!(!project.path().join("node_modules/old").exists());
        assert!(!project.path().join("packages/a/node_modules").exists());
        assert!(!project.path().join(NAME).exists());
    }

    #[test]
    fn what_was_there_comes_back_when_a_rename_fails() {
        let project = tempfile::tempdir().unwrap();
        write(project.path(), "node_modules/old/index.js");
        let staging = Staging::create(project.path()).unwrap();
        write(&staging.new_tree(), "node_modules/new/index.js");
        // Nothing was built for the second place.
        staging.publish(&strings(&["node_modules", "a/node_modules"]), &[]).unwrap_err();
        assert!(project.path().join("node_modules/old/index.js").is_file());
        assert!(!project.path().join("node_modules/new").exists());
        assert!(!project.path().join(NAME).exists());
    }

    #[test]
    fn what_a_killed_command_had_set_aside_comes_back() {
        let project = tempfile::tempdir().unwrap();
        write(project.path(), ".gantry-wasi/old/node_modules/old/index.js");
        write(project.path(), ".gantry-wasi/old/packages/a/node_modules/b/index.js");
        write(project.path(), ".gantry-wasi/new/node_modules/new/index.js");
        write(project.path(), "packages/a/node_modules/there/index.js");
        drop(Staging::create(project.path()).unwrap());
        assert!(project.path().join("node_modules/old/index.js").is_file());
        assert!(project.path().join("packages/a/node_modules/there/index.js").is_file());
        assert!(!project.path().join("packages/a/node_modules/b").exists());
        assert!(!project.path().join(NAME).exists());
    }

    #[test]
    fn no_link_in_what_a_killed_command_left_is_followed() {
        for (link, target) in [
            (".gantry-wasi", "../home"),
            (".gantry-wasi/old", "../../home"),
            (".gantry-wasi/old/work", "../../../home/work"),
            (".gantry-wasi/old/work/node_modules", "../../../../home"),
            ("work", "../home/work"),
        ] {
            let place = tempfile::tempdir().unwrap();
            let project = place.path().join("project");
            write(place.path(), "home/work/mine");
            write(place.path(), "home/work/src/node_modules/mine");
            write(&project, "file");
            if link == "work" {
                write(&project, ".gantry-wasi/old/work/node_modules/left/index.js");
            } else {
                write(&project, "work/src/file");
            }
            fs::create_dir_all(project.join(link).parent().unwrap()).unwrap();
            make_link(target, &project.join(link)).unwrap();
            drop(Staging::create(&project));
            assert!(place.path().join("home/work/mine").is_file(), "{link}");
            assert!(place.path().join("home/work/src/node_modules/mine").is_file(), "{link}");
            assert!(!place.path().join("home/work/node_modules").exists(), "{link}");
            assert!(!project.join("work/node_modules").exists() && !project.join("node_modules").exists(), "{link}");
        }
    }

    #[test]
    fn a_folder_that_only_has_the_name_stays() {
        let project = tempfile::tempdir().unwrap();
        write(project.path(), ".gantry-wasi/old/node_modules/old/index.js");
        write(project.path(), ".gantry-wasi/notes.txt");
        assert_eq!(Staging::create(project.path()).unwrap_err().code(), "STAGING_TAKEN");
        assert!(project.path().join(".gantry-wasi/notes.txt").is_file());
        assert!(!project.path().join("node_modules").exists());
    }
}
