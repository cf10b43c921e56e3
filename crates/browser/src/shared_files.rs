//! Files in OPFS that several parts of this worker read and write.
//!
//! A sync access handle is exclusive and belongs to the worker that opened it. Here handles live in a table of the thread,
//! and a [`SharedFile`] is a counted entry of it: it can be cloned, and be part of what must be sendable on other platforms.
//! The handle is closed with the last clone. On another thread the table has no such entry, and every operation fails.

use crate::opfs::{OpfsDirectory, OpfsFile};
use gantry_platform::{Directory, FileError, FileErrorKind, RandomAccessFile};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Weak};

thread_local! {
    static FILES: RefCell<FxHashMap<u64, OpfsFile>> = RefCell::default();
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// One folder of OPFS whose files may be opened more than once in this worker.
#[derive(Debug, Clone)]
pub(crate) struct SharedDirectory {
    directory: OpfsDirectory,
    open: Rc<RefCell<FxHashMap<String, Weak<Entry>>>>,
}

/// An open file; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct SharedFile {
    entry: Arc<Entry>,
}

#[derive(Debug)]
struct Entry(u64);

impl Drop for Entry {
    fn drop(&mut self) {
        // Fails only when the thread ends, which closes everything.
        let _ = FILES.try_with(|files| files.borrow_mut().remove(&self.0));
    }
}

impl SharedDirectory {
    pub fn new(directory: OpfsDirectory) -> Self {
        Self { directory, open: Rc::default() }
    }
}

impl Directory for SharedDirectory {
    type File = SharedFile;

    async fn open(&self, name: &str) -> Result<SharedFile, FileError> {
        let known = self.open.borrow().get(name).and_then(Weak::upgrade);
        if let Some(entry) = known {
            return Ok(SharedFile { entry });
        }
        let file = self.directory.open(name).await?;
        let number = NEXT.replace(NEXT.get() + 1);
        FILES.with_borrow_mut(|files| files.insert(number, file));
        let entry = Arc::new(Entry(number));
        self.open.borrow_mut().insert(name.to_owned(), Arc::downgrade(&entry));
        Ok(SharedFile { entry })
    }

    async fn remove(&self, name: &str) -> Result<(), FileError> {
        self.directory.remove(name).await
    }

    async fn list(&self) -> Result<Vec<String>, FileError> {
        self.directory.list().await
    }
}

impl SharedFile {
    fn with<T>(&self, action: impl FnOnce(&OpfsFile) -> Result<T, FileError>) -> Result<T, FileError> {
        FILES.with_borrow(|files| match files.get(&self.entry.0) {
            Some(file) => action(file),
            None => Err(FileError {
                kind: FileErrorKind::Unsupported,
                path: "OPFS".to_owned(),
                message: "a file can only be used in the worker that opened it".to_owned(),
            }),
        })
    }
}

impl RandomAccessFile for SharedFile {
    fn len(&self) -> Result<u64, FileError> {
        self.with(RandomAccessFile::len)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError> {
        self.with(|file| file.read_exact_at(offset, buffer))
    }

    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        self.with(|file| file.write_all_at(offset, bytes))
    }

    fn truncate(&self, length: u64) -> Result<(), FileError> {
        self.with(|file| file.truncate(length))
    }

    fn flush(&self) -> Result<(), FileError> {
        self.with(RandomAccessFile::flush)
    }
}
