//! Where an operator called by XLA runs.

use super::abi::{Call, Failure};
use super::tensor::{swapped, tensor};
use retrograde::{Reversal, TensorRef};

/// The device that an operator runs on.
pub(super) trait Place {
    /// The handler's traits.
    const TRAITS: u32;

    /// Work that has to be done before the call, or is not allowed in it.
    fn prepare(call: &Call<'_>) -> Result<(), Failure>;

    /// Runs it on a call's buffers.
    fn run<'r>(
        operator: &(impl Reversal<'r> + Sync),
        call: &Call<'_>,
        input: Input,
    ) -> Result<(), Failure>;
}

/// How a call's inputs are read.
#[derive(Clone, Copy)]
pub(super) struct Input {
    /// The number of inputs; the first one is the tensor.
    pub(super) count: usize,
    /// Axes of the tensor that are swapped before anything else.
    pub(super) swapped: Option<(usize, usize)>,
}

impl Input {
    /// As they are.
    pub(super) fn plain(count: usize) -> Self {
        Input { count, swapped: None }
    }

    /// The tensor.
    pub(super) fn tensor<'a>(self, call: &Call<'a>) -> Result<TensorRef<'a>, Failure> {
        let tensor = tensor(call.argument(0, self.count)?)?;
        match self.swapped {
            Some(axes) => swapped(&tensor, axes),
            None => Ok(tensor),
        }
    }
}
