//! How errors are printed, and which exit status they have.

use crate::loudness::Loudness;
use crate::output::{print_line, say};
use crate::session::interruption_status;
use clap::error::ErrorKind;
use gantry_engine::Fault;
use miette::{MietteDiagnostic, MietteHandlerOpts, Report};

/// Prints an error: to stderr for people, to stdout as one JSON object where `--json` was given.
pub fn print_failure(fault: &Fault, json: bool) {
    if json {
        let object = serde_json::json!({
            "type": "error",
            "code": fault.code,
            "message": fault.message,
            "hint": fault.hint,
            "package": fault.package,
        });
        print_line(&object.to_string());
        return;
    }
    // Broken lines would break names, too, and what they are to be searched for.
    let _ = miette::set_hook(Box::new(|_| Box::new(MietteHandlerOpts::new().wrap_lines(false).build())));
    let mut diagnostic = MietteDiagnostic::new(&fault.message).with_code(fault.code.as_ref());
    diagnostic.help.clone_from(&fault.hint);
    say(Loudness::Errors, &format!("{:?}", Report::new(diagnostic)));
}

/// Ends by what clap makes of a line: wrong usage, which `--json` says as one object like every other error, or the help that
/// was asked for.
pub fn end_by_usage(error: &clap::Error) -> ! {
    let asks_for_json = std::env::args_os().any(|word| word == "--json" || word == "--json=true");
    let is_help = !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !asks_for_json || is_help {
        error.exit();
    }
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    let message = paragraphs.next().unwrap_or_default();
    let hint: Vec<&str> = paragraphs.map(|paragraph| paragraph.trim_start_matches("tip: ")).collect();
    let fault = Fault::new("WRONG_USAGE", message.trim_start_matches("error: ")).with_hint(hint.join("\n"));
    print_failure(&fault, true);
    std::process::exit(error.exit_code())
}

/// The exit status for an error; the numbers are listed in the crate's documentation and the README.
pub fn exit_status(fault: &Fault) -> u8 {
    let code = fault.code.as_ref();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| code.starts_with(prefix));
    if code == "CANCELLED" {
        interruption_status()
    } else if starts(&["ARCHIVE_"]) {
        5
    } else if starts(&["REGISTRY_", "HTTP_", "PACKUMENT_"]) {
        3
    } else if starts(&["DISK_", "STORE_", "TASK_", "PROJECT_"]) {
        4
    } else {
        1
    }
}
