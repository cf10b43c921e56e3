//! Time.

use core::future::Future;

/// Wall and monotonic time, and waiting.
pub trait Clock {
    /// Milliseconds since an arbitrary start; never goes backwards.
    fn monotonic_milliseconds(&self) -> f64;
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn unix_milliseconds(&self) -> f64;
    /// Completes after `milliseconds`.
    fn sleep(&self, milliseconds: f64) -> impl Future<Output = ()>;
}
