//! From a verified tarball to a package's directory: steps 2 and 3 of the store's protocol.

use super::record::Record;
use super::temporary_directory;
use crate::descriptor::{close, create_file, folder_of, make_directories, open_directory, write_file};
use crate::temporary::TemporaryDirectory;
use crate::{NativeClock, NativeError};
use gantry_archive::{ArchiveStream, Extractor, Limits, StreamError};
use gantry_engine::Fault;
use gantry_platform::{Clock, Span, Work};
use gantry_registry::TarballRequest;
use gantry_store::{Alteration, PackageIndex, Placement, PreparedPackage, Streamed, prepare};
use rustc_hash::FxHashMap;
use rustix::fd::OwnedFd;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// A tarball with more bytes than this unpacks piece by piece. Inflating at once is faster by a quarter as long as memory
/// that was used before is used again, which that of large packages is not.
const LARGE: usize = 512 << 10;

/// Bytes of a tarball unpacked at a time: not too large for a cache.
const PIECE: usize = 256 << 10;

/// One tarball.
pub(super) struct Unpacking<'a> {
    pub request: &'a TarballRequest,
    pub compressed: &'a [u8],
    pub temporary: &'a Path,
    pub clock: &'a NativeClock,
}

/// A directory with all that a package has.
pub(super) struct Built {
    pub directory: TemporaryDirectory,
    pub index: PackageIndex,
    /// How long unpacking and storing took.
    pub spans: [Span; 2],
}

impl Unpacking<'_> {
    /// Whether it is better done piece by piece.
    pub fn is_large(&self) -> bool {
        self.compressed.len() > LARGE
    }

    /// Inflates all of it, then writes file after file.
    pub fn at_once(&self, extractor: &mut Extractor) -> Result<Built, Fault> {
        let began = self.clock.monotonic_milliseconds();
        let entries = if self.request.integrity.is_some() {
            extractor.extract(&self.request.package, self.compressed)
        } else {
            extractor.extract_unverified(&self.request.package, self.compressed)
        };
        let prepared = prepare(entries.map_err(|error| Fault::from(&error))?);
        let unpacked = self.clock.monotonic_milliseconds();
        let mut building = Building::create(self.temporary)?;
        building.write_all(&prepared)?;
        building.finish(prepared.index, &[], [began, unpacked], self.clock)
    }

    /// Inflates and writes side by side, with a small buffer. Storing ends with the index: what it took before is part of
    /// unpacking.
    pub fn piece_by_piece(&self) -> Result<Built, Fault> {
        let began = self.clock.monotonic_milliseconds();
        let mut files = Streamed::new(Building::create(self.temporary)?);
        let make = if self.request.integrity.is_some() { ArchiveStream::new } else { ArchiveStream::unverified };
        let mut stream = make(&self.request.package, Limits::default());
        let failed = |error| match error {
            StreamError::Archive(error) => Fault::from(&error),
            StreamError::Sink(error) => Fault::from(error),
        };
        for piece in self.compressed.chunks(PIECE) {
            stream.push(piece, &mut files).map_err(failed)?;
        }
        stream.finish(&mut files).map_err(failed)?;
        let unpacked = self.clock.monotonic_milliseconds();
        let (building, index, alterations) = files.finish();
        building.finish(index, &alterations, [began, unpacked], self.clock)
    }
}

/// A package's directory under way. Unless it is [finished](Self::finish) nothing of it stays.
pub(super) struct Building {
    directory: TemporaryDirectory,
    /// Its `files`.
    root: OwnedFd,
    path: PathBuf,
    /// The folder made last.
    made: String,
    /// The file under way.
    current: Option<Current>,
    /// What the contents of each file hash to.
    sums: FxHashMap<String, u64>,
    /// Files that took the place of one that was there: of the same name, or of one that is the same to the file system.
    replacing: Vec<String>,
}

/// A file that is written piece by piece.
struct Current {
    file: File,
    path: String,
    sum: Xxh3,
}

impl Building {
    pub fn create(temporary: &Path) -> Result<Self, NativeError> {
        let directory = temporary_directory(temporary, "package-")?;
        let path = directory.path().join("files");
        fs::create_dir(&path).map_err(NativeError::io("create", &path))?;
        let root = open_directory(&path)?;
        Ok(Self {
            directory,
            root,
            path,
            made: String::new(),
            current: None,
            sums: FxHashMap::default(),
            replacing: Vec::new(),
        })
    }

    /// After the last file: makes what is to be altered, and writes the index. `times` are those at which unpacking began and
    /// ended.
    pub fn finish(
        mut self,
        mut index: PackageIndex,
        alterations: &[Alteration],
        times: [f64; 2],
        clock: &NativeClock,
    ) -> Result<Built, Fault> {
        self.end_current()?;
        let replaced = self.replaced(&index)?;
        for alteration in alterations.iter().filter(|alteration| !replaced.contains(&alteration.file)) {
            self.alter(&index.files[alteration.file].path, alteration)?;
        }
        let mut numbers = 0..;
        index.files.retain(|_| numbers.next().is_none_or(|number| !replaced.contains(&number)));
        index.put_in_order();
        self.write_index(&index)?;
        let ([began, unpacked], stored) = (times, clock.monotonic_milliseconds());
        let bytes = index.segment_length();
        let spans = [Span::of(Work::Unpack, began, unpacked, bytes), Span::of(Work::Store, unpacked, stored, bytes)];
        Ok(Built { directory: self.directory, index, spans })
    }

