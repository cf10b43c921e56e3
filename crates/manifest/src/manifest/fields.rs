//! The members of a document that matter: so few that looking through them costs less than a hash table.

use std::borrow::Cow;

use serde_json::Value;

use super::DependencyMap;
use super::value::Object;

/// Members by name.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(Cow<'static, str>, Field)>);

/// The value of a member.
#[derive(Debug)]
pub(super) enum Field {
    Value(Value),
    /// An object of texts, each key once: what most of a manifest is. No hash table is made for it.
    Texts(DependencyMap),
    /// An object of which only some members were read.
    Fields(Fields),
}

impl Field {
    fn into_value(self) -> Value {
        match self {
            Field::Value(value) => value,
            Field::Texts(texts) => {
                Value::Object(texts.into_iter().map(|(key, text)| (key, Value::String(text))).collect())
            }
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

    /// A member that is not an object of texts.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        match self.field(name)? {
            Field::Value(value) => Some(value),
            Field::Texts(_) | Field::Fields(_) => None,
        }
    }

    /// Whether a member is an object.
    pub(crate) fn is_object(&self, name: &str) -> bool {
        self.field(name).is_some_and(|field| !matches!(field, Field::Value(value) if !value.is_object()))
    }

    /// Takes a member out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.take_field(name).map(Field::into_value)
    }

    /// Takes a member out if it is an object of texts; any other is left.
    pub(crate) fn take_texts(&mut self, name: &str) -> Option<DependencyMap> {
        match self.field(name)? {
            Field::Texts(_) => match self.take_field(name)? {
                Field::Texts(texts) => Some(texts),
                Field::Value(_) | Field::Fields(_) => None,
            },
            Field::Value(_) | Field::Fields(_) => None,
        }
    }

    /// Takes the members of a member that is an object.
    pub(crate) fn take_fields(&mut self, name: &str) -> Option<Fields> {
        match self.take_field(name)? {
            Field::Fields(fields) => Some(fields),
            Field::Value(Value::Object(members)) => Some(Fields::from(members)),
            Field::Value(_) | Field::Texts(_) => None,
        }
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, field)| field)
    }

    fn take_field(&mut self, name: &str) -> Option<Field> {
        let position = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(position).1)
    }
}

impl From<Object> for Fields {
    fn from(members: Object) -> Self {
        Self(members.into_iter().map(|(name, value)| (Cow::Owned(name), Field::Value(value))).collect())
    }
}
