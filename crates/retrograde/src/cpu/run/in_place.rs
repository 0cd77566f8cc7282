//! Runs a plan in place, of bytes or of packed elements: every flip is pairs of steps that are
//! swapped. The two kinds differ only in how they swap along nested loops ([`SwapLoops`]).

use super::look_up::{self, LookUps};
use super::packed::{self, PackedCall};
use super::segments_in_place::segments_in_place;
use super::units::{self, Call};
use crate::cpu::dispatch::Isa;
use crate::cpu::kernels;
use crate::cpu::kernels::swaps::{Swaps, swap_runs};
use crate::cpu::lengths::{Bounds, LengthReader};
use crate::cpu::nest::{Dims, Loop, Loops, Nest, mirror, swap_pairs, walk};
use crate::cpu::program::{InPlace, Swapped};
use crate::cpu::schedule::{Cut, Team, Window};
use crate::dtype::Grain;
use crate::plan::{Dim, Flow};
use crate::table::Table;
use std::convert::Infallible;

/// How grains are swapped along nested loops.
trait SwapLoops: Sync {
    /// Swaps along nested loops from `start` on, whose offsets count grains from the same base on
    /// both sides.
    ///
    /// # Safety
    /// Every combination of steps stays inside the memory on both sides, no grain of one side
    /// meets one of the other, and no other thread uses their bytes.
    unsafe fn swap(&self, loops: &[Loop<2>], start: [isize; 2]);

    /// Writes zeros along nested loops from `start` on; the loops' second steps count.
    ///
    /// # Safety
    /// As for [`swap`](Self::swap), for that side.
    unsafe fn zero(&self, loops: &[Loop<2>], start: isize);

    /// Reverses lanes for which the program has a kernel. False, and nothing has happened, if it has none
    /// (as for packed elements), or there is no memory for it.
    ///
    /// # Safety
    /// As for [`reverse_part`].
    unsafe fn by_kernel(
        &self,
        _kernel: Swapped,
        _nest: &Nest,
        _axis: (Dim, Window),
        _lengths: LengthReader<'_>,
    ) -> bool {
        false
    }
}

/// Runs a program on one memory.
///
/// # Safety
/// `memory` is valid and initialised over the reach of the dimensions, and `lengths` is there if one of
/// them reads any.
pub(super) unsafe fn run(
    program: &InPlace,
    dims: &[Dim],
    memory: *mut u8,
    lengths: Option<LengthReader<'_>>,
    table: Option<&Table>,
) {
    let (isa, team) = (Isa::current(), Team::new(program.bytes));
    // SAFETY: passed on; both kinds of call get the whole memory.
    unsafe {
        match program.grain {
            Grain::Byte => {
                let (stream, stream_strips, prefetch) = (false, false, false);
                let memory = memory.add(program.origin);
                let (src, dst, unit) = (memory, memory, program.unit);
                let at_once = team.threads();
                let call =
                    Call { src, dst, unit, lengths, isa, stream, stream_strips, prefetch, at_once };
                let look_ups = table.map(|table| {
                    let (bits, whole_segments) = (8, true);
                    LookUps { table, isa, memory, unit, bits, lengths, whole_segments }
                });
                reverse(program, dims, &team, 0, &call, lengths, look_ups);
            }
            grain @ Grain::Packed { .. } => {
                let call = PackedCall { memory, bits: grain.bits(), isa };
                reverse(program, dims, &team, program.origin, &call, lengths, None);
                look_up::after(table, grain.bits(), dims, program.origin, memory, lengths);
                if let Some(end) = program.sealed {
                    packed::seal(grain.bits(), memory, end);
                }
            }
        }
    }
}

