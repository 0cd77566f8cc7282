//! The baseline: a plain copy of the same bytes on the same threads.

use retrograde::cpu;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Fewer bytes are copied by the caller: sharing them costs more than it saves.
const SHARE: usize = 128 << 10;
/// Bytes that a thread copies at a time.
const PART: usize = 64 << 10;

/// A pointer that is sent to other threads; each of them accesses separate bytes.
#[derive(Clone, Copy)]
struct Shared<T>(T);

// SAFETY: only `copy` creates these, and its threads access disjoint parts of memory that its
// caller keeps valid until all of them are done.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// A method, so that closures capture the wrapper and not the bare pointer in it.
    fn get(self) -> T {
        self.0
    }
}

/// Copies `len` bytes in parts on so many threads, or on this thread if they are few.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes, and they do not overlap.
pub unsafe fn copy(threads: usize, src: *const u8, dst: *mut u8, len: usize) {
    if threads == 1 || len < SHARE {
        // SAFETY: both are valid for `len` bytes and do not overlap, as required.
        unsafe { std::ptr::copy_nonoverlapping(src, dst, len) };
        return;
    }
    let (src, dst) = (Shared(src), Shared(dst));
    let part = |part: usize| {
        let start = part * PART;
        let end = (start + PART).min(len);
        // SAFETY: `start..end` is within `len`, and no other thread accesses it.
        unsafe {
            std::ptr::copy_nonoverlapping(src.get().add(start), dst.get().add(start), end - start);
        }
    };
    cpu::with_threads(threads, || cpu::run_parts(len.div_ceil(PART), part));
}

/// Copies into memory that was used before.
///
/// # Safety
/// As for a single copy: `src` is valid for reads and `dst` for writes of `len` bytes, and they do
/// not overlap.
pub unsafe fn reused(threads: usize, src: *const u8, dst: *mut u8, len: usize, iterations: usize) {
    for _ in 0..iterations {
        // SAFETY: both are valid for `len` bytes and do not overlap, as required.
        unsafe { copy(threads, black_box(src), black_box(dst), len) };
    }
}

/// Copies into newly allocated memory and frees it.
pub fn fresh(threads: usize, src: &[u8], iterations: usize) {
    for _ in 0..iterations {
        let mut out: Vec<MaybeUninit<u8>> = Vec::with_capacity(src.len());
        let dst = black_box(out.as_mut_ptr().cast());
        // SAFETY: the new vector has room for `src.len()` bytes and does not overlap `src`.
        unsafe { copy(threads, black_box(src.as_ptr()), dst, src.len()) };
        drop(black_box(out));
    }
}
