//! Files in the origin's private file system, through sync access handles.
//!
//! A handle is exclusive: while one worker has a file open nobody else can open it. Packs are the exception where the browser
//! can do it (Chromium): many may have one open, so that any worker can read it, and the one that appends to it holds a
//! second, empty file (`pack-0.writer`) as exclusively as ever. That keeps a worker that is being ended, and may still be
//! writing, and its successor apart, which a Web Lock would not: it is let go of before the files are.

use crate::error::{file_fault, to_javascript};
use crate::javascript::scope;
use futures_util::future::try_join;
use gantry_platform::{Directory, FileError, FileErrorKind, RandomAccessFile};
use js_sys::{AsyncIterator, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    File, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetDirectoryOptions, FileSystemGetFileOptions,
    FileSystemReadWriteOptions, FileSystemRemoveOptions, FileSystemSyncAccessHandle,
};

#[wasm_bindgen]
extern "C" {
    /// A file handle whose access handles have modes, which web-sys counts as unstable.
    #[wasm_bindgen(extends = FileSystemFileHandle)]
    type ModalFileHandle;
    #[wasm_bindgen(method, js_name = createSyncAccessHandle)]
    fn create_access_handle(this: &ModalFileHandle, options: &JsValue) -> Promise;
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Nobody else has it open.
    Exclusive,
    /// Others who open it so may have it open too. `read-only` handles would do for reading, but nobody could have the file
    /// open for writing beside them.
    Shared,
}

/// One folder of OPFS.
#[derive(Debug, Clone)]
pub(crate) struct OpfsDirectory {
    handle: FileSystemDirectoryHandle,
    name: String,
}

impl From<FileSystemDirectoryHandle> for OpfsDirectory {
    fn from(handle: FileSystemDirectoryHandle) -> Self {
        Self { name: handle.name(), handle }
    }
}

/// The folder of the store `name`, made where it is missing.
#[wasm_bindgen(js_name = openStoreFolder)]
pub async fn open_store_folder(name: &str) -> Result<FileSystemDirectoryHandle, JsValue> {
    let opened = OpfsDirectory::open_store(name).await;
    opened.map(|directory| directory.handle).map_err(|error| to_javascript(&file_fault(&error)))
}

/// An open file; closed when dropped.
#[derive(Debug)]
pub(crate) struct OpfsFile {
    handle: FileSystemSyncAccessHandle,
    name: String,
    /// What keeps other writers away; closed after the handle.
    guard: Option<Guard>,
}

/// An open, empty file.
#[derive(Debug)]
struct Guard(FileSystemSyncAccessHandle);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Whether this browser opens a file more than once. Chromium tells a handle's mode; others know one mode only.
pub(crate) fn shares_files() -> bool {
    let class = Reflect::get(&js_sys::global(), &JsValue::from_str("FileSystemSyncAccessHandle"));
    let prototype = class.and_then(|class| Reflect::get(&class, &JsValue::from_str("prototype")));
    prototype.is_ok_and(|prototype| Reflect::has(&prototype, &JsValue::from_str("mode")).unwrap_or(false))
}

/// What the name of a guard ends with.
pub(crate) const GUARD: &str = ".writer";

