//! Archives of git repositories as hosts serve them, and archives made of files.

use crate::Entry;
use std::io;
use tar::{Archive, Builder, EntryType, Header, PaxExtensions};

/// The commit that an archive made by `git archive` is of: the comment in its global header. `archive` is not compressed.
pub(crate) fn archive_commit(archive: &[u8]) -> Option<String> {
    let mut archive = Archive::new(archive);
    let mut first = archive.entries().ok()?.raw(true).next()?.ok()?;
    if first.header().entry_type() != EntryType::XGlobalHeader {
        return None;
    }
    let mut body = Vec::new();
    io::Read::read_to_end(&mut first, &mut body).ok()?;
    let comment = PaxExtensions::new(&body).flatten().find(|record| record.key_bytes() == b"comment")?.value().ok()?;
    let is_commit = (40..=64).contains(&comment.len()) && comment.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| comment.to_owned())
}

/// An archive of these files in one folder, not compressed: the same bytes for the same files.
pub fn write_archive(entries: &[Entry<'_>]) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    for entry in entries {
        let mut header = Header::new_gnu();
        header.set_size(entry.data.len() as u64);
        header.set_mode(if entry.executable { 0o755 } else { 0o644 });
        header.set_mtime(0);
        builder.append_data(&mut header, format!("package/{}", entry.path), &*entry.data)?;
    }
    builder.into_inner()
}
