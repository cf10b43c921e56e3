//! Finding the bracket that closes a container: the inner loop of the scan, which takes nearly all of its time.
//!
//! Where the processor compares many bytes in one instruction ([`super::processor`]), 64 bytes at a time become bit masks,
//! and whether a byte lies in a string, and how deep it is nested, is arithmetic on whole words ([`by_masks`]). Elsewhere
//! each byte is looked at ([`by_table`]). Both give the same result for every input, damaged ones too; the tests hold
//! them to that.

use super::{NotJson, Scan, skip_string};

#[cfg(test)]
mod tests;

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;

/// Which bytes of a block are one of these: bit n stands for byte n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    pub(super) quotes: u64,
    pub(super) backslashes: u64,
    /// `{` and `[`.
    pub(super) opens: u64,
    /// `}` and `]`.
    pub(super) closes: u64,
}

/// The position after the bracket that closes the one at `at`.
///
/// Inlined, so that it is compiled for the same processor as `masks_of`.
#[inline(always)]
#[cfg_attr(
    not(any(test, target_arch = "x86_64", target_feature = "simd128")),
    expect(dead_code, reason = "for processors whose instructions nobody has measured yet")
)]
pub(super) fn by_masks(
    body: &[u8],
    at: usize,
    masks_of: impl Fn(&[u8; BLOCK]) -> Masks,
    parities: impl Fn(u64) -> u64,
) -> Scan<usize> {
    let mut strings = Strings::default();
    let mut depth = 0;
    let mut start = at;
    let (blocks, rest) = body[at..].as_chunks::<BLOCK>();
    for block in blocks {
        match advance(masks_of(block), &mut strings, &mut depth, &parities) {
            Found::Nothing => start += BLOCK,
            Found::End(offset) => return Ok(start + offset),
            Found::Stray => return by_table(body, at),
        }
    }
    // White space means nothing, wherever it stands.
    let mut block = [b' '; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    match advance(masks_of(&block), &mut strings, &mut depth, &parities) {
        Found::Nothing => Err(NotJson(body.len())),
        Found::End(offset) => Ok(start + offset),
        Found::Stray => by_table(body, at),
    }
}

/// What a block brought.
enum Found {
    Nothing,
    /// How many bytes of the block belong to the container.
    End(usize),
    /// A backslash outside of a string, where it escapes nothing. Masks do not know that, and no JSON has one.
    Stray,
}

#[inline(always)]
fn advance(masks: Masks, strings: &mut Strings, depth: &mut u32, parities: impl Fn(u64) -> u64) -> Found {
    let inside = strings.advance(&masks, parities);
    if masks.backslashes & !inside != 0 {
        return Found::Stray;
    }
    let opens = masks.opens & !inside;
    let closes = masks.closes & !inside;
    let closing = closes.count_ones();
    if *depth > closing {
        *depth = *depth + opens.count_ones() - closing;
        return Found::Nothing;
    }
    let mut brackets = opens | closes;
    while brackets != 0 {
        let lowest = brackets & brackets.wrapping_neg();
        if opens & lowest != 0 {
            *depth += 1;
        } else {
            *depth -= 1;
            if *depth == 0 {
                return Found::End(lowest.trailing_zeros() as usize + 1);
            }
        }
        brackets ^= lowest;
    }
    Found::Nothing
}

/// What a block must know of the strings before it.
#[derive(Default)]
struct Strings {
    /// All ones within a string, else zero.
    inside: u64,
    /// One if the first byte is escaped by the byte before.
    escape: u64,
}

impl Strings {
    /// Which bytes lie in a string: from the opening quote to the byte before the closing one.
    #[inline(always)]
    fn advance(&mut self, masks: &Masks, parities: impl Fn(u64) -> u64) -> u64 {
        let quotes = masks.quotes & !self.escaped(masks.backslashes);
        let inside = parities(quotes) ^ self.inside;
        self.inside = (inside.cast_signed() >> (BLOCK - 1)).cast_unsigned();
        inside
    }

    /// Which bytes are escaped. Few blocks have a backslash at all.
    #[inline(always)]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        let mut escaped = std::mem::take(&mut self.escape);
        let mut waiting = backslashes & !escaped;
        while waiting != 0 {
            let backslash = waiting & waiting.wrapping_neg();
            let next = backslash << 1;
            escaped |= next;
            self.escape = backslash >> (BLOCK - 1);
            waiting &= !(backslash | next);
        }
        escaped
    }
}

/// Bit n of the result tells whether an odd number of the bits 0 to n is set.
#[inline(always)]
#[cfg_attr(
    not(any(test, target_feature = "simd128")),
    expect(dead_code, reason = "processors that multiply without carry do it in one instruction")
)]
pub(super) fn parities(mut bits: u64) -> u64 {
    for distance in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << distance;
    }
    bits
}

/// What a byte means to [`by_table`].
const PLAIN: u8 = 0;
const QUOTE: u8 = 1;
const OPEN: u8 = 2;
const CLOSE: u8 = 3;

const CLASS: [u8; 256] = {
    let mut class = [PLAIN; 256];
    class[b'"' as usize] = QUOTE;
    class[b'{' as usize] = OPEN;
    class[b'[' as usize] = OPEN;
    class[b'}' as usize] = CLOSE;
    class[b']' as usize] = CLOSE;
    class
};

/// The position after the bracket that closes the one at `at`.
pub(super) fn by_table(body: &[u8], at: usize) -> Scan<usize> {
    let mut depth = 0usize;
    let mut at = at;
    while let Some(&byte) = body.get(at) {
        match CLASS[byte as usize] {
            PLAIN => at += 1,
            QUOTE => at = skip_string(body, at)?,
            OPEN => {
                depth += 1;
                at += 1;
            }
            _ => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Ok(at);
                }
            }
        }
    }
    Err(NotJson(body.len()))
}
