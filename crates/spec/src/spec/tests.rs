//! The questions the resolver asks of a specifier, and what its errors say.

use proptest::prelude::*;

use super::{HostedKind, Spec, SpecKind};
use crate::{AliasProblem, SpecError};

fn spec(raw: &str) -> Spec {
    Spec::parse("x", raw).expect("a valid specifier")
}

fn error(raw: &str) -> SpecError {
    Spec::parse("x", raw).expect_err("an invalid specifier")
}

#[test]
fn an_alias_is_fetched_by_the_name_of_its_target() {
    let alias = spec("npm:@a/b@^1");
    assert!(alias.is_registry());
    assert_eq!(alias.fetch_name("x"), "@a/b");
    assert_eq!(alias.registry_target().raw, "^1");
    assert!(matches!(alias.registry_target().kind, SpecKind::Range(_)));
    let plain = spec("latest");
    assert_eq!(plain.fetch_name("x"), "x");
    assert_eq!(plain.registry_target(), &plain);
    assert!(!spec("file:a").is_registry());
}

#[test]
fn a_git_reference_is_taken_apart() {
    let SpecKind::Git(git) = spec("user/repo#semver:^1.2::path:packages/a").kind else { panic!("not git") };
    assert_eq!(git.host(), Some(HostedKind::GitHub));
    assert_eq!(git.url, "https://github.com/user/repo.git");
    assert_eq!(git.semver_range().map(|range| range.to_canonical()).as_deref(), Some(">=1.2.0 <2.0.0-0"));
    assert_eq!((git.committish.as_deref(), git.path.as_deref()), (None, Some("packages/a")));
    let SpecKind::Git(git) = spec("git+ssh://git@git.example:user/repo#main").kind else { panic!("not git") };
    assert_eq!(
        (git.host(), git.url.as_str(), git.committish.as_deref()),
        (None, "git@git.example:user/repo", Some("main"))
    );
}

#[test]
fn protocols_of_other_package_managers_are_refused_with_a_hint() {
    for raw in ["workspace:*", "catalog:", "jsr:@a/b@1", "link:../a", "portal:../a", "patch:a@1"] {
        let error = error(raw);
        assert_eq!(error.code(), "SPEC_UNSUPPORTED_PROTOCOL", "{raw}");
        assert!(error.hint().is_some(), "{raw}");
        assert!(error.to_string().contains(raw), "{error}");
    }
}

#[test]
fn an_alias_that_npm_refuses_says_why() {
    for (raw, expected) in [
        ("npm:a@npm:b@1", AliasProblem::Nested),
        ("npm:a@file:b", AliasProblem::NotRegistry),
        ("npm:^1", AliasProblem::Nameless),
    ] {
        assert!(matches!(error(raw), SpecError::Alias { problem, .. } if problem == expected), "{raw}");
    }
}

#[test]
fn an_error_shows_no_password() {
    for raw in [
        "ftp://user:secret@host.example/a",
        "npm:a@ssh+x://user:secret@host.example",
        "https://u:secret@host.example:port/",
    ] {
        let error = error(raw);
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    }
}

#[test]
fn every_code_is_listed() {
    for raw in ["workspace:*", "a b", "https://", "npm:^1", "user/repo#a::b"] {
        assert!(SpecError::CODES.contains(&error(raw).code()), "{raw}");
    }
    let name = Spec::parse(".x", "1").expect_err("an invalid name");
    assert_eq!(name.code(), "SPEC_INVALID_NAME");
    assert!(SpecError::CODES.contains(&name.code()));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), odd in "(npm:|git\\+ssh://|file:|github:)?[a:/@#.~%*\\\\ \u{e9}0-9-]{0,30}") {
        let _ = Spec::parse("x", &text);
        let _ = Spec::parse(&text, &odd);
        let _ = Spec::parse("", &odd);
    }
}
