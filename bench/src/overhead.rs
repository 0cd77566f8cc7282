//! The overhead of a call: planning, and the checks of a tiny run.

use crate::call::Failure;
use retrograde::cpu::Program;
use retrograde::{DType, Layout, LengthsOperator, Reverse, ReverseSequence, ReverseSubsequences};
use std::hint::black_box;

/// The step that is timed; the discriminants are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// `Reverse::plan` at rank 4.
    PlanReverse,
    /// `ReverseSequence::plan` at rank 4.
    PlanSequence,
    /// `ReverseSubsequences::plan` at rank 4.
    PlanSubsequences,
    /// Running a prepared plan on 1 KiB.
    Execute1K,
    /// Copying 1 KiB.
    Copy1K,
}

impl Step {
    /// All of them, in the order of the C interface.
    pub const ALL: [Step; 5] = [
        Step::PlanReverse,
        Step::PlanSequence,
        Step::PlanSubsequences,
        Step::Execute1K,
        Step::Copy1K,
    ];

    /// Runs it this many times.
    pub fn repeat(self, iterations: usize) -> Result<(), Failure> {
        let x = Layout::dense(DType::F32, &[8, 16, 32, 64])?;
        match self {
            Step::PlanReverse => {
                let operator = Reverse::axes([1, 3]);
                for _ in 0..iterations {
                    black_box(operator.plan(black_box(&x), black_box(&x))?);
                }
            }
            Step::PlanSequence => {
                let operator = ReverseSequence::new();
                let lengths = Layout::dense(DType::I64, &[16])?;
                for _ in 0..iterations {
                    black_box(operator.plan(black_box(&x), &lengths, black_box(&x))?);
                }
            }
            Step::PlanSubsequences => {
                let operator = ReverseSubsequences::along(2);
                let lengths = Layout::dense(DType::U32, &[8, 16, 1, 64])?;
                for _ in 0..iterations {
                    black_box(operator.plan(black_box(&x), &lengths, black_box(&x))?);
                }
            }
            Step::Execute1K => {
                let rows = Layout::dense(DType::F32, &[16, 16])?;
                let program = Program::new(Reverse::axes([1]).plan(&rows, &rows)?);
                let (src, mut dst) = ([1u8; 1024], [0u8; 1024]);
                for _ in 0..iterations {
                    let dst = black_box(&mut dst[..]).into();
                    black_box(&program).execute(black_box(&src[..]).into(), None, dst)?;
                }
            }
            Step::Copy1K => {
                let (src, mut dst) = ([1u8; 1024], [0u8; 1024]);
                for _ in 0..iterations {
                    black_box(&mut dst[..]).copy_from_slice(black_box(&src[..]));
                }
            }
        }
        Ok(())
    }
}
