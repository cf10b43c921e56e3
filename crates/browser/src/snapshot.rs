//! A pack as it was, for where access handles cannot be shared (other browsers than Chromium) or are none (outside of dedicated
//! workers).
//!
//! A worker reads synchronously, through `FileReaderSync`: that costs about half a millisecond in Firefox however short it is, and
//! a package's files lie one behind the other: so a whole block is read, and the last few are kept. Pages and service workers
//! have no `FileReaderSync`: there a block is waited for, again half a millisecond and more. Whoever goes on to the next block most
//! likely reads further: then some are read at once.

use crate::error::{failed, file_fault};
use crate::opfs::OpfsDirectory;
use futures_util::FutureExt;
use futures_util::future::{LocalBoxFuture, Shared};
use gantry_engine::Fault;
use js_sys::Uint8Array;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File, FileReaderSync};

/// Bytes of a block. Reads longer than this go past the blocks.
const BLOCK: u64 = 128 << 10;
/// Blocks that are kept of one pack, once they have been read: 4 MB.
const BLOCKS: usize = 32;
/// Blocks that are read at once behind one that is here.
const AHEAD: u64 = 4;
/// How often a file is asked for anew that has grown since.
const ATTEMPTS: usize = 20;

/// A pack. What is recorded of it does not change.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pack: Rc<Pack>,
    /// The one used last at the end. Whoever wants one that is being read waits for it.
    blocks: RefCell<VecDeque<Block>>,
}

#[derive(Debug, Clone)]
struct Block {
    number: u64,
    /// It and its neighbours that are read at once.
    run: Run,
    /// Number of the first of these.
    first: u64,
}

type Run = Shared<LocalBoxFuture<'static, Result<Uint8Array, Fault>>>;

impl Snapshot {
    /// Of the file `name`.
    pub async fn take(directory: &OpfsDirectory, name: &str) -> Result<Self, Fault> {
        let pack = Pack::take(directory, name).await?;
        Ok(Self { pack: Rc::new(pack), blocks: RefCell::default() })
    }

    /// `size` bytes from `offset`. Never pending where files are read synchronously.
    pub async fn read(&self, offset: u64, size: u32) -> Result<Uint8Array, Fault> {
        let end = offset + u64::from(size);
        if u64::from(size) > BLOCK {
            let bytes = self.pack.part(offset, end).await?;
            return if bytes.length() < size { Err(short()) } else { Ok(bytes) };
        }
        let bytes = Uint8Array::new_with_length(size);
        let mut at = offset;
        while at < end {
            let number = at / BLOCK;
            let block = self.block(number).await?;
            let start = at - number * BLOCK;
            let stop = (end - number * BLOCK).min(block.length().into());
            if stop <= start {
                return Err(short());
            }
            bytes.set(&block.subarray(within_run(start), within_run(stop)), within_run(at - offset));
            at += stop - start;
        }
        Ok(bytes)
    }

    async fn block(&self, number: u64) -> Result<Uint8Array, Fault> {
        let Block { run, first, .. } = self.begin(number);
        let found = run.await;
        self.forget();
        let bytes = found?;
        let edge = |number: u64| within_run((number - first) * BLOCK).min(bytes.length());
        Ok(bytes.subarray(edge(number), edge(number + 1)))
    }

    /// A block that is here, being read, or begun to be read: with those behind it where the one before it has been asked for.
    fn begin(&self, number: u64) -> Block {
        let mut blocks = self.blocks.borrow_mut();
        let at = |blocks: &VecDeque<Block>, number| blocks.iter().position(|block| block.number == number);
        let block = at(&blocks, number).and_then(|at| blocks.remove(at)).unwrap_or_else(|| {
            let goes_on = number.checked_sub(1).is_some_and(|before| at(&blocks, before).is_some());
            let last = if goes_on { number + AHEAD } else { number + 1 };
            let end = (number + 1..last).find(|&next| at(&blocks, next).is_some()).unwrap_or(last);
            let pack = Rc::clone(&self.pack);
            let run = async move { pack.part(number * BLOCK, end * BLOCK).await }.boxed_local().shared();
            let block = |each| Block { number: each, run: run.clone(), first: number };
            blocks.extend((number + 1..end).map(block));
            block(number)
        });
        blocks.push_back(block.clone());
        block
    }

    /// Gives up those that could not be read, and of the others the ones that were not used for longest.
    fn forget(&self) {
        let mut blocks = self.blocks.borrow_mut();
        blocks.retain(|block| !matches!(block.run.peek(), Some(Err(_))));
        let read = blocks.iter().filter(|block| block.run.peek().is_some()).count();
        let mut surplus = read.saturating_sub(BLOCKS);
        blocks.retain(|block| {
            let goes = surplus > 0 && block.run.peek().is_some();
            surplus -= usize::from(goes);
            !goes
        });
    }
}

/// The file.
#[derive(Debug)]
struct Pack {
    directory: OpfsDirectory,
    name: String,
    file: RefCell<File>,
    /// `None` where nothing can be read synchronously.
    reader: Option<FileReaderSync>,
}

impl Pack {
    async fn take(directory: &OpfsDirectory, name: &str) -> Result<Self, Fault> {
        let file = directory.snapshot(name).await.map_err(|error| file_fault(&error))?;
        Ok(Self {
            directory: directory.clone(),
            name: name.to_owned(),
            file: RefCell::new(file),
            reader: FileReaderSync::new().ok(),
        })
    }

    /// What the file has between two offsets.
    async fn part(&self, start: u64, end: u64) -> Result<Uint8Array, Fault> {
        let Some(reader) = &self.reader else { return self.awaited_part(start, end).await };
        let buffer = reader.read_as_array_buffer(&self.slice(start, end)?).map_err(|error| failed(&error))?;
        Ok(Uint8Array::new(&buffer))
    }

    /// By the File API a file that has changed since it was asked for may be refused, and installs append to packs. Chromium and
    /// Firefox read on.
    async fn awaited_part(&self, start: u64, end: u64) -> Result<Uint8Array, Fault> {
        for _ in 1..ATTEMPTS {
            if let Ok(buffer) = JsFuture::from(self.slice(start, end)?.array_buffer()).await {
                return Ok(Uint8Array::new(&buffer));
            }
            let file = self.directory.snapshot(&self.name).await.map_err(|error| file_fault(&error))?;
            self.file.replace(file);
        }
        let last = JsFuture::from(self.slice(start, end)?.array_buffer()).await;
        last.map(|buffer| Uint8Array::new(&buffer)).map_err(|error| failed(&error))
    }

    fn slice(&self, start: u64, end: u64) -> Result<Blob, Fault> {
        let fault = |error: JsValue| failed(&error);
        #[expect(clippy::cast_precision_loss, reason = "offsets in packs are far below 2^53")]
        self.file.borrow().slice_with_f64_and_f64(start as f64, end as f64).map_err(fault)
    }
}

/// A position in blocks that are read together, or in what is read through blocks.
fn within_run(position: u64) -> u32 {
    u32::try_from(position).expect("blocks are small")
}

fn short() -> Fault {
    Fault::new("STORE_CORRUPT", "a pack ends before what was recorded of it")
}
