//! The operators of nodes. Attributes that other versions of an operator have as inputs are
//! operands here too ([`Source::Integers`](super::parts::Source)), so that each operator has one
//! form.

use crate::value::Value;
use retrograde::{DType, ReverseMode};
use std::ops::RangeInclusive;

/// The operator of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    /// Returns its input.
    Identity,
    /// OpenVINO Reverse: data, axes.
    Reverse(ReverseMode),
    /// ONNX or OpenVINO ReverseSequence: data, lengths.
    Sequence {
        time: i64,
        batch: i64,
        /// The ONNX opset whose rules apply; OpenVINO's if `None`.
        opset: Option<u32>,
    },
    /// ONNX or OpenVINO Slice: data, starts, ends, axes (optional), steps (optional).
    Slice,
    /// OpenVINO StridedSlice: data, begin, end, strides (optional).
    StridedSlice(Box<Masks>),
    /// Permutes the axes: data, order (optional), which errors call by this name.
    Transpose(&'static str),
    /// Removes axes of size 1: data, axes (optional).
    Squeeze {
        /// Whether an axis of another size is kept, and not an error.
        skips: bool,
    },
    /// Inserts axes of size 1: data, axes.
    Unsqueeze,
    /// The sizes of the axes from `start` to `end`: data.
    Shape { start: i64, end: Option<i64>, dtype: DType },
    /// Picks entries of one axis: data, indices, axis.
    Gather,
    /// Joins any number of tensors along an axis.
    Concat { axis: i64 },
    /// Converts between integers: data.
    Cast(DType),
    /// A tensor of one repeated element, which is this one and has no axes: shape.
    Fill(Box<Value>),
    /// ONNX Expand, OpenVINO Broadcast: data, shape.
    Expand {
        /// Whether axes of size 1 of the shape are repeated too.
        both: bool,
    },
    /// The same elements in another shape: data, shape.
    Reshape {
        /// Whether a size of 0 means that of the input.
        zero_keeps: bool,
        /// Whether a size of 0 and one to be inferred may occur together.
        infers_zero: bool,
    },
    /// Integers at equal distances: start, limit, delta. They have the type of `start`, or this one.
    Range(Option<DType>),
    /// Integers, element by element: two tensors.
    Arithmetic(Function),
    /// ONNX Where, OpenVINO Select: condition, yes, no.
    Select,
    /// Picks elements along an axis: data, indices.
    GatherElements { axis: i64 },
    /// Picks elements by lists of indices, one for each of the first axes: data, indices.
    GatherNd,
}

/// A function of two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Add,
    Subtract,
    Multiply,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
}

impl Function {
    /// By its name in ONNX or OpenVINO.
    pub(crate) fn named(name: &str) -> Option<Function> {
        Some(match name {
            "Add" => Function::Add,
            "Sub" | "Subtract" => Function::Subtract,
            "Mul" | "Multiply" => Function::Multiply,
            "Less" => Function::Less,
            "LessOrEqual" | "LessEqual" => Function::LessOrEqual,
            "Greater" => Function::Greater,
            "GreaterOrEqual" | "GreaterEqual" => Function::GreaterOrEqual,
            "Equal" => Function::Equal,
            _ => return None,
        })
    }
}

/// The masks of a StridedSlice, one entry for each entry of `begin`; missing entries are false.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Masks {
    /// `begin` is ignored: from the first element.
    pub(crate) begin: Vec<bool>,
    /// `end` is ignored: to the last element.
    pub(crate) end: Vec<bool>,
    /// Inserts an axis of size 1.
    pub(crate) new_axis: Vec<bool>,
    /// Picks one element and removes the axis.
    pub(crate) shrink_axis: Vec<bool>,
    /// Stands for all axes that the other entries leave.
    pub(crate) ellipsis: Vec<bool>,
}

impl Op {
    /// The number of inputs.
    pub(super) fn arity(&self) -> RangeInclusive<usize> {
        match self {
            Op::Identity | Op::Cast(_) | Op::Shape { .. } | Op::Fill(_) => 1..=1,
            Op::Reverse(_) | Op::Sequence { .. } | Op::Unsqueeze | Op::Expand { .. } => 2..=2,
            Op::Reshape { .. } | Op::Arithmetic(_) => 2..=2,
            Op::GatherElements { .. } | Op::GatherNd => 2..=2,
            Op::Transpose(_) | Op::Squeeze { .. } => 1..=2,
            Op::Gather | Op::Range(_) | Op::Select => 3..=3,
            Op::StridedSlice(_) => 3..=4,
            Op::Slice => 3..=5,
            Op::Concat { .. } => 1..=usize::MAX,
        }
    }

    /// Whether it changes only how its first input is read, and moves nothing.
    pub(super) fn is_view(&self) -> bool {
        use Op::*;
        let picks = matches!(self, Identity | Slice | StridedSlice(_) | Transpose(_));
        picks || matches!(self, Squeeze { .. } | Unsqueeze | Expand { .. } | Reshape { .. })
    }

    /// How many of the first inputs must be there; others may be omitted.
    pub(super) fn required(&self) -> usize {
        match self {
            Op::Concat { .. } => usize::MAX,
            op => *op.arity().start(),
        }
    }
}
