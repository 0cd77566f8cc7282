//! Errors of a call, each a variant that carries the values.
//!
//! There are three kinds, in the order in which a call can fail: a view that does not fit its
//! memory ([`LayoutError`]), operands that an operator refuses ([`Error`]), and buffers or length
//! values that a plan cannot run on ([`ExecuteError`]).

use crate::dtype::DType;
use crate::orientation::{Orientation, UnknownOrientation};
use std::fmt;
use thiserror::Error as ThisError;

/// The operators, for errors and reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// Whole axes ([`Reverse`](crate::Reverse)).
    Reverse,
    /// Padded batches ([`ReverseSequence`](crate::ReverseSequence)).
    ReverseSequence,
    /// Each lane by its own length ([`ReverseSubsequences`](crate::ReverseSubsequences)).
    ReverseSubsequences,
    /// Segments of one axis ([`ReverseSegments`](crate::ReverseSegments)).
    ReverseSegments,
    /// The orientations of images ([`Orient`](crate::Orient)).
    Orient,
}

impl Operator {
    /// What a mask has an entry for.
    fn entry(self) -> &'static str {
        match self {
            Operator::Reverse | Operator::Orient => "batch entry",
            Operator::ReverseSequence => "sequence",
            Operator::ReverseSubsequences => "lane",
            Operator::ReverseSegments => "segment",
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Operator::Reverse => "Reverse",
            Operator::ReverseSequence => "ReverseSequence",
            Operator::ReverseSubsequences => "ReverseSubsequences",
            Operator::ReverseSegments => "ReverseSegments",
            Operator::Orient => "Orient",
        })
    }
}

/// A layout that is impossible, or that does not fit its memory.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum LayoutError {
    /// Shape and strides have different ranks.
    #[error(
        "shape has rank {rank} but {}: one stride per axis is needed",
        Count(*strides, "stride", "strides")
    )]
    StrideCount {
        /// Rank of the shape.
        rank: usize,
        /// Number of strides given.
        strides: usize,
    },
    /// The number of elements or bytes exceeds the address space.
    #[error("shape {shape:?} of {dtype} needs more than {} bytes", isize::MAX)]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: DType,
    },
    /// Size times stride overflows.
    #[error(
        "axis {axis}: size {size} times stride {stride} reaches past what an address can hold ({} bytes)",
        isize::MAX
    )]
    StrideOverflow {
        /// The axis.
        axis: usize,
        /// Its size.
        size: usize,
        /// Its stride, as given.
        stride: isize,
    },
    /// The offset alone overflows.
    #[error("offset {offset} reaches past what an address can hold ({} bytes)", isize::MAX)]
    OffsetOverflow {
        /// The offset, as given.
        offset: usize,
    },
    /// Negative strides lead before the start of the buffer.
    #[error(
        "negative strides lead {} before the start of the buffer: raise the offset (now {offset})",
        grains(*before, *packed)
    )]
    BeforeStart {
        /// How far before the start of the buffer.
        before: usize,
        /// The offset of the first element.
        offset: usize,
        /// Whether distances count packed elements instead of bytes.
        packed: bool,
    },
    /// The buffer ends before the last element.
    #[error("the layout reaches {} but the buffer has {available}", bytes(*needed))]
    OutOfBounds {
        /// Bytes the layout reaches.
        needed: usize,
        /// Bytes in the buffer.
        available: usize,
    },
    /// A dense view must fill its buffer exactly.
    #[error("shape {shape:?} of {dtype} takes {} but the buffer has {available}", bytes(*expected))]
    SizeMismatch {
        /// The shape.
        shape: Vec<usize>,
        /// The element type.
        dtype: DType,
        /// Bytes that the shape needs.
        expected: usize,
        /// Bytes in the buffer.
        available: usize,
    },
    /// The number of elements in a slice does not match its shape.
    #[error("shape {shape:?} has {} but the slice has {available}", elements(*expected))]
    ElementCount {
        /// The shape.
        shape: Vec<usize>,
        /// Elements that the shape has.
        expected: usize,
        /// Elements in the slice.
        available: usize,
    },
    /// An order that does not name every axis once.
    #[error("axis order {order:?} does not name each of the {rank} axes once")]
    AxisOrder {
        /// The order given.
        order: Vec<usize>,
        /// Rank of the layout.
        rank: usize,
    },
    /// An axis that the layout does not have.
    #[error("axis {axis} does not exist: the layout has rank {rank}")]
    NoAxis {
        /// The axis given.
        axis: usize,
        /// Rank of the layout.
        rank: usize,
    },
    /// A slice that leaves its axis.
    #[error(
        "slice of axis {axis}: {} from {start} on, {step} apart, leave its size {size}",
        elements(*count)
    )]
    SliceOutside {
        /// The axis.
        axis: usize,
        /// The first element.
        start: usize,
        /// How many.
        count: usize,
        /// From one to the next.
        step: isize,
        /// Size of the axis.
        size: usize,
    },
    /// Strings have no width.
    #[error(
        "string elements have no fixed width: use the slice functions (in_place, to_vec_cloned)"
    )]
    Strings,
    /// Byte strides on a type whose elements share bytes.
    #[error("{dtype} packs several elements into a byte: give strides in elements, not bytes")]
    PackedByteStrides {
        /// The packed type.
        dtype: DType,
    },
}

