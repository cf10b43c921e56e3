//! Numbers and text as the store's formats write them.
//!
//! Numbers are LEB128, text is its length and UTF-8. Reading never takes more memory than the bytes at hand warrant.

/// Appends a number.
pub(crate) fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends text.
pub(crate) fn write_text(bytes: &mut Vec<u8>, text: &str) {
    write_bytes(bytes, text.as_bytes());
}

/// Appends bytes with their length.
pub(crate) fn write_bytes(bytes: &mut Vec<u8>, contents: &[u8]) {
    write_number(bytes, contents.len() as u64);
    bytes.extend_from_slice(contents);
}

/// Reads what the functions above wrote; `None` once something does not fit.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    pub fn is_at_end(&self) -> bool {
        self.position == self.bytes.len()
    }

    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.position)?;
        self.position += 1;
        Some(byte)
    }

    /// Bytes of a fixed number.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let array = *self.bytes.get(self.position..)?.first_chunk::<N>()?;
        self.position += N;
        Some(array)
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            let shifted = bits << shift;
            if shifted >> shift != bits {
                return None;
            }
            number |= shifted;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number of things that take `smallest` bytes each at least; `None` if so many cannot follow.
    pub fn count(&mut self, smallest: usize) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= (self.bytes.len() - self.position) / smallest).then_some(count)
    }

    /// Bytes with their length.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let end = self.position.checked_add(length)?;
        let bytes = self.bytes.get(self.position..end)?;
        self.position = end;
        Some(bytes)
    }

    pub fn text(&mut self) -> Option<&'a str> {
        core::str::from_utf8(self.bytes()?).ok()
    }
}
