//! Tiles: a plane whose rows lie together in the output and whose columns do in the input, as
//! in a transposed view. Squares of it are turned in registers, so that every line is read and
//! written whole.

use super::squares::{no_square, transpose};
use super::vector::{Vector, copy_unit};

/// A plane of `rows` by `columns` units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiles {
    /// The unit of row 0, column 0 in the input.
    pub(super) src: *const u8,
    /// The same in the output.
    pub(super) dst: *mut u8,
    /// Rows; neighbours lie together in the input.
    pub(super) rows: usize,
    /// Columns; neighbours lie together in the output.
    pub(super) columns: usize,
    /// From column to column in the input.
    pub(super) src_step: isize,
    /// From row to row in the output.
    pub(super) dst_step: isize,
    /// Bytes in a unit: 1, 2, 4, 8 or 16.
    pub(super) unit: usize,
}

/// Squares beside each other that are turned while the pages of their columns are at hand.
const SQUARES: usize = 8;

/// Runs the plane.
///
/// # Safety
/// All of it lies inside memory valid for reads and writes, input and output do not overlap,
/// and the processor has `V`'s instructions.
#[inline(always)]
pub(super) unsafe fn run<V: Vector>(tiles: &Tiles) {
    // SAFETY: the caller's promises.
    unsafe {
        match tiles.unit {
            1 => of_width::<V, 1>(tiles),
            2 => of_width::<V, 2>(tiles),
            4 => of_width::<V, 4>(tiles),
            8 => of_width::<V, 8>(tiles),
            _ => of_width::<V, 16>(tiles),
        }
    }
}

/// Gives the compiler the number of units in a vector, so that squares stay in registers.
///
/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn of_width<V: Vector, const W: usize>(tiles: &Tiles) {
    // SAFETY: the caller's promises.
    unsafe {
        match V::BYTES / W {
            1 => plane::<V, W, 1>(tiles),
            2 => plane::<V, W, 2>(tiles),
            4 => plane::<V, W, 4>(tiles),
            8 => plane::<V, W, 8>(tiles),
            16 => plane::<V, W, 16>(tiles),
            32 => plane::<V, W, 32>(tiles),
            _ => plane::<V, W, 64>(tiles),
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn plane<V: Vector, const W: usize, const N: usize>(tiles: &Tiles) {
    let wide = N;
    let (rows, columns) = (tiles.rows, tiles.columns);
    // SAFETY: the caller's promises; the last squares overlap the ones before them.
    unsafe {
        if rows < wide || columns < wide {
            return units::<W>(tiles);
        }
        let mut first_row = 0;
        while first_row < rows {
            let end = rows.min(first_row + SQUARES * wide);
            let mut column = 0;
            while column < columns {
                let mut row = first_row;
                while row < end {
                    square::<V, W, N>(tiles, row.min(rows - wide), column.min(columns - wide));
                    row += wide;
                }
                column += wide;
            }
            first_row = end;
        }
    }
}

/// # Safety
/// As for [`run`]; the square lies inside the plane.
#[inline(always)]
unsafe fn square<V: Vector, const W: usize, const N: usize>(
    tiles: &Tiles,
    row: usize,
    column: usize,
) {
    let mut square = no_square::<V, N>();
    // SAFETY: the caller's promises.
    unsafe {
        let src = tiles.src.add(row * W).offset(tiles.src_step * column as isize);
        let dst = tiles.dst.add(column * W).offset(tiles.dst_step * row as isize);
        for (index, vector) in square.iter_mut().enumerate() {
            vector.write(V::load(src.offset(tiles.src_step * index as isize)));
        }
        let turned = transpose::<V, W, N>(square);
        for (index, vector) in turned.iter().enumerate() {
            vector.assume_init().store(dst.offset(tiles.dst_step * index as isize));
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn units<const W: usize>(tiles: &Tiles) {
    for row in 0..tiles.rows {
        for column in 0..tiles.columns {
            // SAFETY: the caller's promises.
            unsafe {
                let src = tiles.src.add(row * W).offset(tiles.src_step * column as isize);
                let dst = tiles.dst.add(column * W).offset(tiles.dst_step * row as isize);
                copy_unit::<W>(src, dst);
            }
        }
    }
}
