use super::{Incoming, IncomingError};
use crate::pack::test_support::now;
use crate::{PackWriter, prepare};
use gantry_archive::{Entry, Extractor, Integrity};
use gantry_platform::{Directory, memory::MemoryDirectory, memory::MemoryFile};

const PACKAGE: &str = "a@1.0.0";

fn tarball() -> Vec<u8> {
    let files = [
        ("package/package.json", r#"{"name":"a","bin":"run.js"}"#.to_owned()),
        ("package/run.js", "#!/usr/bin/env node\r\n".repeat(3000)),
        ("package/a.js", "x".repeat(100_000)),
    ];
    let entry = |(path, text): &(&str, String)| Entry {
        path: (*path).to_owned(),
        data: text.as_bytes().to_vec().into(),
        executable: false,
    };
    let entries: Vec<Entry<'_>> = files.iter().map(entry).collect();
    gantry_archive::write_archive(&entries).unwrap()
}

fn writer() -> PackWriter<MemoryFile> {
    PackWriter::open(now(MemoryDirectory::default().open("pack-0")).unwrap(), 0, 0).unwrap()
}

fn take(
    writer: &mut PackWriter<MemoryFile>,
    bytes: &[u8],
    integrity: Option<&Integrity>,
) -> Result<(crate::SegmentPlace, crate::PackageIndex), IncomingError<crate::StoreError>> {
    let mut incoming = Incoming::new(PACKAGE, integrity, writer.begin());
    for piece in bytes.chunks(1000) {
        incoming.verify(piece);
        incoming.unpack(piece)?;
    }
    incoming.append()
}

#[test]
fn a_tarball_becomes_what_it_becomes_in_one_piece() {
    let bytes = tarball();
    let integrity = Integrity::sha512_of(&bytes);
    for integrity in [Some(&integrity), None] {
        let mut writer = writer();
        let (place, mut index) = take(&mut writer, &bytes, integrity).unwrap();
        writer.settle().unwrap();
        let mut extractor = Extractor::default();
        let prepared = prepare(extractor.extract(PACKAGE, &bytes).unwrap());
        for (file, contents) in index.files.iter().zip(&prepared.contents) {
            assert_eq!(writer.read(place.offset + file.offset, file.size).unwrap(), **contents, "{}", file.path);
        }
        index.put_in_order();
        assert_eq!(index, prepared.index);
    }
}

#[test]
fn what_is_not_what_was_promised_is_that_before_it_is_anything_else() {
    let bytes = tarball();
    let integrity = Integrity::sha512_of(&bytes);
    let mut damaged = bytes.clone();
    damaged[2000] ^= 1;
    let other = gantry_archive::write_archive(&[]).unwrap();
    let mut writer = writer();
    let end = writer.end();
    for wrong in [&damaged[..], &bytes[..bytes.len() - 9], &other, b""] {
        assert!(matches!(take(&mut writer, wrong, Some(&integrity)), Err(IncomingError::Mismatch(_))));
    }
    let refusals: [(&[u8], _); 3] = [
        (&bytes[..bytes.len() / 2], "ARCHIVE_TRUNCATED"),
        (b"no archive at all", "ARCHIVE_FORMAT"),
        (b"", "ARCHIVE_EMPTY"),
    ];
    for (damaged, code) in refusals {
        let own = Integrity::sha512_of(damaged);
        for integrity in [Some(&own), None] {
            let refused = take(&mut writer, damaged, integrity);
            assert!(matches!(&refused, Err(IncomingError::Archive(error)) if error.code() == code), "{refused:?}");
        }
    }
    assert_eq!(writer.end(), end, "nothing of them stays");
    take(&mut writer, &bytes, Some(&integrity)).unwrap();
}
