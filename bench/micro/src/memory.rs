//! What a piece of work allocates.
//!
//! The allocator of every program of this crate is the product's with counters around it: mimalloc natively, as in the
//! command, and in wasm what Rust has there, as in the module. The counters stand still unless a
//! [`Measurement`] is under way, and then cost some nanoseconds for each allocation: time and memory are measured in
//! different runs.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

#[cfg(not(target_family = "wasm"))]
use mimalloc::MiMalloc as Product;
#[cfg(target_family = "wasm")]
use std::alloc::System as Product;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
/// Bytes that are held beyond those at the start; below zero when older memory is given back.
static HELD: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: every call goes to the product's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: the caller keeps to the contract of the same method.
        unsafe { Product.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: as above; the pointer came from that allocator.
        unsafe { Product.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: as above.
        unsafe { Product.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), size);
        // SAFETY: as above.
        unsafe { Product.realloc(pointer, layout, size) }
    }
}

#[inline]
fn count(freed: usize, allocated: usize) {
    if !COUNTING.load(Relaxed) {
        return;
    }
    if allocated > 0 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        ALLOCATED.fetch_add(allocated, Relaxed);
    }
    let change = allocated.cast_signed() - freed.cast_signed();
    let held = HELD.fetch_add(change, Relaxed) + change;
    PEAK.fetch_max(held, Relaxed);
}

/// What was allocated from a start to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// How often memory was asked for, growth in place included.
    pub allocations: usize,
    /// Bytes asked for altogether.
    pub allocated: usize,
    /// The most bytes that were held at once beyond those at the start.
    pub peak: usize,
    /// Bytes that are held at the end beyond those at the start.
    pub kept: isize,
}

/// Counts what `work` allocates. Only one measurement at a time means anything.
pub fn measure<T>(work: impl FnOnce() -> T) -> (T, Usage) {
    ALLOCATIONS.store(0, Relaxed);
    ALLOCATED.store(0, Relaxed);
    HELD.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    let result = work();
    COUNTING.store(false, Relaxed);
    let usage = Usage {
        allocations: ALLOCATIONS.load(Relaxed),
        allocated: ALLOCATED.load(Relaxed),
        peak: usize::try_from(PEAK.load(Relaxed)).unwrap_or(0),
        kept: HELD.load(Relaxed),
    };
    (result, usage)
}
