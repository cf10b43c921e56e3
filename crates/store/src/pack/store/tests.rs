use super::PackStore;
use crate::{
    JournalRecord, PackWriter, PackageKey, StoreError,
    pack::test_support::{Recorder, append, assert_sound, key, now, opened, package, record, writer},
    prepare,
};
use gantry_archive::Entry;
use gantry_platform::{Directory, RandomAccessFile, memory::MemoryDirectory};
use proptest::prelude::*;
use std::borrow::Cow;

fn shown<D: Directory>(store: &PackStore<D>) -> Vec<PackageKey> {
    store.catalog().packages().into_iter().map(|(key, _)| key.clone()).collect()
}

fn project(name: &str) -> JournalRecord {
    JournalRecord::Project { name: name.into(), lock: "{}".into(), options: "{}".into(), sequence: 1 }
}

#[test]
fn what_was_committed_can_be_read_after_opening_again() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    let records = append(&store, &directory, &[("a", 10), ("empty", 0), ("large", 3 << 20)]);
    store.commit(records).unwrap();
    for mut store in [store, opened(directory)] {
        assert_sound(&mut store);
        for (name, size) in [("a", 10), ("empty", 0), ("large", 3 << 20)] {
            let index = store.lookup(&key(name)).unwrap().index().unwrap();
            let file = index.file("index.js").unwrap();
            assert_eq!(file.size, size);
            let read = now(store.read(&key(name), file.offset, file.size)).unwrap();
            assert_eq!(read, *package(name, usize::try_from(size).unwrap()).contents[0]);
        }
        assert_eq!(now(store.read(&key("large"), 3 << 19, 5)).unwrap(), b"large"[..].repeat(2)[4..9]);
    }
}

#[test]
fn nothing_is_stored_before_it_is_committed_and_its_bytes_are_written_over() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("a", 1000)])).unwrap();
    let start = store.packs_for_writers(1)[0].start;
    let _ = append(&store, &directory, &[("orphan", 5000)]);
    drop(store);
    let mut store = opened(directory.clone());
    assert!(store.lookup(&key("orphan")).is_none());
    assert_eq!(store.packs_for_writers(1)[0].start, start);
    store.commit(append(&store, &directory, &[("b", 100)])).unwrap();
    assert_eq!(store.lookup(&key("b")).unwrap().place.offset, start);
    assert_sound(&mut opened(directory));
}

#[test]
fn what_was_never_recorded_is_cut_off() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("a", 1000)])).unwrap();
    let _ = append(&store, &directory, &[("orphan", 5000)]);
    // A second pack without records, the header of which never reached the disk.
    let zeros = now(directory.open("pack-1")).unwrap();
    zeros.write_all_at(0, &[0; 3000]).unwrap();
    let mut store = opened(directory.clone());
    for (name, assignment) in ["b", "c"].into_iter().zip(store.packs_for_writers(2)) {
        let file = now(directory.open(&assignment.name)).unwrap();
        let mut writer = PackWriter::open(file, assignment.pack, assignment.start).unwrap();
        let record = record(&mut writer, name, 100);
        writer.flush().unwrap();
        store.commit(vec![record]).unwrap();
    }
    let length = |name| now(directory.open(name)).unwrap().len().unwrap();
    assert_eq!((length("pack-0"), length("pack-1")), (16 + 1000 + 100, 16 + 100));
    assert_sound(&mut opened(directory));
}

#[test]
fn a_successor_goes_on_where_a_lost_writer_ended() {
    for recorded in [&[][..], &[("before", 50)]] {
        for lost in [&[][..], &[("a", 100), ("b", 5000)]] {
            let directory = MemoryDirectory::default();
            let mut store = opened(directory.clone());
            if !recorded.is_empty() {
                store.commit(append(&store, &directory, recorded)).unwrap();
            }
            let assignment = store.packs_for_writers(1).remove(0);
            let file = || now(directory.open(&assignment.name)).unwrap();
            let mut writer = PackWriter::open(file(), assignment.pack, assignment.start).unwrap();
            let mut records: Vec<_> = lost.iter().map(|&(name, size)| record(&mut writer, name, size)).collect();
            drop(writer);
            // It may have ended in the middle of a write, even of the very first.
            let end = file().len().unwrap();
            file().write_all_at(end, b"GANTRY").unwrap();
            let mut successor = PackWriter::resume(file(), assignment.pack, assignment.start).unwrap();
            records.push(record(&mut successor, "c", 100));
            successor.flush().unwrap();
            store.commit(records).unwrap();
            let mut reopened = opened(directory);
            assert_eq!(shown(&reopened).len(), recorded.len() + lost.len() + 1);
            assert_sound(&mut reopened);
        }
    }
}

