//! Packages that a project changes after they were installed, by `patch-package`.
//!
//! It writes into the files of packages in place, and where these are hard links to the store's that would change every project
//! that shares them. Its patches say which packages those are: `patches/NAME+VERSION.patch`, `@SCOPE+NAME+VERSION` for one of a
//! scope, `PARENT++NAME+VERSION` for one that is nested, and more after a further `+` where there are several for one. A
//! workspace may have such patches, too.

use crate::workspace::entries;
use gantry_layout::Plan;
use std::collections::BTreeSet;
use std::path::Path;

/// Where the patches are.
const FOLDER: &str = "patches";

/// The names of such packages: of the folders in `node_modules` that they are in.
#[derive(Debug, Default)]
pub(crate) struct Patched(BTreeSet<String>);

impl Patched {
    /// Those of a project and of its workspaces. A folder that cannot be read has none.
    pub fn of(project: &Path, plan: &Plan) -> Self {
        let folders = plan.workspaces.iter().map(String::as_str).chain([""]);
        let files = folders.flat_map(|folder| entries(&project.join(folder).join(FOLDER)).unwrap_or_default());
        Self(files.filter_map(|file| patched_by(file.to_str()?)).collect())
    }

    /// Whether the package at `path`, relative to the project, is one of them. Wherever it is: a copy too many does no harm.
    pub fn has(&self, path: &str) -> bool {
        !self.0.is_empty() && path.rsplit("node_modules/").next().is_some_and(|name| self.0.contains(name))
    }
}

/// The package that the patch in `file` is for.
fn patched_by(file: &str) -> Option<String> {
    let name = file.strip_suffix(".patch")?.rsplit("++").next()?;
    let mut parts = name.split('+');
    let first = parts.next().filter(|first| !first.is_empty())?;
    let name = match first.strip_prefix('@') {
        Some(_) => format!("{first}/{}", parts.next()?),
        None => first.to_owned(),
    };
    // The version.
    parts.next().map(|_| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn patches_say_which_packages_they_are_for() {
        for (file, package) in [
            ("left+1.0.0.patch", Some("left")),
            ("left+1.0.0.dev.patch", Some("left")),
            ("left+1.0.0-beta.1.patch", Some("left")),
            ("left+1.0.0+001+first.patch", Some("left")),
            ("@scope+middle+1.2.3.patch", Some("@scope/middle")),
            ("parent++left+1.0.0.patch", Some("left")),
            ("@scope+parent++@other+left+1.0.0.patch", Some("@other/left")),
            ("left@1.0.0.patch", None),
            ("@scope+middle.patch", None),
            ("left+1.0.0.txt", None),
            ("README.md", None),
            ("+.patch", None),
            (".patch", None),
        ] {
            assert_eq!(patched_by(file).as_deref(), package, "{file}");
        }
    }

    #[test]
    fn they_count_wherever_the_package_is() {
        let project = TempDir::new().unwrap();
        let plan = Plan { workspaces: BTreeSet::from(["packages/a".to_owned()]), ..Plan::default() };
        assert!(!Patched::of(project.path(), &plan).has("node_modules/left"));
        for (folder, patch) in [(".", "@scope+middle+1.0.0.patch"), ("packages/a", "right+1.0.0.patch")] {
            let patches = project.path().join(folder).join(FOLDER);
            fs::create_dir_all(&patches).unwrap();
            fs::write(patches.join(patch), "").unwrap();
        }
        let patched = Patched::of(project.path(), &plan);
        for (path, is) in [
            ("node_modules/@scope/middle", true),
            ("packages/a/node_modules/right", true),
            ("node_modules/right", true),
            ("packages/a/node_modules/left/node_modules/@scope/middle", true),
            ("node_modules/middle", false),
            ("node_modules/@scope/middle/node_modules/left", false),
        ] {
            assert_eq!(patched.has(path), is, "{path}");
        }
    }
}
