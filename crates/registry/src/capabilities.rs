//! What registries turned out not to have, so that they are not asked in vain again.
//!
//! Nothing is asked for the sake of finding out: a request that was needed anyway tells. What counts is proof, an answer that
//! the registry had in the one form and refused in the other, for what it is and not for whose it is (406 and 415, not 401,
//! 403 or 404); a package that is missing in both says nothing. It is kept in the mirror with the documents, for a day:
//! registries learn.

use crate::mirror::MetadataMirror;
use gantry_store::mirror::{MirrorKey, MirrorWrite};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// For how many milliseconds what is kept counts.
const LIFETIME: f64 = 24.0 * 3_600_000.0;
/// What the mirror has in the place of an integrity for these; another version of the format would have another.
const FORMAT: &str = "lacks-1";

/// Something that registries have on top of full documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Abbreviated packuments.
    Abbreviated,
    /// A document for each version.
    Versions,
}

/// When each was found to be lacking, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, Default)]
struct Lacking {
    abbreviated: Option<f64>,
    versions: Option<f64>,
}

/// What is known of all registries, by the scope that their documents are kept under.
#[derive(Debug, Default)]
pub(crate) struct Capabilities {
    known: RefCell<FxHashMap<String, Lacking>>,
    /// Those whose documents of versions did not come. That proves nothing, and is not kept.
    unanswered: RefCell<FxHashSet<String>>,
}

impl Lacking {
    fn of(&mut self, offer: Offer) -> &mut Option<f64> {
        match offer {
            Offer::Abbreviated => &mut self.abbreviated,
            Offer::Versions => &mut self.versions,
        }
    }

    /// As `key:time` words.
    fn to_text(self) -> String {
        let word = |name: &str, time: Option<f64>| time.map(|time| format!("{name}:{time}"));
        let words = [word("abbreviated", self.abbreviated), word("versions", self.versions)];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn parse(text: &str) -> Self {
        let time = |name: &str| {
            let mut words = text.split(' ').filter_map(|word| word.split_once(':'));
            words.find(|(key, _)| *key == name).and_then(|(_, time)| time.parse().ok())
        };
        Self { abbreviated: time("abbreviated"), versions: time("versions") }
    }
}

impl Capabilities {
    /// Whether a registry is known to lack something. `now` is in milliseconds since 1970.
    pub fn lacks(&self, mirror: Option<&dyn MetadataMirror>, scope: &str, offer: Offer, now: f64) -> bool {
        if offer == Offer::Versions && self.unanswered.borrow().contains(scope) {
            return true;
        }
        let mut known = self.known.borrow_mut();
        let lacking = known.entry(scope.to_owned()).or_insert_with(|| {
            let kept = mirror.and_then(|mirror| mirror.facts(&MirrorKey::registry(scope), FORMAT)).flatten();
            kept.as_deref().map(Lacking::parse).unwrap_or_default()
        });
        // A clock that was set back makes findings of the future: those do not count.
        lacking.of(offer).is_some_and(|found| (0.0..LIFETIME).contains(&(now - found)))
    }

    /// Asks no more for documents of versions that others came instead of.
    pub fn do_without_versions(&self, scope: &str) {
        self.unanswered.borrow_mut().insert(scope.to_owned());
    }

    /// From now on they may come again.
    pub fn forget_unanswered(&self) {
        self.unanswered.borrow_mut().clear();
    }

    /// Remembers that a registry lacks something.
    pub fn learn(&self, mirror: Option<&dyn MetadataMirror>, scope: &str, offer: Offer, now: f64) {
        if self.lacks(mirror, scope, offer, now) {
            return;
        }
        let mut known = self.known.borrow_mut();
        let lacking = known.entry(scope.to_owned()).or_default();
        *lacking.of(offer) = Some(now.floor());
        if let Some(mirror) = mirror {
            let lock_members = Some(lacking.to_text());
            mirror.write(MirrorWrite::Facts {
                key: MirrorKey::registry(scope),
                integrity: FORMAT.to_owned(),
                lock_members,
            });
        }
    }
}
