//! Inflating a whole stream in one call.
//!
//! libdeflate does it in about three quarters of zlib-rs's time on real tarballs, and in half of it on small ones
//! (`npm run bench -- archive`), but it is C, which is not compiled for WebAssembly, and it says nothing of what it left
//! unread. So it gets what is plainly one member and nothing else, and whatever it does not like is done again by the other
//! way, which then also finds the words for what is wrong.

#[cfg(not(target_family = "wasm"))]
pub(super) use native::Whole;
#[cfg(target_family = "wasm")]
pub(super) use wasm::Whole;

#[cfg(not(target_family = "wasm"))]
mod native {
    use libdeflater::Decompressor;
    use std::fmt;

    /// A decompressor that is used again and again.
    pub struct Whole(Decompressor);

    impl Whole {
        pub fn new() -> Self {
            Self(Decompressor::new())
        }

        /// Whether `output` now holds all that a gzip archive contains, given what follows its header, `trailer` bytes at the
        /// end included. `false` where that is not certain.
        pub fn inflate(&mut self, after_header: &[u8], trailer: usize, output: &mut [u8]) -> bool {
            let Some((stream, _)) = after_header.split_at_checked(after_header.len().saturating_sub(trailer)) else {
                return false;
            };
            // Every further member begins like this; that compressed data does as well is rare.
            if memchr::memmem::find(stream, &[0x1f, 0x8b, 8]).is_some() {
                return false;
            }
            self.0.deflate_decompress(stream, output).is_ok_and(|length| length == output.len())
        }
    }

    impl fmt::Debug for Whole {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("Whole")
        }
    }
}

#[cfg(target_family = "wasm")]
mod wasm {
    /// Nothing: there is only the other way.
    #[derive(Debug)]
    pub struct Whole;

    impl Whole {
        pub fn new() -> Self {
            Self
        }

        #[expect(clippy::unused_self, reason = "as natively")]
        pub fn inflate(&mut self, _after_header: &[u8], _trailer: usize, _output: &mut [u8]) -> bool {
            false
        }
    }
}
