//! Short lanes that are contiguous in the output: several to a vector, or a few vectors each.
//!
//! The shortest are written by ordinary stores, even beyond the caches. Longer ones beyond the caches, and
//! all whose input and output are the same memory, are first assembled in a buffer in the L1 cache, and
//! written from there.

use super::l1_buffer::{self, L1Buffer};
use super::runs::{copy_run, partly_reverse_run, prefetch_ahead};
use super::stream::{CopyKernel, LINE, Stream, To};
use crate::cpu::simd::{LaneMap, PartialVector, Simd, Vector, WIDEST, by_width, divides_registers};
use std::mem::MaybeUninit;
use std::ptr::null;

/// Lanes up to this many bytes are short.
const MOST_BYTES: usize = 512;

/// Longer lanes are left to the hardware prefetchers.
const PREFETCHED: usize = 128;

/// Lanes of more bytes are put together in a buffer for non-temporal stores: for shorter ones, and with
/// registers of 32 bytes and less for those that are not whole lines, that takes longer than those stores
/// save.
const STREAMED: usize = 64;

/// The most lanes that are put together at a time.
const MOST_LANES: usize = 2048;

/// Whether lanes of `len` units are for this kernel: a few hundred bytes each, `dst_step` apart
/// in the output without a gap, in units of a power of two.
pub(in crate::cpu) fn are_short(len: usize, unit: usize, dst_step: isize) -> bool {
    let bytes = len * unit;
    let known = divides_registers(unit);
    known && (1..=MOST_BYTES).contains(&bytes) && dst_step == bytes as isize
}

/// Lanes that [are short](are_short).
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct ShortLanes<'a> {
    /// The first unit of the first lane in the input.
    pub(in crate::cpu) src: *const u8,
    /// The same in the output, where lanes follow each other without a gap.
    pub(in crate::cpu) dst: *mut u8,
    /// How many units of each lane are reversed, at most `len`.
    pub(in crate::cpu) prefix_lens: &'a [usize],
    /// From lane to lane in the input.
    pub(in crate::cpu) src_step: isize,
    /// Units in a lane.
    pub(in crate::cpu) len: usize,
    /// Bytes in a unit: 1, 2, 4, 8 or 16.
    pub(in crate::cpu) unit: usize,
    /// Whether input and output are the same memory.
    pub(in crate::cpu) in_place: bool,
    /// Whether to use non-temporal stores, from [`STREAMED`] bytes on.
    pub(in crate::cpu) stream: bool,
}

/// Runs all lanes.
///
/// # Safety
/// Kernel contract 1 to 4, for lanes that [are short](are_short).
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(lanes: &ShortLanes<'_>, copy: CopyKernel) {
    let mut stream = Stream::new(copy);
    let to = &mut stream;
    // SAFETY: kernel contract 1 to 4, passed on with the width of the unit.
    unsafe {
        by_width!(lanes.unit, W => of_width::<V, W>(lanes, to));
        stream.flush();
    }
}

/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn of_width<V: Simd, const W: usize>(lanes: &ShortLanes<'_>, stream: &mut Stream) {
    let bytes = lanes.len * W;
    let whole_lines = bytes.is_multiple_of(LINE) || V::BYTES == WIDEST || lanes.in_place;
    let streams = lanes.stream && bytes > STREAMED && whole_lines;
    let through = streams || lanes.in_place;
    debug_assert!(are_short(lanes.len, lanes.unit, bytes as isize));
    let fit = 2 * bytes <= V::Lanes::BYTES && lanes.src_step == bytes as isize;
    let map = (V::Lanes::packs(W) && fit).then(|| LaneMap::new(V::Lanes::BYTES, W, lanes.len));
    let mut buffer = L1Buffer::new();
    let buffer = buffer.as_mut_ptr();
    // Whole vectors of lanes, so that few are left over.
    let together = (V::BYTES / bytes).max(1);
    let most = (l1_buffer::BYTES / bytes).min(MOST_LANES) / together * together;
    let mut first = 0;
    while first < lanes.prefix_lens.len() {
        let count = most.min(lanes.prefix_lens.len() - first);
        // SAFETY: kernel contract 1 to 4; the buffer has room for `count` lanes.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * first as isize);
            let dst = lanes.dst.add(first * bytes);
            let prefix_lens = &lanes.prefix_lens[first..first + count];
            let group = Group { src, src_step: lanes.src_step, prefix_lens, len: lanes.len };
            group.write::<V, W>(if through { buffer } else { dst }, map.as_ref());
            if through {
                // Reading the next lanes meanwhile: otherwise memory would be read and written in turns.
                let more = lanes.src_step == bytes as isize;
                let next = if more { src.wrapping_add(count * bytes) } else { null() };
                let to = To { next, ..To::new(stream, streams) };
                copy_run(buffer, dst, count * bytes, to);
            }
        }
        first += count;
    }
}

