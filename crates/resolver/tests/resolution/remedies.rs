//! What an unresolvable conflict says that would end it, does end it.

use crate::support::{Case, Order};
use serde_json::{Value, json};

fn registry() -> Value {
    json!({
        "r@16.0.0": {}, "r@17.0.0": {}, "r@18.0.0": {},
        "rd@17.0.0": { "peerDependencies": { "r": "^17.0.0" } },
        "rd@17.1.0-beta": { "peerDependencies": { "r": "*" } },
        "rd@18.0.0": { "peerDependencies": { "r": "^18.0.0" } },
        "ui@1.0.0": { "peerDependencies": { "rd": "^18.0.0" } },
    })
}

fn resolve(root: Value) -> Result<String, Option<String>> {
    let case = Case::new(json!({ "registry": registry(), "root": root }));
    case.resolve(&mut Order::InTurn).map_err(|error| error.hint())
}

fn hint(root: Value) -> String {
    resolve(root).expect_err("it conflicts").expect("there is advice")
}

#[test]
fn both_sides_of_a_direct_conflict_are_offered() {
    let hint = hint(json!({ "dependencies": { "r": "17", "rd": "18" } }));
    assert!(hint.contains(r#"ask for r@"^18.0.0" in place of "17" in the root project"#), "{hint}");
    assert!(hint.contains("use rd@17.0.0, which accepts r@17.0.0"), "{hint}");
    assert!(resolve(json!({ "dependencies": { "r": "^18.0.0", "rd": "18" } })).is_ok());
    assert!(resolve(json!({ "dependencies": { "r": "17", "rd": "17.0.0" } })).is_ok());
}

#[test]
fn where_no_version_accepts_what_is_there_none_is_named() {
    let hint = hint(json!({ "dependencies": { "r": "16", "rd": "18" } }));
    assert!(hint.contains(r#"ask for r@"^18.0.0""#) && !hint.contains("use rd"), "{hint}");
}

#[test]
fn a_conflict_through_others_names_what_is_in_the_way() {
    let hint = hint(json!({ "dependencies": { "r": "17", "ui": "1" } }));
    assert!(hint.contains(r#"ask for r@"^18.0.0" in place of "17" in the root project"#), "{hint}");
    assert!(resolve(json!({ "dependencies": { "r": "^18.0.0", "ui": "1" } })).is_ok());
}
