//! The order of `left.localeCompare(right, 'en')`, in which npm sorts names and paths; it decides what is hoisted and
//! how the lock file reads.
//!
//! For ASCII this is exactly what Node 20 answers. Letters with diacritics up to U+024F stand right behind their plain
//! letter, in Node's order too. All other characters stand behind `z` by code point, which is not what Node does.
//! Control characters do not count. Texts that Node calls equal are ordered by code point, so that equal means the same.
//!
//! Comparing ASCII is one table lookup for each byte that differs, and allocates nothing.

use std::cmp::Ordering;

/// All of ASCII that counts, from first to last, letters aside; the control characters among them are white space.
const BEFORE_LETTERS: &[u8] = b"\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";

/// For each byte twice its rank, plus one for a capital letter; 0 for what does not count or is not ASCII.
const WEIGHTS: [u8; 256] = {
    let mut weights = [0; 256];
    let mut index = 0;
    while index < BEFORE_LETTERS.len() {
        weights[BEFORE_LETTERS[index] as usize] = 2 * (index as u8 + 1);
        index += 1;
    }
    let mut letter = 0;
    while letter < 26 {
        let weight = 2 * (BEFORE_LETTERS.len() as u8 + 1 + letter);
        weights[(b'a' + letter) as usize] = weight;
        weights[(b'A' + letter) as usize] = weight + 1;
        letter += 1;
    }
    weights
};

/// Small letters with diacritics in their order behind the plain letter.
const ACCENTED: [(u8, &str); 19] = [
    (b'a', "áàăâǎåǻäǟãȧǡąāȁȃ"),
    (b'c', "ćĉčċç"),
    (b'd', "ďđð"),
    (b'e', "éèĕêěëėȩęēȅȇ"),
    (b'g', "ǵğĝǧġģ"),
    (b'h', "ĥȟħ"),
    (b'i', "íìĭîǐïĩįīȉȋ"),
    (b'j', "ĵǰ"),
    (b'k', "ǩķ"),
    (b'l', "ĺľļł"),
    (b'n', "ńǹňñņ"),
    (b'o', "óòŏôǒöȫőõȭȯȱøǿǫǭōȍȏơ"),
    (b'r', "ŕřŗȑȓ"),
    (b's', "śŝšşș"),
    (b't', "ťţț"),
    (b'u', "úùŭûǔůüǘǜǚǖűũųūȕȗư"),
    (b'w', "ŵ"),
    (b'y', "ýŷÿȳ"),
    (b'z', "źžż"),
];

/// Compares as `left.localeCompare(right, 'en')`; equal only for the same text.
pub fn compare_locale(left: &str, right: &str) -> Ordering {
    let (left_bytes, right_bytes) = (left.as_bytes(), right.as_bytes());
    let mut case = Ordering::Equal;
    for (left_byte, right_byte) in left_bytes.iter().zip(right_bytes) {
        if left_byte == right_byte {
            continue;
        }
        let (first, second) = (WEIGHTS[usize::from(*left_byte)], WEIGHTS[usize::from(*right_byte)]);
        if first == 0 || second == 0 {
            return compare_any(left, right);
        }
        if first >> 1 != second >> 1 {
            return first.cmp(&second);
        }
        case = case.then(first.cmp(&second));
    }
    let shared = left_bytes.len().min(right_bytes.len());
    match left_bytes[shared..].first().or(right_bytes[shared..].first()) {
        None => case,
        Some(byte) if WEIGHTS[usize::from(*byte)] == 0 => compare_any(left, right),
        Some(_) => left_bytes.len().cmp(&right_bytes.len()),
    }
}

/// What a character counts: its rank before all, then its accent, then its case.
#[derive(Clone, Copy)]
struct Weight {
    rank: u32,
    accent: u8,
    case: u8,
}

fn weights(text: &str) -> impl Iterator<Item = Weight> {
    text.chars().map(weight).filter(|weight| weight.rank > 0)
}

fn weight(character: char) -> Weight {
    if let Ok(byte) = u8::try_from(character)
        && byte.is_ascii()
    {
        let weight = WEIGHTS[usize::from(byte)];
        return Weight { rank: u32::from(weight >> 1), accent: 0, case: weight & 1 };
    }
    let mut lower = character.to_lowercase();
    if let (Some(small), None) = (lower.next(), lower.next()) {
        for (letter, accented) in ACCENTED {
            if let Some(index) = accented.chars().position(|other| other == small) {
                return Weight {
                    rank: u32::from(WEIGHTS[usize::from(letter)] >> 1),
                    accent: u8::try_from(index + 1).expect("no letter has that many accents"),
                    case: u8::from(small != character),
                };
            }
        }
    }
    // Beyond every rank of ASCII.
    Weight { rank: 0x100 + u32::from(character), accent: 0, case: 0 }
}

/// The same order for any text.
#[cold]
fn compare_any(left: &str, right: &str) -> Ordering {
    weights(left)
        .map(|weight| weight.rank)
        .cmp(weights(right).map(|weight| weight.rank))
        .then_with(|| weights(left).map(|weight| weight.accent).cmp(weights(right).map(|weight| weight.accent)))
        .then_with(|| weights(left).map(|weight| weight.case).cmp(weights(right).map(|weight| weight.case)))
        .then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests;
