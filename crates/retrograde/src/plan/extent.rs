//! A plan's buffers as numbers: are they large enough, and do they keep apart?
//!
//! Every backend asks this before it runs, whatever its addresses mean.

use super::Plan;
use crate::dtype::{DType, Grain};
use crate::error::ExecuteError;
use crate::layout::Reach;
use std::ops::Range;

impl Plan {
    /// Whether buffers of these sizes hold all that the plan reaches.
    pub fn check_sizes(&self, src: usize, dst: usize) -> Result<(), ExecuteError> {
        check_buffer("input", self.src, self.unit.grain, src)?;
        check_buffer("output", self.dst, self.unit.grain, dst)
    }

    /// Whether lengths are there if and only if the plan reads any, are of the type that it was made
    /// for, and their buffer of so many bytes holds them.
    pub fn check_lengths(&self, lengths: Option<(DType, usize)>) -> Result<(), ExecuteError> {
        match (&self.lengths, lengths) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(ExecuteError::LengthsUnexpected),
            (Some(_), None) => Err(ExecuteError::LengthsMissing),
            (Some(plan), Some((given, _))) if given != plan.dtype => {
                let values = plan.meaning.name();
                Err(ExecuteError::LengthsType { values, given, planned: plan.dtype })
            }
            (Some(plan), Some((_, len))) => {
                check_buffer(plan.meaning.name(), plan.reach, Grain::Byte, len)
            }
        }
    }

    /// Whether lengths at `lengths` overlap the bytes that an output at `dst` writes.
    pub fn lengths_overlap(&self, lengths: usize, dst: usize) -> bool {
        self.lengths.as_ref().is_some_and(|plan| {
            let written = touched(dst, self.dst, self.unit.grain);
            meet(&touched(lengths, plan.reach, Grain::Byte), &written)
        })
    }

    /// Whether both sides are the same bytes in the same order, so that it runs in place.
    pub fn is_same_view(&self, src: usize, dst: usize) -> bool {
        src == dst && self.fits_in_place()
    }

    /// Whether a byte that is read from `src` on may also be written from `dst` on.
    pub fn overlaps(&self, src: usize, dst: usize) -> bool {
        let grain = self.unit.grain;
        let (read, written) = (touched(src, self.src, grain), touched(dst, self.dst, grain));
        meet(&read, &written) && !interleave(self, src, dst)
    }
}

fn check_buffer(
    buffer: &'static str,
    reach: Reach,
    grain: Grain,
    available: usize,
) -> Result<(), ExecuteError> {
    let needed = grain.bytes_for(reach.end);
    if needed > available {
        return Err(ExecuteError::BufferTooSmall { buffer, needed, available });
    }
    Ok(())
}

/// The addresses between the first and the last byte of a reach.
fn touched(base: usize, reach: Reach, grain: Grain) -> Range<usize> {
    base + grain.byte_of(reach.start)..base + grain.bytes_for(reach.end)
}

fn meet(a: &Range<usize>, b: &Range<usize>) -> bool {
    !a.is_empty() && !b.is_empty() && a.start < b.end && b.start < a.end
}

/// Whether all strides share a period in which input and output take separate places, as two
/// columns of one table do.
fn interleave(plan: &Plan, src: usize, dst: usize) -> bool {
    if plan.unit.grain != Grain::Byte {
        return false;
    }
    let strides = plan.dims.iter().flat_map(|dim| [dim.src, dim.dst]);
    let period = strides.map(isize::unsigned_abs).fold(0, gcd);
    if period == 0 {
        return false;
    }
    let (src, dst) = (src + plan.src.origin, dst + plan.dst.origin);
    let gap = (dst as i128 - src as i128).rem_euclid(period as i128) as usize;
    let unit = plan.unit.count;
    gap >= unit && period - gap >= unit
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
