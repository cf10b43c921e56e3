//! Bodies that are given up once they are written, and read back by whoever still needs them.

use super::*;

/// Larger than what stays in memory.
const MANY: u32 = 300;

/// A document as one that was just fetched, and the packument that somebody goes on using.
fn fetched(name: &str, edition: u32, versions: u32) -> (MirrorWrite, Arc<Packument>) {
    let packument = Packument::scan(Bytes::from(body(name, edition, versions))).unwrap().into_outlined();
    let packument = Arc::new(packument);
    let (freshness, validators) = (fresh(1), tagged(&format!("\"{name}-{edition}\"")));
    (MirrorWrite::Document { key: key(name), packument: packument.clone(), freshness, validators }, packument)
}

/// Whether all versions are those of this edition.
fn is_edition(packument: &Packument, edition: u32) -> bool {
    let file = format!("e{edition}.js");
    packument.versions().all(|version| packument.manifest(version).is_some_and(|manifest| manifest.bin[0].1 == file))
}

#[test]
fn a_body_that_was_given_up_is_read_back_from_the_pack() {
    let directory = MemoryDirectory::default();
    let mut writer = now(MirrorWriter::open(directory.clone())).unwrap();
    let reader = reader(&directory);
    for round in 1..=3 {
        let names = ["a", "b", "c"].map(|name| fetched(name, round, MANY));
        let (mut writes, packuments): (Vec<_>, Vec<_>) = names.into_iter().unzip();
        writes.insert(1, facts("a", None));
        let (small, small_packument) = fetched("small", round, 2);
        writes.push(small);
        let written = writer.write(&writes).unwrap();
        assert!(packuments.iter().all(|packument| packument.body().is_some()), "not before somebody lends them");
        reader.lend(&writes, &written);
        assert!(packuments.iter().all(|packument| packument.body().is_none()));
        assert!(small_packument.body().is_some(), "a read costs more than it holds");
        assert!(packuments.iter().chain([&small_packument]).all(|packument| is_edition(packument, round)));
    }
    assert!(!reader.take_damage());
    for name in ["a", "b", "c", "small"] {
        assert_eq!(edition(&directory, name), Some(3), "it is kept for the next time, too");
    }
}

#[test]
fn a_document_that_has_given_up_its_body_is_not_written_again() {
    let directory = MemoryDirectory::default();
    let mut writer = now(MirrorWriter::open(directory.clone())).unwrap();
    let reader = reader(&directory);
    let (write, _) = fetched("a", 1, MANY);
    let writes = [write];
    reader.lend(&writes, &writer.write(&writes).unwrap());
    let before = bytes(&directory, "metadata-pack-1").len();
    reader.lend(&writes, &writer.write(&writes).unwrap());
    assert_eq!(bytes(&directory, "metadata-pack-1").len(), before);
    assert_eq!(edition(&directory, "a"), Some(1));
}

#[test]
fn a_body_that_cannot_be_read_back_is_reported_and_its_version_absent() {
    for damage in ["a byte", "the end"] {
        let directory = MemoryDirectory::default();
        let mut writer = now(MirrorWriter::open(directory.clone())).unwrap();
        let reader = reader(&directory);
        let (write, packument) = fetched("a", 1, MANY);
        let writes = [write];
        reader.lend(&writes, &writer.write(&writes).unwrap());
        let pack = now(directory.open("metadata-pack-1")).unwrap();
        let end = pack.len().unwrap();
        match damage {
            "a byte" => pack.write_all_at(end - 8, b"!").unwrap(),
            _ => pack.truncate(end - 8).unwrap(),
        }
        assert!(packument.manifest("1.0.0").is_some() && !reader.take_damage());
        assert!(packument.manifest(&format!("{MANY}.0.0")).is_none());
        assert!(reader.take_damage() && !reader.take_damage());
        assert!(reader.find(&key("a")).is_none(), "it has to be asked for again");
    }
}

#[test]
fn what_could_not_be_written_stays_in_memory() {
    let recorder = Recorder::default();
    let mut writer = now(MirrorWriter::open(recorder.clone())).unwrap();
    recorder.writes_left.set(Some(0));
    let (write, packument) = fetched("a", 1, MANY);
    writer.write(&[write]).unwrap_err();
    assert!(packument.body().is_some() && is_edition(&packument, 1));
}

#[test]
fn nothing_is_given_up_for_a_pack_that_the_reader_does_not_have() {
    let directory = MemoryDirectory::default();
    let mut writer = with_garbage(&directory);
    let (old, empty) = (reader(&directory), MirrorReader::<gantry_platform::memory::MemoryFile>::empty());
    now(writer.compact()).unwrap();
    let (write, packument) = fetched("a", 1, MANY);
    let writes = [write];
    let written = writer.write(&writes).unwrap();
    for reader in [&old, &empty] {
        reader.lend(&writes, &written);
        assert!(packument.body().is_some());
    }
}
