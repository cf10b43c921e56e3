//! What goes where.

use crate::Scripted;
use gantry_manifest::Text;
use gantry_store::{PackageIndex, PackageKey};
use std::collections::BTreeSet;

/// What `node_modules` consists of. All paths are relative to the project, with `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Packages, sorted by path (byte order): a package comes before those nested in it.
    pub packages: Vec<PlannedPackage>,
    /// Symbolic links, sorted by path (byte order).
    pub links: Vec<PlannedLink>,
    /// Files that a command names and that the store does not keep executable; sorted.
    pub executables: Vec<String>,
    /// Contents of `node_modules/.package-lock.json`.
    pub hidden_lock: Vec<u8>,
    /// Folders of the project's workspaces, whose `node_modules` an install may clear: those of other folders of the user's
    /// that the tree links to are their own. For whoever knows the project to fill in.
    pub workspaces: BTreeSet<String>,
    /// What runs its scripts once it is in place, in this order: packages where they are put there anew, folders of the user's
    /// each time. For whoever knows what is allowed to fill in; left alone where there are no processes.
    pub scripted: Vec<Scripted>,
}

impl Plan {
    /// Takes the links to commands out, and leaves the modes of their files alone.
    pub fn leave_out_commands(&mut self) {
        self.links.retain(|link| link.kind == LinkKind::Folder);
        self.executables.clear();
    }

    /// What of a package's own files gives way to other parts of the plan: paths in the package, each a file or a folder
    /// with all that is in it. That is a package or link planned where the package's tarball has something too, in a
    /// `node_modules` that it carries. Who makes the tree leaves these out, whatever the order of making; for all but a few
    /// packages there are none.
    pub fn replaced_in(&self, package: &PlannedPackage, index: &PackageIndex) -> Vec<String> {
        let inside = |path: &str| path.strip_prefix(&package.path).is_some_and(|rest| rest.starts_with('/'));
        // Sorted, all inside follow each other, though not directly on the package itself ("a", "a-b", "a/c").
        let start = |path: &str| path.bytes().lt(package.path.bytes().chain(*b"/"));
        let packages = &self.packages[self.packages.partition_point(|other| start(&other.path))..];
        let links = &self.links[self.links.partition_point(|link| start(&link.path))..];
        let packages = packages.iter().map(|other| other.path.as_str()).take_while(|path| inside(path));
        let links = links.iter().map(|link| link.path.as_str()).take_while(|path| inside(path));
        let has = |path: &&str| index.file(path).is_some() || index.is_directory(path);
        let mut replaced: Vec<String> =
            packages.chain(links).map(|path| &path[package.path.len() + 1..]).filter(has).map(str::to_owned).collect();
        replaced.sort();
        replaced
    }
}

/// One package of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedPackage {
    /// Its folder: `node_modules/a`.
    pub path: String,
    /// Its content.
    pub key: PackageKey,
    /// Its name, which is not the folder's for an alias.
    pub name: Text,
    /// Its version.
    pub version: Text,
    /// Where it comes from.
    pub resolved: Option<Text>,
    /// What its tarball hashes to.
    pub integrity: Option<Text>,
}

/// One symbolic link of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedLink {
    /// Where it is.
    pub path: String,
    /// Where it leads, relative to the folder it is in.
    pub target: String,
    /// What it is for.
    pub kind: LinkKind,
}

/// What a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// A package that is a folder of the user: a workspace or a `file:` dependency.
    Folder,
    /// A command of an installed package; its file is there.
    Command,
    /// A command of a package that is a folder of the user. npm makes no link if the file is missing, and makes the
    /// file executable.
    LocalCommand,
}
