//! One version of a package, prepared for the placement loop: its manifest, what identifies its contents, and its
//! dependencies in the order in which npm makes edges of them.

use crate::ids::{NameId, SpecId};
use crate::names::{Names, Specs};
use gantry_manifest::{DependencyMap, Manifest, Text};
use gantry_spec::Version;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Where a dependency is declared, which is how strongly it is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Prod,
    Dev,
    Optional,
    Peer,
    PeerOptional,
    /// From the project to one of its workspaces.
    Workspace,
}

impl Kind {
    pub(crate) fn is_peer(self) -> bool {
        matches!(self, Self::Peer | Self::PeerOptional)
    }

    pub(crate) fn is_optional(self) -> bool {
        matches!(self, Self::Optional | Self::PeerOptional)
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Prod => "prod",
            Self::Dev => "dev",
            Self::Optional => "optional",
            Self::Peer => "peer",
            Self::PeerOptional => "peerOptional",
            Self::Workspace => "workspace",
        }
    }
}

/// One declared dependency.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dependency {
    pub(crate) name: NameId,
    pub(crate) spec: SpecId,
    /// Another specifier that counts as satisfying it.
    pub(crate) accept: Option<SpecId>,
    pub(crate) kind: Kind,
}

/// One version of one package, or one lock entry.
#[derive(Debug)]
pub(crate) struct Package {
    /// The package's own name, which differs from the folder's for aliases.
    pub(crate) name: Option<NameId>,
    pub(crate) version_text: Text,
    /// `None` when the text is no version.
    pub(crate) version: Option<Version>,
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) resolved: Option<Text>,
    pub(crate) integrity: Option<Text>,
    /// What it needs wherever it is installed.
    pub(crate) dependencies: Arc<[Dependency]>,
    /// The same with devDependencies, for the project itself.
    pub(crate) top_dependencies: Arc<[Dependency]>,
    /// Names the tarball carries itself.
    pub(crate) bundled: Vec<NameId>,
}

/// Whether peer dependencies make edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peers {
    Load,
    Ignore,
}

/// Whether devDependencies make edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Top {
    Yes,
    No,
}

impl Package {
    /// Prepares a manifest. `resolved` and `integrity` come from `dist` or from the lock.
    pub(crate) fn new(
        manifest: Arc<Manifest>,
        source: (Option<Text>, Option<Text>),
        (peers, top): (Peers, Top),
        (names, specs): (&mut Names, &mut Specs),
    ) -> Self {
        let mut list = List::default();
        load(&mut list, &manifest, peers, (names, specs));
        let dependencies: Arc<[Dependency]> = list.items.as_slice().into();
        let top_dependencies = if top == Top::Yes && !manifest.dev_dependencies.is_empty() {
            load_kind(&mut list, &manifest.dev_dependencies, |_| Some(Kind::Dev), &manifest, (names, specs));
            list.items.into()
        } else {
            dependencies.clone()
        };
        let version_text = manifest.version.clone().unwrap_or_default();
        Self {
            name: manifest.name.as_deref().filter(|name| !name.is_empty()).map(|name| names.intern(name)),
            version: Version::parse(&version_text),
            version_text,
            bundled: manifest.bundle_dependencies.iter().map(|name| names.intern(name)).collect(),
            resolved: source.0,
            integrity: source.1,
            dependencies,
            top_dependencies,
            manifest,
        }
    }
}

/// Dependencies, each name once.
#[derive(Default)]
struct List {
    items: Vec<Dependency>,
    /// Folded names of the items, once there are many.
    names: FxHashSet<NameId>,
}

/// Up to so many dependencies a scan is faster than a set.
const SCANNED_DEPENDENCIES: usize = 32;

impl List {
    /// Adds a dependency at the end, in place of any of the same name.
    fn put(&mut self, dependency: Dependency, names: &Names) {
        let folded = names.folded(dependency.name);
        let is_long = self.items.len() >= SCANNED_DEPENDENCIES;
        let known = || self.items.iter().map(|other| names.folded(other.name));
        // The list never gets shorter, so a set that was begun is complete.
        if is_long && self.names.is_empty() {
            self.names.extend(known());
        }
        let is_new = is_long && self.names.insert(folded);
        if !is_new && let Some(position) = known().position(|other| other == folded) {
            self.items.remove(position);
        }
        self.items.push(dependency);
    }
}

/// npm's order: peers, optional peers, ordinary, optional; a later declaration of a name replaces an earlier one and
/// takes its place at the end.
fn load(list: &mut List, manifest: &Manifest, peers: Peers, (names, specs): (&mut Names, &mut Specs)) {
    if peers == Peers::Load {
        let optional: FxHashSet<&str> = manifest.peer_optional.iter().map(Text::as_str).collect();
        let is_optional = |name: &str| optional.contains(name);
        let required = |name: &str| (!is_optional(name)).then_some(Kind::Peer);
        let optional = |name: &str| is_optional(name).then_some(Kind::PeerOptional);
        load_kind(list, &manifest.peer_dependencies, required, manifest, (names, specs));
        load_kind(list, &manifest.peer_dependencies, optional, manifest, (names, specs));
    }
    load_kind(list, &manifest.dependencies, |_| Some(Kind::Prod), manifest, (names, specs));
    load_kind(list, &manifest.optional_dependencies, |_| Some(Kind::Optional), manifest, (names, specs));
}

fn load_kind(
    list: &mut List,
    map: &DependencyMap,
    kind: impl Fn(&str) -> Option<Kind>,
    manifest: &Manifest,
    (names, specs): (&mut Names, &mut Specs),
) {
    let accepted: FxHashMap<&str, &str> =
        manifest.accept_dependencies.iter().map(|(name, spec)| (name.as_str(), spec.as_str())).collect();
    let add = |(name, spec): &(Text, Text)| {
        let Some(kind) = kind(name) else { return };
        let accept = accepted.get(name.as_str());
        let dependency = Dependency {
            name: names.intern(name),
            spec: specs.intern(spec),
            accept: accept.map(|accept| specs.intern(if accept.is_empty() { "*" } else { accept })),
            kind,
        };
        list.put(dependency, names);
    };
    // Objects list their integer keys first, in numeric order; everything else keeps the order of the document.
    if map.iter().all(|(name, _)| array_index(name).is_none()) {
        map.iter().for_each(add);
    } else {
        let mut order: Vec<&(Text, Text)> = map.iter().collect();
        order.sort_by_key(|(name, _)| array_index(name).map_or((1, 0), |index| (0, index)));
        order.into_iter().for_each(add);
    }
}

fn array_index(name: &str) -> Option<u32> {
    let index = name.parse::<u32>().ok().filter(|&index| index != u32::MAX)?;
    (index.to_string() == name).then_some(index)
}
