//! The tensors of the operator, by their DirectML names.

use std::fmt;

/// One of the operator's three tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// `InputTensor`.
    Input,
    /// `SequenceLengthsTensor`.
    SequenceLengths,
    /// `OutputTensor`.
    Output,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Role::Input => "InputTensor",
            Role::SequenceLengths => "SequenceLengthsTensor",
            Role::Output => "OutputTensor",
        })
    }
}
