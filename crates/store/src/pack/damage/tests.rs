//! Damage at every byte: it is always noticed, never spreads, and is mended by storing the packages again.

use crate::{
    JournalRecord, PackStore, PackageKey,
    pack::{
        PackWriter,
        format::HEADER,
        test_support::{append, assert_sound, key, now, opened, record},
    },
};
use gantry_platform::{Directory, RandomAccessFile, memory::MemoryDirectory};

const PACKAGES: [(&str, usize); 3] = [("a", 60), ("b", 35), ("c", 80)];

fn project(sequence: u64) -> JournalRecord {
    JournalRecord::Project { name: "app".into(), lock: vec![b'l'; 40].into(), options: "{}".into(), sequence }
}

/// A store with packages in one pack, and a project that was installed twice: its second record is the journal's last.
fn filled() -> MemoryDirectory {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    let mut records = append(&store, &directory, &PACKAGES);
    records.push(project(1));
    store.commit(records).unwrap();
    store.commit(vec![project(2)]).unwrap();
    directory
}

fn bytes(directory: &MemoryDirectory, name: &str) -> Vec<u8> {
    let file = now(directory.open(name)).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

/// A copy with one byte changed.
fn flipped(directory: &MemoryDirectory, name: &str, position: usize, bits: u8) -> MemoryDirectory {
    let copy = directory.snapshot();
    let byte = bytes(&copy, name)[position] ^ bits;
    now(copy.open(name)).unwrap().write_all_at(position as u64, &[byte]).unwrap();
    copy
}

/// A copy that ends early.
fn cut(directory: &MemoryDirectory, name: &str, length: usize) -> MemoryDirectory {
    let copy = directory.snapshot();
    now(copy.open(name)).unwrap().truncate(length as u64).unwrap();
    copy
}

/// As an install does: what verifying finds damaged goes, a pack that no writer can have is retired, and what is missing is
/// stored again. Gives the names of what was damaged.
fn repaired(directory: &MemoryDirectory) -> Vec<&'static str> {
    let mut store = opened(directory.clone());
    let damaged: Vec<&str> =
        PACKAGES.map(|(name, _)| name).into_iter().filter(|name| !is_whole(&mut store, name)).collect();
    store.close_packs();
    store.commit(damaged.iter().map(|name| JournalRecord::PackageRemoved { key: key(name) }).collect()).unwrap();
    let mut assignment = store.packs_for_writers(1).remove(0);
    let file = now(directory.open(&assignment.name)).unwrap();
    if store.retire_if_damaged(assignment.pack, &file).unwrap() {
        let refused = assignment.pack;
        assignment = store.packs_for_writers(1).remove(0);
        assert_ne!(assignment.pack, refused);
    }
    let file = now(directory.open(&assignment.name)).unwrap();
    let mut writer = PackWriter::open(file, assignment.pack, assignment.start).unwrap();
    let missing = PACKAGES.into_iter().filter(|(name, _)| store.lookup(&key(name)).is_none());
    let mut records: Vec<JournalRecord> = missing.map(|(name, size)| record(&mut writer, name, size)).collect();
    writer.flush().unwrap();
    records.push(project(3));
    store.commit(records).unwrap();
    drop((writer, store));

    let mut store = opened(directory.clone());
    assert_sound(&mut store);
    assert_eq!(store.catalog().package_count(), PACKAGES.len());
    assert_eq!(store.catalog().project("app").unwrap().sequence, 3);
    damaged
}

/// Whether a package is there and passes.
fn is_whole(store: &mut PackStore<MemoryDirectory>, name: &str) -> bool {
    now(store.verify_package(&key(name))).is_ok()
}

#[test]
fn every_flipped_byte_of_a_pack_is_noticed_in_the_package_it_belongs_to_and_mended() {
    let whole = filled();
    let store = opened(whole.clone());
    let ends = PACKAGES.map(|(name, _)| (name, store.lookup(&key(name)).unwrap().place.end().unwrap()));
    drop(store);
    for position in 0..bytes(&whole, "pack-0").len() {
        for bits in [0x01, 0x80, 0xff] {
            let expected: Vec<&str> = match position as u64 {
                header if header < HEADER => Vec::new(),
                inside => ends.iter().find(|(_, end)| inside < *end).map(|(name, _)| *name).into_iter().collect(),
            };
            assert_eq!(repaired(&flipped(&whole, "pack-0", position, bits)), expected, "{position}");
        }
    }
}