    /// Writes the list of the files, with what they hash to.
    pub fn write_index(&self, index: &PackageIndex) -> Result<(), NativeError> {
        let sums: Vec<u64> =
            index.files.iter().map(|file| self.sums.get(&file.path).copied().unwrap_or_default()).collect();
        let path = self.directory.path().join("index");
        let written = File::create(&path).and_then(|mut file| {
            let inode = file.metadata()?.ino();
            file.write_all(&Record::encode(index, &sums, inode))?;
            close(file)
        });
        written.map_err(NativeError::io("write", &path))
    }

    /// What was written.
    pub fn into_directory(self) -> TemporaryDirectory {
        self.directory
    }

    fn write_all(&mut self, prepared: &PreparedPackage<'_>) -> Result<(), NativeError> {
        self.sums.reserve(prepared.contents.len());
        for (record, contents) in prepared.index.files.iter().zip(&prepared.contents) {
            self.write_file(&record.path, record.executable, contents)?;
        }
        Ok(())
    }

    /// Writes a whole file.
    pub fn write_file(&mut self, path: &str, executable: bool, contents: &[u8]) -> Result<(), NativeError> {
        let mut file = self.create_file(path, executable)?;
        file.write_all(contents).and_then(|()| close(file)).map_err(self.failed("write", path))?;
        self.sums.insert(path.to_owned(), xxh3_64(contents));
        Ok(())
    }

    /// Makes a file. What is there already, of a name that is the same to the file system, makes way: as with npm, the last
    /// one stays.
    fn create_file(&mut self, path: &str, executable: bool) -> Result<File, NativeError> {
        match self.create_new(path, executable) {
            Err(NativeError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(self.path.join(path)).map_err(self.failed("replace", path))?;
                self.replacing.push(path.to_owned());
                self.create_new(path, executable)
            }
            created => created,
        }
    }

    /// Which files of the list are not there any more, since others have taken their places.
    fn replaced(&self, index: &PackageIndex) -> Result<BTreeSet<usize>, NativeError> {
        let identity = |path: &str| {
            let data = fs::symlink_metadata(self.path.join(path)).map_err(self.failed("read", path))?;
            Ok::<_, NativeError>((data.dev(), data.ino()))
        };
        let mut remaining = BTreeMap::new();
        for path in &self.replacing {
            remaining.insert(identity(path)?, path);
        }
        let mut replaced = BTreeSet::new();
        if remaining.is_empty() {
            return Ok(replaced);
        }
        for (number, file) in index.files.iter().enumerate() {
            if remaining.get(&identity(&file.path)?).is_some_and(|path| **path != file.path) {
                replaced.insert(number);
            }
        }
        Ok(replaced)
    }

    fn create_new(&mut self, path: &str, executable: bool) -> Result<File, NativeError> {
        let parent = folder_of(path, &self.made);
        if parent != self.made {
            make_directories(&self.root, parent, &self.made).map_err(self.failed("create", parent))?;
            parent.clone_into(&mut self.made);
        }
        create_file(&self.root, path, executable).map_err(self.failed("create", path))
    }

    /// Makes a file that has been written what `bin` wants it to be.
    fn alter(&mut self, path: &str, alteration: &Alteration) -> Result<(), NativeError> {
        let Alteration { removed, .. } = alteration;
        if let Some(removed) = removed.and_then(|removed| usize::try_from(removed).ok()) {
            let mut contents = fs::read(self.path.join(path)).map_err(self.failed("read", path))?;
            contents.remove(removed);
            write_file(&self.path.join(path), &contents).map_err(self.failed("write", path))?;
            self.sums.insert(path.to_owned(), xxh3_64(&contents));
        }
        let place = self.path.join(path);
        let changed = fs::metadata(&place).and_then(|data| {
            // Whoever may read it may run it: what the process was told to withhold stays withheld.
            let mode = data.permissions().mode();
            fs::set_permissions(&place, Permissions::from_mode(mode | (mode & 0o444) >> 2))
        });
        changed.map_err(self.failed("change the mode of", path))
    }

    /// Closes the file under way, and notes what it hashes to.
    fn end_current(&mut self) -> Result<(), NativeError> {
        if let Some(Current { file, path, sum }) = self.current.take() {
            close(file).map_err(self.failed("write", &path))?;
            self.sums.insert(path, sum.digest());
        }
        Ok(())
    }

    fn failed(&self, what: &'static str, path: &str) -> impl FnOnce(io::Error) -> NativeError {
        move |error| NativeError::io(what, &self.path.join(path))(error)
    }
}

impl Placement for Building {
    type Error = NativeError;

    /// Files of the store have no offsets.
    fn begin(&mut self, path: &str, executable: bool) -> Result<u64, NativeError> {
        self.end_current()?;
        let file = self.create_file(path, executable)?;
        self.current = Some(Current { file, path: path.to_owned(), sum: Xxh3::new() });
        Ok(0)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), NativeError> {
        match &mut self.current {
            Some(Current { file, path, sum }) => {
                sum.update(bytes);
                file.write_all(bytes).map_err(NativeError::io("write", &self.path.join(path)))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
