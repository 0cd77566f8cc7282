//! Movement of packed elements: 1, 2 or 4 bits, several to a byte.
//!
//! Out of place, the output is written in its own order through a [`BitSink`], up to 32 bits
//! at a time, so that whole bytes are stored once and never read. In place, elements are
//! swapped one pair at a time.

use super::lengths::LengthReader;
use crate::dtype::{BitOrder, Grain};
use crate::plan::{Dim, Flow, Plan};
use smallvec::SmallVec;

/// How a packed element lies in its byte.
#[derive(Clone, Copy)]
struct Packing {
    /// 1, 2 or 4.
    bits: usize,
    order: BitOrder,
}

impl Packing {
    fn of(plan: &Plan) -> Self {
        match plan.unit().grain {
            Grain::Packed { bits, order } => Packing { bits: bits as usize, order },
            Grain::Byte => Packing { bits: 8, order: BitOrder::LowFirst },
        }
    }

    /// Turns a byte between memory and low-first order. Its own inverse.
    #[inline]
    fn low_first(self, byte: u8) -> u8 {
        match self.order {
            BitOrder::LowFirst => byte,
            // Only 1-bit types are high-first, so reversing bits reverses elements.
            BitOrder::HighFirst => byte.reverse_bits(),
        }
    }

    /// Loads `count` elements (at most 32 bits) that start at element `at`.
    ///
    /// # Safety
    /// The elements lie inside memory valid for reads.
    #[inline]
    unsafe fn load(self, src: *const u8, at: usize, count: usize) -> u32 {
        let (first, last) = (at * self.bits / 8, (at + count) * self.bits - 1);
        let mut word = 0u64;
        for byte in first..=last / 8 {
            // SAFETY: each of these bytes holds one of the elements.
            let value = self.low_first(unsafe { src.add(byte).read() });
            word |= u64::from(value) << ((byte - first) * 8);
        }
        let bits = count * self.bits;
        ((word >> (at * self.bits % 8)) & ((1 << bits) - 1)) as u32
    }

    /// Reverses the order of the `count` elements in a word.
    #[inline]
    fn reverse(self, word: u32, count: usize) -> u32 {
        // Reversing all bits reverses the elements and the bits within each; undo the latter.
        let mut word = word.reverse_bits() >> (32 - count * self.bits);
        if self.bits >= 2 {
            word = (word & 0x5555_5555) << 1 | (word >> 1) & 0x5555_5555;
        }
        if self.bits >= 4 {
            word = (word & 0x3333_3333) << 2 | (word >> 2) & 0x3333_3333;
        }
        word
    }

    /// Loads the 64 bits that start at element `at`, low-first.
    ///
    /// # Safety
    /// Their elements lie inside memory valid for reads.
    #[inline(always)]
    unsafe fn load_word(self, src: *const u8, at: usize) -> u64 {
        let (byte, shift) = (at * self.bits / 8, at * self.bits % 8);
        // SAFETY: eight bytes hold the elements, or nine if they start inside a byte.
        unsafe {
            let word = u64::from_le(src.add(byte).cast::<u64>().read_unaligned());
            let word = self.words_low_first(word);
            if shift == 0 {
                return word;
            }
            let next = u64::from(self.low_first(src.add(byte + 8).read()));
            word >> shift | next << (64 - shift)
        }
    }

    /// [`low_first`](Self::low_first) for eight bytes.
    #[inline(always)]
    fn words_low_first(self, word: u64) -> u64 {
        match self.order {
            BitOrder::LowFirst => word,
            BitOrder::HighFirst => word.swap_bytes().reverse_bits(),
        }
    }

    /// Reverses the order of all elements in a word.
    #[inline(always)]
    fn reverse_word(self, word: u64) -> u64 {
        let mut word = word.reverse_bits();
        if self.bits >= 2 {
            let mask = 0x5555_5555_5555_5555;
            word = (word & mask) << 1 | (word >> 1) & mask;
        }
        if self.bits >= 4 {
            let mask = 0x3333_3333_3333_3333;
            word = (word & mask) << 2 | (word >> 2) & mask;
        }
        word
    }

    /// Elements in 32 bits.
    fn per_word(self) -> usize {
        32 / self.bits
    }
}

