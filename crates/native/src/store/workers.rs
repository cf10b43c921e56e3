//! Threads that verify and unpack. One that is done takes the next tarball by itself: whoever brings tarballs also drives the
//! network, and a thread that had to ask there for more would stand still each time.
//!
//! Tarballs that wait are verified together, since a processor hashes many at once several times as fast as one after the
//! other. As soon as one is verified, it is unpacked by whatever thread is free. Where the system allows no thread at all, whoever
//! brings tarballs does it.

use crate::threads::InHand;
use bytes::Bytes;
use gantry_archive::{ArchiveError, Extractor, Limits};
use gantry_platform::{Clock, Span, Work};
use gantry_registry::TarballRequest;
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::Builder;
use std::time::Duration;
use tokio::sync::oneshot;

/// Bodies verified together at most.
const TOGETHER: usize = 64;

/// How long a thread that is done waits for the next tarball: a hundred times as long as it takes to start one.
const IDLE: Duration = Duration::from_millis(10);

/// Jobs in order of arrival, for as many threads as there are processors.
#[derive(Debug)]
pub(super) struct Workers<C> {
    most: usize,
    clock: C,
    queue: Mutex<Queue>,
    called: Condvar,
    /// Bytes of the bodies that wait.
    waiting: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// To be unpacked; these come first.
    verified: VecDeque<(Job, Verified)>,
    /// Threads that look for jobs.
    running: usize,
    /// Threads that wait to be called, and how many of those that are called have not heard it yet; these look for jobs already.
    idle: usize,
    called: usize,
    /// Buffers to reuse.
    extractors: Vec<Extractor>,
}

/// What became of verifying a body.
#[derive(Debug)]
pub(super) struct Verified {
    pub result: Result<(), ArchiveError>,
    /// How long it took; of bodies that are verified together, since the one that was done before.
    pub span: Span,
}

struct Job {
    request: Arc<TarballRequest>,
    body: Bytes,
    begins: oneshot::Sender<()>,
    work: Task,
}

/// What is done with a verified body.
type Task = Box<dyn FnOnce(Verified, &mut Extractor) + Send>;

impl fmt::Debug for Job {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Job").field("request", &self.request).finish_non_exhaustive()
    }
}

/// What a thread does next.
enum Step {
    Verify(Vec<Job>),
    Unpack(Job, Verified),
}

impl Queue {
    fn next(&mut self) -> Option<Step> {
        if let Some((job, verified)) = self.verified.pop_front() {
            return Some(Step::Unpack(job, verified));
        }
        let jobs: Vec<Job> = self.jobs.drain(..self.jobs.len().min(TOGETHER)).collect();
        (!jobs.is_empty()).then_some(Step::Verify(jobs))
    }

    /// How many steps could be done side by side.
    fn steps(&self) -> usize {
        self.verified.len() + usize::from(!self.jobs.is_empty())
    }
}

/// A job that was handed in.
pub(super) struct Handed<T> {
    /// Answered, or closed, when it is no longer waiting.
    pub begun: oneshot::Receiver<()>,
    /// What came of it; closed if it panicked. Once this is dropped, a job that waits is not done any more.
    pub result: oneshot::Receiver<T>,
}

const HELD: &str = "no thread panics while it holds this lock";

