//! `gantry-micro`: the session behind a pipe, and the maker of inputs.
//!
//! `gantry-micro session` reads a command a line; `{"open": "file"}` takes an input from a file.
//! `gantry-micro generate packuments typescript full 3478 FILE`, `generate tarballs 200 FILE`, `generate project 1000 FILE`
//! write inputs; `gantry-micro needed FROM TO` keeps of a project's packuments those that its resolution asks for.

#![expect(clippy::disallowed_methods, reason = "a program for measurements: it reads files and needs a clock")]

use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::LazyLock;
use std::time::Instant;

use bytes::Bytes;
use gantry_micro::{Bundle, Session, generate, needed_documents};
use serde_json::{Value, json};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["session"] => serve(),
        ["generate", "packuments", shape, form, versions, file] => {
            write(file, &generate::packuments(shape.parse()?, form.parse()?, versions.parse()?))
        }
        ["generate", "tarballs", count, file] => write(file, &generate::tarballs(count.parse()?)),
        ["generate", "project", packages, file] => write(file, &generate::project(packages.parse()?)),
        ["needed", from, to] => write(to, &needed_documents(&read(from)?)?),
        _ => Err("session | generate packuments SHAPE FORM VERSIONS FILE | generate tarballs COUNT FILE | generate project PACKAGES FILE | needed FROM TO".into()),
    }
}

fn read(file: &str) -> Result<Bundle, Box<dyn Error>> {
    Ok(Bundle::parse(Bytes::from(std::fs::read(file).map_err(|error| format!("{file}: {error}"))?))?)
}

fn write(file: &str, bundle: &Bundle) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(file, bundle.to_bytes()).map_err(|error| format!("{file}: {error}"))?)
}

fn serve() -> Result<(), Box<dyn Error>> {
    let mut session = Session::new(|| START.elapsed().as_secs_f64() * 1e3);
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let file = serde_json::from_str::<Value>(&line)?.get("open").and_then(Value::as_str).map(str::to_owned);
        let answer = match file.map(|file| read(&file)) {
            None => session.command(&line),
            Some(Ok(bundle)) => session.open(bundle),
            Some(Err(error)) => json!({ "error": error.to_string() }).to_string(),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}
