//! A packument made from its outline against the one that was scanned, and against damage.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use super::super::tests::any_packument;
use super::*;
use crate::{Packument, StoredBody};

/// A body in memory that counts what is read and what was found damaged.
#[derive(Debug, Default)]
struct Memory {
    bytes: Vec<u8>,
    read: AtomicU32,
    damaged: AtomicU32,
}

impl StoredBody for Memory {
    fn read(&self, range: Range<u32>) -> Option<Bytes> {
        self.read.fetch_add(range.end - range.start, Ordering::Relaxed);
        self.bytes.get(range.start as usize..range.end as usize).map(Bytes::copy_from_slice)
    }

    fn damaged(&self) {
        self.damaged.fetch_add(1, Ordering::Relaxed);
    }
}

fn scan(bytes: &[u8]) -> Packument {
    Packument::scan(Bytes::copy_from_slice(bytes)).expect("valid")
}

fn kept(bytes: &[u8]) -> (Packument, Arc<Memory>) {
    let memory = Arc::new(Memory { bytes: bytes.to_vec(), ..Memory::default() });
    let outline = scan(bytes).outline().expect("small enough");
    (Packument::from_outline(outline, memory.clone()).expect("an outline"), memory)
}

/// Everything a packument tells.
fn all(packument: &Packument) -> impl PartialEq + std::fmt::Debug + use<> {
    let about = |version: &str| {
        (
            version.to_owned(),
            packument.has_version(version),
            packument.is_deprecated(version),
            packument.engines(version).into_owned(),
            packument.published(version).map(str::to_owned),
            packument.version_bytes(version),
            packument.manifest(version),
        )
    };
    (
        packument.name().to_owned(),
        packument.dist_tags().map(|(tag, version)| (tag.to_owned(), version.to_owned())).collect::<Vec<_>>(),
        packument.is_abbreviated(),
        packument.versions().chain(["0.0.0-none"]).map(about).collect::<Vec<_>>(),
    )
}

const SMALL: &str = r#"{"name":"@s/a","dist-tags":{"latest":"2.0.0"},"versions":{
    "1.0.0":{"name":"@s/a","version":"1.0.0","deprecated":"old","engines":{"node":">=4","x":1}},
    "no version":{}, "10.0.0":{"engines":["node"]}, "2.0.0+b":{}, "2.0.0":{"name":"@s/a","version":"2.0.0"},
    "2.0.0-rc.1":{"engines":{"node":">=4","x":1}}}}"#;

