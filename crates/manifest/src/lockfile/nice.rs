//! JSON text in the order of npm's `json-stringify-nice`, as every lock file of npm is written.
//!
//! In each object what is no object comes first, then the objects; within both groups a few keys lead in a fixed order
//! and the others follow in the order of the English collation. Lists count as no objects and keep their order. Keys that
//! look like list indexes come before all others, since JavaScript's own objects put them there.

use std::cmp::Ordering;
use std::ops::Range;

use gantry_spec::compare_locale;
use serde_json::{Number, Value};

use crate::style::{DEFAULT_INDENT, DEFAULT_NEWLINE};
use crate::{Text, TextStyle};

/// Keys that lead, in this order.
const LEADING_KEYS: [&str; 8] =
    ["name", "version", "lockfileVersion", "resolved", "integrity", "requires", "packages", "dependencies"];

/// A value to be written. It is borrowed from where it is: a lock has tens of thousands of them.
pub(super) enum Part<'a> {
    Text(&'a str),
    True,
    List(&'a [Text]),
    /// An object of texts.
    Pairs(&'a [(Text, Text)]),
    Members(Members<'a>),
    /// An object whose members are in order, and whose values were written at the depth they are to have.
    Written(Vec<(&'a str, &'a str)>),
    Value(&'a Value),
}

impl Part<'_> {
    fn is_object(&self) -> bool {
        match self {
            Part::Pairs(_) | Part::Members(_) | Part::Written(_) => true,
            Part::Value(value) => value.is_object(),
            Part::Text(_) | Part::True | Part::List(_) => false,
        }
    }
}

/// An object to be written, in any order.
#[derive(Default)]
pub(super) struct Members<'a>(Vec<(&'a str, Part<'a>)>);

impl<'a> Members<'a> {
    pub(super) fn with_capacity(members: usize) -> Self {
        Self(Vec::with_capacity(members))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets one of few members.
    pub(super) fn set(&mut self, key: &'a str, part: Part<'a>) {
        self.remove(key);
        self.add(key, part);
    }

    /// Adds one of many members; of those with one key the last is written.
    pub(super) fn add(&mut self, key: &'a str, part: Part<'a>) {
        self.0.push((key, part));
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.0.retain(|(known, _)| *known != key);
    }
}

/// The text of an object, with the line end at its end.
pub(super) fn to_text(object: Members<'_>, style: &TextStyle) -> Vec<u8> {
    let mut writer = Writer::new(style, 0);
    writer.part(Part::Members(object));
    writer.text.push_str(writer.newline);
    writer.text.into_bytes()
}

/// The values of an object's members at `depth`, one after the other, and where each is, in the order that they are written in.
pub(super) fn to_parts<'a>(
    object: Members<'a>,
    depth: usize,
    style: &TextStyle,
) -> (String, Vec<(&'a str, Range<usize>)>) {
    let mut writer = Writer::new(style, depth);
    let members = in_order(object.0.into_iter());
    let parts = members.into_iter().map(|(Rank { key, .. }, part)| {
        let start = writer.text.len();
        writer.part(part);
        (key, start..writer.text.len())
    });
    let parts = parts.collect();
    (writer.text, parts)
}

/// The members of an object as they are written; of those with one key the last.
fn in_order<'a>(members: impl Iterator<Item = (&'a str, Part<'a>)>) -> Vec<(Rank<'a>, Part<'a>)> {
    let mut sorted: Vec<(Rank<'a>, Part<'a>)> =
        members.map(|(key, part)| (Rank::of(key, part.is_object()), part)).collect();
    sorted.sort_by(|(left, _), (right, _)| left.compare(right));
    sorted.dedup_by(|later, kept| {
        let is_same = later.0.key == kept.0.key;
        if is_same {
            std::mem::swap(later, kept);
        }
        is_same
    });
    sorted
}

/// `JSON.stringify` uses no more than ten characters of indentation.
pub(crate) fn first_ten(indent: &str) -> &str {
    indent.char_indices().nth(10).map_or(indent, |(end, _)| &indent[..end])
}

struct Writer<'a> {
    text: String,
    indent: &'a str,
    newline: &'a str,
    depth: usize,
}

impl<'s> Writer<'s> {
    fn new(style: &'s TextStyle, depth: usize) -> Self {
        Self {
            text: String::new(),
            // npm falls back on its default where a project's file is written on one line.
            indent: if style.indent.is_empty() { DEFAULT_INDENT } else { first_ten(&style.indent) },
            newline: if style.newline.is_empty() { DEFAULT_NEWLINE } else { &style.newline },
            depth,
        }
    }

    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Text(text) => self.string(text),
            Part::True => self.text.push_str("true"),
            Part::List(items) => self.list(items.iter().map(|item| Part::Text(item))),
            Part::Pairs(pairs) => self.object(pairs.iter().map(|(key, text)| (key.as_str(), Part::Text(text)))),
            Part::Members(members) => self.object(members.0.into_iter()),
            Part::Written(members) => self.written(&members),
            Part::Value(value) => self.value(value),
        }
    }

    /// Recursion is bounded: the parser refuses documents deeper than 128.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(flag) => self.text.push_str(if *flag { "true" } else { "false" }),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.list(items.iter().map(Part::Value)),
            Value::Object(members) => {
                self.object(members.iter().map(|(key, value)| (key.as_str(), Part::Value(value))));
            }
        }
    }

    fn object<'a>(&mut self, members: impl Iterator<Item = (&'a str, Part<'a>)>) {
        let sorted = in_order(members);
        if sorted.is_empty() {
            return self.text.push_str("{}");
        }
        self.text.push('{');
        self.depth += 1;
        for (position, (Rank { key, .. }, part)) in sorted.into_iter().enumerate() {
            self.line(position);
            self.string(key);
            self.text.push_str(": ");
            self.part(part);
        }
        self.close('}');
    }

    fn written(&mut self, members: &[(&str, &str)]) {
        if members.is_empty() {
            return self.text.push_str("{}");
        }
        let around = self.newline.len() + 2 * self.indent.len() + r#""": ,"#.len();
        self.text.reserve(members.iter().map(|(key, value)| key.len() + value.len() + around).sum());
        self.text.push('{');
        self.depth += 1;
        for (position, (key, value)) in members.iter().enumerate() {
            self.line(position);
            self.string(key);
            self.text.push_str(": ");
            self.text.push_str(value);
        }
        self.close('}');
    }

    fn list<'a>(&mut self, items: impl ExactSizeIterator<Item = Part<'a>>) {
        if items.len() == 0 {
            return self.text.push_str("[]");
        }
        self.text.push('[');
        self.depth += 1;
        for (position, item) in items.enumerate() {
            self.line(position);
            self.part(item);
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
        // Nearly no text of a lock has anything to escape, so a loop without a way out is the quickest.
        if text.bytes().fold(true, |plain, byte| plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\')) {
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

/// What decides a member's place.
struct Rank<'a> {
    /// `u32::MAX` is no index.
    index: u32,
    is_object: bool,
    leading: usize,
    key: &'a str,
}

impl<'a> Rank<'a> {
    fn of(key: &'a str, is_object: bool) -> Self {
        let leading = LEADING_KEYS.iter().position(|leading| *leading == key).unwrap_or(LEADING_KEYS.len());
        Self { index: list_index(key).unwrap_or(u32::MAX), is_object, leading, key }
    }

    fn compare(&self, other: &Self) -> Ordering {
        let before_keys = |rank: &Self| (rank.index, rank.is_object, rank.leading);
        before_keys(self).cmp(&before_keys(other)).then_with(|| compare_locale(self.key, other.key))
    }
}

/// Keys such as `0` and `42`, which JavaScript orders as numbers before all others.
pub(crate) fn list_index(key: &str) -> Option<u32> {
    key.as_bytes().first()?.is_ascii_digit().then_some(())?;
    let index: u32 = key.parse().ok()?;
    (index != u32::MAX && index.to_string() == key).then_some(index)
}
