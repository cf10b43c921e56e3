//! Prints a table of file sizes, raw and after gzip (level 9, what a static host would serve).

use crate::{Failure, root};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rows of the form `label=path,path`: files, or folders whose .js and .wasm files count.
    #[arg(required = true)]
    rows: Vec<String>,
}

struct Row {
    label: String,
    raw: u64,
    gzip: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for argument in &arguments.rows {
        let (label, paths) = argument.split_once('=').unwrap_or((argument, argument));
        let mut row = Row { label: label.to_owned(), raw: 0, gzip: 0 };
        for path in paths.split(',') {
            for file in loaded_files(&root().join(path)).map_err(|error| format!("{path}: {error}"))? {
                let contents = fs::read(&file)?;
                row.raw += contents.len() as u64;
                row.gzip += gzip_length(&contents)?;
            }
        }
        rows.push(row);
    }
    let width = rows.iter().map(|row| row.label.len()).max().unwrap_or(0);
    println!("{:width$}  {:>10}  {:>10}", "bytes", "raw", "gzip");
    for row in rows {
        println!("{:width$}  {:>10}  {:>10}", row.label, grouped(row.raw), grouped(row.gzip));
    }
    Ok(())
}

/// What of a path a page would download.
fn loaded_files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        let is_loaded = entry.extension().is_some_and(|extension| extension == "js" || extension == "wasm");
        if entry.is_dir() {
            found.extend(loaded_files(&entry)?);
        } else if is_loaded {
            found.push(entry);
        }
    }
    found.sort();
    Ok(found)
}

fn gzip_length(contents: &[u8]) -> std::io::Result<u64> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(contents)?;
    Ok(encoder.finish()?.len() as u64)
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
