//! Threads beside the one that drives a command, for work that a runtime cannot drop.
//!
//! Where the system allows no more of them (`ulimit -u`, a container's limit) whoever wants one is told so and goes on without:
//! a runtime's own pool panics then, or has what it was given wait for threads that never end.

use std::io;
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;
use tokio::sync::oneshot;

/// How many threads have something in hand.
static BUSY: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

fn busy() -> MutexGuard<'static, usize> {
    BUSY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something in hand, which [`settle_threads`] waits for.
pub(crate) struct InHand(());

impl InHand {
    pub fn new() -> Self {
        *busy() += 1;
        Self(())
    }
}

impl Drop for InHand {
    fn drop(&mut self) {
        *busy() -= 1;
        ENDED.notify_all();
    }
}

/// Has a thread of its own do `work`; it is not done if there is none.
pub(crate) fn start(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let in_hand = InHand::new();
    let work = move || {
        let _in_hand = in_hand;
        work();
    };
    Builder::new().spawn(work).map(drop)
}

/// Has a thread of its own do `work` with something, which is given back if there is none: what a thread that cannot be started was to
/// do is lost with it.
pub(crate) fn start_with<W: Send + 'static, T: Send + 'static>(
    with: W,
    work: impl FnOnce(W) -> T + Send + 'static,
) -> Result<JoinHandle<T>, W> {
    let (give, given) = channel();
    match Builder::new().spawn(move || work(given.recv().expect("it is sent at once"))) {
        Ok(thread) => give.send(with).map(|()| thread).map_err(|error| error.0),
        Err(_) => Err(with),
    }
}

/// Has a thread of its own do `work`, or this one where the system allows none: all else stands still meanwhile. `None` if it panicked.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, result) = oneshot::channel();
    let in_hand = InHand::new();
    let started = start_with(work, move |work| {
        let _in_hand = in_hand;
        // Nobody may wait for it any more.
        let _ = answer.send(work());
    });
    match started {
        Ok(_) => result.await.ok(),
        Err(work) => Some(work()),
    }
}

/// Waits for what threads have in hand, at most so long.
pub fn settle_threads(patience: Duration) {
    // That it takes longer is fine.
    let _ = ENDED.wait_timeout_while(busy(), patience, |busy| *busy > 0);
}

/// Whether the system would allow so many more threads now.
pub fn allows_threads(count: usize) -> bool {
    let mut senders = Vec::with_capacity(count);
    let mut started = Vec::with_capacity(count);
    for _ in 0..count {
        let (sender, receiver) = channel::<()>();
        match Builder::new().stack_size(64 << 10).spawn(move || receiver.recv().is_ok()) {
            Ok(thread) => started.push(thread),
            Err(_) => break,
        }
        senders.push(sender);
    }
    let allowed = started.len();
    drop(senders);
    for thread in started {
        // It ends with its sender.
        let _ = thread.join();
    }
    allowed == count
}

/// Has `work` done by as many threads at once as there are processors, or `most`, whichever is less: this one and such as the system
/// allows beside it.
pub(crate) fn together(most: usize, work: impl Fn() + Sync) {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 1..processors.min(most) {
            // Where the system allows no more threads, those that are there do it.
            let _ = Builder::new().spawn_scoped(scope, &work);
        }
        work();
    });
}
