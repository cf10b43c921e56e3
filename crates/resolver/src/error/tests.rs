use super::{CODES, Requirement, ResolveError};

#[test]
fn every_code_is_listed_once() {
    let mut codes = CODES.to_vec();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), CODES.len());
    assert!(CODES.iter().all(|code| code.starts_with("RESOLVE_")));
    assert!(CODES.contains(&ResolveError::Unfinished.code()));
}

#[test]
fn an_error_names_the_package_the_specifier_and_who_wants_it() {
    let step = |dependant: &str, location: &str, spec: &str| Requirement {
        dependant: dependant.to_owned(),
        location: location.to_owned(),
        kind: "prod",
        spec: spec.to_owned(),
    };
    let error = ResolveError::NoMatchingVersion {
        package: "b".to_owned(),
        spec: "^7".to_owned(),
        latest: Some("6.1.0".to_owned()),
        wanted_by: vec![step("a@1.0.0", "node_modules/a", "^7"), step("the root project", "", "1")],
    };
    let expected = "no matching version found for b@^7\n  prod \"^7\" from a@1.0.0 at node_modules/a\n  prod \"1\" from the root project";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.hint().as_deref(), Some("the latest version of b is 6.1.0"));
}
