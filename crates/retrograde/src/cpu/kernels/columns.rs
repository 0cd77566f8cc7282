//! Columns: adjacent lanes, each with its own length.
//!
//! Row by row, neighbouring elements would come from different rows. So a strip of columns is
//! first transposed into a staging buffer that stays in cache, where each column is contiguous;
//! from there pieces of columns are reversed like any row and transposed back.

use super::runs::ZEROS;
use super::stream::{LINE, to_line};
use super::transpose::{Square, no_square, transpose};
use crate::cpu::simd::{PartialVector, Simd, Vector, WIDEST, copy_unit};
use std::mem::MaybeUninit;

/// Adjacent columns.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpu) struct Columns<'a> {
    /// Step 0 of the first column in the input.
    pub(in crate::cpu) src: *const u8,
    /// The same in the output.
    pub(in crate::cpu) dst: *mut u8,
    /// How many steps of each column are reversed.
    pub(in crate::cpu) heads: &'a [usize],
    /// From row to row: input, output.
    pub(in crate::cpu) pitches: [isize; 2],
    /// Steps along the axis.
    pub(in crate::cpu) len: usize,
    /// Bytes in a unit: 1, 2, 4, 8 or 16.
    pub(in crate::cpu) unit: usize,
    /// Room for [`stage_bytes`] bytes.
    pub(in crate::cpu) stage: *mut u8,
    /// Whether steps behind the reversed ones become zero.
    pub(in crate::cpu) zero: bool,
    /// Whether to use non-temporal stores.
    pub(in crate::cpu) stream: bool,
}

/// The buffer's size, unless a single strip needs more. Strips are as wide as it allows, since
/// every row of a strip may be in another page and cost a TLB entry.
const STAGE: usize = 9 << 17;

/// Bytes the buffer needs: for columns as long as the axis, each a little longer so that they
/// do not all meet in the same places of the cache.
pub(in crate::cpu) fn stage_bytes(len: usize, unit: usize) -> Option<usize> {
    let columns = column_bytes(len, unit).checked_mul(WIDEST / unit)?.max(STAGE);
    columns.checked_add(WIDEST + LINE)
}

/// Where a vector of zeros is, behind all columns.
#[inline(always)]
fn zeros_at(len: usize, unit: usize) -> usize {
    (column_bytes(len, unit) * (WIDEST / unit)).max(STAGE)
}

#[inline(always)]
fn column_bytes(len: usize, unit: usize) -> usize {
    len * unit + WIDEST
}

/// Runs all columns.
///
/// # Safety
/// Kernel contract 1 to 4; `stage` is valid for writes of [`stage_bytes`].
#[inline(always)]
pub(in crate::cpu) unsafe fn run<V: Simd>(columns: &Columns<'_>) {
    // SAFETY: kernel contract 1 to 4; `stage_bytes` has room for the zeros.
    unsafe {
        if columns.zero {
            columns.stage.add(zeros_at(columns.len, columns.unit)).write_bytes(0, WIDEST);
        }
        match columns.unit {
            1 => of_width::<V, 1>(columns),
            2 => of_width::<V, 2>(columns),
            4 => of_width::<V, 4>(columns),
            8 => of_width::<V, 8>(columns),
            _ => of_width::<V, 16>(columns),
        }
    }
}

