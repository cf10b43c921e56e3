//! x86-64 with AVX-512: a word of each of eight messages in one register.

use super::{Block, LANES, State};
use core::arch::x86_64::{
    __m512i, _mm_set_epi64x, _mm512_add_epi64, _mm512_broadcast_i32x4, _mm512_ror_epi64, _mm512_set_epi64,
    _mm512_set1_epi64, _mm512_shuffle_epi8, _mm512_shuffle_i64x2, _mm512_srli_epi64, _mm512_ternarylogic_epi64,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64,
};
use core::array;

/// A function that takes a block of each of eight messages, if the processor can.
pub(super) fn side_by_side() -> Option<fn(&mut State, [&Block; LANES])> {
    // The answer is kept by the standard library.
    let can = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
    // SAFETY: the processor has what the function is compiled for; it asks for nothing else.
    can.then_some(|state, blocks| unsafe { compress(state, blocks) })
}

/// The words of the rounds: the first 64 bits of the fractions of the cube roots of the first eighty primes.
const ROUNDS: [u64; 80] = [
    0x428a_2f98_d728_ae22,
    0x7137_4491_23ef_65cd,
    0xb5c0_fbcf_ec4d_3b2f,
    0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538,
    0x59f1_11f1_b605_d019,
    0x923f_82a4_af19_4f9b,
    0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242,
    0x1283_5b01_4570_6fbe,
    0x2431_85be_4ee4_b28c,
    0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f,
    0x80de_b1fe_3b16_96b1,
    0x9bdc_06a7_25c7_1235,
    0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2,
    0xefbe_4786_384f_25e3,
    0x0fc1_9dc6_8b8c_d5b5,
    0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275,
    0x4a74_84aa_6ea6_e483,
    0x5cb0_a9dc_bd41_fbd4,
    0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab,
    0xa831_c66d_2db4_3210,
    0xb003_27c8_98fb_213f,
    0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2,
    0xd5a7_9147_930a_a725,
    0x06ca_6351_e003_826f,
    0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc,
    0x2e1b_2138_5c26_c926,
    0x4d2c_6dfc_5ac4_2aed,
    0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de,
    0x766a_0abb_3c77_b2a8,
    0x81c2_c92e_47ed_aee6,
    0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364,
    0xa81a_664b_bc42_3001,
    0xc24b_8b70_d0f8_9791,
    0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218,
    0xd699_0624_5565_a910,
    0xf40e_3585_5771_202a,
    0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8,
    0x1e37_6c08_5141_ab53,
    0x2748_774c_df8e_eb99,
    0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63,
    0x4ed8_aa4a_e341_8acb,
    0x5b9c_ca4f_7763_e373,
    0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc,
    0x78a5_636f_4317_2f60,
    0x84c8_7814_a1f0_ab72,
    0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28,
    0xa450_6ceb_de82_bde9,
    0xbef9_a3f7_b2c6_7915,
    0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c,
    0xd186_b8c7_21c0_c207,
    0xeada_7dd6_cde0_eb1e,
    0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba,
    0x0a63_7dc5_a2c8_98a6,
    0x113f_9804_bef9_0dae,
    0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84,
    0x32ca_ab7b_40c7_2493,
    0x3c9e_be0a_15c9_bebc,
    0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6,
    0x597f_299c_fc65_7e2a,
    0x5fcb_6fab_3ad6_faec,
    0x6c44_198c_4a47_5817,
];

/// Three-way logic, by what comes of each combination of bits: whether an odd number is set, the second or the third by
/// the first, the majority.
const ODD: i32 = 0x96;
const CHOICE: i32 = 0xca;
const MAJORITY: i32 = 0xe8;

#[target_feature(enable = "avx512f,avx512bw")]
fn compress(state: &mut State, blocks: [&Block; LANES]) {
    let [first, second] = [0, 1].map(|half| words_of(blocks, half));
    let mut words: [__m512i; 16] = array::from_fn(|at| if at < 8 { first[at] } else { second[at - 8] });
    let before = state.map(|lanes| load(lanes));
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = before;
    for (number, rounds) in ROUNDS.as_chunks::<16>().0.iter().enumerate() {
        for at in 0..16 {
            if number > 0 {
                words[at] = schedule(&words, at);
            }
            let step = sum([h, big_sigma::<14, 18, 41>(e), choice(e, f, g), word(rounds[at]), words[at]]);
            let other = sum([big_sigma::<28, 34, 39>(a), majority(a, b, c)]);
            (h, g, f, e) = (g, f, e, sum([d, step]));
            (d, c, b, a) = (c, b, a, sum([step, other]));
        }
    }
    for ((lanes, old), new) in state.iter_mut().zip(before).zip([a, b, c, d, e, f, g, h]) {
        *lanes = store(sum([old, new]));
    }
}

