//! Stopping an install from outside.
//!
//! Making the tree is work without a pause, which no dropped future ends: it looks here between two packages. From the
//! moment on where what is there is changed nobody is told any more that somebody asked: what is left takes milliseconds,
//! and a change that is half made would be taken for one that was not begun.

use crate::NativeError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::watch;

/// A request to stop, shared between who makes it and who heeds it.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<Request>);

#[derive(Debug)]
struct Request {
    raised: watch::Sender<bool>,
    is_too_late: AtomicBool,
}

impl Default for Interrupt {
    fn default() -> Self {
        Self(Arc::new(Request { raised: watch::Sender::new(false), is_too_late: AtomicBool::new(false) }))
    }
}

impl Interrupt {
    /// Asks to stop.
    pub fn raise(&self) {
        self.0.raised.send_replace(true);
    }

    /// Whether somebody asked.
    pub fn is_raised(&self) -> bool {
        *self.0.raised.borrow()
    }

    /// Waits until somebody asks; for ever where that came [too late](Self::pass_over).
    pub async fn raised(&self) {
        // Fails where the sender is gone, which `self` holds.
        let _ = self.0.raised.subscribe().wait_for(|raised| *raised).await;
        if self.0.is_too_late.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }

    /// From now on what was begun is finished, whoever asks.
    pub(crate) fn pass_over(&self) {
        self.0.is_too_late.store(true, Ordering::Relaxed);
    }

    /// An error where somebody asked.
    pub(crate) fn check(&self) -> Result<(), NativeError> {
        if self.is_raised() { Err(NativeError::Interrupted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::Interrupt;
    use std::time::Duration;
    use tokio::time::timeout;

    /// Whether who waits for it is told.
    async fn is_told(interrupt: &Interrupt) -> bool {
        timeout(Duration::from_secs(3600), interrupt.raised()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn an_interrupt_that_comes_when_a_change_has_begun_stops_nobody() {
        let interrupt = Interrupt::default();
        assert!(!is_told(&interrupt).await);
        interrupt.pass_over();
        interrupt.raise();
        assert!(!is_told(&interrupt).await);
        assert!(interrupt.is_raised());

        let interrupt = Interrupt::default();
        interrupt.raise();
        assert!(is_told(&interrupt).await);
    }
}
