//! Lanes: rows of which only the first so many units are reversed.

use super::rows::{copy_any, copy_run, reverse_odd_run, reverse_run};
use super::vector::Vector;

/// Lanes that all lie alike, each with a length of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes<'a> {
    /// The first unit of the first lane in the input.
    pub(super) src: *const u8,
    /// The same in the output.
    pub(super) dst: *mut u8,
    /// How many units of each lane are reversed, at most `len`.
    pub(super) heads: &'a [usize],
    /// From lane to lane in the input.
    pub(super) src_step: isize,
    /// From lane to lane in the output.
    pub(super) dst_step: isize,
    /// Units in a lane.
    pub(super) len: usize,
    /// Bytes in a unit.
    pub(super) unit: usize,
    /// Whether to store past the caches.
    pub(super) stream: bool,
}

/// Runs all lanes.
///
/// # Safety
/// Every lane lies inside memory valid for reads and writes, input and output do not overlap,
/// and the processor has `V`'s instructions.
#[inline(always)]
pub(super) unsafe fn run<V: Vector>(lanes: &Lanes<'_>) {
    // SAFETY: the caller's promises.
    unsafe {
        match lanes.unit {
            1 => of_width::<V, 1>(lanes),
            2 => of_width::<V, 2>(lanes),
            4 => of_width::<V, 4>(lanes),
            8 => of_width::<V, 8>(lanes),
            16 => of_width::<V, 16>(lanes),
            3 => of_odd_width::<V, 3>(lanes),
            6 => of_odd_width::<V, 6>(lanes),
            12 => of_odd_width::<V, 12>(lanes),
            _ => of_any_width::<V>(lanes),
        }
        if lanes.stream {
            V::fence();
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn of_width<V: Vector, const W: usize>(lanes: &Lanes<'_>) {
    let bytes = lanes.len * W;
    let short = bytes <= V::BYTES;
    for (index, &head) in lanes.heads.iter().enumerate() {
        // SAFETY: the caller's promises, with `head <= len`.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * index as isize);
            let dst = lanes.dst.offset(lanes.dst_step * index as isize);
            if short {
                V::lane_short::<W>(src, dst, head, lanes.len);
                continue;
            }
            let head = head * W;
            reverse_run::<V, W>(src.add(head), dst, head, lanes.stream);
            copy_run::<V>(src.add(head), dst.add(head), bytes - head, lanes.stream);
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W` of 3, 6 or 12.
#[inline(always)]
unsafe fn of_odd_width<V: Vector, const W: usize>(lanes: &Lanes<'_>) {
    for (index, &head) in lanes.heads.iter().enumerate() {
        // SAFETY: the caller's promises, with `head <= len`.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * index as isize);
            let dst = lanes.dst.offset(lanes.dst_step * index as isize);
            let head = head * W;
            reverse_odd_run::<V::Odd, W>(src.add(head), dst, head);
            let rest = lanes.len * W - head;
            copy_run::<V>(src.add(head), dst.add(head), rest, lanes.stream);
        }
    }
}

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn of_any_width<V: Vector>(lanes: &Lanes<'_>) {
    let unit = lanes.unit;
    for (index, &head) in lanes.heads.iter().enumerate() {
        // SAFETY: the caller's promises.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * index as isize);
            let dst = lanes.dst.offset(lanes.dst_step * index as isize);
            for at in 0..head {
                let from = src.add((head - 1 - at) * unit);
                copy_any::<V>(from, dst.add(at * unit), unit, lanes.stream);
            }
            let rest = (lanes.len - head) * unit;
            copy_run::<V>(src.add(head * unit), dst.add(head * unit), rest, lanes.stream);
        }
    }
}