#[test]
fn the_places_of_a_commit_that_failed_are_not_taken_before_it_is_known_what_became_of_it() {
    let recorder = Recorder::default();
    let mut store = opened(recorder.clone());
    store.commit(append(&store, &recorder, &[("a", 100)])).unwrap();
    let records = append(&store, &recorder, &[("b", 100), ("c", 100), ("d", 100)]);
    // Half of the batch is written, and cannot be taken back.
    recorder.writes_left.set(Some(0));
    recorder.cannot_truncate.set(true);
    assert_eq!(store.commit(records).unwrap_err().code(), "STORE_FULL");
    recorder.writes_left.set(None);
    recorder.cannot_truncate.set(false);
    let _ = append(&store, &recorder, &[("cancelled", 500)]);
    let mut reopened = opened(recorder.directory.clone());
    assert!(shown(&reopened).len() > 1);
    assert_sound(&mut reopened);
}

#[test]
fn a_package_whose_index_cannot_be_read_is_recorded_again() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    let mut records = append(&store, &directory, &[("a", 100), ("b", 100)]);
    let Some(JournalRecord::Package { index, .. }) = records.first_mut() else { panic!("a package") };
    *index = "nonsense".into();
    store.commit(records).unwrap();
    assert!(store.lookup(&key("a")).unwrap().index().is_err());
    store.commit(append(&store, &directory, &[("a", 100)])).unwrap();
    drop(store);
    let mut store = opened(directory);
    assert_eq!(shown(&store).len(), 2);
    assert_sound(&mut store);
}

#[test]
fn the_places_of_a_commit_that_was_taken_back_are_used_again() {
    let recorder = Recorder::default();
    let mut store = opened(recorder.clone());
    store.commit(append(&store, &recorder, &[("a", 100)])).unwrap();
    let start = store.packs_for_writers(1);
    let records = append(&store, &recorder, &[("b", 100), ("c", 100)]);
    recorder.writes_left.set(Some(0));
    assert_eq!(store.commit(records).unwrap_err().code(), "STORE_FULL");
    recorder.writes_left.set(None);
    assert_eq!(store.packs_for_writers(1), start);
    store.commit(append(&store, &recorder, &[("d", 100)])).unwrap();
    drop(store);
    let mut reopened = opened(recorder.directory.clone());
    assert_eq!(shown(&reopened).len(), 2);
    assert_sound(&mut reopened);
}

#[test]
fn writers_get_different_packs_and_use_them_again() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    let assignments = store.packs_for_writers(3);
    assert_eq!(assignments.iter().map(|pack| pack.name.as_str()).collect::<Vec<_>>(), ["pack-0", "pack-1", "pack-2"]);
    for (number, assignment) in assignments.iter().enumerate() {
        let file = now(directory.open(&assignment.name)).unwrap();
        let mut writer = PackWriter::open(file, assignment.pack, assignment.start).unwrap();
        let record = record(&mut writer, &format!("package-{number}"), 100);
        writer.flush().unwrap();
        store.commit(vec![record]).unwrap();
    }
    let store = opened(directory);
    let again = store.packs_for_writers(4);
    assert_eq!(
        again.iter().map(|pack| (pack.pack, pack.start)).collect::<Vec<_>>(),
        [(0, 116), (1, 116), (2, 116), (3, 0)]
    );
}

#[test]
fn a_full_pack_gets_no_more() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    let mut records = append(&store, &directory, &[("a", 10)]);
    if let JournalRecord::Package { place, .. } = &mut records[0] {
        place.length = super::FULL_PACK;
    }
    store.commit(records).unwrap();
    assert_eq!(store.packs_for_writers(1)[0].pack, 1);
    assert!(matches!(now(store.verify_package(&key("a"))), Err(StoreError::Corrupt { .. })));
}

#[test]
fn how_long_a_full_pack_is_can_be_said() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone()).with_full_packs_of(1000);
    store.commit(append(&store, &directory, &[("a", 100)])).unwrap();
    assert_eq!(store.packs_for_writers(1)[0].pack, 0);
    store.commit(append(&store, &directory, &[("b", 1000)])).unwrap();
    let names: Vec<u32> = store.packs_for_writers(2).iter().map(|pack| pack.pack).collect();
    assert_eq!(names, [1, 2]);
    let mut store = now(store.clear()).unwrap();
    store.commit(append(&store, &directory, &[("c", 1000)])).unwrap();
    assert_eq!(store.packs_for_writers(1)[0].pack, 1, "also after everything was removed");
}

