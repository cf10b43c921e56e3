//! Stopping an install from outside.
//!
//! Making the tree is work without a pause, which no dropped future ends: it looks here between two packages. From the
//! moment on where what is there is changed it looks no more, since that takes milliseconds and is better finished.

use crate::NativeError;
use std::sync::Arc;
use tokio::sync::watch;

/// A request to stop, shared between who makes it and who heeds it.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<watch::Sender<bool>>);

impl Default for Interrupt {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }
}

impl Interrupt {
    /// Asks to stop.
    pub fn raise(&self) {
        self.0.send_replace(true);
    }

    /// Whether somebody asked.
    pub fn is_raised(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until somebody asks.
    pub async fn raised(&self) {
        // Fails where the sender is gone, which `self` holds.
        let _ = self.0.subscribe().wait_for(|raised| *raised).await;
    }

    /// An error where somebody asked.
    pub(crate) fn check(&self) -> Result<(), NativeError> {
        if self.is_raised() { Err(NativeError::Interrupted) } else { Ok(()) }
    }
}
