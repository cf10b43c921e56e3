//! A walk over the dependency closure by best guess, so that packuments are asked for before placement needs them.
//!
//! The guess for each dependency is npm's pick for its own specifier, whatever placement will make of it: what is already
//! in the tree, overrides below the first level and peers' influence are not considered. A wrong guess costs a request;
//! it never changes the result, because placement does not look at guesses.
//!
//! Peers are the exception: `react@>=16` is nearly always met by the version that somebody else asks for, and its own best
//! pick would be fetched for nothing. They wait until everything else is guessed, and only those that no guess meets are
//! guessed themselves.
//!
//! Placement looks at the packuments of all peers either way, also of optional ones and of those that are met: it tries
//! every peer set in a virtual tree, best pick by best pick. Left to itself it would find out one packument after the other,
//! each a trip to the registry. So a second walk follows peers alone, and theirs, and only asks for packuments.

use crate::forest::Forest;
use crate::ids::{NameId, NodeId, PackageId, SpecId};
use crate::package::{Dependency, Kind};
use crate::shelf::{Lookup, Shelf, Wanted};
use rustc_hash::{FxHashMap, FxHashSet};

/// The frontier of the walk.
#[derive(Debug, Default)]
pub(crate) struct Preload {
    /// Dependencies to look at.
    open: Vec<(NameId, SpecId)>,
    seen: FxHashSet<(NameId, SpecId)>,
    walked: FxHashSet<PackageId>,
    /// Dependencies that wait for a packument.
    parked: FxHashMap<NameId, Vec<(NameId, SpecId)>>,
    /// Peers whose own peers are to be looked at, for their packuments alone.
    open_peers: Vec<(NameId, SpecId)>,
    seen_peers: FxHashSet<(NameId, SpecId)>,
    peers_walked: FxHashSet<PackageId>,
    /// The same that wait for a packument.
    parked_peers: FxHashMap<NameId, Vec<(NameId, SpecId)>>,
    /// What has to be asked for.
    wanted: Vec<Wanted>,
    /// Peers that may have to be guessed once nothing else is open.
    peers: Vec<(NameId, SpecId)>,
    /// What was guessed, by the name it would be found under.
    guesses: FxHashMap<NameId, Vec<PackageId>>,
    /// Guesses since they were last taken.
    picks: Vec<PackageId>,
}

impl Preload {
    /// Adds a dependency to the frontier.
    pub(crate) fn add(&mut self, forest: &Forest, shelf: &mut Shelf, (name, spec, kind): (NameId, SpecId, Kind)) {
        if self.seen.insert((name, spec)) {
            if kind == Kind::Optional {
                shelf.prefer_single(forest, name, spec);
            }
            self.open.push((name, spec));
        }
    }

    /// Adds what a node of the ideal tree lacks.
    pub(crate) fn add_missing(&mut self, forest: &Forest, shelf: &mut Shelf, node: NodeId) {
        for &(_, id) in &forest.node(node).edges_out {
            let edge = forest.edge(id);
            if edge.kind != Kind::PeerOptional && (edge.to.is_none() || !forest.is_valid(id)) {
                let spec = forest.effective_spec(id);
                if !is_workspace(forest, edge.name, spec) {
                    self.add(forest, shelf, (edge.name, spec, edge.kind));
                }
            }
        }
    }

    /// Goes on as far as the packuments at hand allow. Not inlined: the resolver's `next` is small that way, and runs often.
    #[inline(never)]
    pub(crate) fn advance(&mut self, forest: &mut Forest, shelf: &mut Shelf) {
        loop {
            self.guess_open(forest, shelf);
            self.look_at_open_peers(forest, shelf);
            if !self.parked.is_empty() || !self.parked_peers.is_empty() {
                return;
            }
            // One guess may meet the next peer too; what all of them need is then asked for together.
            let walked = self.walked.len();
            while let Some((name, spec)) = self.unmet_peer(forest) {
                if self.seen.insert((name, spec)) {
                    self.guess(forest, shelf, name, spec);
                }
            }
            if self.walked.len() == walked {
                return;
            }
        }
    }

    fn guess_open(&mut self, forest: &mut Forest, shelf: &mut Shelf) {
        while !self.open.is_empty() {
            for (name, spec) in std::mem::take(&mut self.open) {
                self.guess(forest, shelf, name, spec);
            }
        }
    }

    fn guess(&mut self, forest: &mut Forest, shelf: &mut Shelf, name: NameId, spec: SpecId) {
        match shelf.look_up(forest, name, spec) {
            Lookup::Found(package) => {
                self.guesses.entry(name).or_default().push(package);
                if self.walked.insert(package) {
                    self.picks.push(package);
                    self.walk(forest, shelf, package, true);
                }
            }
            Lookup::Missing(wanted) => {
                self.parked.entry(wanted.name).or_default().push((name, spec));
                self.wanted.push(wanted);
            }
            Lookup::Failed(_) | Lookup::NotRegistry | Lookup::Invalid => {}
        }
    }

