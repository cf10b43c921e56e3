//! One package's manifest, in one shape whether it comes from a file, a registry or a lock entry.
//!
//! Normalisation is npm's (`@npmcli/package-json`): bundled dependency lists, optional dependencies winning over
//! ordinary ones, `bin` reduced to safe names and paths. Maps keep the order of their document.

mod bin;
mod completion;
pub(crate) mod document;
mod edit;
pub(crate) mod fields;
pub(crate) mod normalise;
pub(crate) mod value;

#[cfg(test)]
mod tests;

pub use edit::{DependencyKind, Moved};

use serde_json::Value;

use crate::ManifestError;

/// What is read of a `package.json`. Members starting with `_` are npm's own notes and mean nothing in a file.
const PACKAGE_JSON_MEMBERS: &[&str] = &[
    "name",
    "version",
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "bundleDependencies",
    "bundledDependencies",
    "acceptDependencies",
    "bin",
    "directories",
    "engines",
    "os",
    "cpu",
    "libc",
    "funding",
    "license",
    "deprecated",
    "hasInstallScript",
    "scripts",
    "workspaces",
    "overrides",
];

/// What is read of a registry version. Its development dependencies never count and are passed over.
const REGISTRY_MEMBERS: &[&str] = &[
    "name",
    "version",
    "dependencies",
    "optionalDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "bundleDependencies",
    "bundledDependencies",
    "acceptDependencies",
    "bin",
    "engines",
    "os",
    "cpu",
    "libc",
    "funding",
    "license",
    "deprecated",
    "hasInstallScript",
    "scripts",
    "workspaces",
    "_hasShrinkwrap",
    "dist",
];

/// Name and specifier (or name and text), in document order, each name once.
pub type DependencyMap = Vec<(Text, Text)>;

/// A text that is cheap to copy: up to 23 bytes, as most names and ranges have, are kept in place, longer ones shared.
pub type Text = smol_str::SmolStr;

/// Where a version's tarball is and what it must hash to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dist {
    /// Address of the tarball, as the registry gave it.
    pub tarball: Text,
    /// Subresource integrity.
    pub integrity: Option<Text>,
    /// SHA-1 in hexadecimal, of old packages.
    pub shasum: Option<Text>,
    /// Sum of file sizes in bytes.
    pub unpacked_size: Option<u64>,
    /// Number of files.
    pub file_count: Option<u64>,
}

/// What Gantry reads of a package.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// Package name; in a lock entry only where it differs from the folder.
    pub name: Option<Text>,
    /// Version as written.
    pub version: Option<Text>,
    /// Ordinary dependencies, without those that are optional too.
    pub dependencies: DependencyMap,
    /// Dependencies that count for the root and workspaces only.
    pub dev_dependencies: DependencyMap,
    /// Whether there is a `devDependencies` object at all: npm repeats an empty one in the lock.
    pub declares_dev_dependencies: bool,
    /// Dependencies that may be left out.
    pub optional_dependencies: DependencyMap,
    /// Dependencies that must be found at or above the package.
    pub peer_dependencies: DependencyMap,
    /// Names that `peerDependenciesMeta` marks optional.
    pub peer_optional: Vec<Text>,
    /// `peerDependenciesMeta` verbatim, for the lock.
    pub peer_dependencies_meta: Option<Value>,
    /// Names of packages that the tarball carries itself.
    pub bundle_dependencies: Vec<Text>,
    /// Other specifiers that count as satisfying a dependency.
    pub accept_dependencies: DependencyMap,
    /// Command name and file, both confined.
    pub bin: Vec<(Text, Text)>,
    /// Folder whose files are the commands (`directories.bin`), of a `package.json` with no `bin`, until
    /// [`Manifest::read_commands`] is told what is in it.
    pub command_folder: Option<Text>,
    /// Engine name and range.
    pub engines: Vec<(Text, Text)>,
    /// Operating systems; `!name` excludes.
    pub os: Vec<Text>,
    /// Processors; `!name` excludes.
    pub cpu: Vec<Text>,
    /// C libraries; `!name` excludes.
    pub libc: Vec<Text>,
    /// Funding as the lock writes it.
    pub funding: Option<Value>,
    /// License as the lock writes it; a license that is not text is in `verbatim`.
    pub license: Option<Text>,
    /// Deprecation message.
    pub deprecated: Option<Text>,
    /// Whether a preinstall, install or postinstall script exists.
    pub has_install_script: bool,
    /// Whether the tarball carries its own `npm-shrinkwrap.json`.
    pub has_shrinkwrap: bool,
    /// `workspaces` verbatim.
    pub workspaces: Option<Value>,
    /// `overrides` verbatim.
    pub overrides: Option<Value>,
    /// Tarball and hashes; registry manifests only.
    pub dist: Option<Dist>,
    /// Members of an unusual type (`engines` as a list, `os` as a text, `license` as a list) that npm repeats in the lock
    /// as they are. Where a member is here, the lock has this value and not the one of the field above.
    pub verbatim: Vec<(String, Value)>,
}

