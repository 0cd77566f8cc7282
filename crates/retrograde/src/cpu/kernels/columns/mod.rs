//! Columns: adjacent lanes, each with its own length.
//!
//! Row by row, neighbouring elements would come from different rows. So a strip of columns is
//! first transposed into a staging buffer that stays in cache, where each column is contiguous;
//! from there pieces of columns are reversed like any row and transposed back.
//!
//! Packed elements are staged as bytes of several columns each. On the way back every byte is put
//! together from as many pieces, of which each contributes its own element.

mod job;
mod strip;

pub(in crate::cpu) use job::{Columns, LEAST_PACKED, LEAST_STEPS, room, stage_bytes};

use super::stream::{LINE, ZEROS, to_line};
use super::transpose::side;
use crate::cpu::simd::{SIXTEEN, Simd, WIDEST, copy_unit};
use job::{MOST_COLUMNS, behind};
use strip::Strip;

/// Runs all columns. `narrow` is the same kernel for registers of 16 bytes, called and not compiled a
/// second time.
///
/// # Safety
/// Kernel contract 1 to 4; `stage` is valid for writes of [`stage_bytes`]. Packed elements have at
/// least [`LEAST_STEPS`] steps and [`LEAST_PACKED`] bytes in a row, and their rows of the output start
/// on bytes and may be written to the end of their last byte.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(columns: &Columns<'_>, narrow: unsafe fn(&Columns<'_>)) {
    // SAFETY: kernel contract 1 to 4; `stage_bytes` has room for the zeros.
    unsafe {
        if V::BYTES > SIXTEEN && is_narrow(columns, V::BYTES) {
            return narrow(columns);
        }
        if columns.zero {
            columns.stage.add(columns.room).write_bytes(0, WIDEST);
        }
        match (columns.unit, columns.elements) {
            (1, 1) => of_width::<V, 1, 1>(columns),
            (1, 2) => of_width::<V, 1, 2>(columns),
            (1, 4) => of_width::<V, 1, 4>(columns),
            (1, _) => of_width::<V, 1, 8>(columns),
            (2, _) => of_width::<V, 2, 1>(columns),
            (4, _) => of_width::<V, 4, 1>(columns),
            (8, _) => of_width::<V, 8, 1>(columns),
            _ => of_width::<V, 16, 1>(columns),
        }
    }
}

/// Whether strips are narrower than a register of `wide` bytes.
fn is_narrow(columns: &Columns<'_>, wide: usize) -> bool {
    let Columns { unit, elements, len, room, .. } = *columns;
    let units = columns.prefix_lens.len().div_ceil(elements);
    let column = len * unit + behind(elements);
    let too_long = room / column < wide / unit && room / column >= SIXTEEN / unit;
    // A few columns of wide units are moved as fast one by one.
    let few = units * unit < wide && unit <= 2;
    few || too_long
}

/// Gives the compiler the size of squares, so that they stay in registers: of narrow units, several
/// squares of 16 bytes a row side by side; of others, one.
///
/// # Safety
/// As for [`run`], with `unit == W` and `elements == E`.
#[inline(always)]
unsafe fn of_width<V: Simd, const W: usize, const E: usize>(columns: &Columns<'_>) {
    // SAFETY: kernel contract 1 to 4.
    unsafe {
        match const { side::<W>(V::BYTES) } {
            1 => strips::<V, W, E, 1>(columns),
            2 => strips::<V, W, E, 2>(columns),
            4 => strips::<V, W, E, 4>(columns),
            8 => strips::<V, W, E, 8>(columns),
            _ => strips::<V, W, E, 16>(columns),
        }
    }
}

/// # Safety
/// As for [`of_width`].
#[inline(always)]
unsafe fn strips<V: Simd, const W: usize, const E: usize, const N: usize>(columns: &Columns<'_>) {
    let (wide, count) = (V::BYTES / W, columns.prefix_lens.len().div_ceil(E));
    // SAFETY: kernel contract 1 to 4; strips and single columns all exist.
    unsafe {
        if E == 1 && (columns.len < N || count < wide) {
            for column in 0..count {
                single::<W>(columns, column);
            }
            return;
        }
        // Only whole lines are worth streaming. If rows keep their place in the line, strips
        // start on lines, and one that does not covers the columns in front of the first: a
        // line less one unit at most, which may take several vectors.
        let lead = to_line(columns.dst);
        let leading = lead.div_ceil(V::BYTES);
        let column = columns.len * W + behind(E);
        let most = (columns.room / (column * wide)).clamp(1, MOST_VECTORS);
        let most = most.min(MOST_COLUMNS / (wide * E));
        let in_line = LINE / V::BYTES;
        let in_lines = columns.pitches[1].unsigned_abs().is_multiple_of(LINE)
            && lead.is_multiple_of(W)
            && leading * wide <= count
            && most >= in_line
            && columns.stream;
        let most = if in_lines { most / in_line * in_line } else { most };
        // One call for all strips: whatever is called is compiled into each place that calls it.
        let mut first = 0;
        while first < count {
            let (start, vectors, stream, next) = if first == 0 && in_lines && lead > 0 {
                (0, leading, false, lead / W)
            } else if first + wide <= count {
                let vectors = most.min((count - first) / wide);
                let stream = in_lines && vectors.is_multiple_of(in_line);
                (first, vectors, stream, first + vectors * wide)
            } else {
                // Overlaps the one before it.
                (count - wide, 1, false, count)
            };
            Strip::<V>::new(columns, start, vectors, stream).run::<W, E, N>();
            first = next;
        }
    }
}

/// The most vectors a strip is wide.
const MOST_VECTORS: usize = 8;

/// One column, step by step.
///
/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn single<const W: usize>(columns: &Columns<'_>, column: usize) {
    let prefix_len = columns.prefix_lens[column];
    for at in 0..columns.len {
        let from = if at < prefix_len { prefix_len - 1 - at } else { at } as isize;
        // SAFETY: kernel contract 1 to 4.
        unsafe {
            let src = columns.src.add(column * W).offset(columns.pitches[0] * from);
            let src = if columns.zero && at >= prefix_len { ZEROS.as_ptr() } else { src };
            copy_unit::<W>(
                src,
                columns.dst.add(column * W).offset(columns.pitches[1] * at as isize),
            );
        }
    }
}
