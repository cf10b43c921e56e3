//! JSON text in the order of npm's `json-stringify-nice`, as every lock file of npm is written.
//!
//! In each object what is no object comes first, then the objects; within both groups a few keys lead in a fixed order
//! and the others follow in the order of the English collation. Lists count as no objects and keep their order. Keys that
//! look like list indexes come before all others, since JavaScript's own objects put them there.

use std::cmp::Ordering;

use gantry_spec::compare_locale;
use serde_json::{Number, Value};

use crate::TextStyle;
use crate::manifest::value::Object;

/// Keys that lead, in this order.
const LEADING_KEYS: [&str; 8] =
    ["name", "version", "lockfileVersion", "resolved", "integrity", "requires", "packages", "dependencies"];

/// The text of an object, with the line end at its end.
pub(super) fn to_text(object: &Object, style: &TextStyle) -> Vec<u8> {
    let default = TextStyle::default();
    let mut writer = Writer {
        text: String::new(),
        // npm falls back on its default where a project's file is written on one line.
        indent: if style.indent.is_empty() { &default.indent } else { first_ten(&style.indent) },
        newline: if style.newline.is_empty() { &default.newline } else { &style.newline },
        depth: 0,
    };
    writer.object(object);
    writer.text.push_str(writer.newline);
    writer.text.into_bytes()
}

/// `JSON.stringify` uses no more than ten characters of indentation.
fn first_ten(indent: &str) -> &str {
    indent.char_indices().nth(10).map_or(indent, |(end, _)| &indent[..end])
}

struct Writer<'a> {
    text: String,
    indent: &'a str,
    newline: &'a str,
    depth: usize,
}

impl Writer<'_> {
    /// Recursion is bounded: the parser refuses documents deeper than 128.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(flag) => self.text.push_str(if *flag { "true" } else { "false" }),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.list(items),
            Value::Object(members) => self.object(members),
        }
    }

    fn object(&mut self, members: &Object) {
        if members.is_empty() {
            return self.text.push_str("{}");
        }
        let mut sorted: Vec<(&str, &Value)> = members.iter().map(|(key, value)| (key.as_str(), value)).collect();
        sorted.sort_by(compare_members);
        self.text.push('{');
        self.depth += 1;
        for (position, (key, value)) in sorted.into_iter().enumerate() {
            self.line(position);
            self.string(key);
            self.text.push_str(": ");
            self.value(value);
        }
        self.close('}');
    }

    fn list(&mut self, items: &[Value]) {
        if items.is_empty() {
            return self.text.push_str("[]");
        }
        self.text.push('[');
        self.depth += 1;
        for (position, item) in items.iter().enumerate() {
            self.line(position);
            self.value(item);
        }
        self.close(']');
    }

    fn line(&mut self, position: usize) {
        if position > 0 {
            self.text.push(',');
        }
        self.break_line();
    }

    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        self.break_line();
        self.text.push(bracket);
    }

    fn break_line(&mut self) {
        self.text.push_str(self.newline);
        for _ in 0..self.depth {
            self.text.push_str(self.indent);
        }
    }

    fn string(&mut self, text: &str) {
        // Nearly no text of a lock has anything to escape.
        if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            self.text.push('"');
            self.text.push_str(text);
            self.text.push('"');
        } else {
            self.text.push_str(&serde_json::to_string(text).expect("a text can always be written"));
        }
    }

    /// As JavaScript prints numbers, for the few that occur: whole ones have no fraction.
    fn number(&mut self, number: &Number) {
        match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e21 => {
                self.text.push_str(&format!("{float:.0}"));
            }
            _ => self.text.push_str(&number.to_string()),
        }
    }
}

fn compare_members((left_key, left): &(&str, &Value), (right_key, right): &(&str, &Value)) -> Ordering {
    match (list_index(left_key), list_index(right_key)) {
        (Some(left), Some(right)) => return left.cmp(&right),
        (Some(_), None) => return Ordering::Less,
        (None, Some(_)) => return Ordering::Greater,
        (None, None) => {}
    }
    let place = |key: &str| LEADING_KEYS.iter().position(|leading| *leading == key).unwrap_or(LEADING_KEYS.len());
    (left.is_object().cmp(&right.is_object()))
        .then_with(|| place(left_key).cmp(&place(right_key)))
        .then_with(|| compare_locale(left_key, right_key))
}

/// Keys such as `0` and `42`, which JavaScript orders as numbers before all others.
fn list_index(key: &str) -> Option<u32> {
    let index: u32 = key.parse().ok()?;
    (index != u32::MAX && index.to_string() == key).then_some(index)
}
