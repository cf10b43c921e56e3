use crate::{
    JournalRecord, PackStore, PackageKey,
    pack::test_support::{Recorder, append, assert_sound, key, now, opened, writer},
};
use gantry_platform::{Directory, RandomAccessFile, memory::MemoryDirectory};
use rustc_hash::FxHashSet;

const LOCK: usize = 300 << 10;

fn project(sequence: u64) -> JournalRecord {
    JournalRecord::Project { name: "app".into(), lock: vec![b'x'; LOCK].into(), options: "{}".into(), sequence }
}

fn length(directory: &impl Directory, name: &str) -> u64 {
    now(directory.open(name)).unwrap().len().unwrap()
}

fn keys(store: &PackStore<impl Directory>) -> Vec<PackageKey> {
    store.catalog().packages().into_iter().map(|(key, _)| key.clone()).collect()
}

#[test]
fn a_project_that_changes_often_has_a_journal_that_stays_short() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("a", 1000), ("b", 10)])).unwrap();
    let mut longest = 0;
    let mut rewritten = 0;
    for sequence in 1..=200 {
        store.commit(vec![project(sequence)]).unwrap();
        longest = longest.max(store.usage().journal_bytes);
        if store.has_long_past() {
            now(store.forget_past()).unwrap();
            rewritten += 1;
        }
    }
    assert!(longest < 6 << 20, "{longest} bytes");
    assert!((2..40).contains(&rewritten), "{rewritten} times");
    let names = now(directory.list()).unwrap();
    assert_eq!(names.iter().filter(|name| name.starts_with("journal")).count(), 1, "{names:?}");
    drop(store);
    let mut store = opened(directory);
    assert_eq!(store.catalog().project("app").unwrap().sequence, 200);
    assert_eq!(store.catalog().project("app").unwrap().lock.len(), LOCK);
    assert_eq!(keys(&store).len(), 2);
    assert_sound(&mut store);
}

#[test]
fn a_journal_that_is_all_present_is_left_as_it_is() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory);
    for number in 0..40 {
        let record = JournalRecord::Project {
            name: format!("app {number}"),
            lock: vec![b'x'; LOCK].into(),
            options: "{}".into(),
            sequence: 1,
        };
        store.commit(vec![record]).unwrap();
        assert!(!store.has_long_past());
    }
}

#[test]
fn a_crash_at_any_moment_of_forgetting_the_past_loses_nothing() {
    let recorder = Recorder::default();
    let mut store = opened(recorder.clone());
    store.commit(append(&store, &recorder, &[("a", 1000), ("b", 10)])).unwrap();
    for sequence in 1..=3 {
        store.commit(vec![project(sequence)]).unwrap();
    }
    recorder.snapshots.borrow_mut().clear();
    now(store.forget_past()).unwrap();
    store.commit(vec![project(4)]).unwrap();
    let snapshots = recorder.snapshots.take();
    assert!(snapshots.len() > 10);
    for snapshot in snapshots {
        let mut store = opened(snapshot);
        assert!((3..=4).contains(&store.catalog().project("app").unwrap().sequence));
        assert_eq!(keys(&store).len(), 2);
        assert_sound(&mut store);
    }
}

#[test]
fn on_a_full_disk_the_past_stays_and_so_does_everything_else() {
    for writes in 0..4 {
        let recorder = Recorder::default();
        let mut store = opened(recorder.clone());
        store.commit(append(&store, &recorder, &[("a", 1000)])).unwrap();
        store.commit(vec![project(1)]).unwrap();
        recorder.writes_left.set(Some(writes));
        let forgotten = now(store.forget_past());
        recorder.writes_left.set(None);
        if let Err(error) = forgotten {
            assert_eq!(error.code(), "STORE_FULL");
        }
        store.commit(vec![project(2)]).unwrap();
        drop(store);
        let mut store = opened(recorder);
        assert_eq!((store.catalog().project("app").unwrap().sequence, keys(&store).len()), (2, 1));
        assert_sound(&mut store);
    }
}

#[test]
fn what_was_recorded_in_vain_is_forgotten_and_its_room_used_again() {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    store.commit(append(&store, &directory, &[("a", 1000)])).unwrap();
    let mark = store.mark();
    let start = store.packs_for_writers(1).remove(0);
    let vain = [("b", 5000), ("c", 7)];
    store.commit(append(&store, &directory, &vain)).unwrap();
    assert!(store.packs_for_writers(1).remove(0).start > start.start);

    let forgotten: FxHashSet<PackageKey> = vain.iter().map(|(name, _)| key(name)).collect();
    now(store.forget_packages(&forgotten, &mark)).unwrap();
    assert_eq!(keys(&store), [key("a")]);
    assert_eq!(store.packs_for_writers(1).remove(0), start);
    drop(writer(&store, &directory));
    assert_eq!(length(&directory, &start.name), start.start, "whoever opens it cuts it");
    // Also for who opens the store later.
    drop(store);
    let mut store = opened(directory.clone());
    assert_eq!(store.packs_for_writers(1).remove(0), start);
    store.commit(append(&store, &directory, &[("d", 900)])).unwrap();
    assert_eq!(keys(&store).len(), 2);
    assert_sound(&mut store);
}
