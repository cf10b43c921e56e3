//! Following what a table knows.

use crate::table::{Table, Target};
use gantry_spec::{Range, Version};
use rustc_hash::FxHashSet;

/// What has been followed so far in one install; each name is foretold once.
#[derive(Debug)]
pub struct Walk<'t> {
    table: Table<'t>,
    named: FxHashSet<u32>,
    followed: FxHashSet<u32>,
    /// Entries of which only the peers were followed.
    peers_followed: FxHashSet<u32>,
}

/// A name that is foretold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foretold<'t> {
    /// The package.
    pub name: &'t str,
    /// Whether it has builds for one platform each. Their versions are asked for when its packument is there, so this is a
    /// round trip sooner where there is no room for all names at once.
    pub has_builds: bool,
}

impl<'t> Walk<'t> {
    /// A walk through a table.
    pub fn new(table: Table<'t>) -> Self {
        let [named, followed, peers_followed] = Default::default();
        Self { table, named, followed, peers_followed }
    }

    /// Names that `name`, in the version that `range` (a range, a version or a tag) most likely means, and whatever it depends on
    /// need packuments of, except those of earlier calls and those that `is_settled`, of which nothing is followed, either. `name` is
    /// not among them.
    ///
    /// As the resolver does, it takes the peers of what is needed only for looking at, and follows their peers alone; so it does
    /// with `name` itself if that `is_peer`.
    pub fn follow(
        &mut self,
        (name, range, is_peer): (&str, &str, bool),
        is_settled: impl Fn(&str) -> bool,
    ) -> Vec<Foretold<'t>> {
        let mut foretold = Vec::new();
        let Some(name) = self.table.find(name) else { return foretold };
        self.named.insert(name);
        let mut open: Vec<(u32, bool)> = self.likely(name, range).map(|entry| (entry, is_peer)).into_iter().collect();
        let mut at = 0;
        // In the order in which a resolver would meet them: first is what is needed first.
        while let Some(&(entry, is_peer)) = open.get(at) {
            at += 1;
            if self.followed.contains(&entry) || !self.seen(is_peer).insert(entry) {
                continue;
            }
            let Some(record) = self.table.record(entry) else { continue };
            let [dependencies, peers] = record.targets();
            let dependencies = dependencies.into_iter().filter(|_| !is_peer).map(|target| (target, false));
            for (target, is_peer) in dependencies.chain(peers.into_iter().map(|target| (target, true))) {
                let named = match target {
                    Target::Entry(entry) => self.table.name_of(entry),
                    Target::Name(name) => Some(name),
                };
                let Some((named, text)) = named.and_then(|named| Some((named, self.table.name(named)?))) else {
                    continue;
                };
                if is_settled(text) {
                    continue;
                }
                if self.named.insert(named) {
                    let record = match target {
                        Target::Entry(entry) => self.table.record(entry),
                        Target::Name(_) => None,
                    };
                    foretold.push(Foretold { name: text, has_builds: record.is_some_and(|record| record.has_builds) });
                }
                if let Target::Entry(entry) = target {
                    open.push((entry, is_peer));
                }
            }
        }
        foretold
    }

    fn seen(&mut self, is_peer: bool) -> &mut FxHashSet<u32> {
        if is_peer { &mut self.peers_followed } else { &mut self.followed }
    }

    /// The line of versions that npm would most likely take one of.
    fn likely(&self, name: u32, range: &str) -> Option<u32> {
        let mut entries = self.table.entries(name);
        let Some(range) = Range::parse(range) else {
            // A tag; what others than `latest` mean nobody knows.
            return entries.next();
        };
        let version = |entry: u32| self.table.record(entry).map(|record| record.version);
        let is_last = |entry: &u32| {
            let text = version(*entry).map(|[major, minor, patch]| format!("{major}.{minor}.{patch}"));
            text.and_then(|text| Version::parse(&text)).is_some_and(|version| range.satisfied_by(&version))
        };
        // Of a line that has gone on since, an earlier version may be meant.
        let is_of_line = |entry: &u32| {
            let line = version(*entry).map(|[major, minor, _]| match major {
                0 => format!("~0.{minor}.0"),
                _ => format!("^{major}.0.0"),
            });
            line.and_then(|line| Range::parse(&line)).is_some_and(|line| range.intersects(&line))
        };
        entries.clone().find(is_last).or_else(|| entries.find(is_of_line))
    }
}

#[cfg(test)]
mod tests;
