//! Bodies that are given up once they are written, while somebody still reads their documents.

use super::*;
use bytes::Bytes;
use gantry_manifest::Packument;
use gantry_platform::{Directory, RandomAccessFile};
use gantry_store::mirror::{DocumentForm, Freshness, Validators};

/// So many versions are more than what stays in memory.
const VERSIONS: u32 = 300;

fn key() -> MirrorKey {
    MirrorKey::packument("https://registry.example/", DocumentForm::Abbreviated, "a")
}

/// Keeps a document all versions of which have this `bin`; gives what somebody goes on using.
fn keep(mirror: &NativeMirror, bin: &str) -> Arc<Packument> {
    let version = |number| format!(r#""{number}.0.0":{{"name":"a","version":"{number}.0.0","bin":"{bin}"}}"#);
    let versions: Vec<String> = (1..=VERSIONS).map(version).collect();
    let body = format!(r#"{{"name":"a","versions":{{{}}}}}"#, versions.join(","));
    let packument = Arc::new(Packument::scan(Bytes::from(body)).unwrap().into_outlined());
    mirror.write(MirrorWrite::Document {
        key: key(),
        packument: Arc::clone(&packument),
        freshness: Freshness { answered: 1, lifetime: 1, must_revalidate: false },
        validators: Validators::default(),
    });
    packument
}

fn bin_of_last(packument: &Packument) -> Option<String> {
    packument.manifest(&format!("{VERSIONS}.0.0")).map(|manifest| manifest.bin[0].1.to_string())
}

#[test]
fn what_is_written_is_read_back_from_the_pack() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = NativeMirror::new(folder.path(), NativeClock::default());
    for bin in ["first.js", "second.js"] {
        let packument = keep(&mirror, bin);
        ready(mirror.settle()).unwrap();
        assert!(packument.body().is_none());
        assert_eq!(bin_of_last(&packument).as_deref(), Some(bin));
    }
    assert!(!mirror.take_damage());
    let kept = NativeMirror::new(folder.path(), NativeClock::default()).find(&key()).unwrap();
    assert_eq!(bin_of_last(&kept.packument).as_deref(), Some("second.js"));
}

#[test]
fn what_is_written_is_timed() {
    let folder = tempfile::tempdir().unwrap();
    let clock = NativeClock::default();
    let mirror = NativeMirror::new(folder.path(), clock.clone());
    keep(&mirror, "a.js");
    ready(mirror.settle()).unwrap();
    let [span] = &*mirror.take_spans() else { panic!("one document is written at once") };
    assert_eq!(span.work, Work::Mirror);
    assert!(span.bytes > u64::from(VERSIONS) * "'1.0.0':{'name':'a','version':'1.0.0','bin':'a.js'},".len() as u64);
    assert!(0.0 <= span.began && span.began <= span.ended && span.ended <= clock.monotonic_milliseconds());
    assert_eq!(mirror.take_spans(), [], "each is told once");
}

#[test]
fn what_cannot_be_read_back_is_told_and_nothing_more_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = NativeMirror::new(folder.path(), NativeClock::default());
    let packument = keep(&mirror, "a.js");
    ready(mirror.settle()).unwrap();
    ready(mirror.directory.open("metadata-pack-1")).unwrap().truncate(100).unwrap();
    assert_eq!(bin_of_last(&packument), None);
    assert!(mirror.take_damage() && !mirror.take_damage());
    let packument = keep(&mirror, "b.js");
    ready(mirror.settle()).unwrap();
    assert!(packument.body().is_some());
    assert_eq!(bin_of_last(&packument).as_deref(), Some("b.js"));
}

#[test]
fn what_could_not_be_written_stays_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("v1")).unwrap();
    std::fs::write(folder.path().join("v1/metadata"), "in the way").unwrap();
    let mirror = NativeMirror::new(folder.path(), NativeClock::default());
    let packument = keep(&mirror, "a.js");
    ready(mirror.settle()).unwrap_err();
    assert!(packument.body().is_some());
    assert_eq!(bin_of_last(&packument).as_deref(), Some("a.js"));
}
