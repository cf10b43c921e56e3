//! The members of a document that matter: so few that looking through them costs less than a hash table.

use std::borrow::Cow;

use serde_json::Value;

use super::value::Object;

/// Members by name.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(Cow<'static, str>, Value)>);

impl Fields {
    /// Adds a member; of one given twice the last counts.
    pub(crate) fn put(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((Cow::Borrowed(name), value)),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Takes a member out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let position = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(position).1)
    }
}

impl From<Object> for Fields {
    fn from(members: Object) -> Self {
        Self(members.into_iter().map(|(name, value)| (Cow::Owned(name), value)).collect())
    }
}
