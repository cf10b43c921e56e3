//! The body of a packument that has an outline: at hand, or kept somewhere and read from there in pieces.
//!
//! A body at hand can be given up once somebody keeps it: of the megabytes of a large project's documents a resolution
//! reads a few hundred kilobytes, most of them when a document has just arrived.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// Reads pieces of a body that is kept somewhere else.
pub trait StoredBody: std::fmt::Debug + Send + Sync {
    /// The bytes of `range`; `None` if they cannot be read.
    fn read(&self, range: Range<u32>) -> Option<Bytes>;
    /// Takes note that a piece is not what was stored.
    fn damaged(&self);
}

/// Where a body is.
#[derive(Debug)]
pub(super) struct Body(Mutex<Place>);

#[derive(Debug)]
enum Place {
    AtHand(Bytes),
    Kept(Arc<dyn StoredBody>),
}

impl Body {
    pub(super) fn at_hand(bytes: Bytes) -> Self {
        Self(Mutex::new(Place::AtHand(bytes)))
    }

    pub(super) fn kept(body: Arc<dyn StoredBody>) -> Self {
        Self(Mutex::new(Place::Kept(body)))
    }

    /// All of it, if it is at hand.
    pub(super) fn bytes(&self) -> Option<Bytes> {
        match &*self.place() {
            Place::AtHand(bytes) => Some(bytes.clone()),
            Place::Kept(_) => None,
        }
    }

    /// Lets go of the bytes at hand; `kept` has them. What is read elsewhere already stays there.
    pub(super) fn give_up(&self, kept: Arc<dyn StoredBody>) {
        let mut place = self.place();
        if matches!(*place, Place::AtHand(_)) {
            *place = Place::Kept(kept);
        }
    }

    pub(super) fn read(&self, range: Range<u32>) -> Option<Bytes> {
        match &*self.place() {
            Place::AtHand(bytes) => {
                let range = range.start as usize..range.end as usize;
                (range.start <= range.end && range.end <= bytes.len()).then(|| bytes.slice(range))
            }
            Place::Kept(body) => body.read(range),
        }
    }

    pub(super) fn damaged(&self) {
        if let Place::Kept(body) = &*self.place() {
            body.damaged();
        }
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
