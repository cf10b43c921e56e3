//! SHA-512 of many messages at once.
//!
//! An install verifies thousands of small tarballs. Hashing one message is a chain of steps that wait for each other, which
//! leaves most of a processor's width unused. Eight messages side by side fill it, where there is AVX-512; elsewhere, and
//! for a message that is left alone, it is the `sha2` crate's work. There is no library that takes several messages.

use core::array;
use core::cmp::Reverse;
use sha2::block_api::compress512;
use sha2::{Digest, Sha512};

#[cfg_attr(target_arch = "x86_64", path = "sha512/x86_64.rs")]
mod any;

/// Messages side by side.
const LANES: usize = 8;
/// Bytes that one step takes of each message.
const BLOCK: usize = 128;
/// Below so many messages it is quicker to take them one by one.
const WORTH_WHILE: usize = 2;

type Block = [u8; BLOCK];
/// Eight words of each message, those of one place in all messages together.
type State = [[u64; LANES]; 8];

/// What every message begins with.
const INITIAL: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// Gives `done` the position and the SHA-512 of each message, as soon as it is known.
pub(crate) fn digests(messages: &[&[u8]], mut done: impl FnMut(usize, [u8; 64])) {
    match any::side_by_side() {
        Some(compress) if messages.len() >= WORTH_WHILE => digests_by(messages, compress, done),
        _ => messages.iter().enumerate().for_each(|(number, message)| done(number, Sha512::digest(message).into())),
    }
}

/// The same with a function that takes a block of each message.
fn digests_by(
    messages: &[&[u8]],
    compress: impl Fn(&mut State, [&Block; LANES]),
    mut done: impl FnMut(usize, [u8; 64]),
) {
    // The longest first, so that the lanes get empty together.
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_by_key(|number| Reverse(messages[*number].len()));
    let mut order = order.into_iter();
    let mut state: State = [[0; LANES]; 8];
    let mut lanes: [Option<Lane<'_>>; LANES] = Default::default();
    loop {
        for (place, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| lane.is_none()) {
            let Some(number) = order.next() else { break };
            *lane = Some(Lane::new(number, messages[number]));
            for (words, first) in state.iter_mut().zip(INITIAL) {
                words[place] = first;
            }
        }
        if lanes.iter().flatten().count() < WORTH_WHILE {
            break;
        }
        compress(&mut state, lanes.each_ref().map(|lane| lane.as_ref().map_or(&[0; BLOCK], Lane::block)));
        for (place, lane) in lanes.iter_mut().enumerate() {
            if let Some(open) = lane
                && open.advance()
            {
                done(open.number, to_bytes(column(&state, place)));
                *lane = None;
            }
        }
    }
    for (place, lane) in lanes.into_iter().enumerate() {
        let Some(mut lane) = lane else { continue };
        let mut words = column(&state, place);
        loop {
            compress512(&mut words, core::slice::from_ref(lane.block()));
            if lane.advance() {
                break;
            }
        }
        done(lane.number, to_bytes(words));
    }
}

/// A message on its way.
struct Lane<'m> {
    number: usize,
    whole: &'m [Block],
    /// What is left of the message and its length.
    last: [Block; 2],
    blocks: usize,
    at: usize,
}

impl<'m> Lane<'m> {
    fn new(number: usize, message: &'m [u8]) -> Self {
        let (whole, rest) = message.as_chunks::<BLOCK>();
        // A one bit, zeros, and the number of bits as sixteen bytes: in one block more, or two.
        let mut last = [[0; BLOCK]; 2];
        last[0][..rest.len()].copy_from_slice(rest);
        last[0][rest.len()] = 0x80;
        let lasts = if rest.len() + 1 + 16 <= BLOCK { 1 } else { 2 };
        let bits = message.len() as u128 * 8;
        last[lasts - 1][BLOCK - 16..].copy_from_slice(&bits.to_be_bytes());
        Self { number, whole, last, blocks: whole.len() + lasts, at: 0 }
    }

    /// The next block.
    fn block(&self) -> &Block {
        self.whole.get(self.at).unwrap_or_else(|| &self.last[self.at - self.whole.len()])
    }

    /// Goes on to the next block; true after the last.
    fn advance(&mut self) -> bool {
        self.at += 1;
        self.at == self.blocks
    }
}

fn column(state: &State, place: usize) -> [u64; 8] {
    array::from_fn(|word| state[word][place])
}

fn to_bytes(words: [u64; 8]) -> [u8; 64] {
    let mut bytes = [0; 64];
    for (bytes, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *bytes = word.to_be_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests;
