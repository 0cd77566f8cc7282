//! The cases and their data.

use retrograde::DType;
use retrograde_bench::call::{Call, Failure, Operator};
use retrograde_bench::cases::{self, Harness};

/// A shape, a type and what is reversed.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) reversed: Reversed,
}

/// What is reversed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reversed {
    /// A whole axis.
    Axis(usize),
    /// The first steps of sequences; time is this axis, the batch is the other of the first two.
    Time(usize),
}

/// The cases that other crates have something for.
pub(crate) fn all() -> Result<Vec<Case>, Failure> {
    Harness::Rust.cases()?.into_iter().map(Case::of).collect()
}

impl Case {
    fn of(case: cases::Case) -> Result<Case, Failure> {
        let reversed = match case.operator {
            Operator::Reverse(axes) if axes.len() == 1 => Reversed::Axis(axes[0] as usize),
            Operator::Sequence { time, batch } if batch == 1 - time => {
                Reversed::Time(time as usize)
            }
            other => return Err(format!("{}: nobody has {other:?}", case.name).into()),
        };
        Ok(Case { dtype: case.dtype, shape: case.shape, reversed })
    }

    pub(crate) fn name(&self) -> String {
        let mut sizes: Vec<_> = self.shape.iter().map(usize::to_string).collect();
        if let Reversed::Time(time) = self.reversed {
            sizes[time].insert(0, 'T');
            sizes[1 - time].insert(0, 'B');
        }
        let sizes = sizes.join(",");
        match self.reversed {
            Reversed::Axis(axis) => format!("flip {} [{sizes}] axis {axis}", self.dtype),
            Reversed::Time(_) => format!("sequence {} [{sizes}]", self.dtype),
        }
    }

    /// The case with its largest axes halved until it has no more bytes than this.
    pub(crate) fn shrunk(mut self, most: usize) -> Case {
        while self.bytes() > most {
            // Of equal sizes the first one, as in the Python harness.
            match self.shape.iter_mut().rev().max() {
                Some(largest) if *largest > 1 => *largest /= 2,
                _ => break,
            }
        }
        self
    }

    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.bits().unwrap_or(0) / 8
    }
}

/// A case with its input and its lengths.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) case: Case,
    pub(crate) src: Vec<u8>,
    pub(crate) lengths: Vec<i64>,
}

impl Job {
    pub(crate) fn new(case: Case) -> Result<Job, Failure> {
        let mut random = Random(20);
        let src = match case.dtype {
            DType::U8 => (0..case.bytes()).map(|_| random.below(256) as u8).collect(),
            DType::F32 => {
                let numbers = (0..case.bytes() / 4).map(|_| random.below(1 << 24) as f32);
                numbers.flat_map(f32::to_ne_bytes).collect()
            }
            other => return Err(format!("no data of type {other}").into()),
        };
        let lengths = match case.reversed {
            Reversed::Axis(_) => Vec::new(),
            Reversed::Time(time) => {
                let size = case.shape[time] as u64;
                (0..case.shape[1 - time]).map(|_| 1 + random.below(size) as i64).collect()
            }
        };
        Ok(Job { case, src, lengths })
    }

    /// The input as floats, if its type is f32.
    pub(crate) fn floats(&self) -> Option<Vec<f32>> {
        let numbers = || self.src.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes));
        (self.case.dtype == DType::F32).then(|| numbers().collect())
    }

    /// Retrograde's call for it.
    pub(crate) fn call(&self) -> Result<Call, Failure> {
        let lengths: Vec<u8> =
            self.lengths.iter().flat_map(|length| length.to_ne_bytes()).collect();
        let (operator, lengths) = match self.case.reversed {
            Reversed::Axis(axis) => (Operator::Reverse(vec![axis as i64]), None),
            Reversed::Time(time) => {
                let (time, batch) = (time as i64, 1 - time as i64);
                (Operator::Sequence { time, batch }, Some((DType::I64, &lengths[..])))
            }
        };
        Call::new(operator, self.case.dtype, &self.case.shape, None, lengths)
    }
}

/// The bytes of numbers.
pub(crate) fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// Knuth's linear congruential generator: the same numbers in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 32) * end) >> 32
    }
}
