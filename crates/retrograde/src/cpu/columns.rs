//! Columns: lanes side by side, each with a length of its own, as deep as the axis.
//!
//! Row by row, every element would come from a row of its own. So a strip of columns, one
//! vector wide, is first turned into a buffer that stays in cache, each column in one piece;
//! from there pieces of columns are reversed like any row and turned back into rows.

use super::rows::reverse_plainly;
use super::squares::{WIDEST, no_squares, transpose};
use super::stream::to_line;
use super::vector::{Vector, copy_unit};
use std::mem::MaybeUninit;

/// Columns that lie side by side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a> {
    /// Step 0 of the first column in the input.
    pub(super) src: *const u8,
    /// The same in the output.
    pub(super) dst: *mut u8,
    /// How many steps of each column are reversed.
    pub(super) heads: &'a [usize],
    /// From row to row: input, output.
    pub(super) pitches: [isize; 2],
    /// Steps along the axis.
    pub(super) len: usize,
    /// Bytes in a unit: 1, 2, 4, 8 or 16.
    pub(super) unit: usize,
    /// Room for [`stage_bytes`] bytes.
    pub(super) stage: *mut u8,
    /// Whether to store past the caches.
    pub(super) stream: bool,
}

/// One cache line.
const LINE: usize = 64;

/// The buffer's size, unless a single strip needs more. Strips are as wide as it allows, since
/// every row of a strip may be a page of its own to look up.
const STAGE: usize = 9 << 17;

/// Bytes the buffer needs: for columns as long as the axis, each a little longer so that they
/// do not all meet in the same places of the cache.
pub(super) fn stage_bytes(len: usize, unit: usize) -> Option<usize> {
    column_bytes(len, unit).checked_mul(WIDEST / unit)?.max(STAGE).checked_add(LINE)
}

#[inline(always)]
fn column_bytes(len: usize, unit: usize) -> usize {
    len * unit + WIDEST
}

/// Runs all columns.
///
/// # Safety
/// Every column lies inside memory valid for reads and writes, input and output do not overlap,
/// `stage` is valid for writes, and the processor has `V`'s instructions.
#[inline(always)]
pub(super) unsafe fn run<V: Vector>(columns: &Columns<'_>) {
    // SAFETY: the caller's promises.
    unsafe {
        match columns.unit {
            1 => strips::<V, 1>(columns),
            2 => strips::<V, 2>(columns),
            4 => strips::<V, 4>(columns),
            8 => strips::<V, 8>(columns),
            _ => strips::<V, 16>(columns),
        }
    }
}

/// # Safety
/// As for [`run`], with `unit == W`.
#[inline(always)]
unsafe fn strips<V: Vector, const W: usize>(columns: &Columns<'_>) {
    let (wide, count) = (V::BYTES / W, columns.heads.len());
    // SAFETY: the caller's promises; strips and single columns all exist.
    unsafe {
        if columns.len < wide || count < wide {
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
            strip::<V, W>(columns, 0, leading, false);
            first = lead / W;
        }
        let most = (STAGE / (column_bytes(columns.len, W) * wide)).clamp(1, MOST_VECTORS);
        while first + wide <= count {
            let vectors = most.min((count - first) / wide);
            strip::<V, W>(columns, first, vectors, in_lines);
            first += vectors * wide;
        }
        if first < count {
            // Overlaps the one before it.
            strip::<V, W>(columns, count - wide, 1, false);
        }
    }
}