    /// Follows peers as far as the packuments at hand allow.
    fn look_at_open_peers(&mut self, forest: &mut Forest, shelf: &mut Shelf) {
        while let Some((name, spec)) = self.open_peers.pop() {
            match shelf.look_up(forest, name, spec) {
                Lookup::Found(package) => self.walk(forest, shelf, package, false),
                Lookup::Missing(wanted) => {
                    self.parked_peers.entry(wanted.name).or_default().push((name, spec));
                    self.wanted.push(Wanted { for_peers: true, ..wanted });
                }
                Lookup::Failed(_) | Lookup::NotRegistry | Lookup::Invalid => {}
            }
        }
    }

    /// Adds what a package depends on; of one that is only looked at, its peers.
    fn walk(&mut self, forest: &mut Forest, shelf: &mut Shelf, package: PackageId, guessed: bool) {
        let looks_at_peers = self.peers_walked.insert(package);
        let package = &forest.packages[package.index()];
        let (dependencies, bundled) = (package.dependencies.clone(), package.bundled.clone());
        // What such a package lists itself is taken from there, with its address.
        let follows_all = guessed && !package.manifest.has_shrinkwrap;
        for &Dependency { name, spec, kind, .. } in dependencies.iter() {
            if bundled.contains(&name) || !(follows_all || kind.is_peer()) {
                continue;
            }
            let spec = forest.rules.root().map_or(spec, |root| overridden(forest, root, name, spec));
            if in_tree(forest, name, spec) {
                continue;
            }
            if !kind.is_peer() {
                self.add(forest, shelf, (name, spec, kind));
                continue;
            }
            if guessed && kind == Kind::Peer {
                self.peers.push((name, spec));
            }
            if looks_at_peers && self.seen_peers.insert((name, spec)) {
                self.open_peers.push((name, spec));
            }
        }
    }

    /// The next peer that nothing guessed so far would meet.
    fn unmet_peer(&mut self, forest: &Forest) -> Option<(NameId, SpecId)> {
        while let Some((name, spec)) = self.peers.pop() {
            let guesses = self.guesses.get(&name).map_or(&[][..], Vec::as_slice);
            if !guesses.iter().any(|&guess| forest.accepts_package(spec, guess)) {
                return Some((name, spec));
            }
        }
        None
    }

    /// Takes note that an answer is here.
    pub(crate) fn answered(&mut self, fetched: NameId) {
        self.open.extend(self.parked.remove(&fetched).into_iter().flatten());
        self.open_peers.extend(self.parked_peers.remove(&fetched).into_iter().flatten());
    }

    /// Guesses since the last call, each once.
    pub(crate) fn take_picks(&mut self) -> Vec<PackageId> {
        std::mem::take(&mut self.picks)
    }

    /// What to ask for; some may have been asked for before.
    pub(crate) fn take_wanted(&mut self) -> Vec<Wanted> {
        std::mem::take(&mut self.wanted)
    }

    /// Whether nothing more is expected.
    pub(crate) fn is_idle(&self) -> bool {
        let waits = !self.parked.is_empty() || !self.parked_peers.is_empty();
        !waits && self.open.is_empty() && self.open_peers.is_empty() && self.peers.is_empty()
    }
}

fn overridden(forest: &Forest, root: crate::ids::RuleId, name: NameId, spec: SpecId) -> SpecId {
    match forest.rules.for_edge(root, name, || &forest.specs.get(spec).parsed) {
        Ok(rule) => {
            let rule = forest.rules.get(rule);
            let replaces = rule.name == Some(name) && &*rule.value != "*" && !rule.value.starts_with('$');
            if replaces { rule.value_spec } else { spec }
        }
        Err(_) => spec,
    }
}

/// Whether the project's own `node_modules` already holds something that fits, as after loading a lock, or will have a link to a
/// workspace that does.
pub(crate) fn in_tree(forest: &Forest, name: NameId, spec: SpecId) -> bool {
    let child = forest.node(forest.root).children.get(forest.names.folded(name));
    child.is_some_and(|child| forest.accepts_package(spec, forest.node(child).package))
        || is_workspace(forest, name, spec)
}

/// Whether a workspace of this name fits: no registry needs to know it.
fn is_workspace(forest: &Forest, name: NameId, spec: SpecId) -> bool {
    forest.workspace_packages.get(&name).is_some_and(|&package| forest.accepts_package(spec, package))
}