#[test]
fn a_package_that_is_there_is_not_recorded_again() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("a", 10)])).unwrap();
    let before = store.lookup(&key("a")).unwrap().place;
    let length = store.usage().journal_bytes;
    store.commit(append(&store, &directory, &[("a", 10), ("a", 10)])).unwrap();
    assert_eq!(store.lookup(&key("a")).unwrap().place, before);
    assert_eq!(store.usage().journal_bytes, length);
}

#[test]
fn a_removed_package_can_be_stored_again() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("a", 10)])).unwrap();
    store.commit(vec![JournalRecord::PackageRemoved { key: key("a") }]).unwrap();
    assert_eq!(store.usage().unused_bytes, 10);
    assert!(matches!(now(store.read(&key("a"), 0, 1)), Err(StoreError::Missing { .. })));
    store.commit(append(&store, &directory, &[("a", 10)])).unwrap();
    assert_sound(&mut opened(directory));
}

#[test]
fn damage_in_a_pack_is_found_by_verifying() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("a", 500), ("b", 500)])).unwrap();
    let place = store.lookup(&key("b")).unwrap().place;
    now(directory.open("pack-0")).unwrap().write_all_at(place.offset + 200, b"?").unwrap();
    now(store.verify_package(&key("a"))).unwrap();
    assert_eq!(now(store.verify_package(&key("b"))).unwrap_err().code(), "STORE_CORRUPT");
}

#[test]
fn a_pack_cut_short_is_damage_and_a_pack_gone_takes_its_packages_along() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("a", 500)])).unwrap();
    now(directory.open("pack-0")).unwrap().truncate(100).unwrap();
    assert_eq!(now(store.verify_package(&key("a"))).unwrap_err().code(), "STORE_CORRUPT");
    now(directory.remove("pack-0")).unwrap();
    let mut store = opened(directory.clone());
    assert!(shown(&store).is_empty());
    // The number is not used again: its packages are still in the journal.
    assert_eq!(store.packs_for_writers(1)[0].pack, 1);
    store.commit(append(&store, &directory, &[("a", 500)])).unwrap();
    assert_sound(&mut opened(directory));
}

#[test]
fn reading_outside_of_a_package_is_refused() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("a", 10), ("b", 10)])).unwrap();
    for (offset, size) in [(0, 11), (10, 1), (11, 0), (u64::MAX, 1), (1, u64::MAX)] {
        assert_eq!(now(store.read(&key("a"), offset, size)).unwrap_err().code(), "STORE_CORRUPT");
    }
    assert!(now(store.read(&key("a"), 10, 0)).unwrap().is_empty());
}

#[test]
fn a_writer_refuses_another_pack() {
    let directory = MemoryDirectory::default();
    let store = opened(directory.clone());
    let _ = append(&store, &directory, &[("a", 10)]);
    let open = |pack, start| PackWriter::open(now(directory.open("pack-0")).unwrap(), pack, start).map(|_| ());
    open(0, 26).unwrap();
    assert_eq!(open(1, 26).unwrap_err().code(), "STORE_CORRUPT");
    assert_eq!(open(0, 27).unwrap_err().code(), "STORE_CORRUPT");
    now(directory.open("pack-0")).unwrap().write_all_at(0, b"something").unwrap();
    assert_eq!(open(0, 26).unwrap_err().code(), "STORE_FORMAT");
}

#[test]
fn the_files_of_a_package_share_writes() {
    let recorder = Recorder::default();
    let store = opened(recorder.clone());
    let mut writer = writer(&store, &recorder);
    recorder.snapshots.borrow_mut().clear();
    let file =
        |number: usize| Entry { path: format!("{number}.js"), data: Cow::Owned(vec![b'x'; 3000]), executable: false };
    writer.append(&prepare((0..1000).map(file).collect())).unwrap();
    writer.settle().unwrap();
    // Four snapshots for each write.
    assert!(recorder.snapshots.borrow().len() <= 4 * 4, "{}", recorder.snapshots.borrow().len());
}

