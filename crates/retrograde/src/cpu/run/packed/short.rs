//! Rows of a few bits that follow each other in the output: a word each, nothing else.

use super::sink::Sink;
use crate::cpu::lengths::LengthReader;
use crate::cpu::simd::words;
use crate::plan::{Dim, Flow};

/// Rows of equal shape and spacing.
pub(super) struct ShortRows<'a> {
    pub(super) row: &'a Dim,
    pub(super) count: usize,
    /// From row to row: input, output, lengths; and nothing.
    pub(super) steps: [isize; 4],
}

/// Lengths read at a time.
const PREFIX_LENS: usize = 64;

impl ShortRows<'_> {
    /// Copies them; the first one starts at these places (input, output, lengths).
    ///
    /// # Safety
    /// The rows are inside memory valid for reads (`src`) and for the sink's writes, and lengths are there
    /// if the row reads any.
    pub(super) unsafe fn copy<const BITS: usize>(
        &self,
        src: *const u8,
        lengths: Option<LengthReader<'_>>,
        at: [isize; 4],
        sink: &mut Sink<'_, BITS>,
    ) {
        let [from, to, length_at, _] = at;
        let len = self.row.len;
        let whole = if self.row.flow == Flow::Flip { len } else { 0 };
        let lengths = lengths.filter(|_| self.row.flow == Flow::FlipPrefix);
        let mut prefix_lens = [whole; PREFIX_LENS];
        let mut done = 0;
        // SAFETY: the contract of [`copy`](Self::copy); these are offsets of lengths of the plan.
        unsafe {
            sink.seek(to as usize);
            while done < self.count {
                let count = PREFIX_LENS.min(self.count - done);
                if let Some(lengths) = lengths {
                    let first = length_at + self.steps[2] * done as isize;
                    lengths.fill(first, self.steps[2], &mut prefix_lens[..count]);
                }
                let from = from + self.steps[0] * done as isize;
                self.group(src, from, &prefix_lens[..count], sink);
                done += count;
            }
        }
    }

    /// One group of rows, of each of which so many first elements are reversed.
    ///
    /// # Safety
    /// As for [`copy`](Self::copy), after `seek`.
    #[inline(always)]
    unsafe fn group<const BITS: usize>(
        &self,
        src: *const u8,
        mut from: isize,
        prefix_lens: &[usize],
        sink: &mut Sink<'_, BITS>,
    ) {
        let (len, step) = (self.row.len, self.steps[0]);
        // Up to this byte of the input, eight can be loaded at once: more rows follow.
        let last = from.max(from + step * (prefix_lens.len() as isize - 1)) as usize;
        let end = words::place::<BITS>(last + len - 1).0 + 1;
        let Some((mut dst, mut pending, mut filled)) = sink.take() else {
            for &prefix_len in prefix_lens {
                // SAFETY: the contract of [`copy`](Self::copy).
                unsafe {
                    sink.push(reversed::<BITS>(src, from as usize, len, prefix_len, end), len)
                };
                from += step;
            }
            return;
        };
        // So many bytes of the output are all these rows', and get their last value in the end.
        let mut left = (filled + prefix_lens.len() * len * BITS) / 8;
        let all = left;
        for &prefix_len in prefix_lens {
            // SAFETY: the contract of [`copy`](Self::copy); no more than `left` bytes are stored.
            unsafe {
                pending |= reversed::<BITS>(src, from as usize, len, prefix_len, end) << filled;
                filled += len * BITS;
                let bytes = filled / 8;
                let word = words::low_first::<BITS>(pending);
                if left >= 8 {
                    words::store_few(word, dst, 8);
                } else if bytes > 0 {
                    words::store_few(word, dst, bytes);
                }
                dst = dst.add(bytes);
                left -= bytes;
                pending >>= bytes * 8;
                filled %= 8;
            }
            from += step;
        }
        sink.put_back(all, pending, filled);
    }
}

/// The row at element `at`, its first `prefix_len` elements reversed, low-first.
///
/// # Safety
/// The row, and all bytes from it to byte `end`, are valid for reads.
#[inline(always)]
unsafe fn reversed<const BITS: usize>(
    src: *const u8,
    at: usize,
    len: usize,
    prefix_len: usize,
    end: usize,
) -> u64 {
    let (byte, phase) = words::place::<BITS>(at);
    // SAFETY: the contract of [`copy`](Self::copy).
    let row = unsafe {
        if byte + 8 <= end {
            let word = words::load_few(src.add(byte), 8);
            words::low_first::<BITS>(word) >> phase & words::low(len * BITS)
        } else {
            words::load::<BITS>(src, at, len)
        }
    };
    // In two shifts, because a prefix of nothing shifts everything out.
    let reversed =
        words::reverse_in_bytes::<BITS>(row.swap_bytes()) >> 1 >> (63 - prefix_len * BITS);
    reversed | row & !words::low(prefix_len * BITS)
}
