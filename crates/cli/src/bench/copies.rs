//! The baseline: plain copies of the same bytes on the same threads.

use rayon::prelude::*;
use std::mem::MaybeUninit;

/// Below this many bytes per thread, waking another thread costs more than it saves.
const SHARE: usize = 256 << 10;

/// Copies into memory that was used before.
pub(super) fn into(src: &[u8], dst: &mut [u8]) {
    match share(src.len()) {
        None => dst.copy_from_slice(src),
        Some(share) => {
            let parts = src.par_chunks(share).zip(dst.par_chunks_mut(share));
            parts.for_each(|(src, dst)| dst.copy_from_slice(src));
        }
    }
}

/// Copies into newly allocated memory and frees it.
pub(super) fn fresh(src: &[u8]) {
    let mut out: Vec<u8> = Vec::with_capacity(src.len());
    let dst: &mut [MaybeUninit<u8>] = &mut out.spare_capacity_mut()[..src.len()];
    match share(src.len()) {
        None => write(src, dst),
        Some(share) => {
            let parts = src.par_chunks(share).zip(dst.par_chunks_mut(share));
            parts.for_each(|(src, dst)| write(src, dst));
        }
    }
    drop(std::hint::black_box(out));
}

/// The compiler turns this loop into a call of memcpy.
fn write(src: &[u8], dst: &mut [MaybeUninit<u8>]) {
    for (from, to) in src.iter().zip(dst) {
        to.write(*from);
    }
}

/// Bytes per thread of the current pool, if using more than one is worthwhile.
fn share(len: usize) -> Option<usize> {
    let threads = rayon::current_num_threads();
    (threads > 1 && len / threads >= SHARE).then(|| len.div_ceil(threads).next_multiple_of(64))
}
