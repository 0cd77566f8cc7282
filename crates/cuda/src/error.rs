//! Errors of the CUDA backend.

use cudarc::driver::DriverError;
use retrograde::ExecuteError;
use thiserror::Error as ThisError;

/// A plan that could not run, or a missing device.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    /// There is no CUDA device on this machine.
    #[error("no CUDA device: {reason}")]
    NoDevice { reason: String },
    /// There are devices, but not this one.
    #[error("no CUDA device number {ordinal}: there are {count}, counted from 0")]
    NoSuchDevice { ordinal: usize, count: usize },
    /// The device is older than those the kernels are compiled for.
    #[error(
        "the CUDA device '{name}' has compute capability {major}.{minor}; 7.5 or later is needed"
    )]
    TooOld { name: String, major: u32, minor: u32 },
    /// A call to the driver failed.
    #[error("the CUDA driver could not {what}: {reason}")]
    Driver { what: &'static str, reason: String },
    /// Host lengths while a graph is being captured: the graph would repeat the copy from memory
    /// that no longer exists.
    #[error("lengths in host memory cannot be part of a CUDA graph: put them on the device")]
    HostLengthsInGraph,
    /// More dimensions than fit into a kernel's arguments. No tensor in memory has so many.
    #[error("the plan has {rank} dimensions; CUDA kernels take {most}")]
    TooManyDims { rank: usize, most: usize },
    /// More blocks than a launch may have: an output of more than 8 TB.
    #[error("the plan needs {blocks} blocks; CUDA launches at most {most}")]
    TooManyBlocks { blocks: u64, most: u64 },
    /// A host tensor whose pieces need more device memory than is free.
    #[error(
        "the tensor cannot be cut into small pieces and takes {needed} bytes of device memory; \
         {free} are free"
    )]
    TooLarge { needed: usize, free: usize },
    /// A plan for a host tensor that does not write all of its output.
    #[error("the plan leaves gaps in its output, which cannot come from the device")]
    OutputGaps,
    /// A prepared call that cannot run on these buffers or lengths.
    #[error(transparent)]
    Call(retrograde::Error),
    /// Buffers or lengths that the plan cannot run on.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}

/// Adds the operation to an error of the driver.
pub(crate) trait WithOperation<T> {
    /// `what` follows "could not" in the message.
    fn with_operation(self, what: &'static str) -> Result<T, Error>;
}

impl<T> WithOperation<T> for Result<T, DriverError> {
    fn with_operation(self, what: &'static str) -> Result<T, Error> {
        self.map_err(|error| Error::Driver { what, reason: describe(error) })
    }
}

/// The driver's name and description of an error.
pub(crate) fn describe(error: DriverError) -> String {
    let text = |found: Result<&std::ffi::CStr, DriverError>| {
        found.map_or_else(|_| "unknown".to_owned(), |text| text.to_string_lossy().into_owned())
    };
    format!("{} ({})", text(error.error_string()), text(error.error_name()))
}
