//! Time, as the host gives it.

use gantry_platform::Clock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The host's clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WasiClock {
    start: Instant,
}

impl Default for WasiClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for WasiClock {
    fn monotonic_milliseconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1000.0
    }

    fn unix_milliseconds(&self) -> f64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0)
    }

    async fn sleep(&self, milliseconds: f64) {
        if let Ok(wait) = Duration::try_from_secs_f64(milliseconds / 1000.0) {
            std::thread::sleep(wait);
        }
    }
}
