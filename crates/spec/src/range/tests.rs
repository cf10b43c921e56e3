//! What the vectors do not say: the questions npm answers from a range's text, round trips, and that nothing panics.

use proptest::prelude::*;

use super::Range;
use crate::version::Version;

fn range(text: &str) -> Range {
    Range::parse(text).expect("a valid range")
}

fn version(text: &str) -> Version {
    Version::parse(text).expect("a valid version")
}

#[test]
fn a_prerelease_needs_to_be_named() {
    assert!(range("^1.2.3-beta.1").satisfied_by(&version("1.2.3-beta.2")));
    assert!(!range("^1.2.3-beta.1").satisfied_by(&version("1.2.4-beta.2")));
    assert!(!range("*").satisfied_by(&version("1.0.0-rc.1")));
    assert!(range("*").satisfied_by_including_prerelease(&version("1.0.0-rc.1")));
}

#[test]
fn only_the_written_star_is_any() {
    for text in ["*", "", " * "] {
        assert!(range(text).is_any(), "{text:?}");
    }
    for text in ["x", ">=0.0.0", "* || 1", "^1"] {
        assert!(!range(text).is_any(), "{text:?}");
    }
    assert_eq!(range(">=0.0.0").to_canonical(), "*");
}

#[test]
fn an_exact_range_names_its_version() {
    assert_eq!(range("=1.2.3").exact(), Some(&version("1.2.3")));
    assert_eq!(range("1.2.3 || 1.2.3").exact(), None);
    assert_eq!(range(">=1.2.3 <=1.2.3").exact(), None);
    assert_eq!(range("*").exact(), None);
}

#[test]
fn strict_reading_refuses_what_loose_reading_drops() {
    assert_eq!(range(">=4 node").to_canonical(), ">=4.0.0");
    assert!(Range::parse_strict(">=4 node").is_none());
    assert!(Range::parse("node").is_none());
    assert_eq!(Range::parse_strict(">= 4.0").map(|range| range.to_canonical()).as_deref(), Some(">=4.0.0"));
}

#[test]
fn a_long_prefix_takes_no_long_time() {
    let text = format!("= {}", "v= ".repeat(100_000));
    assert!(Range::parse(&text).is_none());
}

const ANY_RANGE: &str = r"([~^<>=v]{0,2} ?[0-3x*](\.[0-3x*]){0,2}(-[0-2ab.]{1,3})?( - |\|\|| \|\| | |  ){0,1}){1,4}";

proptest! {
    #[test]
    fn canonical_text_survives_a_round_trip(text in ANY_RANGE) {
        if let Some(range) = Range::parse(&text) {
            let canonical = range.to_canonical();
            prop_assert_eq!(Range::parse(&canonical).map(|range| range.to_canonical()), Some(canonical));
        }
    }

    #[test]
    fn a_range_is_within_itself(text in ANY_RANGE) {
        if let Some(range) = Range::parse(&text) {
            prop_assert!(range.is_subset_of(&range));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), odd in "[-+.|0-9vxX*^~<>= \t\u{e9}\u{feff}]{0,40}") {
        for text in [text, odd] {
            for range in [Range::parse(&text), Range::parse_strict(&text)].into_iter().flatten() {
                let probe = version("1.2.3-a");
                let _ = (range.satisfied_by(&probe), range.satisfied_by_including_prerelease(&probe));
                let _ = (range.intersects(&range), range.is_subset_of_including_prerelease(&range), range.exact());
            }
        }
    }
}

#[test]
fn what_satisfies_a_range_may_be_held_by_it() {
    let ranges = [
        "*",
        "1",
        "^1.2.3",
        "~0.4",
        "<2",
        "<2.0.0-0",
        "<=2",
        "<2.0.0-beta.1",
        ">=1.5 <3",
        "1 - 3",
        "1.x || >=4.0.0-rc.1",
        ">3",
        "=2.0.0",
        "0.0.3",
        "<1 >2",
        "^0.0.0-alpha",
        ">=999999999999 || 2",
    ];
    let versions = [
        "0.0.3",
        "0.0.0-alpha",
        "0.4.9",
        "1.0.0",
        "1.2.3-beta",
        "1.9.9",
        "2.0.0-alpha",
        "2.0.0-beta.0",
        "2.0.0",
        "2.9.1",
        "3.0.0",
        "4.0.0-rc.2",
        "10.0.0",
        "v2.0.0",
        "= 2.0.0",
        "02.0.0",
        "999999999999.0.0",
    ];
    let mut ruled_out = 0;
    for range in ranges {
        let read = Range::parse(range).expect(range);
        for version in versions {
            let satisfied = Version::parse(version).is_some_and(|version| read.satisfied_by(&version));
            assert!(!satisfied || read.may_hold(version), "{version} satisfies {range}");
            ruled_out += usize::from(!read.may_hold(version));
        }
    }
    assert!(ruled_out > 100, "most are told by their first number: {ruled_out}");
}
