//! Retrograde reverses tensors: whole axes, padded batches of sequences, every lane by its own
//! length, and packed sequences by their offsets; bit-exactly, for every element type and any
//! strides.
//!
//! | operator | what it reverses | comes from |
//! |---|---|---|
//! | [`Reverse`] | whole axes | OpenVINO `Reverse-1` |
//! | [`ReverseSequence`] | the first `lengths[b]` steps of each sequence in a batch | ONNX |
//! | [`ReverseSubsequences`] | the first `len` elements of each lane, a `len` per lane | DirectML |
//! | [`ReverseSegments`] | segments of one axis, cut by offsets (`cu_seqlens`) | ragged tensors |
//! | [`Orient`] | one or both axes of images, or transposes them | EXIF |
//!
//! ```
//! use retrograde::prelude::*;
//!
//! // Three sequences of up to four steps, padded with zeros, one per row.
//! let x = [1, 2, 3, 4,
//!          5, 6, 0, 0,
//!          7, 8, 9, 0];
//! let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
//! assert_eq!(rows.lengths(&[4, 2, 3]).to_vec(&x, &[3, 4])?,
//!            [4, 3, 2, 1,
//!             6, 5, 0, 0,
//!             9, 8, 7, 0]);
//! # Ok::<(), retrograde::Error>(())
//! ```
//!
//! # How it works
//!
//! An operator checks its operands by its own rules and lowers them to a [`Plan`]: pure data
//! that knows widths, sizes, strides and directions, and prints itself. A backend ([`cpu`])
//! runs plans on memory. The methods of [`Reversal`] do both in one call, on slices of any type and
//! on views ([`TensorRef`], [`TensorMut`]) of any rank and strides. To check and plan once and run
//! often, use [`prepare`](Reversal::prepare):
//!
//! ```
//! use retrograde::prelude::*;
//! use retrograde::{DType, Layout};
//!
//! let rows = Layout::dense(DType::F32, &[2, 3])?;
//! let prepared = Reverse::axes([1]).prepare(&rows, &rows)?;
//! let mut data = [1f32, 2.0, 3.0, 4.0, 5.0, 6.0];
//! prepared.run_in_place(&mut data)?;
//! assert_eq!(data, [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
//! # Ok::<(), retrograde::Error>(())
//! ```
//!
//! # Features
//!
//! - `half`, `num-complex` (default): the element types of `half::f16`, `half::bf16` and
//!   `num_complex::Complex` have their names. Without, they are [`DType::Bytes`] of their width.
//! - `rayon` (default): calls inside a pool of rayon use no more threads than it has.
//! - `ndarray`: the same methods on `ndarray` views of any dimension (`to_array`, `apply_array`,
//!   `in_place_array`).
//! - `testing`: force an instruction set or other thresholds, for the whole process.

pub mod cpu;
mod dtype;
mod each;
mod element;
mod error;
mod fresh;
mod integers;
mod layout;
mod lengths;
mod letters;
mod mask;
#[cfg(feature = "ndarray")]
mod nd;
mod op;
mod orientation;
mod plan;
mod prepared;
mod run;
mod table;
mod tensor;

pub use dtype::{BitOrder, DType, Grain, TypeNames, UnknownType};
pub use element::LengthElement;
pub use error::{Error, ExecuteError, LayoutError, Operator};
pub use layout::{Layout, Reach};
pub use lengths::{Align, LengthPolicy, Lengths, LengthsMemory, Tail};
pub use letters::Stray;
pub use mask::Mask;
pub use op::{
    LengthsOperator, Orient, OrientEach, Reverse, ReverseBatch, ReverseMode, ReverseSegments,
    ReverseSequence, ReverseSubsequences, WithLengths,
};
pub use orientation::{Orientation, UnknownOrientation};
pub use plan::{Dim, Flow, LengthsPlan, Meaning, Pieces, Plan, Unit};
pub use prepared::Prepared;
pub use run::{Reversal, WithTable};
pub use table::Table;
pub use tensor::{Memory, MemoryMut, TensorMut, TensorRef};

/// The operators, and the traits that have their methods.
///
/// ```
/// use retrograde::prelude::*;
///
/// let mut x = [1, 2, 3, 4, 5, 6];
/// Reverse::axes([1]).in_place(&mut x, &[2, 3])?;
/// assert_eq!(x, [3, 2, 1, 6, 5, 4]);
/// # Ok::<(), retrograde::Error>(())
/// ```
pub mod prelude {
    pub use crate::{
        LengthsOperator, Orient, Reversal, Reverse, ReverseSegments, ReverseSequence,
        ReverseSubsequences,
    };
}

/// The Rust examples of the README, of `docs/rust.md` and of `docs/ragged.md` are tests too.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/rust.md")]
    struct Rust;

    #[doc = include_str!("../../../docs/ragged.md")]
    struct Ragged;
}
