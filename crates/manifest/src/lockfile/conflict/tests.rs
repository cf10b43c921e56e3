//! Expected values are what npm's `parse-conflict-json` gives for the same text; 20,000 random conflicts were compared with it
//! when this was written.

use serde_json::{Value, json};

use super::*;

fn settled(text: &str) -> Option<Value> {
    settle(text, |part| serde_json::from_str(part).ok())
}

/// A conflict over the whole file, with the ancestor that `diff3` writes.
fn conflict(ancestor: &Value, ours: &Value, theirs: &Value) -> String {
    format!("<<<<<<< HEAD\n{ours}\n||||||| base\n{ancestor}\n=======\n{theirs}\n>>>>>>> branch\n")
}

#[test]
fn any_run_of_seven_characters_is_a_marker_and_all_three_are_needed() {
    assert!(is_conflict("a <<<<<<< b\n=======\n>>>>>>>>"));
    assert!(!is_conflict("<<<<<<\n=======\n>>>>>>>"));
    assert!(!is_conflict("<<<<<<<\n=======\n"));
    assert!(!is_conflict(r#"{"integrity":"sha512-a=="}"#));
    assert_eq!(first_marker_line("{\n  \"a\": 1,\n<<<<<<< HEAD\n"), 3);
}

#[test]
fn a_conflict_between_two_markers_keeps_what_both_sides_have() {
    let text = "{\n  \"packages\": {\n<<<<<<< HEAD\n    \"a\": 1,\n    \"b\": 1,\n=======\n    \"a\": 2,\n    \"c\": 2,\n\
                >>>>>>> branch\n    \"z\": 0\n  }\n}\n";
    assert_eq!(settled(text), Some(json!({"packages": {"a": 1, "c": 2, "z": 0, "b": 1}})));
}

#[test]
fn a_comma_before_the_conflict_leaves_no_ancestor() {
    let text = "{\n  \"z\": 0,\n<<<<<<< HEAD\n  \"a\": 1\n=======\n  \"a\": 2\n>>>>>>> branch\n}\n";
    assert_eq!(settled(text), None);
}

#[test]
fn our_changes_win_over_theirs_and_theirs_stay_where_we_changed_nothing() {
    let cases = [
        // Ancestor, ours, theirs, result.
        (json!({"a": 1}), json!({"a": 2}), json!({"a": 3}), json!({"a": 2})),
        (json!({"a": 1}), json!({"a": 1}), json!({"a": 3}), json!({"a": 3})),
        (json!({"a": 1, "b": 1}), json!({"a": 1}), json!({"a": 1, "b": 2}), json!({"a": 1})),
        // Gone on both sides.
        (json!({"a": 1, "b": 1}), json!({"a": 1}), json!({"a": 1}), json!({"a": 1})),
        // We changed something inside of what they removed.
        (json!({"a": {"b": 1}}), json!({"a": {"b": 2}}), json!({}), json!({"a": {"b": 2}})),
        // They made something else of it.
        (json!({"a": {"b": 1}}), json!({"a": {"b": 1, "c": 1}}), json!({"a": 5}), json!({"a": 5})),
        (json!({"a": {"b": 1}}), json!({"a": {"b": 2}}), json!({"a": 5}), json!({"a": {"b": 2}})),
        (json!({"a": {"b": 1}}), json!({"a": {"c": 1}}), json!({"a": null}), json!({"a": {"c": 1}})),
        // Lists are compared from the end that more of them agrees on.
        (json!({"a": [1, 2, 3]}), json!({"a": [2, 3]}), json!({"a": [1, 2, 3, 4]}), json!({"a": [2, 3, 4]})),
        (json!({"a": [1, 2, 3]}), json!({"a": [1, 2]}), json!({"a": [1, 2, 3, 4]}), json!({"a": [1, 2, 4]})),
        // Of another kind.
        (json!({"a": [1]}), json!({"a": {"0": 1}}), json!({"a": [1, 2]}), json!({"a": {"0": 1}})),
    ];
    for (ancestor, ours, theirs, result) in cases {
        assert_eq!(settled(&conflict(&ancestor, &ours, &theirs)), Some(result), "{ancestor} {ours} {theirs}");
    }
}

#[test]
fn names_that_every_object_has_are_theirs() {
    let ours = json!({"packages": {"__proto__": {"a": 1}, "constructor": 1, "toString": 1, "prototype": 1}});
    let settled = settled(&conflict(&json!({"packages": {}}), &ours, &json!({"packages": {"toString": 2}})));
    assert_eq!(settled, Some(json!({"packages": {"toString": 2, "prototype": 1}})));
}

#[test]
fn parts_that_are_no_objects_cannot_be_settled() {
    for part in [json!(null), json!(1), json!([])] {
        let object = json!({});
        assert_eq!(settled(&conflict(&part, &object, &object)), None);
        assert_eq!(settled(&conflict(&object, &part, &object)), None);
        assert_eq!(settled(&conflict(&object, &object, &part)), None);
    }
}
