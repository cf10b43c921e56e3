use super::{FileRecord, PackageFacts, PackageIndex};
use crate::StoreError;
use proptest::prelude::*;

fn index(files: &[(&str, u64, bool)], facts: PackageFacts) -> PackageIndex {
    let mut offset = 0;
    let files = files
        .iter()
        .map(|&(path, size, executable)| {
            let record = FileRecord { path: path.into(), offset, size, executable };
            offset += size;
            record
        })
        .collect();
    PackageIndex { files, facts }
}

fn sample() -> PackageIndex {
    let facts = PackageFacts {
        name: Some("@scope/näme".into()),
        version: Some("1.2.3".into()),
        lock_members: Some("{\"license\":\"MIT\"}".into()),
        bin: vec![("run".into(), "bin/run.js".into()), ("other".into(), "bin/other.js".into())],
        has_install_script: true,
    };
    let files = [
        ("bin/other.js", 300, true),
        ("bin/run.js", 0, true),
        ("lib-x", 1, false),
        ("lib/a.js", 1 << 40, false),
        ("lib/ä.js", 5, false),
        ("lib/å.js", 5, false),
        ("lib0", 6, false),
        ("package.json", 127, false),
    ];
    index(&files, facts)
}

#[test]
fn an_index_reads_back_as_it_was() {
    for index in [sample(), PackageIndex::default(), index(&[("a", 0, false)], PackageFacts::default())] {
        assert_eq!(PackageIndex::decode(&index.encode()).unwrap(), index);
    }
}

#[test]
fn files_that_lie_anywhere_say_where() {
    let in_order = sample();
    let mut anywhere = in_order.clone();
    anywhere.files.rotate_left(3);
    anywhere.put_in_order();
    anywhere.files.sort_by(|left, right| left.path.cmp(&right.path));
    assert!(in_order.is_in_order() && !anywhere.is_in_order());
    assert_eq!(PackageIndex::decode(&anywhere.encode()).unwrap(), anywhere);
    assert_eq!(anywhere.segment_length(), in_order.segment_length());
    for length in 0..anywhere.encode().len() {
        assert!(PackageIndex::decode(&anywhere.encode()[..length]).is_err(), "{length}");
    }
    anywhere.put_in_order();
    assert_eq!(anywhere, in_order);
    anywhere.files[0].offset = u64::MAX;
    assert!(PackageIndex::decode(&anywhere.encode()).is_err(), "no file ends behind what can be counted");
}

#[test]
fn paths_share_their_beginnings() {
    let paths: Vec<String> = (0..1000).map(|number| format!("dist/cjs/internal/module-{number:04}.js")).collect();
    let files: Vec<_> = paths.iter().map(|path| (path.as_str(), 2000, false)).collect();
    let length = index(&files, PackageFacts::default()).encode().len();
    assert!(length < 1000 * 10, "{length}");
}

#[test]
fn every_cut_and_every_addition_is_refused() {
    let bytes = sample().encode();
    for length in 0..bytes.len() {
        let error = PackageIndex::decode(&bytes[..length]).unwrap_err();
        assert_eq!(error.code(), "STORE_CORRUPT", "{length}");
    }
    assert!(PackageIndex::decode(&[bytes.as_slice(), &[0]].concat()).is_err());
}

#[test]
fn another_version_is_told_apart_from_damage() {
    let mut bytes = sample().encode();
    bytes[0] = 3;
    assert!(matches!(PackageIndex::decode(&bytes), Err(StoreError::Format { .. })));
}

#[test]
fn unsorted_paths_and_sizes_beyond_counting_are_refused() {
    let twice =
        PackageIndex { files: vec![sample().files[0].clone(), sample().files[0].clone()], ..Default::default() };
    assert!(PackageIndex::decode(&twice.encode()).is_err());
    let mut vast = index(&[("a", u64::MAX >> 1, false), ("b", u64::MAX >> 1, false)], PackageFacts::default());
    vast.files.push(FileRecord { path: "c".into(), offset: u64::MAX - 1, size: 9, executable: false });
    assert!(PackageIndex::decode(&vast.encode()).is_err());
}

#[test]
fn a_count_larger_than_the_bytes_takes_no_memory() {
    let mut bytes = vec![1, 0, 0];
    bytes.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    assert!(PackageIndex::decode(&bytes).is_err());
}

#[test]
fn files_and_folders_are_found() {
    let index = sample();
    assert_eq!(index.file("bin/run.js").unwrap().offset, 300);
    assert_eq!(index.file("bin"), None);
    let below = |path| index.files_below(path).iter().map(|file| file.path.as_str()).collect::<Vec<_>>();
    assert_eq!(below("lib"), ["lib/a.js", "lib/ä.js", "lib/å.js"]);
    assert_eq!(below("li"), Vec::<&str>::new());
    assert!(index.is_directory("") && index.is_directory("bin"));
    assert!(!index.is_directory("package.json") && !index.is_directory("lib/a.js"));
    assert_eq!(index.segment_length(), 300 + 1 + (1 << 40) + 5 + 5 + 6 + 127);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = PackageIndex::decode(&bytes);
        let _ = PackageIndex::decode(&[&[1u8], bytes.as_slice()].concat());
    }

    #[test]
    fn random_damage_never_panics_and_what_is_read_is_sound(position in 0usize..200, byte in any::<u8>()) {
        let mut bytes = sample().encode();
        let position = position % bytes.len();
        bytes[position] = byte;
        if let Ok(index) = PackageIndex::decode(&bytes) {
            let mut end = 0;
            for file in &index.files {
                prop_assert_eq!(file.offset, end);
                end += file.size;
            }
            prop_assert!(index.files.windows(2).all(|pair| pair[0].path < pair[1].path));
        }
    }

    #[test]
    fn random_indexes_read_back(
        paths in proptest::collection::btree_map("[a-cäø/]{1,8}", (0u64..1 << 50, any::<bool>()), 0..20),
        name in proptest::option::of(".{0,10}"),
        bin in proptest::collection::vec((".{0,5}", ".{0,5}"), 0..4),
        has_install_script in any::<bool>(),
    ) {
        let files: Vec<_> = paths.iter().map(|(path, &(size, executable))| (path.as_str(), size, executable)).collect();
        let facts = PackageFacts { name, bin, has_install_script, ..PackageFacts::default() };
        let index = index(&files, facts);
        prop_assert_eq!(PackageIndex::decode(&index.encode()).unwrap(), index);
    }
}
