//! How many requests at once to a registry that is near.
//!
//! Over a network requests wait, and the more of them are under way the better. A registry on this machine, or a few hops away,
//! answers at once: then what each connection costs to make is all there is to gain by having fewer. Each origin is judged for
//! itself: that of a scope may be on this machine, and the one beside it far away.
//!
//! The first answers tell. Where one came within [`NEAR`], at most [`SLOTS`] requests are under way from then on, until one of
//! those that wait sees none of them end for [`PATIENCE`], or [`SLOW_ONES`] answers in a row take as long as that to begin: then
//! the registry is not what it seemed (a cache, say, that has to ask elsewhere), and nothing waits any more.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// An answer within this is that of a neighbour: 16 requests at a time are then 3,200 a second, as many as a client gets through.
const NEAR: Duration = Duration::from_millis(5);
const SLOTS: usize = 16;
/// Longer than any of 16 requests to a neighbour takes.
const PATIENCE: Duration = Duration::from_millis(50);
/// Two rounds of all slots: one moment in which this process got no time delays at most one.
const SLOW_ONES: u32 = 2 * SLOTS as u32;

const UNKNOWN: u8 = 0;
const IS_NEAR: u8 = 1;
const IS_FAR: u8 = 2;

/// What is known of how far away each of the origins is that a client asks.
#[derive(Debug, Default)]
pub(super) struct Neighbourhood(Mutex<HashMap<Box<str>, Arc<Nearness>>>);

impl Neighbourhood {
    /// That of the origin of an address.
    pub fn of(&self, url: &str) -> Arc<Nearness> {
        let origin = origin(url);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nearness) = known.get(origin) {
            return Arc::clone(nearness);
        }
        Arc::clone(known.entry(origin.into()).or_default())
    }

    /// Whether the origin of an address is known to be near.
    pub fn is_near(&self, url: &str) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(origin(url)).is_some_and(|nearness| nearness.is_near())
    }
}

/// Scheme, host and port as they are written: an origin that is written in two ways is only learned of twice.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |length| host + length);
    &url[..end]
}

/// What is known of how far away an origin is.
#[derive(Debug)]
pub(super) struct Nearness {
    state: AtomicU8,
    slots: Semaphore,
    /// Requests that have ended.
    ended: AtomicU64,
    /// Answers since the last one that did not take long.
    slow: AtomicU32,
}

impl Default for Nearness {
    fn default() -> Self {
        Self {
            state: AtomicU8::new(UNKNOWN),
            slots: Semaphore::new(SLOTS),
            ended: AtomicU64::new(0),
            slow: AtomicU32::new(0),
        }
    }
}

/// A request under way.
pub(super) struct Turn<'n> {
    nearness: &'n Nearness,
    slot: Option<SemaphorePermit<'n>>,
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
                return Turn { nearness: self, slot: slot.ok() };
            }
            if self.ended.load(Ordering::Relaxed) == ended {
                self.state.store(IS_FAR, Ordering::Relaxed);
            }
        }
        Turn { nearness: self, slot: None }
    }

    /// Whether it is known to be near.
    fn is_near(&self) -> bool {
        self.state.load(Ordering::Relaxed) == IS_NEAR
    }

    /// Takes note of how long an answer took to begin.
    fn note(&self, answered_after: Duration) {
        if answered_after < NEAR {
            let _ = self.state.compare_exchange(UNKNOWN, IS_NEAR, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

impl Turn<'_> {
    /// Takes note of how long the answer took to begin. Slow ones only count of those that had few others beside them: what
    /// was sent before anything was known may be hundreds, of which the last wait for all.
    pub fn note(&self, answered_after: Duration) {
        let Nearness { state, slow, .. } = self.nearness;
        self.nearness.note(answered_after);
        if self.slot.is_none() {
            return;
        }
        if answered_after < PATIENCE {
            slow.store(0, Ordering::Relaxed);
        } else if slow.fetch_add(1, Ordering::Relaxed) + 1 >= SLOW_ONES {
            let _ = state.compare_exchange(IS_NEAR, IS_FAR, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
