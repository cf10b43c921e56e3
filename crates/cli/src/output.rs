//! Printing that outlives its reader.
//!
//! `println!` ends the process when nobody reads any more, which in the middle of an install would be the reader's doing to
//! the tree. Here a closed pipe ends the printing only; another failure is told once on standard error.

use crate::loudness::{Loudness, allows};
use gantry_engine::{for_terminal, warning_line};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_FAILED: AtomicBool = AtomicBool::new(false);
static DATA_LOST: AtomicBool = AtomicBool::new(false);

/// Whether data that somebody wanted could not be written. Who closes a pipe does not want more.
pub fn has_lost_data() -> bool {
    DATA_LOST.load(Ordering::Relaxed)
}

/// Prints data for people to standard output.
pub fn print_text(text: &str) {
    print_line(&for_terminal(text));
}

/// Prints a line of data to standard output, as it is.
pub fn print_line(line: &str) {
    if STDOUT_FAILED.load(Ordering::Relaxed) {
        return;
    }
    if let Err(error) = write(&mut io::stdout().lock(), line) {
        STDOUT_FAILED.store(true, Ordering::Relaxed);
        if error.kind() != io::ErrorKind::BrokenPipe {
            DATA_LOST.store(true, Ordering::Relaxed);
            say(Loudness::All, &format!("warning: standard output cannot be written any more: {error}"));
        }
    }
}

/// Prints a line for people to standard error if they want to hear what is so loud. Who does not read it loses nothing else.
pub fn say(loudness: Loudness, line: &str) {
    if allows(loudness) {
        note(line);
    }
}

/// Prints a warning for people.
pub fn warn(code: &str, message: &str) {
    say(Loudness::All, &warning_line(code, message));
}

/// Prints for people to standard error what they asked for by an option.
pub fn note(line: &str) {
    let _ = write(&mut io::stderr().lock(), &for_terminal(line));
}

fn write(to: &mut impl Write, line: &str) -> io::Result<()> {
    to.write_all(format!("{line}\n").as_bytes())?;
    to.flush()
}
