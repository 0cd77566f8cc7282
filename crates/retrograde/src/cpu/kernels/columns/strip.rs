//! A strip of [`columns`](super): some vectors of each row, staged and written back.

use super::job::{Columns, MOST_COLUMNS, behind};
use crate::cpu::kernels::runs::ZEROS;
use crate::cpu::kernels::transpose::{Square, no_square, transpose};
use crate::cpu::simd::{PART, SquareVector, WIDEST, copy_unit, words};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Rows to prefetch ahead: each is in another page, which hardware prefetchers do not cross.
const AHEAD: usize = 24;

/// The most elements in a row of a vector.
const MOST_IN_VECTOR: usize = WIDEST * 8;

/// One strip.
///
/// Its columns are listed vector by vector. In a vector, those of the first element of each unit come
/// first; among them, those of a register that is loaded at once (see
/// [`SquareVector::load_parts`]) follow each other.
pub(super) struct Strip<'a, V> {
    columns: &'a Columns<'a>,
    /// The first of its bytes in a row.
    byte: usize,
    /// How many vectors wide it is.
    vectors: usize,
    stream: bool,
    /// Whether staged steps behind the reversed ones become zero.
    zero: bool,
    /// How many staged steps of each column are reversed.
    heads: [u32; MOST_COLUMNS],
    vector: PhantomData<V>,
}

/// A piece of each column of a vector.
struct Pieces {
    /// Its offset in the buffer.
    from: [u32; MOST_IN_VECTOR],
    /// Not 0 if it is to be reversed; with several parts in a vector, as
    /// [`SquareVector::load_parts`] has it.
    turned: [u8; MOST_IN_VECTOR],
}

impl<'a, V: SquareVector> Strip<'a, V> {
    /// The units from `first` on that fill `vectors` vectors.
    ///
    /// # Safety
    /// As for [`run`](super::run), with `unit == W` and `elements == E`; there are
    /// that many units, and with `stream` they start on a line and fill whole lines.
    #[inline(always)]
    pub(super) unsafe fn new(
        columns: &'a Columns<'a>,
        first: usize,
        vectors: usize,
        stream: bool,
    ) -> Self {
        let byte = first * columns.unit;
        let (zero, heads) = (columns.zero, [0; MOST_COLUMNS]);
        Strip { columns, byte, vectors, stream, zero, heads, vector: PhantomData }
    }

    /// Moves the strip.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    #[inline(always)]
    pub(super) unsafe fn run<const W: usize, const E: usize, const N: usize>(&mut self) {
        let (wide, len) = (V::BYTES / W, self.columns.len);
        let first = self.byte / W * E;
        let last = self.columns.heads.len().min(first + self.vectors * wide * E);
        let heads = &self.columns.heads[first..last];
        // SAFETY: kernel contract 1 to 4.
        unsafe {
            if heads.iter().all(|&head| head == heads[0]) {
                return self.rows::<E>(heads[0]);
            }
            if self.pitch::<W, E>(len).saturating_mul(self.vectors * wide) > self.columns.room {
                return self.windows::<W, E, N>();
            }
            for unit in 0..self.vectors * wide {
                for element in 0..E {
                    // Elements that fill up the last byte are none of anyone's.
                    let head = heads.get(unit * E + element).map_or(0, |&head| head as u32);
                    self.heads[Self::listed::<W, E, N>(unit, element)] = head;
                }
            }
            self.load::<W, E, N>();
            self.store::<W, E, N>(0..len);
        }
    }

    /// Where a column is in the lists.
    #[inline(always)]
    fn listed<const W: usize, const E: usize, const N: usize>(
        unit: usize,
        element: usize,
    ) -> usize {
        let (wide, parts) = (V::BYTES / W, V::BYTES / W / N);
        let (vector, within) = (unit / wide, unit % wide);
        let (part, register) = (within / N, within % N);
        vector * wide * E + element * wide + register * parts + part
    }

    /// From staged column to staged column of `len` steps.
    #[inline(always)]
    fn pitch<const W: usize, const E: usize>(&self, len: usize) -> usize {
        len * W + behind(E)
    }