/// Writes elements from low addresses to high ones, storing each byte once.
///
/// Bits of a byte that are not the sink's own are merged from memory, unless the plan seals
/// its last byte, when they become zero.
struct BitSink {
    dst: *mut u8,
    packing: Packing,
    seals: bool,
    /// The byte that `pending` belongs to.
    byte: usize,
    /// Bits gathered for that byte, low-first.
    pending: u64,
    /// How many bits of it are accounted for, foreign ones included.
    filled: usize,
    /// How many low bits of it are foreign: not ours to write.
    foreign: usize,
}

impl BitSink {
    /// Goes to element `at`, closing what was pending elsewhere.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    unsafe fn seek(&mut self, at: usize) {
        let bit = at * self.packing.bits;
        if bit == self.byte * 8 + self.filled {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { self.close() };
        (self.byte, self.filled, self.foreign) = (bit / 8, bit % 8, bit % 8);
    }

    /// Appends `count` elements (at most 32 bits).
    ///
    /// # Safety
    /// The elements' bytes are valid for writes, and for reads where they are shared.
    #[inline]
    unsafe fn push(&mut self, word: u32, count: usize) {
        self.pending |= u64::from(word) << self.filled;
        self.filled += count * self.packing.bits;
        while self.filled >= 8 {
            // SAFETY: the caller's promise.
            unsafe { self.store(self.pending as u8, !0 << self.foreign) };
            self.byte += 1;
            self.pending >>= 8;
            self.filled -= 8;
            self.foreign = 0;
        }
    }

    /// Appends 64 bits at a byte boundary.
    ///
    /// # Safety
    /// As for [`push`](Self::push), with nothing pending.
    #[inline(always)]
    unsafe fn put_word(&mut self, word: u64) {
        debug_assert!(self.filled == 0);
        let word = self.packing.words_low_first(word).to_le();
        // SAFETY: the caller's promise: all eight bytes are the elements' own.
        unsafe { self.dst.add(self.byte).cast::<u64>().write_unaligned(word) };
        self.byte += 8;
    }

    /// Stores a last, partly filled byte.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    unsafe fn close(&mut self) {
        if self.filled > self.foreign {
            let own = ((1u32 << self.filled) - (1 << self.foreign)) as u8;
            // SAFETY: the caller's promise.
            unsafe { self.store(self.pending as u8, own) };
        }
        (self.pending, self.filled, self.foreign) = (0, 0, 0);
    }

    /// Stores the bits of `own` in the current byte and keeps the others.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    #[inline]
    unsafe fn store(&mut self, value: u8, own: u8) {
        // SAFETY: the byte holds one of our elements; it is only read when it holds foreign
        // ones too, and then the output is initialised (`Plan::merges_bytes`).
        unsafe {
            let at = self.dst.add(self.byte);
            let value = if own == 0xFF || self.seals {
                value
            } else {
                self.packing.low_first(at.read()) & !own | value & own
            };
            at.write(self.packing.low_first(value));
        }
    }
}

/// Runs a plan of packed elements out of place.
///
/// # Safety
/// `src` is valid for reads over the plan's input reach, `dst` for writes over its output
/// reach (and initialised, if the plan merges bytes), the two do not overlap, and `lengths`
/// is there if the plan has a `FlipPrefix`.
pub(super) unsafe fn copy(
    plan: &Plan,
    src: *const u8,
    dst: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    let packing = Packing::of(plan);
    let dims = unfolded(plan);
    let Some((row, outer)) = dims.split_last() else { return };
    let seals = plan.seals_last_byte();
    let mut sink = BitSink { dst, packing, seals, byte: 0, pending: 0, filled: 0, foreign: 0 };
    let mut index: SmallVec<[usize; 8]> = SmallVec::from_elem(0, outer.len());
    loop {
        // SAFETY: `index` runs over the outer dimensions, so rows lie inside both reaches.
        unsafe { copy_row(plan, &index, outer, row, packing, src, &mut sink, lengths) };
        if !next(&mut index, outer) {
            break;
        }
    }
    // SAFETY: as above.
    unsafe { sink.close() };
}

/// The plan's dimensions with a unit of several elements spelled out as one more.
fn unfolded(plan: &Plan) -> SmallVec<[Dim; 8]> {
    let mut dims: SmallVec<[Dim; 8]> = plan.dims().into();
    let count = plan.unit().count;
    if count > 1 || dims.is_empty() {
        dims.push(Dim { len: count, src: 1, dst: 1, lengths: 0, flow: Flow::Keep });
    }
    dims
}

