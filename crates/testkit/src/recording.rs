//! A recording: what a registry answered once, as files that anybody may keep and share.
//!
//! `packuments/<name>.json.gz` are full documents with the registry's address replaced by a placeholder and nothing of
//! the request; `tarballs/<name>/<file>` are tarballs as they came. Names are escaped (capitals too, as some file
//! systems fold case). Every file is written beside its place and renamed, so a reader never sees half of one.
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::encoded::compress;
use crate::names::{name_from_storage, storage_name};
use crate::{TestkitError, packument};

/// A folder of recorded documents and tarballs.
#[derive(Clone, Debug)]
pub struct Recording {
    folder: PathBuf,
}

/// Where recordings are kept unless said otherwise: `$GANTRY_RECORDING`, else `gantry/recording` in the user's cache
/// folder.
pub fn default_recording_folder() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("GANTRY_RECORDING").unwrap_or_else(|| {
        let cache = variable("XDG_CACHE_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".cache")))
            .unwrap_or_else(std::env::temp_dir);
        cache.join("gantry").join("recording")
    })
}

impl Recording {
    /// A recording in this folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names of all packages recorded, sorted.
    pub fn names(&self) -> Result<Vec<String>, TestkitError> {
        let root = self.folder.join("packuments");
        let mut names = Vec::new();
        for path in files_below(&root)? {
            let name =
                path.strip_prefix(&root).ok().and_then(Path::to_str).and_then(|text| text.strip_suffix(".json.gz"));
            names.extend(name.and_then(name_from_storage));
        }
        names.sort();
        Ok(names)
    }

    /// How many tarballs there are.
    pub fn tarball_count(&self) -> Result<usize, TestkitError> {
        Ok(files_below(&self.folder.join("tarballs"))?.len())
    }

    /// Bytes of all files together.
    pub fn size(&self) -> Result<u64, TestkitError> {
        let mut size = 0;
        for path in files_below(&self.folder)? {
            size += fs::metadata(&path).map_err(TestkitError::file("read", &path))?.len();
        }
        Ok(size)
    }

    /// The text of a full document, with the placeholder as its address.
    pub fn packument(&self, name: &str) -> Result<Option<String>, TestkitError> {
        let path = self.packument_file(name)?;
        let Some(compressed) = read_if_there(&path)? else { return Ok(None) };
        let mut text = String::new();
        GzDecoder::new(compressed.as_slice()).read_to_string(&mut text).map_err(TestkitError::file("read", &path))?;
        Ok(Some(text))
    }

    /// The bytes of a tarball.
    pub fn tarball(&self, name: &str, file: &str) -> Result<Option<Bytes>, TestkitError> {
        Ok(read_if_there(&self.tarball_file(name, file)?)?.map(Bytes::from))
    }

    /// Keeps a full document. Gives back its text with the placeholder, and (file name, address) of its tarballs.
    pub fn store_packument(
        &self,
        name: &str,
        mut document: Value,
    ) -> Result<(String, Vec<(String, String)>), TestkitError> {
        let tarballs = packument::anonymise(name, &mut document);
        let text = document.to_string();
        self.publish(&self.packument_file(name)?, &compress(text.as_bytes()))?;
        Ok((text, tarballs))
    }

    /// Keeps a tarball.
    pub fn store_tarball(&self, name: &str, file: &str, bytes: &[u8]) -> Result<(), TestkitError> {
        self.publish(&self.tarball_file(name, file)?, bytes)
    }

    pub(crate) fn read_note(&self, name: &str) -> Result<Option<Vec<u8>>, TestkitError> {
        read_if_there(&self.folder.join(name))
    }

    pub(crate) fn write_note(&self, name: &str, bytes: &[u8]) -> Result<(), TestkitError> {
        self.publish(&self.folder.join(name), bytes)
    }

    fn packument_file(&self, name: &str) -> Result<PathBuf, TestkitError> {
        let stored = storage_name(name).ok_or_else(|| TestkitError::Name { name: name.into() })?;
        Ok(self.folder.join("packuments").join(format!("{stored}.json.gz")))
    }

    fn tarball_file(&self, name: &str, file: &str) -> Result<PathBuf, TestkitError> {
        let stored =
            storage_name(name).zip(storage_name(file)).ok_or_else(|| TestkitError::Name { name: name.into() })?;
        Ok(self.folder.join("tarballs").join(stored.0).join(stored.1))
    }

    fn publish(&self, path: &Path, bytes: &[u8]) -> Result<(), TestkitError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent = path.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(TestkitError::file("create", parent))?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = parent.join(format!(".new-{}-{number}", std::process::id()));
        let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
        written.map_err(|source| {
            // Best effort: the error that matters is the one being reported.
            let _ = fs::remove_file(&temporary);
            TestkitError::file("write", path)(source)
        })
    }
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, TestkitError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TestkitError::file("read", path)(error)),
    }
}

/// Every whole file below a folder, in no particular order; none if the folder is missing.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, TestkitError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(TestkitError::file("read", &folder)(error)),
        };
        for entry in entries {
            let entry = entry.map_err(TestkitError::file("read", &folder))?;
            let kind = entry.file_type().map_err(TestkitError::file("read", &folder))?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if !entry.file_name().to_string_lossy().starts_with(".new-") {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}
