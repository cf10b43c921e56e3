//! What Gantry could have unpacked tarballs with instead. Inputs are known to be whole.

use std::io::{Cursor, Read};

use flate2::bufread::GzDecoder;

use super::Tarball;

/// Bytes of a gzip header without options, which is what npm writes, and of the trailer.
const HEADER: usize = 10;
const TRAILER: usize = 8;

/// What the trailer gives as the unpacked size.
fn size(bytes: &[u8]) -> usize {
    bytes.last_chunk::<4>().map_or(0, |size| u32::from_le_bytes(*size) as usize)
}

pub(super) fn gz_decoder(buffer: &mut Vec<u8>, tarball: &Tarball) -> u64 {
    buffer.clear();
    buffer.reserve(size(&tarball.bytes));
    GzDecoder::new(tarball.bytes.as_ref()).read_to_end(buffer).expect("checked before") as u64
}

pub(super) fn miniz(buffer: &mut Vec<u8>, tarball: &Tarball) -> u64 {
    let bytes = tarball.bytes.as_ref();
    if bytes[3] != 0 {
        // Options in the header; hardly a tarball has any.
        return gz_decoder(buffer, tarball);
    }
    let size = size(bytes);
    if buffer.len() < size {
        buffer.resize(size, 0);
    }
    let deflated = &bytes[HEADER..bytes.len() - TRAILER];
    let blocks = std::iter::once(deflated);
    miniz_oxide::inflate::decompress_slice_iter_to_slice(buffer, blocks, false, true).expect("checked before") as u64
}

/// It has no reused buffer to offer and checks the CRC unless told not to.
pub(super) fn zune(tarball: &Tarball) -> u64 {
    let options = zune_inflate::DeflateOptions::default()
        .set_confirm_checksum(false)
        .set_size_hint(size(&tarball.bytes))
        .set_limit(usize::MAX);
    let mut decoder = zune_inflate::DeflateDecoder::new_with_options(&tarball.bytes, options);
    decoder.decode_gzip().expect("checked before").len() as u64
}

/// Names and places of the files; contents stay where they are.
pub(super) fn tar_seek(archive: &[u8]) -> u64 {
    let mut archive = tar::Archive::new(Cursor::new(archive));
    let entries = archive.entries_with_seek().expect("a reader in memory");
    let mut number = 0;
    for entry in entries {
        let entry = entry.expect("checked before");
        if entry.header().entry_type().is_file() && !entry.path_bytes().is_empty() {
            let start = entry.raw_file_position();
            number += 1 + (start + entry.size()) - start;
        }
    }
    number
}

/// The usual way: every file read into a buffer of its own.
pub(super) fn tar_read(reader: impl Read) -> u64 {
    let mut archive = tar::Archive::new(reader);
    let mut number = 0;
    for entry in archive.entries().expect("a reader in memory") {
        let mut entry = entry.expect("checked before");
        if entry.header().entry_type().is_file() && !entry.path_bytes().is_empty() {
            let mut contents = Vec::with_capacity(usize::try_from(entry.size()).expect("it is in memory"));
            number += 1 + entry.read_to_end(&mut contents).expect("checked before") as u64;
        }
    }
    number
}

/// What is compiled from C or assembly.
#[cfg(not(target_family = "wasm"))]
pub(super) mod native {
    use super::{HEADER, TRAILER, Tarball, size};
    use libdeflater::Decompressor;

    /// libdeflate, raw, into one reused buffer.
    pub struct Inflater {
        decompressor: Decompressor,
        buffer: Vec<u8>,
    }

    impl Inflater {
        pub fn new() -> Self {
            Self { decompressor: Decompressor::new(), buffer: Vec::new() }
        }

        pub fn inflate(&mut self, tarball: &Tarball) -> u64 {
            let bytes = tarball.bytes.as_ref();
            let size = size(bytes);
            if self.buffer.len() < size {
                self.buffer.resize(size, 0);
            }
            let buffer = &mut self.buffer[..size];
            let inflated = if bytes[3] == 0 {
                self.decompressor.deflate_decompress(&bytes[HEADER..bytes.len() - TRAILER], buffer)
            } else {
                // Options in the header; hardly a tarball has any.
                self.decompressor.gzip_decompress(bytes, buffer)
            };
            inflated.expect("checked before") as u64
        }
    }

    pub fn ring(tarball: &Tarball) -> u64 {
        u64::from(ring::digest::digest(&ring::digest::SHA512, &tarball.bytes).as_ref().len() == 64)
    }
}
