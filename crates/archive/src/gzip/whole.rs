//! Inflating a whole stream in one call.
//!
//! libdeflate does it in about three quarters of zlib-rs's time on real tarballs, and in half of it on small ones
//! (`npm run bench -- archive`), but it is C, which is not compiled for WebAssembly. It gets what is plainly one member and
//! nothing else, and whatever it does not like is done again by the other way, which then also finds the words for what is
//! wrong. The crate `libdeflater` does not tell how much was read, which decides whether it was one member, so its bindings
//! are called here.
//!
//! It takes a little more than zlib does: the length codes 286 and 287, for one, which mean nothing, are the longest length to it.

#[cfg(not(target_family = "wasm"))]
pub(super) use native::Whole;
#[cfg(target_family = "wasm")]
pub(super) use wasm::Whole;

#[cfg(not(target_family = "wasm"))]
mod native {
    use libdeflate_sys::{
        libdeflate_alloc_decompressor, libdeflate_decompressor, libdeflate_deflate_decompress_ex,
        libdeflate_free_decompressor, libdeflate_result_LIBDEFLATE_SUCCESS,
    };
    use std::{fmt, ptr, ptr::NonNull};

    /// A decompressor that is used again and again; `None` where there was no memory for it.
    pub struct Whole(Option<NonNull<libdeflate_decompressor>>);

    // SAFETY: a decompressor is plain memory of its own, bound to no thread, and is only used through `&mut`.
    unsafe impl Send for Whole {}

    impl Whole {
        pub fn new() -> Self {
            // SAFETY: nothing is asked for.
            Self(NonNull::new(unsafe { libdeflate_alloc_decompressor() }))
        }

        /// Whether `output` now holds all that a gzip archive contains, given what follows its header, `trailer` bytes at the
        /// end included. `false` where that is not certain.
        pub fn inflate(&mut self, after_header: &[u8], trailer: usize, output: &mut [u8]) -> bool {
            let stream = &after_header[..after_header.len().saturating_sub(trailer)];
            let mut read = 0;
            let inflated = self.0.is_some_and(|decompressor| {
                // SAFETY: the decompressor is there until `drop`; both slices are as long as is said, and `read` is there to
                // be written to. Without a place for the length of the output, success means that all of it is filled.
                let result = unsafe {
                    libdeflate_deflate_decompress_ex(
                        decompressor.as_ptr(),
                        stream.as_ptr().cast(),
                        stream.len(),
                        output.as_mut_ptr().cast(),
                        output.len(),
                        &raw mut read,
                        ptr::null_mut(),
                    )
                };
                result == libdeflate_result_LIBDEFLATE_SUCCESS
            });
            inflated && read == stream.len()
        }
    }

    impl Drop for Whole {
        fn drop(&mut self) {
            if let Some(decompressor) = self.0 {
                // SAFETY: it was allocated by `new` and nobody uses it any more.
                unsafe { libdeflate_free_decompressor(decompressor.as_ptr()) }
            }
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
