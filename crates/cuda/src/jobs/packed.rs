//! Packed elements, and bytes that are looked up in a table.

use super::{AnyParams, Call, Launch, axis, flat};
use crate::params::{Axis, Loops, Packed, divisor};
use retrograde::{BitOrder, Grain};
use smallvec::SmallVec;

/// A stride that no position reaches.
const ALONE: i64 = 1 << 62;

pub(super) fn packed(call: &Call<'_>) -> Launch {
    let &Call { plan, shape, at, lengths, .. } = call;
    let (bits, order) = match plan.unit().grain {
        Grain::Packed { bits, order } => (bits, order),
        Grain::Byte => (8, BitOrder::LowFirst),
    };
    let per_byte = 8 / i64::from(bits);
    let mut all: SmallVec<[Axis; 8]> = shape
        .dims
        .iter()
        .map(|dim| {
            let mut one = axis(dim);
            // A single step may have any stride, but is not found by division.
            one.dst = if dim.len == 1 { ALONE } else { one.dst.abs() };
            (one.mul, one.shift) = divisor(one.dst as u64);
            one
        })
        .collect();
    if shape.unit > 1 || all.is_empty() {
        let (mul, shift) = divisor(1);
        all.push(Axis { len: shape.unit, mul, src: 1, dst: 1, lengths: 0, shift, mul32: 0 });
    }
    let inner = all[all.len() - 1];
    let steered = shape.prefix.or(shape.segments);
    let prefix_back = steered.is_some_and(|dim| shape.dims[dim].dst < 0);
    let (start, end) = (plan.dst().start as i64, plan.dst().end as i64);
    let first = start / per_byte;
    let first_chunk = first - (at.dst as i64 + first) % 16;
    let threads = (((end + per_byte - 1) / per_byte - first_chunk) as u64).div_ceil(16);
    let params = Packed {
        src: at.src,
        dst: at.dst,
        threads,
        src_origin: shape.src,
        src_begin: plan.src().start as i64 / per_byte * per_byte,
        src_end: (plan.src().end as i64 + per_byte - 1) / per_byte * per_byte,
        dst_begin: start,
        dst_end: end,
        first_chunk,
        bits_log2: bits.ilog2(),
        high_first: u32::from(order == BitOrder::HighFirst),
        seals: u32::from(plan.seals_last_byte()),
        prefix_back: u32::from(prefix_back),
        row: u32::from(inner.src.abs() == 1 && inner.dst == 1 && inner.lengths == 0),
        src_back: u32::from(inner.src < 0),
        lengths,
        loops: Loops::new(&all, steered),
    };
    flat(threads, AnyParams::Packed(params))
}
