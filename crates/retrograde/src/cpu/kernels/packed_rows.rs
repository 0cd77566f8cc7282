//! Rows of packed elements into whole bytes of the output.
//!
//! Eight bits anywhere in the input make one byte of output: a funnel shift of two loads, and a
//! reversal of bytes and within bytes if the row is backward.

use super::runs;
use super::stream::{self, Stream, To, to_line};
use crate::cpu::simd::bits::{InBytes, funnel};
use crate::cpu::simd::{Simd, Source, Vector, words};
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
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match (job.backward, job.shift > 0) {
            (false, false) => runs::copy_run(job.base, job.dst, job.bytes, to(job)),
            (false, true) => write(Vectors::<V, false, 0, true>::new(job), job),
            (true, shifted) => {
                // Non-temporal stores wait for memory longer than for the instructions that a known
                // width saves.
                match if job.stream.is_null() { job.bits } else { 0 } {
                    4 => backward::<V, 4>(job, shifted),
                    2 if !InBytes::<V>::AS_DATA => backward::<V, 2>(job, shifted),
                    1 if !InBytes::<V>::AS_DATA => backward::<V, 1>(job, shifted),
                    _ if shifted => write(Vectors::<V, true, 0, true>::new(job), job),
                    _ => write(Vectors::<V, true, 0, false>::new(job), job),
                }
            }
        }
    }
}

/// A backward row with ordinary stores, of elements of a known width.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn backward<V: Vector, const BITS: usize>(job: &PackedRow, shifted: bool) {
    let PackedRow { dst, bytes, .. } = *job;
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match shifted {
            true => plain::<V, _, 4>(Vectors::<V, true, BITS, true>::new(job), dst, bytes),
            false => plain::<V, _, 4>(Vectors::<V, true, BITS, false>::new(job), dst, bytes),
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

/// Eight bits of input for each byte of output, a vector at a time. Elements have `BITS` bits if
/// the compiler knows it, otherwise that is 0.
#[derive(Clone, Copy)]
struct Vectors<V: Vector, const BACK: bool, const BITS: usize, const SHIFTED: bool> {
    base: *const u8,
    /// The arguments of [`funnel`]: where the registers are behind the start, and the shift.
    high: usize,
    low: usize,
    shift: usize,
    order: V::Order,
    in_bytes: InBytes<V>,
}

impl<V: Vector, const BACK: bool, const BITS: usize, const SHIFTED: bool>
    Vectors<V, BACK, BITS, SHIFTED>
{
    /// # Safety
    /// Kernel contract 3.
    #[inline(always)]
    unsafe fn new(job: &PackedRow) -> Self {
        let PackedRow { base, bits, .. } = *job;
        let (high, low, shift) = match words::high_first_of(8 / bits) {
            true => (0, 1, job.shift),
            false => (1, 0, 8 - job.shift),
        };
        // SAFETY: kernel contract 3.
        let (order, in_bytes) = unsafe { (V::order(1), InBytes::new(bits)) };
        Vectors { base, high, low, shift, order, in_bytes }
    }
}

impl<V: Vector, const BACK: bool, const BITS: usize, const SHIFTED: bool> Source<V>
    for Vectors<V, BACK, BITS, SHIFTED>
{
    /// Any offset is allowed.
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        let start = start::<BACK>(self.base, offset, V::BYTES);
        // SAFETY: kernel contract 1 and 3: each byte loaded holds one of the elements.
        unsafe {
            let vector = match SHIFTED {
                true => {
                    let high = V::load(start.add(self.high));
                    funnel(high, V::load(start.add(self.low)), self.shift)
                }
                false => V::load(start),
            };
            match BACK {
                true => self.in_bytes.reversed::<BITS>(vector.reversed(self.order)),
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
            let lead = to_line(dst);
            while offset < lead {
                source.at(offset).store(dst.add(offset));
                offset += V::BYTES;
            }
            offset = lead;
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
