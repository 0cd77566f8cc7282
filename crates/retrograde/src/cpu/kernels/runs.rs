//! One contiguous run of bytes or units: copied or reversed, with ordinary or non-temporal
//! stores. The kernels for rows, lanes and blocks are made of these.

use super::stream::{self, Ahead, To, to_line};
use crate::cpu::simd::{OddVector, PartialVector, Source, Vector, copy_unit};
use std::mem::MaybeUninit;

/// Rows longer than this are left to the hardware prefetcher.
pub(in crate::cpu) const PREFETCHED: usize = 128 << 10;

/// How many runs of so many bytes to prefetch ahead, or the next one: 16 KiB from memory, 2 KiB from
/// a cache. Measured: from a cache, more throws out what is about to be read.
#[inline(always)]
pub(in crate::cpu) fn runs_ahead(bytes: usize, stream: bool) -> usize {
    let distance = if stream { 16 << 10 } else { 2 << 10 };
    (distance / bytes.max(1)).max(1)
}

/// Bytes in their own order.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Forward(pub(in crate::cpu) *const u8);

impl<V: Vector> Source<V> for Forward {
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        // SAFETY: kernel contract 1 to 3.
        unsafe { V::load(self.0.add(offset)) }
    }
}

/// Units of `W` bytes in reverse order, from the ones that end here.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Backward<const W: usize>(pub(in crate::cpu) *const u8);

impl<V: Vector, const W: usize> Source<V> for Backward<W> {
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        // SAFETY: kernel contract 1 to 3.
        unsafe { V::load(self.0.sub(offset + V::BYTES)).reversed::<W>() }
    }
}

/// Copies one run of bytes.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes.
#[inline(always)]
pub(in crate::cpu) unsafe fn copy_run<V: Vector>(
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    to: To<'_>,
) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match to.stream {
            Some(stream) if bytes >= stream::LEAST => {
                stream.run::<V, _>(Forward(src), to.next, dst, bytes);
            }
            Some(stream) => stream.bytes::<V>(src, dst, bytes),
            None => src.copy_to_nonoverlapping(dst, bytes),
        }
    }
}

/// A page of zeros, to be copied.
pub(in crate::cpu) static ZEROS: [u8; 4096] = [0; 4096];

/// Writes zeros. As a copy, so that a stream keeps its order.
///
/// # Safety
/// Kernel contract 1 to 3, for the output.
#[inline(always)]
pub(in crate::cpu) unsafe fn zero_run<V: Vector>(dst: *mut u8, bytes: usize, to: To<'_>) {
    let Some(stream) = to.stream else {
        // SAFETY: kernel contract 1.
        return unsafe { dst.write_bytes(0, bytes) };
    };
    let mut done = 0;
    while done < bytes {
        let count = ZEROS.len().min(bytes - done);
        let to = To::new(&mut *stream, true);
        // SAFETY: kernel contract 1 to 3.
        unsafe { copy_run::<V>(ZEROS.as_ptr(), dst.add(done), count, to) };
        done += count;
    }
}

/// Reverses the units of the `bytes` bytes that end at `end`.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes, with `W` dividing `V::BYTES` and `bytes`.
#[inline(always)]
pub(in crate::cpu) unsafe fn reverse_run<V: PartialVector, const W: usize>(
    end: *const u8,
    dst: *mut u8,
    bytes: usize,
    to: To<'_>,
) {
    let source = Backward::<W>(end);
    // SAFETY: kernel contract 1 to 3; each way covers the bytes exactly. A stream asks for
    // vectors from the next line on, which must be whole units.
    unsafe {
        match to.stream {
            Some(stream) if bytes >= stream::LEAST && to_line(dst).is_multiple_of(W) => {
                stream.run::<V, _>(source, to.next, dst, bytes);
            }
            Some(stream) if bytes < stream::LEAST => {
                let mut ready = MaybeUninit::<[u8; stream::LEAST]>::uninit();
                let ready = ready.as_mut_ptr().cast::<u8>();
                reverse_plainly::<V, W>(end, ready, bytes);
                stream.bytes::<V>(ready, dst, bytes);
            }
            _ if bytes >= V::BYTES && !to.next.is_null() => {
                fill::<V, _, W>(Ahead { source, next: to.next }, dst, bytes);
            }
            _ => reverse_plainly::<V, W>(end, dst, bytes),
        }
    }
}

/// Reverses the units of the first `head` of `bytes` bytes, at least a vector, and copies the others;
/// with ordinary stores. Nothing but the number of vectors decides how it branches: lengths are hard
/// to predict. If the compiler knows that number it is `VECTORS`, otherwise that is 0.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes, with `W` dividing `V::BYTES`, `bytes` and `head <= bytes`.
#[inline(always)]
pub(in crate::cpu) unsafe fn partly_reverse_run<
    V: PartialVector,
    const W: usize,
    const VECTORS: usize,
