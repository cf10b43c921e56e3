//! Bodies of answers, read piece by piece: in one go a slow one could not be told from one that hangs.
//!
//! Pieces are read into buffers that are used again, and a large body is put together outside of the module's memory, which
//! would otherwise grow, for good, by more than the body: a vector that grows is copied from one place to the next.

use super::Patience;
use gantry_platform::{HttpError, HttpErrorKind};
use js_sys::{ArrayBuffer, IteratorNext, Uint8Array};
use std::cell::RefCell;
use wasm_bindgen::prelude::*;
use web_sys::{
    ReadableStream, ReadableStreamByobReader, ReadableStreamDefaultReader, ReadableStreamGetReaderOptions,
    ReadableStreamReaderMode, Response,
};

/// How much is read at once into memory that is used again.
const BUFFER_BYTES: u32 = 64 << 10;
/// What is longer than this is put together from parts, each of so many bytes but the first and the last.
const PART_BYTES: u32 = 1 << 20;

thread_local! {
    /// Buffers that nobody reads into.
    static BUFFERS: RefCell<Vec<ArrayBuffer>> = RefCell::default();
}

#[wasm_bindgen]
extern "C" {
    /// A stream that may be one of bytes.
    type ByteStream;

    /// Fails where the browser has no such readers for bodies.
    #[wasm_bindgen(method, catch, js_name = getReader)]
    fn byte_reader(
        this: &ByteStream,
        options: &ReadableStreamGetReaderOptions,
    ) -> Result<ReadableStreamByobReader, JsValue>;

    /// A buffer that may be detached.
    type Detachable;

    /// Fails where the browser does not know it.
    #[wasm_bindgen(method, catch)]
    fn transfer(this: &Detachable, length: u32) -> Result<ArrayBuffer, JsValue>;
}

/// A body, in the module's memory or still in the browser's.
pub(super) enum Body {
    Here(Vec<u8>),
    Pieces(Vec<Uint8Array>),
}

/// A body; `None` if there is more than `limit`.
pub(super) async fn body(
    response: &Response,
    patience: &Patience<'_>,
    (whole, announced, limit): (u64, Option<u64>, u64),
) -> Result<Option<Body>, HttpError> {
    let Some(stream) = response.body() else { return Ok(Some(Body::Here(Vec::new()))) };
    let is_small = whole == u64::MAX || announced.is_some_and(|length| length <= whole);
    if is_small && let Ok(reader) = stream.unchecked_ref::<ByteStream>().byte_reader(&byte_reader_options()) {
        return Ok(copied(&reader, patience, limit).await?.map(Body::Here));
    }
    let Some(pieces) = pieces(&stream, patience, limit).await? else { return Ok(None) };
    let length: u64 = pieces.iter().map(|piece| u64::from(piece.length())).sum();
    Ok(Some(if length <= whole { Body::Here(joined(&[], &pieces)) } else { Body::Pieces(pieces) }))
}

fn byte_reader_options() -> ReadableStreamGetReaderOptions {
    let options = ReadableStreamGetReaderOptions::new();
    options.set_mode(ReadableStreamReaderMode::Byob);
    options
}

/// The body, read through buffers that are used again: of pieces that the browser allocates a worker holds tens of megabytes
/// until its garbage is collected.
async fn copied(
    reader: &ReadableStreamByobReader,
    patience: &Patience<'_>,
    limit: u64,
) -> Result<Option<Vec<u8>>, HttpError> {
    let spare = BUFFERS.with_borrow_mut(Vec::pop);
    let mut buffer = spare.unwrap_or_else(|| ArrayBuffer::new(BUFFER_BYTES));
    let mut body = Vec::new();
    while body.len() as u64 <= limit {
        let bytes = read_into(reader, patience, &buffer, 0).await?;
        buffer = bytes.buffer();
        if bytes.length() == 0 {
            break;
        }
        let start = body.len();
        body.resize(start + bytes.length() as usize, 0);
        bytes.copy_to(&mut body[start..]);
        if body.len() > PART_BYTES as usize {
            give_back(buffer);
            return continued(reader, patience, (body, limit)).await;
        }
    }
    give_back(buffer);
    body.shrink_to_fit();
    Ok((body.len() as u64 <= limit).then_some(body))
}

