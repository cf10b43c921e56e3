//! A mirror over memory: what is kept, what damage does, and what a crash leaves.

mod expiry;
mod lending;

use super::catalog::Catalog;
use super::files::{Listing, read_all};
use super::*;
use crate::header::HEADER;
use crate::pack::test_support::{Recorder, now};
use bytes::Bytes;
use gantry_manifest::Packument;
use gantry_platform::{Directory, RandomAccessFile, memory::MemoryDirectory};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const MEMBERS: &str = r#"{"license":"MIT"}"#;
const SCOPE: &str = "https://registry.example/";

fn key(name: &str) -> MirrorKey {
    MirrorKey::packument(SCOPE, DocumentForm::Abbreviated, name)
}

/// A document of so many versions, the text of which follows from its name and edition.
fn body(name: &str, edition: u32, versions: u32) -> String {
    let version =
        |number| format!(r#""{number}.0.0":{{"name":"{name}","version":"{number}.0.0","bin":"e{edition}.js"}}"#);
    let versions: Vec<String> = (1..=versions).map(version).collect();
    format!(r#"{{"name":"{name}","dist-tags":{{"latest":"1.0.0"}},"versions":{{{}}}}}"#, versions.join(","))
}

fn document(name: &str, edition: u32, versions: u32) -> MirrorWrite {
    let packument = Packument::scan(Bytes::from(body(name, edition, versions))).unwrap();
    MirrorWrite::Document {
        key: key(name),
        packument: Arc::new(packument),
        freshness: fresh(u64::from(edition)),
        validators: tagged(&format!("\"{name}-{edition}\"")),
    }
}

fn fresh(answered: u64) -> Freshness {
    Freshness { answered, lifetime: 300_000, must_revalidate: false }
}

fn tagged(etag: &str) -> Validators {
    Validators { etag: Some(etag.to_owned()), last_modified: None }
}

fn facts(name: &str, lock_members: Option<&str>) -> MirrorWrite {
    MirrorWrite::Facts {
        key: MirrorKey::version(SCOPE, name, "1.0.0"),
        integrity: format!("sha512-{name}"),
        lock_members: lock_members.map(str::to_owned),
    }
}

fn write<D: Directory + Clone>(directory: &D, writes: &[MirrorWrite]) -> Result<(), gantry_platform::FileError> {
    now(MirrorWriter::open(directory.clone()))?.write(writes).map(drop)
}

fn reader(directory: &MemoryDirectory) -> MirrorReader<gantry_platform::memory::MemoryFile> {
    now(MirrorReader::open(directory)).unwrap()
}

/// The edition kept of `name`; a document that is found is one that was written, whole, or its damage is reported.
fn edition(directory: &MemoryDirectory, name: &str) -> Option<u32> {
    let reader = reader(directory);
    let kept = reader.find(&key(name))?;
    let etag = kept.validators.etag.expect("every document was written with one");
    let edition: u32 = etag.trim_matches('"').strip_prefix(&format!("{name}-")).unwrap().parse().unwrap();
    for version in kept.packument.versions() {
        match kept.packument.manifest(version) {
            Some(manifest) => assert_eq!(manifest.bin, [(name.into(), format!("e{edition}.js").into())]),
            None => {
                assert!(reader.take_damage(), "{version} is absent without a word");
                assert!(reader.find(&key(name)).is_none() && !reader.take_damage());
                return None;
            }
        }
    }
    assert!(!reader.take_damage());
    Some(edition)
}

fn names(directory: &MemoryDirectory) -> Vec<String> {
    let mut names = now(directory.list()).unwrap();
    names.sort();
    names
}

fn bytes(directory: &MemoryDirectory, name: &str) -> Vec<u8> {
    read_all(&now(directory.open(name)).unwrap()).unwrap().to_vec()
}

/// A copy in which a file holds something else.
fn with(directory: &MemoryDirectory, name: &str, bytes: &[u8]) -> MemoryDirectory {
    let copy = directory.snapshot();
    let file = now(copy.open(name)).unwrap();
    file.truncate(0).unwrap();
    file.write_all_at(0, bytes).unwrap();
    copy
}

#[test]
fn what_is_kept_is_there_when_opened_again() {
    let directory = MemoryDirectory::default();
    assert!(reader(&directory).find(&key("a")).is_none());
    assert!(names(&directory).is_empty(), "reading makes nothing");
    write(&directory, &[document("a", 1, 3), document("large", 1, 500), facts("a", Some("{}"))]).unwrap();
    write(&directory, &[document("b", 1, 1), facts("b", None)]).unwrap();
    let reader = reader(&directory);
    for (name, versions) in [("a", 3), ("large", 500), ("b", 1)] {
        let kept = reader.find(&key(name)).unwrap();
        assert_eq!(kept.packument.versions().count(), versions);
        assert_eq!((kept.freshness, &kept.validators), (fresh(1), &tagged(&format!("\"{name}-1\""))));
        let versions = u32::try_from(versions).unwrap();
        assert!(
            kept.has_body(body(name, 1, versions).as_bytes()) && !kept.has_body(body(name, 2, versions).as_bytes())
        );
        assert_eq!(edition(&directory, name), Some(1));
    }
    let version = |name| MirrorKey::version(SCOPE, name, "1.0.0");
    assert_eq!(reader.facts(&version("a"), "sha512-a"), Some(Some("{}")));
    assert_eq!(reader.facts(&version("b"), "sha512-b"), Some(None));
    assert_eq!(reader.facts(&version("b"), "sha512-of another tarball"), None);
    assert_eq!(reader.facts(&version("c"), "sha512-c"), None);
}

#[test]
fn registries_forms_and_credentials_do_not_mix() {
    let directory = MemoryDirectory::default();
    write(&directory, &[document("a", 1, 1)]).unwrap();
    let reader = reader(&directory);
    for (scope, form) in [
        ("https://registry.example/ of somebody", DocumentForm::Abbreviated),
        ("https://other.example/", DocumentForm::Abbreviated),
        (SCOPE, DocumentForm::Full),
    ] {
        assert!(reader.find(&MirrorKey::packument(scope, form, "a")).is_none());
    }
}

#[test]
fn of_two_records_with_the_same_key_the_later_counts() {
    let directory = MemoryDirectory::default();
    write(&directory, &[document("a", 1, 2), document("b", 1, 2), document("a", 2, 4)]).unwrap();
    let state = |name| reader(&directory).find(&key(name)).map(|kept| (kept.freshness, kept.validators));
    assert_eq!(edition(&directory, "a"), Some(2));
    let before = bytes(&directory, "metadata-pack-1").len();
    let refreshed =
        |answered, etag| MirrorWrite::Refreshed { key: key("b"), freshness: fresh(answered), validators: tagged(etag) };
    write(&directory, &[refreshed(7, "\"b-1\"")]).unwrap();
    write(&directory, &[refreshed(8, "\"weak\"")]).unwrap();
    assert_eq!(state("b"), Some((fresh(8), tagged("\"weak\""))));
    assert_eq!(bytes(&directory, "metadata-pack-1").len(), before, "a refresh writes no document");
    write(&directory, &[document("b", 9, 1)]).unwrap();
    assert_eq!(state("b"), Some((fresh(9), tagged("\"b-9\""))));
}

#[test]
fn a_record_torn_at_any_byte_is_a_miss_and_costs_nothing_else() {
    let directory = MemoryDirectory::default();
    write(&directory, &[document("a", 1, 2)]).unwrap();
    let whole = bytes(&directory, "metadata-journal-1");
    write(&directory, &[document("b", 1, 2), facts("b", None)]).unwrap();
    let longer = bytes(&directory, "metadata-journal-1");
    for end in whole.len()..longer.len() {
        let torn = with(&directory, "metadata-journal-1", &longer[..end]);
        assert_eq!(edition(&torn, "a"), Some(1));
        let is_whole = edition(&torn, "b").is_some();
        assert!(!is_whole || end > whole.len() + 20);
        write(&torn, &[document("c", 1, 1)]).unwrap();
        assert_eq!(
            (edition(&torn, "a"), edition(&torn, "b").is_some(), edition(&torn, "c")),
            (Some(1), is_whole, Some(1))
        );
    }
}

#[test]
fn a_pack_cut_at_any_byte_is_a_miss_and_costs_nothing_else() {
    let directory = MemoryDirectory::default();
    write(&directory, &[document("a", 1, 2)]).unwrap();
    let whole = bytes(&directory, "metadata-pack-1");
    write(&directory, &[document("b", 1, 60), document("c", 1, 200)]).unwrap();
    let longer = bytes(&directory, "metadata-pack-1");
    for end in (whole.len()..longer.len()).step_by(7) {
        let cut = with(&directory, "metadata-pack-1", &longer[..end]);
        assert_eq!(edition(&cut, "a"), Some(1));
        assert_eq!(edition(&cut, "c"), None);
        write(&cut, &[document("b", 2, 60), document("c", 2, 3)]).unwrap();
        assert_eq!((edition(&cut, "a"), edition(&cut, "b"), edition(&cut, "c")), (Some(1), Some(2), Some(2)));
    }
}

#[test]
fn another_format_is_a_miss_and_makes_way() {
    let directory = MemoryDirectory::default();
    write(&directory, &[document("a", 1, 2)]).unwrap();
    for (name, at) in
        [("metadata-journal-1", 0), ("metadata-journal-1", 8), ("metadata-pack-1", 7), ("metadata-pack-1", 8)]
    {
        let mut changed = bytes(&directory, name);
        changed[at] ^= 1;
        let foreign = with(&directory, name, &changed);
        assert_eq!(edition(&foreign, "a"), None);
        write(&foreign, &[document("a", 2, 2)]).unwrap();
        assert_eq!(edition(&foreign, "a"), Some(2));
        assert_eq!(names(&foreign), ["metadata-journal-2", "metadata-pack-2"]);
    }
    let missing = directory.snapshot();
    now(missing.remove("metadata-pack-1")).unwrap();
    assert_eq!(edition(&missing, "a"), None);
    write(&missing, &[document("a", 2, 2)]).unwrap();
    assert_eq!(edition(&missing, "a"), Some(2));
}

/// Documents that are larger than what is not worth compacting, each replaced twice.
fn with_garbage<D: Directory + Clone>(directory: &D) -> MirrorWriter<D> {
    let mut writer = now(MirrorWriter::open(directory.clone())).unwrap();
    for edition in 1..=3 {
        let writes: Vec<MirrorWrite> = (0..8).map(|number| document(&format!("p{number}"), edition, 100)).collect();
        writer.write(&writes).unwrap();
    }
    writer.write(&[facts("a", Some("{}")), facts("b", None)]).unwrap();
    writer
}

#[test]
fn what_has_been_replaced_is_given_back_once_it_is_more_than_half() {
    let directory = MemoryDirectory::default();
    let mut writer = with_garbage(&directory);
    let before = bytes(&directory, "metadata-pack-1").len();
    now(writer.compact()).unwrap();
    assert_eq!(names(&directory), ["metadata-journal-2", "metadata-pack-2"]);
    assert!(bytes(&directory, "metadata-pack-2").len() < before / 2);
    writer.write(&[document("p0", 4, 1)]).unwrap();
    now(writer.compact()).unwrap();
    assert_eq!(names(&directory), ["metadata-journal-2", "metadata-pack-2"], "not worth it");
    assert_eq!(edition(&directory, "p0"), Some(4));
    (1..8).for_each(|number| assert_eq!(edition(&directory, &format!("p{number}")), Some(3)));
    let reader = reader(&directory);
    assert_eq!(reader.facts(&MirrorKey::version(SCOPE, "a", "1.0.0"), "sha512-a"), Some(Some("{}")));
}

#[test]
fn a_journal_of_many_refreshes_is_compacted_without_moving_documents() {
    let directory = MemoryDirectory::default();
    let mut writer = now(MirrorWriter::open(directory.clone())).unwrap();
    writer.write(&[document("a", 1, 2)]).unwrap();
    let refreshed = MirrorWrite::Refreshed { key: key("a"), freshness: fresh(5), validators: tagged("\"a-1\"") };
    writer.write(&vec![refreshed; 200]).unwrap();
    now(writer.compact()).unwrap();
    assert_eq!(names(&directory), ["metadata-journal-2", "metadata-pack-1"]);
    assert!(bytes(&directory, "metadata-journal-2").len() < 300);
    assert_eq!(reader(&directory).find(&key("a")).unwrap().freshness, fresh(5));
    writer.write(&[document("b", 1, 2)]).unwrap();
    assert_eq!((edition(&directory, "a"), edition(&directory, "b")), (Some(1), Some(1)));
}

#[test]
fn a_document_that_is_damaged_does_not_outlive_a_compaction() {
    let directory = MemoryDirectory::default();
    drop(with_garbage(&directory));
    let place = {
        let listing = now(Listing::read(&directory)).unwrap();
        let current = now(listing.current(&directory)).unwrap().unwrap();
        Catalog::replay(current.bytes).document(&key("p5")).unwrap().place
    };
    let mut pack = bytes(&directory, "metadata-pack-1");
    pack[usize::try_from(place.end().unwrap()).unwrap() - 1] ^= 1;
    let directory = with(&directory, "metadata-pack-1", &pack);
    now(now(MirrorWriter::open(directory.clone())).unwrap().compact()).unwrap();
    assert_eq!((edition(&directory, "p4"), edition(&directory, "p5")), (Some(3), None));
}

#[test]
fn a_crash_at_any_write_leaves_a_mirror_that_is_whole() {
    let recorder = Recorder::default();
    let mut writer = with_garbage(&recorder);
    let kept = recorder.directory.snapshot();
    recorder.snapshots.borrow_mut().clear();
    now(writer.compact()).unwrap();
    writer.write(&[document("p0", 4, 2)]).unwrap();
    let snapshots = recorder.snapshots.borrow();
    assert!(snapshots.len() > 10);
    // Every second snapshot is of what was flushed, and a mirror flushes nothing.
    for directory in snapshots.iter().step_by(2) {
        assert_eq!(edition(directory, "p7"), Some(3));
        assert!(matches!(edition(directory, "p0"), Some(3 | 4)));
        let copy = directory.snapshot();
        write(&copy, &[document("p7", 5, 1)]).unwrap();
        assert_eq!((edition(&copy, "p7"), edition(&copy, "p6")), (Some(5), Some(3)));
        assert_eq!(names(&copy).len(), 2, "leftovers are removed");
    }
    assert_eq!(edition(&kept, "p0"), Some(3));
}

#[test]
fn a_full_disk_is_an_error_that_leaves_what_was_kept() {
    let recorder = Recorder::default();
    write(&recorder, &[document("a", 1, 2)]).unwrap();
    for writes in 0..2 {
        recorder.writes_left.set(Some(writes));
        let error = write(&recorder, &[document("a", 2, 5), document("b", 1, 5)]).unwrap_err();
        assert_eq!(error.kind, gantry_platform::FileErrorKind::NoSpace);
        // A record that had got to the disk when it was full counts: its document was there before.
        assert!(matches!(edition(&recorder.directory, "a"), Some(1 | 2)));
        assert_eq!(edition(&recorder.directory, "b"), None);
    }
    recorder.writes_left.set(None);
    write(&recorder, &[document("a", 2, 5)]).unwrap();
    assert_eq!(edition(&recorder.directory, "a"), Some(2));
}

#[test]
fn everything_can_be_removed_and_nothing_else() {
    let directory = MemoryDirectory::default();
    write(&directory, &[document("a", 1, 2)]).unwrap();
    now(directory.open("pack-0")).unwrap();
    now(MirrorWriter::destroy(&directory)).unwrap();
    assert_eq!(names(&directory), ["pack-0"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn flipped_bytes_are_misses_and_never_something_else(
        in_pack in any::<bool>(), places in prop::collection::vec((any::<prop::sample::Index>(), 1..=u8::MAX), 1..4)
    ) {
        let directory = MemoryDirectory::default();
        let names: BTreeMap<&str, u32> = [("a", 3), ("b", 90), ("c", 1)].into();
        let writes: Vec<MirrorWrite> = names.iter().map(|(name, versions)| document(name, 1, *versions)).collect();
        write(&directory, &writes).unwrap();
        write(&directory, &[document("a", 2, 2), facts("a", Some(MEMBERS))]).unwrap();
        let file = if in_pack { "metadata-pack-1" } else { "metadata-journal-1" };
        let mut changed = bytes(&directory, file);
        for (place, flip) in places {
            let place = place.index(changed.len());
            changed[place] ^= flip;
        }
        let damaged = with(&directory, file, &changed);
        for name in names.keys() {
            // Asserts that what is found is what was written.
            let _ = edition(&damaged, name);
        }
        let known = reader(&damaged).facts(&MirrorKey::version(SCOPE, "a", "1.0.0"), "sha512-a").map(|known| known.map(str::to_owned));
        let is_whole = known.is_none_or(|known| known.as_deref() == Some(MEMBERS));
        prop_assert!(is_whole);
        write(&damaged, &[document("b", 3, 4)]).unwrap();
        prop_assert_eq!(edition(&damaged, "b"), Some(3));
    }

    #[test]
    fn a_journal_of_anything_is_read(noise in prop::collection::vec(any::<u8>(), 0..300), cut in 0..40usize) {
        let directory = MemoryDirectory::default();
        write(&directory, &[document("a", 1, 2)]).unwrap();
        let mut journal = bytes(&directory, "metadata-journal-1");
        journal.truncate(usize::try_from(HEADER).unwrap() + cut);
        journal.extend(noise);
        let damaged = with(&directory, "metadata-journal-1", &journal);
        let _ = edition(&damaged, "a");
        write(&damaged, &[document("a", 2, 2)]).unwrap();
        prop_assert_eq!(edition(&damaged, "a"), Some(2));
    }
}
