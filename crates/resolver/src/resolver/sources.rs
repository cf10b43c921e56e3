//! Packages that no registry has: folders, tarballs, repositories.
//!
//! Each is asked for once, by where it is; what comes back is its manifest and what the lock says of where it came from.

use crate::forest::{Forest, leads_out};
use crate::ids::{PackageId, SourceId};
use crate::package::{Package, Peers, Top};
use crate::questions::PackumentProblem;
use gantry_manifest::{Manifest, Text};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Where a package is that does not come from a registry. Paths are relative to the project, with `/`; what is outside of
/// it starts with `..`, what cannot be made relative with `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// A folder of the user, which is linked to.
    Folder {
        /// The folder.
        path: String,
    },
    /// A folder of the user, of which a package is made as it is installed.
    Copy {
        /// The folder.
        path: String,
    },
    /// A tarball on disk.
    File {
        /// The file.
        path: String,
    },
    /// A tarball at an address.
    Remote {
        /// The address, as written.
        url: String,
    },
    /// A git repository.
    Git {
        /// The specifier, as written.
        spec: String,
    },
}

/// A package to look into that no registry has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRequest {
    /// Identifies the request in [`Resolver::answer_source`](crate::Resolver::answer_source).
    pub id: u32,
    /// The name of the dependency that it is for.
    pub name: String,
    /// Where it is.
    pub source: Source,
    /// What its tarball must hash to, where that is known.
    pub integrity: Option<Text>,
}

/// What was found there.
#[derive(Debug, Clone, Default)]
pub struct SourceAnswer {
    /// Its `package.json`; empty where it has none.
    pub manifest: Manifest,
    /// What the lock says of where it came from; `None` for folders that are linked to.
    pub resolved: Option<Text>,
    /// What its tarball hashes to; `None` for folders and repositories.
    pub integrity: Option<Text>,
}

#[derive(Debug)]
enum Entry {
    Asked {
        /// Whether it is a folder outside of the project: what that depends on is somebody else's affair.
        is_elsewhere: bool,
    },
    Failed(PackumentProblem),
    Here(PackageId),
}

/// What looking for one came to.
#[derive(Debug)]
pub(crate) enum Found {
    Package(PackageId),
    Problem(PackumentProblem),
    /// It has been asked for.
    NotYet,
}

/// Requests and what is known.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    ids: FxHashMap<Source, SourceId>,
    entries: Vec<Entry>,
    /// Not yet handed out.
    pub(crate) requests: Vec<SourceRequest>,
}

impl Sources {
    /// What is at `source`; where nobody knows yet, it is asked for under `name`.
    pub(crate) fn find(&mut self, name: &str, source: Source) -> Found {
        self.find_known(name, source, None)
    }

    /// The same for what must hash to `integrity`.
    pub(crate) fn find_known(&mut self, name: &str, source: Source, integrity: Option<Text>) -> Found {
        let Some(id) = self.ids.get(&source) else {
            let id = SourceId::new(self.entries.len());
            let is_elsewhere = matches!(&source, Source::Folder { path } if leads_out(path));
            self.entries.push(Entry::Asked { is_elsewhere });
            let number = u32::try_from(id.index()).unwrap_or(u32::MAX);
            let request = SourceRequest { id: number, name: name.to_owned(), source: source.clone(), integrity };
            self.requests.push(request);
            self.ids.insert(source, id);
            return Found::NotYet;
        };
        match &self.entries[id.index()] {
            Entry::Asked { .. } => Found::NotYet,
            Entry::Failed(problem) => Found::Problem(problem.clone()),
            Entry::Here(package) => Found::Package(*package),
        }
    }

    /// Takes the answer to a request; only the first counts. Gives the package made of it, if what that depends on is needed.
    pub(crate) fn answer(
        &mut self,
        forest: &mut Forest,
        peers: Peers,
        request: u32,
        result: Result<SourceAnswer, PackumentProblem>,
    ) -> Option<PackageId> {
        let entry = self.entries.get_mut(request as usize)?;
        let Entry::Asked { is_elsewhere } = *entry else { return None };
        match result {
            Ok(answer) => {
                let package = package_of(forest, peers, answer);
                *entry = Entry::Here(package);
                (!is_elsewhere).then_some(package)
            }
            Err(problem) => {
                *entry = Entry::Failed(problem);
                None
            }
        }
    }

    /// Notes a folder whose manifest is known from the start.
    pub(crate) fn know_folder(&mut self, place: &str, package: PackageId) {
        let id = SourceId::new(self.entries.len());
        if self.ids.insert(Source::Folder { path: place.to_owned() }, id).is_none() {
            self.entries.push(Entry::Here(package));
        }
    }
}

/// A package made of what was found.
pub(crate) fn package_of(forest: &mut Forest, peers: Peers, answer: SourceAnswer) -> PackageId {
    let SourceAnswer { manifest, resolved, integrity } = answer;
    let tables = (&mut forest.names, &mut forest.specs);
    // Only what is linked to needs what it is developed with.
    let top = if resolved.is_none() { Top::Yes } else { Top::No };
    let package = Package::new(Arc::new(manifest), (resolved, integrity), (peers, top), tables);
    forest.add_package(package)
}