#[test]
fn packages_share_writes_and_what_becomes_of_them() {
    let recorder = Recorder::default();
    let mut store = opened(recorder.clone());
    let mut writer = writer(&store, &recorder);
    let append = |writer: &mut PackWriter<_>, name| {
        let package = package(name, 100);
        let place = writer.append(&package).unwrap();
        JournalRecord::Package { key: key(name), place, index: package.index.encode().into() }
    };
    recorder.writes_left.set(Some(0));
    let end = writer.end();
    append(&mut writer, "a");
    append(&mut writer, "b");
    assert_eq!(writer.settle().unwrap_err().code(), "STORE_FULL");
    assert_eq!(writer.end(), end, "nothing of them stays");
    recorder.writes_left.set(Some(1));
    let records: Vec<JournalRecord> = ["c", "d", "e"].iter().map(|name| append(&mut writer, name)).collect();
    writer.settle().unwrap();
    writer.settle().unwrap();
    writer.flush().unwrap();
    recorder.writes_left.set(None);
    store.commit(records).unwrap();
    assert_sound(&mut store);
    assert!(["c", "d", "e"].iter().all(|name| store.lookup(&key(name)).is_some()));
}

#[test]
fn what_was_settled_outlives_its_writer() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    let mut writer = writer(&store, &directory);
    let records = [("a", 100), ("b", 5000)].map(|(name, size)| record(&mut writer, name, size));
    // As when a worker is ended: nothing of it runs any more.
    drop(writer);
    now(directory.open("pack-0")).unwrap().flush().unwrap();
    store.commit(records.into()).unwrap();
    assert_sound(&mut store);
}

#[test]
fn what_was_taken_back_is_cut_off_and_no_more() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    let mut writer = writer(&store, &directory);
    let records = vec![record(&mut writer, "a", 5000)];
    let length = || now(directory.open("pack-0")).unwrap().len().unwrap();
    let settled = length();
    let mut segment = writer.begin();
    // Larger than the buffer, so that some of it is in the file.
    segment.put(&vec![1; 3 << 20]).unwrap();
    drop(segment);
    assert!(length() > settled);
    writer.cut().unwrap();
    assert_eq!(length(), settled);
    // Nothing to cut.
    writer.cut().unwrap();
    assert_eq!(length(), settled);
    writer.flush().unwrap();
    store.commit(records).unwrap();
    assert_sound(&mut store);
}

#[test]
fn a_full_disk_leaves_a_store_that_works() {
    for writes in 0..15 {
        let recorder = Recorder::default();
        let mut store = opened(recorder.clone());
        store.commit(append(&store, &recorder, &[("a", 100)])).unwrap();
        recorder.writes_left.set(Some(writes));
        let mut writer = writer(&store, &recorder);
        let mut failed = 0;
        for name in ["b", "c", "d"] {
            // Larger than the buffer, so that each takes three writes: itself, the checksums of its blocks, its record.
            let package = package(name, (1 << 20) + 5);
            let committed = writer.append(&package).and_then(|place| {
                writer.settle()?;
                writer.flush()?;
                let index = package.index.encode().into();
                store.commit(vec![JournalRecord::Package { key: key(name), place, index }])
            });
            if let Err(error) = committed {
                assert_eq!(error.code(), "STORE_FULL");
                assert!(store.lookup(&key(name)).is_none());
                failed += 1;
            }
        }
        assert_eq!(failed > 0, writes < 9, "{writes}");
        recorder.writes_left.set(None);
        let again = package("again", 100);
        let place = writer.append(&again).unwrap();
        writer.settle().unwrap();
        writer.flush().unwrap();
        store
            .commit(vec![JournalRecord::Package { key: key("again"), place, index: again.index.encode().into() }])
            .unwrap();
        let mut reopened = opened(recorder.directory.clone());
        assert!(reopened.lookup(&key("again")).is_some() && reopened.lookup(&key("a")).is_some());
        assert_sound(&mut reopened);
    }
}

#[test]
fn a_pack_that_nothing_was_appended_to_needs_no_room() {
    let recorder = Recorder::default();
    recorder.writes_left.set(Some(0));
    let mut writer = PackWriter::open(now(recorder.open("pack-0")).unwrap(), 0, 0).unwrap();
    writer.flush().unwrap();
    writer.append(&package("a", 100)).unwrap();
    assert_eq!(writer.settle().unwrap_err().code(), "STORE_FULL");
    writer.flush().unwrap();
    recorder.writes_left.set(None);
    let record = record(&mut writer, "a", 100);
    writer.flush().unwrap();
    let mut store = opened(recorder);
    store.commit(vec![record]).unwrap();
    assert_sound(&mut store);
}

