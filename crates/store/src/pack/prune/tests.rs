use super::Pruned;
use crate::{
    Catalog, JournalRecord, PackStore, PackWriter, PackageKey,
    pack::test_support::{Recorder, append, assert_sound, key, now, opened, record},
};
use bytes::Bytes;
use gantry_platform::{Directory, RandomAccessFile, memory::MemoryDirectory};

const PACKAGES: [(&str, usize); 5] = [("a", 1000), ("b", 3000), ("c", 50), ("d", 2 << 20), ("empty", 0)];

fn project(name: &str, sequence: u64) -> JournalRecord {
    JournalRecord::Project { name: name.into(), lock: vec![b'x'; 5000].into(), options: "{}".into(), sequence }
}

/// A store with packages in two packs, a project that was installed often, and one that is gone.
fn filled<D: Directory + Clone>(directory: &D) -> PackStore<D> {
    let mut store = opened(directory.clone());
    store.commit(append(&store, directory, &PACKAGES)).unwrap();
    for sequence in 1..=10 {
        store.commit(vec![project("app", sequence)]).unwrap();
    }
    store.commit(vec![project("gone", 1), JournalRecord::ProjectRemoved { name: "gone".into() }]).unwrap();
    store
}

fn names<D: Directory>(store: &PackStore<D>) -> Vec<PackageKey> {
    store.catalog().packages().into_iter().map(|(key, _)| key.clone()).collect()
}

fn keys(names: &[&str]) -> Vec<PackageKey> {
    let mut keys: Vec<PackageKey> = names.iter().map(|name| key(name)).collect();
    keys.sort();
    keys
}

fn files(directory: &MemoryDirectory) -> Vec<String> {
    let mut names = now(directory.list()).unwrap();
    names.sort();
    names
}

fn contents(directory: &MemoryDirectory) -> Vec<(String, Bytes)> {
    let read = |name: String| {
        let file = now(directory.open(&name)).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_exact_at(0, &mut bytes).unwrap();
        (name, Bytes::from(bytes))
    };
    files(directory).into_iter().map(read).collect()
}

#[test]
fn a_directory_without_a_journal_has_none_to_read() {
    assert!(Catalog::read_newest(Vec::new()).unwrap().is_none());
    assert!(Catalog::read_newest(vec![("pack-0".into(), Bytes::new())]).unwrap().is_none());
    let unfinished = vec![("journal-1".into(), Bytes::new())];
    assert_eq!(Catalog::read_newest(unfinished).unwrap_err().code(), "STORE_CORRUPT");
}

#[test]
fn what_nobody_needs_goes_and_the_rest_stays() {
    let directory = MemoryDirectory::default();
    let mut store = filled(&directory);
    let kept = keys(&["a", "c", "empty"]);
    let pruned = now(store.prune(|key| kept.contains(key))).unwrap();
    assert_eq!((pruned.packages, pruned.damaged), (2, 0));
    assert!(pruned.freed_bytes > 2 << 20, "{pruned:?}");
    assert_eq!(files(&directory), ["journal-1", "pack-1"]);
    for mut store in [store, opened(directory.clone())] {
        assert_eq!(names(&store), kept);
        assert_eq!(store.usage().unused_bytes, 0);
        assert_eq!(store.catalog().project("app").map(|project| project.sequence), Some(10));
        assert_eq!(store.catalog().projects().count(), 1);
        assert_sound(&mut store);
    }
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("later", 77)])).unwrap();
    assert_sound(&mut opened(directory));
}

#[test]
fn a_store_without_waste_is_left_alone() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &PACKAGES)).unwrap();
    assert_eq!(now(store.prune(|_| true)).unwrap(), Pruned::default());
    assert_eq!(files(&directory), ["journal", "pack-0"]);
}

#[test]
fn pruning_again_and_again_works() {
    let directory = MemoryDirectory::default();
    let mut store = filled(&directory);
    for (round, name) in ["a", "b", "c"].into_iter().enumerate() {
        let gone = key(name);
        assert_eq!(now(store.prune(|key| *key != gone)).unwrap().packages, 1, "round {round}");
        store.commit(append(&store, &directory, &[(name, 500)])).unwrap();
        assert_eq!(names(&store), keys(&["a", "b", "c", "d", "empty"]));
        assert_sound(&mut store);
        store = opened(directory.clone());
    }
    assert_eq!(files(&directory).iter().filter(|name| name.starts_with("journal")).count(), 1);
}

