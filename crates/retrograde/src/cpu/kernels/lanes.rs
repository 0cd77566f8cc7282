//! Lanes: rows of which only so many units at one end are reversed.

use super::runs::{PREFETCHED, Reverser, copy_run, partly_reverse_run, runs_ahead, zero_run};
use super::stream::{CopyKernel, Stream, To};
use crate::cpu::simd::{Simd, by_width, divides_registers};
use std::ptr::null;

/// Lanes up to this size are written as a whole if registers can be reversed in part: two loops that
/// end where the length says cost a mispredicted branch each.
const MIXED: usize = 8 << 10;

/// Lanes of equal shape and spacing, each with its own length.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct Lanes<'a> {
    /// The first unit of the first lane in the input.
    pub(in crate::cpu) src: *const u8,
    /// The same in the output.
    pub(in crate::cpu) dst: *mut u8,
    /// How many units of each lane are reversed, at most `len`.
    pub(in crate::cpu) prefix_lens: &'a [usize],
    /// From lane to lane in the input.
    pub(in crate::cpu) src_step: isize,
    /// From lane to lane in the output.
    pub(in crate::cpu) dst_step: isize,
    /// Units in a lane.
    pub(in crate::cpu) len: usize,
    /// Bytes in a unit.
    pub(in crate::cpu) unit: usize,
    /// Whether the last units are reversed instead of the first.
    pub(in crate::cpu) at_end: bool,
    /// Whether the others become zero.
    pub(in crate::cpu) zero: bool,
    /// Whether to use non-temporal stores.
    pub(in crate::cpu) stream: bool,
    /// Whether to prefetch the lanes that follow.
    pub(in crate::cpu) prefetch: bool,
}

impl Lanes<'_> {
    /// How a run is written, and what to prefetch meanwhile.
    #[inline(always)]
    fn to<'a>(&self, stream: &'a mut Stream, next: *const u8) -> To<'a> {
        To { next, ..To::new(stream, self.stream) }
    }

    /// Offsets in a lane of `bytes` bytes of which `prefix_len` are reversed: of those, and of the
    /// rest.
    #[inline(always)]
    fn places(&self, prefix_len: usize, bytes: usize) -> (usize, usize) {
        if self.at_end { (bytes - prefix_len, 0) } else { (0, prefix_len) }
    }

    /// Copies the rest of a lane, or fills it with zeros.
    ///
    /// # Safety
    /// Kernel contract 1 to 3, for these bytes.
    #[inline(always)]
    unsafe fn rest(&self, src: *const u8, dst: *mut u8, bytes: usize, to: To<'_>) {
        // SAFETY: kernel contract 1 to 3.
        unsafe {
            if self.zero {
                zero_run(dst, bytes, to);
            } else {
                copy_run(src, dst, bytes, to);
            }
        }
    }
}

/// Runs all lanes.
///
/// # Safety
/// Kernel contract 1 to 4.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(lanes: &Lanes<'_>, copy: CopyKernel) {
    let mut stream = Stream::new(copy);
    let to = &mut stream;
    // SAFETY: kernel contract 1 to 4.
    unsafe {
        match lanes.unit {
            unit if divides_registers(unit) && is_whole::<V>(lanes) => {
                by_width!(unit, W => whole::<V, W>(lanes));
            }
            unit => {
                let reverser = Reverser::<V>::new(unit);
                // Two loops: in one, the order of bytes does not stay in its register.
                match reverser.divides() {
                    true => prefix_and_rest::<V, true>(lanes, reverser, to),
                    false => prefix_and_rest::<V, false>(lanes, reverser, to),
                }
            }
        }
        stream.flush();
    }
}

/// Whether lanes are written as a whole.
#[inline(always)]
fn is_whole<V: Simd>(lanes: &Lanes<'_>) -> bool {
    let bytes = lanes.len * lanes.unit;
    let mixed = !lanes.stream && V::MIXES && bytes <= MIXED;
    !lanes.at_end && !lanes.zero && (bytes <= V::BYTES || mixed)
}

/// # Safety
/// As for [`run`], with `unit == W`, which divides `V::BYTES`, for lanes that [are whole](is_whole).
#[inline(always)]
unsafe fn whole<V: Simd, const W: usize>(lanes: &Lanes<'_>) {
    let bytes = lanes.len * W;
    for (index, &prefix_len) in lanes.prefix_lens.iter().enumerate() {
        // SAFETY: kernel contract 1 to 4; with `prefix_len <= len`.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * index as isize);
            let dst = lanes.dst.offset(lanes.dst_step * index as isize);
            if bytes <= V::BYTES {
                V::lane_short::<W>(src, dst, prefix_len, lanes.len);
            } else {
                partly_reverse_run::<V, W, 0>(src, dst, prefix_len * W, bytes);
            }
        }
    }
}

/// The reversed units of each lane, and the others, one after the other.
///
/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn prefix_and_rest<V: Simd, const DIVIDES: bool>(
    lanes: &Lanes<'_>,
    reverser: Reverser<V>,
    stream: &mut Stream,
) {
    let (bytes, unit) = (lanes.len * lanes.unit, lanes.unit);
    for (index, &prefix_len) in lanes.prefix_lens.iter().enumerate() {
        // SAFETY: kernel contract 1 to 4; with `prefix_len <= len`.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * index as isize);
            let dst = lanes.dst.offset(lanes.dst_step * index as isize);
            let prefix_len = prefix_len * unit;
            // A division takes as long as a short lane.
            let next = match lanes.prefetch && bytes <= PREFETCHED {
                true => {
                    let further = runs_ahead(bytes, lanes.stream) as isize;
                    src.wrapping_offset(lanes.src_step * further)
                }
                false => null(),
            };
            let (reversed, rest) = lanes.places(prefix_len, bytes);
            let ahead = |place: usize| match next.is_null() {
                true => next,
                false => next.wrapping_add(place),
            };
            // In the order of the output's addresses; one loop, so that each is compiled once.
            for second in [false, true] {
                if second == lanes.at_end {
                    let to = lanes.to(stream, ahead(reversed));
                    let end = src.add(reversed + prefix_len);
                    reverser.run::<DIVIDES>(end, dst.add(reversed), prefix_len, to);
                } else {
                    let to = lanes.to(stream, ahead(rest));
                    lanes.rest(src.add(rest), dst.add(rest), bytes - prefix_len, to);
                }
            }
        }
    }
}
