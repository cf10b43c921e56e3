//! Abbreviated documents that a registry makes by rules of its own, as Verdaccio does: with `time`, and without `libc`.

use super::{Answer, FRESH, Machine, TAGGED, answer, condition};
use crate::tests::now;

const OWN_FORM: (&str, &str) = ("content-type", "application/vnd.npm.install-v1+json; charset=utf-8");
const OF_ONE_SYSTEM: &str =
    r#"{"name":"a","time":{"1.0.0":"2024-01-01"},"versions":{"1.0.0":{"version":"1.0.0","os":["linux"]}}}"#;
const OF_ALL_SYSTEMS: &str = r#"{"name":"a","time":{"1.0.0":"2024-01-01"},"versions":{"1.0.0":{"version":"1.0.0"}}}"#;
const FULL: &str = r#"{"name":"a","time":{"1.0.0":"2024-01-01"},
    "versions":{"1.0.0":{"version":"1.0.0","os":["linux"],"libc":["musl"]}}}"#;

/// What the packument has, and which form each request was for.
#[derive(Debug, PartialEq, Eq)]
struct Had {
    libc: bool,
    is_abbreviated: bool,
    asked: Vec<&'static str>,
}

fn had(machine: &Machine, answers: Vec<Answer>) -> Had {
    let (client, script) = machine.run(answers);
    let packument = now(client.packument("a")).expect("found");
    let forms = script.asked().into_iter().map(|request| {
        let is_short = request.headers.iter().any(|(name, value)| name == "accept" && value.contains("install-v1"));
        if is_short { "abbreviated" } else { "full" }
    });
    let manifest = packument.manifest("1.0.0").expect("there");
    Had { libc: !manifest.libc.is_empty(), is_abbreviated: packument.is_abbreviated(), asked: forms.collect() }
}

#[test]
fn packages_of_one_system_are_had_in_full_and_kept_so_alone() {
    let machine = Machine::default();
    let answers = vec![answer(200, &[FRESH, OWN_FORM], OF_ONE_SYSTEM), answer(200, &[FRESH, TAGGED], FULL)];
    let full = |asked| Had { libc: true, is_abbreviated: false, asked };
    assert_eq!(had(&machine, answers), full(vec!["abbreviated", "full"]));
    assert_eq!(had(&machine, vec![]), full(vec![]));
    machine.pass(301.0);
    let again = machine.ask(vec![answer(304, &[FRESH], "")]);
    assert_eq!(again, (condition("if-none-match", "\"1\""), Ok(true)));
}

#[test]
fn others_are_abbreviated_also_once_they_are_kept() {
    let machine = Machine::default();
    let short = |asked| Had { libc: false, is_abbreviated: true, asked };
    assert_eq!(had(&machine, vec![answer(200, &[FRESH, OWN_FORM], OF_ALL_SYSTEMS)]), short(vec!["abbreviated"]));
    assert_eq!(had(&machine, vec![]), short(vec![]));
}

#[test]
fn without_that_media_type_modified_tells() {
    let body = OF_ALL_SYSTEMS.replace("\"time\"", "\"modified\":\"2024-01-01\",\"time\"");
    let machine = Machine::default();
    assert!(had(&machine, vec![answer(200, &[FRESH], &body)]).is_abbreviated);
    assert!(had(&machine, vec![]).is_abbreviated);
}
