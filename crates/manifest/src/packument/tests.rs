//! The lazy packument against a complete parser, and against damage.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::text::{short_string, words_of};
use super::*;

fn scan(text: impl AsRef<[u8]>) -> Result<Packument, ManifestError> {
    Packument::scan(Bytes::copy_from_slice(text.as_ref()))
}

const SMALL: &str = r#"{"name":"@s/a","description":"a \"quoted\" \\ text","dist-tags":{"latest":"2.0.0","next":"3.0.0-0"},
  "versions":{"1.0.0":{"name":"@s/a","version":"1.0.0","deprecated":"old","engines":{"node":">=4","x":1}},
              "2.0.0" : {"name":"@s/a","version":"2.0.0","dependencies":{"b":"^1"},"dist":{"tarball":"https://registry.example/a.tgz"}},
              "3.0.0-0":{"deprecated":"","readme":"}]{[","dependencies":["not","npm's"]}},
  "time":{"created":"2020-01-01T00:00:00.000Z","2.0.0":"2021-01-01T00:00:00.000Z"},"readme":"{\"versions\":{}}"}
"#;

#[test]
fn a_document_is_read_lazily() {
    let packument = scan(SMALL).expect("valid");
    assert_eq!(packument.name(), "@s/a");
    assert_eq!(packument.dist_tags().collect::<Vec<_>>(), [("latest", "2.0.0"), ("next", "3.0.0-0")]);
    assert_eq!((packument.dist_tag("latest"), packument.dist_tag("beta")), (Some("2.0.0"), None));
    assert_eq!(packument.versions().collect::<Vec<_>>(), ["1.0.0", "2.0.0", "3.0.0-0"]);
    assert!(packument.has_version("1.0.0") && !packument.has_version("1.0.1"));
    assert_eq!(packument.published("2.0.0"), Some("2021-01-01T00:00:00.000Z"));
    assert_eq!(packument.published("1.0.0"), None);
    let manifest = packument.manifest("2.0.0").expect("valid");
    assert_eq!(manifest.dependencies, [(Text::from("b"), Text::from("^1"))]);
    assert!(Arc::ptr_eq(&manifest, &packument.manifest("2.0.0").expect("kept")));
    assert_eq!(packument.manifest("9.9.9"), None);
    assert_eq!(packument.manifest("3.0.0-0"), None, "npm cannot install it");
    assert_eq!(packument.body().expect("at hand"), SMALL.as_bytes());
}

#[test]
fn probes_tell_without_decoding() {
    let packument = scan(SMALL).expect("valid");
    let deprecated = ["1.0.0", "2.0.0", "3.0.0-0", "9.9.9"].map(|version| packument.is_deprecated(version));
    assert_eq!(deprecated, [true, false, false, false]);
    assert_eq!(*packument.engines("1.0.0"), [(Text::from("node"), Text::from(">=4"))]);
    assert_eq!(*packument.engines("2.0.0"), []);
    assert_eq!(*packument.engines("9.9.9"), []);
}

