//! One number for a tree, the same for a tree on disk and for a virtual one.

use sha2::{Digest, Sha256};

/// Changes whenever the same tree gets another digest.
const FORMAT: &[u8] = b"gantry tree 1\0";

/// Condenses the files and symbolic links of a tree into a SHA-256. Folders do not count, nor do times or owners.
///
/// For each entry is hashed: a letter (`f` file, `x` executable file, `l` link), the path's length and the path, the
/// length of the contents or target and these; lengths as 64-bit little-endian numbers. So no two trees hash the same
/// bytes.
#[derive(Debug, Clone)]
pub struct TreeDigest {
    hasher: Sha256,
    previous: Option<String>,
}

impl TreeDigest {
    /// Of a tree without anything in it.
    pub fn new() -> Self {
        Self { hasher: Sha256::new_with_prefix(FORMAT), previous: None }
    }

    /// Adds a file. `path` is relative to the tree, with `/`.
    ///
    /// # Panics
    /// If the paths of all entries do not come in byte order, each once.
    pub fn file(&mut self, path: &str, executable: bool, contents: &[u8]) {
        self.entry(if executable { b'x' } else { b'f' }, path, contents);
    }

    /// Adds a symbolic link with its target as it stands in it; as [`file`](Self::file) otherwise.
    pub fn symlink(&mut self, path: &str, target: &str) {
        self.entry(b'l', path, target.as_bytes());
    }

    /// The digest, in lower-case hexadecimal.
    pub fn finish(self) -> String {
        use core::fmt::Write;
        self.hasher.finalize().iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes everything");
            text
        })
    }

    fn entry(&mut self, kind: u8, path: &str, contents: &[u8]) {
        let in_order = self.previous.as_deref().is_none_or(|previous| previous < path);
        assert!(in_order, "the entries of a tree must come in byte order: {path:?} after {:?}", self.previous);
        self.hasher.update([kind]);
        for part in [path.as_bytes(), contents] {
            self.hasher.update((part.len() as u64).to_le_bytes());
            self.hasher.update(part);
        }
        self.previous = Some(path.to_owned());
    }
}

impl Default for TreeDigest {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