/// Counts on; false after the last index.
fn next(index: &mut [usize], dims: &[Dim]) -> bool {
    for (at, dim) in index.iter_mut().zip(dims).rev() {
        *at += 1;
        if *at < dim.len {
            return true;
        }
        *at = 0;
    }
    false
}

/// Copies one row of the innermost dimension to its place in the output.
///
/// # Safety
/// As for [`copy`], with `index` inside `outer`.
#[expect(clippy::too_many_arguments, reason = "the loop's state, spelled out")]
unsafe fn copy_row(
    plan: &Plan,
    index: &[usize],
    outer: &[Dim],
    row: &Dim,
    packing: Packing,
    src: *const u8,
    sink: &mut BitSink,
    lengths: Option<LengthReader<'_>>,
) {
    let mut from = plan.src().origin as isize;
    let mut to = plan.dst().origin as isize;
    let mut length_at = lengths.map_or(0, |lengths| lengths.origin());
    let mut prefix = None;
    for (&at, dim) in index.iter().zip(outer) {
        let step = at as isize;
        to += dim.dst * step;
        length_at += dim.lengths * step;
        match dim.flow {
            Flow::Keep => from += dim.src * step,
            Flow::Flip => from += dim.src * (dim.len as isize - 1 - step),
            Flow::FlipPrefix => prefix = Some((at, dim.src)),
        }
    }
    // Where step `at` of the reversed axis comes from, in a lane of this length.
    let mirrored = |at: usize, len: usize| if at < len { len - 1 - at } else { at } as isize;
    // SAFETY: the lanes' lengths lie at these offsets; every run below stays inside the row,
    // which lies inside both reaches.
    unsafe {
        let length = |offset: isize| lengths.map_or(0, |lengths| lengths.at(offset));
        match (row.flow, prefix) {
            (Flow::FlipPrefix, _) => {
                let len = length(length_at);
                let turn = row.src * (len as isize - 1);
                let head = Run { from: from + turn, src: -row.src, to, dst: row.dst, len };
                copy_run(head, packing, src, sink);
                let rest = len as isize;
                let (from, to) = (from + row.src * rest, to + row.dst * rest);
                let tail = Run { from, src: row.src, to, dst: row.dst, len: row.len - len };
                copy_run(tail, packing, src, sink);
            }
            // The length changes with every element of the row.
            (flow, Some((at, stride))) if row.lengths != 0 => {
                for position in 0..row.len as isize {
                    let len = length(length_at + row.lengths * position);
                    let along =
                        if flow == Flow::Flip { row.len as isize - 1 - position } else { position };
                    let from = from + stride * mirrored(at, len) + row.src * along;
                    let to = to + row.dst * position;
                    copy_run(Run { from, src: 1, to, dst: 1, len: 1 }, packing, src, sink);
                }
            }
            (flow, prefix) => {
                if let Some((at, stride)) = prefix {
                    from += stride * mirrored(at, length(length_at));
                }
                let (start, step) = match flow {
                    Flow::Flip => (row.src * (row.len as isize - 1), -row.src),
                    _ => (0, row.src),
                };
                let run = Run { from: from + start, src: step, to, dst: row.dst, len: row.len };
                copy_run(run, packing, src, sink);
            }
        }
    }
}

/// Elements one after the other: where they come from and go to, and the steps between.
struct Run {
    from: isize,
    src: isize,
    to: isize,
    dst: isize,
    len: usize,
}

