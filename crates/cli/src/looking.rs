//! Commands that look at a project and change nothing.

use crate::output::warn;
use crate::session::{Session, Traffic};
use crate::settings::Settings;
use gantry_engine::{EngineError, Event, Fault, InstallRequest};
use gantry_native::NativeHost;

/// Has the engine look at a project. Warnings are printed unless the result `is_json`.
pub fn look<T>(
    settings: Settings,
    traffic: Traffic,
    is_json: bool,
    work: impl AsyncFnOnce(&NativeHost, &InstallRequest, &mut dyn FnMut(Event)) -> Result<T, EngineError>,
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
    let found = session.run(work(&host, &settings.request, &mut listener));
    session.end(found.is_ok());
    found
}
