//! The scripts that crates bring for their bindings, put into `gantry.js`.
//!
//! wasm-bindgen leaves each in a folder named by a digest: a file more that every worker loads one after the other, under a
//! name that changes with the crate's version.

use crate::Failure;
use std::fs;
use std::path::Path;

const FOLDER: &str = "snippets";

/// Puts all scripts that `folder/gantry.js` imports into it, and removes them. Fails where one is not of the plain kind: functions
/// that are exported where they are declared, and nothing imported.
pub(super) fn put_in(folder: &Path) -> Result<(), Failure> {
    let bindings = folder.join("gantry.js");
    let text = fs::read_to_string(&bindings)?;
    let lines = text.lines().map(|line| match import(line) {
        Some((names, path)) => contents(names, &fs::read_to_string(folder.join(path))?, path),
        None if line.starts_with("import ") && line.contains(FOLDER) => {
            Err(format!("{} imports a script in a way that is not known here: {line}", bindings.display()).into())
        }
        None => Ok(line.to_owned()),
    });
    let text = lines.collect::<Result<Vec<_>, Failure>>()?.join("\n") + "\n";
    fs::write(&bindings, text)?;
    match fs::remove_dir_all(folder.join(FOLDER)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// What a binding calls a script's functions.
#[derive(Debug, PartialEq, Eq)]
enum Names<'l> {
    /// Each by its own name, with commas between them.
    Each(&'l str),
    /// All of them as members of an object, which the module itself asks for.
    All(&'l str),
}

/// What a line imports, and from where, if that is a script.
fn import(line: &str) -> Option<(Names<'_>, &str)> {
    let (what, path) = line.strip_prefix("import ")?.split_once(" from ")?;
    let path = path.trim_end_matches(';').trim_matches(['"', '\'']).strip_prefix("./")?;
    let each = what.strip_prefix("{ ").and_then(|what| what.strip_suffix(" }")).map(Names::Each);
    let names = each.or_else(|| what.strip_prefix("* as ").map(Names::All))?;
    path.starts_with(FOLDER).then_some((names, path))
}

/// A script with a scope of its own.
fn contents(names: Names<'_>, script: &str, path: &str) -> Result<String, Failure> {
    let mut body = Vec::new();
    let mut exported = Vec::new();
    for line in script.lines() {
        let line = match line.strip_prefix("export ") {
            Some(rest) => {
                let signature = rest.strip_prefix("async ").unwrap_or(rest).strip_prefix("function ");
                let name = signature.and_then(|signature| signature.split_once('('));
                exported.push(name.ok_or_else(|| format!("{path}: only functions can be exported"))?.0);
                rest
            }
            None => line,
        };
        if line.starts_with("import ") {
            return Err(format!("{path}: nothing can be imported").into());
        }
        body.push(line);
    }
    let (pattern, names) = match names {
        Names::Each(names) => (format!("{{ {names} }}"), names.to_owned()),
        Names::All(name) => (name.to_owned(), exported.join(", ")),
    };
    Ok(format!("const {pattern} = (() => {{\n{}\nreturn {{ {names} }};\n}})();", body.join("\n")))
}

#[cfg(test)]
mod tests;
