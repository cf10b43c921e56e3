//! `platform::Clock`

use crate::Report;
use gantry_platform::Clock;

/// 2020-01-01; a clock that says less is not set.
const RECENT: f64 = 1_577_836_800_000.0;

/// Checks a clock; takes about a tenth of a second.
pub async fn clock_suite(clock: &impl Clock) -> Report {
    let mut report = Report::default();
    let before = clock.monotonic_milliseconds();
    clock.sleep(60.0).await;
    let elapsed = clock.monotonic_milliseconds() - before;
    // Browsers round time for privacy, so a little less is not wrong.
    let waited = if (55.0..5_000.0).contains(&elapsed) { Ok(()) } else { Err(format!("60 ms took {elapsed} ms")) };
    report.note("sleeping takes the time asked for", waited);
    let again = clock.monotonic_milliseconds();
    report.note("monotonic time never goes back", if again >= before { Ok(()) } else { Err("it did".to_owned()) });
    let unix = clock.unix_milliseconds();
    report.note("wall time is recent", if unix > RECENT { Ok(()) } else { Err(format!("it is {unix}")) });
    clock.sleep(-1.0).await;
    report.note::<String>("a negative wait is none", Ok(()));
    report
}
