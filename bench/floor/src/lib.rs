//! What every installer has to do to a tarball, and nothing else: hash it, inflate it.
//!
//! The same libraries as in Gantry, used the same way: SHA-512 over the compressed bytes, then raw inflate without a CRC into
//! one buffer that is used again. No tar, no paths, no store. The browser bench takes this for the floor.

#![deny(missing_docs)]

use flate2::{Decompress, FlushDecompress, Status};
use gantry_archive::Integrity;
use wasm_bindgen::prelude::*;

/// Bytes of a gzip header without optional fields, which is what npm packs.
const PLAIN_HEADER: [u8; 4] = [0x1f, 0x8b, 8, 0];
const HEADER: usize = 10;
const TRAILER: usize = 8;

/// Room beyond the inflated size, so that the end of the stream is seen without growing.
const SLACK: usize = 64;

/// One worker's decompressor and buffer.
#[wasm_bindgen]
pub struct Floor {
    stream: Decompress,
    buffer: Vec<u8>,
}

impl Default for Floor {
    fn default() -> Self {
        Self { stream: Decompress::new(false), buffer: Vec::new() }
    }
}

#[wasm_bindgen]
impl Floor {
    /// With an empty buffer.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Hashes and inflates one tarball; gives back its inflated size.
    pub fn check(&mut self, tarball: &[u8], integrity: &str) -> Result<usize, JsError> {
        Integrity::parse(integrity)?.verify("tarball", tarball)?;
        self.inflate(tarball).ok_or_else(|| JsError::new("a tarball does not inflate"))
    }
}

impl Floor {
    fn inflate(&mut self, tarball: &[u8]) -> Option<usize> {
        let size = u32::from_le_bytes(*tarball.last_chunk::<4>()?) as usize;
        if self.buffer.len() < size + SLACK {
            self.buffer.resize(size + SLACK, 0);
        }
        let body = tarball.get(data_start(tarball)?..tarball.len().checked_sub(TRAILER)?)?;
        self.stream.reset(false);
        let status = self.stream.decompress(body, &mut self.buffer, FlushDecompress::Finish).ok()?;
        (status == Status::StreamEnd && self.stream.total_out() == size as u64).then_some(size)
    }
}

/// Where the deflate stream begins. Some tarballs carry a file name.
fn data_start(tarball: &[u8]) -> Option<usize> {
    const HAS_NAME: u8 = 8;
    if tarball.starts_with(&PLAIN_HEADER) {
        return Some(HEADER);
    }
    if tarball.get(..3)? != [0x1f, 0x8b, 8] || *tarball.get(3)? != HAS_NAME {
        return None;
    }
    let name = tarball.get(HEADER..)?.iter().position(|&byte| byte == 0)?;
    Some(HEADER + name + 1)
}
