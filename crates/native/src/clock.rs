//! The system's clocks.

use gantry_platform::Clock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Monotonic time since it was made, wall time, and tokio's timer.
#[derive(Debug, Clone)]
pub struct NativeClock {
    start: Instant,
}

impl Default for NativeClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for NativeClock {
    fn monotonic_milliseconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1000.0
    }

    fn unix_milliseconds(&self) -> f64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0)
    }

    async fn sleep(&self, milliseconds: f64) {
        tokio::time::sleep(Duration::from_secs_f64(milliseconds.max(0.0) / 1000.0)).await;
    }
}
