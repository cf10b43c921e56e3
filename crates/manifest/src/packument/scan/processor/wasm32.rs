//! WebAssembly with simd128, as every build of the browser's module has it (`.cargo/config.toml`): 16 bytes in one
//! instruction.

use core::arch::wasm32::{i8x16_bitmask, i8x16_eq, i8x16_splat, i64x2, v128, v128_or};

use super::super::Scan;
use super::super::container::{BLOCK, Masks, by_masks, parities};

/// The bit in which `[` and `{`, and `]` and `}`, differ.
const CURLY: u8 = 0x20;

/// The position after the bracket that closes the one at `at`.
pub(in super::super) fn skip_container(body: &[u8], at: usize) -> Scan<usize> {
    by_masks(body, at, masks_of, parities)
}

#[inline(always)]
fn masks_of(block: &[u8; BLOCK]) -> Masks {
    let (words, _) = block.as_chunks::<8>();
    let mut masks = Masks::default();
    for (number, pair) in words.chunks_exact(2).enumerate() {
        let bytes = i64x2(i64::from_le_bytes(pair[0]), i64::from_le_bytes(pair[1]));
        let curly = v128_or(bytes, i8x16_splat(CURLY.cast_signed()));
        let shift = 16 * number;
        masks.quotes |= equal(bytes, b'"') << shift;
        masks.backslashes |= equal(bytes, b'\\') << shift;
        masks.opens |= equal(curly, b'{') << shift;
        masks.closes |= equal(curly, b'}') << shift;
    }
    masks
}

/// Which of 16 bytes are this one.
#[inline(always)]
fn equal(bytes: v128, byte: u8) -> u64 {
    u64::from(i8x16_bitmask(i8x16_eq(bytes, i8x16_splat(byte.cast_signed()))))
}
