//! Tiles: a plane whose rows are contiguous in the output and whose columns are contiguous in
//! the input, as in a transposed view. Squares of it are transposed in registers: 16 bytes of each of
//! as many columns as fill a vector of the output.

use super::stream::{LINE, to_line};
use super::transpose::{no_square, transpose};
use crate::cpu::simd::{SIXTEEN, Simd, Vector, copy_unit};

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
    /// Bytes in a unit, which [is known](knows).
    pub(in crate::cpu) unit: usize,
    /// Whether to use non-temporal stores.
    pub(in crate::cpu) stream: bool,
}

/// A kernel of this file, for narrower registers.
type TilesKernel = unsafe fn(&Tiles);

/// Whether the kernel moves units of this width: those that fill 16 bytes, or three quarters of them.
pub(in crate::cpu) const fn knows(unit: usize) -> bool {
    matches!(unit, 1 | 2 | 3 | 4 | 6 | 8 | 12 | 16)
}

/// Rows that are taken at a time: the lines and pages of a few columns on one side, and of these rows on
/// the other, stay near. With non-temporal stores nothing of the rows stays, and longer runs of the
/// input are worth more.
const ROWS: [usize; 2] = [256, 1024];
/// The same for planes up to this size, where registers are narrower than a line and rows are this far apart,
/// or a multiple of it: the first cache has few places for such lines, and has to keep them until the
/// next columns fill them.
const FEW_ROWS: usize = 32;
const NEAR: usize = 256 << 10;
const CROWDED: usize = 512;
/// Rows by which the output is prefetched.
const AHEAD: isize = 16;

/// Runs the plane; `narrow` runs those that are too narrow for this register.
///
/// # Safety
/// Kernel contract 1 to 3.
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(tiles: &Tiles, narrow: TilesKernel) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match tiles.unit {
            1 => plane::<V, 1, 1, 16>(tiles, narrow),
            2 => plane::<V, 2, 2, 8>(tiles, narrow),
            3 => plane::<V, 3, 4, 4>(tiles, narrow),
            4 => plane::<V, 4, 4, 4>(tiles, narrow),
            6 => plane::<V, 6, 8, 2>(tiles, narrow),
            8 => plane::<V, 8, 8, 2>(tiles, narrow),
            12 => plane::<V, 12, 16, 1>(tiles, narrow),
            _ => plane::<V, 16, 16, 1>(tiles, narrow),
        }
    }
}

/// Units of `W` bytes, `P` in registers, of which 16 bytes have `N`.
///
/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn plane<V: Simd, const W: usize, const P: usize, const N: usize>(
    tiles: &Tiles,
    narrow: TilesKernel,
) {
    let (rows, columns, wide) = (tiles.rows, tiles.columns, V::BYTES / P);
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        if columns < N || rows * W < SIXTEEN {
            return units::<W>(tiles);
        }
        if columns < wide {
            return narrow(tiles);
        }
        let spreads = Spreads::<V>::of::<W, P>();
        // Where every row has lines at the same columns, vectors do not cross them; the first ones also
        // cover the columns in front of the first line, and what they cover too much is written again.
        let lead = to_line(tiles.dst) % V::BYTES;
        let in_lines =
            W == P && lead.is_multiple_of(W) && tiles.dst_step.unsigned_abs().is_multiple_of(LINE);
        let stream = tiles.stream && in_lines && V::BYTES == LINE;
        let next = if in_lines && lead > 0 { lead / W } else { wide };
        let crowded = V::BYTES < LINE && tiles.dst_step.unsigned_abs().is_multiple_of(CROWDED);
        let most = match crowded && rows * columns * W <= NEAR {
            true => FEW_ROWS,
            false => ROWS[usize::from(stream)],
        };
        for row in (0..rows).step_by(most) {
            let row = row.min(rows - N);
            let band = Strip {
                src: tiles.src.add(row * W),
                dst: tiles.dst.offset(tiles.dst_step * row as isize),
                steps: [tiles.src_step, tiles.dst_step],
                rows: most.min(rows - row),
                left: rows - row,
                fills: false,
            };
            let mut column = 0;
            while column < columns {
                let at = column.min(columns - wide);
                let strip = Strip {
                    src: band.src.offset(tiles.src_step * at as isize),
                    dst: band.dst.add(at * W),
                    fills: (columns - at) * W >= V::BYTES,
                    ..band
                };
                // What is written again at the end is not a line, and neither is what is in front.
                let whole = at == column && (column > 0 || lead == 0);
                match stream && whole {
                    true => strip.run::<V, W, P, N, true>(&spreads),
                    false => strip.run::<V, W, P, N, false>(&spreads),
                }
                column += if column == 0 { next } else { wide };
            }
        }
    }
}

