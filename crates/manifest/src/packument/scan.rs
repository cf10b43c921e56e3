//! A structural scanner: finds where JSON values begin and end without building anything.
//!
//! What is walked member by member ([`Members`]) is checked against the grammar; what is skipped as a whole is only
//! followed by its quotes and brackets, so a damaged value is found when it is decoded. Nesting is a counter, not
//! recursion: depth costs nothing. Nearly all of the time goes into [`skip_container`].

mod container;
mod processor;

use std::ops::Range;

use memchr::memchr2;

use self::processor::skip_container;

/// The scan cannot go on: the bytes are not JSON. Holds the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotJson(pub(super) usize);

type Scan<T> = Result<T, NotJson>;

/// The first position at or after `at` that is not white space.
pub(super) fn skip_space(body: &[u8], mut at: usize) -> usize {
    while matches!(body.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// The end of the value that begins at `at`.
pub(super) fn skip_value(body: &[u8], at: usize) -> Scan<usize> {
    match body.get(at) {
        Some(b'"') => skip_string(body, at),
        Some(b'{' | b'[') => skip_container(body, at),
        Some(b't') => skip_word(body, at, b"true"),
        Some(b'f') => skip_word(body, at, b"false"),
        Some(b'n') => skip_word(body, at, b"null"),
        Some(b'-' | b'0'..=b'9') => {
            let length = body[at..].iter().take_while(|byte| is_number_byte(**byte)).count();
            Ok(at + length)
        }
        _ => Err(NotJson(at)),
    }
}

fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

fn skip_word(body: &[u8], at: usize, word: &[u8]) -> Scan<usize> {
    if body[at..].starts_with(word) { Ok(at + word.len()) } else { Err(NotJson(at)) }
}

/// How many bytes of a string are looked at before a vectorised search is started, which costs more than most strings of
/// a packument are long.
const SHORT_STRING: usize = 24;

/// The position after the closing quote of the string whose opening quote is at `at`.
pub(super) fn skip_string(body: &[u8], at: usize) -> Scan<usize> {
    let mut at = at + 1;
    loop {
        let found = end_or_escape(body, at).ok_or(NotJson(body.len()))?;
        if body[found] == b'"' {
            return Ok(found + 1);
        }
        // A backslash and the byte after it; the digits of a \u escape are ordinary bytes.
        at = found + 2;
        if at > body.len() {
            return Err(NotJson(body.len()));
        }
    }
}

/// The first quote or backslash at or after `at`.
fn end_or_escape(body: &[u8], at: usize) -> Option<usize> {
    let rest = body.get(at..)?;
    let (words, _) = rest.as_chunks::<8>();
    for (index, word) in words.iter().take(SHORT_STRING / 8).enumerate() {
        let found = quotes_and_backslashes(u64::from_le_bytes(*word));
        if found != 0 {
            return Some(at + index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let far = rest.len().min(SHORT_STRING) / 8 * 8;
    memchr2(b'"', b'\\', &rest[far..]).map(|offset| at + far + offset)
}

/// The highest bit of each byte that is a quote or a backslash. Bits above the lowest one set may be wrong.
fn quotes_and_backslashes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64))
}

/// One member of an object: where its key (with quotes) and its value are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

/// The members of one object, in document order. After an error the iteration ends.
#[derive(Debug)]
pub(super) struct Members<'a> {
    body: &'a [u8],
    at: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    First,
    Next,
    Done,
}

impl<'a> Members<'a> {
    /// The members of the object whose `{` is at `at`; nothing if there is no `{`.
    pub(super) fn new(body: &'a [u8], at: usize) -> Self {
        let state = if body.get(at) == Some(&b'{') { State::First } else { State::Done };
        Self { body, at: at + 1, state }
    }

    /// After the last member: the position behind the object's `}`.
    pub(super) fn end(&self) -> usize {
        self.at
    }

    /// Goes to the next member: the place of its key and the position where its value begins. The caller either lets
    /// [`Members::skip`] find the end of the value or, having walked it on its own, says so with [`Members::resume_at`].
    #[inline]
    pub(super) fn next_key(&mut self) -> Scan<Option<(Range<usize>, usize)>> {
        let mut at = skip_space(self.body, self.at);
        match (self.body.get(at), self.state) {
            (_, State::Done) => return Ok(None),
            (Some(b'}'), _) => {
                self.at = at + 1;
                self.state = State::Done;
                return Ok(None);
            }
            (Some(b','), State::Next) => at = skip_space(self.body, at + 1),
            (_, State::First) => {}
            _ => return Err(NotJson(at)),
        }
        if self.body.get(at) != Some(&b'"') {
            return Err(NotJson(at));
        }
        let key = at..skip_string(self.body, at)?;
        at = skip_space(self.body, key.end);
        if self.body.get(at) != Some(&b':') {
            return Err(NotJson(at));
        }
        self.state = State::Next;
        Ok(Some((key, skip_space(self.body, at + 1))))
    }

    /// Skips the value at `value` and gives its end.
    pub(super) fn skip_over(&mut self, value: usize) -> Scan<usize> {
        self.at = skip_value(self.body, value)?;
        Ok(self.at)
    }

    /// Goes on behind a value that ends before `at`.
    pub(super) fn resume_at(&mut self, at: usize) {
        self.at = at;
    }

    fn advance(&mut self) -> Scan<Option<Member>> {
        let Some((key, value)) = self.next_key()? else { return Ok(None) };
        Ok(Some(Member { key, value: value..self.skip_over(value)? }))
    }
}

impl Iterator for Members<'_> {
    type Item = Scan<Member>;

    fn next(&mut self) -> Option<Self::Item> {
        let advanced = self.advance().transpose();
        if matches!(advanced, Some(Err(_))) {
            self.state = State::Done;
        }
        advanced
    }
}
