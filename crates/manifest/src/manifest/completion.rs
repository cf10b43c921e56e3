//! What a lock repeats of a version although abbreviated packuments leave it out.

use super::Manifest;
use serde_json::{Map, Value};

impl Manifest {
    /// `license`, `workspaces` and `acceptDependencies` as one JSON object; `None` if there are none of them. Made from a
    /// package's own `package.json` or its version document, it is what [`complete`](Self::complete) takes.
    pub fn members_of_full_documents(&self) -> Option<String> {
        let mut members = Map::new();
        match (&self.license, self.verbatim.iter().find(|(member, _)| member == "license")) {
            (_, Some((_, odd))) => drop(members.insert("license".to_owned(), odd.clone())),
            (Some(license), None) => drop(members.insert("license".to_owned(), license.as_str().into())),
            (None, None) => {}
        }
        if let Some(workspaces) = &self.workspaces {
            members.insert("workspaces".to_owned(), workspaces.clone());
        }
        if !self.accept_dependencies.is_empty() {
            let pairs = self.accept_dependencies.iter().map(|(name, spec)| (name.to_string(), spec.as_str().into()));
            members.insert("acceptDependencies".to_owned(), Value::Object(pairs.collect()));
        }
        (!members.is_empty()).then(|| Value::Object(members).to_string())
    }

    /// Whether a member that abbreviated packuments leave out is there all the same.
    pub fn is_complete(&self) -> bool {
        self.license.is_some() || self.verbatim.iter().any(|(member, _)| member == "license")
    }

    /// Takes over what [`members_of_full_documents`](Self::members_of_full_documents) gave. What cannot be read changes
    /// nothing.
    pub fn complete(&mut self, members: &str) {
        let Ok(Value::Object(members)) = serde_json::from_str(members) else { return };
        for (member, value) in members {
            match (member.as_str(), value) {
                ("license", Value::String(text)) => self.license = Some(text.into()),
                ("license", odd) => self.verbatim.push((member, odd)),
                ("workspaces", workspaces) => self.workspaces = Some(workspaces),
                ("acceptDependencies", Value::Object(pairs)) => {
                    let text = |(name, spec): (String, Value)| Some((name.into(), spec.as_str()?.into()));
                    self.accept_dependencies = pairs.into_iter().filter_map(text).collect();
                }
                _ => {}
            }
        }
    }
}
