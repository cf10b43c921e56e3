//! `gantry install` and `gantry ci`

use crate::failure::{exit_status, print_failure};
use crate::options::InstallArguments;
use crate::report::Reporter;
use crate::settings::{Settings, load};
use gantry_engine::{Event, Fault, InstallMode, Outcome, install};
use gantry_native::{Interrupt, NativeHost, ProjectLock};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// How long an install that failed waits for work that cannot be dropped: unpacking, which then removes what it has
/// begun, and look-ups of addresses, which may hang.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs an install; returns the exit status.
pub fn run(arguments: &InstallArguments, mode: InstallMode) -> u8 {
    // Before the project is read: else another install could change it in between.
    let outcome = ProjectLock::take(&arguments.prefix)
        .map_err(Fault::from)
        .and_then(|lock| load(arguments, mode).and_then(|settings| perform(arguments, settings, lock)));
    match outcome {
        Ok(()) => 0,
        Err(fault) => {
            print_failure(&fault, arguments.json);
            exit_status(&fault)
        }
    }
}

fn perform(arguments: &InstallArguments, settings: Settings, lock: Option<ProjectLock>) -> Result<(), Fault> {
    let lost = |error: std::io::Error| Fault::new("TASK_LOST", format!("the thread pool cannot be started: {error}"));
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(lost)?;
    let interrupt = Interrupt::default();
    {
        let _entered = runtime.enter();
        let mut pressed = signal(SignalKind::interrupt()).map_err(lost)?;
        let interrupt = interrupt.clone();
        runtime.spawn(async move {
            pressed.recv().await;
            interrupt.raise();
            // Who presses again does not want to wait.
            pressed.recv().await;
            std::process::exit(130);
        });
    }
    let reporter = Arc::new(Mutex::new(Reporter::new(arguments)));
    for warning in &settings.warnings {
        locked(&reporter).event(&Event::Warning { code: warning.0.to_owned(), message: warning.1.clone() });
    }
    let mut host = NativeHost::new(runtime.handle().clone(), settings.host).with_interrupt(interrupt.clone());
    if let Some(lock) = lock {
        host = host.with_lock(lock);
    }
    let mut listener = |event: Event| locked(&reporter).event(&event);
    let mut attempt = || -> Result<Outcome, Fault> {
        runtime.block_on(async {
            tokio::select! {
                outcome = install(&host, &settings.request, &mut listener) => outcome.map_err(|error| error.to_fault()),
                () = interrupt.raised() => Err(interrupted()),
            }
        })
    };
    let mut outcome = attempt();
    if let Err(fault) = &outcome
        && fault.code == "STORE_CORRUPT"
    {
        // It has left the store, so this time it is fetched.
        let message = format!("{}; it is fetched again", fault.message);
        locked(&reporter).event(&Event::Warning { code: fault.code.to_string(), message });
        outcome = attempt();
    }
    if outcome.is_ok() {
        // Connections that are still open need not be waited for.
        runtime.shutdown_background();
    } else {
        runtime.shutdown_timeout(PATIENCE);
    }
    let outcome = outcome?;
    locked(&reporter).finish(&outcome, arguments.ignore_scripts);
    if interrupt.is_raised() {
        return Err(Fault::new("CANCELLED", "interrupted when everything was in place already"));
    }
    Ok(())
}

fn locked(reporter: &Mutex<Reporter>) -> std::sync::MutexGuard<'_, Reporter> {
    reporter.lock().expect("printing does not panic")
}

fn interrupted() -> Fault {
    Fault::new("CANCELLED", "interrupted").with_hint("Run again to finish; what has been fetched is kept.")
}
