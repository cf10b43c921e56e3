//! Files in the origin's private file system, through sync access handles.
//!
//! A handle is exclusive: while one worker has a file open nobody else can open it, which is what makes an open pack safe
//! to append to. Whoever wants to read it meanwhile asks that worker.

use gantry_platform::{Directory, FileError, FileErrorKind, RandomAccessFile};
use js_sys::{AsyncIterator, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetDirectoryOptions, FileSystemGetFileOptions,
    FileSystemReadWriteOptions, FileSystemRemoveOptions, FileSystemSyncAccessHandle,
};

use crate::javascript::scope;

/// One folder of OPFS.
#[derive(Debug, Clone)]
pub(crate) struct OpfsDirectory {
    handle: FileSystemDirectoryHandle,
    name: String,
}

/// An open file; closed when dropped.
#[derive(Debug)]
pub(crate) struct OpfsFile {
    handle: FileSystemSyncAccessHandle,
    name: String,
}

fn file_error(path: &str) -> impl FnOnce(JsValue) -> FileError {
    let path = path.to_owned();
    move |value| {
        let text = |name: &str| Reflect::get(&value, &JsValue::from_str(name)).ok().and_then(|value| value.as_string());
        let kind = match text("name").as_deref() {
            Some("NotFoundError") => FileErrorKind::NotFound,
            Some("NoModificationAllowedError" | "InvalidStateError") => FileErrorKind::Locked,
            Some("QuotaExceededError") => FileErrorKind::NoSpace,
            Some("NotAllowedError" | "SecurityError") => FileErrorKind::Denied,
            Some("NotSupportedError" | "TypeError") => FileErrorKind::Unsupported,
            _ => FileErrorKind::Failed,
        };
        FileError { kind, path, message: text("message").unwrap_or_else(|| "unknown failure".to_owned()) }
    }
}

async fn settled<T: JsCast>(promise: js_sys::Promise, path: &str) -> Result<T, FileError> {
    JsFuture::from(promise).await.map(JsCast::unchecked_into).map_err(file_error(path))
}

impl OpfsDirectory {
    /// The folder `gantry/<name>` of this origin, made where it is missing.
    pub async fn open_store(name: &str) -> Result<Self, FileError> {
        let promise = scope().navigator().storage().get_directory();
        let mut handle: FileSystemDirectoryHandle = settled(promise, "OPFS").await?;
        for part in ["gantry", name] {
            let options = FileSystemGetDirectoryOptions::new();
            options.set_create(true);
            handle = settled(handle.get_directory_handle_with_options(part, &options), part).await?;
        }
        Ok(Self { handle, name: name.to_owned() })
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }
}

/// Offsets in files are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "see above")]
fn to_f64(number: u64) -> f64 {
    number as f64
}

fn short(path: &str, offset: u64, length: u64) -> FileError {
    FileError {
        kind: FileErrorKind::UnexpectedEnd,
        path: path.to_owned(),
        message: format!("{length} bytes at {offset} are beyond the end"),
    }
}

impl Directory for OpfsDirectory {
    type File = OpfsFile;

    async fn open(&self, name: &str) -> Result<OpfsFile, FileError> {
        let path = self.path(name);
        let options = FileSystemGetFileOptions::new();
        options.set_create(true);
        let file: FileSystemFileHandle =
            settled(self.handle.get_file_handle_with_options(name, &options), &path).await?;
        let handle = settled(file.create_sync_access_handle(), &path).await?;
        Ok(OpfsFile { handle, name: path })
    }

    async fn remove(&self, name: &str) -> Result<(), FileError> {
        let options = FileSystemRemoveOptions::new();
        let removed: Result<JsValue, FileError> =
            settled(self.handle.remove_entry_with_options(name, &options), &self.path(name)).await;
        match removed {
            Err(error) if error.kind != FileErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    async fn list(&self) -> Result<Vec<String>, FileError> {
        let mut names = Vec::new();
        let keys: AsyncIterator = self.handle.keys();
        loop {
            let next: JsValue =
                settled(keys.next().map_err(file_error(&self.name))?.unchecked_into(), &self.name).await?;
            let get = |name: &str| Reflect::get(&next, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED);
            if get("done").is_truthy() {
                return Ok(names);
            }
            names.extend(get("value").as_string());
        }
    }
}

impl OpfsFile {
    fn at(offset: u64) -> FileSystemReadWriteOptions {
        let options = FileSystemReadWriteOptions::new();
        options.set_at(to_f64(offset));
        options
    }
}

impl RandomAccessFile for OpfsFile {
    fn len(&self) -> Result<u64, FileError> {
        let size = self.handle.get_size().map_err(file_error(&self.name))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a file's size is a whole number")]
        Ok(size as u64)
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let at = offset + filled as u64;
            let count = self
                .handle
                .read_with_u8_array_and_options(&mut buffer[filled..], &Self::at(at))
                .map_err(file_error(&self.name))?;
            if count < 1.0 {
                return Err(short(&self.name, offset, buffer.len() as u64));
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the buffer's length")]
            {
                filled += count as usize;
            }
        }
        Ok(())
    }

    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        let mut written = 0;
        while written < bytes.len() {
            let at = offset + written as u64;
            let count = self
                .handle
                .write_with_u8_array_and_options(&bytes[written..], &Self::at(at))
                .map_err(file_error(&self.name))?;
            #[expect(clippy::cast_precision_loss, reason = "a buffer's length")]
            let left = (bytes.len() - written) as f64;
            // A full quota: Chromium writes nothing, or answers with its error number as if it were a count.
            if !(1.0..=left).contains(&count) {
                return Err(FileError {
                    kind: FileErrorKind::NoSpace,
                    path: self.name.clone(),
                    message: format!("only {written} of {} bytes could be written", bytes.len()),
                });
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the buffer's length")]
            {
                written += count as usize;
            }
        }
        Ok(())
    }

    fn truncate(&self, length: u64) -> Result<(), FileError> {
        self.handle.truncate_with_f64(to_f64(length)).map_err(file_error(&self.name))
    }

    fn flush(&self) -> Result<(), FileError> {
        self.handle.flush().map_err(file_error(&self.name))
    }
}

impl Drop for OpfsFile {
    fn drop(&mut self) {
        self.handle.close();
    }
}
