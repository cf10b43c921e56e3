//! Walks the 512-byte blocks of a tar archive as npm's `tar` does, down to what it makes of damage.
//!
//! A header whose checksum is wrong, or that contradicts itself, is passed over as one block, and so is whatever follows it
//! until a block is a header again. One block of zeros is passed over, two end the archive. Names come from the header,
//! from its prefix, from a GNU long name or from a pax header; sizes from the header or from pax.
//!
//! [`Blocks`] decides what each block means; whoever has the bytes, all at once ([`walk`]) or piece by piece, gives it the
//! next one.

use crate::{
    ArchiveError, Entry, LimitKind, Limits,
    header::{BLOCK, Block, Header, Kind},
    path::{Landing, landing},
    pax::Extended,
    settle::Found,
};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// What an archive is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArchiveKind {
    /// A package: a `.gitignore` in it becomes `.npmignore`.
    Package,
    /// A repository, which is still to be packed.
    Repository,
}

/// Larger extended headers are passed over.
const MAXIMUM_EXTENDED: u64 = 1 << 20;

/// The files of `archive` in its order.
pub(crate) fn walk<'a>(
    package: &str,
    archive: &'a [u8],
    limits: &Limits,
    kind: ArchiveKind,
) -> Result<Vec<Found<'a>>, ArchiveError> {
    let mut blocks = Blocks::new(package, *limits, kind);
    let mut found = Vec::new();
    let mut rest = archive;
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
        rest = after;
        match blocks.next(block)? {
            Step::Next => {}
            Step::End => break,
            Step::Extended { kind, size } => blocks.extend(kind, body(&mut rest, size, package)?),
            Step::Body { file, size } => {
                let data = Cow::Borrowed(body(&mut rest, size, package)?);
                if let Some(FileHead { path, executable, replaces }) = file {
                    found.push(Found { entry: Entry { path, data, executable }, replaces });
                }
            }
        }
    }
    blocks.finish()?;
    Ok(found)
}

/// Takes an entry's body and its padding from `rest`.
fn body<'a>(rest: &mut &'a [u8], size: u64, package: &str) -> Result<&'a [u8], ArchiveError> {
    let taken = usize::try_from(size).ok().and_then(|size| {
        let (padded, after) = rest.split_at_checked(size.checked_next_multiple_of(BLOCK)?)?;
        *rest = after;
        Some(&padded[..size])
    });
    taken.ok_or_else(|| ArchiveError::Truncated { package: package.to_owned() })
}

/// A file whose contents come next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileHead {
    /// Where it lands.
    pub path: String,
    /// Whether the archive marks it executable for anybody.
    pub executable: bool,
    /// See [`Found::replaces`].
    pub replaces: bool,
}

/// What follows a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Another block.
    Next,
    /// Nothing that counts.
    End,
    /// An extended header of `size` bytes, padded to whole blocks, for [`Blocks::extend`].
    Extended {
        /// Of what kind.
        kind: ExtendedKind,
        /// Bytes; no more than can be kept.
        size: u64,
    },
    /// `size` bytes, padded to whole blocks: a file's, or, without one, to be passed over.
    Body {
        /// The file.
        file: Option<FileHead>,
        /// Bytes.
        size: u64,
    },
}

/// The extended headers that are looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExtendedKind {
    /// Pax records for the next entry.
    Next,
    /// Pax records for all entries.
    All,
    /// The next entry's path.
    Path,
}

/// What blocks mean, one after the other.
#[derive(Debug)]
pub(crate) struct Blocks<'p> {
    package: &'p str,
    limits: Limits,
    kind: ArchiveKind,
    next: Extended,
    all: Extended,
    /// Whether the block before was one of zeros.
    zeros: bool,
    /// Whether anything was a header.
    recognized: bool,
    entries: usize,
    /// Paths of `.npmignore` files seen so far, as the archive has them.
    ignore_files: FxHashSet<String>,
}

impl<'p> Blocks<'p> {
    /// At the start of an archive.
    pub fn new(package: &'p str, limits: Limits, kind: ArchiveKind) -> Self {
        Self {
            package,
            limits,
            kind,
            next: Extended::default(),
            all: Extended::default(),
            zeros: false,
            recognized: false,
            entries: 0,
            ignore_files: FxHashSet::default(),
        }
    }

