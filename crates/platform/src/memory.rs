//! Files in memory, for tests and for places without storage.

use crate::{Directory, FileError, FileErrorKind, RandomAccessFile};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

type Contents = Arc<Mutex<Vec<u8>>>;

/// A [`Directory`] that lives as long as its clones.
#[derive(Debug, Clone, Default)]
pub struct MemoryDirectory {
    files: Arc<Mutex<BTreeMap<String, Contents>>>,
}

impl MemoryDirectory {
    /// A copy of everything as it is now, as a crash at this moment would leave it.
    pub fn snapshot(&self) -> Self {
        let files = locked(&self.files);
        let copy = files.iter().map(|(name, file)| (name.clone(), Arc::new(Mutex::new(locked(file).clone()))));
        Self { files: Arc::new(Mutex::new(copy.collect())) }
    }
}

/// What it guards is bytes: whole whatever happened to another thread.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An open file of a [`MemoryDirectory`].
#[derive(Debug)]
pub struct MemoryFile {
    name: String,
    contents: Contents,
}

impl RandomAccessFile for MemoryFile {
    fn len(&self) -> Result<u64, FileError> {
        Ok(locked(&self.contents).len() as u64)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError> {
        let contents = locked(&self.contents);
        let part = usize::try_from(offset)
            .ok()
            .and_then(|start| contents.get(start..start.checked_add(buffer.len())?))
            .ok_or_else(|| FileError {
                kind: FileErrorKind::UnexpectedEnd,
                path: self.name.clone(),
                message: format!("{} bytes at {offset} are beyond the end", buffer.len()),
            })?;
        buffer.copy_from_slice(part);
        Ok(())
    }

    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        let mut contents = locked(&self.contents);
        let start = usize::try_from(offset).expect("a file in memory is smaller than memory");
        if contents.len() < start + bytes.len() {
            contents.resize(start + bytes.len(), 0);
        }
        contents[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn truncate(&self, length: u64) -> Result<(), FileError> {
        locked(&self.contents).resize(usize::try_from(length).expect("a file in memory is smaller than memory"), 0);
        Ok(())
    }

    fn flush(&self) -> Result<(), FileError> {
        Ok(())
    }
}

impl Directory for MemoryDirectory {
    type File = MemoryFile;

    async fn open(&self, name: &str) -> Result<MemoryFile, FileError> {
        let contents = locked(&self.files).entry(name.to_owned()).or_default().clone();
        Ok(MemoryFile { name: name.to_owned(), contents })
    }

    async fn remove(&self, name: &str) -> Result<(), FileError> {
        locked(&self.files).remove(name);
        Ok(())
    }

    async fn list(&self) -> Result<Vec<String>, FileError> {
        Ok(locked(&self.files).keys().cloned().collect())
    }
}
