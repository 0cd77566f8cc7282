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

/// How an operator reads its lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// For lengths beyond the axis.
    pub policy: Policy,
    /// Whether sequences are at the end of the axis.
    pub end: bool,
    /// Whether what is beyond a length becomes zero.
    pub zero: bool,
}

impl Rule {
    /// As in ONNX.
    pub const STRICT: Rule = Rule { policy: Policy::Strict, end: false, zero: false };
    /// As in DirectML.
    pub const CLAMP: Rule = Rule { policy: Policy::Clamp, ..Rule::STRICT };

    /// Every alignment and tail but the usual ones, with both policies among them.
    pub const OTHERS: [Rule; 3] = [
        Rule { end: true, ..Rule::STRICT },
        Rule { zero: true, ..Rule::CLAMP },
        Rule { end: true, zero: true, ..Rule::CLAMP },
    ];
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
        /// How lengths are read.
        rule: Rule,
    },
    /// Every lane by its own length.
    Subsequences {
        /// The reversed axis.
        axis: usize,
        /// How lengths are read.
        rule: Rule,
    },
    /// Segments between offsets, which take the place of lengths.
    Segments {
        /// The axis that is cut.
        axis: usize,
    },
}

impl Operation {
    /// Whether applying it twice gives the input back.
    pub fn is_involution(&self) -> bool {
        match self {
            Operation::Sequence { rule, .. } | Operation::Subsequences { rule, .. } => !rule.zero,
            Operation::Reverse { .. } | Operation::Segments { .. } => true,
        }
    }

    /// The size of the axis that lengths or offsets count.
    pub fn limit(&self, shape: &[usize]) -> Option<usize> {
        match self {
            Operation::Reverse { .. } => None,
            Operation::Sequence { time: axis, .. }
            | Operation::Subsequences { axis, .. }
            | Operation::Segments { axis } => Some(shape[*axis]),
        }
    }
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
    /// For each position of the output, in row-major order, the input element it holds, or
    /// [`oracle::ZERO`].
    Sources(Vec<usize>),
    /// An error about this length, counted in row-major order, and nothing written.
    BadLength(usize),
}

impl Case {
    /// Computed by the oracle.
    pub fn expected(&self) -> Expected {
        let shape = &self.input.shape;
        let values = self.lengths.as_ref().map_or(&[][..], |lengths| &lengths.values);
        let limit = self.operation.limit(shape).unwrap_or(0);
        let clamped = |policy: Policy| -> Result<Vec<usize>, usize> {
            let bad =
                |value: i64| value < 0 || (policy == Policy::Strict && value as u64 > limit as u64);
            let clamp = |(at, &value): (usize, &i64)| {
                if bad(value) { Err(at) } else { Ok((value as usize).min(limit)) }
            };
            values.iter().enumerate().map(clamp).collect()
        };
        let sources = match &self.operation {
            Operation::Reverse { flips } => Ok(oracle::reverse(shape, flips)),
            Operation::Sequence { time, batch, rule } => {
                let Rule { policy, end, zero } = *rule;
                let sources = |l: Vec<usize>| {
                    oracle::reverse_sequence_at(shape, *time, *batch, &l, end, zero)
                };
                clamped(policy).map(sources)
            }
            Operation::Subsequences { axis, rule } => {
                let Rule { policy, end, zero } = *rule;
                let sources =
                    |l: Vec<usize>| oracle::reverse_subsequences_at(shape, *axis, &l, end, zero);
                clamped(policy).map(sources)
            }
            Operation::Segments { axis } => match oracle::first_bad_offset(values, limit) {
                Some(at) => Err(at),
                None => {
                    let offsets: Vec<usize> = values.iter().map(|&v| v as usize).collect();
                    Ok(oracle::reverse_segments(shape, *axis, &offsets))
                }
            },
        };
        sources.map_or_else(Expected::BadLength, Expected::Sources)
    }

    /// The shape the operator's lengths must have. Offsets may be any number.
    pub fn lengths_shape(operation: &Operation, shape: &[usize]) -> Vec<usize> {
        match operation {
            Operation::Reverse { .. } | Operation::Segments { .. } => vec![],
            Operation::Sequence { batch, .. } => vec![shape[*batch]],
            Operation::Subsequences { axis, .. } => {
                let mut lanes = shape.to_vec();
                lanes[*axis] = 1;
                lanes
            }
        }
    }
}