/// Rows of as many columns as a vector has.
#[derive(Clone, Copy)]
struct Strip {
    src: *const u8,
    dst: *mut u8,
    /// From column to column in the input, and from row to row in the output.
    steps: [isize; 2],
    rows: usize,
    /// Rows of the plane from the first of these on.
    left: usize,
    /// Whether vectors that are not full may be stored as if they were: the columns behind them come
    /// next.
    fills: bool,
}

impl Strip {
    /// # Safety
    /// As for [`run`]; with `STREAM`, rows are whole lines.
    #[inline(always)]
    unsafe fn run<V: Simd, const W: usize, const P: usize, const N: usize, const STREAM: bool>(
        &self,
        spreads: &Spreads<V>,
    ) {
        let (wide, mut row) = (V::BYTES / P, 0);
        while row < self.rows {
            // The last rows overlap those before them.
            let top = row.min(self.rows - N);
            let is_last = (self.left - top) * W < SIXTEEN;
            // SAFETY: kernel contract 1 to 3: in the last rows, sixteens end with the column.
            unsafe {
                let (early, orders) = match is_last {
                    true => (SIXTEEN - N * W, &spreads.last),
                    false => (0, &spreads.any),
                };
                let src = self.src.add(top * W).sub(early);
                if STREAM {
                    // Each block has a part of a line of each column: its share of the next columns'.
                    let shares = LINE / SIXTEEN;
                    let share = row / N % shares * (wide / shares);
                    for column in wide + share..wide + share + wide / shares {
                        V::prefetch(src.wrapping_offset(self.steps[0] * column as isize));
                    }
                }
                let dst = self.dst.offset(self.steps[1] * top as isize);
                block::<V, W, P, N, STREAM>(src, dst, self.steps, orders, self.fills);
            }
            row += N;
        }
    }
}

/// A block of `N` rows.
///
/// # Safety
/// As for [`Strip::run`]: 16 bytes of each column are valid for reads, and rows for writes, of whole
/// vectors if it `fills` them.
#[inline(always)]
unsafe fn block<V: Simd, const W: usize, const P: usize, const N: usize, const STREAM: bool>(
    src: *const u8,
    dst: *mut u8,
    [src_step, dst_step]: [isize; 2],
    [spread, packed]: &[V; 2],
    fills: bool,
) {
    let mut square = no_square::<V, N>();
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        for (index, vector) in square.iter_mut().enumerate() {
            let src = src.offset(src_step * index as isize);
            let sixteens = V::gather_sixteens(src, src_step * N as isize);
            vector.write(if W == P { sixteens } else { sixteens.shuffle(*spread) });
        }
        for (index, vector) in transpose::<V, P, N>(square).into_iter().enumerate() {
            let (vector, row) = (vector.assume_init(), dst.offset(dst_step * index as isize));
            if STREAM {
                vector.store_nontemporal(row);
                continue;
            }
            // An ordinary store reads its line first, and stores wait for each other. Where there are
            // two lines, the first one was written before.
            let ahead = row.wrapping_offset(dst_step.wrapping_mul(AHEAD));
            V::prefetch(ahead.wrapping_add(V::BYTES - 1));
            if W == P {
                vector.store(row);
                continue;
            }
            let dense = vector.shuffle(*packed).dense_twelves();
            match fills {
                true => dense.store(row),
                false => dense.store_range(row, 0, V::BYTES / 4 * 3),
            }
        }
    }
}

/// How the units of a sixteen are spread, and put together again: in general, and in the last rows,
/// where sixteens end with the column.
struct Spreads<V> {
    any: [V; 2],
    last: [V; 2],
}

impl<V: Vector> Spreads<V> {
    /// For units of `W` bytes, `P` in registers.
    ///
    /// # Safety
    /// Kernel contract 3.
    #[inline(always)]
    unsafe fn of<const W: usize, const P: usize>() -> Self {
        let (any, last) = const { (spread::<W, P>(0), spread::<W, P>(SIXTEEN - SIXTEEN / P * W)) };
        // SAFETY: kernel contract 3; each has 16 bytes.
        let load = |order: &[u8; SIXTEEN]| unsafe { V::broadcast(order.as_ptr()) };
        Spreads { any: [load(&any[0]), load(&any[1])], last: [load(&last[0]), load(&last[1])] }
    }
}

/// Numbers of bytes for [`Spreads`], if the units start at byte `early`.
const fn spread<const W: usize, const P: usize>(early: usize) -> [[u8; SIXTEEN]; 2] {
    let mut orders = [[0x80; SIXTEEN]; 2];
    let mut byte = 0;
    while byte < SIXTEEN / P * W {
        let (unit, within) = (byte / W, byte % W);
        orders[0][unit * P + within] = (early + byte) as u8;
        orders[1][byte] = (unit * P + within) as u8;
        byte += 1;
    }
    orders
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
