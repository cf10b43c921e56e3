//! How much is said to people: npm's `loglevel` and `progress`, on standard error. What a command was asked for is data and
//! is given whatever they say.

use gantry_manifest::{Config, NpmrcValue};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// How loud something has to be heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Loudness {
    /// Nothing, not even why the command failed: its exit status says that.
    Silent,
    /// Errors, and what became of the command.
    Errors,
    /// Warnings, too.
    All,
}

static ALLOWED: AtomicU8 = AtomicU8::new(Loudness::All as u8);
static PROGRESS: AtomicBool = AtomicBool::new(true);

/// Heeds the options of the command line, before anything else is read.
pub fn heed_line(settings: &[(String, NpmrcValue)]) {
    let mut line = Config::new();
    line.push_layer(settings.to_vec());
    heed(&line);
}

/// Heeds all settings.
pub fn heed(config: &Config) {
    ALLOWED.store(allowed(config.get("loglevel")) as u8, Ordering::Relaxed);
    // As npm, which draws nothing where a machine looks.
    let is_watched = !std::env::var_os("CI").is_some_and(|value| value != "false" && value != "0" && !value.is_empty());
    PROGRESS.store(config.get_bool("progress").unwrap_or(is_watched), Ordering::Relaxed);
}

/// Whether something this loud is to be said.
pub fn allows(loudness: Loudness) -> bool {
    loudness as u8 <= ALLOWED.load(Ordering::Relaxed)
}

/// Whether a moving line is wanted.
pub fn allows_progress() -> bool {
    PROGRESS.load(Ordering::Relaxed) && allows(Loudness::Errors)
}

/// Gantry has nothing to say that is less than a warning, and takes a level that npm does not know for npm's usual one.
fn allowed(level: Option<&str>) -> Loudness {
    match level {
        Some("silent") => Loudness::Silent,
        Some("error") => Loudness::Errors,
        _ => Loudness::All,
    }
}
