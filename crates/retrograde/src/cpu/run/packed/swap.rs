//! Swaps of runs of packed elements, in place.

use super::runs::{Run, copy_run};
use super::sink::Sink;
use crate::cpu::dispatch::Isa;
use crate::cpu::kernels::packed_swaps::PackedSwaps;
use crate::cpu::kernels::swaps;
use crate::cpu::nest::{Loop, walk};
use crate::cpu::simd::words;
use std::convert::Infallible;
use std::mem::MaybeUninit;

/// What every swap of a call in place shares.
#[derive(Clone, Copy)]
pub(in crate::cpu::run) struct PackedCall {
    pub(in crate::cpu::run) memory: *mut u8,
    pub(in crate::cpu::run) bits: usize,
    pub(in crate::cpu::run) isa: Isa,
}

// SAFETY: threads write separate bytes, and read no others' while they do.
unsafe impl Send for PackedCall {}
// SAFETY: as above.
unsafe impl Sync for PackedCall {}

/// Swaps elements along nested loops: the innermost is a run, the next one many runs.
///
/// # Safety
/// Every combination of steps from `start` stays inside the memory on both sides, no element
/// of one side meets one of the other, and no other thread uses their bytes.
pub(in crate::cpu::run) unsafe fn swap_loops(
    call: &PackedCall,
    loops: &[Loop<2>],
    start: [isize; 2],
) {
    let one = Loop { len: 1, steps: [0, 0] };
    let Some((row, rest)) = loops.split_last() else { return };
    let contiguous = row.len == 1 || matches!(row.steps, [1, 1] | [1, -1] | [-1, 1]);
    // Elements that are not contiguous are runs of one.
    let (row, rows, outer) = if contiguous {
        let (rows, outer) = rest.split_last().map_or((one, &[][..]), |(l, rest)| (*l, rest));
        (*row, rows, outer)
    } else {
        (one, *row, rest)
    };
    if row.len == 0 || rows.len == 0 {
        return;
    }
    // A side that walks downward is the second one.
    let exchanged = row.steps[0] < 0 && row.len > 1;
    let in_order = |[a, b]: [isize; 2]| if exchanged { [b, a] } else { [a, b] };
    let Ok(()) = walk(outer, start, |at| {
        let [front, back] = in_order(at);
        // SAFETY: runs are combinations of steps, for which this function's contract holds.
        unsafe {
            swap_runs(&BitSwaps {
                memory: call.memory,
                bits: call.bits,
                front,
                back,
                len: row.len,
                mirrored: row.len == 1 || row.steps != [1, 1],
                count: rows.len,
                steps: in_order(rows.steps),
                isa: call.isa,
            });
        }
        Ok::<(), Infallible>(())
    });
}

/// Writes zeros along nested loops, whose second steps count.
///
/// # Safety
/// As for [`swap_loops`], for that side.
pub(in crate::cpu::run) unsafe fn zero_loops(call: &PackedCall, loops: &[Loop<2>], start: isize) {
    let Ok(()) = walk(loops, [0, start], |[_, at]| {
        // SAFETY: combinations of steps, which are inside the memory, and initialised in place.
        unsafe {
            match call.bits {
                4 => words::store::<4>(0, call.memory, at as usize, 1),
                2 => words::store::<2>(0, call.memory, at as usize, 1),
                _ => words::store::<1>(0, call.memory, at as usize, 1),
            }
        }
        Ok::<(), Infallible>(())
    });
}

/// Clears the bits after the last element.
///
/// # Safety
/// Element `end - 1` is inside `memory`.
pub(in crate::cpu::run) unsafe fn seal(bits: usize, memory: *mut u8, end: usize) {
    let used = end % (8 / bits) * bits;
    if used == 0 {
        return;
    }
    let unused = if bits == 1 { 0xFF >> used } else { 0xFF << used };
    // SAFETY: the byte holds element `end - 1`, which is inside the memory, as required.
    unsafe {
        let byte = memory.add(end / (8 / bits));
        byte.write(byte.read() & !unused);
    }
}

/// Pairs of runs of equal shape and spacing. Distances are in elements.
#[derive(Debug, Clone, Copy)]
struct BitSwaps {
    memory: *mut u8,
    /// Bits in an element: 1, 2 or 4.
    bits: usize,
    /// The first element of each side.
    front: isize,
    back: isize,
    /// How many elements are swapped on each side.
    len: usize,
    /// Whether the second side walks from high addresses to low ones.
    mirrored: bool,
    /// How many pairs of runs.
    count: usize,
    /// From pair to pair, on both sides.
    steps: [isize; 2],
    isa: Isa,
}

