//! Tiles: a plane whose rows are contiguous in the output and whose columns are contiguous in
//! the input, as in a transposed view. Squares of it are transposed in registers, so that whole
//! cache lines are read and written.

use super::stream::{LINE, to_line};
use super::transpose::{Square, no_square, side, transpose};
use crate::cpu::simd::{Simd, Vector, WIDEST, by_width, copy_unit};
use std::mem::MaybeUninit;

/// A plane of `rows` by `columns` units.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct Tiles {
    /// The unit of row 0, column 0 in the input.
    pub(in crate::cpu) src: *const u8,
    /// The same in the output.
    pub(in crate::cpu) dst: *mut u8,
    /// Rows; neighbours are contiguous in the input.
    pub(in crate::cpu) rows: usize,
    /// Columns; neighbours are contiguous in the output.
    pub(in crate::cpu) columns: usize,
    /// From column to column in the input.
    pub(in crate::cpu) src_step: isize,
    /// From row to row in the output.
    pub(in crate::cpu) dst_step: isize,
    /// Bytes in a unit: 1, 2, 4, 8 or 16.
    pub(in crate::cpu) unit: usize,
    /// Whether to use non-temporal stores.
    pub(in crate::cpu) stream: bool,
}

/// Squares that are transposed while the pages of their columns are in the TLB.
const SQUARES: usize = 8;

/// Runs the plane.
///
/// # Safety
/// Kernel contract 1 to 3.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(tiles: &Tiles) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        by_width!(tiles.unit, W => of_width::<V, W>(tiles));
    }
}

/// Gives the compiler the size of squares, so that they stay in registers: of narrow units, several
/// squares of 16 bytes a row side by side; of others, one.
///
/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn of_width<V: Simd, const W: usize>(tiles: &Tiles) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match const { side::<W>(V::BYTES) } {
            1 => plane::<V, W, 1>(tiles),
            2 => plane::<V, W, 2>(tiles),
            4 => plane::<V, W, 4>(tiles),
            8 => plane::<V, W, 8>(tiles),
            _ => plane::<V, W, 16>(tiles),
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn plane<V: Simd, const W: usize, const N: usize>(tiles: &Tiles) {
    let (rows, columns, wide) = (tiles.rows, tiles.columns, V::BYTES / W);
    // SAFETY: kernel contract 1 to 3; the last squares overlap the ones before them.
    unsafe {
        if rows < wide || columns < wide {
            return units::<W>(tiles);
        }
        // Lines are streamed where every row has them at the same columns; the first square
        // also covers those in front of the first line, and what it covers too much is
        // written again.
        let lead = to_line(tiles.dst) / W;
        let in_lines = V::BYTES == LINE
            && tiles.stream
            && to_line(tiles.dst).is_multiple_of(W)
            && tiles.dst_step.unsigned_abs().is_multiple_of(LINE);
        let mut first_row = 0;
        while first_row < rows {
            let end = rows.min(first_row + SQUARES * wide);
            let mut column = 0;
            if in_lines && lead > 0 {
                band::<V, W, N>(tiles, first_row, end, 0, false);
                column = lead;
            }
            while column < columns {
                let whole = column + wide <= columns;
                band::<V, W, N>(
                    tiles,
                    first_row,
                    end,
                    column.min(columns - wide),
                    in_lines && whole,
                );
                column += wide;
            }
            first_row = end;
        }
    }
}

/// Squares below each other: rows `first..end`, as many columns from `column` on as a vector has.
///
/// # Safety
/// As for [`run`]; all of it is inside the plane, and with `stream` its rows start on lines.
#[inline(always)]
unsafe fn band<V: Simd, const W: usize, const N: usize>(
    tiles: &Tiles,
    first: usize,
    end: usize,
    column: usize,
    stream: bool,
) {
    let wide = V::BYTES / W;
    let mut row = first;
    while row < end {
        // SAFETY: kernel contract 1 to 3; the last square overlaps the one before it.
        unsafe { square::<V, W, N>(tiles, row.min(tiles.rows - wide), column, stream) };
        row += wide;
    }
}

/// # Safety
/// As for [`band`].
#[inline(always)]
unsafe fn square<V: Simd, const W: usize, const N: usize>(
    tiles: &Tiles,
    row: usize,
    column: usize,
    stream: bool,
) {
    let (wide, parts) = (V::BYTES / W, V::BYTES / W / N);
    // Lines are written whole: narrower squares are put together first.
    let mut tile = MaybeUninit::<[[u8; WIDEST]; WIDEST]>::uninit();
    let tile = tile.as_mut_ptr().cast::<u8>();
    // SAFETY: kernel contract 1 to 3; a tile has room for a vector's rows and columns.
    unsafe {
        let src = tiles.src.add(row * W).offset(tiles.src_step * column as isize);
        let dst = tiles.dst.add(column * W).offset(tiles.dst_step * row as isize);
        for part in 0..parts {
            let src = src.offset(tiles.src_step * (part * N) as isize);
            let transposed = transposed::<V, W, N>(src, tiles.src_step, wide);
            for (index, vector) in transposed.iter().enumerate() {
                let vector = vector.assume_init();
                if parts == 1 {
                    write(vector, dst, tiles.dst_step, index, wide, stream);
                } else {
                    let to = tile.add(index * V::BYTES + part * N * W);
                    vector.store_sixteens(to, N * V::BYTES);
                }
            }
        }
        if parts > 1 {
            for index in 0..wide {
                let vector = V::load(tile.add(index * V::BYTES));
                write(vector, dst, tiles.dst_step, index, wide, stream);
            }
        }
    }
}

/// Writes row `index` of a square, `step` bytes from row to row. The square below it starts `below` rows
/// further on.
///
/// # Safety
/// The row is valid for writes of a vector, and with `stream` starts on a line.
#[inline(always)]
unsafe fn write<V: Vector>(
    vector: V,
    dst: *mut u8,
    step: isize,
    index: usize,
    below: usize,
    stream: bool,
) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        let row = dst.offset(step * index as isize);
        if stream {
            vector.store_nontemporal(row);
        } else {
            // An ordinary store reads its line first, and stores wait for each other.
            V::prefetch(row.wrapping_offset(step.wrapping_mul(below as isize)));
            vector.store(row);
        }
    }
}

/// A square of the input (or several side by side), transposed; the one `ahead` columns further on is prefetched.
///
/// # Safety
/// Its `N` columns, `step` bytes apart from `src` on, are valid for reads.
#[inline(always)]
unsafe fn transposed<S: Simd, const W: usize, const N: usize>(
    src: *const u8,
    step: isize,
    ahead: usize,
) -> Square<S, N> {
    let mut square = no_square::<S, N>();
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        for (index, vector) in square.iter_mut().enumerate() {
            let src = src.wrapping_offset(step * index as isize);
            S::prefetch(src.wrapping_offset(step.wrapping_mul(ahead as isize)));
            vector.write(S::load(src));
        }
        transpose::<S, W, N>(square)
    }
}

/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn units<const W: usize>(tiles: &Tiles) {
    for row in 0..tiles.rows {
        for column in 0..tiles.columns {
            // SAFETY: kernel contract 1 to 3.
            unsafe {
                let src = tiles.src.add(row * W).offset(tiles.src_step * column as isize);
                let dst = tiles.dst.add(column * W).offset(tiles.dst_step * row as isize);
                copy_unit::<W>(src, dst);
            }
        }
    }
}