/// A body that has turned out to be large. What comes after its beginning stays in the browser's memory until all is there.
async fn continued(
    reader: &ReadableStreamByobReader,
    patience: &Patience<'_>,
    (beginning, limit): (Vec<u8>, u64),
) -> Result<Option<Vec<u8>>, HttpError> {
    let mut parts: Vec<Uint8Array> = Vec::new();
    let mut length = beginning.len() as u64;
    while length <= limit {
        let mut part = ArrayBuffer::new(PART_BYTES);
        let mut filled = 0;
        let mut is_last = false;
        while filled < PART_BYTES && !is_last {
            let bytes = read_into(reader, patience, &part, filled).await?;
            part = bytes.buffer();
            filled += bytes.length();
            is_last = bytes.length() == 0;
        }
        length += u64::from(filled);
        parts.push(Uint8Array::new_with_byte_offset_and_length(&part, 0, filled));
        if is_last && length <= limit {
            return Ok(Some(joined(&beginning, &parts)));
        }
    }
    Ok(None)
}

/// Reads into a buffer from `start` on; gives what was read, over what has become of the buffer. That is nothing at the end of
/// the body.
async fn read_into(
    reader: &ReadableStreamByobReader,
    patience: &Patience<'_>,
    buffer: &ArrayBuffer,
    start: u32,
) -> Result<Uint8Array, HttpError> {
    let view = Uint8Array::new_with_byte_offset(buffer, start);
    let piece = patience.wait(reader.read_with_array_buffer_view(&view), HttpErrorKind::Interrupted).await?;
    // It looks like what an iterator gives. The buffer is another object after each reading.
    let piece: IteratorNext = piece.unchecked_into();
    // A stream that was cancelled gives nothing back.
    piece.value().dyn_into().map_err(|_| patience.error(HttpErrorKind::Interrupted, "the body was given up".to_owned()))
}

/// Keeps a buffer for the next body.
fn give_back(buffer: ArrayBuffer) {
    if buffer.byte_length() == BUFFER_BYTES {
        BUFFERS.with_borrow_mut(|buffers| buffers.push(buffer));
    }
}

/// The body in pieces that the browser allocates. `None` if there is more than `limit`.
async fn pieces(
    stream: &ReadableStream,
    patience: &Patience<'_>,
    limit: u64,
) -> Result<Option<Vec<Uint8Array>>, HttpError> {
    let mut pieces = Vec::new();
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let mut length = 0;
    loop {
        let piece = patience.wait(reader.read(), HttpErrorKind::Interrupted).await?;
        let piece: IteratorNext = piece.unchecked_into();
        if piece.done() {
            return Ok(Some(pieces));
        }
        let bytes: Uint8Array = piece.value().unchecked_into();
        length += u64::from(bytes.length());
        if length > limit {
            return Ok(None);
        }
        pieces.push(bytes);
    }
}

/// All of a body in memory of exactly its size; its pieces are given up one by one.
pub(super) fn joined(beginning: &[u8], pieces: &[Uint8Array]) -> Vec<u8> {
    let length = beginning.len() + pieces.iter().map(|piece| piece.length() as usize).sum::<usize>();
    let mut body = Vec::with_capacity(length);
    body.extend_from_slice(beginning);
    for piece in pieces {
        let start = body.len();
        body.resize(start + piece.length() as usize, 0);
        piece.copy_to(&mut body[start..]);
        // Otherwise it stays until garbage is collected.
        let _ = piece.buffer().unchecked_ref::<Detachable>().transfer(0);
    }
    body
}
