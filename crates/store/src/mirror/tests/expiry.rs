//! What has not been used for long, and what other credentials were given.

use super::super::expiry::{SUPERSEDED, UNUSED};
use super::*;

const START: u64 = 1_700_000_000_000;
const OTHER: &str = "https://other.example/";

/// A document of some 5 KB, answered so many milliseconds after the start.
fn answered(scope: &str, name: &str, after: u64) -> MirrorWrite {
    let MirrorWrite::Document { packument, validators, .. } = document(name, 1, 100) else { unreachable!() };
    let key = MirrorKey::packument(scope, DocumentForm::Abbreviated, name);
    MirrorWrite::Document { key, packument, freshness: fresh(START + after), validators }
}

/// So many of them.
fn many(scope: &str, count: usize, after: u64) -> Vec<MirrorWrite> {
    (0..count).map(|number| answered(scope, &format!("p{number}"), after)).collect()
}

fn fact(scope: &str) -> MirrorWrite {
    let key = MirrorKey::version(scope, "a", "1.0.0");
    MirrorWrite::Facts { key, integrity: "sha512-a".to_owned(), lock_members: None }
}

/// How many documents of each scope are left after these batches and a compaction, and whether its fact is.
fn left<const SCOPES: usize>(batches: &[Vec<MirrorWrite>], scopes: [&str; SCOPES]) -> [(usize, bool); SCOPES] {
    let directory = MemoryDirectory::default();
    let mut writer = now(MirrorWriter::open(directory.clone())).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    now(writer.compact()).unwrap();
    let reader = reader(&directory);
    scopes.map(|scope| {
        let key = |number| MirrorKey::packument(scope, DocumentForm::Abbreviated, &format!("p{number}"));
        let documents = (0..100).filter(|number| reader.find(&key(*number)).is_some()).count();
        (documents, reader.facts(&MirrorKey::version(scope, "a", "1.0.0"), "sha512-a").is_some())
    })
}

#[test]
fn what_a_credential_was_given_goes_a_week_after_another_took_its_place() {
    let (old, new) = (&format!("{SCOPE} 01"), &format!("{SCOPE} 02"));
    let batches = |later: u64| {
        let mut first = many(old, 30, 0);
        // Nobody else has asked the other registry since.
        first.extend([fact(old), fact(new), fact(OTHER)].into_iter().chain(many(OTHER, 2, 0)));
        [first, many(new, 10, later)]
    };
    let scopes = [old, new, OTHER];
    assert_eq!(left(&batches(SUPERSEDED - 1), scopes), [(30, true), (10, true), (2, true)]);
    assert_eq!(left(&batches(SUPERSEDED), scopes), [(0, false), (10, true), (2, true)]);
}

#[test]
fn who_had_no_credential_before_is_one_more_of_them() {
    let scope = &format!("{SCOPE} 01");
    let batches = [many(SCOPE, 30, 0), many(scope, 10, SUPERSEDED)];
    assert_eq!(left(&batches, [SCOPE, scope]), [(0, false), (10, false)]);
}

#[test]
fn a_credential_that_is_still_used_keeps_all_that_it_was_given() {
    let (one, other) = (&format!("{SCOPE} 01"), &format!("{SCOPE} 02"));
    let refreshed = MirrorWrite::Refreshed {
        key: MirrorKey::packument(one, DocumentForm::Abbreviated, "p7"),
        freshness: fresh(START + SUPERSEDED),
        validators: tagged("\"p7-1\""),
    };
    let batches = [many(one, 30, 0), vec![refreshed], many(other, 10, SUPERSEDED + 1)];
    assert_eq!(left(&batches, [one, other]), [(30, false), (10, false)]);
}

#[test]
fn what_has_not_been_used_for_two_months_goes() {
    let batches = |later| {
        let others = (30..40).map(|number| answered(SCOPE, &format!("p{number}"), later)).collect();
        [many(SCOPE, 30, 0), vec![fact(SCOPE), fact(OTHER)], many(OTHER, 1, 0), others]
    };
    assert_eq!(left(&batches(UNUSED - 1), [SCOPE, OTHER]), [(40, true), (1, true)]);
    assert_eq!(left(&batches(UNUSED), [SCOPE, OTHER]), [(10, true), (0, false)]);
}

#[test]
fn as_long_as_it_is_the_smaller_part_everything_stays() {
    let scope = &format!("{SCOPE} 01");
    let batches = [many(scope, 10, 0), many(SCOPE, 30, 2 * UNUSED)];
    assert_eq!(left(&batches, [scope, SCOPE]), [(10, false), (30, false)]);
}

#[test]
fn a_journal_that_is_compacted_alone_forgets_no_place_in_the_pack() {
    let directory = MemoryDirectory::default();
    let mut writer = now(MirrorWriter::open(directory.clone())).unwrap();
    let old = MirrorKey::packument(&format!("{SCOPE} 01"), DocumentForm::Abbreviated, "p0");
    writer.write(&many(&format!("{SCOPE} 02"), 1, 0)).unwrap();
    writer.write(&[answered(&format!("{SCOPE} 01"), "p0", 0)]).unwrap();
    let key = MirrorKey::packument(&format!("{SCOPE} 02"), DocumentForm::Abbreviated, "p0");
    let refreshed = MirrorWrite::Refreshed { key, freshness: fresh(START + UNUSED), validators: tagged("\"p0-1\"") };
    writer.write(&vec![refreshed; 200]).unwrap();
    now(writer.compact()).unwrap();
    assert_eq!(names(&directory), ["metadata-journal-2", "metadata-pack-1"]);
    assert!(reader(&directory).find(&old).is_some());
}
