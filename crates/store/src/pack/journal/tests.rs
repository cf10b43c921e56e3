use super::Journal;
use crate::{
    JournalRecord, SegmentPlace,
    frame::FRAME,
    pack::{
        Catalog,
        format::HEADER,
        test_support::{Recorder, key, now},
    },
};
use gantry_platform::{Directory, RandomAccessFile, memory::MemoryDirectory};
use proptest::prelude::*;

fn package(name: &str) -> JournalRecord {
    let place = SegmentPlace { pack: 7, offset: 16, length: 300, checksum: 0xfeed_face_cafe_beef };
    JournalRecord::Package { key: key(name), place, index: b"index of "[..].to_vec().into() }
}

fn project(name: &str, sequence: u64) -> JournalRecord {
    let (lock, options) = (b"{\"lock\":1}".as_slice().into(), b"{}".as_slice().into());
    JournalRecord::Project { name: name.into(), lock, options, sequence }
}

fn open(directory: &MemoryDirectory) -> Result<(Journal<impl RandomAccessFile + use<>>, Catalog), crate::StoreError> {
    now(Journal::open(directory))
}

fn bytes(directory: &MemoryDirectory) -> Vec<u8> {
    let file = now(directory.open("journal")).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

fn with_bytes(bytes: &[u8]) -> MemoryDirectory {
    let directory = MemoryDirectory::default();
    now(directory.open("journal")).unwrap().write_all_at(0, bytes).unwrap();
    directory
}

/// A journal of batches, and where each ends.
fn written(batches: &[&[JournalRecord]]) -> (Vec<u8>, Vec<usize>) {
    let directory = MemoryDirectory::default();
    let (mut journal, _) = open(&directory).unwrap();
    let mut ends = vec![usize::try_from(HEADER).unwrap()];
    for batch in batches {
        journal.append_batch(batch).unwrap();
        ends.push(usize::try_from(journal.length()).unwrap());
    }
    (bytes(&directory), ends)
}

fn names(catalog: &Catalog) -> (usize, Vec<String>) {
    (catalog.package_count(), catalog.projects().map(|(name, _)| name.to_owned()).collect())
}

#[test]
fn records_are_there_when_opened_again() {
    let directory = MemoryDirectory::default();
    let (mut journal, _) = open(&directory).unwrap();
    journal.append_batch(&[package("a"), package("b"), project("p", 1), project("q", 1)]).unwrap();
    journal.append_batch(&[JournalRecord::PackageRemoved { key: key("a") }, project("p", 2)]).unwrap();
    journal.append_batch(&[JournalRecord::ProjectRemoved { name: "q".into() }]).unwrap();
    let (_, catalog) = open(&directory).unwrap();
    assert_eq!(names(&catalog), (1, vec!["p".into()]));
    assert_eq!(catalog.project("p").unwrap().sequence, 2);
    assert_eq!(&catalog.project("p").unwrap().lock[..], b"{\"lock\":1}");
    assert_eq!(catalog.package(&key("b")).unwrap().place.checksum, 0xfeed_face_cafe_beef);
}

#[test]
fn an_empty_batch_writes_nothing() {
    let directory = MemoryDirectory::default();
    open(&directory).unwrap().0.append_batch(&[]).unwrap();
    assert_eq!(bytes(&directory).len() as u64, HEADER);
}

#[test]
fn a_journal_torn_at_every_byte_of_the_last_batch_opens_with_what_is_whole() {
    let (whole, ends) = written(&[&[package("a"), project("p", 1)], &[package("b")], &[package("c"), project("q", 1)]]);
    let third = ends[2];
    let fourth = ends[3];
    let q_start = fourth - (FRAME + 1 + 2 + 1 + 11 + 3);
    for length in third..fourth {
        let directory = with_bytes(&whole[..length]);
        let (mut journal, catalog) = open(&directory).unwrap();
        let expected = if length < q_start { 2 } else { 3 };
        assert_eq!(names(&catalog), (expected, vec!["p".into()]), "{length}");
        // The tail is gone, and what is appended now is there next time.
        journal.append_batch(&[package("d")]).unwrap();
        let (_, catalog) = open(&directory).unwrap();
        assert_eq!(names(&catalog), (expected + 1, vec!["p".into()]), "{length}");
    }
}

#[test]
fn a_journal_torn_while_it_was_made_is_made_again() {
    let (whole, _) = written(&[]);
    for length in 0..whole.len() {
        let directory = with_bytes(&whole[..length]);
        open(&directory).unwrap().0.append_batch(&[package("a")]).unwrap();
        assert_eq!(open(&directory).unwrap().1.package_count(), 1, "{length}");
    }
    assert_eq!(open(&with_bytes(&[0; 5000])).unwrap().1.package_count(), 0);
}

#[test]
fn every_flipped_byte_is_noticed() {
    let (whole, ends) = written(&[&[package("a")], &[package("b"), project("p", 1)], &[package("c")]]);
    for position in 0..whole.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = whole.clone();
            damaged[position] ^= bit;
            let result = open(&with_bytes(&damaged));
            if position < ends[2] {
                let code = result.map(|_| ()).unwrap_err().code();
                let expected = if position < ends[0] { "STORE_FORMAT" } else { "STORE_CORRUPT" };
                // Bytes 12 to 15 of the header are the number of a pack.
                assert!(code == expected || (12..16).contains(&position), "{position}: {code}");
            } else {
                // The last batch: no telling from a crash, so it is cut.
                assert_eq!(names(&result.unwrap().1), (2, vec!["p".into()]), "{position}");
            }
        }
    }
}

