//! Counters, and how often they are told.

use crate::timing::Timing;
use crate::{Event, Phase};
use gantry_platform::{Clock, Http, Span, Work};
use gantry_registry::RegistryClient;
use gantry_resolver::{PeerConflict, ResolveWarning};
use gantry_spec::without_secrets;
use std::cell::{Cell, RefCell};

/// A person cannot read faster, and a page should not be woken more often.
const MILLISECONDS_BETWEEN_REPORTS: f64 = 50.0;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counters {
    pub resolved: u32,
    pub wanted: u32,
    pub downloaded: u32,
    pub unpacked: u32,
    pub reused: u32,
    pub bytes: u64,
    pub requests: u32,
}

/// Counts what happens and tells the listener at a bounded rate.
pub(crate) struct Progress<'a, C> {
    clock: &'a C,
    listener: RefCell<&'a mut dyn FnMut(Event)>,
    started: f64,
    reported: Cell<f64>,
    pub counters: Cell<Counters>,
    /// Where the time goes, if that was asked.
    timing: Option<RefCell<Timing>>,
    /// Peer conflicts that were accepted.
    conflicts: RefCell<Vec<PeerConflict>>,
}

impl<'a, C: Clock> Progress<'a, C> {
    pub fn new(clock: &'a C, listener: &'a mut dyn FnMut(Event), timing: bool) -> Self {
        let started = clock.monotonic_milliseconds();
        Self {
            clock,
            listener: RefCell::new(listener),
            started,
            reported: Cell::new(f64::NEG_INFINITY),
            counters: Cell::default(),
            timing: timing.then(RefCell::default),
            conflicts: RefCell::default(),
        }
    }

    /// The time on the clock that spans have.
    pub fn now(&self) -> f64 {
        self.clock.monotonic_milliseconds()
    }

    /// Notes what was done for `package`.
    pub fn spans(&self, package: &str, spans: &[Span]) {
        if let Some(timing) = &self.timing {
            timing.borrow_mut().spans(package, spans);
        }
    }

    /// Notes what the registry client has noted.
    pub fn take_spans<H: Http>(&self, registry: &RegistryClient<H, C>) {
        for (package, span) in registry.take_spans() {
            self.spans(&package, &[span]);
        }
    }

    /// Notes how long something has waited before its request was sent.
    pub fn waited(&self, work: Work, milliseconds: f64) {
        if let Some(timing) = &self.timing {
            timing.borrow_mut().wait(work, milliseconds);
        }
    }

    /// Does something, and notes how long it took.
    pub fn timed<T>(&self, work: Work, package: &str, action: impl FnOnce() -> T) -> T {
        let Some(timing) = &self.timing else { return action() };
        let began = self.now();
        let result = action();
        timing.borrow_mut().spans(package, &[Span::of(work, began, self.now(), 0)]);
        result
    }

    /// What was noted, now that the install is over.
    pub fn take_timing(&self) -> Option<Timing> {
        let mut timing = self.timing.as_ref()?.take();
        timing.finish(self.started, self.elapsed());
        Some(timing)
    }

    pub fn elapsed(&self) -> f64 {
        self.clock.monotonic_milliseconds() - self.started
    }

    pub fn emit(&self, event: Event) {
        (self.listener.borrow_mut())(event);
    }

    pub fn phase(&self, phase: Phase) {
        if let Some(timing) = &self.timing {
            timing.borrow_mut().phase(phase, self.elapsed());
        }
        self.emit(Event::Phase { phase });
        self.report();
    }

    /// Tells a warning of the resolution, and keeps the conflict that it is about.
    pub fn warn_resolving(&self, warning: &ResolveWarning) {
        self.warn(warning.code, warning.message.as_str());
        self.conflicts.borrow_mut().extend(warning.conflict.as_deref().cloned());
    }

    /// The conflicts that were accepted.
    pub fn take_conflicts(&self) -> Vec<PeerConflict> {
        self.conflicts.take()
    }

    pub fn warn(&self, code: impl Into<String>, message: impl Into<String>) {
        self.emit(Event::Warning { code: code.into(), message: without_secrets(&message.into()).into_owned() });
    }

    pub fn count(&self, change: impl FnOnce(&mut Counters)) {
        let mut counters = self.counters.get();
        change(&mut counters);
        self.counters.set(counters);
        if self.elapsed() - self.reported.get() >= MILLISECONDS_BETWEEN_REPORTS {
            self.report();
        }
    }

    pub fn report(&self) {
        let elapsed = self.elapsed();
        self.reported.set(elapsed);
        let Counters { resolved, wanted, downloaded, unpacked, reused, bytes, requests } = self.counters.get();
        self.emit(Event::Progress { resolved, wanted, downloaded, unpacked, reused, bytes, requests, elapsed });
    }
}