impl<C: Clock + Send + Sync + 'static> Workers<C> {
    pub(super) fn new(most: usize, clock: C) -> Self {
        Self { most, clock, queue: Mutex::default(), called: Condvar::new(), waiting: AtomicU64::new(0) }
    }

    /// Bytes of the bodies that wait for a thread.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Puts a body at the end of the queue: it is verified, and then `work` is done; by this thread, if there is no other.
    pub(super) fn hand_in<T: Send + 'static>(
        self: &Arc<Self>,
        request: Arc<TarballRequest>,
        body: Bytes,
        work: impl FnOnce(Verified, &mut Extractor) -> T + Send + 'static,
    ) -> Handed<T> {
        let (answer, result) = oneshot::channel();
        let (begins, begun) = oneshot::channel();
        let work: Task = Box::new(move |verified: Verified, extractor: &mut Extractor| {
            if !answer.is_closed() {
                // Nobody may be there any more to hear of it.
                let _ = answer.send(work(verified, extractor));
            }
        });
        self.waiting.fetch_add(body.len() as u64, Ordering::Relaxed);
        let mut queue = self.queue();
        queue.jobs.push_back(Job { request, body, begins, work });
        self.call(queue);
        Handed { begun, result }
    }

    /// Has a thread come if there is work for one more.
    fn call(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>) {
        let missing = queue.steps().min(self.most.saturating_sub(queue.running));
        queue.running += missing;
        let called = missing.min(queue.idle);
        queue.idle -= called;
        queue.called += called;
        drop(queue);
        for _ in 0..called {
            self.called.notify_one();
        }
        for started in called..missing {
            let workers = Arc::clone(self);
            if Builder::new().spawn(move || workers.run()).is_err() {
                self.go_on_without(missing - started);
                return;
            }
        }
    }

    /// What is to be done when so many threads could not be started.
    fn go_on_without(self: &Arc<Self>, missing: usize) {
        let mut queue = self.queue();
        queue.running -= missing;
        if queue.running == 0 {
            queue.running = 1;
            drop(queue);
            drop(self.work());
        }
    }

    /// Does what is there to be done, and what comes soon.
    fn run(self: Arc<Self>) {
        loop {
            let mut queue = self.work();
            queue.idle += 1;
            let waited = self.called.wait_timeout_while(queue, IDLE, |queue| queue.called == 0);
            let (mut queue, _) = waited.expect(HELD);
            if queue.called == 0 {
                queue.idle -= 1;
                return;
            }
            queue.called -= 1;
        }
    }

    /// Does what is there to be done; gives the queue, in which nothing is.
    fn work(self: &Arc<Self>) -> MutexGuard<'_, Queue> {
        let _in_hand = InHand::new();
        let fresh = || Extractor::new(Limits::default());
        let mut extractor = self.queue().extractors.pop().unwrap_or_else(fresh);
        loop {
            let mut queue = self.queue();
            let Some(step) = queue.next() else {
                queue.running -= 1;
                queue.extractors.push(extractor);
                return queue;
            };
            drop(queue);
            // Who waits for a job that panicked finds its channel closed; the thread goes on with the others.
            let done = catch_unwind(AssertUnwindSafe(|| match step {
                Step::Verify(jobs) => self.verify(jobs),
                Step::Unpack(Job { body, begins, work, .. }, verified) => {
                    self.waiting.fetch_sub(body.len() as u64, Ordering::Relaxed);
                    drop(body);
                    let _ = begins.send(());
                    work(verified, &mut extractor);
                }
            }));
            if done.is_err() {
                extractor = fresh();
            }
        }
    }

    fn verify(self: &Arc<Self>, jobs: Vec<Job>) {
        // What is verified is handed on while the others are still being hashed.
        let bodies: Vec<_> = jobs.iter().map(|job| (Arc::clone(&job.request), job.body.clone())).collect();
        let bodies: Vec<_> = bodies.iter().map(|(request, body)| (&**request, &**body)).collect();
        let mut jobs: Vec<Option<Job>> = jobs.into_iter().map(Some).collect();
        let mut began = self.clock.monotonic_milliseconds();
        TarballRequest::verify_many(&bodies, |position, result| {
            let Some(job) = jobs[position].take() else { return };
            let ended = self.clock.monotonic_milliseconds();
            let span = Span::of(Work::Verify, mem::replace(&mut began, ended), ended, job.body.len() as u64);
            let mut queue = self.queue();
            queue.verified.push_back((job, Verified { result, span }));
            self.call(queue);
        });
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect(HELD)
    }
}

#[cfg(test)]
mod tests;
