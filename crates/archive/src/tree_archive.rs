//! Making archives of installed trees: tar and zip, from one file after the other.
//!
//! Equal trees give equal archives: no time, owner or order of the moment is in them. Every entry has the time that npm gives
//! to the files of all packages. Links are links and what may be run may be run, in zip archives too, by the modes that Unix
//! tools heed there. Folders have no entries of their own. What has been made is taken away in parts; beyond that a zip
//! archive keeps about 100 bytes for each entry, for the list at its end.

use flate2::{Compression, write::DeflateEncoder};
use rawzip::{CompressionMethod, ZipArchiveWriter, time::UtcDateTime};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// 26 October 1985, 08:15 UTC: what npm has in the tarballs it makes, so that equal packages are equal.
const TIME: u32 = 499_162_500;

const FILE: u32 = 0o100_644;
const EXECUTABLE: u32 = 0o100_755;
const SYMLINK: u32 = 0o120_777;

/// The kinds of archives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveFormat {
    /// POSIX tar with GNU's long names, not compressed.
    Tar,
    /// Zip, deflated, with the sizes behind each file, Zip64 where it is needed.
    Zip,
}

/// An archive that grows by one entry after the other.
#[derive(Debug)]
pub struct TreeArchive {
    writer: Writer,
    made: Made,
}

enum Writer {
    Tar(tar::Builder<Made>),
    Zip(ZipArchiveWriter<Made>),
}

impl core::fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(match self {
            Self::Tar(_) => "Tar",
            Self::Zip(_) => "Zip",
        })
    }
}

/// What the archive's writer has written and nobody has taken yet.
#[derive(Debug, Clone, Default)]
struct Made(Rc<RefCell<Vec<u8>>>);

impl Write for Made {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TreeArchive {
    /// An archive without entries.
    pub fn new(format: ArchiveFormat) -> Self {
        let made = Made::default();
        let writer = match format {
            ArchiveFormat::Tar => Writer::Tar(tar::Builder::new(made.clone())),
            ArchiveFormat::Zip => Writer::Zip(ZipArchiveWriter::new(made.clone())),
        };
        Self { writer, made }
    }

    /// Adds a file. `path` is relative, with `/`. Fails where the format cannot hold it.
    pub fn file(&mut self, path: &str, executable: bool, contents: &[u8]) -> io::Result<()> {
        let mode = if executable { EXECUTABLE } else { FILE };
        match &mut self.writer {
            Writer::Tar(tar) => {
                let mut header = tar_header(tar::EntryType::Regular, mode, contents.len() as u64);
                tar.append_data(&mut header, path, contents)
            }
            Writer::Zip(zip) => zip_file(zip, path, mode, contents),
        }
    }

    /// Adds a symbolic link.
    pub fn symlink(&mut self, path: &str, target: &str) -> io::Result<()> {
        match &mut self.writer {
            Writer::Tar(tar) => {
                let mut header = tar_header(tar::EntryType::Symlink, SYMLINK, 0);
                tar.append_link(&mut header, path, target)
            }
            Writer::Zip(zip) => zip_stored(zip, path, SYMLINK, target.as_bytes()),
        }
    }

    /// Bytes that can be taken.
    pub fn made(&self) -> usize {
        self.made.0.borrow().len()
    }

    /// What has been made since it was last taken.
    pub fn take(&mut self) -> Vec<u8> {
        self.made.0.take()
    }

    /// Ends the archive and gives the rest of it.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        match self.writer {
            Writer::Tar(mut tar) => tar.finish()?,
            Writer::Zip(zip) => drop(zip.finish().map_err(io::Error::other)?),
        }
        Ok(self.made.0.take())
    }
}

fn tar_header(kind: tar::EntryType, mode: u32, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode & 0o7777);
    header.set_mtime(TIME.into());
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size);
    header
}

fn zip_file(zip: &mut ZipArchiveWriter<Made>, path: &str, mode: u32, contents: &[u8]) -> io::Result<()> {
    if contents.is_empty() {
        return zip_stored(zip, path, mode, contents);
    }
    let started = zip
        .new_file(path)
        .compression_method(CompressionMethod::DEFLATE)
        .last_modified(UtcDateTime::from_unix(TIME.into()))
        .unix_permissions(mode)
        .start();
    let (mut entry, config) = started.map_err(io::Error::other)?;
    // Twice as fast as the default and a tenth larger: who wants it small packs it again.
    let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::fast()));
    writer.write_all(contents)?;
    let (encoder, description) = writer.finish().map_err(io::Error::other)?;
    encoder.finish()?;
    entry.finish(description).map(drop).map_err(io::Error::other)
}

fn zip_stored(zip: &mut ZipArchiveWriter<Made>, path: &str, mode: u32, contents: &[u8]) -> io::Result<()> {
    let started = zip.new_file(path).last_modified(UtcDateTime::from_unix(TIME.into())).unix_permissions(mode).start();
    let (mut entry, config) = started.map_err(io::Error::other)?;
    let mut writer = config.wrap(&mut entry);
    writer.write_all(contents)?;
    let (_, description) = writer.finish().map_err(io::Error::other)?;
    entry.finish(description).map(drop).map_err(io::Error::other)
}

#[cfg(test)]
mod tests;