/// Shares the steps among threads. Offsets start at `origin`.
///
/// # Safety
/// As for [`run`].
unsafe fn reverse(
    program: &InPlace,
    dims: &[Dim],
    team: &Team<'_>,
    origin: usize,
    call: &impl SwapLoops,
    lengths: Option<LengthReader<'_>>,
    look_ups: Option<LookUps<'_>>,
) {
    if program.swapped == Swapped::Nothing && look_ups.is_none() {
        return;
    }
    let bytes = program.bytes;
    let per_byte = program.grain.per_byte();
    let parts = look_up::parts(team, bytes, look_ups.is_some());
    let cut = Cut::new(dims, origin, per_byte, parts, |dim| program.may_cut(dim));
    let flips = dims.iter().filter(|dim| dim.flow == Flow::Flip).count();
    if program.swapped == Swapped::Flips && cut.parts() == 1 && parts > 1 && flips == 1 {
        // SAFETY: passed on, with one flip.
        unsafe { mirror_shared(call, dims, origin as isize, per_byte, parts, team) };
        if let Some(look_ups) = look_ups {
            // Of every step alone, so any of them may be shared.
            let cut = Cut::new(dims, origin, per_byte, parts, |_| true);
            // SAFETY: as below.
            team.run(cut.parts(), |part| unsafe { look_ups.part(dims, 0, cut.window(part)) });
        }
        return;
    }
    team.run(cut.parts(), |part| {
        // SAFETY: passed on; a step of a kept dimension is swapped with no other, and parts
        // have no byte in common.
        unsafe {
            if program.swapped != Swapped::Nothing {
                let window = cut.window(part);
                reverse_part(program.swapped, dims, origin as isize, call, window, lengths);
            }
            if let Some(look_ups) = look_ups {
                look_ups.part(dims, 0, cut.window(part));
            }
        }
    });
}

/// A single flip with nothing kept around it: threads share the pairs.
///
/// # Safety
/// As for [`run`], with exactly one `Flip` and no `FlipPrefix`.
unsafe fn mirror_shared(
    call: &impl SwapLoops,
    dims: &[Dim],
    origin: isize,
    per_byte: usize,
    parts: usize,
    team: &Team<'_>,
) {
    let Some(at) = dims.iter().position(|dim| dim.flow == Flow::Flip) else { return };
    let distance = dims[at].dst.unsigned_abs();
    // Packed neighbours can share a byte on either side; this many pairs apart they cannot.
    let gap = if per_byte == 1 { 0 } else { per_byte.div_ceil(distance) };
    let align = if per_byte == 1 { 1 } else { (256 * per_byte / distance).max(1) };
    let pairs = dims[at].len / 2;
    let step = pairs.div_ceil(parts).next_multiple_of(align).max(2 * gap).max(1);
    let shared = pairs.div_ceil(step).max(1);
    let swap = |loops: &[Loop<2>], start: [isize; 2]| {
        // SAFETY: the pairs of a flip are inside the reach, and each belongs to one part.
        unsafe { call.swap(loops, start) }
    };
    team.run(shared, |part| {
        let first = part * step + if part == 0 { 0 } else { gap };
        let last = ((part + 1) * step).min(pairs);
        if first < last {
            swap_pairs(dims, at, first..last, origin, swap);
        }
    });
    // The pairs between two parts, by one thread.
    for part in 1..shared {
        let first = part * step;
        swap_pairs(dims, at, first..(first + gap).min(pairs), origin, swap);
    }
}

/// # Safety
/// As for [`run`], for the window, which is of a `Keep` dimension, or the segments that start in
/// it, or everything.
unsafe fn reverse_part(
    swapped: Swapped,
    dims: &[Dim],
    mut origin: isize,
    call: &impl SwapLoops,
    window: Window,
    lengths: Option<LengthReader<'_>>,
) {
    let swap = |loops: &[Loop<2>], start: [isize; 2]| {
        // SAFETY: `mirror` gives pairs of steps of the window's dimensions, inside the reach.
        unsafe { call.swap(loops, start) }
    };
    let Some(lengths) = lengths.filter(|_| swapped != Swapped::Flips) else {
        let mut dims: Dims = dims.into();
        if dims[window.dim].flow == Flow::Keep {
            origin += dims[window.dim].dst * window.start as isize;
            dims[window.dim].len = window.end - window.start;
        }
        mirror(&dims, origin, swap);
        return;
    };
    let nest = Nest::of(dims, window, lengths.origin());
    let Some((prefix, steps)) = nest.prefix else { return };
    let zero = lengths.zeroes_tail();
    // SAFETY: the nest is of the program's own lanes.
    if unsafe { call.by_kernel(swapped, &nest, (prefix, steps), lengths) } {
        return;
    }
    let kept = |l: &Loop<2>| {
        let [src, dst] = l.steps;
        Dim { len: l.len, src, dst, lengths: 0, flow: Flow::Keep }
    };
    let mut lane_dims = Dims::with_capacity(nest.inner.len() + 1);
    lane_dims.push(prefix);
    lane_dims.extend(nest.inner.iter().map(kept));
    let mut rest = Loops::<2>::with_capacity(nest.inner.len() + 1);
    rest.push(Loop { len: 0, steps: [prefix.src, prefix.dst] });
    rest.extend_from_slice(&nest.inner);
    if matches!(swapped, Swapped::Segments | Swapped::ShortSegments) {
        let Ok(()) = walk(&nest.lanes, nest.start, |[_, lane, _]| {
            each_segment(lengths, steps, |start, len| {
                lane_dims[0] = Dim { len, flow: Flow::Flip, ..prefix };
                mirror(&lane_dims, origin + lane + prefix.dst * start as isize, swap);
            });
            Ok::<(), Infallible>(())
        });
        return;
    }
    let Ok(()) = walk(&nest.lanes, nest.start, |[_, lane, length_at]| {
        // SAFETY: the nest visits lengths of the plan.
        let len = unsafe { lengths.at(length_at) };
        let lane = origin + lane;
        if zero {
            rest[0].len = prefix.len - len;
            // SAFETY: the lane's steps from `len` on, which no other thread uses.
            unsafe { call.zero(&rest, lane + prefix.dst * len as isize) };
        }
        if !nest.inner.is_empty() {
            lane_dims[0] = Dim { len, flow: Flow::Flip, ..prefix };
            mirror(&lane_dims, lane, swap);
        } else if len > 1 {
            // The most common lane, without a nest.
            let row = Loop { len: len / 2, steps: [prefix.dst, -prefix.dst] };
            swap(&[row], [lane, lane + prefix.dst * (len as isize - 1)]);
        }
        Ok::<(), Infallible>(())
    });
}

