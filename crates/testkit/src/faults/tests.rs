//! Patterns, turns, and the JSON of rules.
use super::*;

#[test]
fn patterns_are_prefixes_globs_or_exact() {
    assert!(matches("/left", "/left/-/left-1.0.0.tgz"));
    assert!(matches("/left$", "/left") && !matches("/left$", "/left/1.0.0"));
    assert!(matches("/*/-/*.tgz", "/@scope/middle/-/middle-1.2.3.tgz"));
    assert!(matches("*", "/") && matches("/a*a", "/aba") && !matches("/a*a", "/a"));
    assert!(!matches("/a*b*c", "/axcxb"));
}

#[test]
fn a_rule_plays_after_its_skips_and_only_its_turns() {
    let mut rule = FaultRule::times("/a", 2, Fault::GzipGarbage).after(1);
    let played: Vec<bool> = (0..5).map(|_| rule.take("/a").is_some()).collect();
    assert_eq!(played, [false, true, true, false, false]);
    assert_eq!(rule.take("/b"), None);
}

#[test]
fn rules_are_flat_json() {
    let text = r#"[{"path":"/a","count":3,"kind":"status","status":503,"retry_after":"1"},{"path":"*","kind":"hang-in-body","after":10},{"path":"/b","kind":"redirect"}]"#;
    let rules: Vec<FaultRule> = serde_json::from_str(text).unwrap();
    assert_eq!(rules[0], FaultRule::times("/a", 3, Fault::Status { status: 503, retry_after: Some("1".into()) }));
    assert_eq!(rules[1], FaultRule::always("*", Fault::HangInBody { after: 10 }));
    assert_eq!(rules[2].fault, Fault::Redirect { to: None, status: 302 });
}
