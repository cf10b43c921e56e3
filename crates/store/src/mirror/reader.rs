//! Finding what is kept.

use super::{
    Freshness, MirrorKey, Validators,
    catalog::Catalog,
    files::{Current, Listing},
    record::DocumentPlace,
    writer::{MirrorWrite, Written},
};
use bytes::Bytes;
use gantry_manifest::{Packument, StoredBody};
use gantry_platform::{Directory, FileError, RandomAccessFile};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// A document up to this many bytes is read whole, with its outline: a second read costs more than so many bytes.
const SMALL_DOCUMENT: u64 = 8 << 10;

/// Everything kept when it was opened. Documents are read when they are used.
#[derive(Debug)]
pub struct MirrorReader<F> {
    catalog: Catalog,
    pack: Option<Arc<PackFile<F>>>,
}

/// A document that is kept.
#[derive(Debug)]
pub struct Kept {
    /// The document.
    pub packument: Arc<Packument>,
    /// How long it is good for.
    pub freshness: Freshness,
    /// How to ask whether it has changed.
    pub validators: Validators,
    /// Length of its body, and xxh3-64 of it.
    body: (u32, u64),
}

impl Kept {
    /// Whether this is the same document, byte for byte.
    pub fn has_body(&self, body: &[u8]) -> bool {
        body.len() as u64 == u64::from(self.body.0) && xxh3_64(body) == self.body.1
    }
}

impl<F: RandomAccessFile + std::fmt::Debug + Send + Sync + 'static> MirrorReader<F> {
    /// A mirror that keeps nothing.
    pub fn empty() -> Self {
        Self { catalog: Catalog::empty(), pack: None }
    }

    /// Reads the journal of a directory. Where there is none nothing is kept, and nothing is made.
    pub async fn open<D: Directory<File = F>>(directory: &D) -> Result<Self, FileError> {
        let Some(Current { pack: number, pack_file: file, bytes, .. }) =
            Listing::read(directory).await?.current(directory).await?
        else {
            return Ok(Self::empty());
        };
        let length = AtomicU64::new(file.len()?);
        let pack = PackFile { number, file, length, damaged: Mutex::default(), news: AtomicBool::new(false) };
        Ok(Self { catalog: Catalog::replay(bytes), pack: Some(Arc::new(pack)) })
    }

    /// Whether there is a document of `key`, as far as can be told without reading it.
    pub fn has(&self, key: &MirrorKey) -> bool {
        self.catalog.document(key).is_some()
    }

    /// The document of `key`.
    pub fn find(&self, key: &MirrorKey) -> Option<Kept> {
        let pack = self.pack.as_ref()?;
        let document = self.catalog.document(key)?;
        let DocumentPlace { offset, outline, body, outline_checksum, body_checksum } = document.place;
        if pack.damaged().contains(&offset) {
            return None;
        }
        let length = document.place.length();
        let read = if length <= SMALL_DOCUMENT { length } else { u64::from(outline) };
        let bytes = pack.read(offset, read)?;
        let outline = bytes.slice(..outline as usize);
        if xxh3_64(&outline) != outline_checksum {
            return None;
        }
        let at_hand = (read == length).then(|| bytes.slice(outline.len()..));
        let kept = KeptBody { pack: Arc::clone(pack), place: document.place, at_hand };
        Some(Kept {
            packument: Arc::new(Packument::from_outline(outline, Arc::new(kept))?),
            freshness: document.state.freshness,
            validators: document.state.validators(),
            body: (body, body_checksum),
        })
    }

    /// Has the bodies of documents that were just written read from the pack, so that they need not stay in memory; small
    /// ones do. That they are [damaged](Self::take_damage) is told, too. `written` is what the writer of this mirror made of
    /// `writes` since this reader was opened; of another pack than this reader's nothing is given up.
    pub fn lend(&self, writes: &[MirrorWrite], written: &Written) {
        let Some(pack) = self.pack.as_ref().filter(|pack| pack.number == written.pack) else { return };
        for &(number, place) in &written.documents {
            let (Some(MirrorWrite::Document { packument, .. }), Some(end)) = (writes.get(number), place.end()) else {
                continue;
            };
            if u64::from(place.body) > SMALL_DOCUMENT {
                pack.length.fetch_max(end, Ordering::Relaxed);
                packument.give_up_body(Arc::new(KeptBody { pack: Arc::clone(pack), place, at_hand: None }));
            }
        }
    }

    /// What is kept of a version whose tarball has this integrity: the members that only its own document has, if any.
    pub fn facts(&self, key: &MirrorKey, integrity: &str) -> Option<Option<&str>> {
        self.catalog.facts(key, integrity)
    }

    /// Whether a document that was given out has turned out to be damaged since the last call. What was made of it must be
    /// made again; it is not found any more.
    pub fn take_damage(&self) -> bool {
        self.pack.as_ref().is_some_and(|pack| pack.news.swap(false, Ordering::Relaxed))
    }
}

/// A pack open for reading.
#[derive(Debug)]
struct PackFile<F> {
    number: u32,
    file: F,
    /// Its length when it was opened, or the end of what was written since. What is recorded of it ends before that, or is not
    /// there.
    length: AtomicU64,
    /// Offsets of documents found damaged.
    damaged: Mutex<FxHashSet<u64>>,
    /// Whether there are some that nobody has been told of.
    news: AtomicBool,
}

impl<F: RandomAccessFile> PackFile<F> {
    /// `None` if it cannot be read.
    fn read(&self, offset: u64, length: u64) -> Option<Bytes> {
        // Asked before memory is taken: a length that is nonsense must not take all of it.
        let is_inside = offset.checked_add(length)? <= self.length.load(Ordering::Relaxed);
        let mut bytes = is_inside.then(|| vec![0; usize::try_from(length).unwrap_or(usize::MAX)])?;
        self.file.read_exact_at(offset, &mut bytes).ok()?;
        Some(bytes.into())
    }

    fn damaged(&self) -> std::sync::MutexGuard<'_, FxHashSet<u64>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The body of one document.
#[derive(Debug)]
struct KeptBody<F> {
    pack: Arc<PackFile<F>>,
    place: DocumentPlace,
    at_hand: Option<Bytes>,
}

impl<F: RandomAccessFile + std::fmt::Debug + Send + Sync> StoredBody for KeptBody<F> {
    fn read(&self, range: Range<u32>) -> Option<Bytes> {
        let DocumentPlace { offset, outline, body, .. } = self.place;
        if range.start > range.end || range.end > body {
            return None;
        }
        match &self.at_hand {
            Some(body) => Some(body.slice(range.start as usize..range.end as usize)),
            None => {
                let start = offset + u64::from(outline) + u64::from(range.start);
                self.pack.read(start, u64::from(range.end - range.start))
            }
        }
    }

    fn damaged(&self) {
        self.pack.damaged().insert(self.place.offset);
        self.pack.news.store(true, Ordering::Relaxed);
    }
}