/// # Safety
/// The run lies inside memory valid for reads (`src`) and for the sink's writes.
unsafe fn copy_run(run: Run, packing: Packing, src: *const u8, sink: &mut BitSink) {
    let Run { mut from, src: step, to, dst: dst_step, mut len } = run;
    // SAFETY: the caller's promise; chunks below never run past `len`.
    unsafe {
        if dst_step != 1 {
            for position in 0..len as isize {
                sink.seek((to + dst_step * position) as usize);
                sink.push(packing.load(src, (from + step * position) as usize, 1), 1);
            }
            return;
        }
        if len == 0 {
            return;
        }
        sink.seek(to as usize);
        if step.abs() == 1 && len * packing.bits >= 128 {
            // Up to a byte boundary, then by words of 64 bits straight into the output.
            let lead = (8 - sink.filled) % 8 / packing.bits;
            let (words, front) = ((len - lead) * packing.bits / 64, from);
            if lead > 0 {
                let lowest = if step == 1 { front } else { front - lead as isize + 1 };
                let word = packing.load(src, lowest as usize, lead);
                sink.push(if step == 1 { word } else { packing.reverse(word, lead) }, lead);
            }
            let per_word = 64 / packing.bits;
            from += step * lead as isize;
            for _ in 0..words {
                let word = if step == 1 {
                    packing.load_word(src, from as usize)
                } else {
                    let lowest = from - (per_word as isize - 1);
                    packing.reverse_word(packing.load_word(src, lowest as usize))
                };
                sink.put_word(word);
                from += step * per_word as isize;
            }
            len -= lead + words * per_word;
        }
        let chunk = if step.abs() == 1 { packing.per_word() } else { 1 };
        while len > 0 {
            let count = len.min(chunk);
            let span = count as isize;
            let word = if step == -1 {
                let lowest = from - (span - 1);
                packing.reverse(packing.load(src, lowest as usize, count), count)
            } else {
                packing.load(src, from as usize, count)
            };
            sink.push(word, count);
            from += step * span;
            len -= count;
        }
    }
}

/// Runs a plan of packed elements on one piece of memory.
///
/// # Safety
/// The plan fits in place, `memory` is valid and initialised over its reach, and `lengths` is
/// there if the plan has a `FlipPrefix`.
pub(super) unsafe fn reverse_in_place(
    plan: &Plan,
    memory: *mut u8,
    lengths: Option<LengthReader<'_>>,
) {
    let packing = Packing::of(plan);
    let dims = unfolded(plan);
    let mut index: SmallVec<[usize; 8]> = SmallVec::from_elem(0, dims.len());
    while !plan.keeps_order() {
        let (mut here, mut image) = (plan.dst().origin as isize, plan.dst().origin as isize);
        let mut length_at = lengths.map_or(0, |lengths| lengths.origin());
        for (&at, dim) in index.iter().zip(&dims) {
            length_at += dim.lengths * at as isize;
        }
        for (&at, dim) in index.iter().zip(&dims) {
            let mirror = match dim.flow {
                Flow::Keep => at,
                Flow::Flip => dim.len - 1 - at,
                Flow::FlipPrefix => {
                    // SAFETY: `index` lies inside the plan, so a length lies at this offset.
                    let len = lengths.map_or(0, |lengths| unsafe { lengths.at(length_at) });
                    if at < len { len - 1 - at } else { at }
                }
            };
            here += dim.dst * at as isize;
            image += dim.dst * mirror as isize;
        }
        // Each pair is met from both ends; swap it the first time.
        if here < image {
            // SAFETY: both elements lie inside the plan's reach.
            unsafe { swap(packing, memory, here as usize, image as usize) };
        }
        if !next(&mut index, &dims) {
            break;
        }
    }
    if plan.seals_last_byte() {
        // SAFETY: the last byte of the reach.
        unsafe { seal(packing, memory, plan.dst().end) };
    }
}

/// # Safety
/// Both elements lie inside `memory`.
unsafe fn swap(packing: Packing, memory: *mut u8, a: usize, b: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let (from_a, from_b) = (packing.load(memory, a, 1), packing.load(memory, b, 1));
        set(packing, memory, a, from_b as u8);
        set(packing, memory, b, from_a as u8);
    }
}

/// # Safety
/// The element lies inside `memory`.
unsafe fn set(packing: Packing, memory: *mut u8, at: usize, value: u8) {
    let shift = at * packing.bits % 8;
    let mask = ((1u16 << packing.bits) - 1) as u8;
    // SAFETY: the caller's promise.
    unsafe {
        let byte = memory.add(at * packing.bits / 8);
        let others = packing.low_first(byte.read()) & !(mask << shift);
        byte.write(packing.low_first(others | value << shift));
    }
}

/// Clears the bits behind the last element.
///
/// # Safety
/// Element `end - 1` lies inside `memory`.
unsafe fn seal(packing: Packing, memory: *mut u8, end: usize) {
    let used = end * packing.bits % 8;
    if used == 0 {
        return;
    }
    // SAFETY: the caller's promise: the byte holds element `end - 1`.
    unsafe {
        let byte = memory.add(end * packing.bits / 8);
        let kept = packing.low_first(byte.read()) & ((1u8 << used) - 1);
        byte.write(packing.low_first(kept));
    }
}