>(
    src: *const u8,
    dst: *mut u8,
    head: usize,
    bytes: usize,
) {
    let vectors = if VECTORS == 0 { bytes.div_ceil(V::BYTES) } else { VECTORS };
    for index in 0..vectors {
        // The last vector overlaps the one before it.
        let last = bytes - V::BYTES;
        let first = if index + 1 == vectors { last } else { index * V::BYTES };
        let left = head.saturating_sub(first);
        let mirrored = left.min(V::BYTES);
        // SAFETY: kernel contract 1 to 3; both sources have a vector's bytes inside the lane.
        unsafe {
            let (reversed, straight) = (src.add(left - mirrored), src.add(first));
            V::partly_reversed::<W>(reversed, straight, mirrored / W).store(dst.add(first));
        }
    }
}

/// # Safety
/// As for [`reverse_run`].
#[inline(always)]
pub(in crate::cpu) unsafe fn reverse_plainly<V: PartialVector, const W: usize>(
    end: *const u8,
    dst: *mut u8,
    bytes: usize,
) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        if bytes < V::BYTES {
            V::reverse_short::<W>(end, dst, bytes);
        } else {
            fill::<V, _, W>(Backward::<W>(end), dst, bytes);
        }
    }
}

/// Writes a row of at least one vector.
///
/// # Safety
/// `bytes >= V::BYTES` is a multiple of `W`, which divides `V::BYTES`; `dst` is valid for
/// writes of that many; the source is valid for it.
#[inline(always)]
unsafe fn fill<V: Vector, S: Source<V>, const W: usize>(source: S, dst: *mut u8, bytes: usize) {
    // SAFETY: offsets are multiples of `W`, and `offset + V::BYTES <= bytes` throughout.
    unsafe {
        let mut offset = 0;
        let head = to_line(dst);
        if bytes >= LEAST_ALIGNED && head.is_multiple_of(W) {
            // Stores that cross lines cost double. The first vectors may cover more than the
            // head; what follows writes that again.
            while offset < head {
                source.at(offset).store(dst.add(offset));
                offset += V::BYTES;
            }
            offset = head;
        }
        while offset + 4 * V::BYTES <= bytes {
            let block: [V; 4] = [
                source.at(offset),
                source.at(offset + V::BYTES),
                source.at(offset + 2 * V::BYTES),
                source.at(offset + 3 * V::BYTES),
            ];
            for (index, vector) in block.into_iter().enumerate() {
                vector.store(dst.add(offset + index * V::BYTES));
            }
            offset += 4 * V::BYTES;
        }
        while offset + V::BYTES <= bytes {
            source.at(offset).store(dst.add(offset));
            offset += V::BYTES;
        }
        if offset < bytes {
            // The last vector overlaps the one before it.
            let last = bytes - V::BYTES;
            source.at(last).store(dst.add(last));
        }
    }
}

/// Rows shorter than this are not worth aligning.
const LEAST_ALIGNED: usize = 256;

/// Reverses the units of the `bytes` bytes that end at `end`.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes, with `W` of 3, 6 or 12.
#[inline(always)]
pub(in crate::cpu) unsafe fn reverse_odd_run<V: OddVector, const W: usize>(
    end: *const u8,
    dst: *mut u8,
    bytes: usize,
) {
    let step = V::BYTES / W * W;
    let mut done = 0;
    // SAFETY: a vector is only loaded and stored where `V::BYTES` bytes are left on both
    // sides; the rest goes unit by unit.
    unsafe {
        while done + V::BYTES <= bytes {
            V::load(end.sub(done + V::BYTES)).reversed_odd::<W>().store(dst.add(done));
            done += step;
        }
        while done < bytes {
            copy_unit::<W>(end.sub(done + W), dst.add(done));
            done += W;
        }
    }
}

/// Copies one unit of any width; narrow ones by two moves that overlap.
///
/// # Safety
/// `src` and `dst` are valid for `bytes` and do not overlap.
#[inline(always)]
pub(in crate::cpu) unsafe fn copy_any<V: Vector>(
    src: *const u8,
    dst: *mut u8,
    bytes: usize,
    to: To<'_>,
) {
    // SAFETY: kernel contract 1 to 3; both moves stay inside the unit.
    unsafe {
        if to.stream.is_some() {
            return copy_run::<V>(src, dst, bytes, to);
        }
        match bytes {
            4..=7 => copy_ends::<4>(src, dst, bytes),
            8..=15 => copy_ends::<8>(src, dst, bytes),
            16..=32 => copy_ends::<16>(src, dst, bytes),
            33..=64 => copy_ends::<32>(src, dst, bytes),
            _ => src.copy_to_nonoverlapping(dst, bytes),
        }
    }
}

/// # Safety
/// As for [`copy_any`], with `N <= bytes <= 2 * N`.
#[inline(always)]
unsafe fn copy_ends<const N: usize>(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        copy_unit::<N>(src, dst);
        copy_unit::<N>(src.add(bytes - N), dst.add(bytes - N));
    }
}