    /// Takes the next block that is not an entry's body.
    pub fn next(&mut self, block: &[u8; BLOCK]) -> Result<Step, ArchiveError> {
        let header = match Block(block).read(&self.next, &self.all) {
            Header::Zeros if self.zeros => return Ok(Step::End),
            Header::Zeros => {
                self.zeros = true;
                return Ok(Step::Next);
            }
            Header::Invalid => {
                self.zeros = false;
                return Ok(Step::Next);
            }
            Header::Entry(entry) => entry,
        };
        self.zeros = false;
        let size = header.size;
        let kind = match header.kind {
            Kind::File { contiguous } => {
                let (path, executable) = (header.path.into_owned(), header.executable);
                self.count()?;
                let file = self.land(path)?.map(|path| FileHead { path, executable, replaces: contiguous });
                self.next = Extended::default();
                return Ok(Step::Body { file, size });
            }
            Kind::Dropped => {
                self.count()?;
                self.next = Extended::default();
                return Ok(Step::Body { file: None, size });
            }
            Kind::Pax => Some(ExtendedKind::Next),
            Kind::PaxGlobal => Some(ExtendedKind::All),
            Kind::LongPath => Some(ExtendedKind::Path),
            Kind::LongLink => None,
        };
        self.recognized |= size > 0;
        Ok(match kind.filter(|_| size <= MAXIMUM_EXTENDED) {
            _ if size == 0 => Step::Next,
            Some(kind) => Step::Extended { kind, size },
            None => Step::Body { file: None, size },
        })
    }

    /// Takes the body of an extended header.
    pub fn extend(&mut self, kind: ExtendedKind, body: &[u8]) {
        match kind {
            ExtendedKind::Next => self.next.merge_pax(body),
            ExtendedKind::All => self.all.merge_pax(body),
            ExtendedKind::Path => self.next.set_path(body),
        }
    }

    /// After the last block: whether it was an archive at all.
    pub fn finish(&self) -> Result<(), ArchiveError> {
        if self.recognized { Ok(()) } else { Err(ArchiveError::Format { package: self.package.to_owned() }) }
    }

    fn count(&mut self) -> Result<(), ArchiveError> {
        self.recognized = true;
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(self.limit(LimitKind::Entries, self.limits.entries));
        }
        Ok(())
    }

    /// Where a file lands; `None` if it leaves nothing.
    fn land(&mut self, path: String) -> Result<Option<String>, ArchiveError> {
        let Some(path) = self.publishing_name(path) else { return Ok(None) };
        match landing(&path) {
            Landing::Dropped => Ok(None),
            Landing::Unsafe => Err(ArchiveError::Path { package: self.package.to_owned(), entry: path }),
            Landing::At(path) if path.len() > self.limits.path_bytes => {
                Err(self.limit(LimitKind::PathBytes, self.limits.path_bytes))
            }
            Landing::At(path) => Ok(Some(path)),
        }
    }

    /// A `.gitignore` stands for a `.npmignore`, unless one came before it in the same folder.
    fn publishing_name(&mut self, path: String) -> Option<String> {
        let trimmed = path.trim_end_matches('/');
        let name = trimmed.rsplit_once('/').map_or(trimmed, |(_, name)| name);
        match name {
            ".npmignore" | ".gitignore" if self.kind == ArchiveKind::Repository => Some(path),
            ".npmignore" => {
                self.ignore_files.insert(path.clone());
                Some(path)
            }
            ".gitignore" => match path.strip_suffix(".gitignore") {
                Some(folder) => {
                    let renamed = format!("{folder}.npmignore");
                    (!self.ignore_files.contains(&renamed)).then_some(renamed)
                }
                None => (!self.ignore_files.contains(&path)).then_some(path),
            },
            _ => Some(path),
        }
    }

    fn limit(&self, limit: LimitKind, maximum: usize) -> ArchiveError {
        let maximum = u64::try_from(maximum).unwrap_or(u64::MAX);
        ArchiveError::Limit { package: self.package.to_owned(), limit, maximum }
    }
}
