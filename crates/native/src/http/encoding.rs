//! What a body is without its content encoding. Only gzip is asked for; what others have sent through some cache may come in
//! another one all the same.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use flate2::read::{DeflateDecoder, ZlibDecoder};
use gantry_archive::{ArchiveError, gunzip};
use std::io::Read;

/// Why a body cannot be had without its encoding.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Undecoded {
    TooLarge,
    Because(String),
}

/// The body, of at most `maximum` bytes; the headers that spoke of its encoding go.
pub(super) fn decoded(body: Bytes, headers: &mut Vec<(String, String)>, maximum: u64) -> Result<Bytes, Undecoded> {
    let is_encoding = |(name, _): &&(String, String)| name == "content-encoding";
    let encoding = headers.iter().find(is_encoding).map(|(_, encoding)| encoding.trim().to_ascii_lowercase());
    let decoded = match encoding.as_deref() {
        None | Some("" | "identity") => return Ok(body),
        _ if body.is_empty() => return Ok(body),
        Some("gzip" | "x-gzip") if body.starts_with(&[0x1f, 0x8b]) => {
            gunzip("the body", &body, maximum).map_err(|error| match error {
                ArchiveError::Limit { .. } => Undecoded::TooLarge,
                error => Undecoded::Because(error.to_string()),
            })?
        }
        Some("gzip" | "x-gzip") => return Err(Undecoded::Because("the body is said to be gzip and is not".to_owned())),
        // By the standard with zlib's header, which some leave out.
        Some("deflate") if is_zlib(&body) => all_of(ZlibDecoder::new(&*body), maximum)?,
        Some("deflate") => all_of(DeflateDecoder::new(&*body), maximum)?,
        Some(other) => {
            return Err(Undecoded::Because(format!("the body is encoded as {other}, which was not asked for")));
        }
    };
    headers.retain(|(name, _)| name != "content-encoding" && name != "content-length");
    Ok(decoded.into())
}

/// Whether the first two bytes are those of RFC 1950: compressed by deflate, and a multiple of 31.
fn is_zlib(body: &[u8]) -> bool {
    let &[method, check, ..] = body else { return false };
    method & 0xf == 8 && u16::from_be_bytes([method, check]).is_multiple_of(31)
}

fn all_of(decoder: impl Read, maximum: u64) -> Result<Vec<u8>, Undecoded> {
    let mut bytes = Vec::new();
    let read = decoder.take(maximum.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Undecoded::Because(format!("the body is damaged: {error}")))?;
    if bytes.len() as u64 > maximum { Err(Undecoded::TooLarge) } else { Ok(bytes) }
}
