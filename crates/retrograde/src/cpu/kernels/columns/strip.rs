//! A strip of [`columns`](super): some vectors of each row, staged and written back.

use super::job::{Columns, MOST_COLUMNS, behind};
use crate::cpu::kernels::stream::{LINE, ZEROS};
use crate::cpu::kernels::transpose::{Square, no_square, transpose};
use crate::cpu::simd::{PartialVector, SIXTEEN, Simd, Vector, WIDEST, bits, copy_unit, words};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Rows to prefetch ahead: each is in another page, which hardware prefetchers do not cross.
const AHEAD: usize = 24;

/// One strip.
///
/// Its columns are listed vector by vector. In a vector, those of the first element of each unit come
/// first; among them, those of a register that is loaded at once (see
/// [`Simd::load_sixteens`]) follow each other.
pub(super) struct Strip<'a, V> {
    columns: &'a Columns<'a>,
    /// The first of its bytes in a row.
    byte: usize,
    /// How many vectors wide it is.
    vectors: usize,
    stream: bool,
    /// Whether staged steps behind the reversed ones become zero.
    zero: bool,
    /// How many staged steps of each column are reversed. Of this list and the next, the columns of the
    /// strip are written: all of them would take longer than a small strip.
    prefix_lens: [MaybeUninit<u32>; MOST_COLUMNS],
    /// Where each column is in the buffer.
    places: [MaybeUninit<u32>; MOST_COLUMNS],
    vector: PhantomData<V>,
}

/// A piece of each column of a strip, listed like the columns.
struct Pieces {
    /// Its offset in the buffer.
    from: [u32; MOST_COLUMNS],
    /// Not 0 if it is to be reversed; with several parts in a vector, as
    /// [`Simd::load_sixteens`] has it.
    flips: [u8; MOST_COLUMNS],
}

impl<'a, V: Simd> Strip<'a, V> {
    /// The units from `first` on that fill `vectors` vectors.
    #[inline(always)]
    pub(super) fn new(
        columns: &'a Columns<'a>,
        first: usize,
        vectors: usize,
        stream: bool,
    ) -> Self {
        let byte = first * columns.unit;
        let nothing = [const { MaybeUninit::uninit() }; MOST_COLUMNS];
        let (zero, prefix_lens, places) = (columns.zero, nothing, nothing);
        Strip { columns, byte, vectors, stream, zero, prefix_lens, places, vector: PhantomData }
    }

    /// Moves the strip.
    ///
    /// # Safety
    /// As for [`run`](super::run), with `unit == W` and `elements == E`; there are as many units, and
    /// with `stream` they start on a line and fill whole lines.
    #[inline(always)]
    pub(super) unsafe fn run<const W: usize, const E: usize, const N: usize>(&mut self) {
        let (wide, len) = (V::BYTES / W, self.columns.len);
        let first = self.byte / W * E;
        let last = self.columns.prefix_lens.len().min(first + self.vectors * wide * E);
        let prefix_lens = &self.columns.prefix_lens[first..last];
        // SAFETY: kernel contract 1 to 4.
        unsafe {
            if prefix_lens.iter().all(|&prefix_len| prefix_len == prefix_lens[0]) {
                return self.rows::<E>(prefix_lens[0]);
            }
            // Columns that are too long to be staged whole take some steps of the output at a time.
            let whole = E > 1
                || self.pitch::<W, E>(len).saturating_mul(self.vectors * wide) <= self.columns.room;
            let most = if whole { len } else { self.most::<W, E, N>() };
            // Otherwise what is staged is the output, zeros included, and no prefix says otherwise.
            self.zero &= whole;
            self.prefix_lens[..self.vectors * wide * E].fill(MaybeUninit::new(0));
            if whole {
                for (column, &prefix_len) in prefix_lens.iter().enumerate() {
                    self.prefix_lens[Self::listed::<W, E, N>(column / E, column % E)]
                        .write(prefix_len as u32);
                }
            }
            let mut first = 0;
            while first < len {
                // The last steps overlap the ones before them, if they are fewer than a square has.
                let end = len.min(first + most);
                let steps = first.min(end - N)..end;
                self.place::<W, E, N>(steps.len());
                match whole {
                    true => self.load::<W, E, N>(),
                    false => self.gather::<W, E>(steps.clone()),
                }
                self.store::<W, E, N>(steps);
                first = end;
            }
        }
    }

    /// The steps of columns that are staged at a time, if whole columns are too long.
    #[inline(always)]
    fn most<const W: usize, const E: usize, const N: usize>(&self) -> usize {
        let units = self.vectors * (V::BYTES / W);
        (self.columns.room / units - behind(E)) / W / N * N
    }