#[test]
fn a_pack_cut_at_every_byte_loses_only_what_is_cut_and_is_mended() {
    let whole = filled();
    for length in 0..bytes(&whole, "pack-0").len() {
        let directory = cut(&whole, "pack-0", length);
        let damaged = repaired(&directory);
        assert!(damaged.contains(&"c"), "{length}: {damaged:?}");
        assert!(length < 16 + 60 || !damaged.contains(&"a"), "{length}: {damaged:?}");
    }
}

#[test]
fn what_a_pack_lacks_leaves_the_store_when_a_writer_refuses_it() {
    let directory = cut(&filled(), "pack-0", 16 + 60);
    let mut store = opened(directory.clone());
    let file = now(directory.open("pack-0")).unwrap();
    assert!(PackWriter::open(file, 0, store.packs_for_writers(1)[0].start).is_err());
    let file = now(directory.open("pack-0")).unwrap();
    assert!(store.retire_if_damaged(0, &file).unwrap());
    let left: Vec<PackageKey> = store.catalog().packages().into_iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(left, [key("a")]);
    drop(file);
    // And by the next prune the pack is gone.
    now(store.prune(|_| true)).unwrap();
    assert_sound(&mut store);
    assert!(!now(directory.list()).unwrap().contains(&"pack-0".to_owned()));
    assert_eq!(opened(directory).catalog().package_count(), 1);
}

#[test]
fn what_a_pack_lacks_leaves_the_store_when_it_is_seen_to_be_short() {
    for (length, left) in [(16 + 60, vec![key("a")]), (0, Vec::new())] {
        let mut store = opened(cut(&filled(), "pack-0", length));
        let (pack, end) = store.pack_ends()[0];
        assert!(end > length as u64);
        assert!(store.retire_if_short(pack, length as u64).unwrap());
        let kept: Vec<PackageKey> = store.catalog().packages().into_iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(kept, left);
        assert!(store.packs_for_writers(1)[0].pack != pack);
    }
    let mut store = opened(filled());
    let (pack, end) = store.pack_ends()[0];
    assert!(!store.retire_if_short(pack, end).unwrap() && !store.retire_if_short(pack + 7, 0).unwrap());
    assert_eq!(store.packs_for_writers(1)[0].pack, pack);
}

#[test]
fn a_sound_pack_is_not_retired() {
    let directory = filled();
    let mut store = opened(directory.clone());
    let file = now(directory.open("pack-0")).unwrap();
    assert!(!store.retire_if_damaged(0, &file).unwrap());
    assert_eq!(store.packs_for_writers(1)[0].pack, 0);
    // Nor one of which nothing is recorded, whatever is in it.
    let file = now(directory.open("pack-1")).unwrap();
    file.write_all_at(0, b"left by a crash").unwrap();
    assert!(!store.retire_if_damaged(1, &file).unwrap());
}

#[test]
fn a_journal_damaged_at_every_byte_of_its_last_record_has_all_before_it_and_is_mended() {
    let whole = filled();
    let journal = bytes(&whole, "journal");
    let last = {
        let directory = MemoryDirectory::default();
        let mut store = opened(directory.clone());
        let mut records = append(&store, &directory, &PACKAGES);
        records.push(project(1));
        store.commit(records).unwrap();
        bytes(&directory, "journal").len()
    };
    let torn = (last..journal.len()).map(|length| cut(&whole, "journal", length));
    let positions = last..journal.len();
    let changed =
        positions.flat_map(|position| [0x01, 0x80, 0xff].map(|bits| flipped(&whole, "journal", position, bits)));
    for directory in torn.chain(changed) {
        let store = opened(directory.clone());
        assert_eq!(store.catalog().package_count(), PACKAGES.len());
        assert_eq!(store.catalog().project("app").unwrap().sequence, 1);
        drop(store);
        assert!(repaired(&directory).is_empty());
    }
}
