//! A mirror that gives bodies up while their documents are in use.

use super::*;
use gantry_manifest::Packument;
use gantry_platform::memory::MemoryFile;
use gantry_platform::{Directory, RandomAccessFile};
use std::rc::Rc;

/// Writes at once, and reads back what it has written.
#[derive(Debug, Clone)]
struct Lender {
    directory: MemoryDirectory,
    reader: Rc<MirrorReader<MemoryFile>>,
}

impl Lender {
    fn new() -> Self {
        let directory = MemoryDirectory::default();
        now(MirrorWriter::open(directory.clone())).unwrap();
        let reader = Rc::new(now(MirrorReader::open(&directory)).unwrap());
        Self { directory, reader }
    }
}

impl MetadataMirror for Lender {
    fn has(&self, key: &MirrorKey) -> bool {
        self.reader.has(key)
    }

    fn find(&self, key: &MirrorKey) -> Option<Kept> {
        self.reader.find(key)
    }

    fn facts(&self, _: &MirrorKey, _: &str) -> Option<Option<String>> {
        None
    }

    fn lends(&self) -> bool {
        true
    }

    fn write(&self, write: MirrorWrite) {
        let writes = [write];
        let written = now(MirrorWriter::open(self.directory.clone())).unwrap().write(&writes).unwrap();
        self.reader.lend(&writes, &written);
    }

    fn take_damage(&self) -> bool {
        self.reader.take_damage()
    }

    fn settle(&self) -> LocalBoxFuture<'_, Result<(), FileError>> {
        std::future::ready(Ok(())).boxed_local()
    }
}

/// Of 200 versions, whose text tells the number.
fn large() -> String {
    let version = |number| format!(r#""{number}.0.0":{{"name":"a","version":"{number}.0.0","bin":"{number}.js"}}"#);
    format!(r#"{{"name":"a","versions":{{{}}}}}"#, (1..=200).map(version).collect::<Vec<_>>().join(","))
}

fn ask(lender: &Lender, answers: Vec<Answer>) -> (usize, std::sync::Arc<Packument>) {
    let (script, clock) = (Script::new(answers), Sleeps::default());
    let client = client(&script, &clock, &[], ReplaceHost::Never).with_mirror(Box::new(lender.clone()));
    let packument = now(client.packument("a")).unwrap();
    (script.asked().len(), packument)
}

#[test]
fn a_document_that_was_fetched_gives_its_body_up_once_it_is_written_and_is_read_all_the_same() {
    let lender = Lender::new();
    let (asked, packument) = ask(&lender, vec![answer(200, &[FRESH], &large())]);
    assert_eq!((asked, packument.body()), (1, None));
    for number in 1..=200 {
        let manifest = packument.manifest(&format!("{number}.0.0")).unwrap();
        assert_eq!(manifest.bin[0].1, format!("{number}.js"));
    }
    assert!(!lender.take_damage());
}

#[test]
fn what_is_not_to_be_kept_is_not_given_up() {
    let lender = Lender::new();
    let (_, packument) = ask(&lender, vec![answer(200, &[("cache-control", "no-store")], &large())]);
    assert_eq!(packument.body().unwrap(), large().as_bytes());
}

#[test]
fn a_body_that_cannot_be_read_back_is_reported_and_asked_for_again() {
    let lender = Lender::new();
    let (_, packument) = ask(&lender, vec![answer(200, &[FRESH], &large())]);
    now(lender.directory.open("metadata-pack-1")).unwrap().truncate(100).unwrap();
    assert!(packument.manifest("7.0.0").is_none());
    assert!(lender.take_damage(), "whoever resolves begins again");
    let (asked, packument) = ask(&lender, vec![answer(200, &[FRESH], &large())]);
    assert_eq!(asked, 1);
    assert!(packument.manifest("7.0.0").is_some() && !lender.take_damage());
}
