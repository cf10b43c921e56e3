//! The metadata mirror in OPFS, beside the packs.
//!
//! Only the coordinator worker of the tab that holds the store's Web Lock opens it, so there is one writer. Documents are
//! written some megabytes at a time while others are still under way, and from then on read from the pack, which bounds what
//! is held in memory: a module's memory never shrinks. A mirror that cannot be opened or written keeps nothing more, and what
//! it has not written stays in memory; the install goes on and says so at its end.

use crate::clock::BrowserClock;
use crate::opfs::OpfsDirectory;
use crate::shared_files::{SharedDirectory, SharedFile};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use gantry_platform::{Clock, FileError, FileErrorKind};
use gantry_registry::MetadataMirror;
use gantry_store::mirror::{Kept, MirrorKey, MirrorReader, MirrorWrite, MirrorWriter};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Bytes of documents that are written together.
const BYTES_BETWEEN_WRITES: usize = 4 << 20;
/// Milliseconds after which files that somebody else has open are tried again.
const PAUSES: [f64; 6] = [25.0, 50.0, 100.0, 200.0, 400.0, 800.0];

type Writer = MirrorWriter<SharedDirectory>;

/// Documents kept in this origin. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct BrowserMirror {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    directory: SharedDirectory,
    reader: RefCell<MirrorReader<SharedFile>>,
    /// `None` once it has failed, and while it is busy.
    writer: RefCell<Option<Writer>>,
    failure: RefCell<Option<FileError>>,
    pending: RefCell<Vec<MirrorWrite>>,
    pending_bytes: Cell<usize>,
    /// Whether something that was kept could not be read again: then nothing more is given up in this session, so that no
    /// document is asked for again and again.
    is_doubtful: Cell<bool>,
}

impl BrowserMirror {
    /// Opens the mirror of a store.
    pub async fn open(directory: OpfsDirectory) -> Self {
        let shared = Shared {
            directory: SharedDirectory::new(directory),
            reader: RefCell::new(MirrorReader::empty()),
            writer: RefCell::default(),
            failure: RefCell::default(),
            pending: RefCell::default(),
            pending_bytes: Cell::default(),
            is_doubtful: Cell::default(),
        };
        shared.open_files().await;
        Self { shared: Rc::new(shared) }
    }

    /// Removes everything kept.
    pub async fn clear(&self) -> Result<(), FileError> {
        let shared = &*self.shared;
        shared.reader.replace(MirrorReader::empty());
        drop((shared.writer.take(), shared.pending.take(), shared.failure.take()));
        MirrorWriter::destroy(&shared.directory).await?;
        shared.open_files().await;
        Ok(())
    }
}

impl Shared {
    async fn open_files(&self) {
        let open = async || {
            let writer = Writer::open(self.directory.clone()).await?;
            Ok((writer, MirrorReader::open(&self.directory).await?))
        };
        let mut opened = open().await;
        // A worker that has just ended may have them a moment longer than its locks, and than the journal.
        for pause in PAUSES {
            if !opened.as_ref().is_err_and(|error: &FileError| error.kind == FileErrorKind::Locked) {
                break;
            }
            BrowserClock.sleep(pause).await;
            opened = open().await;
        }
        match opened {
            Ok((writer, reader)) => {
                self.writer.replace(Some(writer));
                self.reader.replace(reader);
            }
            Err(error) => self.failed(error),
        }
    }

    fn failed(&self, error: FileError) {
        self.failure.borrow_mut().get_or_insert(error);
    }

    fn write_pending(&self) {
        let pending = self.pending.take();
        self.pending_bytes.set(0);
        let mut writer = self.writer.borrow_mut();
        let Some(open) = &mut *writer else { return };
        match open.write(&pending) {
            Ok(_) if self.is_doubtful.get() => {}
            Ok(written) => self.reader.borrow().lend(&pending, &written),
            Err(error) => {
                *writer = None;
                self.failed(error);
            }
        }
    }

    async fn settle(&self) -> Result<(), FileError> {
        self.write_pending();
        let writer = self.writer.take();
        if let Some(mut writer) = writer {
            // Compaction removes files, which nobody may have open.
            self.reader.replace(MirrorReader::empty());
            match writer.compact().await {
                Ok(()) => drop(self.writer.replace(Some(writer))),
                Err(error) => self.failed(error),
            }
            match MirrorReader::open(&self.directory).await {
                Ok(reader) => drop(self.reader.replace(reader)),
                Err(error) => self.failed(error),
            }
        }
        self.failure.take().map_or(Ok(()), Err)
    }
}

impl MetadataMirror for BrowserMirror {
    fn has(&self, key: &MirrorKey) -> bool {
        self.shared.reader.borrow().has(key)
    }

    fn find(&self, key: &MirrorKey) -> Option<Kept> {
        self.shared.reader.borrow().find(key)
    }

    fn facts(&self, key: &MirrorKey, integrity: &str) -> Option<Option<String>> {
        self.shared.reader.borrow().facts(key, integrity).map(|members| members.map(str::to_owned))
    }

    fn lends(&self) -> bool {
        true
    }

    fn write(&self, write: MirrorWrite) {
        let bytes = match &write {
            MirrorWrite::Document { packument, .. } => packument.body().map_or(0, |body| body.len()),
            _ => 0,
        };
        let shared = &*self.shared;
        shared.pending.borrow_mut().push(write);
        shared.pending_bytes.set(shared.pending_bytes.get() + bytes);
        if shared.pending_bytes.get() >= BYTES_BETWEEN_WRITES {
            shared.write_pending();
        }
    }

    fn take_damage(&self) -> bool {
        let is_damaged = self.shared.reader.borrow().take_damage();
        self.shared.is_doubtful.set(self.shared.is_doubtful.get() || is_damaged);
        is_damaged
    }

    fn settle(&self) -> LocalBoxFuture<'_, Result<(), FileError>> {
        self.shared.settle().boxed_local()
    }
}
