//! Commands that look at a project and change nothing.

use crate::output::warn;
use crate::session::{Session, Traffic, twice_if_corrupt};
use crate::settings::Settings;
use gantry_engine::{EngineError, Event, Fault, InstallRequest, left_changed_for_others};
use gantry_native::NativeHost;
use std::path::Path;

/// Has the engine look at a project, twice where a package in the store was damaged. Warnings are printed unless the result
/// `is_json`.
pub fn look<T>(
    settings: Settings,
    traffic: Traffic,
    is_json: bool,
    work: impl AsyncFn(&NativeHost, &InstallRequest, &mut dyn FnMut(Event)) -> Result<T, EngineError>,
) -> Result<T, Fault> {
    let session = Session::start(traffic, is_json)?;
    let tell = |code: &str, message: &str| {
        if !is_json {
            warn(code, message);
        }
    };
    for (code, message) in &settings.warnings {
        tell(code, message);
    }
    let mut listener = |event: Event| {
        if let Event::Warning { code, message } = event {
            tell(&code, &message);
        }
    };
    let host = NativeHost::new(session.handle(), settings.host).with_interrupt(session.interrupt().clone());
    if let Some((code, message)) = left_changed_for_others(host.left_changed()) {
        tell(code, &message);
    }
    let attempt = || session.run(work(&host, &settings.request, &mut listener));
    let found = twice_if_corrupt(attempt, |message| tell("STORE_CORRUPT", &message));
    session.end(found.is_ok());
    found
}

/// The path of a folder of the project.
pub fn absolute(project: &Path, location: &str) -> String {
    let path = if location.is_empty() { project.to_owned() } else { project.join(location) };
    path.display().to_string()
}
