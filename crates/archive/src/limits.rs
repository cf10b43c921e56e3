//! How much an archive may unpack to.

use core::fmt;

/// What an archive may not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Headers in the archive, counting those that leave no file.
    pub entries: usize,
    /// Bytes of the unpacked archive, headers and padding included.
    pub unpacked_bytes: u64,
    /// Bytes of one path.
    pub path_bytes: usize,
}

impl Default for Limits {
    /// Far above anything published (the largest packages have 60,000 files and 500 MB), far below what hurts a machine.
    fn default() -> Self {
        Self { entries: 500_000, unpacked_bytes: 1 << 30, path_bytes: 4096 }
    }
}

/// Which of the [`Limits`] an archive exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::entries`].
    Entries,
    /// [`Limits::unpacked_bytes`].
    UnpackedBytes,
    /// [`Limits::path_bytes`].
    PathBytes,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Entries => "entries",
            Self::UnpackedBytes => "unpacked bytes",
            Self::PathBytes => "bytes in a path",
        })
    }
}
