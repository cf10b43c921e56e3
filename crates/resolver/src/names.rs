//! Interned names and specifiers.
//!
//! A name is compared as a number; its folded form (case and compatibility variants removed) is another number, because
//! two names that differ only so would share a folder on many disks. A specifier is parsed once per text.

use crate::ids::{NameId, SpecId};
use gantry_spec::{PackageName, Spec, SpecKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Every name seen, each once.
#[derive(Debug, Default)]
pub(crate) struct Names {
    ids: FxHashMap<Arc<str>, NameId>,
    entries: Vec<NameEntry>,
}

#[derive(Debug)]
struct NameEntry {
    text: Arc<str>,
    folded: NameId,
    package_name: Option<PackageName>,
}

impl Names {
    pub(crate) fn intern(&mut self, text: &str) -> NameId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let lower = text.to_lowercase();
        let folded = (lower != text).then(|| self.intern(&lower));
        let id = NameId::new(self.entries.len());
        let shared: Arc<str> = text.into();
        let package_name = PackageName::try_from(text).ok();
        self.entries.push(NameEntry { text: shared.clone(), folded: folded.unwrap_or(id), package_name });
        self.ids.insert(shared, id);
        id
    }

    pub(crate) fn find(&self, text: &str) -> Option<NameId> {
        self.ids.get(text).copied()
    }

    pub(crate) fn text(&self, id: NameId) -> &Arc<str> {
        &self.entries[id.index()].text
    }

    /// The name under which a folder of this name is found on a disk that ignores case.
    pub(crate) fn folded(&self, id: NameId) -> NameId {
        self.entries[id.index()].folded
    }

    /// The name as a package name, unless no package can have it.
    pub(crate) fn package_name(&self, id: NameId) -> Option<&PackageName> {
        self.entries[id.index()].package_name.as_ref()
    }
}

/// Every specifier seen, each once.
#[derive(Debug, Default)]
pub(crate) struct Specs {
    ids: FxHashMap<Arc<str>, SpecId>,
    entries: Vec<SpecEntry>,
}

/// A specifier with its meaning.
#[derive(Debug)]
pub(crate) struct SpecEntry {
    /// As written.
    pub(crate) text: Arc<str>,
    /// What it says, or why it says nothing.
    pub(crate) parsed: Result<Spec, String>,
    /// Whether it is literally `*` or empty, which any version satisfies, even one that is no version.
    pub(crate) any: bool,
}

impl Specs {
    pub(crate) fn intern(&mut self, text: &str) -> SpecId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let shared: Arc<str> = text.into();
        let id = SpecId::new(self.entries.len());
        // The meaning of a specifier does not depend on the name it belongs to; names are checked where they are used.
        let parsed = Spec::parse("name", text).map_err(|error| error.to_string());
        let any = match &parsed {
            Ok(Spec { kind: SpecKind::Range(_), .. }) => matches!(text.trim(), "" | "*"),
            Ok(Spec { kind: SpecKind::Alias { target, .. }, .. }) => {
                matches!(target.kind, SpecKind::Range(_)) && matches!(target.raw.trim(), "" | "*")
            }
            _ => false,
        };
        self.entries.push(SpecEntry { text: shared.clone(), parsed, any });
        self.ids.insert(shared, id);
        id
    }

    pub(crate) fn find(&self, text: &str) -> Option<SpecId> {
        self.ids.get(text).copied()
    }

    pub(crate) fn get(&self, id: SpecId) -> &SpecEntry {
        &self.entries[id.index()]
    }
}
