//! Which registries nobody answers for.
//!
//! Without a network nobody is to wait for each of a thousand documents that are kept anyway: a registry that has answered
//! nothing is taken for silent, and no longer asked for what there is a copy of. One failed connection among many proves
//! nothing, though. So a failure makes a registry silent only where nothing has come from it and no other request to it is
//! under way; until then it is like any other failure. Whatever comes from a registry ends its silence.

use crate::RegistryError;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use futures_util::future::select;
use gantry_platform::{Clock, HttpError, HttpErrorKind};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::pin::pin;

/// What is known of registries since the last [`forget`](Self::forget).
#[derive(Debug, Default)]
pub(crate) struct Silences(RefCell<FxHashMap<String, Registry>>);

#[derive(Debug, Default)]
struct Registry {
    /// Requests of which nothing has become yet.
    under_way: usize,
    has_answered: bool,
    /// Whether a request has failed for something that there is a copy of.
    is_doubted: bool,
    /// Why it is taken for silent; `None` of one that has answered.
    silence: Option<HttpError>,
    /// Who waits until it is.
    waiting: Vec<Waker>,
}

impl Silences {
    /// Why a registry is taken for silent, if it is.
    pub fn reason(&self, registry: &str) -> Option<HttpError> {
        self.0.borrow().get(registry).and_then(|known| known.silence.clone())
    }

    /// A request begins.
    pub fn begin<'a>(&'a self, registry: &'a str) -> UnderWay<'a> {
        self.of(registry, |known| known.under_way += 1);
        UnderWay { silences: self, registry }
    }

    /// From now on everybody may answer again, or be silent.
    pub fn forget(&self) {
        self.0.borrow_mut().retain(|_, known| {
            let under_way = known.under_way;
            *known = Registry { under_way, ..Registry::default() };
            under_way > 0
        });
    }

    /// Whether anything has come from a registry.
    pub fn has_answered(&self, registry: &str) -> bool {
        self.0.borrow().get(registry).is_some_and(|known| known.has_answered)
    }

    /// Something has come from a registry.
    fn hear(&self, registry: &str) {
        self.of(registry, |known| (known.has_answered, known.silence) = (true, None));
    }

    /// A connection to a registry has failed, and the request for it is no longer under way. Who has no copy asks on, and takes
    /// a registry for silent only with somebody who has one.
    fn miss(&self, registry: &str, error: &HttpError, has_copy: bool) {
        let woken = self.of(registry, |known| {
            known.is_doubted |= has_copy;
            if known.has_answered || known.under_way > 0 || !known.is_doubted {
                return Vec::new();
            }
            known.silence = Some(error.clone());
            std::mem::take(&mut known.waiting)
        });
        woken.into_iter().for_each(Waker::wake);
    }

    async fn until_silent(&self, registry: &str) {
        poll_fn(|context| {
            self.of(registry, |known| {
                if known.silence.is_some() {
                    return Poll::Ready(());
                }
                if !known.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                    known.waiting.push(context.waker().clone());
                }
                Poll::Pending
            })
        })
        .await;
    }

    fn of<T>(&self, registry: &str, action: impl FnOnce(&mut Registry) -> T) -> T {
        let mut registries = self.0.borrow_mut();
        match registries.get_mut(registry) {
            Some(known) => action(known),
            None => action(registries.entry(registry.to_owned()).or_default()),
        }
    }
}

/// A request to a registry; under way no longer once it is dropped.
pub(crate) struct UnderWay<'a> {
    silences: &'a Silences,
    registry: &'a str,
}

impl UnderWay<'_> {
    /// It ends with `result`; `has_copy`: whether there is a copy of what was asked for.
    pub fn end<T>(self, result: &Result<T, RegistryError>, has_copy: bool) {
        let Self { silences, registry } = self;
        drop(self);
        match result {
            Err(RegistryError::Unreachable { source, .. }) if !source.has_answered => {
                if is_without_connection(source) {
                    silences.miss(registry, source, has_copy);
                }
            }
            _ => silences.hear(registry),
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.silences.of(self.registry, |known| known.under_way -= 1);
    }
}

/// Whether nothing was heard of the other side, and would not be at once if it were asked again.
fn is_without_connection(error: &HttpError) -> bool {
    matches!(error.kind, HttpErrorKind::Connect | HttpErrorKind::Timeout | HttpErrorKind::Certificate)
}

/// A clock whose waits end when a registry turns out to be silent.
pub(crate) struct Listening<'a, C> {
    pub clock: &'a C,
    pub silences: &'a Silences,
    /// `None` of who waits in any case.
    pub registry: Option<&'a str>,
}

impl<C: Clock> Clock for Listening<'_, C> {
    fn monotonic_milliseconds(&self) -> f64 {
        self.clock.monotonic_milliseconds()
    }

    fn unix_milliseconds(&self) -> f64 {
        self.clock.unix_milliseconds()
    }

    async fn sleep(&self, milliseconds: f64) {
        let wait = self.clock.sleep(milliseconds);
        let Some(registry) = self.registry else { return wait.await };
        select(pin!(wait), pin!(self.silences.until_silent(registry))).await;
    }
}

#[cfg(test)]
mod tests;
