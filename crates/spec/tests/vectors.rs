//! Asks this crate what `vectors/generate.mjs` asked npm's own packages. Every case must agree; the tests print the
//! cases that do not.

use std::{cmp::Ordering, fmt::Debug};

use gantry_spec::{PackageName, Range, Spec, SpecKind, Version, compare_locale};
use serde_json::{Value, json};

type Read = fn(&str) -> Option<Range>;

/// Gathers the cases that differ, and fails with the first of them.
#[derive(Default)]
struct Tally {
    cases: usize,
    differences: Vec<String>,
}

impl Tally {
    fn check<T: PartialEq + Debug>(&mut self, case: impl Debug, npm: T, ours: T) {
        self.cases += 1;
        if npm != ours {
            self.differences.push(format!("{case:?}: npm {npm:?}, here {ours:?}"));
        }
    }

    fn finish(self) {
        assert!(self.cases > 0, "no cases");
        assert!(
            self.differences.is_empty(),
            "{} of {} differ, such as\n{}",
            self.differences.len(),
            self.cases,
            self.differences[..self.differences.len().min(40)].join("\n")
        );
    }
}

fn load(text: &str) -> Value {
    serde_json::from_str(text).expect("the vector file is JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn order(value: &Value) -> Ordering {
    value.as_i64().expect("a number").cmp(&0)
}

#[test]
fn versions_are_read_as_npm_reads_them() {
    let vectors = load(include_str!("vectors/versions.json"));
    let mut tally = Tally::default();
    for case in list(&vectors["versions"]) {
        let ours = Version::parse(text(&case[0]));
        tally.check(&case[0], case[1].as_str().map(str::to_owned), ours.as_ref().map(Version::to_string));
        if let (Some(version), true) = (ours, case[1].is_string()) {
            tally.check(&case[0], case[2] != 0, version.is_prerelease());
            tally.check(&case[0], text(&case[3]), version.build());
        }
        let strict = case[1].is_string() && case[4] == true;
        tally.check(("strict", &case[0]), strict, Version::parse_strict(text(&case[0])).is_some());
    }
    tally.finish();
}

#[test]
fn versions_are_ordered_as_npm_orders_them() {
    let vectors = load(include_str!("vectors/versions.json"));
    let mut tally = Tally::default();
    for case in list(&vectors["comparisons"]) {
        let [left, right] = [&case[0], &case[1]].map(|side| Version::parse(text(side)).expect("a valid version"));
        tally.check(case, order(&case[2]), left.precedence(&right));
        tally.check(case, order(&case[2]).reverse(), right.precedence(&left));
        let with_build = order(&case[3]);
        if with_build != Ordering::Equal {
            tally.check(case, with_build, left.cmp(&right));
        }
    }
    tally.finish();
}

#[test]
fn ranges_are_read_as_npm_reads_them() {
    let vectors = load(include_str!("vectors/ranges.json"));
    let probes: Vec<Version> =
        list(&vectors["probes"]).iter().map(|probe| Version::parse(text(probe)).expect("a valid version")).collect();
    let answers = |accepts: &dyn Fn(&Version) -> bool| -> String {
        let digit =
            |four: &[Version]| (0..4).fold(0, |bits, index| bits * 2 + u32::from(four.get(index).is_some_and(accepts)));
        probes.chunks(4).map(|four| char::from_digit(digit(four), 16).expect("four bits")).collect()
    };
    let mut tally = Tally::default();
    for case in list(&vectors["ranges"]) {
        let readings: [(&str, Read, &[Value]); 2] = [
            ("loose", Range::parse, &list(case)[1..5]),
            ("strict", Range::parse_strict, if case[5] == 0 { &list(case)[1..5] } else { &list(case)[5..9] }),
        ];
        for (reading, parse, npm) in readings {
            let named = (reading, text(&case[0]));
            let range = parse(text(&case[0]));
            tally.check(named, npm[0].as_str().map(str::to_owned), range.as_ref().map(Range::to_canonical));
            let Some(range) = range.filter(|_| npm[0].is_string()) else { continue };
            tally.check(named, text(&npm[1]), &answers(&|version| range.satisfied_by(version)));
            let including = range.to_canonical_including_prerelease();
            tally.check((named, "including"), npm[2].as_str().map(str::to_owned), including);
            let including = if npm[2].is_null() {
                String::new()
            } else {
                answers(&|version| range.satisfied_by_including_prerelease(version))
            };
            tally.check((named, "including"), text(&npm[3]), &including);
        }
    }
    tally.finish();
}

#[test]
fn ranges_relate_as_npm_relates_them() {
    let vectors = load(include_str!("vectors/relations.json"));
    let mut tally = Tally::default();
    for case in list(&vectors) {
        let [left, right] = [&case[0], &case[1]].map(|side| Range::parse(text(side)).expect("a valid range"));
        let ours = [
            left.intersects(&right),
            left.is_subset_of(&right),
            left.intersects_including_prerelease(&right),
            left.is_subset_of_including_prerelease(&right),
        ];
        tally.check(case, text(&case[2]), &ours.map(|yes| if yes { "1" } else { "0" }).concat());
    }
    tally.finish();
}

#[test]
fn names_are_judged_as_npm_judges_them() {
    let vectors = load(include_str!("vectors/names.json"));
    let mut tally = Tally::default();
    for case in list(&vectors) {
        tally.check(&case[0], case[1] == true, text(&case[0]).parse::<PackageName>().is_ok());
    }
    tally.finish();
}

#[test]
fn specifiers_are_read_as_npm_reads_them() {
    let vectors = load(include_str!("vectors/specs.json"));
    let mut tally = Tally::default();
    for case in list(&vectors) {
        let (name, raw) = (text(&case[0]), text(&case[1]));
        let ours = match Spec::parse(name, raw) {
            Ok(spec) => describe(&spec),
            Err(error) => json!({ "error": error.code() }),
        };
        tally.check(raw, &case[2], &ours);
    }
    tally.finish();
}

/// The same description of a specifier that the generator writes.
fn describe(spec: &Spec) -> Value {
    match &spec.kind {
        SpecKind::Version(version) => json!({ "type": "version", "value": version.to_string() }),
        SpecKind::Range(range) => json!({ "type": "range", "value": range.to_canonical() }),
        SpecKind::Tag(tag) => json!({ "type": "tag", "value": tag }),
        SpecKind::Alias { name, target } => {
            json!({ "type": "alias", "name": name.as_str(), "raw": target.raw, "target": describe(target) })
        }
        SpecKind::Remote { url } => json!({ "type": "remote", "value": url }),
        SpecKind::File { path } => json!({ "type": "file", "value": path }),
        SpecKind::Directory { path } => json!({ "type": "directory", "value": path }),
        SpecKind::Git(git) => json!({
            "type": "git",
            "url": git.url,
            "saved": git.saved,
            "committish": git.committish,
            "range": git.range,
            "path": git.path,
            "hosted": git.hosted.as_ref().map(|hosted| json!({
                "host": hosted.kind.name(),
                "user": hosted.user,
                "project": hosted.project,
                "auth": hosted.auth,
                "resolved": hosted.resolved("abc"),
                "tarball": hosted.tarball_url(Some("a/b")),
            })),
        }),
    }
}

#[test]
fn texts_are_ordered_as_npm_orders_them() {
    let vectors = load(include_str!("vectors/locale.json"));
    let mut tally = Tally::default();
    for case in list(&vectors["pairs"]) {
        let (left, right) = (text(&case[0]), text(&case[1]));
        // Texts that npm calls equal are ordered by code point here.
        let npm = order(&case[2]).then_with(|| left.cmp(right));
        tally.check(case, npm, compare_locale(left, right));
    }
    let sorted: Vec<&str> = list(&vectors["sorted"]).iter().map(text).collect();
    for (index, left) in sorted.iter().enumerate() {
        for right in &sorted[index + 1..] {
            tally.check((left, right), Ordering::Less, compare_locale(left, right));
        }
    }
    tally.finish();
}
