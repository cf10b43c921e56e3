//! Reading what is stored, in packs that are open here or that a worker of the pool has. What comes of it is
//! [checked](super::checking) elsewhere.

use super::checking::outside;
use super::{BrowserStore, gone};
use crate::error::file_fault;
use crate::opfs::OpfsFile;
use gantry_engine::Fault;
use gantry_platform::{FileError, FileErrorKind, RandomAccessFile};
use gantry_store::{PackageKey, SegmentPlace};
use std::ops::Range;
use std::rc::Rc;

/// What became of opening a pack for reading when it was its turn.
enum Reader {
    Open(Rc<OpfsFile>),
    /// A worker of the pool has it now.
    Lent,
    /// The package is not there any more.
    Gone,
}

impl BrowserStore {
    /// Reads part of a package's segment, whatever it is.
    pub(super) async fn read_unchecked(&self, key: &PackageKey, part: &Range<u64>) -> Result<Vec<u8>, Fault> {
        loop {
            let place = self.place(key).ok_or_else(gone)?;
            if part.end > place.stored_length() {
                return Err(outside());
            }
            let (at, size) = (place.offset + part.start, part.end - part.start);
            if let Some(worker) = self.borrower(place.pack) {
                if let Some(bytes) = self.pool.read_pack(worker, place.pack, at, size).await? {
                    return Ok(bytes);
                }
                // It is giving the pack back.
                drop(self.opening.lock().await);
                continue;
            }
            let reader = match self.reader(key, place.pack).await {
                Ok(Reader::Open(reader)) => reader,
                Ok(Reader::Lent) => continue,
                Ok(Reader::Gone) => return Err(gone()),
                // Somebody has removed the pack: the browser, or its user.
                Err(error) if error.kind == FileErrorKind::NotFound => return Err(gone()),
                Err(error) => return Err(file_fault(&error)),
            };
            let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
            reader.read_exact_at(at, &mut bytes).map_err(|error| file_fault(&error))?;
            return Ok(bytes);
        }
    }

    /// The number of the worker that has a pack.
    fn borrower(&self, pack: u32) -> Option<u32> {
        let at = self.lent.borrow().iter().position(|lent| lent.contains(&pack))?;
        u32::try_from(at).ok()
    }

    pub(super) fn place(&self, key: &PackageKey) -> Option<SegmentPlace> {
        let recorded = self.packs.borrow().as_ref()?.lookup(key).map(|package| package.place);
        recorded.or_else(|| self.pending.borrow().get(key).map(|pending| pending.place))
    }

    /// The pack that holds `key`, open for reading.
    async fn reader(&self, key: &PackageKey, pack: u32) -> Result<Reader, FileError> {
        let known = || self.readers.borrow().get(&pack).cloned();
        if let Some(reader) = known() {
            return Ok(Reader::Open(reader));
        }
        let _guard = self.opening.lock().await;
        if let Some(reader) = known() {
            return Ok(Reader::Open(reader));
        }
        if self.place(key).is_none_or(|place| place.pack != pack) {
            return Ok(Reader::Gone);
        }
        if self.borrower(pack).is_some() {
            return Ok(Reader::Lent);
        }
        let reader = Rc::new(self.directory.open_for_reading(&gantry_store::pack_name(pack)).await?);
        // It may be another store's: bytes that were right once are not compared again.
        if !self.directory.has(&self.mark).await? {
            return Ok(Reader::Gone);
        }
        self.readers.borrow_mut().insert(pack, Rc::clone(&reader));
        Ok(Reader::Open(reader))
    }
}
