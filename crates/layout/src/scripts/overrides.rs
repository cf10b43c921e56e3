//! What a project's `overrides` have packages be. Which of them holds where is the resolver's affair: whoever is to be told from
//! others by name is taken to be any of what they say.

use gantry_spec::Spec;
use serde_json::Value;

/// Members of a manifest that `$name` may stand for one of.
const KINDS: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];

/// Names, each with what is to be had instead of what is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Overrides(Vec<(String, String)>);

impl Overrides {
    /// Those of a manifest, however deep.
    pub fn of(package_json: &Value) -> Self {
        let mut overrides = Self::default();
        overrides.read(package_json, "", &package_json["overrides"]);
        overrides
    }

    /// `key`: the name of what `rule` is about, perhaps with a range behind it.
    fn read(&mut self, package_json: &Value, key: &str, rule: &Value) {
        match rule {
            Value::String(spec) => {
                let name = key.get(1..).and_then(|rest| rest.find('@')).map_or(key, |at| &key[..=at]);
                let of_project = |reference: &str| -> Vec<String> {
                    let specs = KINDS.iter().filter_map(|kind| package_json[kind][reference].as_str());
                    specs.map(str::to_owned).collect()
                };
                let specs = spec.strip_prefix('$').map_or_else(|| vec![spec.clone()], of_project);
                self.0.extend(specs.into_iter().map(|spec| (name.to_owned(), spec)));
            }
            Value::Object(members) => {
                for (member, rule) in members {
                    self.read(package_json, if member == "." { key } else { member }, rule);
                }
            }
            _ => {}
        }
    }

    /// What they say of a name.
    pub fn specs(&self, name: &str) -> Vec<Spec> {
        let own = self.0.iter().filter(|(other, _)| other == name);
        own.filter_map(|(name, spec)| Spec::parse(name, spec).ok()).collect()
    }
}
