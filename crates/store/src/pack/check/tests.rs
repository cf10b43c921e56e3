use super::{BLOCK, BlockSums, CheckedSegment, SegmentCheck};
use crate::{PackWriter, SegmentPlace, pack::test_support::now, prepare};
use gantry_archive::Entry;
use gantry_platform::{Directory, RandomAccessFile, memory::MemoryDirectory, memory::MemoryFile};
use proptest::prelude::*;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes no two blocks of which are alike.
fn contents(length: usize) -> Vec<u8> {
    (0u32..).flat_map(|number| number.wrapping_mul(0x9e37_79b9).to_le_bytes()).take(length).collect()
}

/// A pack with one package of one file.
fn packed(contents: &[u8]) -> (MemoryFile, SegmentPlace) {
    let file = now(MemoryDirectory::default().open("pack-0")).unwrap();
    let mut writer = PackWriter::open(now(MemoryDirectory::default().open("unused")).unwrap(), 0, 0).unwrap();
    let entry = Entry { path: "index.js".into(), data: Cow::Borrowed(contents), executable: false };
    let place = writer.append(&prepare(vec![entry])).unwrap();
    writer.settle().unwrap();
    let bytes = writer.read(0, writer.end()).unwrap();
    file.write_all_at(0, &bytes).unwrap();
    (file, place)
}

fn read(file: &MemoryFile, place: &SegmentPlace, part: std::ops::Range<u64>) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(part.end - part.start).unwrap()];
    file.read_exact_at(place.offset + part.start, &mut bytes).unwrap();
    bytes
}

fn is_whole(file: &MemoryFile, place: SegmentPlace) -> bool {
    let mut check = SegmentCheck::new(place);
    while let Some((offset, size)) = check.wanted() {
        check.update(&read(file, &place, offset..offset + size));
    }
    check.is_whole()
}

/// Reads a part as whoever has opened a project does; `None` where it is found damaged.
fn read_checked(
    file: &MemoryFile,
    place: &SegmentPlace,
    checked: &mut CheckedSegment,
    part: std::ops::Range<u64>,
) -> Option<Vec<u8>> {
    let wanted = checked.wanted(&part);
    assert!(wanted.start <= part.start && part.end <= wanted.end && wanted.end <= place.length);
    let bytes = read(file, place, wanted.clone());
    let start = usize::try_from(part.start - wanted.start).unwrap();
    let size = usize::try_from(part.end - part.start).unwrap();
    checked.accept(wanted.start, &bytes).then(|| bytes[start..start + size].to_vec())
}

#[test]
fn a_package_of_one_block_has_its_checksum_in_the_journal_and_nothing_behind_it() {
    for length in [0, 1, 100, BLOCK] {
        let bytes = contents(usize::try_from(length).unwrap());
        let (file, place) = packed(&bytes);
        assert_eq!((place.length, place.stored_length(), place.checksum), (length, length, xxh3_64(&bytes)));
        assert_eq!(file.len().unwrap(), place.offset + length);
    }
}

#[test]
fn behind_a_larger_one_there_is_a_checksum_for_each_block() {
    let length = 2 * BLOCK + 1;
    let bytes = contents(usize::try_from(length).unwrap());
    let (file, place) = packed(&bytes);
    assert_eq!(place.checksums(), length..length + 3 * 8);
    let list = read(&file, &place, place.checksums());
    let sums: Vec<u8> = bytes.chunks(BLOCK as usize).flat_map(|block| xxh3_64(block).to_le_bytes()).collect();
    assert_eq!((&list, place.checksum), (&sums, xxh3_64(&sums)));
    assert_eq!(file.len().unwrap(), place.offset + place.stored_length());
}

