//! A pack as it was, read synchronously: for browsers whose access handles nobody can share.
//!
//! A read through `FileReaderSync` costs about half a millisecond in Firefox however short it is, and a package's files lie one
//! behind the other: so a whole block is read, and the last few are kept.

use crate::error::failed;
use gantry_engine::Fault;
use js_sys::Uint8Array;
use std::cell::RefCell;
use std::collections::VecDeque;
use wasm_bindgen::JsValue;
use web_sys::{File, FileReaderSync};

/// Bytes of a block. Reads longer than this go past the blocks.
const BLOCK: u64 = 128 << 10;
/// Blocks that are kept of one pack: 4 MB.
const BLOCKS: usize = 32;

/// A file that does not change.
#[derive(Debug)]
pub(crate) struct Snapshot {
    file: File,
    reader: FileReaderSync,
    /// Numbers and bytes of blocks, the one used last at the end.
    blocks: RefCell<VecDeque<(u64, Uint8Array)>>,
}

impl Snapshot {
    /// Fails where nothing can be read synchronously.
    pub fn new(file: File) -> Result<Self, Fault> {
        let reader = FileReaderSync::new().map_err(|error| failed(&error))?;
        Ok(Self { file, reader, blocks: RefCell::default() })
    }

    /// `size` bytes from `offset`.
    pub fn read(&self, offset: u64, size: u32) -> Result<Uint8Array, Fault> {
        let end = offset + u64::from(size);
        if u64::from(size) > BLOCK {
            return self
                .part(offset, end)
                .and_then(|bytes| if bytes.length() < size { Err(short()) } else { Ok(bytes) });
        }
        let bytes = Uint8Array::new_with_length(size);
        let mut at = offset;
        while at < end {
            let number = at / BLOCK;
            let block = self.block(number)?;
            let start = at - number * BLOCK;
            let stop = (end - number * BLOCK).min(block.length().into());
            if stop <= start {
                return Err(short());
            }
            bytes.set(&block.subarray(within_block(start), within_block(stop)), within_block(at - offset));
            at += stop - start;
        }
        Ok(bytes)
    }

    fn block(&self, number: u64) -> Result<Uint8Array, Fault> {
        let mut blocks = self.blocks.borrow_mut();
        let known = blocks.iter().position(|(other, _)| *other == number);
        let found = match known.and_then(|at| blocks.remove(at)) {
            Some((_, bytes)) => bytes,
            None => self.part(number * BLOCK, (number + 1) * BLOCK)?,
        };
        if blocks.len() == BLOCKS {
            blocks.pop_front();
        }
        blocks.push_back((number, found.clone()));
        Ok(found)
    }

    /// What the file has between two offsets.
    fn part(&self, start: u64, end: u64) -> Result<Uint8Array, Fault> {
        let fault = |error: JsValue| failed(&error);
        #[expect(clippy::cast_precision_loss, reason = "offsets in packs are far below 2^53")]
        let part = self.file.slice_with_f64_and_f64(start as f64, end as f64).map_err(fault)?;
        self.reader.read_as_array_buffer(&part).map(|buffer| Uint8Array::new(&buffer)).map_err(fault)
    }
}

/// A position in a block or in what is read through blocks.
fn within_block(position: u64) -> u32 {
    u32::try_from(position).expect("blocks are small")
}

fn short() -> Fault {
    Fault::new("STORE_CORRUPT", "a pack ends before what was recorded of it")
}
