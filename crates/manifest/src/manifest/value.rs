//! Small questions about JSON values, answered as JavaScript would, since npm's rules are stated in its terms.

use serde_json::{Map, Value};

use super::Text;

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// JavaScript's truthiness.
pub(crate) fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64().is_none_or(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Whether the lock keeps a value: npm leaves out what is falsy, and empty objects and lists.
pub(crate) fn worth_keeping(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        other => truthy(other),
    }
}

/// The strings of a list; whatever else is in it is passed over.
pub(crate) fn strings_of(items: &[Value]) -> Vec<Text> {
    items.iter().filter_map(|item| item.as_str().map(Text::from)).collect()
}
