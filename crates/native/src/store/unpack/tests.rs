use super::super::record::Record;
use super::{Building, Built, Unpacking};
use crate::NativeClock;
use gantry_archive::{Entry, Extractor, write_archive};
use gantry_engine::Fault;
use gantry_registry::TarballRequest;
use gantry_store::{Alteration, FileRecord, PackageIndex, Placement};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

fn tarball(files: &[(&str, &str, bool)]) -> Vec<u8> {
    let entry = |&(path, text, executable): &(&str, &str, bool)| Entry {
        path: path.to_owned(),
        data: text.as_bytes().to_vec().into(),
        executable,
    };
    write_archive(&files.iter().map(entry).collect::<Vec<_>>()).unwrap()
}

/// Every file's contents and mode.
fn tree(folder: &Path) -> BTreeMap<String, (Vec<u8>, u32)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(tree(&entry.path()).into_iter().map(|(path, file)| (format!("{name}/{path}"), file)));
        } else {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let mut contents = fs::read(entry.path()).unwrap();
            if name == "index" {
                // Each says which file it is.
                contents[1..9].fill(0);
            }
            found.insert(name, (contents, mode));
        }
    }
    found
}

/// What both ways make of a tarball below `folder`.
fn both_ways(folder: &Path, compressed: &[u8]) -> [Result<Built, Fault>; 2] {
    let request = TarballRequest::of_body("a@1.0.0", Vec::new().into(), None);
    let clock = NativeClock::default();
    let unpacking = Unpacking { request: &request, compressed, temporary: folder, clock: &clock };
    [unpacking.at_once(&mut Extractor::default()), unpacking.piece_by_piece()]
}

#[test]
fn both_ways_make_the_same_directory() {
    let large = "x".repeat(900_000);
    let compressed = tarball(&[
        ("z/last.js", "first of two", false),
        ("z/last.js", "second of two", false),
        ("bin/run.js", "#!/usr/bin/env node\r\nx\r\n", false),
        ("bin/plain.js", "#!/usr/bin/env node\n", false),
        ("lib/large.js", &large, false),
        ("lib/deep/er/a.js", "", true),
        ("package.json", r#"{"name":"a","bin":{"run":"bin/run.js","plain":"bin/plain.js"}}"#, false),
        ("lib/other.js", "y", false),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let [whole, pieces] = both_ways(folder.path(), &compressed).map(Result::unwrap);
    let (whole_tree, pieces_tree) = (tree(whole.directory.path()), tree(pieces.directory.path()));
    assert_eq!(whole_tree, pieces_tree);
    assert_eq!(whole.index, pieces.index);
    assert_eq!(whole_tree.len(), 8, "seven files and the index");
    assert_eq!(whole_tree["files/z/last.js"].0, b"second of two");
    assert_eq!(whole_tree["files/bin/run.js"], (b"#!/usr/bin/env node\nx\r\n".to_vec(), 0o755));
}

#[test]
fn what_cannot_be_unpacked_leaves_nothing() {
    let compressed = tarball(&[("lib/large.js", &"x".repeat(900_000), false)]);
    let folder = tempfile::tempdir().unwrap();
    for result in both_ways(folder.path(), &compressed[..600_000]) {
        assert_eq!(result.map(drop).unwrap_err().code, "ARCHIVE_TRUNCATED");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// What a file system comes to that takes two names for one is made by hand: both names lead to the file made last.
#[test]
fn a_name_that_is_another_to_the_file_system_makes_way_and_leaves_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let mut building = Building::create(folder.path()).unwrap();
    let files = building.path.clone();
    let texts = [("other.js", "other"), ("README.md", "first"), ("Readme.md", "second, longer")];
    for (path, text) in texts {
        if path == "Readme.md" {
            fs::rename(files.join("README.md"), files.join(path)).unwrap();
        }
        building.begin(path, false).unwrap();
        building.write(text.as_bytes()).unwrap();
    }
    fs::hard_link(files.join("Readme.md"), files.join("README.md")).unwrap();
    let mut index = PackageIndex::default();
    for (path, text) in texts {
        let size = text.len() as u64;
        index.files.push(FileRecord { path: path.to_owned(), offset: 0, size, executable: false });
    }
    index.files.sort_by(|left, right| left.path.cmp(&right.path));
    let altered = index.files.iter().position(|file| file.path == "README.md").unwrap();
    let alteration = Alteration { file: altered, removed: Some(4) };
    let built = building.finish(index, &[alteration], [0.0, 0.0], &NativeClock::default()).unwrap();
    let listed = |index: &PackageIndex| -> Vec<(String, u64)> {
        index.files.iter().map(|file| (file.path.clone(), file.size)).collect()
    };
    let expected = [("Readme.md".to_owned(), 14), ("other.js".to_owned(), 5)];
    assert_eq!(listed(&built.index), expected);
    let kept = Record::decode(&fs::read(built.directory.path().join("index")).unwrap()).unwrap();
    assert_eq!(listed(&kept.index), expected);
    assert_eq!(kept.sums, Some(vec![xxh3_64(b"second, longer"), xxh3_64(b"other")]));
    assert_eq!(fs::read(files.join("Readme.md")).unwrap(), b"second, longer");
}

#[test]
fn a_file_does_not_take_the_place_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut building = Building::create(folder.path()).unwrap();
    building.begin("lib/index.js", false).unwrap();
    let error = building.begin("lib", false).unwrap_err();
    assert_eq!(error.code(), "DISK_IO");
    assert!(building.path.join("lib/index.js").is_file());
}
