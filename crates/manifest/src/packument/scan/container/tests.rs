//! Masks against the table, for every kind of input, and both against a plain reading of the rules.

use proptest::prelude::*;

use super::super::{NotJson, Scan, processor};
use super::{BLOCK, Masks, by_masks, by_table, parities};

/// Masks as their definition says.
fn plain_masks(block: &[u8; BLOCK]) -> Masks {
    let bits = |wanted: &[u8]| (0..BLOCK).filter(|at| wanted.contains(&block[*at])).map(|at| 1 << at).sum();
    Masks { quotes: bits(b"\""), backslashes: bits(b"\\"), opens: bits(b"{["), closes: bits(b"}]") }
}

/// What closes the container, one byte and one state at a time.
fn plainly(body: &[u8], at: usize) -> Scan<usize> {
    let (mut depth, mut string, mut escaped) = (0, false, false);
    for (position, byte) in body.iter().enumerate().skip(at) {
        if escaped {
            escaped = false;
            continue;
        }
        match byte {
            b'\\' if string => escaped = true,
            b'"' => string = !string,
            b'{' | b'[' if !string => depth += 1,
            b'}' | b']' if !string => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(position + 1);
        }
    }
    Err(NotJson(body.len()))
}

/// Asserts that all ways agree on the container at `at`.
fn agreed(body: &[u8], at: usize) -> Scan<usize> {
    let expected = plainly(body, at);
    let shown = || String::from_utf8_lossy(&body[at..]).into_owned();
    assert_eq!(by_table(body, at), expected, "by table: {:?}", shown());
    assert_eq!(by_masks(body, at, plain_masks, parities), expected, "by masks: {:?}", shown());
    assert_eq!(processor::skip_container(body, at), expected, "on this processor: {:?}", shown());
    #[cfg(target_arch = "x86_64")]
    if let Some(found) = processor::skip_container_narrowly(body, at) {
        assert_eq!(found, expected, "on a processor with less: {:?}", shown());
    }
    expected
}

#[test]
fn a_container_of_any_length_ends_at_its_bracket() {
    for length in 0..4 * BLOCK {
        for (open, close) in [('{', '}'), ('[', ']')] {
            let text = format!("{open}{}{close}}}", "x".repeat(length));
            assert_eq!(agreed(text.as_bytes(), 0), Ok(length + 2));
            assert_eq!(agreed(&text.as_bytes()[..=length], 0), Err(NotJson(length + 1)));
        }
    }
}

#[test]
fn an_escape_is_followed_over_the_border_of_two_blocks() {
    for before in 0..2 * BLOCK {
        for backslashes in 0..2 * BLOCK + 3 {
            let start = format!("{{\"{}{}\"", "x".repeat(before), "\\".repeat(backslashes));
            let text = if backslashes % 2 == 0 { format!("{start}}}") } else { format!("{start}}}\"}}") };
            assert_eq!(agreed(text.as_bytes(), 0), Ok(text.len()));
            let _ = agreed(format!("{start}}}").as_bytes(), 0);
        }
    }
}

#[test]
fn a_bracket_in_a_string_closes_nothing() {
    for at in 0..3 * BLOCK {
        let text = format!("[\"{}]}}{{[\",[\"]\"]]", "x".repeat(at));
        assert_eq!(agreed(text.as_bytes(), 0), Ok(text.len()));
    }
}

#[test]
fn a_backslash_outside_of_a_string_escapes_nothing() {
    for at in 0..2 * BLOCK {
        for stray in ["\\\"}\"}", "\\}}", "\\\\\"\\\"\"}", "\\"] {
            let _ = agreed(format!("{{{}{stray}", " ".repeat(at)).as_bytes(), 0);
        }
    }
}

#[test]
fn nesting_deeper_than_a_block_is_counted() {
    for depth in [1, 2, 63, 64, 65, 1_000] {
        let text = format!("{}{}", "[{\"a\":".repeat(depth), "}]".repeat(depth));
        assert_eq!(agreed(text.as_bytes(), 0), Ok(text.len()));
        assert_eq!(agreed(text.as_bytes(), 1), Ok(text.len() - 1));
    }
}

#[test]
fn every_byte_at_every_place_means_the_same() {
    for byte in 0..=u8::MAX {
        for at in 1..=2 * BLOCK {
            let mut body = vec![b' '; 2 * BLOCK];
            body[0] = b'[';
            body.insert(at, byte);
            let _ = agreed(&[&body, b"\"]\"}]".as_slice()].concat(), 0);
        }
    }
}

/// Bytes that matter, in every proportion to those that do not.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => prop::sample::select(b"\"\\{}[]".as_slice()),
        4 => prop::sample::select(b" ,:ax\x1b\x3b\x5a\x7a\xdb\xfb\xdd\xfd\xa2\xdc\x02\x00".as_slice()),
        1 => any::<u8>(),
    ];
    let dense = proptest::collection::vec(byte.clone(), 0..5 * BLOCK);
    let sparse = proptest::collection::vec((byte, 0usize..BLOCK), 0..24).prop_map(|parts| {
        parts
            .into_iter()
            .flat_map(|(byte, others)| [byte].into_iter().chain(std::iter::repeat_n(b'x', others)))
            .collect()
    });
    prop_oneof![dense, sparse]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_bytes_end_at_the_same_place(bytes in any_bytes(), before in 0usize..BLOCK) {
        let mut body = vec![b'"'; before];
        body.push(b'{');
        body.extend(bytes);
        let _ = agreed(&body, before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn json_ends_where_it_ends_and_damage_is_damage_alike(
        document in super::super::super::tests::any_packument(),
        pretty in any::<bool>(),
        place in any::<prop::sample::Index>(),
        byte in prop_oneof![prop::sample::select(b"\"\\{}[]".as_slice()), any::<u8>()],
    ) {
        let text = if pretty { serde_json::to_vec_pretty(&document) } else { serde_json::to_vec(&document) };
        let mut body = text.expect("JSON");
        prop_assert_eq!(agreed(&body, 0), Ok(body.len()));
        let starts: Vec<usize> = (0..body.len()).filter(|at| matches!(body[*at], b'{' | b'[')).collect();
        for at in starts {
            let _ = agreed(&body, at);
        }
        let place = place.index(body.len() - 1) + 1;
        body[place] = byte;
        let _ = agreed(&body, 0);
        let _ = agreed(&body[..place], 0);
    }
}
