//! Running futures on the only thread there is.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Polls `future` to its end. Nothing here waits for anything outside of the program, so a future that is neither ready nor
/// woken can never become ready: then it is `None`.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Option<T> {
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return Some(value),
            Poll::Pending if woken.0.swap(false, Ordering::Relaxed) => {}
            Poll::Pending => return None,
        }
    }
}

/// The value of a future that only reads or writes files of this crate, which answer at once.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> T {
    block_on(future).expect("files answer when they are asked")
}

#[cfg(test)]
mod tests {
    use super::block_on;
    use std::future::{pending, poll_fn};
    use std::task::Poll;

    #[test]
    fn a_future_that_wakes_itself_is_polled_again() {
        let mut polls = 0;
        let value = block_on(poll_fn(|context| {
            polls += 1;
            if polls == 3 {
                return Poll::Ready(polls);
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        assert_eq!(value, Some(3));
    }

    #[test]
    fn a_future_that_nobody_can_wake_is_given_up() {
        assert_eq!(block_on(pending::<()>()), None);
    }
}
