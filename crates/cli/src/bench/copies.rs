//! The baseline: plain copies of the same bytes, on so many threads.

use crate::work::in_parts_of;
use retrograde::cpu;
use std::mem::MaybeUninit;

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

/// Copies part by part.
fn in_parts<T: Send>(
    threads: usize,
    src: &[u8],
    dst: &mut [T],
    copy: impl Fn(&[u8], &mut [T]) + Sync,
) {
    if threads == 1 || src.len() < SHARE {
        return copy(src, dst);
    }
    let part = |start: usize, dst: &mut [T]| copy(&src[start..start + dst.len()], dst);
    cpu::with_threads(threads, || in_parts_of(PART, dst, part));
}

/// The compiler turns this loop into a call of memcpy.
fn write(src: &[u8], dst: &mut [MaybeUninit<u8>]) {
    for (from, to) in src.iter().zip(dst) {
        to.write(*from);
    }
}
