//! An allocator that counts, so that an input which makes the library allocate is noticed long
//! before a limit of the process is reached.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The system's allocator, counted. A program makes it its `#[global_allocator]`.
#[derive(Debug, Clone, Copy)]
pub struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// Tests run in threads; what one allocates must not be counted for another.
static TURN: Mutex<()> = Mutex::new(());

fn grown(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed).wrapping_add(bytes);
    PEAK.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller's promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller's promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are held while one is copied to the other.
        grown(size);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The most memory that was held at once during a call, beyond what was held before it.
pub(crate) fn peak_of(call: impl FnOnce()) -> usize {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = HELD.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    call();
    PEAK.load(Ordering::Relaxed).saturating_sub(before)
}
