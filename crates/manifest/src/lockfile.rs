//! `package-lock.json`: versions 1, 2 and 3 in and out, byte for byte as npm writes it.
//!
//! Reading keeps what npm keeps of an entry and drops the rest; a lock that npm wrote comes out as it went in. Versions 1
//! and 2 hold a tree of `dependencies` made for npm 6, which follows from the packages and is handed in where they are
//! written. The hidden lock in `node_modules` is the text of version 3 without the root and without what was not installed.

mod conflict;
mod document;
mod legacy;
pub(crate) mod nice;
mod paths;
mod read;
mod write;

pub(crate) use legacy::version_in;
pub use write::LockText;

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::{Manifest, Text, TextStyle};

/// A lock file.
#[derive(Clone, Debug, PartialEq)]
pub struct Lockfile {
    /// Name of the project.
    pub name: Option<Text>,
    /// Version of the project.
    pub version: Option<Text>,
    /// Version of the format, as read and as it will be written. One that is not stated is 1, as for npm.
    pub lockfile_version: u32,
    /// Whether the file says `requires`, which npm 5 and later do. Without it a version 1 was written by npm 4 or before.
    pub has_requires: bool,
    /// Entries, each path once, in any order: writing sorts. The one with the empty path is the root.
    pub packages: Vec<LockEntry>,
    /// Entries of what is installed in folders outside of the project that links lead to. Nobody installs it with the project; as npm
    /// does, they are written as they were read as long as a link leads there.
    pub outside: Vec<LockEntry>,
    /// The `dependencies` of versions 1 and 2, for writing them; never read.
    pub dependencies: Option<Value>,
    /// Layout of the text.
    pub style: TextStyle,
}

/// One entry of `packages`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LockEntry {
    /// Folder, relative to the project: `node_modules/a/node_modules/b`; empty for the root.
    pub path: String,
    /// What the lock keeps of the manifest; `name` only if it differs from the folder.
    pub manifest: Manifest,
    /// Where it came from; for a link its target folder.
    pub resolved: Option<Text>,
    /// Subresource integrity of the tarball.
    pub integrity: Option<Text>,
    /// A link to a folder.
    pub link: bool,
    /// Carried by the tarball of a package above.
    pub in_bundle: bool,
    /// Nothing asks for it.
    pub extraneous: bool,
    /// Only peers ask for it.
    pub peer: bool,
    /// Only development asks for it.
    pub dev: bool,
    /// Only optional dependencies ask for it.
    pub optional: bool,
    /// Only development and optional dependencies ask for it.
    pub dev_optional: bool,
}

impl Default for Lockfile {
    fn default() -> Self {
        Self {
            name: None,
            version: None,
            lockfile_version: Self::DEFAULT_VERSION,
            has_requires: true,
            packages: Vec::new(),
            outside: Vec::new(),
            dependencies: None,
            style: TextStyle::default(),
        }
    }
}

impl Lockfile {
    /// The version that npm writes where nothing says otherwise.
    pub const DEFAULT_VERSION: u32 = 3;

    /// Whether its packages lack what npm 6 and before did not write down (commands, platforms, peers): such a lock says
    /// which versions are where, and their manifests have to be fetched.
    pub fn is_old(&self) -> bool {
        self.lockfile_version < 2
    }

    /// The entry of a folder. Looks at one entry after the other; who asks often builds a map.
    pub fn entry(&self, path: &str) -> Option<&LockEntry> {
        self.packages.iter().find(|entry| entry.path == path)
    }
}

impl LockEntry {
    /// Name of the folder: `b` or `@s/b`; empty for the root.
    pub fn folder_name(&self) -> &str {
        let slash_before = |end: usize| self.path.as_bytes()[..end].iter().rposition(|&byte| byte == b'/');
        let Some(last) = slash_before(self.path.len()) else { return &self.path };
        let parent = slash_before(last).map_or(0, |at| at + 1);
        if self.path[parent..].starts_with('@') { &self.path[parent..] } else { &self.path[last + 1..] }
    }

    /// Name of the package.
    pub fn package_name(&self) -> &str {
        self.manifest.name.as_deref().unwrap_or_else(|| self.folder_name())
    }

    /// `name@version`, for messages.
    pub fn label(&self) -> String {
        format!("{}@{}", self.package_name(), self.manifest.version.as_deref().unwrap_or_default())
    }

    /// Whether this is the root or a folder of the user, such as a workspace: its development dependencies count. What is outside of
    /// the project is one, in whoever's `node_modules` it may be; what is installed in it, a lock has [apart](Lockfile::outside).
    pub fn is_top(&self) -> bool {
        let above = &self.path[..self.path.len() - self.folder_name().len()];
        above.starts_with("../") || above != "node_modules/" && !above.ends_with("/node_modules/")
    }
}
