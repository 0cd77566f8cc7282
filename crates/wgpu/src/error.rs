//! Errors of the wgpu backend.

use retrograde::ExecuteError;
use thiserror::Error as ThisError;

/// A plan that could not run, or a missing device.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    /// There is no adapter on this machine that wgpu can use.
    #[error("no GPU: {reason}")]
    NoDevice { reason: String },
    /// The device did not complete an operation.
    #[error("the GPU could not {what}: {reason}")]
    Device { what: &'static str, reason: String },
    /// A view that is not inside its buffer.
    #[error("the {view} view is bytes {start} to {end} of a buffer that has {size}")]
    OutsideBuffer {
        /// `input`, `output` or `lengths`.
        view: &'static str,
        start: u64,
        /// One past the last byte; the largest number if it is beyond that.
        end: u64,
        size: u64,
    },
    /// A buffer that was created without a usage that the call needs.
    #[error("the {view} buffer needs the usage {needed}; it was created with {usage}")]
    Usage {
        /// `input`, `output` or `lengths`.
        view: &'static str,
        needed: String,
        usage: String,
    },
    /// A buffer whose last bytes are not a whole word, which no kernel can access.
    #[error("the {view} buffer has {size} bytes: create it with a multiple of 4")]
    NotWords {
        /// `input`, `output` or `lengths`.
        view: &'static str,
        size: u64,
    },
    /// More dimensions than fit into a kernel's parameters. No tensor in memory has so many.
    #[error("the plan has {rank} dimensions; the kernels take {most}")]
    TooManyDims { rank: usize, most: usize },
    /// Lengths or a temporary copy beyond what the device can hold in one buffer or binding.
    #[error("{what} {bytes} bytes; this device takes {most}")]
    TooLarge {
        /// Of what, as the start of a sentence.
        what: &'static str,
        bytes: u64,
        most: u64,
    },
    /// An axis with lengths that has more steps than the kernels count.
    #[error("the axis with lengths has {steps} steps; the kernels count to {most}")]
    TooManySteps { steps: u64, most: u64 },
    /// A prepared call that cannot run on these buffers or lengths.
    #[error(transparent)]
    Call(#[from] retrograde::Error),
    /// Buffers or lengths that the plan cannot run on.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}
