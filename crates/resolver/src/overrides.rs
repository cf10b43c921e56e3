//! The root's `overrides`: which rule holds for which edge, and when two rules contradict each other.
//!
//! Rules form a tree. A node carries the rule that led to it; the rules below that rule, and those of everything above
//! it, apply to the node's edges, the deepest first.

use crate::error::ResolveError;
use crate::ids::{NameId, RuleId, SpecId};
use crate::names::{Names, Specs};
use gantry_spec::{Range, Spec, SpecKind, Version};
use serde_json::Value;
use std::sync::Arc;

/// One rule, or the root that holds the outermost ones.
#[derive(Debug)]
pub(crate) struct Rule {
    parent: Option<RuleId>,
    children: Vec<RuleId>,
    /// `None` for the root.
    pub(crate) name: Option<NameId>,
    key: Arc<str>,
    /// The part of the key after the name, `*` where there is none; `None` for the root.
    pub(crate) key_spec: Option<SpecId>,
    /// What takes the place of what was asked for.
    pub(crate) value: Arc<str>,
    pub(crate) value_spec: SpecId,
    /// All rules in force below this one, the deepest first, each key once.
    ruleset: Vec<RuleId>,
}

/// All rules of a project.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
}

/// Rules nested deeper than this are refused rather than followed.
const MAX_DEPTH: usize = 64;

impl Rules {
    /// Reads the `overrides` of a root manifest.
    pub(crate) fn parse(
        overrides: Option<&Value>,
        (names, specs): (&mut Names, &mut Specs),
    ) -> Result<Self, ResolveError> {
        let mut rules = Self::default();
        if let Some(value @ Value::Object(map)) = overrides
            && !map.is_empty()
        {
            rules.add(None, "", value, (names, specs), 0)?;
            for index in 0..rules.rules.len() {
                rules.rules[index].ruleset = rules.collect(RuleId::new(index));
            }
        }
        Ok(rules)
    }

    fn add(
        &mut self,
        parent: Option<RuleId>,
        key: &str,
        value: &Value,
        (names, specs): (&mut Names, &mut Specs),
        depth: usize,
    ) -> Result<RuleId, ResolveError> {
        let invalid = |message: &str| ResolveError::Override { key: key.to_owned(), message: message.to_owned() };
        if depth > MAX_DEPTH {
            return Err(invalid("rules are nested too deeply"));
        }
        let own = match value {
            Value::String(text) => Some(text.as_str()),
            Value::Object(map) => map.get(".").and_then(Value::as_str),
            _ => return Err(invalid("a rule is a specifier or an object of rules")),
        };
        let own = own.map(|text| if text.is_empty() { "*" } else { text });
        let id = RuleId::new(self.rules.len());
        let (name, key_text) = match parent {
            None => (None, None),
            Some(_) => {
                let (name, spec) = split(key);
                if gantry_spec::PackageName::try_from(name).is_err() {
                    return Err(invalid("the key does not start with a package name"));
                }
                (Some(names.intern(name)), Some(spec.trim()))
            }
        };
        let value_text: Arc<str> = own.or(key_text).unwrap_or("").into();
        self.rules.push(Rule {
            parent,
            children: Vec::new(),
            name,
            key: key.into(),
            key_spec: key_text.map(|text| specs.intern(text)),
            value_spec: specs.intern(&value_text),
            value: value_text,
            ruleset: Vec::new(),
        });
        if let Value::Object(map) = value {
            for (key, value) in map.iter().filter(|(key, _)| *key != ".") {
                let child = self.add(Some(id), key, value, (names, specs), depth + 1)?;
                self.rules[id.index()].children.push(child);
            }
        }
        Ok(id)
    }

