//! What is worth keeping when a mirror is compacted.
//!
//! Nobody says that a document will not be asked for again; that it has not been for long is all there is to go by. Only what
//! was answered or confirmed is recorded, so a document counts as used when it was that for the last time. Two rules:
//!
//! - what has not been used for [`UNUSED`] goes;
//! - where a registry has been asked with other credentials since, what those before were given goes once nothing of it has been
//!   used for [`SUPERSEDED`]. Tokens that are good for some hours otherwise leave a copy of everything each, which nobody can
//!   find any more.
//!
//! The time is that of the latest record: who compacts has just written. So a clock that once was wrong does no harm later.

use super::{catalog::Document, key_scope, record::Record, registry_of};
use rustc_hash::{FxHashMap, FxHashSet};

const DAY: u64 = 24 * 3_600_000;
/// Longer than a project rests whose next install should find what it had.
pub(super) const UNUSED: u64 = 60 * DAY;
/// Somebody who goes back and forth between two credentials does so within a week.
pub(super) const SUPERSEDED: u64 = 7 * DAY;

/// What is worth keeping of a mirror.
#[derive(Debug)]
pub(super) struct Worth<'a> {
    /// Those that are, in the order of their places.
    pub documents: Vec<Document<'a>>,
    /// Scopes of which there was something, and of which nothing is left.
    gone: FxHashSet<&'a str>,
}

impl<'a> Worth<'a> {
    /// Chooses among all documents of a mirror.
    pub fn of(mut documents: Vec<Document<'a>>) -> Self {
        let now = documents.iter().max_by_key(|document| document.recorded).map_or(0, answered);
        let mut scopes: FxHashMap<&str, u64> = FxHashMap::default();
        let mut registries: FxHashMap<&str, u64> = FxHashMap::default();
        for document in &documents {
            let scope = key_scope(document.key);
            let used = scopes.entry(scope).or_default();
            *used = answered(document).max(*used);
            let used = registries.entry(registry_of(scope)).or_default();
            *used = answered(document).max(*used);
        }
        let is_superseded = |scope: &str| {
            let used = scopes[scope];
            used < registries[registry_of(scope)] && now.saturating_sub(used) >= SUPERSEDED
        };
        documents.retain(|document| {
            now.saturating_sub(answered(document)) < UNUSED && !is_superseded(key_scope(document.key))
        });
        let left: FxHashSet<&str> = documents.iter().map(|document| key_scope(document.key)).collect();
        let gone = scopes.into_keys().filter(|scope| !left.contains(scope)).collect();
        Self { documents, gone }
    }

    /// Whether what is known of a version or a registry goes on being of use: it goes with the last document of its scope.
    pub fn keeps(&self, facts: &Record<'_>) -> bool {
        !matches!(facts, Record::Facts { key, .. } if self.gone.contains(key_scope(key)))
    }

    /// Bytes of the pack that are.
    pub fn length(&self) -> u64 {
        self.documents.iter().map(|document| document.place.length()).sum()
    }
}

fn answered(document: &Document<'_>) -> u64 {
    document.state.freshness.answered
}