/// Gives the compiler the number of units in a vector, so that squares stay in registers; those
/// of narrow units would not, and are made of narrower vectors.
///
/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn of_width<V: Simd, const W: usize>(columns: &Columns<'_>) {
    // SAFETY: kernel contract 1 to 4.
    unsafe {
        match V::BYTES / W {
            1 => strips::<V, V, W, 1>(columns),
            2 => strips::<V, V, W, 2>(columns),
            4 => strips::<V, V, W, 4>(columns),
            8 => strips::<V, V, W, 8>(columns),
            16 => strips::<V, V, W, 16>(columns),
            32 => strips::<V, V::Half, W, 16>(columns),
            _ => strips::<V, V::Quarter, W, 16>(columns),
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn strips<V: Simd, S: PartialVector, const W: usize, const N: usize>(columns: &Columns<'_>) {
    let (wide, count) = (V::BYTES / W, columns.heads.len());
    // SAFETY: kernel contract 1 to 4; strips and single columns all exist.
    unsafe {
        if columns.len < N || count < wide {
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
        let in_lines = columns.pitches[1].unsigned_abs().is_multiple_of(LINE)
            && lead.is_multiple_of(W)
            && leading * wide <= count
            && columns.stream;
        let mut first = 0;
        if in_lines && lead > 0 {
            strip::<V, S, W, N>(columns, 0, leading, false);
            first = lead / W;
        }
        let most = (STAGE / (column_bytes(columns.len, W) * wide)).clamp(1, MOST_VECTORS);
        while first + wide <= count {
            let vectors = most.min((count - first) / wide);
            strip::<V, S, W, N>(columns, first, vectors, in_lines);
            first += vectors * wide;
        }
        if first < count {
            // Overlaps the one before it.
            strip::<V, S, W, N>(columns, count - wide, 1, false);
        }
    }
}

/// The columns from `first` on that fill `vectors` vectors.
///
/// # Safety
/// As for [`run`]; there are that many, the buffer has room for them, and with `stream` they
/// start on a line.
#[inline(always)]
unsafe fn strip<V: Simd, S: PartialVector, const W: usize, const N: usize>(
    columns: &Columns<'_>,
    first: usize,
    vectors: usize,
    stream: bool,
) {
    let heads = &columns.heads[first..first + vectors * (V::BYTES / W)];
    // SAFETY: kernel contract 1 to 4.
    unsafe {
        let (src, dst) = (columns.src.add(first * W), columns.dst.add(first * W));
        let strip = Strip { src, dst, heads, columns, vectors, stream };
        if heads.iter().all(|&head| head == heads[0]) {
            strip.rows::<V>();
        } else {
            strip.load::<V, S, W, N>();
            strip.store::<V, S, W, N>();
        }
    }
}

/// One column, step by step.
///
/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn single<const W: usize>(columns: &Columns<'_>, column: usize) {
    let head = columns.heads[column];
    for at in 0..columns.len {
        let from = if at < head { head - 1 - at } else { at } as isize;
        // SAFETY: kernel contract 1 to 4.
        unsafe {
            let src = columns.src.add(column * W).offset(columns.pitches[0] * from);
            let dst = columns.dst.add(column * W).offset(columns.pitches[1] * at as isize);
            match columns.zero && at >= head {
                true => dst.write_bytes(0, W),
                false => copy_unit::<W>(src, dst),
            }
        }
    }
}

/// One strip.
struct Strip<'a> {
    src: *const u8,
    dst: *mut u8,
    heads: &'a [usize],
    columns: &'a Columns<'a>,
    /// How many vectors wide it is.
    vectors: usize,
    stream: bool,
}

/// The most vectors a strip is wide.
const MOST_VECTORS: usize = 8;

/// The most columns a strip has.
const MOST_COLUMNS: usize = MOST_VECTORS * WIDEST;

/// A piece of each column: its offset in the buffer, and whether it is to be reversed.
struct Pieces {
    from: [usize; MOST_COLUMNS],
    reversed: [bool; MOST_COLUMNS],
}

impl Strip<'_> {
    /// All lengths are the same: whole rows are swapped.
    ///
    /// # Safety
    /// As for [`run`].
    #[inline(always)]
    unsafe fn rows<V: Vector>(&self) {
        for at in 0..self.columns.len {
            let head = self.heads[0];
            let from = if at < head { head - 1 - at } else { at };
            let zero = self.columns.zero && at >= head;
            for vector in 0..self.vectors {
                let row = if zero { ZEROS.as_ptr() } else { self.row::<V>(from, vector) };
                // SAFETY: kernel contract 1 to 4; there are more zeros than in a vector.
                unsafe { self.write(at, vector, V::load(row)) };
            }
        }
    }

    /// Transposes the strip into the staging buffer.
    ///
    /// # Safety
    /// As for [`run`].
    #[inline(always)]
    unsafe fn load<V: Simd, S: PartialVector, const W: usize, const N: usize>(&self) {
        let (len, squares) = (self.columns.len, self.vectors * (V::BYTES / S::BYTES));
        let mut at = 0;
        while at < len {
            // The last square overlaps the one before it.
            let first = at.min(len - N);
            for beside in 0..squares {
                let mut square = no_square::<S, N>();
                // SAFETY: kernel contract 1 to 4; rows `first..first + N` exist.
                unsafe {
                    for (row, vector) in square.iter_mut().enumerate() {
                        vector.write(S::load(self.row::<S>(first + row, beside)));
                        V::prefetch(self.row::<S>(first + row + AHEAD, beside));
                    }
                    let transposed = transpose::<S, W, N>(square);
                    for (column, vector) in transposed.iter().enumerate() {
                        let staged = self.staged::<W>(beside * N + column);
                        vector.assume_init().store(staged.add(first * W));
                    }
                }
            }
            at += N;
        }
    }

    /// Transposes the columns, reversed as far as their lengths say, back into rows.
    ///
    /// # Safety
    /// As for [`run`], after [`load`](Self::load).
    #[inline(always)]
    unsafe fn store<V: Simd, S: PartialVector, const W: usize, const N: usize>(&self) {
        let len = self.columns.len;
        let mut pieces = Pieces { from: [0; MOST_COLUMNS], reversed: [false; MOST_COLUMNS] };
        // SAFETY: kernel contract 1 to 4; steps `at..at + N` exist in each column.
        unsafe {
            self.mix::<W, N>(None);
            let mut at = 0;
            while at + N <= len {
                self.squares::<V, S, W, N>(at, &mut pieces);
                at += N;
            }
            if at < len {
                // The last squares overlap the ones before them.
                self.mix::<W, N>(Some(len - N));
                self.squares::<V, S, W, N>(len - N, &mut pieces);
            }
        }
    }

    /// Puts the piece of each column in which its head ends behind the column: the head's last
    /// steps, reversed, then the rest unchanged. The piece starts at `first`, or at the multiple
    /// of `N` before the head's end.
    ///
    /// # Safety
    /// As for [`store`](Self::store).
    #[inline(always)]
    unsafe fn mix<const W: usize, const N: usize>(&self, first: Option<usize>) {
        for (column, &head) in self.heads.iter().enumerate() {
            let first = first.unwrap_or(head / N * N);
            if first >= head || head - first > N {
                continue;
            }
            let staged = self.staged::<W>(column);
            let mixed = staged.wrapping_add(self.columns.len * W);
            for step in 0..N {
                let at = first + step;
                let from = if at < head { head - 1 - at } else { at };
                // SAFETY: kernel contract 1 to 4; there is room for `N` steps behind a column.
                unsafe {
                    match self.columns.zero && at >= head {
                        true => mixed.add(step * W).write_bytes(0, W),
                        false => copy_unit::<W>(staged.add(from * W), mixed.add(step * W)),
                    }
                }
            }
        }
    }

    /// Steps `first..first + N` of all columns.
    ///
    /// # Safety
    /// As for [`store`](Self::store), after [`mix`](Self::mix) for these steps.
    #[inline(always)]
    unsafe fn squares<V: Simd, S: PartialVector, const W: usize, const N: usize>(
        &self,
        first: usize,
        pieces: &mut Pieces,
    ) {
        self.find::<W, N>(first, pieces);
        let beside = V::BYTES / S::BYTES;
        for vector in 0..self.vectors {
            // Lines are written whole: narrower squares are put together first.
            let mut tile = MaybeUninit::<[[u8; WIDEST]; N]>::uninit();
            let tile = tile.as_mut_ptr().cast::<u8>();
            // SAFETY: kernel contract 1 to 4; a tile has room for `N` rows of a vector each.
            unsafe {
                for part in 0..beside {
                    let transposed = self.square::<S, W, N>(vector * beside + part, pieces);
                    for (row, part_of_row) in transposed.iter().enumerate() {
                        let part_of_row = part_of_row.assume_init();
                        if beside == 1 {
                            self.write(first + row, vector, part_of_row);
                        } else {
                            part_of_row.store(tile.add(row * V::BYTES + part * S::BYTES));
                        }
                    }
                }
                if beside > 1 {
                    for row in 0..N {
                        self.write(first + row, vector, V::load(tile.add(row * V::BYTES)));
                    }
                }
            }
        }
    }

    /// Steps `first..first + N` of the `N` columns that make up one square.
    ///
    /// # Safety
    /// As for [`squares`](Self::squares), with the pieces of these steps.
    #[inline(always)]
    unsafe fn square<S: PartialVector, const W: usize, const N: usize>(
        &self,
        beside: usize,
        pieces: &Pieces,
    ) -> Square<S, N> {
        let mut square = no_square::<S, N>();
        // SAFETY: kernel contract 1 to 4; all steps named by `pieces` exist.
        unsafe {
            for (column, vector) in square.iter_mut().enumerate() {
                let staged = self.columns.stage.add(pieces.from[beside * N + column]);
                vector.write(S::load_either::<W>(staged, pieces.reversed[beside * N + column]));
            }
            transpose::<S, W, N>(square)
        }
    }

    /// The offsets in the buffer of the pieces that become steps `first..first + N` of all
    /// columns. Without branches: which of the three cases it is changes from column to column.
    #[inline(always)]
    fn find<const W: usize, const N: usize>(&self, first: usize, pieces: &mut Pieces) {
        let pitch = column_bytes(self.columns.len, W);
        let zeros = zeros_at(self.columns.len, W);
        let places = pieces.from.iter_mut().zip(&mut pieces.reversed);
        for (column, (&head, (from, reversed))) in self.heads.iter().zip(places).enumerate() {
            let left = head.wrapping_sub(first) as isize;
            let step = if left > 0 { self.columns.len } else { first };
            let step = if left >= N as isize { left as usize - N } else { step };
            let place = column * pitch + step * W;
            *from = if self.columns.zero && left <= 0 { zeros } else { place };
            *reversed = left >= N as isize;
        }
    }

    #[inline(always)]
    fn row<V: Vector>(&self, at: usize, vector: usize) -> *const u8 {
        let start = self.src.wrapping_add(vector * V::BYTES);
        start.wrapping_offset(self.columns.pitches[0].wrapping_mul(at as isize))
    }

    #[inline(always)]
    fn staged<const W: usize>(&self, column: usize) -> *mut u8 {
        self.columns.stage.wrapping_add(column * column_bytes(self.columns.len, W))
    }

    /// # Safety
    /// `at` is a step of the axis, `beside` a vector of the strip.
    #[inline(always)]
    unsafe fn write<V: Vector>(&self, at: usize, beside: usize, vector: V) {
        // SAFETY: kernel contract 1 to 4; streamed strips are aligned.
        unsafe {
            let dst = self.dst.offset(self.columns.pitches[1] * at as isize);
            let dst = dst.add(beside * V::BYTES);
            if self.stream { vector.store_nontemporal(dst) } else { vector.store(dst) }
        }
    }
}

/// Rows to prefetch ahead: each is in another page, which hardware prefetchers do not cross.
const AHEAD: usize = 24;