    /// All lengths are the same: whole rows are swapped.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn rows<const E: usize>(&self, head: usize) {
        for at in 0..self.columns.len {
            let from = if at < head { head - 1 - at } else { at };
            let zero = self.columns.zero && at >= head;
            for vector in 0..self.vectors {
                // SAFETY: kernel contract 1 to 4; there are more zeros than in a vector.
                unsafe {
                    let row = match zero {
                        true => V::load(ZEROS.as_ptr()),
                        false => self.read::<E>(from, vector),
                    };
                    self.write(at, vector, row);
                }
            }
        }
    }

    /// Columns that are too long to be staged whole, some steps of the output at a time. Each step is
    /// read by itself, but rows are written whole.
    ///
    /// # Safety
    /// As for [`run`](Self::run), for units of one element.
    #[inline(always)]
    unsafe fn windows<const W: usize, const E: usize, const N: usize>(&mut self) {
        let (len, units) = (self.columns.len, self.vectors * (V::BYTES / W));
        let most = (self.columns.room / units - behind(E)) / W / N * N;
        // What is staged here is the output, zeros included.
        self.zero = false;
        let mut first = 0;
        while first < len {
            // The last steps overlap the ones before them, if they are fewer than a square has.
            let end = len.min(first + most);
            let window = first.min(end - N)..end;
            for unit in 0..units {
                // SAFETY: kernel contract 1 to 4: the steps of a window exist.
                unsafe { self.gather::<W, E>(unit, window.clone()) };
            }
            // SAFETY: as above; what has been staged keeps its order, as no head says otherwise.
            unsafe { self.store::<W, E, N>(window) };
            first = end;
        }
    }

    /// Stages some steps of the output of one column, one by one.
    ///
    /// # Safety
    /// As for [`windows`](Self::windows).
    #[inline(always)]
    unsafe fn gather<const W: usize, const E: usize>(&self, unit: usize, window: Range<usize>) {
        let Columns { src, pitches, zero, .. } = *self.columns;
        let head = self.columns.heads[self.byte / W + unit];
        // SAFETY: kernel contract 1 to 4; the buffer has room for a window of each column.
        unsafe {
            let mut to = self.columns.stage.add(unit * self.pitch::<W, E>(window.len()));
            for at in window {
                let from = if at < head { head - 1 - at } else { at };
                let from = src.offset(pitches[0] * from as isize).add(self.byte + unit * W);
                copy_unit::<W>(if zero && at >= head { ZEROS.as_ptr() } else { from }, to);
                to = to.add(W);
            }
        }
    }

    /// Transposes the strip into the staging buffer.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn load<const W: usize, const E: usize, const N: usize>(&self) {
        let (len, wide) = (self.columns.len, V::BYTES / W);
        let pitch = self.pitch::<W, E>(len);
        let mut at = 0;
        while at < len {
            // The last square overlaps the one before it.
            let first = at.min(len - N);
            for vector in 0..self.vectors {
                let mut square = no_square::<V, N>();
                // SAFETY: kernel contract 1 to 4; rows `first..first + N` exist.
                unsafe {
                    for (row, of_row) in square.iter_mut().enumerate() {
                        of_row.write(self.read::<E>(first + row, vector));
                        V::prefetch(self.row::<E>(first + row + AHEAD, vector).0);
                    }
                    let transposed = transpose::<V, W, N>(square);
                    for (unit, staged) in transposed.iter().enumerate() {
                        let to = self.columns.stage.add((vector * wide + unit) * pitch + first * W);
                        match const { N * W == V::BYTES } {
                            true => staged.assume_init().store(to),
                            false => staged.assume_init().store_parts(to, N * pitch),
                        }
                    }
                }
            }
            at += N;
        }
    }

    /// Transposes what has been staged, reversed as far as heads say, back into rows `steps`, which
    /// are all that is staged.
    ///
    /// # Safety
    /// As for [`run`](Self::run), with these steps of each column in the buffer.
    #[inline(always)]
    unsafe fn store<const W: usize, const E: usize, const N: usize>(&self, steps: Range<usize>) {
        let len = steps.len();
        let mut pieces = MaybeUninit::<Pieces>::uninit();
        // SAFETY: kernel contract 1 to 4; steps `at..at + N` exist in each column.
        unsafe {
            self.mix::<W, E, N>(len, None);
            let mut at = 0;
            while at + N <= len {
                self.squares::<W, E, N>(at, &steps, &mut pieces);
                at += N;
            }
            if at < len {
                // The last squares overlap the ones before them.
                self.mix::<W, E, N>(len, Some(len - N));
                self.squares::<W, E, N>(len - N, &steps, &mut pieces);
            }
        }
    }

    /// Puts the piece of each column in which its head ends behind the column: the head's last
    /// steps, reversed, then the rest unchanged. The piece starts at `first`, or at the multiple
    /// of `N` before the head's end.
    ///
    /// # Safety
    /// As for [`store`](Self::store), with `len` steps in the buffer.
    #[inline(always)]
    unsafe fn mix<const W: usize, const E: usize, const N: usize>(
        &self,
        len: usize,
        first: Option<usize>,
    ) {
        let pitch = self.pitch::<W, E>(len);
        for unit in 0..self.vectors * (V::BYTES / W) {
            for element in 0..E {
                let head = self.heads[Self::listed::<W, E, N>(unit, element)] as usize;
                let first = first.unwrap_or(head / N * N);
                if first >= head || head - first > N {
                    continue;
                }
                let staged = self.columns.stage.wrapping_add(unit * pitch);
                let mixed = staged.wrapping_add(len * W + element * N * W);
                for step in 0..N {
                    let at = first + step;
                    let from = if at < head { head - 1 - at } else { at };
                    // SAFETY: kernel contract 1 to 4; there is room for `N` steps of each element
                    // behind a column.
                    unsafe {
                        match self.zero && at >= head {
                            true => mixed.add(step * W).write_bytes(0, W),
                            false => copy_unit::<W>(staged.add(from * W), mixed.add(step * W)),
                        }
                    }
                }
            }
        }
    }

    /// Steps `first..first + N` of all columns, of those that are rows `steps`.
    ///
    /// # Safety
    /// As for [`store`](Self::store), after [`mix`](Self::mix) for these steps.
    #[inline(always)]
    unsafe fn squares<const W: usize, const E: usize, const N: usize>(
        &self,
        first: usize,
        steps: &Range<usize>,
        pieces: &mut MaybeUninit<Pieces>,
    ) {
        for vector in 0..self.vectors {
            // SAFETY: kernel contract 1 to 4; `find` writes all that `square` reads.
            unsafe {
                let (from, turned) = self.find::<W, E, N>(first, steps.len(), vector, pieces);
                let transposed = self.square::<W, E, N>(from, turned);
                for (row, of_row) in transposed.iter().enumerate() {
                    self.write(steps.start + first + row, vector, of_row.assume_init());
                }
            }
        }
    }

    /// The piece of each column of a vector that becomes steps `first..first + N`. Without branches:
    /// which of the three cases it is changes from column to column.
    ///
    /// # Safety
    /// As for [`squares`](Self::squares).
    #[inline(always)]
    unsafe fn find<'p, const W: usize, const E: usize, const N: usize>(
        &self,
        first: usize,
        len: usize,
        vector: usize,
        pieces: &'p mut MaybeUninit<Pieces>,
    ) -> (&'p [u32], &'p [u8]) {
        let (wide, parts) = (V::BYTES / W, (V::BYTES / W / N) as u32);
        let pitch = self.pitch::<W, E>(len) as u32;
        let (zero, zeros) = (self.zero, self.columns.room as u32);
        let reversed = if const { N * W == V::BYTES } { 1 } else { (PART - W) as u8 };
        let pieces = pieces.as_mut_ptr();
        // SAFETY: a vector has no more than `MOST_IN_VECTOR` columns, and its pieces are written
        // before they are lent.
        unsafe {
            let from = (&raw mut (*pieces).from).cast::<u32>();
            let turned = (&raw mut (*pieces).turned).cast::<u8>();
            for element in 0..E {
                let listed = (vector * E + element) * wide;
                let heads = self.heads.get_unchecked(listed..listed + wide);
                let mixed = (len + element * N) as u32;
                for (index, &head) in heads.iter().enumerate() {
                    let left = head.wrapping_sub(first as u32) as i32;
                    let step = if left > 0 { mixed } else { first as u32 };
                    let step = if left >= N as i32 { left as u32 - N as u32 } else { step };
                    // Register by register, as `listed` has it.
                    let (register, part) = (index as u32 / parts, index as u32 % parts);
                    let unit = (vector * wide) as u32 + part * N as u32 + register;
                    let place = unit * pitch + step * W as u32;
                    let place = if zero && left <= 0 { zeros } else { place };
                    let turn = if left >= N as i32 { reversed } else { 0 };
                    from.add(element * wide + index).write(place);
                    turned.add(element * wide + index).write(turn);
                }
            }
            let count = E * wide;
            (std::slice::from_raw_parts(from, count), std::slice::from_raw_parts(turned, count))
        }
    }

    /// Pieces of `N` steps of each column of a vector, transposed into `N` rows.
    ///
    /// # Safety
    /// As for [`squares`](Self::squares), with what [`find`](Self::find) found.
    #[inline(always)]
    unsafe fn square<const W: usize, const E: usize, const N: usize>(
        &self,
        from: &[u32],
        turned: &[u8],
    ) -> Square<V, N> {
        let (wide, parts) = (V::BYTES / W, V::BYTES / W / N);
        let stage = self.columns.stage;
        let mut square = no_square::<V, N>();
        // SAFETY: kernel contract 1 to 4; all pieces are inside the buffer, and there is one for each
        // column.
        unsafe {
            for (register, units) in square.iter_mut().enumerate() {
                let mut put_together = MaybeUninit::<V>::uninit();
                for element in 0..E {
                    let at = element * wide + register * parts;
                    let (from, turned) = (from.as_ptr().add(at), turned.as_ptr().add(at));
                    let piece = match const { N * W == V::BYTES } {
                        true => {
                            V::load_either::<W>(stage.add(from.read() as usize), turned.read() != 0)
                        }
                        false => V::load_parts::<W>(stage, from, turned),
                    };
                    put_together.write(match element {
                        0 => piece,
                        _ => put_together.assume_init().select(piece, words::mask::<E>(element)),
                    });
                }
                units.write(put_together.assume_init());
            }
            transpose::<V, W, N>(square)
        }
    }

    /// A vector of a row of the input.
    ///
    /// # Safety
    /// As for [`run`](Self::run), for a row and a vector that exist.
    #[inline(always)]
    unsafe fn read<const E: usize>(&self, at: usize, vector: usize) -> V {
        let (start, phase) = self.row::<E>(at, vector);
        // SAFETY: kernel contract 1: elements on a byte fill the vector.
        unsafe {
            if phase == 0 {
                V::load(start)
            } else {
                shifted::<V, E>(start, phase, self.columns.end)
            }
        }
    }

    /// Where a vector of a row of the input starts: the byte, and the bits in front of it there.
    #[inline(always)]
    fn row<const E: usize>(&self, at: usize, vector: usize) -> (*const u8, usize) {
        let (byte, step) = (self.byte + vector * V::BYTES, at as isize);
        let row = self.columns.pitches[0].wrapping_mul(step);
        if E == 1 {
            return (self.columns.src.wrapping_add(byte).wrapping_offset(row), 0);
        }
        let element = self.columns.first.wrapping_add_signed(row);
        (self.columns.src.wrapping_add(element / E + byte), element % E * (8 / E))
    }

    /// # Safety
    /// `at` is a step of the axis, `vector` one of the strip.
    #[inline(always)]
    unsafe fn write(&self, at: usize, vector: usize, row: V) {
        // SAFETY: kernel contract 1 to 4; streamed strips are aligned.
        unsafe {
            let dst = self.columns.dst.offset(self.columns.pitches[1] * at as isize);
            let dst = dst.add(self.byte + vector * V::BYTES);
            if self.stream { row.store_nontemporal(dst) } else { row.store(dst) }
        }
    }
}

/// A vector of packed elements that start `phase` bits into the byte at `start`.
///
/// # Safety
/// Kernel contract 1 and 3; the input ends at `end`, which is behind the vector's last element.
#[inline(always)]
unsafe fn shifted<V: SquareVector, const E: usize>(
    start: *const u8,
    phase: usize,
    end: *const u8,
) -> V {
    let mut last = [0; WIDEST + 1];
    let left = end.addr() - start.addr();
    // SAFETY: the bytes up to `end` are valid for reads, and no more of them are read. The array has
    // a byte more than a vector.
    unsafe {
        let start = if left > V::BYTES {
            start
        } else {
            start.copy_to_nonoverlapping(last.as_mut_ptr(), left);
            last.as_ptr()
        };
        V::load(start).funnel(V::load(start.add(1)), phase, words::high_first_of(E))
    }
}