/// A number with its noun, in the singular or plural.
struct Count<N>(N, &'static str, &'static str);

impl<N: fmt::Display + PartialEq + From<u8>> fmt::Display for Count<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count(number, one, several) = self;
        write!(f, "{number} {}", if *number == N::from(1) { one } else { several })
    }
}

fn bytes<N>(number: N) -> Count<N> {
    Count(number, "byte", "bytes")
}

fn elements(number: usize) -> Count<usize> {
    Count(number, "element", "elements")
}

fn grains(number: usize, packed: bool) -> Count<usize> {
    if packed { elements(number) } else { bytes(number) }
}

/// Operands that an operator refuses. Nothing has been written.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A view or layout is impossible.
    #[error(transparent)]
    Layout(#[from] LayoutError),

    /// A slice and its shape disagree, or the output view is impossible.
    #[error("{operator}: {argument}: {source}")]
    Argument {
        /// The operator.
        operator: Operator,
        /// Which argument.
        argument: &'static str,
        /// What is wrong with it.
        source: LayoutError,
    },

    /// Input and output have different shapes.
    #[error("{operator}: output has shape {output:?}, expected the input's shape {input:?}")]
    OutputShape {
        /// The operator.
        operator: Operator,
        /// Shape of the input.
        input: Vec<usize>,
        /// Shape of the output.
        output: Vec<usize>,
    },
    /// Input and output have different element types.
    #[error("{operator}: output has type {output}, expected the input's type {input}")]
    OutputType {
        /// The operator.
        operator: Operator,
        /// Type of the input.
        input: DType,
        /// Type of the output.
        output: DType,
    },
    /// Two output elements share memory (or cannot be shown not to).
    #[error(
        "{operator}: output of shape {shape:?} with strides {strides:?} (in {}) places two elements on the same memory",
        if *packed { "elements" } else { "bytes" }
    )]
    OutputOverlapsItself {
        /// The operator.
        operator: Operator,
        /// Shape of the output.
        shape: Vec<usize>,
        /// Its strides, in bytes or packed elements.
        strides: Vec<isize>,
        /// Whether strides count packed elements instead of bytes.
        packed: bool,
    },

    /// An axis index outside the tensor's rank.
    #[error(
        "{operator}: {argument} is {value}, outside [{low}, {high}] for a tensor of rank {rank}"
    )]
    AxisOutOfRange {
        /// The operator.
        operator: Operator,
        /// Which argument, with its position: `axes[2]`, `axis`.
        argument: String,
        /// The value given.
        value: i128,
        /// The lowest allowed value.
        low: i128,
        /// The highest allowed value.
        high: i128,
        /// Rank of the tensor.
        rank: usize,
    },
    /// An axis that is named twice, where axes must be distinct.
    #[error(
        "Reverse: axes[{position}] is {value}, the same axis as axes[{first}], expected distinct axes"
    )]
    AxisTwice {
        /// Which of the axes.
        position: usize,
        /// Its value, as given.
        value: i128,
        /// Which one is the same.
        first: usize,
    },
    /// An axis of a scalar.
    #[error("{operator}: {argument} is {value}, but a scalar (rank 0) has no axes")]
    ScalarHasNoAxes {
        /// The operator.
        operator: Operator,
        /// Which argument, with its position.
        argument: String,
        /// The value given.
        value: i128,
    },
    /// The tensor of axes is not one-dimensional.
    #[error("Reverse: axes must be a 1-D tensor, got shape {shape:?}")]
    AxesRank {
        /// Shape of the axes tensor.
        shape: Vec<usize>,
    },
    /// Axis indices of a type that is not an integer.
    #[error("Reverse: mode \"index\" needs axes of an integer type (i8 ... u64), got {dtype}")]
    AxesType {
        /// Type of the axes tensor.
        dtype: DType,
    },
    /// A mask that is not boolean.
    #[error("Reverse: mode \"mask\" needs a bool tensor, got {dtype}")]
    MaskType {
        /// Type of the mask.
        dtype: DType,
    },
    /// A mask of the wrong length.
    #[error(
        "Reverse: the mask has {}, expected {rank}, one per axis",
        Count(*len, "entry", "entries")
    )]
    MaskLength {
        /// Entries in the mask.
        len: usize,
        /// Rank of the tensor.
        rank: usize,
    },
    /// An unknown mode.
    #[error("Reverse: mode {mode:?} does not exist, expected \"index\" or \"mask\"")]
    UnknownMode {
        /// The mode given.
        mode: String,
    },

    /// A number or name that is no orientation.
    #[error(transparent)]
    Orientation(#[from] UnknownOrientation),
    /// Two of the axes of rows, columns and images are the same.
    #[error("Orient: {argument} and {other} are both axis {axis}, expected different axes")]
    SameOrientAxes {
        /// Which argument.
        argument: &'static str,
        /// Which other argument.
        other: &'static str,
        /// The axis, counted from the start.
        axis: usize,
    },
    /// The output has another shape than the oriented input.
    #[error(
        "Orient: output has shape {output:?}, expected {expected:?} (orientation {orientation})"
    )]
    OrientedShape {
        /// The orientation.
        orientation: Orientation,
        /// Shape of the output.
        output: Vec<usize>,
        /// The shape that it must have.
        expected: Vec<usize>,
    },
    /// A transpose in place.
    #[error(
        "Orient: orientation {orientation} exchanges rows and columns, which does not run in place: give another output"
    )]
    OrientInPlace {
        /// The orientation.
        orientation: Orientation,
    },
    /// Orientations that are not one for each image.
    #[error(
        "Orient: {} given, expected {expected}, one for each entry of axis {batch_axis} (batch_axis)",
        Count(*got, "orientation", "orientations")
    )]
    OrientationCount {
        /// Orientations given.
        got: usize,
        /// Images.
        expected: usize,
        /// The axis of the images, counted from the start.
        batch_axis: usize,
    },
    /// Orientations that give images of different shapes.
    #[error(
        "Orient: orientations[{position}] is {orientation}, whose result has {columns} rows and {rows} columns, expected \
         {rows} and {columns} as for orientations[0], {first}"
    )]
    OrientationsDiffer {
        /// The first that differs.
        position: usize,
        /// Its value.
        orientation: Orientation,
        /// The first of all.
        first: Orientation,
        /// Rows of the first result.
        rows: usize,
        /// Columns of the first result.
        columns: usize,
    },

    /// The tensor has too few axes.
    #[error("{operator}: input has rank {rank}, expected at least {least}")]
    RankTooSmall {
        /// The operator.
        operator: Operator,
        /// Rank of the input.
        rank: usize,
        /// The least rank allowed.
        least: usize,
    },
    /// `time_axis` or `batch_axis` is neither 0 nor 1.
    #[error("ReverseSequence: {argument} is {value}, expected 0 or 1")]
    SequenceAxis {
        /// `time_axis` or `batch_axis`.
        argument: &'static str,
        /// The value given.
        value: i64,
    },
    /// `time_axis` and `batch_axis` are the same.
    #[error("ReverseSequence: time_axis and batch_axis are both {value}, they must differ")]
    SameSequenceAxes {
        /// The axis, counted from the start.
        value: usize,
    },
    /// The lengths are not one for each entry of the batch axis.
    #[error(
        "ReverseSequence: lengths have shape {got:?}, expected [{batch_size}]: axis {batch_axis} \
         (batch_axis) has size {batch_size}, axis {time_axis} (time_axis) has size {time_size}"
    )]
    SequenceLengthsShape {
        /// Shape given.
        got: Vec<usize>,
        /// The axis that is reversed, counted from the start.
        time_axis: usize,
        /// Its size.
        time_size: usize,
        /// The axis of the sequences, counted from the start.
        batch_axis: usize,
        /// Its size.
        batch_size: usize,
    },
    /// An opset without ReverseSequence.
    #[error("ReverseSequence: opset {opset} does not have it, it came with opset 10")]
    Opset {
        /// The requested opset.
        opset: u32,
    },
    /// A data type that the operator's specification does not list.
    #[error("{operator}: input of type {dtype} is not allowed at {level}")]
    InputType {
        /// The operator.
        operator: Operator,
        /// The type given.
        dtype: DType,
        /// The requested specification, such as `opset 10`.
        level: String,
    },

    /// The lengths tensor has the wrong shape.
    #[error("{operator}: lengths have shape {got:?}, expected {expected:?}")]
    LengthsShape {
        /// The operator.
        operator: Operator,
        /// Shape given.
        got: Vec<usize>,
        /// Shape expected.
        expected: Vec<usize>,
    },
    /// A flat slice of lengths has the wrong number of values.
    #[error(
        "{operator}: {} given, expected {expected}, one per lane of shape {lanes:?}",
        Count(*got, "length", "lengths")
    )]
    LengthsCount {
        /// The operator.
        operator: Operator,
        /// Values given.
        got: usize,
        /// Values expected.
        expected: usize,
        /// The shape the lengths would have as a tensor.
        lanes: Vec<usize>,
    },
    /// The lengths tensor has the wrong type.
    #[error("{operator}: lengths have type {dtype}, expected {allowed}")]
    LengthsType {
        /// The operator.
        operator: Operator,
        /// Type given.
        dtype: DType,
        /// Types allowed.
        allowed: &'static str,
    },
    /// A length is negative or, under the strict policy, longer than the axis.
    #[error("{operator}: lengths{index:?} is {value}, outside [0, {limit}]")]
    LengthOutOfRange {
        /// The operator.
        operator: Operator,
        /// Index in the lengths tensor.
        index: Vec<usize>,
        /// The length found there.
        value: i128,
        /// Size of the reversed axis.
        limit: usize,
    },

    /// Lengths for a prepared call that are laid out in another way than those it was prepared for.
    #[error(
        "{operator}: {values} have {given}, but the call was prepared for {prepared}: prepare it again"
    )]
    PreparedLengths {
        /// The operator.
        operator: Operator,
        /// `lengths` or `offsets`.
        values: &'static str,
        /// Their shape, strides and offset.
        given: String,
        /// Those that the call was prepared for.
        prepared: String,
    },

    /// A tail of zeros for elements that may have no value of zero bytes.
    #[error(
        "{operator}: a tail of zeros needs elements of a known type, not a slice of any type: use to_vec_of or views"
    )]
    TailOfAnyType {
        /// The operator.
        operator: Operator,
    },
    /// Offsets of a type that is not an integer.
    #[error("ReverseSegments: offsets have type {dtype}, expected {allowed}")]
    OffsetsType {
        /// Type given.
        dtype: DType,
        /// Types allowed.
        allowed: &'static str,
    },
    /// Offsets that are not one or more values in one dimension.
    #[error("ReverseSegments: offsets have shape {shape:?}, expected [n + 1] for n segments")]
    OffsetsShape {
        /// Shape given.
        shape: Vec<usize>,
    },
    /// An offset that descends, is beyond the axis, or is the first one and not 0.
    #[error("{operator}: offsets[{index}] is {value}, outside [{low}, {high}]")]
    OffsetOutOfRange {
        /// The operator.
        operator: Operator,
        /// Which one.
        index: usize,
        /// The offset found there.
        value: i128,
        /// The offset before it: 0 for the first.
        low: usize,
        /// The size of the axis: 0 for the first.
        high: usize,
    },

    /// A mask of a type that is not boolean.
    #[error("{operator}: where has type {dtype}, expected bool")]
    WhereType {
        /// The operator.
        operator: Operator,
        /// Type given.
        dtype: DType,
    },
    /// A mask of the wrong shape.
    #[error(
        "{operator}: where has shape {got:?}, expected {expected:?}, one for each {}",
        operator.entry()
    )]
    WhereShape {
        /// The operator.
        operator: Operator,
        /// Shape given.
        got: Vec<usize>,
        /// Shape expected.
        expected: Vec<usize>,
    },
    /// A mask for axes among which the batch axis is.
    #[error("Reverse: batch_axis is {axis}, which is reversed itself, expected another axis")]
    WhereReversesBatch {
        /// The axis, counted from the start.
        axis: usize,
    },
    /// A mask for axes that do not move as one.
    #[error(
        "Reverse: with where, the axes that are reversed must be neighbours in memory, on both sides: \
         reverse one axis after the other"
    )]
    WhereAxes,
    /// A mask, and a tail of zeros.
    #[error(
        "{operator}: where keeps what it does not reverse, tail=zero does not: use one of them"
    )]
    WhereTail {
        /// The operator.
        operator: Operator,
    },

    /// A table of the wrong size.
    #[error(
        "a table has {}, expected 256 (bytes), 16 (4-bit elements) or 4 (2-bit elements)",
        Count(*len, "entry", "entries")
    )]
    TableLength {
        /// Entries given.
        len: usize,
    },
    /// An entry that is no element.
    #[error("table[{index}] is {value}, outside [0, {}]", (1 << bits) - 1)]
    TableEntry {
        /// Which entry.
        index: usize,
        /// Its value.
        value: u8,
        /// Bits in an element.
        bits: u32,
    },
    /// A table for other elements.
    #[error(
        "{operator}: a table of {entries} entries is for elements of {}, got {dtype}: view them as such",
        match entries { 256 => "one byte (u8, i8)", 16 => "4 bits (u4, i4)", _ => "2 bits (u2, i2)" }
    )]
    TableType {
        /// The operator.
        operator: Operator,
        /// Type of the input.
        dtype: DType,
        /// Entries of the table.
        entries: usize,
    },
    /// A table for elements that need not have the values in it.
    #[error(
        "{operator}: a table needs elements of a known type, not a slice of any type: use to_bytes or views"
    )]
    TableOfAnyType {
        /// The operator.
        operator: Operator,
    },

    /// The plan could not run on these buffers.
    #[error("{operator}: {source}")]
    Execute {
        /// The operator.
        operator: Operator,
        /// Why not.
        source: ExecuteError,
    },
}

