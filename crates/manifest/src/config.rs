//! Settings in layers, and what follows from them: registries of scopes and credentials of addresses.
//!
//! A setting is looked for from the layer pushed first to the last one; npm's order is command line, environment, project,
//! user, global, defaults. Neither [`Config`] nor [`Authorization`] shows a value when printed.

mod credentials;

pub use credentials::without_userinfo;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use crate::NpmrcValue;

/// Layered settings; the layer pushed first wins.
#[derive(Clone, Default)]
pub struct Config {
    layers: Vec<Vec<(String, NpmrcValue)>>,
}

/// What to send as `Authorization`.
#[derive(Clone, PartialEq, Eq)]
pub enum Authorization {
    /// A token.
    Bearer(String),
    /// `user:password` in base64.
    Basic(String),
}

/// Shows the kind, never the secret.
impl fmt::Debug for Authorization {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bearer(_) => "Bearer(…)",
            Self::Basic(_) => "Basic(…)",
        })
    }
}

/// Shows the number of layers; values may be secrets.
impl fmt::Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Config").field("layers", &self.layers.len()).finish_non_exhaustive()
    }
}

impl Config {
    /// No settings.
    pub fn new() -> Config {
        Config::default()
    }

    /// Adds a layer below those already there.
    pub fn push_layer(&mut self, entries: Vec<(String, NpmrcValue)>) {
        self.layers.push(entries);
    }

    /// The value of a setting; of a list the first one.
    pub fn get(&self, key: &str) -> Option<&str> {
        match self.find(key)? {
            NpmrcValue::Text(text) => Some(text),
            NpmrcValue::List(values) => values.first().map(String::as_str),
            NpmrcValue::Null => None,
        }
    }

    /// The text of a setting, if it is one: npm takes the empty text, `null` and `false` for none.
    pub fn get_text(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|text| !matches!(*text, "" | "null" | "false"))
    }

    /// The value of a switch: numbers are true unless zero, other texts unless they are `false`.
    pub fn get_bool(&self, key: &str) -> Option<bool> {
        self.get(key).map(is_on)
    }

    /// All values of a setting. In one text they are separated by an empty line, as npm hands them to scripts.
    pub fn get_list(&self, key: &str) -> Vec<String> {
        match self.find(key) {
            Some(NpmrcValue::Text(text)) => text.split("\n\n").map(|value| value.trim().to_owned()).collect(),
            Some(NpmrcValue::List(values)) => values.clone(),
            Some(NpmrcValue::Null) | None => Vec::new(),
        }
    }

    /// Which of two settings counts that say the same in two ways: the one in the higher layer, in the same one `first`.
    pub fn more_specific<'a>(&self, first: &'a str, second: &'a str) -> Option<&'a str> {
        let has = |layer: &[(String, NpmrcValue)], key: &str| layer.iter().any(|(other, _)| other == key);
        self.layers.iter().find_map(|layer| [first, second].into_iter().find(|key| has(layer, key)))
    }

    /// The value of a switch that an older setting, a number, turns on: whichever of the two comes last in the highest layer
    /// that has a say. A number that turns nothing on has none.
    pub fn get_bool_or_number(&self, switch: &str, number: &str, turns_on: impl Fn(f64) -> bool) -> Option<bool> {
        let says = |(key, value): &(String, NpmrcValue)| match value {
            NpmrcValue::Text(text) if key == switch => Some(is_on(text)),
            NpmrcValue::Text(text) if key == number => text.trim().parse().is_ok_and(&turns_on).then_some(true),
            _ => None,
        };
        self.layers.iter().find_map(|layer| layer.iter().rev().find_map(says))
    }

    /// The registry of a package, ending in `/`: its scope's, else that of the setting `scope`, else `registry`, else the
    /// default.
    pub fn registry_for(&self, package: &str, default: &str) -> String {
        let of_scope = |scope: &str| self.address(&format!("@{}:registry", scope.trim_start_matches('@')));
        let own_scope = package.split_once('/').map(|(scope, _)| scope).filter(|scope| scope.starts_with('@'));
        let registry = own_scope
            .and_then(of_scope)
            .or_else(|| self.get("scope").filter(|scope| !scope.is_empty()).and_then(of_scope))
            .or_else(|| self.address("registry"))
            .unwrap_or(default);
        format!("{}/", registry.trim_end_matches('/'))
    }

    /// An empty address is invalid to npm, which then looks at the next layer.
    fn address(&self, key: &str) -> Option<&str> {
        let values = self.layers.iter().flatten().filter(|(other, _)| other == key);
        let mut texts = values.filter_map(|(_, value)| match value {
            NpmrcValue::Text(text) => Some(text.trim()),
            NpmrcValue::List(values) => values.first().map(|text| text.trim()),
            NpmrcValue::Null => None,
        });
        texts.find(|text| !text.is_empty())
    }

    /// All settings by name, each as the highest layer has it.
    pub fn all(&self) -> BTreeMap<&str, &NpmrcValue> {
        let mut all = BTreeMap::new();
        for (key, value) in self.layers.iter().flatten() {
            all.entry(key.as_str()).or_insert(value);
        }
        all
    }

    fn find(&self, key: &str) -> Option<&NpmrcValue> {
        self.layers.iter().flatten().find(|(other, _)| other == key).map(|(_, value)| value)
    }
}

fn is_on(text: &str) -> bool {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(number) if !number.is_nan() => number != 0.0,
        _ => text != "false",
    }
}
