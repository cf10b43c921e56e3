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
        None => Ok(line.to_owned()),
    });
    let text = lines.collect::<Result<Vec<_>, Failure>>()?.join("\n") + "\n";
    if text.contains(&format!("./{FOLDER}/")) {
        return Err(format!("{} imports a script in a way that is not known here", bindings.display()).into());
    }
    fs::write(&bindings, text)?;
    match fs::remove_dir_all(folder.join(FOLDER)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// What a line imports, and from where, if that is a script.
fn import(line: &str) -> Option<(&str, &str)> {
    let (names, path) = line.strip_prefix("import { ")?.split_once(" } from './")?;
    let path = path.strip_suffix("';")?;
    path.starts_with(FOLDER).then_some((names, path))
}

/// A script with a scope of its own.
fn contents(names: &str, script: &str, path: &str) -> Result<String, Failure> {
    let mut body = Vec::new();
    for line in script.lines() {
        let line = match line.strip_prefix("export ") {
            Some(rest) if rest.starts_with("function ") || rest.starts_with("async function ") => rest,
            Some(_) => return Err(format!("{path}: only functions can be exported").into()),
            None => line,
        };
        if line.starts_with("import ") {
            return Err(format!("{path}: nothing can be imported").into());
        }
        body.push(line);
    }
    Ok(format!("const {{ {names} }} = (() => {{\n{}\nreturn {{ {names} }};\n}})();", body.join("\n")))
}

#[cfg(test)]
mod tests;
