//! Rows of packed elements into whole bytes of the output.
//!
//! Eight bits anywhere in the input make one byte of output: a funnel shift of two loads, and a
//! reversal of bytes and within bytes if the row is backward.

use super::runs;
use super::stream::{self, Stream, To, to_line};
use crate::cpu::simd::{BitVector, Simd, Source, Vector, words};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Where `bytes` bytes of output at `offset` come from.
#[inline(always)]
pub(in crate::cpu) fn start<const BACK: bool>(
    base: *const u8,
    offset: usize,
    bytes: usize,
) -> *const u8 {
    if BACK { base.wrapping_sub(offset + bytes) } else { base.wrapping_add(offset) }
}

/// A row of packed elements that fills whole bytes of the output, eight bits of input each.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct PackedRow {
    /// The byte with the first element; the byte after the last one, if `backward`.
    pub(in crate::cpu) base: *const u8,
    /// How many bits into that byte the elements start, or end: less than 8.
    pub(in crate::cpu) shift: usize,
    /// Bits in an element: 1, 2 or 4.
    pub(in crate::cpu) bits: usize,
    /// Whether the input is read from its end to its start.
    pub(in crate::cpu) backward: bool,
    /// The first byte of the output.
    pub(in crate::cpu) dst: *mut u8,
    /// Bytes of output.
    pub(in crate::cpu) bytes: usize,
    /// The stream for non-temporal stores, or null.
    pub(in crate::cpu) stream: *mut Stream,
    /// What to prefetch meanwhile, or null.
    pub(in crate::cpu) next: *const u8,
}

/// Writes the bytes.
///
/// # Safety
/// Kernel contract 1 to 3; `bytes` is at least 64, unless bytes are only copied (`shift` is 0
/// and the row not backward); `stream` is null or exclusively this call's.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(job: &PackedRow) {
    let PackedRow { base, shift, .. } = *job;
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match (job.backward, shift > 0, job.bits) {
            (false, false, _) => runs::copy_run::<V>(base, job.dst, job.bytes, to(job)),
            // Shifting is the same for all widths that start at the same end of a byte.
            (false, true, 1) => write(Vectors::<V, 1, false, true>::new(base, shift), job),
            (false, true, _) => write(Vectors::<V, 4, false, true>::new(base, shift), job),
            (true, false, 4) => write(Vectors::<V, 4, true, false>::new(base, shift), job),
            (true, false, 2) => write(Vectors::<V, 2, true, false>::new(base, shift), job),
            (true, false, _) => write(Vectors::<V, 1, true, false>::new(base, shift), job),
            (true, true, 4) => write(Vectors::<V, 4, true, true>::new(base, shift), job),
            (true, true, 2) => write(Vectors::<V, 2, true, true>::new(base, shift), job),
            (true, true, _) => write(Vectors::<V, 1, true, true>::new(base, shift), job),
        }
    }
}

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn to<'a>(job: &PackedRow) -> To<'a> {
    // SAFETY: `stream` is null or exclusively this call's, as [`run`] requires.
    To { stream: unsafe { job.stream.as_mut() }, next: job.next }
}

/// Eight bits of input for each byte of output, a vector at a time.
#[derive(Clone, Copy)]
struct Vectors<V, const BITS: usize, const BACK: bool, const SHIFTED: bool> {
    base: *const u8,
    shift: usize,
    vector: PhantomData<V>,
}

impl<V, const BITS: usize, const BACK: bool, const SHIFTED: bool> Vectors<V, BITS, BACK, SHIFTED> {
    #[inline(always)]
    fn new(base: *const u8, shift: usize) -> Self {
        Vectors { base, shift, vector: PhantomData }
    }
}

impl<V: BitVector, const BITS: usize, const BACK: bool, const SHIFTED: bool> Source<V>
    for Vectors<V, BITS, BACK, SHIFTED>
{
    /// Any offset is allowed.
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        let start = start::<BACK>(self.base, offset, V::BYTES);
        // SAFETY: kernel contract 1 and 3: each byte loaded holds one of the elements.
        unsafe {
            let mut vector = V::load(start);
            if SHIFTED {
                let next = V::load(start.add(1));
                vector = vector.funnel(next, self.shift, words::high_first::<BITS>());
            }
            match BACK {
                true => vector.reversed(V::order(1)).reversed_in_bytes::<BITS>(),
                false => vector,
            }
        }
    }
}

/// # Safety
/// As for [`run`], with at least 64 bytes, for which the source is valid.
#[inline(always)]
unsafe fn write<V: Vector, S: Source<V>>(source: S, job: &PackedRow) {
    let PackedRow { dst, bytes, .. } = *job;
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match to(job).stream {
            Some(stream) if bytes >= stream::LEAST => {
                stream.run::<V, S>(source, job.next, dst, bytes);
            }
            Some(stream) => {
                let mut ready = MaybeUninit::<[u8; stream::LEAST]>::uninit();
                let ready = ready.as_mut_ptr().cast::<u8>();
                plain::<V, S, 1>(source, ready, bytes);
                stream.bytes::<V>(ready, dst, bytes);
            }
            None => plain::<V, S, 4>(source, dst, bytes),
        }
    }
}

/// Rows shorter than this are not worth aligning.
const LEAST_ALIGNED: usize = 256;

/// Writes bytes by ordinary stores, `N` vectors at a time.
///
/// # Safety
/// As for [`write`].
#[inline(always)]
unsafe fn plain<V: Vector, S: Source<V>, const N: usize>(source: S, dst: *mut u8, bytes: usize) {
    let mut offset = 0;
    // SAFETY: `offset + V::BYTES <= bytes` throughout; some vectors overlap those before them.
    unsafe {
        if N > 1 && bytes >= LEAST_ALIGNED {
            // Stores that cross lines cost double; the first ones cover the way to a line.
            let head = to_line(dst);
            while offset < head {
                source.at(offset).store(dst.add(offset));
                offset += V::BYTES;
            }
            offset = head;
        }
        while N > 1 && offset + N * V::BYTES <= bytes {
            let mut block = [source.at(offset); N];
            for (index, vector) in block.iter_mut().enumerate().skip(1) {
                *vector = source.at(offset + index * V::BYTES);
            }
            for (index, vector) in block.into_iter().enumerate() {
                vector.store(dst.add(offset + index * V::BYTES));
            }
            offset += N * V::BYTES;
        }
        while offset + V::BYTES < bytes {
            source.at(offset).store(dst.add(offset));
            offset += V::BYTES;
        }
        source.at(bytes - V::BYTES).store(dst.add(bytes - V::BYTES));
    }
}
