//! Which words become settings, and which go to clap.

use super::*;
use crate::options::Options;
use clap::CommandFactory;

fn taken(line: &str) -> Result<Line, clap::Error> {
    let words = format!("gantry {line}").split(' ').map(OsString::from).collect::<Vec<_>>();
    take_apart(words, &Options::command(), &|name| (name == "TOKEN").then(|| "secret".to_owned()))
}

/// Clap's words, and the settings as `key=value`.
fn parts(line: &str) -> (String, Vec<String>) {
    let Line { words, settings } = taken(line).unwrap();
    let words: Vec<_> = words.iter().skip(1).map(|word| word.to_str().unwrap()).collect();
    let shown = settings.into_iter().map(|(key, value)| match value {
        NpmrcValue::Text(text) => format!("{key}={text}"),
        NpmrcValue::List(values) => format!("{key}={values:?}"),
        NpmrcValue::Null => format!("{key}=null"),
    });
    (words.join(" "), shown.collect())
}

fn check(cases: &[(&str, &str, &[&str])]) {
    for (line, words, settings) in cases {
        let (found, found_settings) = parts(line);
        assert_eq!(
            (found.as_str(), found_settings),
            (*words, settings.iter().map(ToString::to_string).collect()),
            "{line}"
        );
    }
}

#[test]
fn what_clap_does_not_declare_becomes_a_setting() {
    check(&[
        ("ci --no-audit --no-fund --no-progress", "ci", &["audit=false", "fund=false", "progress=false"]),
        ("ci --audit false --fund true", "ci", &["audit=false", "fund=true"]),
        ("ci --no-audit=false --no-no-fund", "ci", &["audit=true", "fund=true"]),
        ("ci --fetch-retries 5 --cafile=x --cache-max -1", "ci", &["fetch-retries=5", "cafile=x", "cache-max=-1"]),
        ("ci --loglevel=error --color always --color=false", "ci", &["loglevel=error", "color=false"]),
        ("ci --production --only=prod --no-optional", "ci", &["production=true", "only=prod", "optional=false"]),
        ("ci --noproxy a --noproxy=b", "ci", &["noproxy=[\"a\", \"b\"]"]),
        ("ci --no-proxy --https-proxy null --before=null", "ci", &["proxy=null", "https-proxy=null", "before=null"]),
        ("ci --workspaces=null --browser firefox", "ci", &["workspaces=null", "browser=firefox"]),
        ("ci --browser --no-yes --yes null", "ci", &["browser=true", "yes=null"]),
        ("ci --//host/:_authToken=${TOKEN}", "ci", &["//host/:_authToken=secret"]),
        ("ci --@own:registry=a --@own:registry=http://a/?b=c", "ci", &["@own:registry=http://a/?b=c"]),
        ("uninstall -D left", "uninstall left", &["save-dev=true"]),
        ("install --location=global", "install", &["global=true", "location=global"]),
    ]);
}

#[test]
fn what_clap_declares_comes_back_to_it_as_it_knows_it() {
    check(&[
        ("ci --legacy-peer-deps=true --save=false", "ci --legacy-peer-deps --no-save", &[]),
        ("ci --package-lock=false", "ci --no-package-lock", &[]),
        ("ci --package-lock --force=false", "ci", &["package-lock=true", "force=false"]),
        ("ci --omit=dev --omit optional --omit=", "ci --omit=dev --omit=optional", &[]),
        ("install -DE left --tag next", "install left --save-dev --save-exact --tag=next", &[]),
        ("install --save --no-save", "install --no-save", &[]),
        ("install --no-save --save", "install --save", &[]),
        ("install --registry a --reg=b", "install --registry=b", &[]),
        ("install -w a --workspace=b -C=c", "install --workspace=a --workspace=b --prefix=c", &[]),
        ("why left --no-ws --ws=false --iwr", "why left --no-ws --no-workspaces --include-workspace-root", &[]),
        ("update --package-lock-only", "update --package-lock-only", &[]),
    ]);
}

#[test]
fn options_of_gantrys_own_may_stand_before_the_command_and_have_a_value_too() {
    check(&[
        ("--store-dir a ci --trace b", "ci --store-dir a --trace b", &[]),
        ("--store-dir=a --timing -f --audit=false i left", "i --store-dir=a left --timing --force", &["audit=false"]),
        ("ci --lockfile-only=true", "ci --lockfile-only", &[]),
        ("ci --lockfile-only=false", "ci", &[]),
        ("--lockfile-only=true ci", "ci --lockfile-only", &[]),
        ("--store-dir a", "", &[]),
        ("--stor-dir a ci", "--stor-dir a ci", &[]),
        ("ci --lockfile-only=yes", "ci --lockfile-only=yes", &[]),
    ]);
}

#[test]
fn short_forms_mean_what_npm_has_them_mean() {
    check(&[
        ("ci -s", "ci", &["loglevel=silent"]),
        ("ci --silent -ddd", "ci", &["loglevel=silly"]),
        ("ci -f -q", "ci --force", &["loglevel=warn"]),
        ("install -g --local", "install", &["global=false"]),
        ("ci --prod", "ci", &["production=true"]),
        ("ci -v", "ci --version", &[]),
        ("ci -?", "ci --help", &[]),
        ("ci -h", "ci -h", &[]),
    ]);
}

#[test]
fn an_option_may_stand_before_the_command_and_not_behind_two_dashes() {
    check(&[
        ("--silent --prefix a ci", "ci --prefix=a", &["loglevel=silent"]),
        ("install -- --no-audit -D", "install -- --no-audit -D", &[]),
        ("install left --no-audit -- right", "install left -- right", &["audit=false"]),
    ]);
}

#[test]
fn everything_else_is_left_to_clap() {
    check(&[
        ("ci --store-dir --no-audit", "ci --store-dir --no-audit", &[]),
        ("ci --store-dir=a --lockfile-only --trace b", "ci --store-dir=a --lockfile-only --trace b", &[]),
        ("install --no-such-option -wname - --ofline", "install --no-such-option -wname - --ofline", &[]),
        // Beginnings of several, and of several of one letter.
        ("ci --pro --pad", "ci --pro --pad", &[]),
        ("digest --offline --no-fund -C a", "digest --offline --no-fund --prefix=a", &[]),
        ("ci --- -=a --no-=b", "ci --- -=a --no-=b", &[]),
        ("ci --@own:registry http://a/", "ci --@own:registry http://a/", &[]),
    ]);
}

#[test]
fn values_that_lack_or_make_no_sense_are_wrong_usage() {
    for line in [
        "ci --cafile",
        "ci --registry --offline",
        "ci --tag -- a",
        "ci --audit=1",
        "ci --offline=null",
        "ci --no-cafile",
        "ci --no-omit=dev",
        "ci --silent=true",
    ] {
        let error = taken(line).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
        assert!(error.to_string().contains(line.split([' ', '=']).nth(1).unwrap()), "{error}");
    }
}

#[test]
fn paths_need_not_be_text() {
    use std::os::unix::ffi::OsStringExt;
    let path = OsString::from_vec(b"caf\xe9".to_vec());
    let line = |option: &str| ["gantry", "ci", option].map(OsString::from).into_iter().chain([path.clone()]);
    let taken = take_apart(line("--prefix"), &Options::command(), &|_| None).unwrap();
    assert_eq!(taken.words.last(), Some(&with_value("prefix", &path)));
    assert!(take_apart(line("--cafile"), &Options::command(), &|_| None).is_err());
}
