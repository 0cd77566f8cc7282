//! A counting allocator. It detects inputs that make the library allocate too much, long before the
//! process reaches its memory limit.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The system allocator with counters, for use as the `#[global_allocator]`.
#[derive(Debug, Clone, Copy)]
pub struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Serialises measurements: tests run on several threads, and the counters are global.
static TURN: Mutex<()> = Mutex::new(());

fn grown(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
    PEAK.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: every call is forwarded to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new block exist at the same time while the data is copied.
        grown(size);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The peak memory use during a call, relative to the use before it.
pub(crate) fn peak_of(call: impl FnOnce()) -> usize {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    call();
    PEAK.load(Ordering::Relaxed).saturating_sub(before)
}
