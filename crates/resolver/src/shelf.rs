//! The packuments at hand, the packages made from them, and what could not be had.

#[cfg(test)]
mod tests;

use crate::YarnHints;
use crate::cause::Cause;
use crate::forest::Forest;
use crate::ids::{FailureId, NameId, PackageId, SpecId};
use crate::package::{Package, Peers, Top};
use crate::pick::{NoPick, Picker, Versions};
use crate::questions::PackumentProblem;
use crate::yarn::Pins;
use gantry_archive::Integrity;
use gantry_manifest::{Dist, Manifest, Packument, Text};
use gantry_spec::{SpecKind, Version};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Why something could not be loaded.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) package: NameId,
    pub(crate) spec: SpecId,
    pub(crate) cause: Cause,
}

/// What looking for a package came to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lookup {
    Found(PackageId),
    Failed(FailureId),
    /// This has to be asked for first.
    Missing(Wanted),
    /// It does not come from a registry.
    NotRegistry,
    /// The specifier or the name means nothing.
    Invalid,
}

/// What to ask a registry for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Wanted {
    /// The package.
    pub(crate) name: NameId,
    /// For which specifier.
    pub(crate) spec: SpecId,
    /// Whether the one version that this names is enough; otherwise it takes the packument.
    pub(crate) is_single: bool,
    /// Whether only peers of what it says are followed.
    pub(crate) for_peers: bool,
}

/// Versions of one package that are looked at for one that would do.
const LOOKED_AT: usize = 300;

#[derive(Debug)]
enum Entry {
    Here(Versions),
    Problem(PackumentProblem),
}

/// The packuments at hand.
#[derive(Debug)]
pub(crate) struct Shelf {
    entries: FxHashMap<NameId, Entry>,
    /// Dependencies of which one version is asked for instead of the packument.
    singles: FxHashSet<(NameId, SpecId)>,
    /// Versions that came alone.
    alone: FxHashMap<(NameId, String), Arc<Packument>>,
    lookups: FxHashMap<(NameId, SpecId), Result<PackageId, FailureId>>,
    packages: FxHashMap<(NameId, Box<str>), Option<PackageId>>,
    failures: Vec<Failure>,
    pub(crate) picker: Picker,
    peers: Peers,
    /// What a `yarn.lock` says of dependencies that are looked up.
    pins: Pins,
}

impl Shelf {
    pub(crate) fn new(picker: Picker, peers: Peers) -> Self {
        Self {
            entries: FxHashMap::default(),
            singles: FxHashSet::default(),
            alone: FxHashMap::default(),
            lookups: FxHashMap::default(),
            packages: FxHashMap::default(),
            failures: Vec::new(),
            picker,
            peers,
            pins: Pins::default(),
        }
    }

    /// From now on looks up what a `yarn.lock` says, in place of what was asked for.
    pub(crate) fn pin(&mut self, forest: &mut Forest, hints: &YarnHints) {
        self.pins = Pins::new(forest, hints);
    }

    /// What is looked up for `name@spec`: the same, unless a `yarn.lock` says otherwise.
    pub(crate) fn pinned(&self, name: NameId, spec: SpecId) -> SpecId {
        self.pins.get(name, spec).map_or(spec, |pin| pin.spec)
    }

    /// The integrity of `name@spec` that a `yarn.lock` states.
    pub(crate) fn stated_integrity(&self, name: NameId, spec: SpecId) -> Option<Text> {
        self.pins.get(name, spec)?.integrity.clone()
    }

    /// Takes an answer; only the first for a name counts.
    pub(crate) fn put(&mut self, id: NameId, name: &str, result: Result<Arc<Packument>, PackumentProblem>) {
        let picker = &self.picker;
        self.entries.entry(id).or_insert_with(|| match result {
            Ok(packument) => Entry::Here(picker.versions(name, packument)),
            Err(problem) => Entry::Problem(problem),
        });
    }

    /// Takes a version that came alone; only the first answer counts.
    pub(crate) fn put_version(&mut self, id: NameId, version: &str, packument: Arc<Packument>) {
        self.alone.entry((id, version.to_owned())).or_insert(packument);
    }