    fn ancestry(&self, rule: RuleId) -> impl Iterator<Item = RuleId> + '_ {
        std::iter::successors(Some(rule), |&rule| self.get(rule).parent)
    }

    fn collect(&self, rule: RuleId) -> Vec<RuleId> {
        let mut set: Vec<RuleId> = Vec::new();
        for above in self.ancestry(rule) {
            let own = self.get(above).parent.map(|_| above);
            for candidate in self.get(above).children.iter().copied().chain(own) {
                if !set.iter().any(|&known| self.get(known).key == self.get(candidate).key) {
                    set.push(candidate);
                }
            }
        }
        set
    }

    pub(crate) fn get(&self, rule: RuleId) -> &Rule {
        &self.rules[rule.index()]
    }

    /// The rule of the project itself; `None` when there are no overrides.
    pub(crate) fn root(&self) -> Option<RuleId> {
        (!self.rules.is_empty()).then(|| RuleId::new(0))
    }

    /// Whether any rule takes its value from a dependency of the project.
    pub(crate) fn have_references(&self) -> bool {
        self.rules.iter().any(|rule| rule.value.starts_with('$'))
    }

    /// The rule that holds for an edge of a node that `rule` holds for.
    pub(crate) fn for_edge<'a>(
        &self,
        rule: RuleId,
        name: NameId,
        asked: impl Fn() -> &'a Result<Spec, String>,
    ) -> Result<RuleId, ResolveError> {
        for &candidate in &self.get(rule).ruleset {
            let Rule { name: rule_name, key_spec: Some(_), key, .. } = self.get(candidate) else { continue };
            if *rule_name != Some(name) {
                continue;
            }
            let text = split(key).1.trim();
            if text == "*" || text.is_empty() {
                return Ok(candidate);
            }
            let asked = match asked() {
                Ok(spec) => spec.registry_target(),
                Err(_) => return Ok(candidate),
            };
            let asked = match &asked.kind {
                SpecKind::Range(range) => Some(range.clone()),
                SpecKind::Version(version) => Range::parse(&version.to_string()),
                // Only a git specifier with a range of its own could be compared.
                SpecKind::Git(_) => continue,
                // Tags, folders and files cannot be compared with a range: the rule holds.
                _ => return Ok(candidate),
            };
            let (Some(asked), Some(key_range)) = (asked, Range::parse(text)) else {
                let message = "the part after the name is not a range of versions".to_owned();
                return Err(ResolveError::Override { key: key.to_string(), message });
            };
            if asked.intersects(&key_range) {
                return Ok(candidate);
            }
        }
        Ok(rule)
    }

    /// The rule that holds for a package itself, of those of a node that `rule` holds for.
    pub(crate) fn for_package(&self, rule: RuleId, name: NameId, version: &str) -> RuleId {
        let Some(version) = Version::parse(version) else { return rule };
        let allows = |text: &str| Range::parse(text).is_some_and(|range| range.satisfied_by(&version));
        let holds = |&candidate: &RuleId| {
            let candidate = self.get(candidate);
            candidate.name == Some(name) && (allows(split(&candidate.key).1) || allows(&candidate.value))
        };
        self.get(rule).ruleset.iter().copied().find(holds).unwrap_or(rule)
    }

    /// The one of two rules that lies below the other; their nearest common ancestor where neither does and they agree;
    /// `None` where they contradict each other.
    pub(crate) fn more_specific(&self, first: RuleId, second: RuleId, specs: &Specs) -> Option<RuleId> {
        if self.ancestry(second).any(|above| above == first) {
            return Some(second);
        }
        if self.ancestry(first).any(|above| above == second) {
            return Some(first);
        }
        if self.contradict(first, second, specs) {
            return None;
        }
        self.ancestry(second).find(|&above| self.ancestry(first).any(|other| other == above))
    }

    /// Whether a node under one rule cannot serve an edge under the other.
    pub(crate) fn conflict(&self, first: RuleId, second: RuleId, specs: &Specs) -> bool {
        self.more_specific(first, second, specs).is_none()
    }

    fn contradict(&self, first: RuleId, second: RuleId, specs: &Specs) -> bool {
        let others = &self.get(second).ruleset;
        self.get(first).ruleset.iter().any(|&rule| {
            let rule_text = self.get(rule);
            let Some(&other) = others.iter().find(|&&other| self.get(other).key == rule_text.key) else { return false };
            let other_text = self.get(other);
            if rule == other || rule_text.value.starts_with('$') || other_text.value.starts_with('$') {
                return false;
            }
            match (range_of(rule_text.value_spec, specs), range_of(other_text.value_spec, specs)) {
                (Some(one), Some(two)) => !one.intersects(&two),
                _ => false,
            }
        })
    }
}

fn range_of(spec: SpecId, specs: &Specs) -> Option<Range> {
    match &specs.get(spec).parsed.as_ref().ok()?.kind {
        SpecKind::Range(range) => Some(range.clone()),
        SpecKind::Version(version) => Range::parse(&version.to_string()),
        _ => None,
    }
}

/// Splits `name@spec`; the specifier is `*` where there is none.
fn split(key: &str) -> (&str, &str) {
    let at = key.char_indices().skip(1).find(|(_, character)| *character == '@');
    match at {
        Some((position, _)) if position + 1 < key.len() => (&key[..position], &key[position + 1..]),
        Some((position, _)) => (&key[..position], "*"),
        None => (key, "*"),
    }
}
