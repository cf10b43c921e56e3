//! What npm's `ini` package and its variable expansion make of lines.

use super::*;

fn variable(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("secret".to_owned()),
        "NESTED" => Some("${TOKEN}".to_owned()),
        _ => None,
    }
}

fn text(value: &str) -> NpmrcValue {
    NpmrcValue::Text(value.to_owned())
}

fn list(values: &[&str]) -> NpmrcValue {
    NpmrcValue::List(values.iter().map(|value| (*value).to_owned()).collect())
}

/// As plain text, since the type itself prints no values.
fn shown(settings: Vec<(String, NpmrcValue)>) -> Vec<String> {
    let show = |(key, value)| match value {
        NpmrcValue::Text(value) => format!("{key}={value}"),
        NpmrcValue::List(values) => format!("{key}=[{}]", values.join("|")),
        NpmrcValue::Null => format!("{key}=<null>"),
    };
    settings.into_iter().map(show).collect()
}

#[track_caller]
fn assert_reads(written: &str, expected: &[&str]) {
    assert_eq!(shown(parse_npmrc(written, &variable)), expected, "{written:?}");
}

#[test]
fn keys_and_values_are_trimmed_and_lines_may_end_anyhow() {
    assert_reads("a = 1\r\n\r\nb=2\rc =3 = 4", &["a=1", "b=2", "c=3 = 4"]);
    assert_reads("", &[]);
    assert_reads("=x\n = \n\n", &["="]);
    assert_reads("\u{feff}a=1", &["a=1"]);
}

#[test]
fn comments_begin_a_line_or_follow_a_value() {
    assert_reads("; x\n # y\na=1 ; z\nb=2#3\nc=4\\;5\\#6\\\\7\\8\\", &["a=1", "b=2", "c=4;5#6\\7\\8\\"]);
}

#[test]
fn quotes_hold_a_whole_value_together() {
    assert_reads(
        "a=\" x;y \"\nb='#1'\nc=\"\\u0041\"\nd=\"broken\"x\ne='\"in\"'\nf=\"",
        &["a=x;y", "b=#1", "c=A", "d=\"broken\"x", "e=in", "f=\""],
    );
}

#[test]
fn a_key_alone_is_true_and_null_is_nothing() {
    assert_reads(
        "a\nb=\nc=null\nd=false\ne=\"null\"\nnull=1",
        &["a=true", "b=", "c=<null>", "d=false", "e=<null>", "null=1"],
    );
}

#[test]
fn lists_are_collected_and_stay_lists() {
    assert_reads("ca[]=1\nca[] = 2\nca=3\nx=1\nx[]=2\n[]=q", &["ca=[1|2|3]", "x=[1|2]", "[]=q"]);
}

#[test]
fn of_a_key_given_twice_the_last_counts() {
    assert_reads("a=1\nb=2\na=3", &["a=3", "b=2"]);
}

#[test]
fn sections_and_dangerous_names_are_ignored() {
    assert_reads("a=1\n__proto__=2\n__proto__[]=3\n[other]\nb=2", &["a=1"]);
    assert_reads("[x] y=1", &["[x] y=1"]);
}

#[test]
fn variables_are_replaced_in_keys_and_values() {
    let cases = [
        ("${TOKEN}", "secret"),
        ("a${TOKEN}b${TOKEN?}", "asecretbsecret"),
        ("${NESTED}", "${TOKEN}"),
        ("${MISSING}", "${MISSING}"),
        ("x${MISSING?}y", "xy"),
        ("\\${TOKEN}", "${TOKEN}"),
        ("\\\\\\\\${TOKEN}", "\\secret"),
        ("${}", "${}"),
        ("${TOKEN", "${TOKEN"),
        ("$TOKEN", "$TOKEN"),
        ("${a${TOKEN}}", "${asecret}"),
        ("$${TOKEN}", "$secret"),
        ("${TOKEN??}", "${TOKEN??}"),
        ("é${TOKEN}é", "ésecreté"),
    ]
    .map(|(written, expected)| (written.to_owned(), expected.to_owned()));
    for (written, expected) in cases {
        assert_reads(&format!("k={written}"), &[&format!("k={expected}")]);
    }
    assert_reads("//${TOKEN}/:x=1", &["//secret/:x=1"]);
}

#[test]
fn environment_variables_become_settings() {
    let variables = [
        ("npm_config_registry", "https://registry.example/"),
        ("NPM_CONFIG_FETCH_RETRIES", "5"),
        ("npm_config__auth", "x"),
        ("npm_config_//registry.example/:_authToken", "${TOKEN}"),
        ("npm_config_empty", ""),
        ("npm_config_proxy", "null"),
        ("npm_config_", "x"),
        ("TOKEN", "secret"),
        ("npm_lifecycle_event", "x"),
        ("é", "x"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(
        shown(environment_layer(variables)),
        [
            "registry=https://registry.example/",
            "fetch-retries=5",
            "_auth=x",
            "//registry.example/:_authToken=secret",
            "proxy=<null>",
        ]
    );
}

#[test]
fn values_are_never_printed() {
    let settings = parse_npmrc("//registry.example/:_authToken=${TOKEN}\nca[]=secret\nx=null", &variable);
    assert_eq!(settings[0].1, text("secret"));
    assert_eq!(settings[1].1, list(&["secret"]));
    assert!(!format!("{settings:?}").contains("secret"));
}
