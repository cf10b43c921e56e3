//! The references of a repository, and what they mean (`@npmcli/git`'s `lines-to-revs.js`).

use gantry_spec::{Range, Version};
use rustc_hash::FxHashMap;

const HEAD: &str = "HEAD";

/// What a repository offers, by name and by full name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    /// Names and commits, in the order of the list.
    list: Vec<(String, String)>,
    by_name: FxHashMap<String, usize>,
    /// Tags that are versions, with what they lead to; of two for one version the later.
    versions: Vec<(Version, usize)>,
}

impl References {
    /// Reads what `git ls-remote` prints: a commit and a full name in each line.
    pub(super) fn read(text: &str) -> Self {
        let mut found = Self::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(commit), Some(full)) = (words.next(), words.next()) else { continue };
            found.add(commit, full);
        }
        found
    }

    fn add(&mut self, commit: &str, full: &str) {
        // What an annotated tag points to is listed behind it.
        if let Some(tag) = full.strip_suffix("^{}") {
            if let Some(&position) = self.by_name.get(tag) {
                commit.clone_into(&mut self.list[position].1);
            }
            return;
        }
        let position = self.list.len();
        let tag = full.strip_prefix("refs/tags/");
        let pull = full.strip_prefix("refs/").filter(|rest| rest.starts_with("pull/"));
        let short =
            tag.or_else(|| full.strip_prefix("refs/heads/")).or(pull.map(|pull| pull.trim_end_matches("/head")));
        self.list.push((full.to_owned(), commit.to_owned()));
        self.by_name.insert(full.to_owned(), position);
        self.by_name.insert(short.unwrap_or(full).to_owned(), position);
        if let Some(version) = tag.and_then(version_in) {
            self.versions.retain(|(known, _)| *known != version);
            self.versions.push((version, position));
        }
    }

    fn commit(&self, position: usize) -> &str {
        &self.list[position].1
    }

    /// The commit of a branch, a tag, a pull request, or of a shortened or full commit that something points to; that of
    /// `HEAD` for `None`.
    pub(super) fn named(&self, name: Option<&str>) -> Option<&str> {
        let name = name.unwrap_or(HEAD);
        let pointed_to = || self.list.iter().find(|(_, commit)| commit == name).map(|(_, commit)| commit.as_str());
        self.by_name.get(name).map(|&position| self.commit(position)).or_else(pointed_to)
    }

    /// The commit of the version that a range takes: what `latest` (else `HEAD`) points to if it is in the range, else the
    /// highest.
    pub(super) fn in_range(&self, range: &str) -> Option<String> {
        let range = Range::parse(range)?;
        let latest = self.named(Some("latest")).or_else(|| self.named(None));
        let mut fitting: Vec<&(Version, usize)> =
            self.versions.iter().filter(|(version, _)| range.satisfied_by(version)).collect();
        fitting.sort_by(|(left, _), (right, _)| left.precedence(right));
        let preferred = fitting.iter().rev().find(|(_, position)| Some(self.commit(*position)) == latest);
        let (_, position) = preferred.or(fitting.last())?;
        Some(self.commit(*position).to_owned())
    }
}

/// The version at the end of a tag such as `release-v1.2.3`.
fn version_in(tag: &str) -> Option<Version> {
    let is_start = |at: usize| tag.as_bytes()[at].is_ascii_digit();
    (0..tag.len()).filter(|&at| is_start(at)).find_map(|at| {
        let text = &tag[at..];
        let core = text.split(['-', '+']).next()?;
        let is_core = core.split('.').count() == 3
            && core.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        is_core.then(|| Version::parse(text)).flatten()
    })
}

/// Reads what a git server over HTTP says it has (git's `gitprotocol-http`), as `git ls-remote` would print it. `None` if it
/// is something else.
pub(super) fn read_advertisement(body: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut rest = body;
    let mut announced = false;
    while let Some((length, after)) = rest.split_at_checked(4) {
        let length = usize::from_str_radix(std::str::from_utf8(length).ok()?, 16).ok()?;
        let Some(length) = length.checked_sub(4) else {
            rest = after;
            continue;
        };
        let (line, after) = after.split_at_checked(length)?;
        rest = after;
        let line = line.split(|&byte| byte == 0).next().unwrap_or_default();
        let line = std::str::from_utf8(line).ok()?.trim_end_matches('\n');
        if line.starts_with('#') {
            announced |= line == "# service=git-upload-pack";
            continue;
        }
        text.push_str(line);
        text.push('\n');
    }
    announced.then_some(text)
}

#[cfg(test)]
mod tests;
