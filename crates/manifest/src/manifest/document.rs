//! Reads the wanted top-level members of a JSON object and passes over the rest without building it.
//!
//! A `package.json` or registry version holds much that an installer never looks at (readme, maintainers, signatures). Of
//! a member given twice the last counts, as in `JSON.parse`.

use std::borrow::Cow;
use std::fmt;

use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::fields::{Field, Fields, object_of};
use super::{DependencyMap, Text};

/// The text of a document: byte order mark removed, bytes that are not UTF-8 replaced, as node reads files.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // Looking for what is wrong is much slower than finding that nothing is.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The same JSON with U+FFFD for every half of a surrogate pair that stands alone; `None` if there is none.
///
/// JavaScript's texts can hold such a half and the parser refuses it, which should not cost a whole document.
pub(crate) fn without_lone_surrogates(text: &str) -> Option<String> {
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        at += found;
        match (escaped_unit(text, at), escaped_unit(text, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(0xd800..=0xdfff), _) => {
                repaired.push_str(&text[copied..at]);
                repaired.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            // The byte behind a backslash is no escape of its own.
            _ => at = (at + 2).min(text.len()),
        }
    }
    if copied == 0 {
        return None;
    }
    repaired.push_str(&text[copied..]);
    Some(repaired)
}

/// The value of the `\uXXXX` at `at`.
fn escaped_unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.as_bytes().get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digit = |value: u16, byte: &u8| Some(value * 16 + (*byte as char).to_digit(16)? as u16);
    digits.iter().try_fold(0, digit)
}

/// The wanted members, or `None` if the document is JSON but no object.
pub(super) fn read_members(text: &str, wanted: &[&'static str]) -> Result<Option<Fields>, serde_json::Error> {
    parse_members(text, wanted).or_else(|error| match without_lone_surrogates(text) {
        Some(text) => parse_members(&text, wanted),
        None => Err(error),
    })
}

fn parse_members(text: &str, wanted: &[&'static str]) -> Result<Option<Fields>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let members = Members { wanted }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(members)
}

/// Reads the wanted members of an object; `None` for anything else.
pub(crate) struct Members<'a> {
    pub wanted: &'a [&'static str],
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Option<Fields>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Option<Fields>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut found = Fields::default();
        while let Some(wanted) = access.next_key_seed(Key { wanted: self.wanted })? {
            match wanted {
                Some(name) => found.put(name, next_field(name, &mut access)?),
                None => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Some(found))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        while access.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_bool<E>(self, _value: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _value: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _value: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _value: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _value: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// What is read of `dist`: registries put signatures and more into it.
const DIST_MEMBERS: &[&str] = &["tarball", "integrity", "shasum", "unpackedSize", "fileCount"];

fn next_field<'de, A: MapAccess<'de>>(name: &str, access: &mut A) -> Result<Field, A::Error> {
    Ok(match name {
        "dist" => {
            access.next_value_seed(Members { wanted: DIST_MEMBERS })?.map_or(Field::Value(Value::Null), Field::Fields)
        }
        _ if is_plain(name) => access.next_value_seed(Plain)?,
        _ => Field::Value(access.next_value()?),
    })
}

/// Whether a member mostly is a text or an object of texts.
fn is_plain(name: &str) -> bool {
    matches!(
        name,
        "name"
            | "version"
            | "license"
            | "deprecated"
            | "tarball"
            | "resolved"
            | "integrity"
            | "shasum"
            | "engines"
            | "dependencies"
            | "devDependencies"
            | "optionalDependencies"
            | "peerDependencies"
    )
}

/// Reads a value that mostly is a text or an object of texts.
struct Plain;

impl<'de> DeserializeSeed<'de> for Plain {
    type Value = Field;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain {
    type Value = Field;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::with_capacity(access.size_hint().unwrap_or(8));
        while let Some(key) = access.next_key::<Text>()? {
            match access.next_value_seed(Plain)? {
                Field::Text(text) => texts.push((key, text)),
                other => {
                    let mut object = object_of(texts);
                    object.insert(key.into(), other.into_value());
                    while let Some((key, value)) = access.next_entry()? {
                        object.insert(key, value);
                    }
                    return Ok(Field::Value(Value::Object(object)));
                }
            }
        }
        if is_key_twice(&texts) {
            return Ok(Field::Value(Value::Object(object_of(texts))));
        }
        Ok(Field::Texts(texts))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(access)).map(Field::Value)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Field::Value(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Field::Value(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Field::Value(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Field::Value(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Field::Text(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Field::Value(Value::Null))
    }
}

/// Most maps are so short that looking at every pair is quickest.
const SHORT_MAP: usize = 16;

fn is_key_twice(texts: &DependencyMap) -> bool {
    if texts.len() <= SHORT_MAP {
        return (1..texts.len()).any(|at| texts[..at].iter().any(|(key, _)| *key == texts[at].0));
    }
    let mut known = FxHashSet::default();
    !texts.iter().all(|(key, _)| known.insert(key.as_str()))
}

/// Recognises a wanted key without allocating for the others.
struct Key<'a> {
    wanted: &'a [&'static str],
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<&'static str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a member name")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.wanted.iter().copied().find(|wanted| *wanted == key))
    }
}