/// The columns from `first` on that fill `vectors` vectors.
///
/// # Safety
/// As for [`run`]; there are that many, the buffer has room for them, and with `stream` they
/// start on a line.
#[inline(always)]
unsafe fn strip<V: Vector, const W: usize>(
    columns: &Columns<'_>,
    first: usize,
    vectors: usize,
    stream: bool,
) {
    let heads = &columns.heads[first..first + vectors * (V::BYTES / W)];
    // SAFETY: the caller's promises.
    unsafe {
        let (src, dst) = (columns.src.add(first * W), columns.dst.add(first * W));
        let strip = Strip { src, dst, heads, columns, vectors, stream };
        if heads.iter().all(|&head| head == heads[0]) {
            strip.rows::<V>();
        } else {
            strip.load::<V, W>();
            strip.store::<V, W>();
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
        // SAFETY: the caller's promises.
        unsafe {
            let src = columns.src.add(column * W).offset(columns.pitches[0] * from);
            let dst = columns.dst.add(column * W).offset(columns.pitches[1] * at as isize);
            copy_unit::<W>(src, dst);
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

/// Room for the rows of a square, as wide as a strip may be.
type Tile<V> = [MaybeUninit<V>; WIDEST * MOST_VECTORS];

/// A tile with nothing in it yet.
#[inline(always)]
fn no_tile<V>() -> Tile<V> {
    [const { MaybeUninit::uninit() }; WIDEST * MOST_VECTORS]
}

impl Strip<'_> {
    /// All lengths are the same: rows trade places whole.
    ///
    /// # Safety
    /// As for [`run`].
    #[inline(always)]
    unsafe fn rows<V: Vector>(&self) {
        for at in 0..self.columns.len {
            let head = self.heads[0];
            let from = if at < head { head - 1 - at } else { at };
            for vector in 0..self.vectors {
                // SAFETY: the caller's promises.
                unsafe { self.write(at, vector, V::load(self.row::<V>(from, vector))) };
            }
        }
    }

    /// Turns the strip into columns.
    ///
    /// # Safety
    /// As for [`run`].
    #[inline(always)]
    unsafe fn load<V: Vector, const W: usize>(&self) {
        let (wide, len) = (V::BYTES / W, self.columns.len);
        let mut squares = no_squares::<V>();
        let mut tile = no_tile::<V>();
        let mut at = 0;
        while at < len {
            // The last square overlaps the one before it.
            let first = at.min(len - wide);
            // SAFETY: the caller's promises; rows `first..first + wide` exist.
            unsafe {
                // Row by row, as memory likes it; then square by square.
                for row in 0..wide {
                    for beside in 0..self.vectors {
                        let vector = V::load(self.row::<V>(first + row, beside));
                        tile[row * self.vectors + beside].write(vector);
                        V::fetch(self.row::<V>(first + row + FETCHED, beside));
                    }
                }
                for beside in 0..self.vectors {
                    for row in 0..wide {
                        squares[0][row] = tile[row * self.vectors + beside];
                    }
                    let turned = transpose::<V, W>(&mut squares);
                    for (column, vector) in turned[..wide].iter().enumerate() {
                        let staged = self.staged::<W>(beside * wide + column);
                        vector.assume_init().store(staged.add(first * W));
                    }
                }
            }
            at += wide;
        }
    }

    /// Turns columns, as far as they are to be reversed, back into rows.
    ///
    /// # Safety
    /// As for [`run`], after [`load`](Self::load).
    #[inline(always)]
    unsafe fn store<V: Vector, const W: usize>(&self) {
        let (wide, len) = (V::BYTES / W, self.columns.len);
        let mut squares = no_squares::<V>();
        let mut tile = no_tile::<V>();
        let mut at = 0;
        while at < len {
            let first = at.min(len - wide);
            // SAFETY: the caller's promises; steps `first..first + wide` exist in each column.
            unsafe {
                for beside in 0..self.vectors {
                    for (column, vector) in squares[0][..wide].iter_mut().enumerate() {
                        vector.write(self.piece::<V, W>(beside * wide + column, first));
                    }
                    let turned = transpose::<V, W>(&mut squares);
                    for row in 0..wide {
                        tile[row * self.vectors + beside] = turned[row];
                    }
                }
                for row in 0..wide {
                    for beside in 0..self.vectors {
                        let vector = tile[row * self.vectors + beside].assume_init();
                        self.write(first + row, beside, vector);
                    }
                }
            }
            at += wide;
        }
    }

    /// What comes out at steps `first..first + wide` of a column.
    ///
    /// # Safety
    /// As for [`store`](Self::store).
    #[inline(always)]
    unsafe fn piece<V: Vector, const W: usize>(&self, column: usize, first: usize) -> V {
        let (wide, head) = (V::BYTES / W, self.heads[column]);
        // SAFETY: the caller's promises; all steps named exist.
        unsafe {
            let staged = self.staged::<W>(column).cast_const();
            if first >= head {
                V::load(staged.add(first * W))
            } else if first + wide <= head {
                V::load(staged.add((head - first - wide) * W)).reversed::<W>()
            } else {
                // The head ends inside: its first steps, reversed, then the rest as it is.
                let turned = (head - first) * W;
                let mut mixed = MaybeUninit::<[u8; WIDEST]>::uninit();
                let mixed = mixed.as_mut_ptr().cast::<u8>();
                reverse_plainly::<V, W>(staged.add(turned), mixed, turned);
                let rest = staged.add(first * W + turned);
                rest.copy_to_nonoverlapping(mixed.add(turned), V::BYTES - turned);
                V::load(mixed)
            }
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
        // SAFETY: the caller's promise; streamed strips are aligned.
        unsafe {
            let dst = self.dst.offset(self.columns.pitches[1] * at as isize);
            let dst = dst.add(beside * V::BYTES);
            if self.stream { vector.stream(dst) } else { vector.store(dst) }
        }
    }
}

/// Rows fetched ahead: each one lies in another page, where the processor does not look.
const FETCHED: usize = 24;
