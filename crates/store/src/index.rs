//! What is known of one unpacked package.

use crate::StoreError;

mod codec;

/// The files of a package and what its own manifest says; the same on every platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageIndex {
    /// Files, sorted by path (byte order) without duplicates. They lie one after the other from offset 0, unless they were
    /// written down as an archive had them.
    pub files: Vec<FileRecord>,
    /// From the package's own `package.json`.
    pub facts: PackageFacts,
}

/// One file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    /// Path within the package.
    pub path: String,
    /// Offset within the package's segment.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Whether it may be run.
    pub executable: bool,
}

/// What a package's own `package.json` says; all empty where that file is missing or damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageFacts {
    /// `name`.
    pub name: Option<String>,
    /// `version`.
    pub version: Option<String>,
    /// What a lock repeats of it although abbreviated packuments leave it out, as
    /// [`members_of_full_documents`](gantry_manifest::Manifest::members_of_full_documents) gives it.
    pub lock_members: Option<String>,
    /// Commands and their files, both confined.
    pub bin: Vec<(String, String)>,
    /// Whether it wants to run something when installed.
    pub has_install_script: bool,
}

impl PackageIndex {
    /// The compact form in which the store keeps it: a version, then facts and files. Each path is written without what it
    /// shares with the one before it, offsets only where they are not the sum of the sizes before: about 20 bytes a file.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Reads [`encode`](Self::encode)'s form; anything else is [`StoreError::Corrupt`], or [`StoreError::Format`] if it is
    /// of another version. What is read is no larger than `bytes` warrants, and its files are sorted.
    pub fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        codec::decode(bytes)
    }

    /// The file at `path`.
    pub fn file(&self, path: &str) -> Option<&FileRecord> {
        let position = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(position)
    }

    /// The files below the folder `path`; the empty path is the package itself. Empty if there is no such folder.
    pub fn files_below(&self, path: &str) -> &[FileRecord] {
        if path.is_empty() {
            return &self.files;
        }
        // "folder/" and "folder0" enclose exactly the paths that start with "folder/", as '0' follows '/'.
        let start = self.files.partition_point(|file| is_before(&file.path, path, b'/'));
        let end = self.files.partition_point(|file| is_before(&file.path, path, b'0'));
        &self.files[start..end]
    }

    /// Whether `path` is a folder with something in it; the empty path is the package itself.
    pub fn is_directory(&self, path: &str) -> bool {
        path.is_empty() || !self.files_below(path).is_empty()
    }

    /// Where the last file ends: the bytes of all files together, and of what lies between them.
    pub fn segment_length(&self) -> u64 {
        self.files.iter().map(|file| file.offset.saturating_add(file.size)).max().unwrap_or(0)
    }

    /// Whether the files lie one after the other in the order of their paths.
    pub fn is_in_order(&self) -> bool {
        let mut end = 0;
        self.files.iter().all(|file| std::mem::replace(&mut end, file.offset.saturating_add(file.size)) == file.offset)
    }

    /// Gives the files the offsets they have one after the other in the order of their paths, for stores in which offsets
    /// mean nothing.
    pub fn put_in_order(&mut self) {
        let mut end = 0;
        for file in &mut self.files {
            file.offset = end;
            end += file.size;
        }
    }
}

/// Whether `candidate` sorts before `folder` followed by `end`.
fn is_before(candidate: &str, folder: &str, end: u8) -> bool {
    candidate.bytes().lt(folder.bytes().chain([end]))
}

#[cfg(test)]
mod tests;
