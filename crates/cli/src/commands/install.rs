//! `gantry install` and `gantry ci`

use crate::failure::{exit_status, print_failure};
use crate::options::InstallArguments;
use crate::report::Reporter;
use crate::settings::{Settings, load};
use gantry_engine::{EngineError, Event, Fault, InstallMode, Outcome, install};
use gantry_native::NativeHost;
use std::sync::{Arc, Mutex};
use tokio::runtime::Builder;

/// Runs an install; returns the exit status.
pub fn run(arguments: &InstallArguments, mode: InstallMode) -> u8 {
    match load(arguments, mode).and_then(|settings| perform(arguments, settings)) {
        Ok(()) => 0,
        Err(fault) => {
            print_failure(&fault, arguments.json);
            exit_status(&fault)
        }
    }
}

fn perform(arguments: &InstallArguments, settings: Settings) -> Result<(), Fault> {
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Fault::new("TASK_LOST", format!("the thread pool cannot be started: {error}")))?;
    let reporter = Arc::new(Mutex::new(Reporter::new(arguments.json)));
    for warning in &settings.warnings {
        locked(&reporter).event(&Event::Warning { code: warning.0.to_owned(), message: warning.1.clone() });
    }
    let host = NativeHost::new(runtime.handle().clone(), settings.host);
    let outcome: Outcome = runtime.block_on(async {
        let mut listener = |event: Event| locked(&reporter).event(&event);
        tokio::select! {
            outcome = install(&host, &settings.request, &mut listener) => outcome.map_err(|error: EngineError| error.to_fault()),
            _ = tokio::signal::ctrl_c() => Err(Fault::new("CANCELLED", "interrupted")),
        }
    })?;
    // Connections that are still open need not be waited for.
    runtime.shutdown_background();
    locked(&reporter).finish(&outcome, arguments.ignore_scripts);
    Ok(())
}

fn locked(reporter: &Mutex<Reporter>) -> std::sync::MutexGuard<'_, Reporter> {
    reporter.lock().expect("printing does not panic")
}
