//! The members of a document that matter: so few that looking through them costs less than a hash table.

use std::borrow::Cow;

use serde_json::Value;

use super::value::Object;
use super::{DependencyMap, Text};

/// Members by name.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(Cow<'static, str>, Field)>);

/// The value of a member.
#[derive(Debug)]
pub(super) enum Field {
    Value(Value),
    Text(Text),
    /// An object of texts, each key once: what most of a manifest is. No hash table is made for it.
    Texts(DependencyMap),
    /// An object of which only some members were read.
    Fields(Fields),
}

impl Field {
    pub(super) fn into_value(self) -> Value {
        match self {
            Field::Value(value) => value,
            Field::Text(text) => Value::String(text.into()),
            Field::Texts(texts) => Value::Object(object_of(texts)),
            Field::Fields(fields) => Value::Object(
                fields.0.into_iter().map(|(name, field)| (name.into_owned(), field.into_value())).collect(),
            ),
        }
    }
}

impl Fields {
    /// Adds a member; of one given twice the last counts.
    pub(super) fn put(&mut self, name: &'static str, field: Field) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = field,
            None => self.0.push((Cow::Borrowed(name), field)),
        }
    }

    /// A member that was read as any value, which texts and objects of texts mostly are not.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        match self.field(name)? {
            Field::Value(value) => Some(value),
            Field::Text(_) | Field::Texts(_) | Field::Fields(_) => None,
        }
    }

    /// Whether a member is an object.
    pub(crate) fn is_object(&self, name: &str) -> bool {
        self.field(name).is_some_and(|field| match field {
            Field::Value(value) => value.is_object(),
            Field::Text(_) => false,
            Field::Texts(_) | Field::Fields(_) => true,
        })
    }

    /// Whether a member is a text.
    pub(crate) fn is_text(&self, name: &str) -> bool {
        self.field(name).is_some_and(|field| matches!(field, Field::Text(_) | Field::Value(Value::String(_))))
    }

    /// Takes a member out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.take_field(name).map(Field::into_value)
    }

    /// Takes a member out if it is an object of texts; any other is left.
    pub(crate) fn take_texts(&mut self, name: &str) -> Option<DependencyMap> {
        match self.field_mut(name)? {
            Field::Texts(texts) => Some(std::mem::take(texts)),
            Field::Value(_) | Field::Text(_) | Field::Fields(_) => None,
        }
    }

    /// Takes a member out if it is a text that is not empty; any other is left.
    pub(crate) fn take_text(&mut self, name: &str) -> Option<Text> {
        let text = match self.field_mut(name)? {
            Field::Text(text) => std::mem::take(text),
            Field::Value(Value::String(text)) => std::mem::take(text).into(),
            Field::Value(_) | Field::Texts(_) | Field::Fields(_) => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// Takes the members of a member that is an object.
    pub(crate) fn take_fields(&mut self, name: &str) -> Option<Fields> {
        match self.take_field(name)? {
            Field::Fields(fields) => Some(fields),
            Field::Value(Value::Object(members)) => Some(Fields::from(members)),
            Field::Value(_) | Field::Text(_) | Field::Texts(_) => None,
        }
    }

    /// How many members all the objects among the members have together.
    pub(crate) fn members_of_objects(&self) -> usize {
        let members = |field: &Field| match field {
            Field::Value(value) => value.as_object().map_or(0, Object::len),
            Field::Texts(texts) => texts.len(),
            Field::Fields(fields) => fields.0.len(),
            Field::Text(_) => 0,
        };
        self.0.iter().map(|(_, field)| members(field)).sum()
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, field)| field)
    }

    fn field_mut(&mut self, name: &str) -> Option<&mut Field> {
        self.0.iter_mut().find(|(known, _)| known == name).map(|(_, field)| field)
    }

    fn take_field(&mut self, name: &str) -> Option<Field> {
        let position = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(position).1)
    }
}

pub(super) fn object_of(texts: DependencyMap) -> Object {
    texts.into_iter().map(|(key, text)| (key.into(), Value::String(text.into()))).collect()
}

impl From<Object> for Fields {
    fn from(members: Object) -> Self {
        Self(members.into_iter().map(|(name, value)| (Cow::Owned(name), Field::Value(value))).collect())
    }
}
