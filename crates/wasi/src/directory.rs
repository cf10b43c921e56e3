//! A folder as [`Directory`]: what the pack store is built on.
//!
//! Positional reads and writes are a seek and a read or write: preview 1 has the other kind too, but the standard library
//! does not offer it, and nobody else moves the position of a file that only this crate has open. A file that may not be
//! written is opened for reading, so that a store that was filled elsewhere can be used.

use crate::system::{Meaning, meaning};
use gantry_platform::{Directory, FileError, FileErrorKind, RandomAccessFile};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A folder, made when the first file is.
#[derive(Debug, Clone)]
pub struct FolderDirectory {
    path: PathBuf,
}

/// An open file.
#[derive(Debug)]
pub struct FolderFile {
    file: File,
    path: Rc<Path>,
}

impl FolderDirectory {
    /// The folder at `path`, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

impl Directory for FolderDirectory {
    type File = FolderFile;

    async fn open(&self, name: &str) -> Result<FolderFile, FileError> {
        let path = self.path.join(name);
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open().or_else(|error| match meaning(&error) {
            Meaning::NotFound => {
                fs::create_dir_all(&self.path)?;
                open()
            }
            Meaning::Denied => File::open(&path).map_err(|_| error),
            _ => Err(error),
        });
        let file = file.map_err(|error| file_error(&path, &error))?;
        Ok(FolderFile { file, path: path.into() })
    }

    async fn remove(&self, name: &str) -> Result<(), FileError> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(error) if meaning(&error) != Meaning::NotFound => Err(file_error(&path, &error)),
            _ => Ok(()),
        }
    }

    async fn list(&self) -> Result<Vec<String>, FileError> {
        let failed = |error: io::Error| file_error(&self.path, &error);
        let entries = match fs::read_dir(&self.path) {
            Err(error) if meaning(&error) == Meaning::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        entries.map(|entry| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned())).collect()
    }
}

impl FolderFile {
    fn error(&self, error: &io::Error) -> FileError {
        file_error(&self.path, error)
    }

    fn at(&self, offset: u64) -> io::Result<&File> {
        (&self.file).seek(SeekFrom::Start(offset))?;
        Ok(&self.file)
    }
}

impl RandomAccessFile for FolderFile {
    fn len(&self) -> Result<u64, FileError> {
        self.file.metadata().map(|data| data.len()).map_err(|error| self.error(&error))
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError> {
        self.at(offset).and_then(|mut file| file.read_exact(buffer)).map_err(|error| self.error(&error))
    }

    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        self.at(offset).and_then(|mut file| file.write_all(bytes)).map_err(|error| self.error(&error))
    }

    fn truncate(&self, length: u64) -> Result<(), FileError> {
        if length > self.len()? {
            // A zero at the end is the same, and `@bjorn3/browser_wasi_shim` forgets what is in a file that is made longer.
            return self.write_all_at(length - 1, &[0]);
        }
        self.file.set_len(length).map_err(|error| self.error(&error))
    }

    fn flush(&self) -> Result<(), FileError> {
        self.file.sync_data().map_err(|error| self.error(&error))
    }
}

fn file_error(path: &Path, error: &io::Error) -> FileError {
    let kind = match meaning(error) {
        Meaning::NotFound | Meaning::NotOpened => FileErrorKind::NotFound,
        Meaning::Full => FileErrorKind::NoSpace,
        Meaning::Denied => FileErrorKind::Denied,
        Meaning::Unsupported => FileErrorKind::Unsupported,
        Meaning::Failed if error.kind() == io::ErrorKind::UnexpectedEof => FileErrorKind::UnexpectedEnd,
        Meaning::Failed => FileErrorKind::Failed,
    };
    FileError { kind, path: path.display().to_string(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::FolderDirectory;
    use crate::executor::at_once;
    use gantry_conformance::{Exclusive, directory_suite, pack_store_suite};

    #[test]
    fn a_folder_conforms() {
        let folder = tempfile::tempdir().unwrap();
        let directory = FolderDirectory::new(folder.path().join("made/when/needed"));
        let report = at_once(directory_suite(&directory, Exclusive::NotNeeded));
        assert!(report.holds(), "\n{report}");
        let report = at_once(pack_store_suite(&directory));
        assert!(report.holds(), "\n{report}");
    }
}