/// Runs all pairs.
///
/// # Safety
/// All runs are inside memory that is valid for reads and writes, initialised, and exclusively
/// this call's; the two runs of a pair do not overlap.
unsafe fn swap_runs(job: &BitSwaps) {
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
            mirrored: job.mirrored,
            isa: job.isa,
        };
        // SAFETY: the contract of [`swap_runs`].
        unsafe {
            match (job.len <= words::MOST / BITS, job.mirrored) {
                (true, _) => pair.few(job.len),
                (false, true) => pair.whole_mirrored(),
                (false, false) => pair.whole_alike(),
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
    mirrored: bool,
    isa: Isa,
}

impl<const BITS: usize> Pair<BITS> {
    /// The lowest of the next `count` elements of the second side.
    #[inline(always)]
    fn back_lowest(&self, count: usize) -> usize {
        if self.mirrored { self.back - count } else { self.back }
    }

    /// `count` elements are done.
    #[inline(always)]
    fn pass(&mut self, count: usize) {
        self.front += count;
        self.back = if self.mirrored { self.back - count } else { self.back + count };
        self.left -= count;
    }

    /// Swaps the next elements, at most [`words::MOST`] bits.
    ///
    /// # Safety
    /// As for [`swap_runs`], with `1 <= count <= left`.
    #[inline(always)]
    unsafe fn few(&mut self, count: usize) {
        let lowest = self.back_lowest(count);
        // SAFETY: the contract of [`swap_runs`]. The second store reads what it keeps after the first:
        // the two may share a byte.
        unsafe {
            let mut front = words::load::<BITS>(self.memory, self.front, count);
            let mut back = words::load::<BITS>(self.memory, lowest, count);
            if self.mirrored {
                front = words::reverse::<BITS>(front, count);
                back = words::reverse::<BITS>(back, count);
            }
            words::store::<BITS>(back, self.memory, self.front, count);
            words::store::<BITS>(front, self.memory, lowest, count);
        }
        self.pass(count);
    }

    /// Swaps all that is left, a word at a time.
    ///
    /// # Safety
    /// As for [`swap_runs`].
    #[inline(always)]
    unsafe fn rest(&mut self) {
        while self.left > 0 {
            // SAFETY: the contract of [`swap_runs`].
            unsafe { self.few(self.left.min(words::MOST / BITS)) };
        }
    }

    /// Goes on until the first side is at a byte.
    ///
    /// # Safety
    /// As for [`swap_runs`], with at least a byte left.
    #[inline(always)]
    unsafe fn align(&mut self) {
        let past = self.front % words::per_byte::<BITS>();
        if past > 0 {
            // SAFETY: the contract of [`swap_runs`].
            unsafe { self.few(words::per_byte::<BITS>() - past) };
        }
    }

    /// # Safety
    /// As for [`swap_runs`], with at least a byte left.
    unsafe fn whole_mirrored(&mut self) {
        // SAFETY: the contract of [`swap_runs`]; a vector, or word, is only moved where as much is left
        // on both sides, which do not overlap.
        unsafe {
            self.align();
            if !self.back.is_multiple_of(words::per_byte::<BITS>()) {
                self.by_blocks();
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
            self.pass(done * words::per_byte::<BITS>());
            self.rest();
        }
    }

    /// # Safety
    /// As for [`swap_runs`], with at least a byte left.
    unsafe fn whole_alike(&mut self) {
        // SAFETY: the contract of [`swap_runs`]; whole bytes belong to one side each.
        unsafe {
            self.align();
            if !self.back.is_multiple_of(words::per_byte::<BITS>()) {
                self.by_blocks();
                return;
            }
            let bytes = self.left / words::per_byte::<BITS>();
            let front = self.memory.add(words::place::<BITS>(self.front).0);
            let back = self.memory.add(words::place::<BITS>(self.back).0);
            swaps::swap_runs(front, back, bytes);
            self.pass(bytes * words::per_byte::<BITS>());
            self.rest();
        }
    }

    /// Runs that start at different places in a byte: a block is put aside, shifted to where it
    /// goes, while the other side takes its place.
    ///
    /// # Safety
    /// As for [`swap_runs`].
    unsafe fn by_blocks(&mut self) {
        let mut aside = MaybeUninit::<[u8; BLOCK + 1]>::uninit();
        let aside = aside.as_mut_ptr().cast::<u8>();
        while self.left > LEAST_BLOCK * words::per_byte::<BITS>() {
            let len = self.left.min(BLOCK * words::per_byte::<BITS>());
            let (front, lowest) = (self.front, self.back_lowest(len));
            let memory = self.memory;
            // The block starts as far into a byte as its place does; one byte more holds it.
            let phase = lowest % words::per_byte::<BITS>();
            let (last, src) = if self.mirrored { (len - 1, -1) } else { (0, 1) };
            let mirrored = |from: usize, to: usize| Run {
                from: (from + last) as isize,
                src,
                to: to as isize,
                dst: 1,
                len,
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
            self.pass(len);
        }
        // SAFETY: the contract of [`swap_runs`].
        unsafe { self.rest() };
    }
}

/// Bytes of one side that are put aside.
const BLOCK: usize = 2048;
/// Fewer bytes are moved in words.
const LEAST_BLOCK: usize = 28;

/// Vectors move multiples of this: none is wider.
const WIDE: usize = 64;