    pub(crate) fn has(&self, name: NameId) -> bool {
        self.entries.contains_key(&name)
    }

    /// Has `name@spec` asked for as one version where it names one. That is worth a request of its own for what hardly
    /// anybody else depends on: builds for one platform each, of which no other version matters and no tarball is
    /// unpacked, so that their own documents are needed in any case.
    pub(crate) fn prefer_single(&mut self, forest: &Forest, name: NameId, spec: SpecId) {
        // Only packuments tell when a version was published.
        let spec = self.pinned(name, spec);
        if !self.picker.has_before() && self.exact_version(forest, spec).is_some() {
            self.singles.insert((name, spec));
        }
    }

    /// The version that a specifier names, if it names one.
    pub(crate) fn exact_version(&self, forest: &Forest, spec: SpecId) -> Option<String> {
        Picker::exact_version(forest.specs.get(spec).parsed.as_ref().ok()?.registry_target())
    }

    /// What has to be asked for before `name@spec` can be looked up; `None` if it is here or no registry is concerned.
    pub(crate) fn missing(&self, forest: &mut Forest, name: NameId, spec: SpecId) -> Option<Wanted> {
        let spec = self.pinned(name, spec);
        let fetched = self.fetch_name(forest, name, spec)?;
        let is_here = self.entries.contains_key(&fetched) || self.single(forest, fetched, spec).is_some();
        let is_single = self.singles.contains(&(name, spec));
        (!is_here).then_some(Wanted { name: fetched, spec, is_single, for_peers: false })
    }

    /// The version that `spec` names, if it came alone.
    fn single(&self, forest: &Forest, fetched: NameId, spec: SpecId) -> Option<(Arc<Packument>, String)> {
        if self.alone.is_empty() {
            return None;
        }
        let key = (fetched, self.exact_version(forest, spec)?);
        Some((self.alone.get(&key)?.clone(), key.1))
    }

    /// The highest version of a package, no prerelease, that passes a test; as far as one can be bothered to look.
    pub(crate) fn highest_that(&self, name: NameId, test: impl Fn(&Manifest) -> bool) -> Option<String> {
        let Some(Entry::Here(Versions { packument, .. })) = self.entries.get(&name) else { return None };
        let parsed = packument.versions().filter_map(|text| Some((Version::parse(text)?, text)));
        let mut versions: Vec<(Version, &str)> = parsed.filter(|(version, _)| !version.is_prerelease()).collect();
        versions.sort_by(|(a, _), (b, _)| b.precedence(a));
        let passes = |text: &&str| packument.manifest(text).is_some_and(|manifest| test(&manifest));
        versions.into_iter().take(LOOKED_AT).map(|(_, text)| text).find(passes).map(str::to_owned)
    }

    pub(crate) fn failure(&self, id: FailureId) -> &Failure {
        &self.failures[id.index()]
    }

    /// Notes why something could not be had.
    pub(crate) fn fail(&mut self, package: NameId, spec: SpecId, cause: Cause) -> FailureId {
        self.failures.push(Failure { package, spec, cause });
        FailureId::new(self.failures.len() - 1)
    }

    /// The name to ask the registry for; `None` where no registry is concerned.
    pub(crate) fn fetch_name(&self, forest: &mut Forest, name: NameId, spec: SpecId) -> Option<NameId> {
        let parsed = forest.specs.get(spec).parsed.as_ref().ok()?;
        if !parsed.is_registry() {
            return None;
        }
        let name = match &parsed.kind {
            SpecKind::Alias { name, .. } => forest.names.intern(name.as_str()),
            _ => name,
        };
        forest.names.package_name(name).map(|_| name)
    }