#[test]
fn deprecation_is_what_javascript_takes_for_true() {
    let cases = [
        ("true", true),
        ("false", false),
        ("null", false),
        ("0", false),
        ("1", true),
        ("\"\"", false),
        ("\"x\"", true),
        ("{}", true),
        ("[]", true),
        ("\"\\u0041\"", true),
        ("\"a\",\"deprecated\":\"\"", false),
    ];
    for (value, expected) in cases {
        let packument = scan(format!(r#"{{"versions":{{"1.0.0":{{"deprecated":{value}}}}}}}"#)).expect("valid");
        assert_eq!(packument.is_deprecated("1.0.0"), expected, "{value}");
    }
}

#[test]
fn keys_and_texts_may_be_escaped() {
    let text = r#"{"n\u0061me":"\u0061\/b","v\u0065rsions":{"1\u002e0.0":{"d\u0065precated":"x","name":"\ud83d\ude00"}},
        "dist\u002dtags":{"l\u0061test":"1\u002e0.0"}}"#;
    let packument = scan(text).expect("valid");
    assert_eq!(packument.name(), "a/b");
    assert_eq!(packument.versions().collect::<Vec<_>>(), ["1.0.0"]);
    assert_eq!(packument.dist_tag("latest"), Some("1.0.0"));
    assert!(packument.is_deprecated("1.0.0"));
    assert_eq!(packument.manifest("1.0.0").expect("valid").name.as_deref(), Some("😀"));
}

#[test]
fn texts_that_are_no_unicode_do_no_harm() {
    assert_eq!(scan(br#"{"name":"\uZZZZ\u00","versions":{}}"#).expect("followed").name(), "\u{fffd}ZZZZ\u{fffd}00");
    let text = b"{\"name\":\"\\ud800x\",\"versions\":{\"\xff\":{},\"\\udc00\":{\"name\":\"a\"}}}";
    let packument = scan(text).expect("valid");
    assert_eq!(packument.name(), "\u{fffd}x");
    assert_eq!(packument.versions().collect::<Vec<_>>(), ["\u{fffd}"], "both read the same, so the last counts");
    assert!(packument.manifest("\u{fffd}").is_some());
}

#[test]
fn of_what_is_given_twice_the_last_counts() {
    let text = r#"{"versions":{"9.0.0":{}},"name":"x","versions":{"1.0.0":{"name":"a"},"2.0.0":{},"1.0.0":{"name":"b"}},"name":"y",
        "dist-tags":{"latest":"1","beta":"2","latest":"3"}}"#;
    let packument = scan(text).expect("valid");
    assert_eq!(packument.versions().collect::<Vec<_>>(), ["1.0.0", "2.0.0"]);
    assert_eq!(packument.manifest("1.0.0").expect("valid").name.as_deref(), Some("b"));
    assert_eq!(packument.name(), "y");
    assert_eq!(packument.dist_tags().collect::<Vec<_>>(), [("latest", "3"), ("beta", "2")]);
}

#[test]
fn one_damaged_version_is_absent_and_the_others_are_not() {
    let text = r#"{"versions":{"1.0.0":{"name":"a",},"2.0.0":[1],"3.0.0":7,"4.0.0":{"name":"a"},"5.0.0":{"a":{]}}}"#;
    let packument = scan(text).expect("its outline is whole");
    let readable: Vec<_> = packument.versions().filter(|version| packument.manifest(version).is_some()).collect();
    assert_eq!(readable, ["4.0.0"]);
    assert!(
        packument.versions().all(|version| !packument.is_deprecated(version) && packument.engines(version).is_empty())
    );
}

#[test]
fn what_is_no_packument_says_so() {
    let cases = [
        ("", "PACKUMENT_JSON"),
        ("<!DOCTYPE html><html></html>", "PACKUMENT_JSON"),
        ("{", "PACKUMENT_JSON"),
        ("{\"versions\":{}} x", "PACKUMENT_JSON"),
        ("{\"versions\":{}}}", "PACKUMENT_JSON"),
        ("{versions:{}}", "PACKUMENT_JSON"),
        ("{\"versions\":{},}", "PACKUMENT_JSON"),
        ("{,}", "PACKUMENT_JSON"),
        ("{\"a\" 1}", "PACKUMENT_JSON"),
        ("{\"a\":tru}", "PACKUMENT_JSON"),
        ("not found", "PACKUMENT_JSON"),
        ("\u{0}\u{0}", "PACKUMENT_JSON"),
        ("{\"versions\":{\"1.0.0\"}}", "PACKUMENT_JSON"),
        ("{\"a\":\"\\", "PACKUMENT_JSON"),
        ("nul", "PACKUMENT_JSON"),
        ("[]", "PACKUMENT_SHAPE"),
        ("null", "PACKUMENT_SHAPE"),
        ("\"x\"", "PACKUMENT_SHAPE"),
        ("{}", "PACKUMENT_SHAPE"),
        ("{\"error\":\"not found\"}", "PACKUMENT_SHAPE"),
        ("{\"versions\":null}", "PACKUMENT_SHAPE"),
        ("{\"versions\":[]}", "PACKUMENT_SHAPE"),
        ("{\"versions\":{},\"versions\":1}", "PACKUMENT_SHAPE"),
    ];
    for (text, code) in cases {
        assert_eq!(scan(text).expect_err(text).code(), code, "{text}");
    }
    let empty = scan("\u{feff} {\"versions\" : { } } \r\n").expect("empty is fine");
    assert_eq!((empty.name(), empty.versions().count(), empty.dist_tags().count()), ("", 0, 0));
    let odd = scan(r#"{"versions":{},"name":1,"dist-tags":[],"time":"x"}"#).expect("odd is fine");
    assert_eq!((odd.name(), odd.dist_tags().count(), odd.published("x")), ("", 0, None));
}

#[test]
fn a_body_cut_at_any_byte_is_an_error_and_never_a_panic() {
    let whole = SMALL.trim_end();
    for end in 0..whole.len() {
        assert_eq!(scan(&whole[..end]).expect_err("cut short").code(), "PACKUMENT_JSON", "cut at {end}");
    }
    assert!(scan(whole).is_ok());
}

#[test]
fn nesting_of_any_depth_is_harmless() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
        let packument =
            scan(format!(r#"{{"x":{deep},"versions":{{"1.0.0":{deep},"2.0.0":{{"name":"a","y":{deep}}}}}}}"#));
        let packument = packument.expect("followed");
        assert_eq!(packument.manifest("1.0.0").is_some(), open.starts_with('{'));
        assert!(packument.manifest("2.0.0").is_some());
        assert!(scan(open.repeat(100_000)).is_err());
    }
}

#[test]
fn a_packument_is_shared_between_threads() {
    fn shareable<T: Send + Sync>() {}
    shareable::<Packument>();
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9.]{0,8}",
        "\\PC{0,40}",
        proptest::collection::vec(prop_oneof![Just('"'), Just('\\'), Just('{'), Just(']'), any::<char>()], 0..24)
            .prop_map(|characters| characters.into_iter().collect()),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9f64).prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((any_text(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn members(key: impl Strategy<Value = String>, value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    proptest::collection::vec((key, value), 0..8)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
}

prop_compose! {
    pub(super) fn any_packument()(
        name in any_text(),
        tags in members(any_text(), any_text().prop_map(Value::from)),
        versions in members(prop_oneof!["[0-9]\\.[0-9]\\.[0-9]", any_text()], any_json()),
        times in members(any_text(), any_text().prop_map(Value::from)),
        others in proptest::collection::vec((any_text(), any_json()), 0..4),
        rotation in 0usize..8,
    ) -> Value {
        let mut entries = vec![
            ("name".to_owned(), json!(name)), ("dist-tags".to_owned(), tags), ("versions".to_owned(), versions), ("time".to_owned(), times),
        ];
        let known = ["name", "dist-tags", "versions", "time"];
        entries.extend(others.into_iter().filter(|(key, _)| !known.contains(&key.as_str())));
        let length = entries.len();
        entries.rotate_left(rotation % length);
        Value::Object(entries.into_iter().collect())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_scanner_finds_what_a_parser_finds(document in any_packument(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) };
        let text = text.expect("JSON");
        let packument = scan(&text).expect("valid");
        // Read back, since not every number survives being written and read.
        let document: Value = serde_json::from_str(&text).expect("JSON");
        prop_assert_eq!(packument.name(), document["name"].as_str().expect("text"));
        let tags: Vec<(&str, &str)> =
            document["dist-tags"].as_object().expect("object").iter().map(|(tag, version)| (tag.as_str(), version.as_str().expect("text"))).collect();
        prop_assert_eq!(packument.dist_tags().collect::<Vec<_>>(), tags);
        let versions = document["versions"].as_object().expect("object");
        prop_assert_eq!(packument.versions().collect::<Vec<_>>(), versions.keys().map(String::as_str).collect::<Vec<_>>());
        for (version, expected) in versions {
            let bytes = packument.version_bytes(version).expect("there");
            prop_assert_eq!(&serde_json::from_slice::<Value>(&bytes).expect("a whole value"), expected);
            prop_assert_eq!(packument.published(version), document["time"].get(version).and_then(Value::as_str));
            let _ = packument.manifest(version);
        }
    }

    #[test]
    fn damage_never_panics(document in any_packument(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = serde_json::to_vec(&document).expect("JSON");
        let place = place.index(bytes.len());
        bytes[place] = byte;
        if let Ok(packument) = scan(&bytes) {
            for version in packument.versions() {
                let _ = (packument.manifest(version), packument.is_deprecated(version), packument.engines(version), packument.published(version));
            }
        }
        let _ = scan(&bytes[..place]);
    }
}

proptest! {
    #[test]
    fn a_short_string_is_read_as_what_it_is(text in "[a-z0-9.\\\\\u{e9}+-]{0,20}", behind in 0..20usize) {
        let raw = format!("\"{text}\"");
        let body = format!("xx{raw}{}", "}".repeat(behind));
        let plain = text.is_ascii() && !text.contains('\\') && text.len() <= 16;
        // Where the body ends right behind it, there may be too little to read at once.
        let at_hand = body.len() >= 3 + 16;
        let expected = if plain && at_hand { words_of(text.as_bytes()) } else { None };
        prop_assert_eq!(short_string(body.as_bytes(), &(2..2 + raw.len())), expected);
    }
}