/// Lanes that are written one behind the other.
struct Group<'a> {
    src: *const u8,
    src_step: isize,
    prefix_lens: &'a [usize],
    len: usize,
}

impl Group<'_> {
    /// # Safety
    /// As for [`run`]; `dst` is valid for writes of all lanes.
    #[inline(always)]
    unsafe fn write<V: Simd, const W: usize>(&self, dst: *mut u8, map: Option<&LaneMap>) {
        let bytes = self.len * W;
        // SAFETY: kernel contract 1 to 4.
        unsafe {
            let done = match map {
                Some(map) => self.packed::<V::Lanes, W>(dst, map),
                None => 0,
            };
            match bytes.div_ceil(V::BYTES) {
                1 if bytes < V::BYTES => self.each::<V, W, { usize::MAX }>(done, dst),
                1 => self.each::<V, W, 1>(done, dst),
                2 => self.each::<V, W, 2>(done, dst),
                4 => self.each::<V, W, 4>(done, dst),
                8 => self.each::<V, W, 8>(done, dst),
                _ => self.each::<V, W, 0>(done, dst),
            }
        }
    }

    /// One lane after the other, from `first` on. Lanes take `VECTORS` vectors, 0 if the compiler does
    /// not know how many, `usize::MAX` if they are shorter than one.
    ///
    /// # Safety
    /// As for [`write`](Self::write).
    #[inline(always)]
    unsafe fn each<V: Simd, const W: usize, const VECTORS: usize>(
        &self,
        first: usize,
        dst: *mut u8,
    ) {
        let bytes = self.len * W;
        for (lane, &prefix_len) in self.prefix_lens.iter().enumerate().skip(first) {
            // SAFETY: kernel contract 1 to 4.
            unsafe {
                let src = self.src.offset(self.src_step * lane as isize);
                let dst = dst.add(lane * bytes);
                // Once for a line.
                if bytes <= PREFETCHED && dst.addr() % LINE < bytes {
                    prefetch_ahead::<V>(src, dst);
                }
                if VECTORS == usize::MAX {
                    V::lane_short::<W>(src, dst, prefix_len, self.len);
                } else {
                    partly_reverse_run::<V, W, VECTORS>(src, dst, prefix_len * W, bytes);
                }
            }
        }
    }

    /// As many lanes at a time as fit a vector; says how many lanes that was.
    ///
    /// # Safety
    /// As for [`write`](Self::write); the lanes follow each other in the input too.
    #[inline(always)]
    unsafe fn packed<V: PartialVector, const W: usize>(
        &self,
        dst: *mut u8,
        map: &LaneMap,
    ) -> usize {
        let bytes = self.len * W;
        let together = V::BYTES / bytes;
        // Lanes are no longer than a vector, so a byte holds a length.
        let mut prefix_lens = MaybeUninit::<[u8; MOST_LANES + WIDEST]>::uninit();
        let narrow = prefix_lens.as_mut_ptr().cast::<u8>();
        let mut lane = 0;
        // SAFETY: kernel contract 1 to 4. Vectors are loaded and stored only where that many
        // bytes of lanes are left; what is stored too much, the next one covers. At most
        // `MOST_LANES` lengths are written, and a vector of them is read from any of those.
        unsafe {
            narrow.write_bytes(0, MOST_LANES + WIDEST);
            for (index, &prefix_len) in self.prefix_lens.iter().enumerate() {
                narrow.add(index).write(prefix_len as u8);
            }
            while (lane * bytes) + V::BYTES <= self.prefix_lens.len() * bytes {
                let at = lane * bytes;
                prefetch_ahead::<V>(self.src.add(at), dst.add(at));
                let vector = V::packed_lanes::<W>(self.src.add(at), narrow.add(lane), map);
                vector.store(dst.add(at));
                lane += together;
            }
        }
        lane
    }
}
