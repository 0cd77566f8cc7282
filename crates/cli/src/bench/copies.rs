//! The baseline: plain copies of the same bytes, on so many threads.

use retrograde::cpu;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

/// Bytes that a thread copies at a time.
const PART: usize = 64 << 10;
/// Fewer bytes are left to the caller: sharing them costs more than it saves.
const SHARE: usize = 128 << 10;

/// Copies into memory that was used before, which is as long as the input.
pub(super) fn into(threads: usize, src: &[u8], dst: &mut [u8]) {
    in_parts(threads, src, dst, |src, dst| dst.copy_from_slice(src));
}

/// Copies into newly allocated memory and frees it.
pub(super) fn fresh(threads: usize, src: &[u8]) {
    let mut out: Vec<u8> = Vec::with_capacity(src.len());
    let dst: &mut [MaybeUninit<u8>] = &mut out.spare_capacity_mut()[..src.len()];
    in_parts(threads, src, dst, write);
    drop(std::hint::black_box(out));
}

/// Copies part by part. A part has a lock, which only the thread that copies it ever takes.
fn in_parts<T: Send>(
    threads: usize,
    src: &[u8],
    dst: &mut [T],
    copy: impl Fn(&[u8], &mut [T]) + Sync,
) {
    if threads == 1 || src.len() < SHARE {
        return copy(src, dst);
    }
    let parts: Vec<_> = src.chunks(PART).zip(dst.chunks_mut(PART)).map(Mutex::new).collect();
    let part = |index: usize| {
        let mut part = parts[index].lock().unwrap_or_else(PoisonError::into_inner);
        let (src, dst) = &mut *part;
        copy(src, dst);
    };
    cpu::with_threads(threads, || cpu::run_parts(parts.len(), part));
}

/// The compiler turns this loop into a call of memcpy.
fn write(src: &[u8], dst: &mut [MaybeUninit<u8>]) {
    for (from, to) in src.iter().zip(dst) {
        to.write(*from);
    }
}
