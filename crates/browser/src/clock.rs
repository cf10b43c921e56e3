//! The browser's clocks.

use crate::javascript::scope;
use gantry_platform::Clock;
use js_sys::{Function, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::Performance;

/// `performance`, `Date.now()` and `setTimeout`. Monotonic times count from the same moment in all workers of a page.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BrowserClock;

thread_local! {
    /// This worker's clock, and when it was started.
    static PERFORMANCE: Option<(Performance, f64)> =
        scope().performance().map(|performance| { let origin = performance.time_origin(); (performance, origin) });
}

/// A timer that does not outlive whom it is for: a time-out of half a minute would, for every piece of every body.
struct Timer {
    handle: i32,
    resolve: Function,
}

impl Drop for Timer {
    fn drop(&mut self) {
        scope().clear_timeout_with_handle(self.handle);
        // What waits for a promise is freed when it settles, and only then. The function of a promise does not throw.
        let _ = self.resolve.call0(&JsValue::UNDEFINED);
    }
}

impl Clock for BrowserClock {
    fn monotonic_milliseconds(&self) -> f64 {
        // Asked for several times for each package: what leads there is looked up once.
        PERFORMANCE.with(|performance| performance.as_ref().map_or(0.0, |(clock, origin)| origin + clock.now()))
    }

    fn unix_milliseconds(&self) -> f64 {
        js_sys::Date::now()
    }

    async fn sleep(&self, milliseconds: f64) {
        let mut timer = None;
        let promise = Promise::new(&mut |resolve, _reject| {
            #[expect(clippy::cast_possible_truncation, reason = "a wait of weeks is not asked for")]
            let whole = milliseconds.clamp(0.0, 2e9) as i32;
            let set = scope().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, whole);
            timer = Some(Timer { handle: set.expect("a worker has setTimeout"), resolve });
        });
        // Ends with this future, also where nobody waits for it any longer.
        let _timer = timer;
        // It is never rejected.
        let _ = JsFuture::from(promise).await;
    }
}
