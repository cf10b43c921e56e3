use super::{ArchiveFormat, TreeArchive};
use std::io::Read;

fn long_path() -> String {
    format!("node_modules/{}index.js", "long/".repeat(60))
}

fn example(format: ArchiveFormat) -> Vec<u8> {
    let mut archive = TreeArchive::new(format);
    let mut bytes = Vec::new();
    archive.symlink("node_modules/.bin/run", "../a/run.sh").unwrap();
    archive.file("node_modules/a/empty", false, b"").unwrap();
    bytes.extend(archive.take());
    archive.file("node_modules/a/run.sh", true, b"#!/bin/sh\n").unwrap();
    assert!(archive.made() > 0);
    archive.file("node_modules/a/\u{e9}.js", false, &[0, 159, 255].repeat(10_000)).unwrap();
    archive.symlink("node_modules/far", &format!("../{}", "up/".repeat(60))).unwrap();
    archive.file(&long_path(), false, b"deep").unwrap();
    bytes.extend(archive.finish().unwrap());
    bytes
}

#[test]
fn a_tar_archive_has_every_file_and_link_with_its_mode() {
    let bytes = example(ArchiveFormat::Tar);
    let mut archive = tar::Archive::new(bytes.as_slice());
    let mut found = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let link = entry.link_name_bytes().map(|link| String::from_utf8(link.into_owned()).unwrap());
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents).unwrap();
        found.push((path, entry.header().mode().unwrap(), link.unwrap_or_default(), contents.len()));
    }
    let entry = |path: &str, mode, link: &str, size| (path.to_owned(), mode, link.to_owned(), size);
    assert_eq!(
        found,
        [
            entry("node_modules/.bin/run", 0o777, "../a/run.sh", 0),
            entry("node_modules/a/empty", 0o644, "", 0),
            entry("node_modules/a/run.sh", 0o755, "", 10),
            entry("node_modules/a/\u{e9}.js", 0o644, "", 30_000),
            entry("node_modules/far", 0o777, &format!("../{}", "up/".repeat(60)), 0),
            entry(&long_path(), 0o644, "", 4),
        ]
    );
}

#[test]
fn a_zip_archive_has_every_file_and_link_with_its_mode() {
    let bytes = example(ArchiveFormat::Zip);
    let archive = rawzip::ZipArchive::from_slice(&bytes).unwrap();
    let mut found = Vec::new();
    for entry in archive.entries() {
        let entry = entry.unwrap();
        let path = String::from_utf8(entry.file_path().as_bytes().to_vec()).unwrap();
        found.push((path, entry.mode().value(), entry.uncompressed_size_hint()));
    }
    let entry = |path: &str, mode, size| (path.to_owned(), mode, size);
    assert_eq!(
        found,
        [
            entry("node_modules/.bin/run", 0o120_777, 11),
            entry("node_modules/a/empty", 0o100_644, 0),
            entry("node_modules/a/run.sh", 0o100_755, 10),
            entry("node_modules/a/\u{e9}.js", 0o100_644, 30_000),
            entry("node_modules/far", 0o120_777, 183),
            entry(&long_path(), 0o100_644, 4),
        ]
    );
}

#[test]
fn equal_trees_give_equal_archives() {
    assert_eq!(example(ArchiveFormat::Tar), example(ArchiveFormat::Tar));
    assert_eq!(example(ArchiveFormat::Zip), example(ArchiveFormat::Zip));
}
