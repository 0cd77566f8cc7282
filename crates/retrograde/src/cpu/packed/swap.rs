//! Swaps of runs of packed elements, in place.

use super::runs::{Run, copy_run};
use super::sink::Sink;
use crate::cpu::dispatch::Isa;
use crate::cpu::kernels::packed_swaps::PackedSwaps;
use crate::cpu::kernels::swaps;
use crate::cpu::simd::words;
use std::mem::MaybeUninit;

/// Pairs of runs of equal shape and spacing. Distances are in elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitSwaps {
    pub(super) memory: *mut u8,
    /// Bits in an element: 1, 2 or 4.
    pub(super) bits: usize,
    /// The first element of each side.
    pub(super) front: isize,
    pub(super) back: isize,
    /// How many elements are swapped on each side.
    pub(super) len: usize,
    /// Whether the second side walks from high addresses to low ones.
    pub(super) mirrored: bool,
    /// How many pairs of runs.
    pub(super) count: usize,
    /// From pair to pair, on both sides.
    pub(super) steps: [isize; 2],
    pub(super) isa: Isa,
}

/// Runs all pairs.
///
/// # Safety
/// All runs are inside memory that is valid for reads and writes, initialised, and exclusively
/// this call's; the two runs of a pair do not overlap.
pub(super) unsafe fn swap_runs(job: &BitSwaps) {
    // SAFETY: the contract of [`swap_runs`].
    unsafe {
        match job.bits {
            4 => of_width::<4>(job),
            2 => of_width::<2>(job),
            _ => of_width::<1>(job),
        }
    }
}

/// # Safety
/// As for [`swap_runs`].
unsafe fn of_width<const BITS: usize>(job: &BitSwaps) {
    for index in 0..job.count as isize {
        let mut pair = Pair::<BITS> {
            memory: job.memory,
            front: (job.front + job.steps[0] * index) as usize,
            // One past the highest element of a mirrored run.
            back: (job.back + job.steps[1] * index + isize::from(job.mirrored)) as usize,
            left: job.len,
            isa: job.isa,
        };
        // SAFETY: the contract of [`swap_runs`].
        unsafe {
            match (job.len <= words::MOST / BITS, job.mirrored) {
                (true, true) => pair.few::<true>(job.len),
                (true, false) => pair.few::<false>(job.len),
                (false, true) => pair.mirrored(),
                (false, false) => pair.alike(),
            }
        }
    }
}

/// What is left of two runs: one goes on upward at `front`; the other one upward at `back`, or
/// downward in front of it.
struct Pair<const BITS: usize> {
    memory: *mut u8,
    front: usize,
    back: usize,
    left: usize,
    isa: Isa,
}

impl<const BITS: usize> Pair<BITS> {
    /// The lowest of the next `count` elements of the second side.
    #[inline(always)]
    fn back_lowest<const BACK: bool>(&self, count: usize) -> usize {
        if BACK { self.back - count } else { self.back }
    }

    /// `count` elements are done.
    #[inline(always)]
    fn pass<const BACK: bool>(&mut self, count: usize) {
        self.front += count;
        self.back = if BACK { self.back - count } else { self.back + count };
        self.left -= count;
    }

    /// Swaps the next elements, at most [`words::MOST`] bits.
    ///
    /// # Safety
    /// As for [`swap_runs`], with `1 <= count <= left`.
    #[inline(always)]
    unsafe fn few<const BACK: bool>(&mut self, count: usize) {
        let lowest = self.back_lowest::<BACK>(count);
        // SAFETY: the contract of [`swap_runs`]. The second store reads what it keeps after the first:
        // the two may share a byte.
        unsafe {
            let mut front = words::load::<BITS>(self.memory, self.front, count);
            let mut back = words::load::<BITS>(self.memory, lowest, count);
            if BACK {
                front = words::reverse::<BITS>(front, count);
                back = words::reverse::<BITS>(back, count);
            }
            words::store::<BITS>(back, self.memory, self.front, count);
            words::store::<BITS>(front, self.memory, lowest, count);
        }
        self.pass::<BACK>(count);
    }

    /// Swaps all that is left, a word at a time.
    ///
    /// # Safety
    /// As for [`swap_runs`].
    #[inline(always)]
    unsafe fn rest<const BACK: bool>(&mut self) {
        while self.left > 0 {
            // SAFETY: the contract of [`swap_runs`].
            unsafe { self.few::<BACK>(self.left.min(words::MOST / BITS)) };
        }
    }

