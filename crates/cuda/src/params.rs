//! The arguments of the kernels, as the structs that these take: the test in `header` writes their
//! declarations in C++.

#[cfg(test)]
pub(crate) mod header;

#[cfg(test)]
use crate::constants;
use crate::constants::{FEW, MANY, NONE, TABLE_WORDS};

/// The arguments of a kernel: plain data, passed by value.
///
/// # Safety
/// The type must be `repr(C)`, contain no references, and be one of those that `header` declares.
pub(crate) unsafe trait Params {}

/// Addresses on the device, by what the kernels do there: read bytes, write bytes, read a word, change
/// words, change a report.
pub(crate) type Input = u64;
pub(crate) type Output = u64;
pub(crate) type Flag = u64;
pub(crate) type Counter = u64;
pub(crate) type ReportAt = u64;

/// Declares a struct of arguments as `repr(C)`, and lists its fields for the header.
macro_rules! arguments {
    (
        $(#[doc = $about:literal])*
        #[derive($($derived:ident),*)]
        struct $name:ident $(<const $count:ident: usize>)? {
            $($(#[doc = $field_about:literal])* $field:ident: $kind:ty,)*
        }
    ) => {
        $(#[doc = $about])*
        #[repr(C)]
        #[derive($($derived),*)]
        pub(crate) struct $name $(<const $count: usize>)? {
            $($(#[doc = $field_about])* pub(crate) $field: $kind,)*
        }

        #[cfg(test)]
        impl $(<const $count: usize>)? header::Declared for $name $(<$count>)? {
            fn declared() -> header::Struct {
                header::Struct {
                    name: stringify!($name),
                    parameter: concat!($(stringify!($count))?),
                    about: concat!($($about),*).to_owned(),
                    fields: vec![$(header::Field {
                        name: stringify!($field),
                        kind: stringify!($kind),
                        about: concat!($($field_about),*).to_owned(),
                    }),*],
                }
            }
        }
    };
}

arguments! {
    /// A dimension. `src` and `dst` count bytes, or packed elements, and `lengths` bytes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    struct Axis {
        len: u64,
        /// For divide(): by `len`; of packed elements, by `dst`.
        mul: u64,
        src: i64,
        dst: i64,
        lengths: i64,
        shift: u32,
        /// For divide32(): by `len`.
        mul32: u32,
    }
}

impl Axis {
    /// A dimension of size `len` with these strides.
    pub(crate) fn new(len: u64, src: i64, dst: i64, lengths: i64) -> Self {
        let (mul, shift) = divisor(len);
        // The multiplier for 32-bit division: the upper half of `mul`, rounded up.
        let mul32 = mul.div_ceil(1 << 32) as u32;
        Axis { len, mul, src, dst, lengths, shift, mul32 }
    }

    /// A divisor without strides.
    pub(crate) fn count(len: u64) -> Self {
        Axis::new(len, 0, 0, 0)
    }
}

/// The multiplier and shift with which `divide` in `common.cuh` computes `n / d` for `n < 2^63`.
///
/// With `l = ceil(log2 d)`, `mul = ceil(2^(63 + l) / d)` is between 2^63 and 2^64. Rounding up adds
/// less than 1 to `mul`, which cannot change the result for any `n < 2^63`.
pub(crate) fn divisor(d: u64) -> (u64, u32) {
    let d = d.max(1);
    let shift = 64 - (d - 1).leading_zeros();
    let mul = (1u128 << (63 + shift)).div_ceil(u128::from(d));
    (mul as u64, shift)
}

arguments! {
    /// Dimensions, outermost first. `prefix` is the one whose prefix is reversed, or that offsets cut,
    /// or NONE.
    #[derive(Debug, Clone, Copy)]
    struct Loops<const N: usize> {
        rank: u32,
        prefix: u32,
        axis: [Axis; N],
    }
}

impl<const N: usize> Loops<N> {
    /// Loops over at most `N` axes, outermost first.
    pub(crate) fn new(axes: &[Axis], prefix: Option<usize>) -> Self {
        let mut axis = [Axis::default(); N];
        axis[..axes.len()].copy_from_slice(axes);
        Loops { rank: axes.len() as u32, prefix: prefix.map_or(NONE, |at| at as u32), axis }
    }
}

arguments! {
    /// Lengths, one per lane, or the offsets of segments. `first` is null if a plan has neither.
    #[derive(Debug, Clone, Copy)]
    struct Lengths {
        first: Input,
        /// Nonzero: a length of this call is invalid, and nothing may be written.
        stop: Flag,
        limit: u64,
        /// From one offset to the next.
        step: i64,
        /// Offsets; 0 if these are lengths.
        count: u64,
        /// Log2 of the bytes, and SIGNED and UNALIGNED.
        kind: u32,
        /// Steps beyond a length become zero.
        zero: u32,
        /// A call that stops copies its input.
        copies: u32,
        /// Bits of an offset below its value, which say whether the segment that begins there is
        /// reversed: 1 or 0.
        marked: u32,
    }
}

arguments! {
    /// Units that are contiguous on both sides, forward or backward.
    #[derive(Debug, Clone, Copy)]
    struct Rows {
        /// The lowest byte of the first row.
        src: Input,
        dst: Output,
        /// Cache policy of loads.
        policy: u64,
        /// What may be read.
        src_begin: Input,
        src_end: Input,
        threads: u64,
        /// In a row.
        units: u64,
        /// Rows.
        count: u64,
        /// Units that a warp stages of a row.
        segment: u64,
        /// Threads that share a row, or warps that stage one.
        per_row: Axis,
        /// Bytes of a row.
        row: Axis,
        /// Bytes of a unit.
        unit: Axis,
        /// Vectors of a row, if rows are staged a vector apart; of length 0 otherwise.
        apart: Axis,
        /// The row runs from high addresses to low ones.
        src_back: u32,
        dst_back: u32,
        /// The row is the dimension with lengths.
        by_length: u32,
        /// Bytes of shared memory per warp.
        room: u32,
        /// Rows that a warp stages.
        stacked: u32,
        unused: u32,
        lengths: Lengths,
        rows: Loops<FEW>,
    }
}

arguments! {
    /// A dimension that offsets cut into segments, the innermost one.
    #[derive(Debug, Clone, Copy)]
    struct Segments {
        /// The first step of the first lane.
        src: Input,
        dst: Output,
        /// Cache policy of loads.
        policy: u64,
        /// What may be read.
        src_begin: Input,
        src_end: Input,
        /// Of the dimension.
        steps: u64,
        src_step: i64,
        dst_step: i64,
        /// That share a lane.
        blocks: Axis,
        /// Tiles that a block writes in turn.
        run: u64,
        /// Of a unit.
        pieces: Axis,
        /// Its bytes.
        unit: u64,
        /// Bytes of a piece, of which the last one of a unit may have fewer.
        piece: u64,
        lengths: Lengths,
        outer: Loops<FEW>,
    }
}

arguments! {
    /// Pieces in any order.
    #[derive(Debug, Clone, Copy)]
    struct Strided {
        src: Input,
        dst: Output,
        threads: u64,
        lengths: Lengths,
        loops: Loops<MANY>,
    }
}

arguments! {
    /// Runs of output that pieces of the input are gathered for.
    #[derive(Debug, Clone, Copy)]
    struct Gather {
        src: Input,
        dst: Output,
        threads: u64,
        /// Contiguous pieces of output.
        run: u64,
        /// The most vectors that a run touches at any alignment.
        chunk: Axis,
        /// The innermost dimension and the next.
        inner: [Axis; 2],
        /// 0 or 1: one of those; 2: one of `outer`; or NONE.
        prefix: u32,
        /// All runs have the same alignment modulo 16.
        uniform: u32,
        lengths: Lengths,
        outer: Loops<FEW>,
    }
}

arguments! {
    /// Adjacent lanes with a length each.
    #[derive(Debug, Clone, Copy)]
    struct Columns {
        /// The first step of the first column.
        src: Input,
        dst: Output,
        /// Cache policy of loads.
        policy: u64,
        /// From one step of the columns to the next.
        src_step: i64,
        dst_step: i64,
        steps: u64,
        /// Bytes of a row.
        width: u64,
        /// Strips in a row.
        strip: Axis,
        /// Pieces in a column's unit.
        unit: Axis,
        /// In total; blocks beyond that exit.
        strips: u64,
        /// From one column's length to the next.
        lengths_step: i64,
        /// Log2 of a strip's bytes.
        strip_shift: u32,
        /// Rows of the input are 16-byte vectors.
        vectors: u32,
        /// Rows of the output are words of at least 4 bytes.
        words: u32,
        /// Words of a column that a block of a cluster holds.
        block_words: u32,
        /// Rows of a slice, if columns are not staged.
        slice: u32,
        /// Of a strip.
        slices: u32,
        lengths: Lengths,
        outer: Loops<FEW>,
    }
}

arguments! {
    /// Columns that pass through scratch memory.
    #[derive(Debug, Clone, Copy)]
    struct Strips {
        columns: Columns,
        scratch: Output,
        /// For each strip, how many of its tiles are in scratch.
        written: Counter,
        /// For each strip, how many tiles have been read from there.
        read: Counter,
        /// Cache policy of stores to the output.
        store_policy: u64,
        /// Bytes of a column in scratch, whole cache lines.
        pitch: u64,
        /// Tiles between the passes.
        behind: u64,
        /// In a strip.
        tiles: Axis,
        /// Strips that scratch holds.
        ring: Axis,
    }
}

arguments! {
    /// Input whose contiguous dimension is not that of the output.
    #[derive(Debug, Clone, Copy)]
    struct Tiles {
        src: Input,
        dst: Output,
        /// Cache policy of loads.
        policy: u64,
        /// The output's innermost dimension.
        a: Axis,
        /// The input's innermost dimension.
        b: Axis,
        /// Tiles along each.
        tiles_a: Axis,
        tiles_b: Axis,
        /// Bytes of the widest words that divide the rows of a complete tile on both sides.
        words: u32,
        unused: u32,
        lengths: Lengths,
        outer: Loops<FEW>,
    }
}

arguments! {
    /// Elements of 1, 2 or 4 bits. Positions count elements.
    #[derive(Debug, Clone, Copy)]
    struct Packed {
        src: Input,
        dst: Output,
        threads: u64,
        /// The element at index 0 of all dimensions.
        src_origin: i64,
        /// Elements that may be read, rounded to whole bytes.
        src_begin: i64,
        src_end: i64,
        /// Elements from the first to the last of the output.
        dst_begin: i64,
        dst_end: i64,
        /// Start of the first thread's 16 bytes, before `dst` if that is not aligned.
        first_chunk: i64,
        bits_log2: u32,
        high_first: u32,
        /// The unused bits of the last byte are cleared.
        seals: u32,
        /// The prefix dimension runs from high output positions to low ones.
        prefix_back: u32,
        /// The innermost dimension can be moved by words.
        row: u32,
        /// Of a row.
        src_back: u32,
        lengths: Lengths,
        /// Sorted by `dst`, which is positive.
        loops: Loops<MANY>,
    }
}

arguments! {
    /// The result of the check of lengths or offsets, in device memory.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Report {
        /// A length of the latest call is invalid.
        stop: u32,
        /// Since the host last read it, a length was invalid; the rest describes the first.
        failed: u32,
        ordinal: u64,
        value: i64,
        limit: u64,
        /// Of an offset: the one before it.
        low: u64,
        /// The lowest invalid index of the current call; all ones between calls.
        least: u64,
        /// Blocks that have finished.
        arrived: u32,
        is_signed: u32,
        is_offset: u32,
        /// Always 0: read instead of `stop` by calls that an invalid length does not stop.
        zero: u32,
    }
}

impl Lengths {
    /// Of a plan that has neither lengths nor offsets.
    pub(crate) const NONE: Lengths = Lengths {
        first: 0,
        stop: 0,
        limit: 0,
        step: 0,
        count: 0,
        kind: 0,
        zero: 0,
        copies: 0,
        marked: 0,
    };

    /// Offsets of a call into a new output that stages its input: if one is invalid, the call copies
    /// its input instead, or leaves it where it is.
    pub(crate) fn copying_when_stopped(self, report: u64) -> Self {
        Lengths { stop: Report::word(report, true), copies: 1, ..self }
    }
}

impl Report {
    /// The address of the word that tells kernels whether to stop: that of a report at this address,
    /// or the zero in it.
    pub(crate) fn word(report: u64, stops: bool) -> u64 {
        let offset = match stops {
            true => std::mem::offset_of!(Report, stop),
            false => std::mem::offset_of!(Report, zero),
        };
        report + offset as u64
    }

    /// Nothing invalid so far.
    pub(crate) const CLEAR: Report = Report {
        stop: 0,
        failed: 0,
        ordinal: 0,
        value: 0,
        limit: 0,
        low: 0,
        least: u64::MAX,
        arrived: 0,
        is_signed: 0,
        is_offset: 0,
        zero: 0,
    };
}

arguments! {
    /// What is checked before anything moves.
    #[derive(Debug, Clone, Copy)]
    struct Check {
        /// In row-major order.
        first: Input,
        report: ReportAt,
        count: u64,
        /// The largest valid value.
        most: u64,
        /// Size of the axis, for the report.
        limit: u64,
        /// In host memory, set to 1 when a report gets an error; null if nobody looks.
        alarm: Counter,
        /// As in Lengths.
        kind: u32,
        /// They are offsets, not lengths.
        offsets: u32,
        /// As in Lengths.
        marked: u32,
        unused: u32,
        loops: Loops<MANY>,
    }
}

arguments! {
    /// What each byte becomes. The second argument of kernels that look elements up.
    #[derive(Debug, Clone, Copy)]
    struct Table {
        word: [u32; TABLE_WORDS],
    }
}

impl Table {
    /// Of the entries of all bytes.
    pub(crate) fn of(entries: &[u8; 256]) -> Self {
        let mut word = [0; TABLE_WORDS];
        for (word, bytes) in word.iter_mut().zip(entries.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Table { word }
    }
}

macro_rules! params {
    ($($name:ident)+) => {
        // SAFETY: `repr(C)` with numeric fields only, and `header` declares it.
        $(unsafe impl Params for $name {})+
    };
}

params! { Rows Segments Strided Gather Columns Strips Tiles Packed Check Table }

#[cfg(test)]
mod tests {
    use super::*;

    fn divide(n: u64, (mul, shift): (u64, u32)) -> u64 {
        let high = (u128::from(n << 1) * u128::from(mul)) >> 64;
        (high as u64) >> shift
    }

    #[test]
    fn division_by_factor_and_shift_is_division() {
        let mut numbers: Vec<u64> = (0..=40).collect();
        for power in 5..63 {
            numbers.extend([(1 << power) - 1, 1 << power, (1 << power) + 1]);
        }
        numbers.extend([1_000_003, 999_999_999_989, (1 << 63) - 1, 12_345_678_901_234_567]);
        for &d in numbers.iter().filter(|&&d| d > 0) {
            for &n in &numbers {
                assert_eq!(divide(n, divisor(d)), n / d, "{n} / {d}");
                let edge = (n / d * d).saturating_sub(1);
                assert_eq!(divide(edge, divisor(d)), edge / d, "{edge} / {d}");
            }
        }
    }

    #[test]
    fn division_of_32_bits_is_division_too() {
        let divide32 =
            |n: u32, by: Axis| ((u64::from(n << 1) * u64::from(by.mul32)) >> 32) as u32 >> by.shift;
        let mut numbers: Vec<u32> = (0..=40).collect();
        for power in 5..31 {
            numbers.extend([(1 << power) - 1, 1 << power, (1 << power) + 1]);
        }
        numbers.extend([1_000_003, (1 << 31) - 1, 2_147_483_629, 1_234_567_890]);
        for &d in numbers.iter().filter(|&&d| d > 0) {
            let by = Axis::count(u64::from(d));
            for &n in &numbers {
                let edge = (n / d * d).saturating_sub(1);
                assert_eq!((divide32(n, by), divide32(edge, by)), (n / d, edge / d), "{n} / {d}");
            }
        }
    }
}
