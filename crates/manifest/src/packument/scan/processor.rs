//! The one place that knows processors: each file has a `skip_container` for one family of them.
//!
//! This is arithmetic, not a platform: nothing but the speed depends on which of them is compiled in.

#[cfg_attr(target_arch = "x86_64", path = "processor/x86_64.rs")]
#[cfg_attr(target_feature = "simd128", path = "processor/wasm32.rs")]
mod any;

pub(super) use any::skip_container;
#[cfg(all(test, target_arch = "x86_64"))]
pub(super) use any::skip_container_narrowly;