/// Visits the segments that start in the window: where, and how long they are.
fn each_segment(offsets: LengthReader<'_>, window: Window, mut visit: impl FnMut(usize, usize)) {
    offsets.each_bounds(window.start..window.end, |bounds| {
        let Bounds::Segments(bounds) = bounds else { return };
        for pair in bounds.windows(2) {
            if (window.start..window.end).contains(&pair[0]) && pair[1] - pair[0] > 1 {
                visit(pair[0], pair[1] - pair[0]);
            }
        }
    });
}

impl SwapLoops for Call<'_> {
    unsafe fn swap(&self, loops: &[Loop<2>], start: [isize; 2]) {
        let Some((row, outer)) = loops.split_last() else { return };
        let unit = self.unit as isize;
        let Ok(()) = walk(outer, start, |[a, b]| {
            // SAFETY: rows are combinations of steps, which stay inside the memory and do not
            // meet, as required; the `Isa` proves the instructions.
            unsafe {
                let (a, b) = (self.dst.offset(a), self.dst.offset(b));
                match row.steps {
                    _ if row.len == 0 => {}
                    steps if steps == [unit, unit] => swap_runs(a, b, self.unit * row.len),
                    steps if steps == [unit, -unit] => {
                        let (front, back) = (a, b);
                        self.isa.swaps(&Swaps { front, back, len: row.len, unit: self.unit });
                    }
                    steps => kernels::units::swap(a, b, steps, row.len, self.unit),
                }
            }
            Ok::<(), Infallible>(())
        });
    }

    unsafe fn zero(&self, loops: &[Loop<2>], start: isize) {
        // SAFETY: passed on.
        unsafe { units::zero_loops(self, loops, start) };
    }

    unsafe fn by_kernel(
        &self,
        kernel: Swapped,
        nest: &Nest,
        (axis, steps): (Dim, Window),
        lengths: LengthReader<'_>,
    ) -> bool {
        // SAFETY: the nest is of whole lanes of the program; both sides are the same memory, which the
        // kernel for short lanes allows, and columns and segments are put aside.
        unsafe {
            match kernel {
                Swapped::ShortLanes => units::short_lanes(self, nest, axis, lengths),
                Swapped::Columns => return units::columns_in_place(self, nest, axis, lengths),
                Swapped::ShortSegments => return segments_in_place(self, nest, steps, lengths),
                _ => return false,
            }
        }
        true
    }
}

impl SwapLoops for PackedCall {
    unsafe fn swap(&self, loops: &[Loop<2>], start: [isize; 2]) {
        // SAFETY: passed on.
        unsafe { packed::swap_loops(self, loops, start) }
    }

    unsafe fn zero(&self, loops: &[Loop<2>], start: isize) {
        // SAFETY: passed on.
        unsafe { packed::zero_loops(self, loops, start) }
    }
}
