//! A folder as [`Directory`]: positional reads and writes on real files.
//!
//! Opening is not exclusive; who needs that uses a lock file. A file that may not be written is opened for reading, so that
//! a store on a read-only place can be used.

use gantry_platform::{Directory, FileError, FileErrorKind, RandomAccessFile};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder, made when the first file is.
#[derive(Debug, Clone)]
pub struct NativeDirectory {
    path: PathBuf,
}

/// An open file; clones share it.
#[derive(Debug, Clone)]
pub struct NativeFile {
    file: Arc<File>,
    path: Arc<Path>,
}

impl NativeDirectory {
    /// The folder at `path`, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Opens or makes a file, and the folder with it.
    pub(crate) fn open_now(&self, name: &str) -> Result<NativeFile, FileError> {
        let path = self.path.join(name);
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open().or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                fs::create_dir_all(&self.path)?;
                open()
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => File::open(&path).map_err(|_| error),
            _ => Err(error),
        });
        let file = file.map_err(|error| file_error(&path, &error))?;
        Ok(NativeFile { file: Arc::new(file), path: path.into() })
    }
}

impl Directory for NativeDirectory {
    type File = NativeFile;

    async fn open(&self, name: &str) -> Result<NativeFile, FileError> {
        self.open_now(name)
    }

    async fn remove(&self, name: &str) -> Result<(), FileError> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file_error(&path, &error)),
            _ => Ok(()),
        }
    }

    async fn list(&self) -> Result<Vec<String>, FileError> {
        let failed = |error: io::Error| file_error(&self.path, &error);
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        entries.map(|entry| Ok(entry.map_err(failed)?.file_name().to_string_lossy().into_owned())).collect()
    }
}

impl NativeFile {
    /// Keeps other processes that ask for the same from going on; false if another has it.
    pub(crate) fn try_lock(&self) -> Result<bool, FileError> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(fs::TryLockError::WouldBlock) => Ok(false),
            Err(fs::TryLockError::Error(error)) => Err(self.error(&error)),
        }
    }

    fn error(&self, error: &io::Error) -> FileError {
        file_error(&self.path, error)
    }
}

impl RandomAccessFile for NativeFile {
    fn len(&self) -> Result<u64, FileError> {
        self.file.metadata().map(|data| data.len()).map_err(|error| self.error(&error))
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError> {
        self.file.read_exact_at(buffer, offset).map_err(|error| self.error(&error))
    }

    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        self.file.write_all_at(bytes, offset).map_err(|error| self.error(&error))
    }

    fn truncate(&self, length: u64) -> Result<(), FileError> {
        self.file.set_len(length).map_err(|error| self.error(&error))
    }

    fn flush(&self) -> Result<(), FileError> {
        self.file.sync_data().map_err(|error| self.error(&error))
    }
}

fn file_error(path: &Path, error: &io::Error) -> FileError {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => FileErrorKind::NotFound,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => FileErrorKind::NoSpace,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => FileErrorKind::Denied,
        io::ErrorKind::UnexpectedEof => FileErrorKind::UnexpectedEnd,
        io::ErrorKind::Unsupported => FileErrorKind::Unsupported,
        _ => FileErrorKind::Failed,
    };
    FileError { kind, path: path.display().to_string(), message: error.to_string() }
}
