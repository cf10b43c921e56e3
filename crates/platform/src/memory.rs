//! Files in memory, for tests and for places without storage.

use crate::{Directory, FileError, FileErrorKind, RandomAccessFile};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

type Contents = Rc<RefCell<Vec<u8>>>;

/// A [`Directory`] that lives as long as its clones.
#[derive(Debug, Clone, Default)]
pub struct MemoryDirectory {
    files: Rc<RefCell<BTreeMap<String, Contents>>>,
}

impl MemoryDirectory {
    /// A copy of everything as it is now, as a crash at this moment would leave it.
    pub fn snapshot(&self) -> Self {
        let files = self.files.borrow();
        let copy =
            files.iter().map(|(name, file)| (name.clone(), Rc::new(RefCell::new(file.borrow().clone())))).collect();
        Self { files: Rc::new(RefCell::new(copy)) }
    }
}

/// An open file of a [`MemoryDirectory`].
#[derive(Debug)]
pub struct MemoryFile {
    name: String,
    contents: Contents,
}

impl RandomAccessFile for MemoryFile {
    fn len(&self) -> Result<u64, FileError> {
        Ok(self.contents.borrow().len() as u64)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError> {
        let contents = self.contents.borrow();
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
        let mut contents = self.contents.borrow_mut();
        let start = usize::try_from(offset).expect("a file in memory is smaller than memory");
        if contents.len() < start + bytes.len() {
            contents.resize(start + bytes.len(), 0);
        }
        contents[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn truncate(&self, length: u64) -> Result<(), FileError> {
        self.contents.borrow_mut().resize(usize::try_from(length).expect("a file in memory is smaller than memory"), 0);
        Ok(())
    }

    fn flush(&self) -> Result<(), FileError> {
        Ok(())
    }
}

impl Directory for MemoryDirectory {
    type File = MemoryFile;

    async fn open(&self, name: &str) -> Result<MemoryFile, FileError> {
        let contents = self.files.borrow_mut().entry(name.to_owned()).or_default().clone();
        Ok(MemoryFile { name: name.to_owned(), contents })
    }

    async fn remove(&self, name: &str) -> Result<(), FileError> {
        self.files.borrow_mut().remove(name);
        Ok(())
    }

    async fn list(&self) -> Result<Vec<String>, FileError> {
        Ok(self.files.borrow().keys().cloned().collect())
    }
}