#[test]
fn a_crash_at_any_moment_loses_nothing_that_is_needed() {
    let recorder = Recorder::default();
    let mut store = filled(&recorder);
    let kept = keys(&["a", "c", "empty"]);
    recorder.snapshots.borrow_mut().clear();
    now(store.prune(|key| kept.contains(key))).unwrap();
    let snapshots = recorder.snapshots.take();
    assert!(snapshots.len() > 10);
    for (moment, snapshot) in snapshots.into_iter().enumerate() {
        let read = Catalog::read_newest(contents(&snapshot)).unwrap().unwrap();
        let mut store = opened(snapshot.clone());
        let shown = names(&store);
        // Who may not write sees what a writer does.
        assert!(read.packages().into_iter().map(|(key, _)| key).eq(&shown), "moment {moment}");
        assert!(kept.iter().all(|key| shown.contains(key)), "moment {moment}: {shown:?}");
        assert_eq!(store.catalog().project("app").map(|project| project.sequence), Some(10), "moment {moment}");
        assert_sound(&mut store);
        // It goes on from there.
        now(store.prune(|key| kept.contains(key))).unwrap();
        store.commit(append(&store, &snapshot, &[("later", 77)])).unwrap();
        let mut store = opened(snapshot);
        assert_eq!(names(&store), keys(&["a", "c", "empty", "later"]), "moment {moment}");
        assert_sound(&mut store);
    }
}

#[test]
fn a_full_disk_leaves_the_store_as_it_was() {
    for writes in 0.. {
        let recorder = Recorder::default();
        let mut store = filled(&recorder);
        let (before, gone) = (names(&store), key("d"));
        recorder.writes_left.set(Some(writes));
        let result = now(store.prune(|key| *key != gone));
        recorder.writes_left.set(None);
        if result.is_ok() {
            assert!(writes > 2);
            return;
        }
        assert_eq!(result.unwrap_err().code(), "STORE_FULL", "{writes} writes");
        assert_eq!(names(&store), before);
        store.commit(append(&store, &recorder, &[("later", 77)])).unwrap();
        assert_eq!(names(&store).len(), before.len() + 1, "{writes} writes");
        assert_sound(&mut store);
        drop(store);
        let mut store = opened(recorder.directory.clone());
        assert_eq!(names(&store).len(), before.len() + 1, "{writes} writes, opened again");
        assert_sound(&mut store);
    }
}

#[test]
fn where_nothing_can_be_moved_what_is_not_needed_goes_all_the_same() {
    let recorder = Recorder::default();
    let mut store = filled(&recorder);
    // A pack of which nothing is needed.
    let number = store.packs_for_writers(9).last().unwrap().pack + 1;
    let file = now(recorder.open(&format!("pack-{number}"))).unwrap();
    let mut writer = PackWriter::open(file, number, 0).unwrap();
    store.commit(vec![record(&mut writer, "alone", 3 << 20)]).unwrap();
    drop(writer);
    let (gone, alone) = (key("d"), key("alone"));
    recorder.packs_are_full.set(true);
    let pruned = now(store.prune(|key| *key != gone && *key != alone)).unwrap();
    recorder.packs_are_full.set(false);
    assert_eq!((pruned.packages, pruned.damaged), (2, 0));
    assert!(pruned.freed_bytes >= 3 << 20, "{pruned:?}");
    let left = ["a", "b", "c", "empty"];
    assert_eq!(names(&store), keys(&left));
    assert_sound(&mut store);
    // With room again the rest goes.
    let pruned = now(store.prune(|_| true)).unwrap();
    assert!(pruned.packages == 0 && pruned.freed_bytes >= 2 << 20, "{pruned:?}");
    drop(store);
    let mut store = opened(recorder.directory.clone());
    assert_eq!(names(&store), keys(&left));
    assert_sound(&mut store);
}

#[test]
fn a_full_disk_is_an_error_where_nothing_would_be_given_back() {
    let recorder = Recorder::default();
    let mut store = filled(&recorder);
    let gone = key("d");
    store.commit(vec![JournalRecord::PackageRemoved { key: gone }]).unwrap();
    recorder.packs_are_full.set(true);
    assert_eq!(now(store.prune(|_| true)).unwrap_err().code(), "STORE_FULL");
    assert_sound(&mut store);
}

#[test]
fn what_is_damaged_is_not_moved() {
    let directory = MemoryDirectory::default();
    let mut store = filled(&directory);
    let place = store.lookup(&key("a")).unwrap().place;
    let pack = now(directory.open("pack-0")).unwrap();
    pack.write_all_at(place.offset + 10, b"damage").unwrap();
    let gone = key("d");
    let pruned = now(store.prune(|key| *key != gone)).unwrap();
    assert_eq!((pruned.packages, pruned.damaged), (1, 1));
    assert_eq!(names(&store), keys(&["b", "c", "empty"]));
    assert_sound(&mut store);
}

#[test]
fn a_journal_with_a_long_past_is_written_anew() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &PACKAGES)).unwrap();
    for sequence in 1..=30 {
        store.commit(vec![project("app", sequence)]).unwrap();
    }
    let pruned = now(store.prune(|_| true)).unwrap();
    assert_eq!(pruned.packages, 0);
    assert!(pruned.freed_bytes > 100_000, "{pruned:?}");
    assert!(store.usage().journal_bytes < 10_000);
    assert_sound(&mut opened(directory));
}
