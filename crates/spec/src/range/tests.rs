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