/// Buffers or length values that a plan cannot run on. Nothing has been written.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum ExecuteError {
    /// A buffer is smaller than the plan reaches.
    #[error("the {buffer} buffer has {} but the plan reaches {needed}", bytes(*available))]
    BufferTooSmall {
        /// `input`, `output`, `lengths` or `offsets`.
        buffer: &'static str,
        /// Bytes that the plan reaches.
        needed: usize,
        /// Bytes in the buffer.
        available: usize,
    },
    /// Input and output share memory without being the same view.
    #[error(
        "input and output overlap without being the same view: use separate memory, or the very same view to work in place"
    )]
    Overlap,
    /// Lengths and output share memory.
    #[error("lengths and output overlap: the lengths would change while they are read")]
    LengthsOverlap,
    /// In place was requested, but input and output have different layouts.
    #[error("this plan moves between two different layouts: it cannot run in place")]
    NotInPlace,
    /// Packed elements share bytes with others that must be kept, but the output is uninitialised.
    #[error(
        "the output's packed elements share bytes with their neighbours: it must be initialised memory"
    )]
    Uninitialised,
    /// The plan needs lengths.
    #[error("the plan needs lengths but none were given")]
    LengthsMissing,
    /// The plan does not use lengths.
    #[error("lengths were given but the plan reverses whole axes")]
    LengthsUnexpected,
    /// Lengths of another type than the plan reads.
    #[error(
        "the {values} are of type {given}, but the plan was made for {planned}: convert them to {planned}, or plan for {given}"
    )]
    LengthsType {
        /// `lengths` or `offsets`.
        values: &'static str,
        /// Their type.
        given: DType,
        /// The type that the plan was made for.
        planned: DType,
    },
    /// A length is negative or, under the strict policy, longer than the axis.
    #[error("length number {ordinal} (in row-major order) is {value}, outside [0, {limit}]")]
    LengthOutOfRange {
        /// Index of the length, in row-major order of the lengths tensor.
        ordinal: usize,
        /// The length found there.
        value: i128,
        /// Size of the reversed axis.
        limit: usize,
    },
    /// An offset that descends, is beyond the axis, or is the first one and not 0.
    #[error("offset number {ordinal} is {value}, outside [{low}, {high}]")]
    OffsetOutOfRange {
        /// Index of the offset.
        ordinal: usize,
        /// The offset found there.
        value: i128,
        /// The offset before it: 0 for the first.
        low: usize,
        /// The size of the axis: 0 for the first.
        high: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text with a count in it, for zero, one and several.
    #[test]
    fn counts_agree_with_their_nouns() {
        let (operator, dtype, shape) = (Operator::ReverseSequence, DType::U8, vec![3]);
        let text = |n: usize| {
            let errors: [&dyn fmt::Display; 10] = [
                &LayoutError::StrideCount { rank: 3, strides: n },
                &LayoutError::BeforeStart { before: n, offset: 0, packed: false },
                &LayoutError::BeforeStart { before: n, offset: 0, packed: true },
                &LayoutError::OutOfBounds { needed: n, available: 0 },
                &LayoutError::SizeMismatch {
                    shape: shape.clone(),
                    dtype,
                    expected: n,
                    available: 9,
                },
                &LayoutError::ElementCount { shape: shape.clone(), expected: n, available: 9 },
                &Error::MaskLength { len: n, rank: 3 },
                &Error::LengthsCount { operator, got: n, expected: 3, lanes: shape.clone() },
                &ExecuteError::BufferTooSmall { buffer: "input", needed: 9, available: n },
                &bytes(n as u64),
            ];
            errors.map(|error| error.to_string())
        };
        assert_eq!(
            text(1),
            [
                "shape has rank 3 but 1 stride: one stride per axis is needed",
                "negative strides lead 1 byte before the start of the buffer: raise the offset (now 0)",
                "negative strides lead 1 element before the start of the buffer: raise the offset (now 0)",
                "the layout reaches 1 byte but the buffer has 0",
                "shape [3] of u8 takes 1 byte but the buffer has 9",
                "shape [3] has 1 element but the slice has 9",
                "Reverse: the mask has 1 entry, expected 3, one per axis",
                "ReverseSequence: 1 length given, expected 3, one per lane of shape [3]",
                "the input buffer has 1 byte but the plan reaches 9",
                "1 byte",
            ]
        );
        let nouns = ["stride", "byte", "element", "byte", "byte", "element", "entr", "length"];
        for n in [0, 2, 1000] {
            for (text, noun) in text(n).iter().zip(nouns) {
                let plural = if noun == "entr" { "entries".into() } else { format!("{noun}s") };
                assert!(text.contains(&format!("{n} {plural}")), "{text}");
            }
        }
    }
}
