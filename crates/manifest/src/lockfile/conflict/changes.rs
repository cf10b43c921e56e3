//! What one JSON document changed against another, as a list of single changes in the order of npm's `just-diff`: removals
//! from the end, then replacements, then additions.
//!
//! Costs time in the size of both documents; recursion is bounded by the parser, which refuses documents deeper than 128.

use super::OBJECT_PROPERTIES;
use serde_json::Value;
use std::borrow::Cow;

/// One step down into a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// What happens at the end of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operation {
    Remove,
    Replace(Value),
    Add(Value),
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub(super) path: Vec<Step>,
    pub(super) operation: Operation,
}

impl Step {
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(self, Self::Key(key) if key == name)
    }

    pub(super) fn to_key(&self) -> String {
        match self {
            Self::Key(key) => key.clone(),
            Self::Index(index) => index.to_string(),
        }
    }

    pub(super) fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (value, self) {
            (Value::Object(members), step) => members.get(&step.to_key()),
            (Value::Array(items), Self::Index(index)) => items.get(*index),
            _ => None,
        }
    }

    pub(super) fn find_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        match (value, self) {
            (Value::Object(members), step) => members.get_mut(&step.to_key()),
            (Value::Array(items), Self::Index(index)) => items.get_mut(*index),
            _ => None,
        }
    }

    /// What is at this step, an empty object if there is nothing; `None` below what is neither object nor list.
    pub(super) fn find_or_make<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        if self.find(value).is_none() && !self.set(value, Value::Object(serde_json::Map::new())) {
            return None;
        }
        self.find_mut(value)
    }

    /// Puts a value at this step. Gives false where there can be none. Lists grow by nulls, as JavaScript writes the gaps
    /// of its lists; a path cannot be longer than a list of one of the documents.
    pub(super) fn set(&self, value: &mut Value, new: Value) -> bool {
        match (value, self) {
            (Value::Object(members), step) => {
                members.insert(step.to_key(), new);
            }
            (Value::Array(items), Self::Index(index)) => {
                if items.len() <= *index {
                    items.resize(*index + 1, Value::Null);
                }
                items[*index] = new;
            }
            _ => return false,
        }
        true
    }

    pub(super) fn remove(&self, value: &mut Value) {
        match (value, self) {
            (Value::Object(members), step) => {
                members.shift_remove(&step.to_key());
            }
            (Value::Array(items), Self::Index(index)) if *index < items.len() => items[*index] = Value::Null,
            _ => {}
        }
    }
}

/// The changes that lead from `old` to `new`, which must be both objects or both lists.
pub(super) fn changes_between(old: &Value, new: &Value) -> Vec<Change> {
    let mut found = Found::default();
    found.compare(old, new, (&mut Vec::new(), &mut Vec::new()));
    found.removed.reverse();
    let remove = |path| Change { path, operation: Operation::Remove };
    found.removed.into_iter().map(remove).chain(found.replaced).chain(found.added).collect()
}

#[derive(Default)]
struct Found {
    removed: Vec<Vec<Step>>,
    replaced: Vec<Change>,
    added: Vec<Change>,
}

/// The path to a value, and the same for what is removed: in a list that lost items at its front they differ.
type Paths<'p> = (&'p mut Vec<Step>, &'p mut Vec<Step>);

impl Found {
    fn compare(&mut self, old: &Value, new: &Value, (path, removal_path): Paths<'_>) {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => {
                let ordinary = |key: &&String| !OBJECT_PROPERTIES.contains(&key.as_str());
                for key in old.keys().filter(ordinary).filter(|key| !new.contains_key(*key)) {
                    self.remove(removal_path, Step::Key(key.clone()));
                }
                for (key, value) in new.iter().filter(|(key, _)| ordinary(key)) {
                    let step = Step::Key(key.clone());
                    self.compare_at(old.get(key), value, (step.clone(), step), (path, removal_path));
                }
            }
            (Value::Array(old), Value::Array(new)) => {
                let removed = old.len().saturating_sub(new.len());
                let shift = if removed > 0 && !loses_its_end(old, new) { removed } else { 0 };
                let gone = if shift > 0 { 0..removed } else { new.len()..old.len() };
                for index in gone {
                    self.remove(removal_path, Step::Index(index));
                }
                for (index, value) in new.iter().enumerate() {
                    let steps = (Step::Index(index), Step::Index(index + shift));
                    self.compare_at(old.get(index + shift), value, steps, (path, removal_path));
                }
            }
            _ => {}
        }
    }

    fn remove(&mut self, path: &[Step], step: Step) {
        let mut path = path.to_vec();
        path.push(step);
        self.removed.push(path);
    }

    fn compare_at(&mut self, old: Option<&Value>, new: &Value, steps: (Step, Step), (path, removal_path): Paths<'_>) {
        path.push(steps.0);
        removal_path.push(steps.1);
        match old {
            None => self.added.push(Change { path: path.clone(), operation: Operation::Add(new.clone()) }),
            Some(old) if old.is_object() && new.is_object() || old.is_array() && new.is_array() => {
                self.compare(old, new, (&mut *path, &mut *removal_path));
            }
            Some(old) if !is_equal(old, new) => {
                self.replaced.push(Change { path: path.clone(), operation: Operation::Replace(new.clone()) });
            }
            Some(_) => {}
        }
        path.pop();
        removal_path.pop();
    }
}

/// Whether a list that became shorter is better explained by items gone from its end than from its start.
fn loses_its_end(old: &[Value], new: &[Value]) -> bool {
    let removed = old.len() - new.len();
    let left = old.iter().zip(new).take_while(|(old, new)| text_of(old) == text_of(new)).count();
    // npm's count begins one behind the end of both lists, where nothing equals nothing, and leaves out their starts.
    let both = || old[removed..].iter().zip(new).skip(1).rev();
    let right =
        if new.is_empty() { 0 } else { 1 + both().take_while(|(old, new)| text_of(old) == text_of(new)).count() };
    left >= right
}

/// JavaScript's `===` on what is not compared member by member.
fn is_equal(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Number(old), Value::Number(new)) => old.as_f64() == new.as_f64(),
        _ => old == new,
    }
}

/// JavaScript's `String(value)`, near enough to compare by.
fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Object(_) => Cow::Borrowed("[object Object]"),
        Value::Array(items) => {
            let text = |item: &Value| if item.is_null() { String::new() } else { text_of(item).into_owned() };
            Cow::Owned(items.iter().map(text).collect::<Vec<_>>().join(","))
        }
        other => Cow::Owned(other.to_string()),
    }
}