/// The word that takes the place of the one at `at`, sixteen rounds later.
#[inline]
#[target_feature(enable = "avx512f")]
fn schedule(words: &[__m512i; 16], at: usize) -> __m512i {
    let [old, next, ninth, late] = [0, 1, 9, 14].map(|ahead| words[(at + ahead) % 16]);
    let low = three::<ODD>(_mm512_ror_epi64::<1>(next), _mm512_ror_epi64::<8>(next), _mm512_srli_epi64::<7>(next));
    let high = three::<ODD>(_mm512_ror_epi64::<19>(late), _mm512_ror_epi64::<61>(late), _mm512_srli_epi64::<6>(late));
    sum([old, low, ninth, high])
}

#[inline]
#[target_feature(enable = "avx512f")]
fn big_sigma<const X: i32, const Y: i32, const Z: i32>(word: __m512i) -> __m512i {
    three::<ODD>(_mm512_ror_epi64::<X>(word), _mm512_ror_epi64::<Y>(word), _mm512_ror_epi64::<Z>(word))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn choice(by: __m512i, one: __m512i, other: __m512i) -> __m512i {
    three::<CHOICE>(by, one, other)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn majority(one: __m512i, two: __m512i, three_of: __m512i) -> __m512i {
    three::<MAJORITY>(one, two, three_of)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn three<const TABLE: i32>(one: __m512i, two: __m512i, other: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<TABLE>(one, two, other)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sum<const N: usize>(words: [__m512i; N]) -> __m512i {
    let mut sum = words[0];
    for word in &words[1..] {
        sum = _mm512_add_epi64(sum, *word);
    }
    sum
}

#[inline]
#[target_feature(enable = "avx512f")]
fn word(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}

/// Half of the words of all blocks: one register for each place, with that word of each block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn words_of(blocks: [&Block; LANES], half: usize) -> [__m512i; 8] {
    let swapped = _mm512_broadcast_i32x4(_mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607));
    let rows = blocks.map(|block| {
        let words: [u64; 8] = array::from_fn(|at| {
            let at = 64 * half + 8 * at;
            u64::from_le_bytes(array::from_fn(|byte| block[at + byte]))
        });
        _mm512_shuffle_epi8(load(words), swapped)
    });
    transposed(rows)
}

/// Rows as columns: pairs of words, then pairs of pairs, then halves.
#[inline]
#[target_feature(enable = "avx512f")]
fn transposed(rows: [__m512i; 8]) -> [__m512i; 8] {
    // Of two registers the pairs at even places, or at odd ones.
    let even = |one, other| _mm512_shuffle_i64x2::<0x88>(one, other);
    let odd = |one, other| _mm512_shuffle_i64x2::<0xdd>(one, other);
    let columns = |pairs: [__m512i; 4]| {
        let [first, second, third, fourth] = pairs;
        let (low, high) = (even(first, second), even(third, fourth));
        let (later_low, later_high) = (odd(first, second), odd(third, fourth));
        [even(low, high), even(later_low, later_high), odd(low, high), odd(later_low, later_high)]
    };
    let pair = |at: usize| (rows[2 * at], rows[2 * at + 1]);
    let [one, three, five, seven] = columns([0, 1, 2, 3].map(|at| _mm512_unpacklo_epi64(pair(at).0, pair(at).1)));
    let [two, four, six, eight] = columns([0, 1, 2, 3].map(|at| _mm512_unpackhi_epi64(pair(at).0, pair(at).1)));
    [one, two, three, four, five, six, seven, eight]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(lanes: [u64; LANES]) -> __m512i {
    let [a, b, c, d, e, f, g, h] = lanes.map(u64::cast_signed);
    _mm512_set_epi64(h, g, f, e, d, c, b, a)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(words: __m512i) -> [u64; LANES] {
    // SAFETY: both are 64 bytes of numbers.
    unsafe { core::mem::transmute::<__m512i, [u64; LANES]>(words) }
}
