//! x86-64: 64 bytes in one instruction where there is AVX-512, 32 where there is AVX2, which is asked of the processor; else
//! byte by byte.

use core::arch::x86_64::{
    __m256i, _mm_clmulepi64_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_set1_epi8, _mm256_cmpeq_epi8,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8, _mm512_cmpeq_epi8_mask,
    _mm512_or_si512, _mm512_set_epi64, _mm512_set1_epi8,
};

use super::super::Scan;
use super::super::container::{BLOCK, Masks, by_masks, by_table};

/// The bit in which `[` and `{`, and `]` and `}`, differ.
const CURLY: u8 = 0x20;

/// The position after the bracket that closes the one at `at`.
pub(in super::super) fn skip_container(body: &[u8], at: usize) -> Scan<usize> {
    // The answer is kept by the standard library: asking costs a load.
    let multiplies = is_x86_feature_detected!("pclmulqdq") && is_x86_feature_detected!("popcnt");
    if multiplies && is_x86_feature_detected!("avx512bw") {
        // SAFETY: the processor has what the function is compiled for; it asks for nothing else.
        unsafe { by_avx512(body, at) }
    } else if multiplies && is_x86_feature_detected!("avx2") {
        // SAFETY: as above.
        unsafe { by_avx2(body, at) }
    } else {
        by_table(body, at)
    }
}

#[target_feature(enable = "avx512f,avx512bw,pclmulqdq,popcnt")]
fn by_avx512(body: &[u8], at: usize) -> Scan<usize> {
    by_masks(body, at, |block| wide_masks_of(block), |bits| parities(bits))
}

#[target_feature(enable = "avx2,pclmulqdq,popcnt")]
fn by_avx2(body: &[u8], at: usize) -> Scan<usize> {
    by_masks(body, at, |block| masks_of(block), |bits| parities(bits))
}

/// What processors without AVX-512 do, for the tests on one that has it; `None` where it cannot be done.
#[cfg(test)]
pub(in super::super) fn skip_container_narrowly(body: &[u8], at: usize) -> Option<Scan<usize>> {
    let can = is_x86_feature_detected!("pclmulqdq") && is_x86_feature_detected!("avx2");
    // SAFETY: as above; what has AVX2 counts bits too.
    can.then(|| unsafe { by_avx2(body, at) })
}

/// Bit n of the result tells whether an odd number of the bits 0 to n is set: a product without carries by all ones.
#[inline]
#[target_feature(enable = "pclmulqdq")]
fn parities(bits: u64) -> u64 {
    let bits = _mm_cvtsi64_si128(bits.cast_signed());
    _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(bits, _mm_set1_epi8(-1))).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn wide_masks_of(block: &[u8; BLOCK]) -> Masks {
    let (words, _) = block.as_chunks::<8>();
    let word = |number: usize| i64::from_le_bytes(words[number]);
    let bytes = _mm512_set_epi64(word(7), word(6), word(5), word(4), word(3), word(2), word(1), word(0));
    let equal = |bytes, byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()));
    let curly = _mm512_or_si512(bytes, _mm512_set1_epi8(CURLY.cast_signed()));
    Masks {
        quotes: equal(bytes, b'"'),
        backslashes: equal(bytes, b'\\'),
        opens: equal(curly, b'{'),
        closes: equal(curly, b'}'),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn masks_of(block: &[u8; BLOCK]) -> Masks {
    let (words, _) = block.as_chunks::<8>();
    let word = |number: usize| i64::from_le_bytes(words[number]);
    let low = _mm256_set_epi64x(word(3), word(2), word(1), word(0));
    let high = _mm256_set_epi64x(word(7), word(6), word(5), word(4));
    let both = |low, high, byte| equal(low, byte) | equal(high, byte) << 32;
    let curly = _mm256_set1_epi8(CURLY.cast_signed());
    let (low_curly, high_curly) = (_mm256_or_si256(low, curly), _mm256_or_si256(high, curly));
    Masks {
        quotes: both(low, high, b'"'),
        backslashes: both(low, high, b'\\'),
        opens: both(low_curly, high_curly, b'{'),
        closes: both(low_curly, high_curly, b'}'),
    }
}

/// Which of 32 bytes are this one.
#[inline]
#[target_feature(enable = "avx2")]
fn equal(bytes: __m256i, byte: u8) -> u64 {
    let equal = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()));
    u64::from(_mm256_movemask_epi8(equal).cast_unsigned())
}
