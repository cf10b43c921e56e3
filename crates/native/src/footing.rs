//! Whether a way into `node_modules` is one of folders.
//!
//! A clone may have links where folders of packages are to be, and through these an install would change what is not the
//! project's. Where one is in the way npm puts a folder in its place; here it is [set aside](crate::installed::Difference)
//! before anything else. A folder of the user's that a plan has packages for may be reached through a link, as for npm: there
//! the way from its `node_modules` on counts. Costs one `lstat` for each folder that something is in.

use crate::tops::{folders_with_modules, top_of};
use gantry_layout::Plan;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

/// What was found on the ways into one project's `node_modules`, before anything is changed there.
pub(crate) struct Footing<'a> {
    project: &'a Path,
    /// The user's folders that the plan is about.
    tops: BTreeSet<&'a str>,
    /// For a folder: it, or the outermost one above it, that is a link.
    known: HashMap<&'a str, Option<&'a str>>,
}

impl<'a> Footing<'a> {
    pub fn new(project: &'a Path, plan: &'a Plan) -> Self {
        let mut tops = folders_with_modules(plan);
        tops.extend(plan.workspaces.iter().map(String::as_str));
        Self { project, tops, known: HashMap::new() }
    }

    /// The outermost link on the way to `path`, which is not looked at itself.
    pub fn link_above(&mut self, path: &'a str) -> Option<&'a str> {
        let (folder, _) = path.rsplit_once('/')?;
        let top = top_of(path).filter(|top| self.tops.contains(top));
        self.first_link(folder, top.map_or(0, str::len))
    }

    /// The outermost link of `folder` and those above it, down to those of more than `passed` bytes.
    fn first_link(&mut self, folder: &'a str, passed: usize) -> Option<&'a str> {
        if folder.len() <= passed {
            return None;
        }
        if let Some(link) = self.known.get(folder) {
            return *link;
        }
        let above = folder.rsplit_once('/').and_then(|(above, _)| self.first_link(above, passed));
        let link = above.or_else(|| {
            fs::symlink_metadata(self.project.join(folder)).is_ok_and(|data| data.is_symlink()).then_some(folder)
        });
        self.known.insert(folder, link);
        link
    }
}

#[cfg(test)]
mod tests {
    use super::Footing;
    use gantry_layout::Plan;
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_outermost_link_is_found_but_for_those_that_lead_to_folders_of_the_plan() {
        let place = tempfile::tempdir().unwrap();
        let project = place.path();
        fs::create_dir_all(project.join("node_modules/a")).unwrap();
        fs::create_dir_all(project.join("real/node_modules/@s/deep/node_modules")).unwrap();
        symlink("../real/node_modules/@s", project.join("node_modules/@s")).unwrap();
        symlink("real", project.join("linked")).unwrap();
        symlink("real", project.join("other")).unwrap();
        symlink("../../../elsewhere", project.join("node_modules/a/node_modules")).unwrap();
        let plan = Plan { workspaces: BTreeSet::from(["linked".to_owned()]), ..Plan::default() };
        let mut footing = Footing::new(project, &plan);
        for (path, link) in [
            ("node_modules/a", None),
            ("node_modules/@s", None),
            ("node_modules/@s/deep/node_modules/b", Some("node_modules/@s")),
            ("node_modules/a/node_modules/b", Some("node_modules/a/node_modules")),
            ("linked/node_modules/@s/deep", None),
            ("other/node_modules/@s/deep", Some("other")),
            ("nowhere/node_modules/b", None),
        ] {
            assert_eq!(footing.link_above(path), link, "{path}");
        }
    }
}
