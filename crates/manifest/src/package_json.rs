//! A project's `package.json` with other dependencies, or another member, written as npm writes it.
//!
//! npm (`@npmcli/package-json`) reads the whole document, replaces its lists of dependencies by sorted ones, drops those that
//! are empty, and prints everything again as `JSON.stringify` does, with the indentation and the line ends that the file
//! had. Members that are not dependencies keep their place and their values.

use std::cmp::Ordering;

use gantry_spec::compare_locale;
use serde::Serialize;
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Serializer, Value};

use crate::lockfile::nice::{first_ten, list_index};
use crate::manifest::document::text_of;
use crate::{DependencyMap, Manifest, ManifestError, Text, TextStyle};

/// The text of the `package.json` in `bytes` with the dependencies of `manifest`; `None` where nothing but white space at
/// its ends would change. `file` is what errors call it.
///
/// # Errors
/// A document that cannot be read. What JavaScript can hold and Rust cannot, half of a surrogate pair, is such a document
/// here: it would be lost.
pub fn with_dependencies(bytes: &[u8], manifest: &Manifest, file: &str) -> Result<Option<Vec<u8>>, ManifestError> {
    rewritten(bytes, file, |document| updated(document, manifest))
}

/// The same with another value of a member that is none of dependencies: in its place if it was there, else as the last one; or
/// without it.
///
/// # Errors
/// As [`with_dependencies`].
pub fn with_member(
    bytes: &[u8],
    member: &str,
    value: Option<Value>,
    file: &str,
) -> Result<Option<Vec<u8>>, ManifestError> {
    rewritten(bytes, file, |mut document| {
        match value {
            Some(value) => drop(document.insert(member.to_owned(), value)),
            None => drop(document.shift_remove(member)),
        }
        document
    })
}

fn rewritten(
    bytes: &[u8],
    file: &str,
    change: impl FnOnce(Map<String, Value>) -> Map<String, Value>,
) -> Result<Option<Vec<u8>>, ManifestError> {
    let text = text_of(bytes);
    let document = serde_json::from_str(&text).map_err(|error| ManifestError::of_json(file, &text, &error))?;
    let Value::Object(original) = document else { return Err(ManifestError::ManifestShape { file: file.to_owned() }) };
    let written = written(&as_javascript_has_it(Value::Object(change(original))), &TextStyle::detect(&text));
    Ok((written.trim() != text.trim()).then(|| written.into_bytes()))
}

fn updated(mut document: Map<String, Value>, manifest: &Manifest) -> Map<String, Value> {
    let names = |member: &str, document: &Map<String, Value>| -> Vec<String> {
        document.get(member).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let (production, peers) = (names("dependencies", &document), names("peerDependencies", &document));
    let is_optional = |name: &Text| manifest.optional_dependencies.iter().any(|(optional, _)| optional == name);
    let ordinary = manifest.dependencies.iter().filter(|(name, _)| !is_optional(name)).cloned().collect();
    let lists: [(&str, &DependencyMap); 4] = [
        ("dependencies", &ordinary),
        ("optionalDependencies", &manifest.optional_dependencies),
        ("devDependencies", &manifest.dev_dependencies),
        ("peerDependencies", &manifest.peer_dependencies),
    ];
    for (member, list) in lists {
        if list.is_empty() {
            document.shift_remove(member);
        } else {
            document.insert(member.to_owned(), sorted(list));
        }
    }
    // What was both an ordinary and a peer dependency stays both.
    for name in peers.iter().filter(|name| production.contains(name)) {
        if let Some((_, spec)) = manifest.peer_dependencies.iter().find(|(peer, _)| peer == name) {
            let list = document.entry("dependencies").or_insert_with(|| Value::Object(Map::new()));
            list[name] = spec.as_str().into();
        }
    }
    if manifest.bundle_dependencies.is_empty() {
        if !names_of_list(document.get("bundleDependencies")).is_empty() {
            document.shift_remove("bundleDependencies");
        }
    } else {
        let names = manifest.bundle_dependencies.iter().map(|name| Value::from(name.as_str()));
        document.insert("bundleDependencies".to_owned(), names.collect());
    }
    document
}

fn names_of_list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn sorted(list: &DependencyMap) -> Value {
    let mut sorted: Vec<&(Text, Text)> = list.iter().collect();
    sorted.sort_by(|(left, _), (right, _)| compare_locale(left, right));
    Value::Object(sorted.into_iter().map(|(name, spec)| (name.to_string(), spec.as_str().into())).collect())
}

/// Objects have keys that look like list indexes first, and whole numbers no fraction.
fn as_javascript_has_it(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(as_javascript_has_it).collect(),
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.into_iter().map(|(key, value)| (key, as_javascript_has_it(value))).collect();
            members.sort_by(|(left, _), (right, _)| match (list_index(left), list_index(right)) {
                (Some(left), Some(right)) => left.cmp(&right),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => Ordering::Equal,
            });
            Value::Object(members.into_iter().collect())
        }
        Value::Number(number) => Value::Number(match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough to be exact")]
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => (float as i64).into(),
            _ => number,
        }),
        other => other,
    }
}

/// Below this every whole number is exact in JavaScript.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn written(value: &Value, style: &TextStyle) -> String {
    let mut text = Vec::new();
    let outcome = if style.indent.is_empty() {
        value.serialize(&mut Serializer::new(&mut text))
    } else {
        let formatter = PrettyFormatter::with_indent(first_ten(&style.indent).as_bytes());
        value.serialize(&mut Serializer::with_formatter(&mut text, formatter))
    };
    outcome.expect("a value can always be written");
    let text = String::from_utf8(text).expect("JSON is text") + "\n";
    // Texts in it have none: they are escaped there.
    text.replace('\n', &style.newline)
}

#[cfg(test)]
mod tests;
