//! One operator with its shape, type and lengths, as called by a case of the benchmark.

use retrograde::cpu::Program;
use retrograde::{
    DType, Layout, Lengths, LengthsMemory, MemoryMut, Reversal, Reverse, ReverseSequence,
    ReverseSubsequences, TensorMut, TensorRef, cpu,
};
use std::error::Error;
use std::hint::black_box;

/// An error as text.
pub type Failure = Box<dyn Error + Send + Sync>;

/// An operator and its axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operator {
    /// `Reverse` along these axes.
    Reverse(Vec<i64>),
    /// `ReverseSequence`.
    Sequence {
        /// The axis that is reversed.
        time: i64,
        /// The axis with one length per entry.
        batch: i64,
    },
    /// `ReverseSubsequences` along this axis.
    Subsequences(i64),
}

/// An operator, ready to run on memory of its layout.
#[derive(Debug)]
pub struct Call {
    operator: Operator,
    src: Layout,
    dst: Layout,
    lengths: Option<(DType, Vec<u8>)>,
    program: Program,
}

impl Call {
    /// Checks the operands; `strides` are the input's, in elements, if it is not dense.
    pub fn new(
        operator: Operator,
        dtype: DType,
        shape: &[usize],
        strides: Option<&[isize]>,
        lengths: Option<(DType, &[u8])>,
    ) -> Result<Call, Failure> {
        let dst = Layout::dense(dtype, shape)?;
        let src = match strides {
            None => dst.clone(),
            Some(strides) => Layout::strided(dtype, shape, strides, 0)?,
        };
        let lengths = lengths.map(|(dtype, bytes)| (dtype, bytes.to_vec()));
        let program = with_operator(&operator, &lengths, |reversal| {
            Ok(reversal.prepare(&src, &dst)?.program().clone())
        })?;
        Ok(Call { operator, src, dst, lengths, program })
    }

    /// Size of the input and of the output in bytes.
    pub fn bytes(&self) -> usize {
        self.dst.byte_len()
    }

    /// Runs it from `src` to `dst`, with the prepared plan or by a complete operator call.
    pub fn run(
        &self,
        threads: usize,
        src: &[u8],
        dst: &mut [u8],
        plans: Plans,
        iterations: usize,
    ) -> Result<(), Failure> {
        cpu::with_threads(threads, || match plans {
            Plans::Reused => {
                for _ in 0..iterations {
                    let (src, dst) = (black_box(&*src), MemoryMut::from(&mut *dst));
                    self.program.execute(src.into(), self.lengths(), dst)?;
                }
                Ok(())
            }
            Plans::EachCall => self.with(|reversal| {
                for _ in 0..iterations {
                    let src = TensorRef::new(self.src.clone(), black_box(src))?;
                    let mut dst = TensorMut::new(self.dst.clone(), &mut *dst)?;
                    reversal.apply_view(&src, &mut dst)?;
                }
                Ok(())
            }),
        })
    }

    /// Runs it in place.
    pub fn in_place(
        &self,
        threads: usize,
        memory: &mut [u8],
        iterations: usize,
    ) -> Result<(), Failure> {
        cpu::with_threads(threads, || {
            for _ in 0..iterations {
                let memory = MemoryMut::from(black_box(&mut *memory));
                self.program.execute_in_place(self.lengths(), memory)?;
            }
            Ok(())
        })
    }

    /// Runs it into newly allocated memory, which is freed each time; the last result is copied to
    /// `keep`.
    pub fn fresh(
        &self,
        threads: usize,
        src: &[u8],
        keep: Option<&mut [u8]>,
        iterations: usize,
    ) -> Result<(), Failure> {
        cpu::with_threads(threads, || {
            self.with(|reversal| {
                let src = TensorRef::new(self.src.clone(), src)?;
                for _ in 1..iterations {
                    drop(black_box(reversal.to_bytes(black_box(&src))?));
                }
                let last = black_box(reversal.to_bytes(black_box(&src))?);
                if let Some(keep) = keep {
                    keep.copy_from_slice(&last);
                }
                Ok(())
            })
        })
    }

    fn lengths(&self) -> Option<LengthsMemory<'_>> {
        self.lengths.as_ref().map(|(dtype, bytes)| LengthsMemory::new(*dtype, bytes))
    }

    fn with<R>(
        &self,
        body: impl FnOnce(&dyn Reversal<'_>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        with_operator(&self.operator, &self.lengths, body)
    }
}

/// When plans are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plans {
    /// Once, before timing starts.
    Reused,
    /// In every call, as when the operator is called directly.
    EachCall,
}

/// Calls `body` with the operator and its lengths.
fn with_operator<R>(
    operator: &Operator,
    lengths: &Option<(DType, Vec<u8>)>,
    body: impl FnOnce(&dyn Reversal<'_>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let bound = || match lengths {
        Some((dtype, bytes)) => Ok(Lengths::flat(*dtype, &bytes[..])),
        None => Err(Failure::from("this operator needs lengths")),
    };
    match operator {
        Operator::Reverse(axes) => body(&Reverse::axes(axes.iter().copied())),
        Operator::Sequence { time, batch } => {
            let sequence = ReverseSequence::new().time_axis(*time).batch_axis(*batch);
            body(&sequence.lengths(bound()?))
        }
        Operator::Subsequences(axis) => body(&ReverseSubsequences::along(*axis).lengths(bound()?)),
    }
}
