//! The parts of a name, and which rule a refused name broke.

use std::collections::HashSet;

use super::PackageName;
use crate::{NameProblem, SpecError};

fn name(text: &str) -> PackageName {
    text.parse().expect("a valid name")
}

fn problem(text: &str) -> NameProblem {
    match text.parse::<PackageName>() {
        Err(SpecError::InvalidName { name, problem }) if name == text => problem,
        other => panic!("{text:?} gave {other:?}"),
    }
}

#[test]
fn a_scoped_name_has_a_scope_with_its_at_sign() {
    assert_eq!(name("@types/node").scope(), Some("@types"));
    assert_eq!(name("@types/node").unscoped(), "node");
    assert_eq!(name("node").scope(), None);
    assert_eq!(name("node").unscoped(), "node");
}

#[test]
fn old_names_stay_valid() {
    for text in ["JSONStream", "http", "a~b", "it's", "@A/b", "@a/node_modules", &"x".repeat(300)] {
        assert_eq!(name(text).as_str(), text);
    }
}

#[test]
fn a_refused_name_tells_the_rule_it_breaks() {
    for (text, expected) in [
        ("", NameProblem::Empty),
        (".bin", NameProblem::LeadingPeriod),
        ("@a/.b", NameProblem::LeadingPeriod),
        ("-g", NameProblem::LeadingHyphen),
        ("_a", NameProblem::LeadingUnderscore),
        (" a", NameProblem::Spaces),
        ("Node_Modules", NameProblem::Reserved),
        ("favicon.ico", NameProblem::Reserved),
        ("a/b", NameProblem::UnsafeCharacters),
        ("@a/b/c", NameProblem::UnsafeCharacters),
        ("é", NameProblem::UnsafeCharacters),
    ] {
        assert_eq!(problem(text), expected, "{text:?}");
    }
}

#[test]
fn names_are_found_by_text_and_ordered_by_bytes() {
    let names: HashSet<PackageName> = [name("a"), name("@b/c")].into();
    assert!(names.contains("@b/c"));
    assert!(name("B") < name("a"));
    assert_eq!(name("a"), "a");
}
