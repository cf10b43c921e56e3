//! Which folders a project's `workspaces` name (`@npmcli/map-workspaces`).
//!
//! Patterns are globs over folders, relative to the project. One that starts with `!` takes out what those before it name;
//! a later one that names it again brings it back. What is in a `node_modules` is never a workspace, and a star does not
//! stand for a folder whose name starts with a dot.

use crate::ManifestError;
use fast_glob::glob_match;
use gantry_spec::compare_locale;
use serde_json::Value;

/// The `workspaces` of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkspacePatterns {
    patterns: Vec<String>,
    negated: Vec<String>,
}

/// Where the folders of one pattern can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchArea {
    /// Folder to begin with, relative to the project; empty for the project itself.
    pub folder: String,
    /// How many folders below it at most; `None` for any number, 0 for the folder alone.
    pub depth: Option<usize>,
    /// Whether folders whose name starts with a dot count.
    pub hidden: bool,
}

impl WorkspacePatterns {
    /// Reads `workspaces`: a list of patterns, or an object whose `packages` is one. Entries that are no text are refused,
    /// as npm fails on them, and so are the extended globs of shells, which no published pattern was seen to use.
    pub fn parse(value: &Value) -> Result<Self, ManifestError> {
        let list = match value {
            Value::Object(members) => members.get("packages").unwrap_or(value),
            other => other,
        };
        let problem = |expected: &str| ManifestError::Workspaces { problem: expected.to_owned() };
        let Value::Array(list) = list else { return Err(problem("it must be a list of folders")) };
        let mut found = Self::default();
        for entry in list {
            let Value::String(text) = entry else { return Err(problem("every entry must be a text")) };
            if ["?(", "*(", "+(", "@(", "!("].iter().any(|start| text.contains(start)) {
                return Err(problem(&format!("the pattern {text:?} uses an extended glob, which is not supported")));
            }
            found.push(text);
        }
        // What is taken out as a whole need not be looked for.
        let Self { patterns, negated } = &mut found;
        patterns.retain(|pattern| !negated.iter().any(|negated| matches(negated, pattern)));
        Ok(found)
    }

    fn push(&mut self, text: &str) {
        let bare = text.trim_start_matches('!');
        let is_negated = (text.len() - bare.len()) % 2 == 1;
        let slashed = bare.replace('\\', "/");
        let bare = slashed.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(&slashed);
        let pattern = bare.trim_start_matches('/').trim_end_matches('/').to_owned();
        if is_negated {
            self.negated.push(pattern);
        } else {
            self.negated.retain(|negated| !matches(negated, &pattern));
            self.patterns.push(pattern);
        }
    }

    /// Whether no folder is named.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Where to look for folders.
    pub fn areas(&self) -> Vec<SearchArea> {
        self.patterns.iter().map(|pattern| area_of(pattern)).collect()
    }

    /// Of the folders at `paths`, those that are named, in npm's order: pattern by pattern, within one as text.
    pub fn select<'a>(&self, paths: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let is_excluded = |path: &str| {
            let in_modules = path.split('/').any(|part| part == "node_modules");
            in_modules || self.negated.iter().any(|negated| matches(negated, path) || takes_all_of(negated, path))
        };
        let mut candidates: Vec<&str> =
            paths.into_iter().filter(|path| !path.is_empty() && !is_excluded(path)).collect();
        candidates.sort_by(|a, b| compare_locale(a, b));
        candidates.dedup();
        let mut selected: Vec<String> = Vec::new();
        for pattern in &self.patterns {
            for path in candidates.iter().filter(|path| matches(pattern, path)) {
                if !selected.iter().any(|known| known == path) {
                    selected.push((*path).to_owned());
                }
            }
        }
        selected
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    let has_hidden = |text: &str| text.split('/').any(|part| part.starts_with('.') && part != "..");
    (!has_hidden(path) || has_hidden(pattern)) && glob_match(pattern, path)
}

/// `a/**` takes out `a` too.
fn takes_all_of(negated: &str, path: &str) -> bool {
    negated.strip_suffix("/**").is_some_and(|folder| matches(folder, path))
}

fn area_of(pattern: &str) -> SearchArea {
    let is_magic = |part: &&str| part.contains(['*', '?', '[', '{', '\\']);
    let parts: Vec<&str> = pattern.split('/').collect();
    let literal = parts.iter().take_while(|part| !is_magic(part)).count();
    let rest = &parts[literal..];
    // A brace may hold slashes, and then how deep it reaches is not the number of parts.
    let is_deep =
        rest.iter().any(|part| part.contains("**")) || rest.iter().any(|part| part.contains('{') != part.contains('}'));
    SearchArea {
        folder: parts[..literal].join("/"),
        depth: (!is_deep).then_some(rest.len()),
        hidden: rest.iter().any(|part| part.starts_with('.')),
    }
}

#[cfg(test)]
mod tests {
    use super::{SearchArea, WorkspacePatterns};
    use serde_json::json;

    fn select(patterns: serde_json::Value, paths: &[&str]) -> Vec<String> {
        WorkspacePatterns::parse(&patterns).expect("patterns").select(paths.iter().copied())
    }

    #[test]
    fn folders_come_pattern_by_pattern() {
        let paths = ["packages/b", "packages/a", "apps/z", "packages/a/node_modules/c", "packages/.hidden"];
        assert_eq!(select(json!(["apps/*", "packages/*"]), &paths), ["apps/z", "packages/a", "packages/b"]);
        assert_eq!(select(json!({ "packages": ["./packages/{b,c}/"] }), &paths), ["packages/b"]);
        assert_eq!(select(json!(["packages/.*"]), &paths), ["packages/.hidden"]);
    }

    #[test]
    fn what_is_taken_out_can_be_brought_back() {
        let paths = ["packages/a", "packages/b", "packages/b/deep"];
        assert_eq!(select(json!(["packages/**", "!packages/b/**"]), &paths), ["packages/a"]);
        assert_eq!(
            select(json!(["packages/**", "!packages/b/**", "packages/b/deep"]), &paths),
            ["packages/a", "packages/b", "packages/b/deep"],
            "the later pattern takes the negation back as a whole",
        );
        assert_eq!(select(json!(["!!packages/a", "packages/b", "!packages/b"]), &paths), ["packages/a"]);
    }

    #[test]
    fn only_lists_of_texts_are_patterns() {
        for wrong in [json!("packages/*"), json!({}), json!([1]), json!(["packages/+(a|b)"])] {
            assert_eq!(WorkspacePatterns::parse(&wrong).expect_err("no patterns").code(), "MANIFEST_WORKSPACES");
        }
    }

    #[test]
    fn areas_are_no_larger_than_patterns() {
        let areas = |pattern: &str| WorkspacePatterns::parse(&json!([pattern])).expect("patterns").areas().remove(0);
        let area = |folder: &str, depth, hidden| SearchArea { folder: folder.to_owned(), depth, hidden };
        assert_eq!(areas("packages/a"), area("packages/a", Some(0), false));
        assert_eq!(areas("packages/*"), area("packages", Some(1), false));
        assert_eq!(areas("*"), area("", Some(1), false));
        assert_eq!(areas("libs/**"), area("libs", None, false));
        assert_eq!(areas("libs/{a/b,c}"), area("libs", None, false));
        assert_eq!(areas(".config/*"), area(".config", Some(1), false));
    }
}