#[test]
fn a_crash_at_any_moment_loses_nothing_committed_and_shows_nothing_unwritten() {
    let recorder = Recorder::default();
    let mut store = opened(recorder.clone());
    // After which snapshot which packages had been reported as stored.
    let mut reported: Vec<(usize, Vec<&str>)> = vec![(recorder.snapshots.borrow().len(), vec![])];
    let mut all = Vec::new();
    for round in [&["a", "b"][..], &["c"], &["d", "e", "f"], &["g"]] {
        let packages: Vec<_> = round.iter().map(|&name| (name, 2000)).collect();
        let mut records = append(&store, &recorder, &packages);
        records.push(project(round[0]));
        store.commit(records).unwrap();
        all.extend_from_slice(round);
        reported.push((recorder.snapshots.borrow().len(), all.clone()));
        // Somebody else is cancelled: bytes without a record.
        let _ = append(&store, &recorder, &[("cancelled", 9000)]);
    }
    let snapshots = recorder.snapshots.borrow();
    for (number, snapshot) in snapshots.iter().enumerate() {
        let mut store = opened(snapshot.clone());
        assert_sound(&mut store);
        let (_, expected) = reported.iter().rev().find(|(after, _)| *after <= number + 1).unwrap_or(&reported[0]);
        for name in expected {
            assert!(store.lookup(&key(name)).is_some(), "{name} is lost at {number}");
        }
        for (project, _) in store.catalog().projects() {
            assert!(store.lookup(&key(project)).is_some(), "{project} is there without its packages at {number}");
        }
        // And the store can be used on from there.
        store.commit(append(&store, &snapshot.clone(), &[("next", 3000)])).unwrap();
        assert_sound(&mut opened(snapshot.clone()));
    }
    assert!(snapshots.len() > 50, "{}", snapshots.len());
}

#[test]
fn a_crash_while_everything_is_removed_leaves_a_store_that_opens() {
    let recorder = Recorder::default();
    let mut store = opened(recorder.clone());
    store.commit(append(&store, &recorder, &[("a", 100)])).unwrap();
    now(recorder.directory.open("notes.txt")).unwrap();
    recorder.snapshots.borrow_mut().clear();
    let store = now(store.clear()).unwrap();
    assert!(shown(&store).is_empty());
    for snapshot in recorder.snapshots.borrow().iter() {
        let mut store = opened(snapshot.clone());
        assert_sound(&mut store);
        assert!(shown(&store).is_empty());
        store.commit(append(&store, &snapshot.clone(), &[("b", 100)])).unwrap();
        assert_sound(&mut opened(snapshot.clone()));
    }
    let mut names = now(recorder.list()).unwrap();
    names.sort();
    assert_eq!(names, ["journal", "notes.txt"]);
}

#[test]
fn a_store_that_cannot_be_read_can_be_removed() {
    let directory = MemoryDirectory::default();
    now(directory.open("journal")).unwrap().write_all_at(0, b"something else entirely").unwrap();
    assert_eq!(now(PackStore::open(directory.clone())).unwrap_err().code(), "STORE_FORMAT");
    now(PackStore::destroy(&directory)).unwrap();
    assert!(shown(&opened(directory)).is_empty());
}

#[test]
fn usage_adds_up() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    assert_eq!(store.usage().packages, 0);
    let mut records = append(&store, &directory, &[("a", 100), ("b", 23)]);
    records.push(project("p"));
    store.commit(records).unwrap();
    let usage = store.usage();
    assert_eq!((usage.packages, usage.projects, usage.package_bytes, usage.unused_bytes), (2, 1, 123, 0));
    assert_eq!(usage, opened(directory).usage());
}

#[test]
fn opening_does_not_decode_indexes() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    let mut records = append(&store, &directory, &[("a", 100)]);
    if let JournalRecord::Package { index, .. } = &mut records[0] {
        *index = "nonsense".into();
    }
    store.commit(records).unwrap();
    let store = opened(directory);
    assert!(store.lookup(&key("a")).unwrap().index().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_packages_come_back(rounds in proptest::collection::vec(proptest::collection::vec((0u8..20, 0usize..5000), 0..6), 0..6)) {
        let directory = MemoryDirectory::default();
        let mut sizes = std::collections::BTreeMap::new();
        for round in rounds {
            let mut store = opened(directory.clone());
            let names: Vec<String> = round.iter().map(|(number, _)| number.to_string()).collect();
            let packages: Vec<_> = names.iter().map(String::as_str).zip(round.iter().map(|(_, size)| *size)).collect();
            store.commit(append(&store, &directory, &packages)).unwrap();
            for (name, size) in packages {
                sizes.entry(name.to_owned()).or_insert(size);
            }
        }
        let mut store = opened(directory);
        assert_sound(&mut store);
        prop_assert_eq!(shown(&store).len(), sizes.len());
        for (name, size) in sizes {
            let read = now(store.read(&key(&name), 0, size as u64)).unwrap();
            prop_assert_eq!(&read[..], &package(&name, size).contents[0][..]);
        }
    }
}
