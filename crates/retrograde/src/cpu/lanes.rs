//! Lanes: rows of which only the first so many units are reversed.

use super::rows::{FETCHED, copy_any, copy_run, reverse_odd_run, reverse_run, runs_ahead};
use super::stream::{self, Stream, To, to_line};
use super::vector::{Source, Vector};
use std::mem::MaybeUninit;
use std::ptr::null;

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

impl Lanes<'_> {
    /// Where a run goes if it is streamed.
    #[inline(always)]
    fn to<'a>(&self, stream: &'a mut Stream, next: *const u8) -> Option<To<'a>> {
        self.stream.then_some(To { stream, next })
    }
}

/// Runs all lanes.
///
/// # Safety
/// Every lane lies inside memory valid for reads and writes, input and output do not overlap,
/// and the processor has `V`'s instructions.
#[inline(always)]
pub(super) unsafe fn run<V: Vector>(lanes: &Lanes<'_>) {
    let mut stream = Stream::new();
    let to = &mut stream;
    // SAFETY: the caller's promises.
    unsafe {
        match lanes.unit {
            1 => of_width::<V, 1>(lanes, to),
            2 => of_width::<V, 2>(lanes, to),
            4 => of_width::<V, 4>(lanes, to),
            8 => of_width::<V, 8>(lanes, to),
            16 => of_width::<V, 16>(lanes, to),
            3 => of_odd_width::<V, 3>(lanes, to),
            6 => of_odd_width::<V, 6>(lanes, to),
            12 => of_odd_width::<V, 12>(lanes, to),
            _ => of_any_width::<V>(lanes, to),
        }
        stream.flush();
    }
}

/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn of_width<V: Vector, const W: usize>(lanes: &Lanes<'_>, stream: &mut Stream) {
    let bytes = lanes.len * W;
    let short = bytes <= V::BYTES;
    // SAFETY: the caller's promises.
    let done = unsafe { of_packed::<V, W>(lanes, bytes, stream) };
    for (index, &head) in lanes.heads.iter().enumerate().skip(done) {
        // SAFETY: the caller's promises, with `head <= len`.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * index as isize);
            let dst = lanes.dst.offset(lanes.dst_step * index as isize);
            if short && lanes.stream {
                let mut ready = MaybeUninit::<[u8; 64]>::uninit();
                let ready = ready.as_mut_ptr().cast::<u8>();
                V::lane_short::<W>(src, ready, head, lanes.len);
                stream.bytes::<V>(ready, dst, bytes);
                continue;
            }
            if short {
                V::lane_short::<W>(src, dst, head, lanes.len);
                continue;
            }
            let head = head * W;
            let next = match bytes <= FETCHED {
                true => src.wrapping_offset(lanes.src_step * runs_ahead(bytes) as isize),
                false => null(),
            };
            reverse_run::<V, W>(src.add(head), dst, head, lanes.to(stream, next));
            let next = if next.is_null() { next } else { next.wrapping_add(head) };
            copy_run::<V>(src.add(head), dst.add(head), bytes - head, lanes.to(stream, next));
        }
    }
}

/// Short lanes that follow each other without gaps and fill vectors: as many as fill one at a
/// time. Says how many lanes that was.
///
/// # Safety
/// As for [`run`], with `unit == W` and `bytes` in a lane.
#[inline(always)]
unsafe fn of_packed<V: Vector, const W: usize>(
    lanes: &Lanes<'_>,
    bytes: usize,
    stream: &mut Stream,
) -> usize {
    let together = lanes.src_step == bytes as isize && lanes.dst_step == bytes as isize;
    let fit = lanes.len.is_power_of_two() && 2 * bytes <= V::BYTES && lanes.len > 1;
    if !(V::packs(W) && together && fit) {
        return 0;
    }
    let done = lanes.heads.len() * bytes / V::BYTES * (V::BYTES / bytes);
    let total = done * bytes;
    let source = Packed::<W> {
        src: lanes.src,
        heads: lanes.heads.as_ptr(),
        units: lanes.len,
        lane: bytes.trailing_zeros(),
    };
    // SAFETY: `done` whole vectors of lanes. A stream asks for vectors from the next line on,
    // which must be whole lanes.
    unsafe {
        let in_lines = to_line(lanes.dst).is_multiple_of(bytes);
        if lanes.stream && total >= stream::LEAST && in_lines {
            To { stream, next: null() }.run::<V, _>(source, lanes.dst, total);
        } else {
            let mut at = 0;
            while at < total {
                let vector: V = source.at(at);
                vector.store(lanes.dst.add(at));
                at += V::BYTES;
            }
        }
    }
    done
}

/// Short lanes that follow each other.
#[derive(Clone, Copy)]
struct Packed<const W: usize> {
    src: *const u8,
    heads: *const usize,
    units: usize,
    /// How many bits to shift a byte offset to find its lane.
    lane: u32,
}

impl<V: Vector, const W: usize> Source<V> for Packed<W> {
    /// `offset` is a multiple of a lane's bytes.
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        // SAFETY: the caller's promise: the lanes and their heads exist.
        unsafe {
            let heads = self.heads.add(offset >> self.lane);
            V::packed_lanes::<W>(self.src.add(offset), heads, self.units)
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W` of 3, 6 or 12.
#[inline(always)]
unsafe fn of_odd_width<V: Vector, const W: usize>(lanes: &Lanes<'_>, stream: &mut Stream) {
    for (index, &head) in lanes.heads.iter().enumerate() {
        // SAFETY: the caller's promises, with `head <= len`.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * index as isize);
            let dst = lanes.dst.offset(lanes.dst_step * index as isize);
            let head = head * W;
            reverse_odd_run::<V::Odd, W>(src.add(head), dst, head);
            let rest = lanes.len * W - head;
            copy_run::<V>(src.add(head), dst.add(head), rest, lanes.to(stream, null()));
        }
    }
}

/// # Safety
/// As for [`run`].
#[inline(always)]
unsafe fn of_any_width<V: Vector>(lanes: &Lanes<'_>, stream: &mut Stream) {
    let unit = lanes.unit;
    for (index, &head) in lanes.heads.iter().enumerate() {
        // SAFETY: the caller's promises.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * index as isize);
            let dst = lanes.dst.offset(lanes.dst_step * index as isize);
            for at in 0..head {
                let from = src.add((head - 1 - at) * unit);
                copy_any::<V>(from, dst.add(at * unit), unit, lanes.to(stream, null()));
            }
            let rest = (lanes.len - head) * unit;
            copy_run::<V>(
                src.add(head * unit),
                dst.add(head * unit),
                rest,
                lanes.to(stream, null()),
            );
        }
    }
}
