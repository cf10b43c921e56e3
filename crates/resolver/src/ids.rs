//! Small numbers that stand for nodes, edges, names, specs, packages and override rules.
//!
//! Everything the placement loop touches lives in vectors and is named by one of these, so that comparing is comparing
//! integers and nothing is reference counted in the hot path.

macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(u32);

        impl $name {
            pub(crate) fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("a tree of four thousand million parts does not fit in memory"))
            }

            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A place in a tree.
    NodeId
);
id!(
    /// A dependency of a node.
    EdgeId
);
id!(
    /// An interned package or folder name.
    NameId
);
id!(
    /// An interned specifier text with its parsed form.
    SpecId
);
id!(
    /// One version of one package, or one lock entry.
    PackageId
);
id!(
    /// A rule of the root's `overrides`.
    RuleId
);
id!(
    /// A place that a package comes from without a registry.
    SourceId
);
id!(
    /// A reason why something could not be loaded.
    FailureId
);
