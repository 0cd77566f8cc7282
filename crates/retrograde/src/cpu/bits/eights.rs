//! What belongs in whole bytes of the output: eight bits of the input each, from anywhere.

use crate::cpu::rows;
use crate::cpu::stream::{self, Stream, To, to_line};
use crate::cpu::vector::{Source, Vector};
use crate::cpu::words;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Packed elements, eight bits at a time, in their own order or (`BACK`) reversed.
#[derive(Clone, Copy)]
pub(super) struct Eights<const BITS: usize, const BACK: bool> {
    /// The byte with the first element; the byte that ends behind it, if `BACK`.
    base: *const u8,
    /// How many bits the elements start, or end, further on: less than 8. If there are any, a
    /// byte behind the whole ones exists.
    shift: usize,
}

impl<const BITS: usize, const BACK: bool> Eights<BITS, BACK> {
    /// From element `at` on; or from the one in front of `at` backward.
    #[inline(always)]
    pub(super) fn new(src: *const u8, at: usize) -> Self {
        let (byte, shift) = words::place::<BITS>(at);
        Eights { base: src.wrapping_add(byte), shift }
    }

    /// `bytes` bytes of output, 1 to 8, the first one lowest.
    ///
    /// # Safety
    /// The elements of these bytes lie in memory valid for reads.
    #[inline(always)]
    pub(super) unsafe fn few(&self, offset: usize, bytes: usize) -> u64 {
        let start = start::<BACK>(self.base, offset, bytes);
        // SAFETY: the caller's promise: each byte loaded holds one of the elements.
        unsafe {
            let mut word = words::load_few(start, bytes);
            if self.shift > 0 {
                let next = words::load_few(start.add(1), bytes);
                word = words::funnel(word, next, self.shift, words::high_first::<BITS>());
            }
            if BACK {
                word = words::turn::<BITS>(word.swap_bytes() >> (64 - 8 * bytes));
            }
            word
        }
    }

    /// The job to write `bytes` bytes of output: `stream` is what to store through, past the
    /// caches, and `next` what to fetch meanwhile, both possibly null.
    #[inline(always)]
    pub(super) fn fill(
        &self,
        dst: *mut u8,
        bytes: usize,
        stream: *mut Stream,
        next: *const u8,
    ) -> BitFill {
        let Eights { base, shift } = *self;
        BitFill { base, shift, bits: BITS, backward: BACK, dst, bytes, stream, next }
    }
}

/// Where `bytes` bytes of output at `offset` come from.
#[inline(always)]
fn start<const BACK: bool>(base: *const u8, offset: usize, bytes: usize) -> *const u8 {
    if BACK { base.wrapping_sub(offset + bytes) } else { base.wrapping_add(offset) }
}

/// [`Eights`] on their way to whole bytes of the output.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct BitFill {
    base: *const u8,
    shift: usize,
    /// Bits in an element: 1, 2 or 4.
    bits: usize,
    backward: bool,
    dst: *mut u8,
    bytes: usize,
    stream: *mut Stream,
    next: *const u8,
}

/// Writes the bytes.
///
/// # Safety
/// The elements lie in memory valid for reads, `dst` is valid for writes of `bytes`, which are
/// 64 at least or simply bytes to copy; `stream` is null or nobody else's; and the processor
/// has `V`'s instructions.
#[inline(always)]
pub(in crate::cpu) unsafe fn fill<V: Vector>(job: &BitFill) {
    let BitFill { base, shift, .. } = *job;
    // SAFETY: the caller's promises.
    unsafe {
        match (job.backward, shift > 0, job.bits) {
            (false, false, _) => rows::copy_run::<V>(base, job.dst, job.bytes, to(job)),
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
/// As for [`fill`].
#[inline(always)]
unsafe fn to<'a>(job: &BitFill) -> Option<To<'a>> {
    // SAFETY: the caller's promise.
    unsafe { job.stream.as_mut() }.map(|stream| To { stream, next: job.next })
}

/// [`Eights`] by vectors.
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

impl<V: Vector, const BITS: usize, const BACK: bool, const SHIFTED: bool> Source<V>
    for Vectors<V, BITS, BACK, SHIFTED>
{
    /// Any offset will do.
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        let start = start::<BACK>(self.base, offset, V::BYTES);
        // SAFETY: the caller's promise: each byte loaded holds one of the elements.
        unsafe {
            let mut vector = V::load(start);
            if SHIFTED {
                let next = V::load(start.add(1));
                vector = vector.funnel(next, self.shift, words::high_first::<BITS>());
            }
            if BACK { vector.reversed::<1>().turned::<BITS>() } else { vector }
        }
    }
}

/// # Safety
/// As for [`fill`], with at least 64 bytes, for which the source is valid.
#[inline(always)]
unsafe fn write<V: Vector, S: Source<V>>(source: S, job: &BitFill) {
    let BitFill { dst, bytes, .. } = *job;
    // SAFETY: the caller's promises.
    unsafe {
        match to(job) {
            Some(to) if bytes >= stream::LEAST => to.run::<V, S>(source, dst, bytes),
            Some(to) => {
                let mut ready = MaybeUninit::<[u8; stream::LEAST]>::uninit();
                let ready = ready.as_mut_ptr().cast::<u8>();
                plain::<V, S, 1>(source, ready, bytes);
                to.stream.bytes::<V>(ready, dst, bytes);
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
