//! `.npmrc` text to settings, and `npm_config_*` variables to the same shape.
//!
//! The format is npm's `ini` package: `key = value`, `key[] = value` for lists, comments after `;` or `#` (also behind a
//! value), quotes around a whole key or value, a key without `=` is `true`. Sections and what follows them are ignored, as
//! no setting of npm is in one. `${NAME}` is the environment's value, or stays as it is where there is none; `${NAME?}` is
//! then empty; a backslash before the `$` keeps it as text.

mod variables;

#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::Value;

use self::variables::expand;

/// The value of a setting.
#[derive(Clone, PartialEq, Eq)]
pub enum NpmrcValue {
    /// One value; switches are `true` or `false`.
    Text(String),
    /// The values of `key[]`, in order.
    List(Vec<String>),
    /// `null`: as if not set, and hides what lower layers say.
    Null,
}

/// Values may be credentials, so only the shape is shown.
impl fmt::Debug for NpmrcValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => formatter.write_str("Text(…)"),
            Self::List(values) => write!(formatter, "List({} values)", values.len()),
            Self::Null => formatter.write_str("Null"),
        }
    }
}

/// Reads an `.npmrc`. `lookup` gives environment variables. Each key comes once, in the order of first appearance.
///
/// No text is refused: a line that makes no sense is no setting.
pub fn parse_npmrc(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> Vec<(String, NpmrcValue)> {
    let mut raw: Vec<(String, NpmrcValue)> = Vec::new();
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).split(['\r', '\n']);
    for line in lines {
        if line.trim_start().starts_with([';', '#']) {
            continue;
        }
        if is_section(line) {
            break;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (line, None),
        };
        if line.trim().is_empty() || key.is_empty() {
            continue;
        }
        let Some(key) = one_text(unquote(key)) else { continue };
        let (key, is_list) = match key.strip_suffix("[]") {
            Some(name) if !name.is_empty() => (name, true),
            _ => (key.as_str(), false),
        };
        if key == "__proto__" {
            continue;
        }
        let value = match value.map(unquote) {
            None => Value::Bool(true),
            // `null` is no text, quoted or not.
            Some(text) if text == "null" => Value::Null,
            Some(value) => value,
        };
        add(&mut raw, key, is_list, value);
    }
    let mut settings: Vec<(String, NpmrcValue)> = Vec::with_capacity(raw.len());
    for (key, value) in raw {
        let value = match value {
            NpmrcValue::Text(text) => NpmrcValue::Text(expand(text.trim(), lookup)),
            NpmrcValue::List(items) => NpmrcValue::List(items.iter().map(|item| expand(item.trim(), lookup)).collect()),
            NpmrcValue::Null => NpmrcValue::Null,
        };
        replace(&mut settings, expand(&key, lookup), value);
    }
    settings
}

/// Turns environment variables into settings: those named `npm_config_*`, in any case, that are not empty.
///
/// `npm_config_fetch_retries` is `fetch-retries`; a name starting with `//`, which is a credential's, is kept as it is.
pub fn environment_layer(variables: impl IntoIterator<Item = (String, String)>) -> Vec<(String, NpmrcValue)> {
    const PREFIX: &str = "npm_config_";
    let variables: Vec<(String, String)> = variables.into_iter().collect();
    let lookup = |name: &str| variables.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
    let mut settings = Vec::new();
    for (name, value) in &variables {
        let prefixed = name.get(..PREFIX.len()).is_some_and(|prefix| prefix.eq_ignore_ascii_case(PREFIX));
        if !prefixed || value.is_empty() {
            continue;
        }
        let key = &name[PREFIX.len()..];
        let key = match key.chars().next() {
            None => continue,
            Some(_) if key.starts_with("//") => key.to_owned(),
            // An underscore that begins a key belongs to it, as in `_auth`.
            Some(first) => format!("{first}{}", key[first.len_utf8()..].replace('_', "-")).to_lowercase(),
        };
        replace(&mut settings, expand(&key, &lookup), option_value(value, &lookup));
    }
    settings
}

/// The value of a setting that a variable or an option gives as text. `lookup` gives environment variables.
pub fn option_value(text: &str, lookup: &dyn Fn(&str) -> Option<String>) -> NpmrcValue {
    match text.trim() {
        "null" => NpmrcValue::Null,
        text => NpmrcValue::Text(expand(text, lookup)),
    }
}

fn is_section(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('[') else { return false };
    rest.split_once(']').is_some_and(|(_, rest)| rest.trim().is_empty())
}

fn replace(settings: &mut Vec<(String, NpmrcValue)>, key: String, value: NpmrcValue) {
    match settings.iter_mut().find(|(other, _)| *other == key) {
        Some(setting) => setting.1 = value,
        None => settings.push((key, value)),
    }
}

/// A key that is a list stays one: a later line without brackets adds to it.
fn add(settings: &mut Vec<(String, NpmrcValue)>, key: &str, is_list: bool, value: Value) {
    let known = settings.iter().position(|(other, _)| other == key);
    let earlier = match known {
        Some(position) => match &settings[position].1 {
            NpmrcValue::List(items) => Some(items.clone()),
            NpmrcValue::Text(text) if is_list => Some(vec![text.clone()]),
            _ => None,
        },
        None => None,
    };
    let value = match (earlier, value) {
        (earlier, value) if is_list || earlier.is_some() => {
            let mut items = earlier.unwrap_or_default();
            items.extend(one_text(value));
            NpmrcValue::List(items)
        }
        (_, Value::Null) => NpmrcValue::Null,
        (_, Value::Array(items)) => NpmrcValue::List(items.into_iter().filter_map(one_text).collect()),
        (_, value) => match one_text(value) {
            Some(text) => NpmrcValue::Text(text),
            None => return,
        },
    };
    match known {
        Some(position) => settings[position].1 = value,
        None => settings.push((key.to_owned(), value)),
    }
}

fn one_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The meaning of a key or value as written: quoted JSON, or text up to a comment with `\;`, `\#` and `\\` unescaped.
fn unquote(written: &str) -> Value {
    let written = written.trim();
    let quoted = |quote: char| written.starts_with(quote) && written.ends_with(quote);
    if quoted('"') {
        return serde_json::from_str(written).unwrap_or_else(|_| Value::String(written.to_owned()));
    }
    if quoted('\'') {
        let inner = written.get(1..written.len().max(2) - 1).unwrap_or_default();
        return serde_json::from_str(inner).unwrap_or_else(|_| Value::String(inner.to_owned()));
    }
    let mut text = String::with_capacity(written.len());
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        match character {
            ';' | '#' => break,
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ';' | '#')) => text.push(escaped),
                Some(other) => text.extend(['\\', other]),
                None => text.push('\\'),
            },
            other => text.push(other),
        }
    }
    Value::String(text.trim().to_owned())
}
