//! Lines of packed elements of which neighbours exchange elements: the part of a transpose that
//! happens inside bytes.
//!
//! As many lines as a byte has elements become as many others: the first of them has the first element
//! of each byte of all of them, in the lines' order, and so on. What is left are transposes of bytes.

use crate::cpu::simd::{WIDEST, prefetch, words};

/// Groups of lines.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct BitLines {
    /// The input's first byte.
    pub(in crate::cpu) src: *const u8,
    /// Which of its elements is the first one of the first line.
    pub(in crate::cpu) first: usize,
    /// Elements from line to line.
    pub(in crate::cpu) step: isize,
    /// Elements in a line.
    pub(in crate::cpu) len: usize,
    /// Lines. The last group is filled up with zeros.
    pub(in crate::cpu) lines: usize,
    /// Elements in a byte, and lines in a group: 2, 4 or 8.
    pub(in crate::cpu) elements: usize,
    /// Where the first line of the first group goes.
    pub(in crate::cpu) dst: *mut u8,
    /// Bytes from there to the first line of the next group.
    pub(in crate::cpu) pitch: usize,
    /// Bytes from there to the second line of the first group.
    pub(in crate::cpu) apart: usize,
}

/// Bytes that [`run`] writes for lines of `len` elements: to the end of a block.
pub(in crate::cpu) fn written(len: usize, elements: usize) -> usize {
    len.div_ceil(elements).next_multiple_of(BLOCK)
}

/// Bytes of each line that are taken at a time.
const BLOCK: usize = WIDEST;

/// Groups to prefetch ahead.
const AHEAD: isize = 4;

/// A block of a line.
type Block = [u64; BLOCK / 8];

/// Runs all groups.
///
/// # Safety
/// Kernel contract 1, for lines that fill [`written`] bytes of the output.
#[inline(always)]
pub(in crate::cpu) unsafe fn run(job: &BitLines) {
    // SAFETY: kernel contract 1.
    unsafe {
        match job.elements {
            2 => groups::<2>(job),
            4 => groups::<4>(job),
            _ => groups::<8>(job),
        }
    }
}

/// # Safety
/// As for [`run`], with `elements == E`.
#[inline(always)]
unsafe fn groups<const E: usize>(job: &BitLines) {
    for group in 0..job.lines.div_ceil(E) {
        let mut at = 0;
        while at < job.len {
            let mut lines = [[0; BLOCK / 8]; E];
            for line in 0..E.min(job.lines - group * E) {
                let step = job.step * (group * E + line) as isize;
                let first = job.first.wrapping_add_signed(step) + at;
                // Each line may be in another page, which hardware prefetchers do not cross.
                let ahead = first.wrapping_add_signed(job.step.wrapping_mul(AHEAD * E as isize));
                prefetch(job.src.wrapping_add(ahead / E));
                // SAFETY: kernel contract 1: these elements of the line exist.
                lines[slot::<E>(line)] = unsafe { load::<E>(job.src, first, job.len - at) };
            }
            exchange::<E>(&mut lines);
            for line in 0..E {
                let to = job.dst.wrapping_add(group * job.pitch + line * job.apart + at / E);
                // SAFETY: kernel contract 1: a whole block fits.
                unsafe { to.cast::<Block>().write_unaligned(lines[slot::<E>(line)]) };
            }
            at += BLOCK * E;
        }
    }
}

/// Where a line is among the others. Elements that start at the high end of a byte are counted from
/// there, and so are their lines.
#[inline(always)]
const fn slot<const E: usize>(line: usize) -> usize {
    if words::high_first_of(E) { E - 1 - line } else { line }
}

/// Transposes the squares that the bytes at the same place of all lines make.
#[inline(always)]
fn exchange<const E: usize>(lines: &mut [Block; E]) {
    let mut apart = E / 2;
    while apart > 0 {
        let shift = apart * (8 / E);
        // The bits of elements whose partner is further up.
        let low = 0x0101_0101_0101_0101 * (0xFF / (1 << shift | 1));
        for line in 0..E {
            if line & apart != 0 {
                continue;
            }
            let (above, below) = lines.split_at_mut(line + apart);
            for (a, b) in above[line].iter_mut().zip(&mut below[0]) {
                let other = (*a >> shift ^ *b) & low;
                *b ^= other;
                *a ^= other << shift;
            }
        }
        apart /= 2;
    }
}

/// A block of elements from the element `first` on, of which there are `left`.
///
/// # Safety
/// These elements are inside memory valid for reads.
#[inline(always)]
unsafe fn load<const E: usize>(src: *const u8, first: usize, left: usize) -> Block {
    let phase = first % E;
    let mut last = [0; BLOCK + 8];
    // SAFETY: each of these bytes has an element of the line; no others are read.
    unsafe {
        let mut start = src.add(first / E);
        let bytes = (phase + left).div_ceil(E);
        if bytes <= BLOCK {
            start.copy_to_nonoverlapping(last.as_mut_ptr(), bytes);
            start = last.as_ptr();
        }
        let mut block = start.cast::<Block>().read_unaligned();
        if phase > 0 {
            let next = start.add(1).cast::<Block>().read_unaligned();
            for (word, next) in block.iter_mut().zip(next) {
                *word = words::funnel(*word, next, phase * (8 / E), words::high_first_of(E));
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanging_transposes_the_square_of_each_byte() {
        fn check<const E: usize>() {
            let seed = |line: usize, word: usize| {
                (line as u64 * 8 + word as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            };
            let mut lines = [[0; BLOCK / 8]; E];
            for (index, line) in lines.iter_mut().enumerate() {
                for (word, value) in line.iter_mut().enumerate() {
                    *value = seed(index, word);
                }
            }
            let before = lines;
            exchange::<E>(&mut lines);
            let element = |lines: &[Block; E], line: usize, byte: usize, at: usize| {
                let bits = 8 / E;
                lines[line][byte / 8].to_le_bytes()[byte % 8] >> (at * bits) & (0xFF >> (8 - bits))
            };
            for line in 0..E {
                for byte in 0..BLOCK {
                    for at in 0..E {
                        let (now, then) =
                            (element(&lines, line, byte, at), element(&before, at, byte, line));
                        assert_eq!(now, then, "{E}: line {line}, byte {byte}, element {at}");
                    }
                }
            }
        }
        check::<2>();
        check::<4>();
        check::<8>();
    }
}
