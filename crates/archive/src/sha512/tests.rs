use super::*;
use proptest::prelude::*;

/// What any processor can do.
fn one_after_the_other(state: &mut State, blocks: [&Block; LANES]) {
    for (place, block) in blocks.into_iter().enumerate() {
        let mut words = column(state, place);
        compress512(&mut words, core::slice::from_ref(block));
        for (lanes, word) in state.iter_mut().zip(words) {
            lanes[place] = word;
        }
    }
}

fn collected(messages: &[&[u8]], digests: impl FnOnce(&mut dyn FnMut(usize, [u8; 64]))) -> Vec<[u8; 64]> {
    let mut found = vec![None; messages.len()];
    digests(&mut |number, digest| assert_eq!(found[number].replace(digest), None, "given once"));
    found.into_iter().map(|digest| digest.expect("given")).collect()
}

/// By the best that this processor has, and by what any can do.
fn both_ways(messages: &[&[u8]]) -> [Vec<[u8; 64]>; 2] {
    [
        collected(messages, |done| digests(messages, done)),
        collected(messages, |done| digests_by(messages, one_after_the_other, done)),
    ]
}

fn expected(messages: &[&[u8]]) -> Vec<[u8; 64]> {
    messages.iter().map(|message| Sha512::digest(message).into()).collect()
}

#[test]
fn every_length_around_a_block_is_padded_rightly() {
    let bytes: Vec<u8> = (0..600u32).map(|number| (number * 7 % 251) as u8).collect();
    let messages: Vec<&[u8]> = (0..bytes.len()).map(|length| &bytes[..length]).collect();
    assert_eq!(both_ways(&messages), [expected(&messages), expected(&messages)]);
}

#[test]
fn nothing_is_no_message() {
    assert_eq!(both_ways(&[]), [expected(&[]), expected(&[])]);
    assert_eq!(both_ways(&[b""]), [expected(&[b""]), expected(&[b""])]);
}

proptest! {
    #[test]
    fn any_messages_hash_to_what_each_does_alone(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 0..30),
    ) {
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(both_ways(&messages), [expected(&messages), expected(&messages)]);
    }
}
