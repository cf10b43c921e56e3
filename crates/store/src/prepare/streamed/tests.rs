use super::Streamed;
use crate::pack::test_support::{Recorder, key, now, opened, writer};
use crate::{JournalRecord, PackWriter, PreparedPackage, StoreError, prepare};
use gantry_archive::{Entry, FileSink};
use gantry_platform::{Directory, memory::MemoryDirectory};
use proptest::prelude::*;
use std::borrow::Cow;

fn entry(path: &str, data: &str, executable: bool) -> Entry<'static> {
    Entry { path: path.into(), data: Cow::Owned(data.as_bytes().to_vec()), executable }
}

/// Puts files down in pieces, records them, and reads them from the store again.
fn stored(entries: &[Entry<'_>], piece: usize) -> (PreparedPackage<'static>, u64) {
    let directory = MemoryDirectory::default();
    let mut store = opened(directory.clone());
    let mut writer = writer(&store, &directory);
    // One that was given up before.
    let mut given_up = Streamed::new(writer.begin());
    given_up.begin("a", false).unwrap();
    given_up.write(b"nothing").unwrap();
    drop(given_up);

    let mut streamed = Streamed::new(writer.begin());
    for Entry { path, data, executable } in entries {
        streamed.begin(path, *executable).unwrap();
        data.chunks(piece).for_each(|piece| streamed.write(piece).unwrap());
    }
    let (segment, mut index, alterations) = streamed.finish();
    let place = segment.finish(&mut index, &alterations).unwrap();
    assert_eq!(place.offset, 16, "what was given up left nothing");
    writer.settle().unwrap();
    writer.flush().unwrap();
    drop(writer);
    store.commit(vec![JournalRecord::Package { key: key("a"), place, index: index.encode().into() }]).unwrap();

    now(store.verify_package(&key("a"))).unwrap();
    assert_eq!(*store.lookup(&key("a")).unwrap().index().unwrap(), index);
    let mut contents = Vec::new();
    for file in &index.files {
        contents.push(Cow::Owned(now(store.read(&key("a"), file.offset, file.size)).unwrap()));
    }
    index.put_in_order();
    (PreparedPackage { index, contents }, place.length)
}

/// As an archive's files are: the last of a name counts.
fn last_of_each(entries: &[Entry<'static>]) -> Vec<Entry<'static>> {
    let is_last = |position: usize| entries[position + 1..].iter().all(|later| later.path != entries[position].path);
    (0..entries.len()).filter(|&position| is_last(position)).map(|position| entries[position].clone()).collect()
}

#[test]
fn commands_are_altered_after_they_were_written() {
    let entries = [
        entry("bin/a.js", "#!/usr/bin/env node\r\nx\r\n", false),
        entry("bin/b.js", "#!/usr/bin/env node\n", false),
        entry("lib/c.js", "#!/usr/bin/env node\r\n", false),
        entry("package.json", r#"{"name":"x","bin":{"a":"./bin/a.js","again":"bin/a.js","b":"bin/b.js"}}"#, false),
        entry("binding.gyp", "{}", false),
    ];
    for piece in [1, 7, 1000] {
        let (package, length) = stored(&entries, piece);
        assert_eq!(package, prepare(entries.to_vec()));
        let archive: usize = entries.iter().map(|entry| entry.data.len()).sum();
        assert_eq!(length as usize, archive + entries[0].data.len() - 1, "the altered file is there twice");
    }
}

#[test]
fn a_package_that_ends_with_what_is_no_file_any_more_is_whole() {
    let entries = [entry("b", "b", false), entry("a", "first", false), entry("a", "", false)];
    let (package, length) = stored(&entries, 3);
    assert_eq!((package.index.segment_length(), length), (1, 6));
}

#[test]
fn a_pack_that_takes_no_more_gets_nothing() {
    let full = Recorder::default();
    let mut writer = PackWriter::open(now(full.open("pack-0")).unwrap(), 0, 0).unwrap();
    full.writes_left.set(Some(1));
    let mut streamed = Streamed::new(writer.begin());
    streamed.begin("a", false).unwrap();
    let written: Result<(), StoreError> = (0..40).try_for_each(|_| streamed.write(&[7; 100_000]));
    assert!(matches!(written, Err(StoreError::Full { .. })), "{written:?}");
    drop(streamed);
    full.writes_left.set(None);
    let place = writer.append(&prepare(vec![entry("a", "a", false)])).unwrap();
    assert_eq!((place.offset, writer.end()), (16, 17));
}

proptest! {
    #[test]
    fn it_is_what_is_made_of_all_files_at_once(
        files in prop::collection::vec(
            ("a|b|package.json|binding.gyp|bin/x", "(#!s\r?\n)?[xy\r\n]{0,40}|\\{\"name\":\"n\",\"bin\":\"bin/x\"\\}", any::<bool>()),
            0..8,
        ),
        piece in 1usize..50,
    ) {
        let entries: Vec<Entry<'static>> =
            files.iter().map(|(path, data, executable)| entry(path, data, *executable)).collect();
        let (package, _) = stored(&entries, piece);
        prop_assert_eq!(package, prepare(last_of_each(&entries)));
    }
}
