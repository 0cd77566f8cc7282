//! One case: an operator call on tensors with certain memory layouts.

use crate::oracle;
use crate::placement::{Kind, Placement, Width};
use retrograde::{DType, LengthPolicy};
use std::sync::Arc;

/// How an operator reads its lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// For lengths beyond the axis.
    pub policy: LengthPolicy,
    /// Whether sequences are at the end of the axis.
    pub end: bool,
    /// Whether what is beyond a length becomes zero.
    pub zero: bool,
}

impl Rule {
    /// As in ONNX.
    pub const STRICT: Rule = Rule { policy: LengthPolicy::Strict, end: false, zero: false };
    /// As in DirectML.
    pub const CLAMP: Rule = Rule { policy: LengthPolicy::Clamp, ..Rule::STRICT };

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
    /// An image upright.
    Orient {
        /// Its EXIF number.
        exif: u8,
        /// The axis of its rows.
        rows: usize,
        /// The axis of its columns.
        columns: usize,
    },
    /// One of the others with a mask: its entries that are false stay.
    Where {
        /// The other.
        of: Box<Operation>,
        /// Of whole axes, the axis of the batch.
        batch: usize,
        /// For each entry, sequence, lane or segment.
        mask: Arc<[bool]>,
    },
    /// One of the others with a table.
    LookUp {
        /// The other.
        of: Box<Operation>,
        /// What each value becomes.
        table: Arc<[u8]>,
    },
}

impl Operation {
    /// Whether applying it twice gives the input back.
    pub fn is_involution(&self) -> bool {
        match self {
            Operation::Sequence { rule, .. } | Operation::Subsequences { rule, .. } => !rule.zero,
            Operation::Reverse { .. } | Operation::Segments { .. } => true,
            // Those that run in place.
            Operation::Orient { .. } => self.fits_in_place(),
            Operation::Where { of, .. } => of.is_involution(),
            Operation::LookUp { .. } => false,
        }
    }

    /// Whether it can run in place.
    pub fn fits_in_place(&self) -> bool {
        match self {
            Operation::LookUp { of, .. } => of.fits_in_place(),
            _ => !matches!(self, Operation::Orient { exif: 5.., .. }),
        }
    }

    /// The shape of the output for an input of this shape.
    pub fn output_shape(&self, shape: &[usize]) -> Vec<usize> {
        match *self {
            Operation::Orient { exif, rows, columns } => {
                oracle::oriented(shape, rows, columns, exif)
            }
            Operation::LookUp { ref of, .. } => of.output_shape(shape),
            _ => shape.to_vec(),
        }
    }

    /// The size of the axis that lengths or offsets count.
    pub fn limit(&self, shape: &[usize]) -> Option<usize> {
        match self {
            Operation::Reverse { .. } | Operation::Orient { .. } => None,
            Operation::Where { of, .. } | Operation::LookUp { of, .. } => of.limit(shape),
            Operation::Sequence { time: axis, .. }
            | Operation::Subsequences { axis, .. }
            | Operation::Segments { axis } => Some(shape[*axis]),
        }
    }
}

/// The integer types that lengths may have.
pub const INTEGERS: [DType; 8] =
    [DType::I64, DType::U32, DType::I32, DType::U64, DType::I16, DType::U16, DType::I8, DType::U8];

