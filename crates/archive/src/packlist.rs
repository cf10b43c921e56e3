//! Which files of a folder go into its package when it is packed (`npm-packlist`): what npm takes of a repository.
//!
//! Rules stand in five places, and a later one wins over an earlier: npm's own defaults, `files` of `package.json`,
//! `.npmignore`, `.gitignore` (only where there is no `.npmignore`), and what is always in or out. A folder's rules hold for
//! all that is below it.

mod pattern;

use crate::{ArchiveError, Entry};
use pattern::{Rule, read_rules};
use std::collections::{BTreeMap, BTreeSet};

/// Left out unless a later rule takes it in.
const DEFAULTS: &[&str] = &[
    ".npmignore",
    ".gitignore",
    "**/.git",
    "**/.svn",
    "**/.hg",
    "**/CVS",
    "**/.git/**",
    "**/.svn/**",
    "**/.hg/**",
    "**/CVS/**",
    "/.lock-wscript",
    "/.wafpickle-*",
    "/build/config.gypi",
    "npm-debug.log",
    "**/.npmrc",
    ".*.swp",
    ".DS_Store",
    "**/.DS_Store/**",
    "._*",
    "**/._*/**",
    "*.orig",
    "/archived-packages/**",
];

/// In or out of the package's own folder, whatever else says.
const STRICT: &[&str] = &[
    "/.git",
    "!/package.json",
    "!/readme{,.*[^~$]}",
    "!/copying{,.*[^~$]}",
    "!/license{,.*[^~$]}",
    "!/licence{,.*[^~$]}",
    "/.git",
    "/node_modules",
    ".npmrc",
    "/package-lock.json",
    "/yarn.lock",
    "/pnpm-lock.yaml",
    "/bun.lockb",
];

/// What the `package.json` says of the files that belong to the package.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackageFiles {
    /// `files`, where it is a list.
    pub files: Option<Vec<String>>,
    /// `main`.
    pub main: Option<String>,
    /// `browser`, where it is a path.
    pub browser: Option<String>,
    /// Files of `bin`.
    pub bin: Vec<String>,
    /// Whether the package is installed in one that brings it along: rules for whoever packed it do not count any more, but for
    /// those in its own folders.
    pub is_carried: bool,
}

/// Of the files of a folder, those that go into its package, in their order. `package` is for messages.
///
/// What is in `node_modules` is left out. Extended globs of shells and ranges in braces are refused.
pub fn packlist<'a>(
    package: &str,
    entries: Vec<Entry<'a>>,
    facts: &PackageFiles,
) -> Result<Vec<Entry<'a>>, ArchiveError> {
    let mut folders: BTreeMap<&str, BTreeSet<(&str, bool)>> = BTreeMap::new();
    for entry in &entries {
        let mut path = entry.path.as_str();
        let mut is_folder = false;
        loop {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            folders.entry(parent).or_default().insert((name, is_folder));
            if parent.is_empty() {
                break;
            }
            (path, is_folder) = (parent, true);
        }
    }
    let contents: BTreeMap<&str, &[u8]> = entries.iter().map(|entry| (entry.path.as_str(), &*entry.data)).collect();
    let mut search = Search { package, folders, contents, found: BTreeSet::new() };
    search.package_folder(facts)?;
    let found = search.found;
    Ok(entries.into_iter().filter(|entry| found.contains(&entry.path)).collect())
}

/// One folder while it is searched, with the rules that stand in it.
struct Level<'a> {
    parent: Option<&'a Level<'a>>,
    /// The folder's name.
    name: &'a str,
    /// Whether a rule names the folder as a file: then a folder above that is left out does not decide for what is in it.
    exact: bool,
    rules: Vec<Rule>,
}

impl Level<'_> {
    /// Whether `entry`, a path from this folder, is in. With `partial` it may be a folder that only leads to what is in.
    /// `base` is the last name of it, where it was asked for from a folder below.
    fn takes(&self, entry: &str, partial: bool, base: Option<&str>) -> bool {
        let mut included = true;
        if let Some(parent) = self.parent {
            included = parent.takes(&format!("{}/{entry}", self.name), partial, Some(base.unwrap_or(entry)));
            if !included && !self.exact {
                return false;
            }
        }
        for rule in &self.rules {
            if rule.negated != included && rule.decides(entry, partial, base) {
                included = rule.negated;
            }
        }
        included
    }
}

