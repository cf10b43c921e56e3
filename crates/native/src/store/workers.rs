//! Threads that unpack. One that is done takes the next tarball by itself: whoever brings tarballs also drives the network,
//! and a thread that had to ask there for more would stand still each time.

use gantry_archive::{Extractor, Limits};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::oneshot;

/// Jobs in order of arrival, for as many threads as there are processors.
#[derive(Debug)]
pub(super) struct Workers {
    most: usize,
    queue: Mutex<Queue>,
    /// Bytes of the bodies that wait.
    waiting: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Threads that look for jobs.
    running: usize,
    /// Buffers to reuse.
    extractors: Vec<Extractor>,
}

struct Job {
    bytes: u64,
    begins: oneshot::Sender<()>,
    work: Box<dyn FnOnce(&mut Extractor) + Send>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Job").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// A job that was handed in.
pub(super) struct Handed<T> {
    /// Answered, or closed, when it is no longer waiting.
    pub begun: oneshot::Receiver<()>,
    /// What came of it; closed if it panicked. Once this is dropped, a job that waits is not done any more.
    pub result: oneshot::Receiver<T>,
}

impl Workers {
    pub(super) fn new(most: usize) -> Self {
        Self { most, queue: Mutex::default(), waiting: AtomicU64::new(0) }
    }

    /// Bytes of the bodies that wait for a thread.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Puts a job at the end of the queue; `bytes` is the size of its body. Within a tokio runtime, whose threads are used.
    pub(super) fn hand_in<T: Send + 'static>(
        self: &Arc<Self>,
        bytes: u64,
        work: impl FnOnce(&mut Extractor) -> T + Send + 'static,
    ) -> Handed<T> {
        let (answer, result) = oneshot::channel();
        let (begins, begun) = oneshot::channel();
        let work = Box::new(move |extractor: &mut Extractor| {
            if !answer.is_closed() {
                // Nobody may be there any more to hear of it.
                let _ = answer.send(work(extractor));
            }
        });
        self.waiting.fetch_add(bytes, Ordering::Relaxed);
        let mut queue = self.queue();
        queue.jobs.push_back(Job { bytes, begins, work });
        if queue.running < self.most {
            queue.running += 1;
            drop(queue);
            let workers = Arc::clone(self);
            tokio::task::spawn_blocking(move || workers.run());
        }
        Handed { begun, result }
    }

    /// Does what is there to be done.
    fn run(&self) {
        let fresh = || Extractor::new(Limits::default());
        let mut extractor = self.queue().extractors.pop().unwrap_or_else(fresh);
        loop {
            let mut queue = self.queue();
            let Some(Job { bytes, begins, work }) = queue.jobs.pop_front() else {
                queue.running -= 1;
                queue.extractors.push(extractor);
                return;
            };
            drop(queue);
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            let _ = begins.send(());
            if catch_unwind(AssertUnwindSafe(|| work(&mut extractor))).is_err() {
                extractor = fresh();
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("no thread panics while it holds this lock")
    }
}

#[cfg(test)]
mod tests;
