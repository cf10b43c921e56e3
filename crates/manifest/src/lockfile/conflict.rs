//! Lock files with the conflict markers of a merge in them, settled as npm's `parse-conflict-json` settles them.
//!
//! The text holds up to three documents: what both sides share with what each of them, and their common ancestor, has
//! between the markers. What *ours* changed against the ancestor is applied on top of *theirs*, one change after the other;
//! where a change has nothing to apply to, ours is copied over. Git writes the ancestor's part only where it is configured
//! to (`merge.conflictStyle=diff3`): without it the ancestor is what lies outside of the markers, and where that alone is
//! no JSON (a comma before a conflict at the end of an object, say) npm takes the whole file for damaged, and so does this.
//!
//! Lines are joined without their ends, so positions in errors of the parts would mean nothing.

mod changes;

#[cfg(test)]
mod tests;

use changes::{Change, Operation, Step, changes_between};
use serde_json::Value;

/// Runs of at least so many equal characters are a marker, anywhere in a line.
const MARKER_LENGTH: usize = 7;

/// Names that every JavaScript object has. npm leaves changes below them alone, lest a file change all objects at once.
const OBJECT_PROPERTIES: [&str; 12] = [
    "constructor",
    "__defineGetter__",
    "__defineSetter__",
    "hasOwnProperty",
    "__lookupGetter__",
    "__lookupSetter__",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toString",
    "valueOf",
    "__proto__",
    "toLocaleString",
];

fn has_marker(text: &str, character: u8) -> bool {
    memchr::memmem::find(text.as_bytes(), &[character; MARKER_LENGTH]).is_some()
}

/// Whether a text has all three markers of a conflict. Any run of seven characters is one, as for npm.
pub(super) fn is_conflict(text: &str) -> bool {
    has_marker(text, b'<') && has_marker(text, b'=') && has_marker(text, b'>')
}

/// The line of the first marker of a text, counted from one.
pub(super) fn first_marker_line(text: &str) -> usize {
    text.lines().position(|line| has_marker(line, b'<')).map_or(1, |line| line + 1)
}

/// The document that the two sides of a conflict come to; `None` where one of the three parts is no JSON object.
pub(super) fn settle(text: &str, parse: impl Fn(&str) -> Option<Value>) -> Option<Value> {
    let parts = split(text);
    let [ancestor, ours, mut theirs] = [parts.ancestor, parts.ours, parts.theirs].map(|part| parse(&part));
    let (ancestor, ours) = (ancestor?, ours?);
    let merged = theirs.as_mut()?;
    if ![&ancestor, &ours, merged].iter().all(|document| document.is_object()) {
        return None;
    }
    for change in changes_between(&ancestor, &ours) {
        if !apply(merged, &change) {
            copy(merged, &ours, &change.path);
        }
    }
    theirs
}

#[derive(Default)]
struct Parts {
    ancestor: String,
    ours: String,
    theirs: String,
}

fn split(text: &str) -> Parts {
    #[derive(Clone, Copy, PartialEq)]
    enum Side {
        All,
        Ancestor,
        Ours,
        Theirs,
    }
    let mut parts = Parts::default();
    let mut side = Side::All;
    for line in text.split(['\n', '\r']) {
        let markers = [(b'|', Side::Ancestor), (b'<', Side::Ours), (b'=', Side::Theirs), (b'>', Side::All)];
        if let Some((_, next)) = markers.into_iter().find(|(character, _)| has_marker(line, *character)) {
            side = next;
            continue;
        }
        for (part, own) in
            [(&mut parts.ancestor, Side::Ancestor), (&mut parts.ours, Side::Ours), (&mut parts.theirs, Side::Theirs)]
        {
            if side == Side::All || side == own {
                part.push_str(line);
            }
        }
    }
    parts
}

/// Makes one change to a document. Gives false, possibly with empty objects made on the way, where npm's `diffApply` throws.
fn apply(document: &mut Value, change: &Change) -> bool {
    let Some((last, above)) = change.path.split_last() else { return true };
    if change.path.iter().any(|step| step.is("prototype")) {
        return false;
    }
    let mut place = document;
    for step in above {
        let Some(next) = step.find_or_make(place) else { return false };
        place = next;
    }
    if !matches!(change.operation, Operation::Add(_)) && last.find(place).is_none() {
        return false;
    }
    match (&change.operation, place, last) {
        (Operation::Remove, Value::Array(items), Step::Index(index)) => {
            items.remove(*index);
        }
        (Operation::Remove, Value::Object(members), step) => {
            members.shift_remove(&step.to_key());
        }
        // JavaScript lets members be added to numbers and texts, and forgets them.
        (Operation::Add(_), Value::Bool(_) | Value::Number(_) | Value::String(_), _) => {}
        (Operation::Replace(value) | Operation::Add(value), place, step) => return step.set(place, value.clone()),
        _ => {}
    }
    true
}

/// Takes over from `ours` what lies at a path, or what is above it as soon as the documents differ in kind there. What ours
/// does not have goes.
fn copy(document: &mut Value, ours: &Value, path: &[Step]) {
    let (mut to, mut from) = (document, ours);
    for (position, step) in path.iter().enumerate() {
        let below = step.find(from);
        let same_kind = match (step.find(to), below) {
            (Some(to), Some(from)) => to.is_object() && from.is_object() || to.is_array() && from.is_array(),
            _ => false,
        };
        if !same_kind || position + 1 == path.len() {
            match below {
                Some(value) => {
                    step.set(to, value.clone());
                }
                None => step.remove(to),
            }
            return;
        }
        let (Some(next_to), Some(next_from)) = (step.find_mut(to), below) else { return };
        (to, from) = (next_to, next_from);
    }
}