    /// Goes on until the first side is at a byte.
    ///
    /// # Safety
    /// As for [`swap_runs`], with at least a byte left.
    #[inline(always)]
    unsafe fn align<const BACK: bool>(&mut self) {
        let past = self.front % words::per_byte::<BITS>();
        if past > 0 {
            // SAFETY: the contract of [`swap_runs`].
            unsafe { self.few::<BACK>(words::per_byte::<BITS>() - past) };
        }
    }

    /// # Safety
    /// As for [`swap_runs`], with at least a byte left.
    unsafe fn mirrored(&mut self) {
        // SAFETY: the contract of [`swap_runs`]; a vector, or word, is only moved where as much is left
        // on both sides, which do not overlap.
        unsafe {
            self.align::<true>();
            if !self.back.is_multiple_of(words::per_byte::<BITS>()) {
                self.by_blocks::<true>();
                return;
            }
            let bytes = self.left / words::per_byte::<BITS>();
            let front = self.memory.add(words::place::<BITS>(self.front).0);
            let end = self.memory.add(words::place::<BITS>(self.back).0);
            let mut done = 0;
            if bytes >= WIDE {
                done = bytes / WIDE * WIDE;
                self.isa.packed_swaps(&PackedSwaps { front, end, bytes: done, bits: BITS });
            }
            while done + 8 <= bytes {
                let (front, back) = (front.add(done), end.sub(done + 8));
                let (a, b) = (words::load_few(front, 8), words::load_few(back, 8));
                words::store_few(words::reverse_in_bytes::<BITS>(b.swap_bytes()), front, 8);
                words::store_few(words::reverse_in_bytes::<BITS>(a.swap_bytes()), back, 8);
                done += 8;
            }
            self.pass::<true>(done * words::per_byte::<BITS>());
            self.rest::<true>();
        }
    }

    /// # Safety
    /// As for [`swap_runs`], with at least a byte left.
    unsafe fn alike(&mut self) {
        // SAFETY: the contract of [`swap_runs`]; whole bytes belong to one side each.
        unsafe {
            self.align::<false>();
            if !self.back.is_multiple_of(words::per_byte::<BITS>()) {
                self.by_blocks::<false>();
                return;
            }
            let bytes = self.left / words::per_byte::<BITS>();
            let front = self.memory.add(words::place::<BITS>(self.front).0);
            let back = self.memory.add(words::place::<BITS>(self.back).0);
            swaps::swap_runs(front, back, bytes);
            self.pass::<false>(bytes * words::per_byte::<BITS>());
            self.rest::<false>();
        }
    }

    /// Runs that start at different places in a byte: a block is put aside, shifted to where it
    /// goes, while the other side takes its place.
    ///
    /// # Safety
    /// As for [`swap_runs`].
    unsafe fn by_blocks<const BACK: bool>(&mut self) {
        let mut aside = MaybeUninit::<[u8; BLOCK + 1]>::uninit();
        let aside = aside.as_mut_ptr().cast::<u8>();
        while self.left > LEAST_BLOCK * words::per_byte::<BITS>() {
            let len = self.left.min(BLOCK * words::per_byte::<BITS>());
            let (front, lowest) = (self.front, self.back_lowest::<BACK>(len));
            let memory = self.memory;
            // The block starts as far into a byte as its place does; one byte more holds it.
            let phase = lowest % words::per_byte::<BITS>();
            let mirrored = |from: usize, to: usize| {
                let last = if BACK { len - 1 } else { 0 };
                let src = if BACK { -1 } else { 1 };
                Run { from: (from + last) as isize, src, to: to as isize, dst: 1, len }
            };
            // SAFETY: the contract of [`swap_runs`]; the block aside is written before it is read, and
            // its sink reads nothing.
            unsafe {
                let mut sink = Sink::<BITS>::new(aside, true, None, self.isa);
                copy_run(mirrored(front, phase), memory, &mut sink, 0);
                sink.finish();
                let mut sink = Sink::<BITS>::new(memory, false, None, self.isa);
                copy_run(mirrored(lowest, front), memory, &mut sink, 0);
                sink.finish();
                let mut sink = Sink::<BITS>::new(memory, false, None, self.isa);
                let home = Run { from: phase as isize, src: 1, to: lowest as isize, dst: 1, len };
                copy_run(home, aside, &mut sink, 0);
                sink.finish();
            }
            self.pass::<BACK>(len);
        }
        // SAFETY: the contract of [`swap_runs`].
        unsafe { self.rest::<BACK>() };
    }
}

/// Bytes of one side that are put aside.
const BLOCK: usize = 2048;
/// Fewer bytes are moved in words.
const LEAST_BLOCK: usize = 28;

/// Vectors move multiples of this: none is wider.
const WIDE: usize = 64;
