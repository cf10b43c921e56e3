//! Placing what packages bring along.
//!
//! Everything found below such a package's `node_modules` becomes nodes of the ideal tree that are already in place: they have
//! no address and no integrity of their own. What its `npm-shrinkwrap.json` lists becomes nodes below it, too, which nothing
//! moves from there.

use super::Builder;
use crate::error::ResolveError;
use crate::forest::Seed;
use crate::ids::{NodeId, PackageId};
use crate::package::{Package, Peers, Top};
use crate::questions::PackumentProblem;
use crate::resolver::bundles::BundleContents;
use gantry_manifest::{Manifest, Text};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Address and integrity.
type Origin = (Option<Text>, Option<Text>);

/// How a package is found in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Found {
    /// Its shrinkwrap lists it.
    Listed,
    /// It is in its tarball.
    Carried,
}

impl Builder {
    /// What a package has in its tarball; asked for where it is not here.
    pub(crate) fn contents(&mut self, node: NodeId) -> Result<Option<Arc<BundleContents>>, ResolveError> {
        let package = self.forest.package_of(node);
        let (cause, message) = match self.bundles.contents(self.forest.node(node).package, package) {
            None => return Ok(None),
            Some(Ok(contents)) => return Ok(Some(contents.clone())),
            Some(Err(PackumentProblem::NotFound)) => ("NOT_FOUND", "the tarball is not there".to_owned()),
            Some(Err(PackumentProblem::Failed { code, message })) => (*code, message.clone()),
        };
        Err(ResolveError::Fetch {
            package: package.manifest.name.as_deref().unwrap_or_default().to_owned(),
            spec: package.version_text.to_string(),
            cause,
            message,
            wanted_by: self.wanted_by(node),
        })
    }

    /// Puts the contents of a package below its node, displacing what is there: what its shrinkwrap lists, and then what it
    /// carries.
    pub(crate) fn unpack_bundle(&mut self, node: NodeId, contents: &BundleContents) {
        let mut listed: Vec<(&str, &Manifest, Origin)> = Vec::new();
        for entry in contents.shrinkwrap.iter().flat_map(|lock| &lock.packages) {
            if !entry.link && !entry.path.is_empty() {
                listed.push((&entry.path, &entry.manifest, (entry.resolved.clone(), entry.integrity.clone())));
            }
        }
        self.unpack(node, Found::Listed, listed);
        let carried = contents.packages.iter().map(|(path, manifest)| (path.as_str(), manifest, (None, None)));
        self.unpack(node, Found::Carried, carried.collect());
        // Where nothing else changes, flags are not calculated again.
        self.forest.calculate_flags_from(node);
    }

    /// The paths of what shrinkwraps list.
    pub(crate) fn listed(&self) -> BTreeSet<String> {
        let listed = self.unpacked.iter().filter(|((_, how, _), _)| *how == Found::Listed);
        let listed: FxHashSet<PackageId> = listed.map(|(_, &package)| package).collect();
        let nodes = if listed.is_empty() { Vec::new() } else { self.forest.inventory() };
        let nodes = nodes.into_iter().filter(|&node| listed.contains(&self.forest.node(node).package));
        nodes.map(|node| self.forest.location(node)).collect()
    }

    fn unpack(&mut self, node: NodeId, how: Found, mut packages: Vec<(&str, &Manifest, Origin)>) {
        // Parents before their children, whatever order they come in.
        packages.sort_by_cached_key(|(path, ..)| (path.matches("node_modules/").count(), path.to_owned()));
        let peers = if self.options.legacy_peer_deps { Peers::Ignore } else { Peers::Load };
        for (path, manifest, origin) in packages {
            let Some((parent, folder)) = self.bundle_parent(node, path) else { continue };
            let name = self.forest.names.intern(&folder);
            // The same is found wherever it is placed, and a package that others displace is placed many times.
            let forest = &mut self.forest;
            let place = (forest.node(node).package, how, path.to_owned());
            let package = *self.unpacked.entry(place).or_insert_with(|| {
                let mut manifest = manifest.clone();
                manifest.name.get_or_insert_with(|| folder.as_str().into());
                let tables = (&mut forest.names, &mut forest.specs);
                let package = Package::new(Arc::new(manifest), origin, (peers, Top::No), tables);
                forest.add_package(package)
            });
            let seed = Seed { name, package, overrides: None, failure: None, from_lock: false };
            self.forest.new_node(seed, Some(parent));
        }
    }

    /// The node that `node_modules/a/node_modules/b` goes below, and the folder's name.
    fn bundle_parent(&self, node: NodeId, path: &str) -> Option<(NodeId, String)> {
        let mut segments = path.strip_prefix("node_modules/")?.split("/node_modules/").peekable();
        let mut parent = node;
        loop {
            let segment = segments.next()?;
            if segments.peek().is_none() {
                let hidden = segment.rsplit('/').next().is_none_or(|last| last.is_empty() || last.starts_with('.'));
                return (!hidden).then(|| (parent, segment.to_owned()));
            }
            let name = self.forest.names.find(segment)?;
            parent = self.forest.node(parent).children.get(self.forest.names.folded(name))?;
        }
    }
}