struct Search<'e> {
    package: &'e str,
    /// What is in each folder: names, and whether they are folders.
    folders: BTreeMap<&'e str, BTreeSet<(&'e str, bool)>>,
    contents: BTreeMap<&'e str, &'e [u8]>,
    found: BTreeSet<String>,
}

impl<'e> Search<'e> {
    fn package_folder(&mut self, facts: &PackageFiles) -> Result<(), ArchiveError> {
        let mut strict: Vec<String> = Vec::new();
        let mut required = Vec::new();
        let mut own = None;
        if self.contents.contains_key("package.json") {
            if let Some(files) = &facts.files {
                let mut rules = vec!["*".to_owned()];
                for file in files {
                    self.read_file_rule(file, &mut rules, &mut strict, &mut required);
                }
                own = Some(rules);
            }
            strict.extend(STRICT.iter().map(|&rule| rule.to_owned()));
            let named = facts.browser.iter().chain(&facts.main).chain(&facts.bin);
            strict.extend(named.map(|file| format!("!/{file}")));
        }
        let mut rules = if facts.is_carried { Vec::new() } else { self.rules(&DEFAULTS.join("\n"))? };
        match own {
            Some(own) => rules.extend(self.rules(&own.join("\n"))?),
            None if facts.is_carried => {}
            None => rules.extend(self.ignore_file("")?),
        }
        rules.extend(self.rules(&strict.join("\n"))?);
        let level = Level { parent: None, name: "", exact: false, rules };
        self.folder("", &level, &required)
    }

    /// What an entry of `files` means: a file is always in, a folder with all that is in it, a pattern as it matches.
    fn read_file_rule(
        &self,
        file: &str,
        rules: &mut Vec<String>,
        strict: &mut Vec<String>,
        required: &mut Vec<String>,
    ) {
        let mut file = file.strip_prefix('.').filter(|rest| rest.starts_with('/')).unwrap_or(file).to_owned();
        if file.ends_with("/*") {
            file.push('*');
        }
        let inverse = format!("!{file}");
        let named = file.trim_start_matches('!');
        let path = named.split('/').filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/");
        if self.contents.contains_key(path.as_str()) && !named.ends_with('/') {
            strict.insert(0, inverse);
            required.push(file.strip_prefix('/').unwrap_or(&file).to_owned());
        } else if self.folders.contains_key(path.as_str()) {
            rules.push(inverse.clone());
            rules.push(format!("{inverse}/**"));
        } else {
            rules.push(inverse);
        }
    }

    fn rules(&self, text: &str) -> Result<Vec<Rule>, ArchiveError> {
        read_rules(text).map_err(|pattern| ArchiveError::Pattern { package: self.package.to_owned(), pattern })
    }

    /// The rules of the folder's `.npmignore`, else of its `.gitignore`.
    fn ignore_file(&self, folder: &str) -> Result<Vec<Rule>, ArchiveError> {
        let files = [".npmignore", ".gitignore"].map(|name| within(folder, name));
        match files.iter().find_map(|file| self.contents.get(file.as_str())) {
            Some(text) => self.rules(&String::from_utf8_lossy(text)),
            None => Ok(Vec::new()),
        }
    }

    fn folder(&mut self, folder: &str, level: &Level<'_>, required: &[String]) -> Result<(), ArchiveError> {
        let inside = self.folders.get(folder).cloned().unwrap_or_default();
        for (name, is_folder) in inside {
            // No system that npm serves takes such a name in an archive.
            if name.contains('*') {
                continue;
            }
            let as_file = level.takes(name, false, None);
            if !is_folder {
                if as_file {
                    self.found.insert(within(folder, name));
                }
                continue;
            }
            if !level.takes(name, true, None) {
                continue;
            }
            let exact = as_file || level.takes(&format!("{name}/"), false, None);
            let below: Vec<String> = required
                .iter()
                .filter_map(|file| file.strip_prefix(name)?.strip_prefix('/'))
                .filter(|file| !file.contains('/'))
                .map(str::to_owned)
                .collect();
            let path = within(folder, name);
            let mut rules = self.rules(&DEFAULTS.join("\n"))?;
            rules.extend(self.ignore_file(&path)?);
            rules.extend(self.rules("/.git")?);
            for file in &below {
                rules.extend(self.rules(&format!("!{file}"))?);
            }
            self.folder(&path, &Level { parent: Some(level), name, exact, rules }, &below)?;
        }
        Ok(())
    }
}

fn within(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
