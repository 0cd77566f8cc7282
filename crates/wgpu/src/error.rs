//! Errors of the wgpu backend.

use retrograde::{ExecuteError, Prepared};
use thiserror::Error as ThisError;

/// A plan that could not run, or a missing device.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// There is no adapter on this machine that wgpu can use.
    #[error("no GPU: {reason}")]
    NoDevice {
        /// Why.
        reason: String,
    },
    /// The device did not complete an operation.
    #[error("the GPU could not {what}: {reason}")]
    Device {
        /// The operation.
        what: &'static str,
        /// The error of wgpu.
        reason: String,
    },
    /// A view that is not inside its buffer.
    #[error("the {view} view is bytes {start} to {end} of a buffer that has {size}")]
    OutsideBuffer {
        /// `input`, `output` or `lengths`.
        view: &'static str,
        /// First byte.
        start: u64,
        /// One past the last byte; the largest number if it is beyond that.
        end: u64,
        /// Bytes of the buffer.
        size: u64,
    },
    /// A buffer that was created without a usage that the call needs.
    #[error("the {view} buffer needs the usage {needed}; it was created with {usage}")]
    Usage {
        /// `input`, `output` or `lengths`.
        view: &'static str,
        /// What it needs.
        needed: String,
        /// What it has.
        usage: String,
    },
    /// A buffer whose last bytes are not a whole word, which no kernel can access.
    #[error("the {view} buffer has {size} bytes: create it with a multiple of 4")]
    NotWords {
        /// `input`, `output` or `lengths`.
        view: &'static str,
        /// Bytes of the buffer.
        size: u64,
    },
    /// More dimensions than fit into a kernel's parameters. No tensor in memory has so many.
    #[error("the plan has {rank} dimensions; the kernels take {most}")]
    TooManyDims {
        /// How many.
        rank: usize,
        /// At most.
        most: usize,
    },
    /// Lengths or a temporary copy beyond what the device can hold in one buffer or binding.
    #[error("{what} {bytes} bytes; this device takes {most}")]
    TooLarge {
        /// Of what, as the start of a sentence.
        what: &'static str,
        /// How many.
        bytes: u64,
        /// At most.
        most: u64,
    },
    /// An axis with lengths that has more steps than the kernels count.
    #[error("the axis with lengths has {steps} steps; the kernels count to {most}")]
    TooManySteps {
        /// How many.
        steps: u64,
        /// At most.
        most: u64,
    },
    /// A prepared call that cannot run on these buffers or lengths.
    #[error(transparent)]
    Call(#[from] retrograde::Error),
    /// Buffers or lengths that the plan cannot run on.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}

impl Error {
    /// Adds what a plan does not know: the operator, and the index of a wrong length.
    pub(crate) fn explained(self, prepared: &Prepared<'_>) -> Self {
        match self {
            Error::Execute(source) => Error::Call(prepared.explain(source)),
            error => error,
        }
    }
}
