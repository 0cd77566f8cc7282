//! One case: an operator call on tensors with certain memory layouts.

use crate::oracle;
use crate::placement::{Kind, Placement, Width};
use std::sync::Arc;

/// What happens to a length beyond the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// An error.
    Strict,
    /// Clamped to the axis.
    Clamp,
}

/// An operator and its attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Whole axes.
    Reverse {
        /// One entry per axis.
        flips: Vec<bool>,
    },
    /// A padded batch.
    Sequence {
        /// The reversed axis.
        time: usize,
        /// The axis with one length per entry.
        batch: usize,
        /// For lengths beyond the axis.
        policy: Policy,
    },
    /// Every lane by its own length.
    Subsequences {
        /// The reversed axis.
        axis: usize,
        /// For lengths beyond the axis.
        policy: Policy,
    },
}

/// The integer types that lengths may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Integer {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Integer {
    /// All of them.
    pub const ALL: [Integer; 8] = [
        Integer::I64,
        Integer::U32,
        Integer::I32,
        Integer::U64,
        Integer::I16,
        Integer::U16,
        Integer::I8,
        Integer::U8,
    ];

    /// Bytes.
    pub fn bytes(self) -> usize {
        match self {
            Integer::I8 | Integer::U8 => 1,
            Integer::I16 | Integer::U16 => 2,
            Integer::I32 | Integer::U32 => 4,
            Integer::I64 | Integer::U64 => 8,
        }
    }

    /// Whether it has negative values.
    pub fn is_signed(self) -> bool {
        matches!(self, Integer::I8 | Integer::I16 | Integer::I32 | Integer::I64)
    }
}

/// Lengths in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseLengths {
    /// The values, in row-major order of the lengths tensor.
    pub values: Vec<i64>,
    /// Their type.
    pub integer: Integer,
    /// Their memory layout.
    pub placement: Placement,
    /// The memory that holds them; gaps are filled with 0xEE.
    pub buffer: Vec<u8>,
}

impl CaseLengths {
    /// Lays out lengths of a shape.
    pub fn new(values: Vec<i64>, shape: &[usize], integer: Integer, kind: Kind) -> Self {
        let placement = Placement::new(kind, Width::Bytes(integer.bytes()), shape);
        let mut buffer = vec![0xEE; placement.bytes];
        for (value, &position) in values.iter().zip(&placement.positions) {
            let bytes = &value.to_ne_bytes();
            let bytes = match cfg!(target_endian = "little") {
                true => &bytes[..integer.bytes()],
                false => &bytes[8 - integer.bytes()..],
            };
            buffer[position..position + bytes.len()].copy_from_slice(bytes);
        }
        CaseLengths { values, integer, placement, buffer }
    }
}

/// Where the result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Over the input.
    InPlace,
    /// Into separate memory.
    Separate(Arc<Placement>),
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The operator.
    pub operation: Operation,
    /// The input.
    pub input: Arc<Placement>,
    /// The lengths, if the operator takes any.
    pub lengths: Option<Arc<CaseLengths>>,
    /// The output.
    pub output: Output,
}

/// The expected result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// For each position of the output, in row-major order, the input element it holds.
    Sources(Vec<usize>),
    /// An error about this length, counted in row-major order, and nothing written.
    BadLength(usize),
}

impl Case {
    /// Computed by the oracle.
    pub fn expected(&self) -> Expected {
        let shape = &self.input.shape;
        let (limit, policy) = match &self.operation {
            Operation::Reverse { flips } => {
                return Expected::Sources(oracle::reverse(shape, flips));
            }
            Operation::Sequence { time, policy, .. } => (shape[*time], *policy),
            Operation::Subsequences { axis, policy } => (shape[*axis], *policy),
        };
        let values = self.lengths.as_ref().map_or(&[][..], |lengths| &lengths.values);
        let bad =
            |&value: &i64| value < 0 || (policy == Policy::Strict && value as u64 > limit as u64);
        if let Some(at) = values.iter().position(bad) {
            return Expected::BadLength(at);
        }
        let clamped: Vec<usize> = values.iter().map(|&v| (v as usize).min(limit)).collect();
        Expected::Sources(match &self.operation {
            Operation::Sequence { time, batch, .. } => {
                oracle::reverse_sequence(shape, *time, *batch, &clamped)
            }
            Operation::Subsequences { axis, .. } => {
                oracle::reverse_subsequences(shape, *axis, &clamped)
            }
            Operation::Reverse { .. } => unreachable!("returned above"),
        })
    }

    /// The shape the operator's lengths must have.
    pub fn lengths_shape(operation: &Operation, shape: &[usize]) -> Vec<usize> {
        match operation {
            Operation::Reverse { .. } => vec![],
            Operation::Sequence { batch, .. } => vec![shape[*batch]],
            Operation::Subsequences { axis, .. } => {
                let mut lanes = shape.to_vec();
                lanes[*axis] = 1;
                lanes
            }
        }
    }
}
