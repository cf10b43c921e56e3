//! `yarn.lock` in a resolution: what it says of dependencies that are looked up, of installed packages of which it is not
//! known where they came from, and how it reads afterwards.
//!
//! npm uses it as a hint (`Shrinkwrap.checkYarnLock` and `addEdge` of arborist) and writes it anew from the tree with every
//! lock (`YarnLock.fromTree`): nothing that was in it stays because it was there.

use crate::cause::Cause;
use crate::forest::Forest;
use crate::ids::{NameId, PackageId, SpecId};
use crate::options::YarnHints;
use crate::package::{Package, Peers, Top};
use gantry_archive::Integrity;
use gantry_manifest::{Text, YarnPin};
use rustc_hash::FxHashMap;

#[cfg(test)]
mod tests;

/// What is looked up in place of a dependency's own specifier.
#[derive(Debug)]
pub(crate) struct Pin {
    pub(crate) spec: SpecId,
    pub(crate) integrity: Option<Text>,
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    pins: FxHashMap<(NameId, SpecId), Pin>,
    /// Packages whose integrity says more than the registry does, by what it says.
    confirmed: FxHashMap<(PackageId, Text), PackageId>,
}

impl Pins {
    pub(crate) fn new(forest: &mut Forest, hints: &YarnHints) -> Self {
        let hosts = [hints.yarn_host.clone(), hints.npm_host.clone()];
        let mut pins = FxHashMap::default();
        for (request, pin) in hints.lock.requests() {
            let Some((name, spec)) = split_request(request) else { continue };
            let id = forest.specs.intern(spec);
            let is_registry = forest.specs.get(id).parsed.as_ref().is_ok_and(|parsed| parsed.is_registry());
            if let Some(instead) = pin.spec(name, is_registry, &hosts) {
                let spec = forest.specs.intern(&instead);
                pins.insert((forest.names.intern(name), id), Pin { spec, integrity: pin.integrity.clone() });
            }
        }
        Self { pins, confirmed: FxHashMap::default() }
    }

    pub(crate) fn get(&self, name: NameId, spec: SpecId) -> Option<&Pin> {
        if self.pins.is_empty() { None } else { self.pins.get(&(name, spec)) }
    }

    /// The package with what the registry and `stated` say of its integrity together: of one algorithm both must say the
    /// same, and of two different ones both count.
    pub(crate) fn confirm(
        &mut self,
        forest: &mut Forest,
        package: PackageId,
        stated: &Text,
        peers: Peers,
    ) -> Result<PackageId, Cause> {
        if Integrity::parse(stated).is_err() {
            return Ok(package);
        }
        if let Some(&known) = self.confirmed.get(&(package, stated.clone())) {
            return Ok(known);
        }
        let Package { integrity, resolved, manifest, version_text, .. } = &forest.packages[package.index()];
        let found = integrity.as_deref().unwrap_or_default();
        let algorithm = |word: &str| word.split('-').next().unwrap_or_default().to_owned();
        let mut same = found.split_whitespace().filter(|word| algorithm(word) == algorithm(stated)).peekable();
        let integrity = match same.peek().is_some() {
            true if same.any(|word| word == stated) => found.into(),
            true => {
                let name = manifest.name.as_deref().unwrap_or_default();
                let message =
                    format!("yarn.lock has integrity {stated} for {name}@{version_text}, the registry has {found}");
                return Err(Cause::Fetch { code: "ARCHIVE_INTEGRITY", message });
            }
            false => Text::from(format!("{stated} {found}").trim_end()),
        };
        let confirmed = if integrity == found {
            package
        } else {
            let source = (resolved.clone(), Some(integrity));
            let tables = (&mut forest.names, &mut forest.specs);
            let package = Package::new(manifest.clone(), source, (peers, Top::No), tables);
            forest.add_package(package)
        };
        self.confirmed.insert((package, stated.clone()), confirmed);
        Ok(confirmed)
    }
}

/// `name` and `spec` of `name@spec`.
fn split_request(request: &str) -> Option<(&str, &str)> {
    let at = request.char_indices().skip(1).find(|(_, character)| *character == '@')?.0;
    Some((&request[..at], &request[at + 1..]))
}

/// Completes nodes of a tree that was loaded: where from and with which integrity, where that is not known and a `yarn.lock`
/// says it of a dependency that they are right for.
pub(crate) fn complete(forest: &mut Forest, hints: &YarnHints) {
    for id in forest.inventory().into_iter().skip(1) {
        let node = forest.node(id);
        let lacks = |package: &Package| package.resolved.is_none() || package.integrity.is_none();
        if node.link.is_some() || node.parent.is_none() || !lacks(forest.package_of(id)) {
            continue;
        }
        for edge in node.edges_in.clone() {
            let package = forest.package_of(id);
            if !lacks(package) {
                break;
            }
            let spec = forest.specs.get(forest.effective_spec(edge));
            let request = format!("{}@{}", forest.names.text(forest.node(id).name), spec.text);
            let Some(pin) = hints.lock.get(&request).filter(|pin| fits(package, pin) && forest.is_valid(edge)) else {
                continue;
            };
            let is_registry = spec.parsed.as_ref().is_ok_and(|parsed| parsed.is_registry());
            let resolved = pin.resolved.as_deref().map(|address| public(address, is_registry, hints));
            let integrity = pin.integrity.clone();
            let package = &mut forest.packages[forest.nodes[id.index()].package.index()];
            package.resolved = package.resolved.take().or(resolved);
            package.integrity = package.integrity.take().or(integrity);
        }
    }
}

/// Whether nothing that both say of a package differs.
fn fits(package: &Package, pin: &YarnPin) -> bool {
    let version = Some(&package.version_text).filter(|version| !version.is_empty());
    let pairs = [
        (version, &pin.version),
        (package.integrity.as_ref(), &pin.integrity),
        (package.resolved.as_ref(), &pin.resolved),
    ];
    pairs.into_iter().all(|(ours, theirs)| ours.zip(theirs.as_ref()).is_none_or(|(ours, theirs)| ours == theirs))
}

/// An address under npm's own name of the public registry.
fn public(address: &str, is_registry: bool, hints: &YarnHints) -> Text {
    let rest = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
    let host = Some(hints.yarn_host.as_str()).filter(|host| is_registry && !host.is_empty());
    let path = rest.zip(host).and_then(|(rest, host)| rest.strip_prefix(host)).filter(|path| path.starts_with('/'));
    path.map_or_else(|| address.into(), |path| format!("https://{}{path}", hints.npm_host).into())
}
