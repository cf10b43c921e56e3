//! The 16 bytes that every file of the store starts with: 7 of magic and one that says what the file is, the format's
//! version, and a number whose meaning depends on the file, both 32-bit little-endian.

/// Bytes before the contents.
pub(crate) const HEADER: u64 = 16;

/// The header of a file.
pub(crate) fn header(kind: u8, version: u32, number: u32) -> [u8; HEADER as usize] {
    let mut header = *b"GANTRY \0\0\0\0\0\0\0\0\0";
    header[7] = kind;
    header[8..12].copy_from_slice(&version.to_le_bytes());
    header[12..].copy_from_slice(&number.to_le_bytes());
    header
}
