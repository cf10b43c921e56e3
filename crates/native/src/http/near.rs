//! How many requests at once to a registry that is near.
//!
//! Over a network requests wait, and the more of them are under way the better. A registry on this machine, or a few hops away,
//! answers at once: then what each connection costs to make is all there is to gain by having fewer.
//!
//! The first answers tell. Where one came within [`NEAR`], at most [`SLOTS`] requests are under way from then on, until one of
//! those that wait sees none of them end for [`PATIENCE`]: then the registry is not what it seemed, and nothing waits any more.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// An answer within this is that of a neighbour: 16 requests at a time are then 3,200 a second, as many as a client gets through.
const NEAR: Duration = Duration::from_millis(5);
const SLOTS: usize = 16;
/// Longer than any of 16 requests to a neighbour takes.
const PATIENCE: Duration = Duration::from_millis(50);

const UNKNOWN: u8 = 0;
const IS_NEAR: u8 = 1;
const IS_FAR: u8 = 2;

/// What is known of how far away a client's registries are.
#[derive(Debug)]
pub(super) struct Nearness {
    state: AtomicU8,
    slots: Semaphore,
    /// Requests that have ended.
    ended: AtomicU64,
}

impl Default for Nearness {
    fn default() -> Self {
        Self { state: AtomicU8::new(UNKNOWN), slots: Semaphore::new(SLOTS), ended: AtomicU64::new(0) }
    }
}

/// A request under way.
pub(super) struct Turn<'n> {
    nearness: &'n Nearness,
    _slot: Option<SemaphorePermit<'n>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.nearness.ended.fetch_add(1, Ordering::Relaxed);
    }
}

impl Nearness {
    /// Waits until a request may go.
    pub async fn turn(&self) -> Turn<'_> {
        while self.state.load(Ordering::Relaxed) == IS_NEAR {
            let ended = self.ended.load(Ordering::Relaxed);
            if let Ok(slot) = tokio::time::timeout(PATIENCE, self.slots.acquire()).await {
                return Turn { nearness: self, _slot: slot.ok() };
            }
            if self.ended.load(Ordering::Relaxed) == ended {
                self.state.store(IS_FAR, Ordering::Relaxed);
            }
        }
        Turn { nearness: self, _slot: None }
    }

    /// Whether it is known to be near.
    pub fn is_near(&self) -> bool {
        self.state.load(Ordering::Relaxed) == IS_NEAR
    }

    /// Takes note of how long an answer took to begin.
    pub fn note(&self, answered_after: Duration) {
        if answered_after < NEAR {
            let _ = self.state.compare_exchange(UNKNOWN, IS_NEAR, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