#[test]
fn only_the_blocks_that_are_asked_for_are_read_and_each_once() {
    let (file, place) = packed(&contents(10 * BLOCK as usize));
    let mut checked = CheckedSegment::new(&place, &read(&file, &place, place.checksums())).unwrap();
    let part = 3 * BLOCK + 5..3 * BLOCK + 10;
    assert_eq!(checked.wanted(&part), 3 * BLOCK..4 * BLOCK);
    assert!(read_checked(&file, &place, &mut checked, part.clone()).is_some());
    assert_eq!(checked.wanted(&part), part);
    let across = 4 * BLOCK - 1..4 * BLOCK + 1;
    assert_eq!(checked.wanted(&across), 3 * BLOCK..5 * BLOCK);
    assert_eq!(checked.wanted(&(9 * BLOCK..10 * BLOCK)), 9 * BLOCK..10 * BLOCK);
    assert_eq!(CheckedSegment::whole(&place).wanted(&across), across);
}

#[test]
fn damage_is_found_by_whoever_reads_that_block_and_by_nobody_else() {
    let length = 4 * BLOCK + 100;
    let (file, place) = packed(&contents(usize::try_from(length).unwrap()));
    let damaged = 2 * BLOCK + 7;
    let mut byte = read(&file, &place, damaged..damaged + 1);
    byte[0] ^= 1;
    file.write_all_at(place.offset + damaged, &byte).unwrap();
    let mut checked = CheckedSegment::new(&place, &read(&file, &place, place.checksums())).unwrap();
    assert_eq!(read_checked(&file, &place, &mut checked, 2 * BLOCK..2 * BLOCK + 1), None);
    assert_eq!(read_checked(&file, &place, &mut checked, BLOCK..2 * BLOCK + 1), None);
    assert!(read_checked(&file, &place, &mut checked, 4 * BLOCK..length).is_some());
    assert!(!is_whole(&file, place));
}

#[test]
fn a_damaged_list_of_checksums_is_damage() {
    let (file, place) = packed(&contents(3 * BLOCK as usize));
    let list = read(&file, &place, place.checksums());
    assert!(CheckedSegment::new(&place, &list[8..]).is_none());
    for at in 0..list.len() {
        let mut torn = list.clone();
        torn[at] ^= 0x80;
        assert!(CheckedSegment::new(&place, &torn).is_none());
        file.write_all_at(place.offset + place.length, &torn).unwrap();
        assert!(!is_whole(&file, place), "byte {at}");
    }
    file.write_all_at(place.offset + place.length, &list).unwrap();
    assert!(is_whole(&file, place));
}

proptest! {
    #[test]
    fn pieces_make_no_difference(length in 0usize..5 * BLOCK as usize, cuts in prop::collection::vec(0usize..5 * BLOCK as usize, 0..6)) {
        let bytes = contents(length);
        let mut whole = BlockSums::default();
        whole.update(&bytes);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(length)).chain([0, length]).collect();
        cuts.sort_unstable();
        let mut pieces = BlockSums::default();
        for cut in cuts.windows(2) {
            pieces.update(&bytes[cut[0]..cut[1]]);
        }
        prop_assert_eq!(whole.finish(), pieces.finish());
    }

    #[test]
    fn what_is_read_in_any_order_is_what_was_stored(
        length in 1u64..6 * BLOCK,
        parts in prop::collection::vec((0u64..6 * BLOCK, 0u64..2 * BLOCK), 1..20),
        flipped in prop::option::of(0u64..6 * BLOCK),
    ) {
        let bytes = contents(usize::try_from(length).unwrap());
        let (file, place) = packed(&bytes);
        let flipped = flipped.filter(|at| *at < length);
        if let Some(at) = flipped {
            file.write_all_at(place.offset + at, &[!bytes[usize::try_from(at).unwrap()]]).unwrap();
        }
        let mut checked = CheckedSegment::new(&place, &read(&file, &place, place.checksums())).unwrap();
        for (start, size) in parts {
            let start = start.min(length);
            let part = start..(start + size).min(length);
            let holds_damage = flipped.is_some_and(|at| part.contains(&at));
            match read_checked(&file, &place, &mut checked, part.clone()) {
                Some(read) => {
                    prop_assert!(!holds_damage);
                    prop_assert_eq!(&read[..], &bytes[usize::try_from(part.start).unwrap()..usize::try_from(part.end).unwrap()]);
                }
                None => prop_assert!(flipped.is_some()),
            }
        }
        prop_assert_eq!(is_whole(&file, place), flipped.is_none());
    }
}