fn guard_name(name: &str) -> String {
    format!("{name}{GUARD}")
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

/// What to do where there is no file of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnMissing {
    Create,
    Fail,
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

    /// The folder `gantry/<name>`, or nothing where there is none.
    pub async fn find_store(name: &str) -> Result<Option<Self>, FileError> {
        let promise = scope().navigator().storage().get_directory();
        let mut handle: FileSystemDirectoryHandle = settled(promise, "OPFS").await?;
        for part in ["gantry", name] {
            handle = match settled(handle.get_directory_handle(part), part).await {
                Err(error) if error.kind == FileErrorKind::NotFound => return Ok(None),
                found => found?,
            };
        }
        Ok(Some(Self { handle, name: name.to_owned() }))
    }

    /// A pack to append to: as exclusive towards others that append as [`open`](Directory::open) is, but readable by all.
    pub async fn open_for_appending(&self, name: &str) -> Result<OpfsFile, FileError> {
        if !shares_files() {
            return self.open(name).await;
        }
        let guard_name = guard_name(name);
        let (guard, pack) =
            try_join(self.file(&guard_name, OnMissing::Create), self.file(name, OnMissing::Create)).await?;
        let guard = Guard(self.access(&guard_name, &guard, Mode::Exclusive).await?);
        let handle = self.access(name, &pack, Mode::Shared).await?;
        Ok(OpfsFile { handle, name: self.path(name), guard: Some(guard) })
    }

    /// A pack to read from, which is there. Where files are not shared this is as exclusive as [`open`](Directory::open).
    pub async fn open_for_reading(&self, name: &str) -> Result<OpfsFile, FileError> {
        let mode = if shares_files() { Mode::Shared } else { Mode::Exclusive };
        let handle = self.open_handle(name, mode, OnMissing::Fail).await?;
        Ok(OpfsFile { handle, name: self.path(name), guard: None })
    }

    /// Makes an empty file, where there is none.
    pub async fn make(&self, name: &str) -> Result<(), FileError> {
        self.file(name, OnMissing::Create).await.map(drop)
    }

    /// Whether there is a file of that name.
    pub async fn has(&self, name: &str) -> Result<bool, FileError> {
        let found: Result<JsValue, FileError> = settled(self.handle.get_file_handle(name), &self.path(name)).await;
        match found {
            Err(error) if error.kind == FileErrorKind::NotFound => Ok(false),
            found => found.map(|_| true),
        }
    }

    /// How many bytes a file has now; none where there is no such file.
    pub async fn length(&self, name: &str) -> Result<u64, FileError> {
        match self.snapshot(name).await {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
            Ok(file) => Ok(file.size() as u64),
            Err(error) if error.kind == FileErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// A file as it is now.
    pub async fn snapshot(&self, name: &str) -> Result<File, FileError> {
        let path = self.path(name);
        let file: FileSystemFileHandle = settled(self.handle.get_file_handle(name), &path).await?;
        settled(file.get_file(), &path).await
    }

    async fn open_handle(
        &self,
        name: &str,
        mode: Mode,
        on_missing: OnMissing,
    ) -> Result<FileSystemSyncAccessHandle, FileError> {
        let file = self.file(name, on_missing).await?;
        self.access(name, &file, mode).await
    }

    async fn file(&self, name: &str, on_missing: OnMissing) -> Result<FileSystemFileHandle, FileError> {
        let options = FileSystemGetFileOptions::new();
        options.set_create(on_missing == OnMissing::Create);
        settled(self.handle.get_file_handle_with_options(name, &options), &self.path(name)).await
    }

    async fn access(
        &self,
        name: &str,
        file: &FileSystemFileHandle,
        mode: Mode,
    ) -> Result<FileSystemSyncAccessHandle, FileError> {
        let promise = match mode {
            Mode::Exclusive => file.create_sync_access_handle(),
            Mode::Shared => {
                let options = Object::new();
                // Fails only for frozen objects, which a new one is not.
                let _ = Reflect::set(&options, &"mode".into(), &"readwrite-unsafe".into());
                file.unchecked_ref::<ModalFileHandle>().create_access_handle(&options)
            }
        };
        settled(promise, &self.path(name)).await
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

/// Chromium answers with an error's number as if it were a count, more than was asked for, where a file of a private window has
/// been removed under its handle. The buffer is then what it was.
fn unreadable(path: &str, count: f64) -> FileError {
    let message = format!("the browser says that it read {count} bytes, more than it was asked for");
    FileError { kind: FileErrorKind::Failed, path: path.to_owned(), message }
}

impl Directory for OpfsDirectory {
    type File = OpfsFile;

    async fn open(&self, name: &str) -> Result<OpfsFile, FileError> {
        let handle = self.open_handle(name, Mode::Exclusive, OnMissing::Create).await?;
        Ok(OpfsFile { handle, name: self.path(name), guard: None })
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
    /// `size` bytes from `offset`, straight into memory of JavaScript.
    pub fn read_array(&self, offset: u64, size: u32) -> Result<Uint8Array, FileError> {
        let array = Uint8Array::new_with_length(size);
        if size == 0 {
            return Ok(array);
        }
        let read = self.handle.read_with_js_u8_array_and_options(&array, &Self::at(offset));
        let count = read.map_err(file_error(&self.name))?;
        if count > f64::from(size) {
            return Err(unreadable(&self.name, count));
        }
        if count < f64::from(size) { Err(short(&self.name, offset, size.into())) } else { Ok(array) }
    }

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
            #[expect(clippy::cast_precision_loss, reason = "a buffer's length")]
            if count > (buffer.len() - filled) as f64 {
                return Err(unreadable(&self.name, count));
            }
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
        drop(self.guard.take());
    }
}
