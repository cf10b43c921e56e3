//! Registries' documents as they were last answered, so that a resolve need not ask for and scan everything again.
//!
//! One format for a disk and for a browser's OPFS: a *pack* of documents, each its outline
//! ([`Packument::outline`](gantry_manifest::Packument::outline)) and the registry's own bytes, and a *journal* that says
//! which documents there are, where, and how fresh. Of two records with the same key the later counts. Opening reads the
//! journal, 150 to 200 bytes for a document, and nothing of the pack; using a document reads its outline and the versions
//! that are decoded.
//!
//! Everything is a copy of what a registry has, so nothing here is worth an error: what is torn, damaged or of another
//! format is not there. Each journal record, outline and version has a checksum that is verified when it is read. Nothing is
//! ever flushed, because what a crash of the machine loses is found to be missing the same way.
//!
//! Who writes and reads in one process need not hold what has been written: [`MirrorReader::lend`] has the bodies of documents
//! that were just kept read from the pack, as those of earlier runs are.
//!
//! One process or tab writes at a time (the platform sees to that, with a lock file or a Web Lock); others read what was
//! there when they opened it. A place in a pack that was ever recorded is never written again: what has been replaced is
//! given back by [compaction](MirrorWriter::compact), which moves what is in use to a new pack, and leaves behind what has not
//! been [for long](expiry).

mod catalog;
mod expiry;
mod files;
mod reader;
mod record;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{Kept, MirrorReader};
pub use writer::{MirrorWrite, MirrorWriter, Written};

/// What a document is kept under.
///
/// The *scope* of a key is whose answers the document may be mixed with: the registry's address, and for a registry that is
/// asked with credentials, behind a space, something that tells them apart without giving them away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorKey {
    text: String,
}

/// Which of a registry's forms of a packument was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentForm {
    /// What an install needs.
    Abbreviated,
    /// Everything.
    Full,
}

impl MirrorKey {
    /// The key of a packument.
    pub fn packument(scope: &str, form: DocumentForm, name: &str) -> Self {
        let form = match form {
            DocumentForm::Abbreviated => "abbreviated",
            DocumentForm::Full => "full",
        };
        Self { text: format!("{form}\n{scope}\n{name}") }
    }

    /// The key of a version's own document.
    pub fn version_document(scope: &str, name: &str, version: &str) -> Self {
        Self { text: format!("document\n{scope}\n{name}@{version}") }
    }

    /// The key of what is known of one version.
    pub fn version(scope: &str, name: &str, version: &str) -> Self {
        Self { text: format!("version\n{scope}\n{name}@{version}") }
    }

    /// The key of what is known of a registry.
    pub fn registry(scope: &str) -> Self {
        Self { text: format!("registry\n{scope}") }
    }

    fn as_str(&self) -> &str {
        &self.text
    }
}

/// The scope of a key's text.
fn key_scope(key: &str) -> &str {
    key.split('\n').nth(1).unwrap_or_default()
}

/// The registry's address in a scope.
fn registry_of(scope: &str) -> &str {
    scope.split_once(' ').map_or(scope, |(registry, _)| registry)
}

/// How long an answer may be used without asking again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Freshness {
    /// When it was answered, in milliseconds since 1970.
    pub answered: u64,
    /// For how many milliseconds from then it is fresh.
    pub lifetime: u64,
    /// Whether the registry forbids to use it after that even if it cannot be reached.
    pub must_revalidate: bool,
}

/// What to send along when asking whether a document has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Validators {
    /// `ETag` of the answer.
    pub etag: Option<String>,
    /// `Last-Modified` of the answer.
    pub last_modified: Option<String>,
}
