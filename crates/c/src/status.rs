//! Status codes, the reason of a failure, and which error has which code.

use retrograde::{Error, ExecuteError, LayoutError};
use std::ffi::c_char;
use std::fmt;

/// The result of a call: `RETROGRADE_OK` or the kind of error. `retrograde_last_error` has the
/// message. Codes keep their values; later versions may add some.
pub type Status = i32;

/// The call succeeded.
pub const RETROGRADE_OK: Status = 0;
/// A pointer that must not be null is null, or is not aligned for what it points to.
pub const RETROGRADE_BAD_POINTER: Status = 1;
/// A handle that is not of the expected kind, or has been destroyed.
pub const RETROGRADE_BAD_HANDLE: Status = 2;
/// An enum value, an attribute or a size that does not exist or is out of range.
pub const RETROGRADE_BAD_ARGUMENT: Status = 3;
/// A tensor description that is impossible: its sizes and strides overflow, or lead before the
/// start of the buffer.
pub const RETROGRADE_BAD_TENSOR: Status = 4;
/// Tensors that do not fit the operator or each other: shapes, types, rank.
pub const RETROGRADE_MISMATCH: Status = 5;
/// A buffer is smaller than its tensor.
pub const RETROGRADE_BUFFER_TOO_SMALL: Status = 6;
/// Buffers overlap without being the same tensor.
pub const RETROGRADE_OVERLAP: Status = 7;
/// A length or an offset is out of range; `retrograde_last_error_position` says which.
pub const RETROGRADE_LENGTH_OUT_OF_RANGE: Status = 8;
/// The call cannot run in place, because input and output have different layouts.
pub const RETROGRADE_NOT_IN_PLACE: Status = 9;
/// There is no CUDA driver, or no such device.
pub const RETROGRADE_NO_DEVICE: Status = 10;
/// The CUDA driver reported an error.
pub const RETROGRADE_CUDA_ERROR: Status = 11;
/// This build does not have the feature.
pub const RETROGRADE_UNSUPPORTED: Status = 12;
/// An error inside the library, which is a bug.
pub const RETROGRADE_INTERNAL: Status = 13;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) text: String,
    /// Which length or offset was out of range, in row-major order.
    pub(crate) position: Option<usize>,
}

impl Failure {
    pub(crate) fn new(status: Status, text: impl fmt::Display) -> Self {
        Failure { status, text: text.to_string(), position: None }
    }

    pub(crate) fn argument(text: impl fmt::Display) -> Self {
        Self::new(RETROGRADE_BAD_ARGUMENT, text)
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Self {
        Failure::new(RETROGRADE_BAD_TENSOR, error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Layout(_) | Error::Argument { .. } => RETROGRADE_BAD_TENSOR,
            Error::LengthOutOfRange { .. } | Error::OffsetOutOfRange { .. } => {
                RETROGRADE_LENGTH_OUT_OF_RANGE
            }
            Error::AxisOutOfRange { .. }
            | Error::AxisTwice { .. }
            | Error::ScalarHasNoAxes { .. }
            | Error::MaskLength { .. }
            | Error::SequenceAxis { .. }
            | Error::SameSequenceAxes { .. }
            | Error::SameOrientAxes { .. }
            | Error::Orientation(_)
            | Error::TableLength { .. }
            | Error::TableEntry { .. }
            | Error::Opset { .. } => RETROGRADE_BAD_ARGUMENT,
            Error::Execute { source, .. } => status_of(source),
            _ => RETROGRADE_MISMATCH,
        };
        Failure::new(status, error)
    }
}

impl From<ExecuteError> for Failure {
    fn from(error: ExecuteError) -> Self {
        let position = position_of(&error);
        Failure { status: status_of(&error), text: error.to_string(), position }
    }
}

/// Which length or offset an error is about.
pub(crate) fn position_of(error: &ExecuteError) -> Option<usize> {
    match error {
        ExecuteError::LengthOutOfRange { ordinal, .. }
        | ExecuteError::OffsetOutOfRange { ordinal, .. } => Some(*ordinal),
        _ => None,
    }
}

fn status_of(error: &ExecuteError) -> Status {
    match error {
        ExecuteError::BufferTooSmall { .. } => RETROGRADE_BUFFER_TOO_SMALL,
        ExecuteError::Overlap | ExecuteError::LengthsOverlap => RETROGRADE_OVERLAP,
        ExecuteError::NotInPlace => RETROGRADE_NOT_IN_PLACE,
        ExecuteError::LengthsMissing | ExecuteError::LengthsUnexpected => RETROGRADE_MISMATCH,
        ExecuteError::LengthOutOfRange { .. } | ExecuteError::OffsetOutOfRange { .. } => {
            RETROGRADE_LENGTH_OUT_OF_RANGE
        }
        _ => RETROGRADE_BAD_ARGUMENT,
    }
}

/// The name of a status code, such as "RETROGRADE_MISMATCH"; "unknown status" for other values.
/// The text is constant.
#[unsafe(no_mangle)]
pub extern "C" fn retrograde_status_name(status: Status) -> *const c_char {
    let name = match status {
        RETROGRADE_OK => c"RETROGRADE_OK",
        RETROGRADE_BAD_POINTER => c"RETROGRADE_BAD_POINTER",
        RETROGRADE_BAD_HANDLE => c"RETROGRADE_BAD_HANDLE",
        RETROGRADE_BAD_ARGUMENT => c"RETROGRADE_BAD_ARGUMENT",
        RETROGRADE_BAD_TENSOR => c"RETROGRADE_BAD_TENSOR",
        RETROGRADE_MISMATCH => c"RETROGRADE_MISMATCH",
        RETROGRADE_BUFFER_TOO_SMALL => c"RETROGRADE_BUFFER_TOO_SMALL",
        RETROGRADE_OVERLAP => c"RETROGRADE_OVERLAP",
        RETROGRADE_LENGTH_OUT_OF_RANGE => c"RETROGRADE_LENGTH_OUT_OF_RANGE",
        RETROGRADE_NOT_IN_PLACE => c"RETROGRADE_NOT_IN_PLACE",
        RETROGRADE_NO_DEVICE => c"RETROGRADE_NO_DEVICE",
        RETROGRADE_CUDA_ERROR => c"RETROGRADE_CUDA_ERROR",
        RETROGRADE_UNSUPPORTED => c"RETROGRADE_UNSUPPORTED",
        RETROGRADE_INTERNAL => c"RETROGRADE_INTERNAL",
        _ => c"unknown status",
    };
    name.as_ptr()
}