#[test]
fn a_crash_may_leave_later_parts_of_a_batch_without_the_earlier_ones() {
    let (whole, ends) = written(&[&[package("a")], &[package("b"), package("c"), project("p", 1)]]);
    let mut damaged = whole.clone();
    damaged[ends[1]..ends[1] + 30].fill(0);
    assert_eq!(names(&open(&with_bytes(&damaged)).unwrap().1), (1, vec![]));
}

#[test]
fn what_a_failed_batch_left_is_not_taken_for_new() {
    let recorder = Recorder::default();
    let (mut journal, _) = now(Journal::open(&recorder)).unwrap();
    journal.append_batch(&[package("a")]).unwrap();
    // The disk is full, half of the batch is there, and cutting it off fails too.
    recorder.writes_left.set(Some(0));
    recorder.cannot_truncate.set(true);
    let failing: Vec<_> = (0..10).map(|number| package(&format!("failed-{number}"))).collect();
    assert_eq!(journal.append_batch(&failing).unwrap_err().code(), "STORE_FULL");
    recorder.writes_left.set(None);
    // Records of equal length, so that old frames follow exactly.
    journal.append_batch(&[package("good-1")]).unwrap();
    let (_, catalog) = open(&recorder.directory).unwrap();
    assert!(catalog.package(&key("good-1")).is_some());
    assert_eq!(catalog.package_count(), 2);
}

#[test]
fn foreign_older_and_newer_files_are_refused_with_advice() {
    let (whole, _) = written(&[&[package("a")]]);
    let mut newer = whole.clone();
    newer[8] += 1;
    let mut older = whole.clone();
    older[8] -= 1;
    for bytes in [b"SQLite format 3\0 and more".to_vec(), b"x".to_vec(), newer, older, whole[3..].to_vec()] {
        let error = open(&with_bytes(&bytes)).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "STORE_FORMAT");
        assert!(error.hint().is_some());
        assert_eq!(Catalog::read(bytes.into()).unwrap_err().code(), "STORE_FORMAT");
    }
}

#[test]
fn reading_without_writing_leaves_a_torn_tail_alone() {
    let (whole, ends) = written(&[&[package("a")], &[package("b")]]);
    let catalog = Catalog::read(whole[..ends[2] - 1].to_vec().into()).unwrap();
    assert_eq!(catalog.package_count(), 1);
    assert_eq!(Catalog::read(Vec::new().into()).unwrap().package_count(), 0);
}

fn any_record() -> impl Strategy<Value = JournalRecord> {
    let blob = || proptest::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        (".{0,8}", any::<(u32, u64, u64, u64)>(), blob()).prop_map(
            |(name, (pack, offset, length, checksum), index)| {
                let place = SegmentPlace { pack, offset, length, checksum };
                JournalRecord::Package { key: key(&name), place, index: index.into() }
            }
        ),
        ".{0,8}".prop_map(|name| JournalRecord::PackageRemoved { key: key(&name) }),
        (".{0,8}", blob(), blob(), any::<u64>()).prop_map(|(name, lock, options, sequence)| {
            JournalRecord::Project { name, lock: lock.into(), options: options.into(), sequence }
        }),
        ".{0,8}".prop_map(|name| JournalRecord::ProjectRemoved { name }),
    ]
}

proptest! {
    #[test]
    fn garbage_never_panics(garbage in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = open(&with_bytes(&garbage));
        let (mut whole, _) = written(&[&[package("a")]]);
        whole.extend(&garbage);
        let (_, catalog) = open(&with_bytes(&whole)).unwrap();
        prop_assert_eq!(catalog.package_count(), 1);
    }

    #[test]
    fn any_records_come_back(records in proptest::collection::vec(any_record(), 0..20), split in 0usize..20) {
        let directory = MemoryDirectory::default();
        let (mut journal, mut expected) = open(&directory).unwrap();
        let (first, second) = records.split_at(split.min(records.len()));
        journal.append_batch(first).unwrap();
        drop(journal);
        let (mut journal, _) = open(&directory).unwrap();
        journal.append_batch(second).unwrap();
        for record in records {
            expected.apply(record);
        }
        let (_, catalog) = open(&directory).unwrap();
        prop_assert_eq!(format!("{:?}", catalog.packages()), format!("{:?}", expected.packages()));
        prop_assert_eq!(catalog.projects().collect::<Vec<_>>(), expected.projects().collect::<Vec<_>>());
        prop_assert_eq!(catalog.pack_ends(), expected.pack_ends());
    }
}