    /// Lists where columns of `len` steps are in the buffer.
    #[inline(always)]
    fn place<const W: usize, const E: usize, const N: usize>(&mut self, len: usize) {
        let pitch = self.pitch::<W, E>(len);
        for unit in 0..self.vectors * (V::BYTES / W) {
            for element in 0..E {
                self.places[Self::listed::<W, E, N>(unit, element)].write((unit * pitch) as u32);
            }
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
    unsafe fn rows<const E: usize>(&self, prefix_len: usize) {
        let columns = *self.columns;
        for at in 0..columns.len {
            let from = if at < prefix_len { prefix_len - 1 - at } else { at };
            let zero = columns.zero && at >= prefix_len;
            let row = self.row_of_output(at);
            for byte in (0..self.vectors).map(|vector| vector * V::BYTES) {
                // SAFETY: kernel contract 1 to 4; there are more zeros than in a vector; streamed
                // strips are aligned.
                unsafe {
                    let vector = match zero {
                        true => V::load(ZEROS.as_ptr()),
                        false => Row::<E>::new(&columns, from, self.byte + byte).read(&columns),
                    };
                    let row = row.add(byte);
                    if self.stream { vector.store_nontemporal(row) } else { vector.store(row) }
                }
            }
        }
    }

    /// Stages some steps of the output, each read by itself: rows of the output are still written
    /// whole.
    ///
    /// # Safety
    /// As for [`run`](Self::run), for units of one element.
    #[inline(always)]
    unsafe fn gather<const W: usize, const E: usize>(&self, steps: Range<usize>) {
        let Columns { src, pitches, zero, .. } = *self.columns;
        for unit in 0..self.vectors * (V::BYTES / W) {
            let prefix_len = self.columns.prefix_lens[self.byte / W + unit];
            // SAFETY: kernel contract 1 to 4: the steps of a window exist, and the buffer has room for
            // one of each column.
            unsafe {
                let mut to = self.columns.stage.add(unit * self.pitch::<W, E>(steps.len()));
                for at in steps.clone() {
                    let from = if at < prefix_len { prefix_len - 1 - at } else { at };
                    let from = src.offset(pitches[0] * from as isize).add(self.byte + unit * W);
                    copy_unit::<W>(
                        if zero && at >= prefix_len { ZEROS.as_ptr() } else { from },
                        to,
                    );
                    to = to.add(W);
                }
            }
        }
    }

    /// Transposes the strip into the staging buffer.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn load<const W: usize, const E: usize, const N: usize>(&self) {
        // Copies, which the compiler keeps in registers: stores to the buffer might change the
        // originals, as far as it knows.
        let (columns, byte, vectors) = (*self.columns, self.byte, self.vectors);
        let (len, pitch) = (columns.len, self.pitch::<W, E>(columns.len));
        let step = columns.pitches[0];
        let ahead = step.wrapping_mul(AHEAD as isize);
        let mut at = 0;
        while at < len {
            // The last square overlaps the one before it.
            let first = at.min(len - N);
            let mut to = columns.stage.wrapping_add(first * W);
            for vector in 0..vectors {
                let mut square = no_square::<V, N>();
                let byte = byte + vector * V::BYTES;
                let mut row = Row::<E>::new(&columns, first, byte);
                // SAFETY: kernel contract 1 to 4; rows `first..first + N` exist.
                unsafe {
                    for of_row in &mut square {
                        of_row.write(row.read(&columns));
                        V::prefetch(row.further(ahead).start(&columns));
                        row = row.further(step);
                    }
                    let transposed = transpose::<V, W, N>(square);
                    let mut unit = to;
                    for staged in transposed {
                        match const { N * W == V::BYTES } {
                            true => staged.assume_init().store(unit),
                            false => staged.assume_init().store_sixteens(unit, N * pitch),
                        }
                        unit = unit.wrapping_add(pitch);
                    }
                }
                to = to.wrapping_add(V::BYTES / W * pitch);
            }
            at += N;
        }
    }

    /// Transposes what has been staged, reversed as far as prefixes say, back into rows `steps`,
    /// which are all that is staged.
    ///
    /// # Safety
    /// As for [`run`](Self::run), with these steps of each column in the buffer.
    #[inline(always)]
    unsafe fn store<const W: usize, const E: usize, const N: usize>(&self, steps: Range<usize>) {
        let len = steps.len();
        let mut pieces = MaybeUninit::<Pieces>::uninit();
        let mut at = 0;
        while at < len {
            // The last squares overlap the ones before them, and have pieces of their own.
            let first = at.min(len - N);
            // SAFETY: kernel contract 1 to 4; steps `first..first + N` exist in each column.
            unsafe {
                if at == 0 || first < at {
                    self.mix::<W, E, N>(len, (first < at).then_some(first));
                }
                self.squares::<W, E, N>(first, &steps, &mut pieces);
            }
            at += N;
        }
    }

    /// Puts the piece of each column in which its prefix ends behind the column: the prefix's last
    /// steps, reversed, then the rest unchanged. The piece starts at `first`, or at the multiple
    /// of `N` before the prefix's end.
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
                let prefix_len = self.prefix_lens[Self::listed::<W, E, N>(unit, element)];
                // SAFETY: `run` wrote the prefixes of all columns of the strip.
                let prefix_len = unsafe { prefix_len.assume_init() } as usize;
                let first = first.unwrap_or(prefix_len / N * N);
                if first >= prefix_len || prefix_len - first > N {
                    continue;
                }
                let staged = self.columns.stage.wrapping_add(unit * pitch);
                // SAFETY: kernel contract 1 to 4; there is room for `N` steps of each element behind
                // a column, and for the zeros behind all of them.
                unsafe {
                    let kept = match self.zero {
                        true => self.columns.stage.add(self.columns.room),
                        false => staged.add(first * W),
                    };
                    let mixed = staged.add(len * W + element * N * W);
                    match const { N * W == V::BYTES } {
                        true => {
                            V::partly_reversed::<W>(staged, kept, prefix_len - first).store(mixed)
                        }
                        false => V::Sixteen::partly_reversed::<W>(staged, kept, prefix_len - first)
                            .store(mixed),
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
        let (wide, stage) = (V::BYTES / W, self.columns.stage);
        // Registers narrower than a line fill the lines of `N` rows in turns. A processor has few buffers
        // for lines that are not complete, and writes those in parts if it needs another.
        let stream = self.stream && const { V::BYTES == LINE || N <= 4 };
        let (step, dst) = (self.columns.pitches[1], self.row_of_output(steps.start + first));
        let ahead = step.wrapping_mul(AHEAD as isize);
        // SAFETY: kernel contract 1 to 4; `find` writes all that `square` reads, and streamed strips
        // are aligned.
        unsafe {
            // All of them first: what is read right after it was written has to wait.
            self.find::<W, E, N>(first, steps.len(), pieces);
            let pieces = pieces.as_ptr();
            for vector in 0..self.vectors {
                let listed = vector * wide * E;
                let from = (&raw const (*pieces).from).cast::<u32>().add(listed);
                let flips = (&raw const (*pieces).flips).cast::<u8>().add(listed);
                let transposed = square::<V, W, E, N>(stage, from, flips);
                let mut row = dst.wrapping_add(vector * V::BYTES);
                for of_row in transposed {
                    match stream {
                        true => of_row.assume_init().store_nontemporal(row),
                        false => {
                            // An ordinary store reads its line first, and stores wait for each other.
                            V::prefetch(row.wrapping_offset(ahead));
                            of_row.assume_init().store(row);
                        }
                    }
                    row = row.wrapping_offset(step);
                }
            }
        }
    }

    /// The piece of each column that becomes steps `first..first + N`. Without branches: which of the
    /// three cases it is changes from column to column.
    ///
    /// # Safety
    /// As for [`squares`](Self::squares).
    #[inline(always)]
    unsafe fn find<const W: usize, const E: usize, const N: usize>(
        &self,
        first: usize,
        len: usize,
        pieces: &mut MaybeUninit<Pieces>,
    ) {
        let wide = V::BYTES / W;
        let (zero, zeros) = (self.zero, self.columns.room as u32);
        let reversed = if const { N * W == V::BYTES } { 1 } else { (SIXTEEN - W) as u8 };
        let (first, side, pieces) = (first as u32, N as u32, pieces.as_mut_ptr());
        // SAFETY: a strip has no more than `MOST_COLUMNS` columns; `run` wrote their prefixes, and
        // `place` their places.
        unsafe {
            let from = (&raw mut (*pieces).from).cast::<u32>();
            let flips = (&raw mut (*pieces).flips).cast::<u8>();
            for listed in (0..self.vectors * E).map(|of_vector| of_vector * wide) {
                let prefix_lens = self.prefix_lens.get_unchecked(listed..listed + wide);
                let places = self.places.get_unchecked(listed..listed + wide);
                let mixed = (len + listed / wide % E * N) as u32;
                for (index, (prefix_len, place)) in prefix_lens.iter().zip(places).enumerate() {
                    let (prefix_len, place) = (prefix_len.assume_init(), place.assume_init());
                    let left = prefix_len.wrapping_sub(first) as i32;
                    let step = if left > 0 { mixed } else { first };
                    let step =
                        if left >= N as i32 { (left as u32).wrapping_sub(side) } else { step };
                    let place = place.wrapping_add(step.wrapping_mul(W as u32));
                    let place = if zero && left <= 0 { zeros } else { place };
                    let turn = if left >= N as i32 { reversed } else { 0 };
                    from.add(listed + index).write(place);
                    flips.add(listed + index).write(turn);
                }
            }
        }
    }

    /// Where a row of the output starts in this strip.
    #[inline(always)]
    fn row_of_output(&self, at: usize) -> *mut u8 {
        let row = self.columns.dst.wrapping_offset(self.columns.pitches[1] * at as isize);
        row.wrapping_add(self.byte)
    }
}

/// Pieces of `N` steps of each column of a vector, transposed into `N` rows.
///
/// # Safety
/// Kernel contract 3; for each column, `from` and `flips` have a piece inside the buffer.
#[inline(always)]
unsafe fn square<V: Simd, const W: usize, const E: usize, const N: usize>(
    stage: *const u8,
    from: *const u32,
    flips: *const u8,
) -> Square<V, N> {
    let (wide, parts) = (V::BYTES / W, V::BYTES / W / N);
    let mut square = no_square::<V, N>();
    // SAFETY: kernel contract 3; all pieces are inside the buffer, as required.
    unsafe {
        for (register, units) in square.iter_mut().enumerate() {
            let mut put_together = MaybeUninit::<V>::uninit();
            for element in 0..E {
                let at = element * wide + register * parts;
                let (from, flips) = (from.add(at), flips.add(at));
                let piece = match const { N * W == V::BYTES } {
                    true => V::load_either::<W>(stage.add(from.read() as usize), flips.read() != 0),
                    false => V::load_sixteens::<W>(stage, from, flips),
                };
                put_together.write(match element {
                    0 => piece,
                    _ => {
                        let mask = V::splat(words::mask::<E>(element));
                        V::select(mask, piece, put_together.assume_init())
                    }
                });
            }
            units.write(put_together.assume_init());
        }
        transpose::<V, W, N>(square)
    }
}

/// A place in a row of the input.
#[derive(Clone, Copy)]
struct Row<const E: usize> {
    /// Units of one element: its distance from the first column in bytes. Packed elements: which
    /// element of the input the row starts with.
    at: isize,
    /// Bytes from there, if elements are packed.
    byte: usize,
}

impl<const E: usize> Row<E> {
    /// `byte` bytes into row `step`.
    #[inline(always)]
    fn new(columns: &Columns<'_>, step: usize, byte: usize) -> Self {
        let row = columns.pitches[0].wrapping_mul(step as isize);
        match const { E == 1 } {
            true => Row { at: row.wrapping_add(byte as isize), byte: 0 },
            false => Row { at: row.wrapping_add(columns.first as isize), byte },
        }
    }

    /// The same place of another row.
    #[inline(always)]
    fn further(self, distance: isize) -> Self {
        Row { at: self.at.wrapping_add(distance), ..self }
    }

    /// The byte that it is in, or starts in.
    #[inline(always)]
    fn start(self, columns: &Columns<'_>) -> *const u8 {
        match const { E == 1 } {
            true => columns.src.wrapping_offset(self.at),
            false => columns.src.wrapping_add((self.at as usize / E).wrapping_add(self.byte)),
        }
    }

    /// A vector from there on.
    ///
    /// # Safety
    /// Kernel contract 1 and 3, for the elements of a vector.
    #[inline(always)]
    unsafe fn read<V: Simd>(self, columns: &Columns<'_>) -> V {
        let (start, phase) = (self.start(columns), self.at as usize % E * (8 / E));
        // SAFETY: kernel contract 1: elements on a byte fill the vector.
        unsafe {
            match E > 1 && phase > 0 {
                true => shifted::<V, E>(start, phase, columns.end),
                false => V::load(start),
            }
        }
    }
}

/// A vector of packed elements that start `phase` bits into the byte at `start`.
///
/// # Safety
/// Kernel contract 1 and 3; the input ends at `end`, which is behind the vector's last element.
#[inline(always)]
unsafe fn shifted<V: Simd, const E: usize>(start: *const u8, phase: usize, end: *const u8) -> V {
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
        let (here, next) = (V::load(start), V::load(start.add(1)));
        match words::high_first_of(E) {
            true => bits::funnel(here, next, phase),
            false => bits::funnel(next, here, 8 - phase),
        }
    }
}