#[test]
fn a_pick_reads_nothing_of_the_body() {
    let (packument, body) = kept(SMALL.as_bytes());
    assert!(packument.is_deprecated("1.0.0") && !packument.is_deprecated("2.0.0"));
    assert_eq!(*packument.engines("2.0.0-rc.1"), [(Text::from("node"), Text::from(">=4"))]);
    assert_eq!(packument.dist_tag("latest"), Some("2.0.0"));
    assert_eq!(body.read.load(Ordering::Relaxed), 0);
    let manifest = packument.manifest("2.0.0").expect("there");
    let read = body.read.load(Ordering::Relaxed);
    assert_eq!(read as usize, r#"{"name":"@s/a","version":"2.0.0"}"#.len());
    assert!(Arc::ptr_eq(&manifest, &packument.manifest("2.0.0").expect("kept")));
    assert_eq!(body.read.load(Ordering::Relaxed), read, "decoded once");
}

#[test]
fn the_order_is_npms_and_passes_over_what_is_no_version() {
    let (packument, _) = kept(SMALL.as_bytes());
    let order: Vec<_> = packument.versions_by_precedence().expect("kept").collect();
    assert_eq!(order, ["10.0.0", "2.0.0+b", "2.0.0", "2.0.0-rc.1", "1.0.0"]);
    assert!(scan(SMALL.as_bytes()).versions_by_precedence().is_none());
}

#[test]
fn an_outline_of_an_outline_is_the_same() {
    let (packument, _) = kept(SMALL.as_bytes());
    assert_eq!(packument.outline(), scan(SMALL.as_bytes()).outline());
}

#[test]
fn a_changed_or_missing_piece_is_reported_and_its_version_absent() {
    let outline = scan(SMALL.as_bytes()).outline().expect("small");
    let at = SMALL.find(r#""version":"2.0.0""#).expect("there");
    let mut changed = SMALL.as_bytes().to_vec();
    changed[at + 11] = b'3';
    for bytes in [changed, SMALL.as_bytes()[..at].to_vec()] {
        let body = Arc::new(Memory { bytes, ..Memory::default() });
        let packument = Packument::from_outline(outline.clone(), body.clone()).expect("an outline");
        assert!(packument.manifest("1.0.0").is_some());
        assert_eq!(body.damaged.load(Ordering::Relaxed), 0);
        assert!(packument.manifest("2.0.0").is_none());
        assert_eq!(body.damaged.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn a_body_at_hand_is_read_elsewhere_once_it_is_given_up() {
    let packument = scan(SMALL.as_bytes()).into_outlined();
    assert_eq!(packument.body().expect("at hand"), SMALL.as_bytes());
    let first = packument.manifest("1.0.0").expect("there");
    let memory = Arc::new(Memory { bytes: SMALL.as_bytes().to_vec(), ..Memory::default() });
    packument.give_up_body(memory.clone());
    assert_eq!(packument.body(), None);
    assert!(Arc::ptr_eq(&first, &packument.manifest("1.0.0").expect("decoded before")));
    assert_eq!(memory.read.load(Ordering::Relaxed), 0);
    assert_eq!(packument.manifest("2.0.0"), scan(SMALL.as_bytes()).manifest("2.0.0"));
    assert!(memory.read.load(Ordering::Relaxed) > 0);
    assert_eq!(all(&packument), all(&scan(SMALL.as_bytes())));
    // Only what is at hand can be given up.
    let other = Arc::new(Memory::default());
    packument.give_up_body(other.clone());
    assert!(packument.version_bytes("10.0.0").is_some());
    assert_eq!((memory.damaged.load(Ordering::Relaxed), other.damaged.load(Ordering::Relaxed)), (0, 0));
}

#[test]
fn a_packument_without_an_outline_keeps_its_body() {
    let versions: Vec<String> =
        (0..=u16::MAX).map(|number| format!(r#""{number}.0.0":{{"engines":{{"node":"{number}"}}}}"#)).collect();
    let packument = scan(format!(r#"{{"versions":{{{}}}}}"#, versions.join(",")).as_bytes()).into_outlined();
    assert!(packument.outline().is_none());
    packument.give_up_body(Arc::new(Memory::default()));
    assert!(packument.body().is_some() && packument.manifest("65535.0.0").is_some());
}

#[test]
fn another_format_is_no_outline() {
    let mut outline = scan(SMALL.as_bytes()).outline().expect("small").to_vec();
    outline[0] += 1;
    assert!(Packument::from_outline(outline.into(), Arc::new(Memory::default())).is_none());
    assert!(Packument::from_outline(Bytes::new(), Arc::new(Memory::default())).is_none());
}

#[test]
fn no_damaged_byte_makes_reading_panic() {
    let whole = scan(SMALL.as_bytes()).outline().expect("small");
    for place in 0..whole.len() {
        for byte in [0, 1, 0x3f, 0x40, 0x7f, 0x80, 0xff] {
            let mut changed = whole.to_vec();
            changed[place] = byte;
            read_everything(changed.into(), SMALL.as_bytes());
        }
    }
}

/// Reads all that an outline of any bytes tells, if it is taken for one.
fn read_everything(outline: Bytes, body: &[u8]) {
    let body = Arc::new(Memory { bytes: body.to_vec(), ..Memory::default() });
    if let Some(packument) = Packument::from_outline(outline, body) {
        let _ = (all(&packument), packument.versions_by_precedence().map(Iterator::count));
    }
}

proptest! {
    #[test]
    fn a_kept_packument_tells_what_the_scanned_one_tells(document in any_packument()) {
        let bytes = serde_json::to_vec(&document).expect("JSON");
        let (packument, body) = kept(&bytes);
        prop_assert_eq!(all(&packument), all(&scan(&bytes)));
        prop_assert_eq!(body.damaged.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_outlined_packument_tells_what_the_scanned_one_tells_and_so_when_its_body_is_given_up(document in any_packument()) {
        let bytes = serde_json::to_vec(&document).expect("JSON");
        let packument = scan(&bytes).into_outlined();
        prop_assert_eq!(all(&packument), all(&scan(&bytes)));
        let memory = Arc::new(Memory { bytes: bytes.clone(), ..Memory::default() });
        let packument = scan(&bytes).into_outlined();
        packument.give_up_body(memory.clone());
        prop_assert_eq!(all(&packument), all(&scan(&bytes)));
        prop_assert_eq!(memory.damaged.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn damage_to_an_outline_never_panics(document in any_packument(), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let bytes = serde_json::to_vec(&document).expect("JSON");
        let whole = scan(&bytes).outline().expect("small");
        let place = place.index(whole.len());
        let mut changed = whole.to_vec();
        changed[place] = byte;
        for outline in [Bytes::from(changed), whole.slice(..place)] {
            read_everything(outline, &bytes);
        }
    }
}