    /// Finds the package that `name@spec` means.
    pub(crate) fn look_up(&mut self, forest: &mut Forest, name: NameId, spec: SpecId) -> Lookup {
        if let Some(known) = self.lookups.get(&(name, spec)) {
            return known.map_or_else(Lookup::Failed, Lookup::Found);
        }
        if forest.names.package_name(name).is_none() {
            return Lookup::Invalid;
        }
        let pinned = self.pinned(name, spec);
        match &forest.specs.get(pinned).parsed {
            Err(_) => return Lookup::Invalid,
            Ok(parsed) if !parsed.is_registry() => return Lookup::NotRegistry,
            Ok(_) => {}
        }
        let Some(fetched) = self.fetch_name(forest, name, pinned) else { return Lookup::Invalid };
        if let Some(wanted) = self.missing(forest, name, spec) {
            return Lookup::Missing(wanted);
        }
        let picked = self.pick(forest, fetched, pinned);
        let picked = picked.and_then(|(packument, version)| {
            self.package(forest, fetched, &packument, version).ok_or(Cause::Incomplete)
        });
        let picked = match self.stated_integrity(name, spec) {
            Some(stated) => picked.and_then(|package| self.pins.confirm(forest, package, &stated, self.peers)),
            None => picked,
        };
        let result = picked.map_err(|cause| self.fail(fetched, spec, cause));
        self.lookups.insert((name, spec), result);
        result.map_or_else(Lookup::Failed, Lookup::Found)
    }

    /// npm's choice among the versions of what was fetched, which is here.
    fn pick(&self, forest: &Forest, fetched: NameId, spec: SpecId) -> Result<(Arc<Packument>, String), Cause> {
        if let Some(single) = self.single(forest, fetched, spec) {
            return Ok(single);
        }
        let versions = match self.entries.get(&fetched) {
            Some(Entry::Here(versions)) => versions,
            Some(Entry::Problem(PackumentProblem::Failed { code, message })) => {
                return Err(Cause::Fetch { code, message: message.clone() });
            }
            Some(Entry::Problem(PackumentProblem::NotFound)) | None => return Err(Cause::NotFound),
        };
        let parsed = forest.specs.get(spec).parsed.as_ref().map_err(|_| Cause::NotFound)?;
        match self.picker.pick(versions, parsed.registry_target()) {
            Ok(version) => Ok((versions.packument.clone(), version)),
            Err(NoPick::Target | NoPick::Empty) => {
                Err(Cause::NoMatch { latest: versions.packument.dist_tag("latest").map(str::to_owned) })
            }
        }
    }

    fn package(
        &mut self,
        forest: &mut Forest,
        fetched: NameId,
        packument: &Packument,
        version: String,
    ) -> Option<PackageId> {
        let key = (fetched, version.into_boxed_str());
        if let Some(&known) = self.packages.get(&key) {
            return known;
        }
        let made =
            packument.manifest(&key.1).filter(|manifest| manifest.version.as_deref().is_some_and(|v| !v.is_empty()));
        let made = made.map(|manifest| {
            let source = source_of(&manifest);
            if forest.rules.have_references() {
                // A reference may be looked up in any package's devDependencies.
                manifest.dev_dependencies.iter().for_each(|(_, spec)| {
                    forest.specs.intern(spec);
                });
            }
            let package = Package::new(manifest, source, (self.peers, Top::No), (&mut forest.names, &mut forest.specs));
            forest.add_package(package)
        });
        self.packages.insert(key, made);
        made
    }
}

fn source_of(manifest: &Manifest) -> (Option<Text>, Option<Text>) {
    let Some(dist) = &manifest.dist else { return (None, None) };
    (Some(dist.tarball.clone()).filter(|tarball| !tarball.is_empty()), integrity(dist))
}

/// The integrity npm writes: the registry's, else the SHA-1 of old packages in the same notation.
pub(crate) fn integrity(dist: &Dist) -> Option<Text> {
    if let Some(integrity) = dist.integrity.as_ref().filter(|text| !text.trim().is_empty()) {
        if !integrity.contains(char::is_whitespace) {
            return Some(integrity.clone());
        }
        return Some(integrity.split_whitespace().collect::<Vec<_>>().join(" ").into());
    }
    let shasum = dist.shasum.as_deref().filter(|text| !text.is_empty())?;
    // What is no SHA-1 is kept as it is: nothing hashes to it, and whoever reads the lock refuses it.
    let integrity = Integrity::from_shasum(shasum);
    Some(integrity.map_or_else(|_| format!("sha1-{shasum}"), |integrity| integrity.to_string()).into())
}
