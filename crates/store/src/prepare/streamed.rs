//! The same, of files that come one after the other and are not kept in memory.

use super::{FIRST_LINE, as_stored, facts_of, windows_line_end};
use crate::{FileRecord, PackageFacts, PackageIndex};
use gantry_archive::FileSink;
use rustc_hash::FxHashMap;

/// Where files are put down.
pub trait Placement {
    /// What can go wrong there.
    type Error;

    /// A file begins; gives its offset within the package. A path that was there before is written anew.
    fn begin(&mut self, path: &str, executable: bool) -> Result<u64, Self::Error>;

    /// The next bytes of the file.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// What a package's `bin` asks of a file that has been put down already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alteration {
    /// The file's place in the index.
    pub file: usize,
    /// Offset of the byte that is to go: a carriage return before the end of the first line.
    pub removed: Option<u64>,
}

/// Passes files on to where they are put down, and notes what their index needs.
#[derive(Debug)]
pub struct Streamed<P> {
    placement: P,
    files: Vec<Noted>,
    positions: FxHashMap<String, usize>,
    /// The file under way.
    current: usize,
    /// What the file under way begins with, as far as its first line matters.
    first_line: Vec<u8>,
    package_json: Option<Vec<u8>>,
    has_gyp: bool,
}

/// A file that was put down.
#[derive(Debug)]
struct Noted {
    record: FileRecord,
    line_end: Option<u64>,
}

const MANIFEST: &str = "package.json";

impl<P: Placement> Streamed<P> {
    /// Files go to `placement`.
    pub fn new(placement: P) -> Self {
        Self {
            placement,
            files: Vec::new(),
            positions: FxHashMap::default(),
            current: 0,
            first_line: Vec::new(),
            package_json: None,
            has_gyp: false,
        }
    }

    /// After the last file: what [`prepare`](super::prepare) would have made of them. Modes and sizes in the index are those
    /// that the files have once the alterations are made.
    pub fn finish(mut self) -> (P, PackageIndex, Vec<Alteration>) {
        self.end_file();
        self.files.sort_unstable_by(|left, right| left.record.path.cmp(&right.record.path));
        let facts = facts_of(self.package_json.as_deref(), self.has_gyp);
        let alterations = self.alter(&facts);
        let files = self.files.into_iter().map(|noted| noted.record).collect();
        (self.placement, PackageIndex { files, facts }, alterations)
    }

    fn alter(&mut self, facts: &PackageFacts) -> Vec<Alteration> {
        let mut alterations = Vec::new();
        for (_, target) in &facts.bin {
            let found = self.files.binary_search_by(|noted| noted.record.path.as_str().cmp(as_stored(target)));
            let Ok(file) = found else { continue };
            let Noted { record, line_end } = &mut self.files[file];
            let removed = line_end.take();
            if removed.is_some() {
                record.size -= 1;
            }
            if removed.is_some() || !record.executable {
                record.executable = true;
                alterations.push(Alteration { file, removed });
            }
        }
        alterations
    }

    /// Takes note of the first line of the file under way, once it is known.
    fn end_file(&mut self) {
        if let Some(noted) = self.files.get_mut(self.current) {
            noted.line_end = windows_line_end(&self.first_line).map(|position| position as u64);
        }
        self.first_line.clear();
    }
}

impl<P: Placement> FileSink for Streamed<P> {
    type Error = P::Error;

    fn begin(&mut self, path: &str, executable: bool) -> Result<(), P::Error> {
        self.end_file();
        let offset = self.placement.begin(path, executable)?;
        let record = FileRecord { path: path.to_owned(), offset, size: 0, executable };
        let noted = Noted { record, line_end: None };
        self.current = *self.positions.entry(path.to_owned()).or_insert(self.files.len());
        match self.files.get_mut(self.current) {
            Some(earlier) => *earlier = noted,
            None => self.files.push(noted),
        }
        if path == MANIFEST {
            self.package_json = Some(Vec::new());
        }
        self.has_gyp |= path == "binding.gyp";
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), P::Error> {
        let Noted { record, .. } = &mut self.files[self.current];
        record.size += bytes.len() as u64;
        if record.path == MANIFEST
            && let Some(package_json) = &mut self.package_json
        {
            package_json.extend_from_slice(bytes);
        }
        let wanted = FIRST_LINE.saturating_sub(self.first_line.len()).min(bytes.len());
        self.first_line.extend_from_slice(&bytes[..wanted]);
        self.placement.write(bytes)
    }
}

#[cfg(test)]
mod tests;
