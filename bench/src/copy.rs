//! The yardstick: a plain copy of the same bytes on the same threads.

use crate::pools::pool;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Bytes per thread below which waking another thread costs more than it copies.
const SHARE: usize = 256 << 10;

/// A pointer that may visit other threads; each of them touches bytes of its own.
#[derive(Clone, Copy)]
struct Shared<T>(T);

// SAFETY: only `copy` makes these, and its threads read and write disjoint shares of memory
// that its caller vouches for until all of them are done.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// By method, so that closures capture the whole and not the bare pointer in it.
    fn get(self) -> T {
        self.0
    }
}

/// Copies `len` bytes, a share per thread of the current pool.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes, and they do not overlap.
unsafe fn copy(src: *const u8, dst: *mut u8, len: usize) {
    let threads = rayon::current_num_threads();
    if threads == 1 || len / threads < SHARE {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(src, dst, len) };
        return;
    }
    let (src, dst) = (Shared(src), Shared(dst));
    // Whole cache lines each, and the last one takes what is left.
    let share = len.div_ceil(threads).next_multiple_of(64);
    rayon::broadcast(|context| {
        let start = (context.index() * share).min(len);
        let end = (start + share).min(len);
        // SAFETY: `start..end` lies within `len`, and no other thread has any of it.
        unsafe {
            std::ptr::copy_nonoverlapping(src.get().add(start), dst.get().add(start), end - start);
        }
    });
}

/// Copies into memory that was used before.
///
/// # Safety
/// As for a single copy: `src` is valid for reads and `dst` for writes of `len` bytes, and
/// they do not overlap.
pub unsafe fn reused(threads: usize, src: *const u8, dst: *mut u8, len: usize, iterations: usize) {
    let (src, dst) = (Shared(src), Shared(dst));
    pool(threads).install(|| {
        for _ in 0..iterations {
            // SAFETY: the caller's promise.
            unsafe { copy(black_box(src.get()), black_box(dst.get()), len) };
        }
    });
}

/// Copies into memory that was never touched, and gives it back.
pub fn fresh(threads: usize, src: &[u8], iterations: usize) {
    pool(threads).install(|| {
        for _ in 0..iterations {
            let mut out: Vec<MaybeUninit<u8>> = Vec::with_capacity(src.len());
            let dst = black_box(out.as_mut_ptr().cast());
            // SAFETY: the new vector has room for `src.len()` bytes and overlaps nothing.
            unsafe { copy(black_box(src.as_ptr()), dst, src.len()) };
            drop(black_box(out));
        }
    });
}