/// Whether an integer type has negative values.
pub fn is_signed(integer: DType) -> bool {
    matches!(integer, DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// Lengths in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseLengths {
    /// The values, in row-major order of the lengths tensor.
    pub values: Vec<i64>,
    /// Their type.
    pub dtype: DType,
    /// Their memory layout.
    pub placement: Placement,
    /// The memory that holds them; gaps are filled with 0xEE.
    pub buffer: Vec<u8>,
}

impl CaseLengths {
    /// Lays out lengths of a shape.
    pub fn new(values: Vec<i64>, shape: &[usize], dtype: DType, kind: Kind) -> Self {
        let width = dtype.bits().expect("an integer type") / 8;
        Self::placed(values, dtype, Placement::new(kind, Width::Bytes(width), shape))
    }

    /// Puts lengths where a placement says.
    fn placed(values: Vec<i64>, dtype: DType, placement: Placement) -> Self {
        let mut buffer = vec![0xEE; placement.bytes];
        for (value, &position) in values.iter().zip(&placement.positions) {
            let bytes = &value.to_ne_bytes();
            let width = placement.width.pitch();
            let bytes = match cfg!(target_endian = "little") {
                true => &bytes[..width],
                false => &bytes[8 - width..],
            };
            buffer[position..position + bytes.len()].copy_from_slice(bytes);
        }
        CaseLengths { values, dtype, placement, buffer }
    }
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
    /// The output, if it is not the input.
    pub output: Option<Arc<Placement>>,
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
    /// Where the result goes.
    pub fn target(&self) -> &Placement {
        self.output.as_ref().unwrap_or(&self.input)
    }

    /// Computed by the oracle.
    pub fn expected(&self) -> Expected {
        let shape = &self.input.shape;
        let values = self.lengths.as_ref().map_or(&[][..], |lengths| &lengths.values);
        let limit = self.operation.limit(shape).unwrap_or(0);
        let clamped = |policy: LengthPolicy| -> Result<Vec<usize>, usize> {
            let bad = |value: i64| {
                value < 0 || (policy == LengthPolicy::Strict && value as u64 > limit as u64)
            };
            let clamp = |(at, &value): (usize, &i64)| {
                if bad(value) { Err(at) } else { Ok((value as usize).min(limit)) }
            };
            values.iter().enumerate().map(clamp).collect()
        };
        let sources = match &self.operation {
            Operation::Reverse { flips } => Ok(oracle::reverse(shape, flips)),
            &Operation::Orient { exif, rows, columns } => {
                Ok(oracle::orient(shape, rows, columns, exif))
            }
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
            Operation::Where { of, batch, mask } => return self.expected_where(of, *batch, mask),
            // What is looked up is a question of its own: see `looked_up`.
            Operation::LookUp { of, .. } => return self.with(of).expected(),
        };
        sources.map_or_else(Expected::BadLength, Expected::Sources)
    }

    /// The same case of another operation.
    fn with(&self, operation: &Operation) -> Case {
        Case { operation: operation.clone(), ..self.clone() }
    }

    /// The same with a mask: lengths of what stays do not matter, offsets do.
    fn expected_where(&self, of: &Operation, batch: usize, mask: &[bool]) -> Expected {
        let mut expected = self.without_mask(of, mask).expected();
        if let Expected::Sources(sources) = &mut expected {
            self.stay(of, batch, mask, sources);
        }
        expected
    }

    /// The case without its mask: what it does not name has a length of 0.
    pub(crate) fn without_mask(&self, of: &Operation, mask: &[bool]) -> Case {
        let mut case = self.with(of);
        if let (Some(lengths), false) = (&self.lengths, matches!(of, Operation::Segments { .. })) {
            let values = lengths.values.iter().zip(mask);
            let values = values.map(|(&value, &moves)| if moves { value } else { 0 }).collect();
            let CaseLengths { dtype, placement, .. } = (**lengths).clone();
            case.lengths = Some(Arc::new(CaseLengths::placed(values, dtype, placement)));
        }
        case
    }

    /// Gives elements that a mask does not name themselves as sources.
    fn stay(&self, of: &Operation, batch: usize, mask: &[bool], sources: &mut [usize]) {
        let shape = &self.input.shape;
        let values = self.lengths.as_ref().map_or(&[][..], |lengths| &lengths.values);
        let segment = |at: usize| {
            let inside = |pair: &[i64]| (pair[0]..pair[1]).contains(&(at as i64));
            values.windows(2).position(inside)
        };
        oracle::stay(shape, sources, mask, |index| match of {
            Operation::Sequence { batch, .. } => Some(index[*batch]),
            Operation::Subsequences { axis, .. } => {
                let mut lane = index.to_vec();
                lane[*axis] = 0;
                Some(oracle::ordinal(&Case::lengths_shape(of, shape), &lane))
            }
            Operation::Segments { axis } => segment(index[*axis]),
            _ => Some(index[batch]),
        });
    }

    /// For each position of the output, whether its element is reversed, if only in its own place: a
    /// table applies to it. Elsewhere, a tail of zeros would be one.
    pub fn looked_up(&self) -> Vec<bool> {
        let all = || self.target().positions.iter().map(|_| oracle::ZERO).collect::<Vec<_>>();
        match &self.operation {
            Operation::Reverse { .. } | Operation::Orient { .. } => vec![true; all().len()],
            &Operation::Sequence { time, batch, rule } => {
                self.moved(&Operation::Sequence { time, batch, rule: Rule { zero: true, ..rule } })
            }
            &Operation::Subsequences { axis, rule } => {
                self.moved(&Operation::Subsequences { axis, rule: Rule { zero: true, ..rule } })
            }
            Operation::Segments { axis } => {
                let values = self.lengths.as_ref().map_or(&[][..], |lengths| &lengths.values);
                let end = values.last().map_or(0, |&end| end as usize);
                oracle::indices(&self.input.shape).iter().map(|index| index[*axis] < end).collect()
            }
            Operation::Where { of, batch, mask } => {
                let mut stays = all();
                self.stay(of, *batch, mask, &mut stays);
                let inside = self.without_mask(of, mask).looked_up();
                stays.iter().zip(inside).map(|(&at, inside)| at == oracle::ZERO && inside).collect()
            }
            Operation::LookUp { of, .. } => self.with(of).looked_up(),
        }
    }

    /// What an operation that fills its tail with zeros does not fill.
    fn moved(&self, operation: &Operation) -> Vec<bool> {
        match self.with(operation).expected() {
            Expected::Sources(sources) => sources.iter().map(|&at| at != oracle::ZERO).collect(),
            Expected::BadLength(_) => vec![],
        }
    }

    /// The shape the operator's lengths must have. Offsets may be any number.
    pub fn lengths_shape(operation: &Operation, shape: &[usize]) -> Vec<usize> {
        match operation {
            Operation::Reverse { .. } | Operation::Segments { .. } | Operation::Orient { .. } => {
                vec![]
            }
            Operation::Where { of, .. } | Operation::LookUp { of, .. } => {
                Case::lengths_shape(of, shape)
            }
            Operation::Sequence { batch, .. } => vec![shape[*batch]],
            Operation::Subsequences { axis, .. } => {
                let mut lanes = shape.to_vec();
                lanes[*axis] = 1;
                lanes
            }
        }
    }
}
