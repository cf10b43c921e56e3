//! Texts of `package.json` before and after.

use super::*;

fn rewritten(text: &str, change: impl Fn(&mut Manifest)) -> Option<String> {
    let mut manifest = Manifest::parse_package_json(text.as_bytes(), "package.json").expect("it is one");
    change(&mut manifest);
    let bytes = with_dependencies(text.as_bytes(), &manifest, "package.json").expect("it can be written");
    bytes.map(|bytes| String::from_utf8(bytes).expect("it is text"))
}

fn with_a(text: &str) -> String {
    rewritten(text, |manifest| _ = manifest.add_dependency("a", "^1.0.0", None, false)).expect("it changes")
}

#[test]
fn lists_are_sorted_and_everything_else_keeps_its_place() {
    let text = "{\n  \"scripts\": {\n    \"b\": \"1\",\n    \"a\": \"2\"\n  },\n  \"dependencies\": {\n    \"c\": \"1\"\n  },\n  \"x\": []\n}\n";
    let expected = text.replace("    \"c\"", "    \"a\": \"^1.0.0\",\n    \"c\"");
    assert_eq!(with_a(text), expected);
}

#[test]
fn a_new_list_comes_last_and_an_empty_one_goes() {
    assert_eq!(
        with_a("{\n  \"name\": \"p\"\n}"),
        "{\n  \"name\": \"p\",\n  \"dependencies\": {\n    \"a\": \"^1.0.0\"\n  }\n}\n"
    );
    let text = "{\n  \"dependencies\": {\n    \"a\": \"1\"\n  },\n  \"devDependencies\": {}\n}\n";
    assert_eq!(rewritten(text, |manifest| manifest.remove_dependency("a")).as_deref(), Some("{}\n"));
}

#[test]
fn indentation_and_line_ends_stay() {
    assert_eq!(
        with_a("{\r\n\t\"x\": 1\r\n}"),
        "{\r\n\t\"x\": 1,\r\n\t\"dependencies\": {\r\n\t\t\"a\": \"^1.0.0\"\r\n\t}\r\n}\r\n"
    );
    assert_eq!(with_a("{\"x\":1}"), "{\"x\":1,\"dependencies\":{\"a\":\"^1.0.0\"}}");
    assert_eq!(with_a("{}"), "{\n  \"dependencies\": {\n    \"a\": \"^1.0.0\"\n  }\n}\n");
}

#[test]
fn values_are_printed_as_javascript_prints_them() {
    let text = r#"{"b":1.0,"10":1e3,"2":"\u00e9\u2028\n","n":1.5,"m":-0.25,"deep":{"z":null,"1":[true,{}]}}"#;
    let expected = "{\"2\":\"\u{e9}\u{2028}\\n\",\"10\":1000,\"b\":1,\"n\":1.5,\"m\":-0.25,\"deep\":{\"1\":[true,{}],\"z\":null},\"dependencies\":{\"a\":\"^1.0.0\"}}";
    assert_eq!(with_a(text), expected);
}

#[test]
fn nothing_is_written_where_nothing_changes() {
    assert_eq!(rewritten("{\n  \"dependencies\": {\n    \"a\": \"1\"\n  }\n}", |_| ()), None);
    assert!(rewritten("{ \"dependencies\": { \"a\": \"1\" } }", |_| ()).is_some(), "npm prints it anew");
}

#[test]
fn an_optional_dependency_is_listed_once_and_a_peer_that_is_an_ordinary_one_stays_both() {
    let text = r#"{"dependencies":{"a":"1","b":"1"},"optionalDependencies":{"a":"1"},"peerDependencies":{"b":"1"}}"#;
    let change = |manifest: &mut Manifest| manifest.save_dependency("b", "2", None, &|_| false);
    let expected = r#"{"dependencies":{"b":"2"},"optionalDependencies":{"a":"1"},"peerDependencies":{"b":"2"}}"#;
    assert_eq!(rewritten(text, change).as_deref(), Some(expected));
}

#[test]
fn one_member_is_replaced_where_it_is_or_comes_last_or_goes() {
    let with = |text: &str, value: Option<Value>| {
        let bytes = with_member(text.as_bytes(), "a", value, "package.json").expect("it can be written");
        bytes.map(|bytes| String::from_utf8(bytes).expect("it is text"))
    };
    let there = "{\r\n\t\"a\": 1,\r\n\t\"dependencies\": {\r\n\t\t\"z\": \"1\",\r\n\t\t\"b\": \"1\"\r\n\t}\r\n}\r\n";
    assert_eq!(with(there, Some(2.into())), Some(there.replace(": 1,", ": 2,")));
    assert_eq!(with(there, Some(1.into())), None);
    assert_eq!(with(there, None), Some(there.replace("\t\"a\": 1,\r\n", "")));
    assert_eq!(with("{\"b\":[]}", Some(true.into())).as_deref(), Some("{\"b\":[],\"a\":true}"));
    assert_eq!(with("{\"b\":[]}", None), None);
}

#[test]
fn what_would_be_lost_is_refused() {
    for text in ["{\"x\":\"\\ud800\"}", "{", "[]"] {
        let error = with_dependencies(text.as_bytes(), &Manifest::default(), "package.json").expect_err(text);
        assert!(matches!(error.code(), "MANIFEST_JSON" | "MANIFEST_SHAPE"));
    }
}
