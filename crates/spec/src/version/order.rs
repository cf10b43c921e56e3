//! Putting the versions of a document in order.
//!
//! Of some packages most of thousands of versions are prereleases, in no order, and comparing two of them identifier by
//! identifier costs more than all else that is done with a document. So each is turned into bytes that compare as it ranks, the
//! first of which are at hand.

use super::{LONGEST_PLAIN, Parts, Reading, Version};
use std::cmp::{Ordering, Reverse};

/// Bits of the three numbers in [`Rank::numbers`]; one is left for what is no prerelease.
const BITS: [u32; 3] = [15, 20, 28];

/// Before an identifier after the first. The end of a prerelease is lower, anything in an identifier higher: `a` ranks below
/// `a.b`, and that below `a-b`.
const NEXT: u8 = 1;
/// Before the digits of a number, which ranks below any text. Their count follows: of two numbers the longer one is greater.
const NUMBER: u8 = 2;

/// A version as far as it ranks.
#[derive(Clone, Copy)]
struct Rank {
    numbers: u64,
    /// The prerelease's first bytes, as numbers that compare as they do.
    first: [u64; 2],
    /// Where all of its bytes are; nothing of a release.
    start: u32,
    end: u32,
    /// Of two that rank alike the earlier one comes first.
    position: Reverse<u32>,
}

impl Version {
    /// The positions of those of `texts` that [`Version::parse`] reads, by [`Version::precedence`] with the highest first; of
    /// equal ones in the order given.
    pub fn order(texts: &[&str]) -> Vec<u32> {
        quick_order(texts).unwrap_or_else(|| {
            let mut order: Vec<(Version, u32)> =
                (0..).zip(texts).filter_map(|(at, text)| Some((Version::parse(text)?, at))).collect();
            order.sort_by(|left, right| right.0.precedence(&left.0));
            order.into_iter().map(|(_, at)| at).collect()
        })
    }
}

/// `None` where a number is larger than what there is room for.
fn quick_order(texts: &[&str]) -> Option<Vec<u32>> {
    let mut bytes = Vec::new();
    let mut ranks = Vec::with_capacity(texts.len());
    for (position, text) in (0..).zip(texts) {
        let Some(Parts { numbers, prerelease, .. }) = Parts::read(text, Reading::Loose) else { continue };
        let start = bytes.len();
        if let Some(prerelease) = prerelease {
            put(&mut bytes, prerelease)?;
        }
        ranks.push(Rank {
            numbers: packed(numbers)? << 1 | u64::from(prerelease.is_none()),
            first: first(&bytes[start..]),
            start: u32::try_from(start).ok()?,
            end: u32::try_from(bytes.len()).ok()?,
            position: Reverse(position),
        });
    }
    let key = |rank: &Rank| (rank.numbers, rank.first);
    let all = |rank: &Rank| &bytes[rank.start as usize..rank.end as usize];
    ranks.sort_unstable_by(|left, right| {
        let by_bytes = || all(right).cmp(all(left));
        match key(right).cmp(&key(left)) {
            Ordering::Equal => by_bytes().then(right.position.cmp(&left.position)),
            order => order,
        }
    });
    Some(ranks.into_iter().map(|rank| rank.position.0).collect())
}

fn packed(numbers: [u64; 3]) -> Option<u64> {
    numbers
        .into_iter()
        .zip(BITS)
        .try_fold(0, |all, (number, bits)| (number >> bits == 0).then_some(all << bits | number))
}

/// A prerelease as bytes that compare as it ranks.
fn put(bytes: &mut Vec<u8>, prerelease: &str) -> Option<()> {
    for (index, identifier) in prerelease.split('.').enumerate() {
        if index > 0 {
            bytes.push(NEXT);
        }
        if identifier.bytes().all(|byte| byte.is_ascii_digit()) {
            let digits = identifier.trim_start_matches('0');
            bytes.push(NUMBER);
            bytes.push(u8::try_from(digits.len()).ok().filter(|count| usize::from(*count) <= LONGEST_PLAIN)?);
            bytes.extend_from_slice(digits.as_bytes());
        } else {
            bytes.extend_from_slice(identifier.as_bytes());
        }
    }
    Some(())
}

fn first(bytes: &[u8]) -> [u64; 2] {
    let mut filled = [0; 16];
    let count = bytes.len().min(16);
    filled[..count].copy_from_slice(&bytes[..count]);
    let (words, _) = filled.as_chunks::<8>();
    [u64::from_be_bytes(words[0]), u64::from_be_bytes(words[1])]
}
