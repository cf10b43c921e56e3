//! What is printed: data on standard output, everything else on standard error. Nobody reading is no failure.

use gantry_engine::{Fault, for_terminal};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Prints a line of data.
pub(crate) fn print_line(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// Prints a line of data for people.
pub(crate) fn print_text(line: &str) {
    print_line(&for_terminal(line));
}

/// Prints a line for people, beside the data.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", for_terminal(line));
}

/// Prints an error: for people, or as one JSON object with `extra` members.
pub(crate) fn print_failure(fault: &Fault, extra: Value, json: bool) {
    if !json {
        note(&format!("error {}: {}", fault.code, fault.message));
        if let Some(hint) = &fault.hint {
            note(&format!("  {hint}"));
        }
        return;
    }
    let mut object = json!({
        "type": "error",
        "code": fault.code,
        "message": fault.message,
        "hint": fault.hint,
        "package": fault.package,
    });
    if let (Value::Object(object), Value::Object(extra)) = (&mut object, extra) {
        object.extend(extra);
    }
    print_line(&object.to_string());
}

/// The exit status of an error; the numbers are the native command's.
pub(crate) fn exit_status(fault: &Fault) -> u8 {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| fault.code.starts_with(prefix));
    if starts(&["ARCHIVE_"]) {
        5
    } else if starts(&["REGISTRY_", "PACKUMENT_"]) {
        3
    } else if starts(&["DISK_", "FOLDER_", "LINK_", "PREOPEN_", "STORE_"]) {
        4
    } else {
        1
    }
}
