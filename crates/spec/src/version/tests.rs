//! What the vectors do not say: order and equality agree, text survives a round trip, no text makes it panic.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::Version;

fn version(text: &str) -> Version {
    Version::parse(text).expect("a valid version")
}

#[test]
fn build_metadata_breaks_ties_only() {
    assert_eq!(version("1.0.0+a").precedence(&version("1.0.0+b")), Ordering::Equal);
    assert!(version("1.0.0") < version("1.0.0+a"));
    assert!(version("1.0.0+2") < version("1.0.0+10"));
    assert!(version("1.0.0-rc.1+z") < version("1.0.0+a"));
    assert_ne!(version("1.0.0+1"), version("1.0.0+01"));
    assert_ne!(version("1.0.0+1").cmp(&version("1.0.0+01")), Ordering::Equal);
}

#[test]
fn numbers_reach_as_far_as_in_javascript() {
    assert_eq!(version("9007199254740991.0.0").major(), 9_007_199_254_740_991);
    assert!(Version::parse("9007199254740992.0.0").is_none());
    // Beyond it, identifiers that JavaScript rounds to one number still differ in text.
    let (left, right) = (version("1.0.0-9007199254740992"), version("1.0.0-9007199254740993"));
    assert_eq!(left.precedence(&right), Ordering::Equal);
    assert!(left < right);
}

#[test]
fn numbers_alone_tell_most_that_is_below() {
    let known = version("1.20.3");
    for below in ["1.20.2", "0.30.40", "1.3.99", "1.20.2-rc.1", "1.20.2+b", "1.20.0.9"] {
        assert!(known.is_surely_above(below), "{below}");
    }
    for other in ["1.20.3", "1.20.3-rc.1", "1.100.0", "10.0.0", "v1.0.0", "1.2", "1.20.3333333333333333", ""] {
        assert!(!known.is_surely_above(other), "{other}");
    }
}

#[test]
fn an_order_has_the_highest_first_and_leaves_out_what_is_no_version() {
    let texts =
        ["1.0.0", "1.0.0-rc.10", "x", "1.0.0-rc.9", "v1.0.0", "1.0.0-rc", "2.0.0-0", "1.0.0+build", "1.0.0beta"];
    assert_eq!(Version::order(&texts), [6, 0, 4, 7, 1, 3, 5, 8]);
}

#[test]
fn debug_shows_build_metadata_and_display_does_not() {
    let version = version("v1.2.3-rc.01+b");
    assert_eq!(version.to_string(), "1.2.3-rc.1");
    assert_eq!(format!("{version:?}"), "1.2.3-rc.1+b");
}

const ANY_VERSION: &str = r"[v=]?(0|[1-9][0-9]{0,17})\.[0-9]{1,2}\.[0-9]{1,2}(-?[0-9a-cA-C.-]{1,9})?(\+[0-9a.-]{1,5})?";

/// Few of them differ in their numbers, and many digits follow each other in their prereleases.
const SMALL_VERSION: &str =
    r"[v=]?[01]\.[01]\.(0|[0-9]{1,2})(-?([0-9]{1,20}|[0-2a-b-]{1,3}|experimental-[ab]{3})(\.[0-9a]{1,3}){0,3})?(\+a)?";

fn is_in_order(texts: &[String]) -> Result<(), TestCaseError> {
    let mut expected: Vec<(Version, u32)> =
        (0..).zip(texts).filter_map(|(at, text)| Some((Version::parse(text)?, at))).collect();
    expected.sort_by(|left, right| right.0.precedence(&left.0));
    let expected: Vec<u32> = expected.into_iter().map(|(_, at)| at).collect();
    prop_assert_eq!(Version::order(&texts.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    Ok(())
}

proptest! {
    #[test]
    fn an_order_is_that_of_the_versions_one_by_one(texts in prop::collection::vec(SMALL_VERSION, 0..40)) {
        is_in_order(&texts)?;
    }

    #[test]
    fn an_order_of_large_numbers_is_no_other(texts in prop::collection::vec(ANY_VERSION, 0..20)) {
        is_in_order(&texts)?;
    }

    #[test]
    fn text_survives_a_round_trip(text in ANY_VERSION) {
        if let Some(version) = Version::parse(&text) {
            let again = Version::parse(&version.to_string()).expect("canonical text is a version");
            prop_assert_eq!(again.precedence(&version), Ordering::Equal);
            prop_assert_eq!(again.to_string(), version.to_string());
        }
    }

    #[test]
    fn what_is_surely_below_is_below(known in ANY_VERSION, text in prop_oneof![ANY_VERSION, r"[ 0-9.v+-]{0,12}", r"[0-3]{1,2}\.[0-9]{14,18}\.[0-3](\.5|b)?"]) {
        if let (Some(known), Some(version)) = (Version::parse(&known), Version::parse(&text)) {
            prop_assert!(!known.is_surely_above(&text) || version.precedence(&known).is_lt());
        }
    }

    #[test]
    fn the_order_is_total(texts in prop::array::uniform3(r"1\.[01]\.0(-(90071992547409921?|[0-2ab]{1,2})(\.[01a]){0,2})?(\+[01]{1,2})?")) {
        let [a, b, c] = texts.map(|text| Version::parse(&text));
        if let (Some(a), Some(b), Some(c)) = (a, b, c) {
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
            if a.precedence(&b).is_le() && b.precedence(&c).is_le() {
                prop_assert!(a.precedence(&c).is_le());
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), odd in "[-+.0-9vx= \u{e9}\u{feff}]{0,30}") {
        let _ = (Version::parse(&text), Version::parse_strict(&text));
        let _ = (Version::parse(&odd), Version::parse_strict(&odd));
    }
}
