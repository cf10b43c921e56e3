//! Walks the 512-byte blocks of a tar archive as npm's `tar` does, down to what it makes of damage.
//!
//! A header whose checksum is wrong, or that contradicts itself, is passed over as one block, and so is whatever follows it
//! until a block is a header again. One block of zeros is passed over, two end the archive. Names come from the header,
//! from its prefix, from a GNU long name or from a pax header; sizes from the header or from pax.

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
const MAXIMUM_META_SIZE: usize = 1 << 20;

/// The files of `archive` in its order.
pub(crate) fn walk<'a>(
    package: &str,
    archive: &'a [u8],
    limits: &Limits,
    kind: ArchiveKind,
) -> Result<Vec<Found<'a>>, ArchiveError> {
    let mut walk = Walk { package, limits, kind, found: Vec::new(), entries: 0, ignore_files: FxHashSet::default() };
    walk.run(archive)?;
    Ok(walk.found)
}

struct Walk<'a, 'p> {
    package: &'p str,
    limits: &'p Limits,
    kind: ArchiveKind,
    found: Vec<Found<'a>>,
    entries: usize,
    /// Paths of `.npmignore` files seen so far, as the archive has them.
    ignore_files: FxHashSet<String>,
}

impl<'a> Walk<'a, '_> {
    fn run(&mut self, archive: &'a [u8]) -> Result<(), ArchiveError> {
        let mut rest = archive;
        let mut next = Extended::default();
        let mut all = Extended::default();
        let mut zeros = false;
        let mut recognized = false;
        while let Some((block, after)) = rest.split_first_chunk::<BLOCK>() {
            rest = after;
            let header = match Block(block).read(&next, &all) {
                Header::Zeros if zeros => break,
                Header::Zeros => {
                    zeros = true;
                    continue;
                }
                Header::Invalid => {
                    zeros = false;
                    continue;
                }
                Header::Entry(entry) => entry,
            };
            zeros = false;
            let body = self.body(&mut rest, header.size)?;
            match header.kind {
                Kind::Pax | Kind::PaxGlobal | Kind::LongPath | Kind::LongLink if body.is_empty() => {}
                Kind::Pax | Kind::PaxGlobal | Kind::LongPath | Kind::LongLink if body.len() > MAXIMUM_META_SIZE => {
                    recognized = true;
                }
                Kind::Pax => {
                    next.merge_pax(body);
                    recognized = true;
                }
                Kind::PaxGlobal => {
                    all.merge_pax(body);
                    recognized = true;
                }
                Kind::LongPath => {
                    next.set_path(body);
                    recognized = true;
                }
                Kind::LongLink => recognized = true,
                Kind::File { contiguous } => {
                    self.count()?;
                    self.file(header.path, header.executable, contiguous, body)?;
                    next = Extended::default();
                    recognized = true;
                }
                Kind::Dropped => {
                    self.count()?;
                    next = Extended::default();
                    recognized = true;
                }
            }
        }
        if recognized { Ok(()) } else { Err(ArchiveError::Format { package: self.package.to_owned() }) }
    }

    /// Takes an entry's body and its padding from `rest`.
    fn body(&self, rest: &mut &'a [u8], size: u64) -> Result<&'a [u8], ArchiveError> {
        let taken = usize::try_from(size).ok().and_then(|size| {
            let (padded, after) = rest.split_at_checked(size.checked_next_multiple_of(BLOCK)?)?;
            *rest = after;
            Some(&padded[..size])
        });
        taken.ok_or_else(|| ArchiveError::Truncated { package: self.package.to_owned() })
    }

    fn count(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(self.limit(LimitKind::Entries, self.limits.entries));
        }
        Ok(())
    }

    fn file(
        &mut self,
        path: Cow<'_, str>,
        executable: bool,
        contiguous: bool,
        data: &'a [u8],
    ) -> Result<(), ArchiveError> {
        let Some(path) = self.publishing_name(path) else { return Ok(()) };
        match landing(&path) {
            Landing::Dropped => Ok(()),
            Landing::Unsafe => Err(ArchiveError::Path { package: self.package.to_owned(), entry: path.into_owned() }),
            Landing::At(path) if path.len() > self.limits.path_bytes => {
                Err(self.limit(LimitKind::PathBytes, self.limits.path_bytes))
            }
            Landing::At(path) => {
                let entry = Entry { path, data: Cow::Borrowed(data), executable };
                self.found.push(Found { entry, replaces: contiguous });
                Ok(())
            }
        }
    }

    /// A `.gitignore` stands for a `.npmignore`, unless one came before it in the same folder.
    fn publishing_name<'n>(&mut self, path: Cow<'n, str>) -> Option<Cow<'n, str>> {
        let trimmed = path.trim_end_matches('/');
        let name = trimmed.rsplit_once('/').map_or(trimmed, |(_, name)| name);
        match name {
            ".npmignore" | ".gitignore" if self.kind == ArchiveKind::Repository => Some(path),
            ".npmignore" => {
                self.ignore_files.insert(path.clone().into_owned());
                Some(path)
            }
            ".gitignore" => match path.strip_suffix(".gitignore") {
                Some(folder) => {
                    let renamed = format!("{folder}.npmignore");
                    (!self.ignore_files.contains(&renamed)).then_some(Cow::Owned(renamed))
                }
                None => (!self.ignore_files.contains(path.as_ref())).then_some(path),
            },
            _ => Some(path),
        }
    }

    fn limit(&self, limit: LimitKind, maximum: usize) -> ArchiveError {
        let maximum = u64::try_from(maximum).unwrap_or(u64::MAX);
        ArchiveError::Limit { package: self.package.to_owned(), limit, maximum }
    }
}