impl Manifest {
    /// Reads a `package.json`, the project's or a package's own. `file` is what errors call it.
    ///
    /// Unknown members are ignored. A `MANIFEST_FIELD` error means that npm's install fails on the member too.
    pub fn parse_package_json(bytes: &[u8], file: &str) -> Result<Manifest, ManifestError> {
        let text = document::text_of(bytes);
        let members = document::read_members(&text, PACKAGE_JSON_MEMBERS)
            .map_err(|error| ManifestError::of_json(file, &text, &error))?;
        let Some(members) = members else { return Err(ManifestError::ManifestShape { file: file.to_owned() }) };
        normalise::manifest_of(members, None).map_err(|problem| ManifestError::ManifestField {
            file: file.to_owned(),
            field: problem.field,
            expected: problem.expected,
        })
    }

    /// Takes the commands from [`Manifest::command_folder`]: of all files of the package, those in it. Nothing happens to a
    /// package that has no such folder.
    pub fn read_commands<'f>(&mut self, files: impl IntoIterator<Item = &'f str>) {
        if let Some(folder) = self.command_folder.take() {
            self.bin = bin::commands_in(&folder, files);
        }
    }

    /// What a lock entry of an installed package repeats: everything but overrides, `dist` and what is for development.
    pub fn without_top(&self) -> Manifest {
        // Field by field: what is left out is much of most manifests, and is not copied.
        Manifest {
            name: self.name.clone(),
            version: self.version.clone(),
            dependencies: self.dependencies.clone(),
            dev_dependencies: DependencyMap::new(),
            declares_dev_dependencies: self.declares_dev_dependencies,
            optional_dependencies: self.optional_dependencies.clone(),
            peer_dependencies: self.peer_dependencies.clone(),
            peer_optional: self.peer_optional.clone(),
            peer_dependencies_meta: self.peer_dependencies_meta.clone(),
            bundle_dependencies: self.bundle_dependencies.clone(),
            accept_dependencies: self.accept_dependencies.clone(),
            bin: self.bin.clone(),
            command_folder: None,
            engines: self.engines.clone(),
            os: self.os.clone(),
            cpu: self.cpu.clone(),
            libc: self.libc.clone(),
            funding: self.funding.clone(),
            license: self.license.clone(),
            deprecated: self.deprecated.clone(),
            has_install_script: self.has_install_script,
            has_shrinkwrap: self.has_shrinkwrap,
            workspaces: self.workspaces.clone(),
            overrides: None,
            dist: None,
            verbatim: self.verbatim.clone(),
        }
    }

    /// Reads one version of a registry document; `None` if npm could not install it.
    pub fn parse_registry_version(json: &[u8]) -> Option<Manifest> {
        let text = document::text_of(json);
        normalise::manifest_of(document::read_members(&text, REGISTRY_MEMBERS).ok()??, None).ok()
    }
}
