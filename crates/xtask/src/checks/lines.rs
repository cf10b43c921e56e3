//! The checks that look at text line by line. What is looked for is put together from parts, so that this file passes.

use std::collections::BTreeSet;
use std::fmt;

/// Something that must not be there.
#[derive(Debug, PartialEq)]
pub(super) struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    pub(super) fn new(path: &str, line: usize, what: String) -> Self {
        Self { path: path.to_owned(), line, what }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Files with code that people write.
pub(super) fn is_source(path: &str) -> bool {
    [".rs", ".ts", ".tsx", ".mjs"].iter().any(|ending| path.ends_with(ending))
}

/// Lines that spell a registry's host.
pub(super) fn spelled_hosts(path: &str, text: &str, hosts: &BTreeSet<String>) -> Vec<Finding> {
    each_line(text, |number, line| {
        let line = line.to_ascii_lowercase();
        let host = hosts.iter().find(|host| line.contains(host.as_str()))?;
        Some(Finding::new(path, number, format!("spells the registry host {host}")))
    })
}

/// The folders that only exist on the machine of whoever wrote the line.
pub(super) fn machine_folders() -> BTreeSet<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let mut folders: BTreeSet<String> = ["root", "work"].iter().map(|name| format!("/{name}/")).collect();
    if home.matches('/').count() > 1 {
        folders.insert(format!("{}/", home.trim_end_matches('/')));
    }
    folders
}

/// Lines that spell one of those folders as the start of an absolute path.
pub(super) fn spelled_folders(path: &str, text: &str, folders: &BTreeSet<String>) -> Vec<Finding> {
    let starts_path = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || "_-.~/)}@*$".contains(c));
    each_line(text, |number, line| {
        let folder = folders
            .iter()
            .find(|folder| line.match_indices(folder.as_str()).any(|(index, _)| starts_path(&line[..index])))?;
        Some(Finding::new(path, number, format!("spells the machine's folder {folder}")))
    })
}

/// Lines with unfinished code or with a test that does not run.
pub(super) fn unfinished(path: &str, text: &str) -> Vec<Finding> {
    let in_rust = [["todo", "!("].concat(), ["unimpl", "emented!("].concat(), ["#[", "ignore"].concat()];
    let in_script = ["test", "it", "describe"]
        .iter()
        .flat_map(|name| ["skip", "only", "todo", "fixme"].map(|suffix| format!("{name}.{suffix}(")))
        .collect::<Vec<_>>();
    let words = if path.ends_with(".rs") { &in_rust[..] } else { &in_script[..] };
    each_line(text, |number, line| {
        let word = words.iter().find(|word| starts_word(line, word))?;
        Some(Finding::new(path, number, format!("{word}…")))
    })
}

/// Whether `word` stands in `line` other than as the end of a longer name.
fn starts_word(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(index, _)| !line[..index].ends_with(|before: char| before.is_alphanumeric() || "_.".contains(before)))
}

fn each_line(text: &str, mut check: impl FnMut(usize, &str) -> Option<Finding>) -> Vec<Finding> {
    text.lines().enumerate().filter_map(|(index, line)| check(index + 1, line)).collect()
}
