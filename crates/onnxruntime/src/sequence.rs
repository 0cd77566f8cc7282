//! `ReverseSequence` of ONNX: its attributes, and the engine's operator for them.

use retrograde::{LengthPolicy, ReverseSequence};

/// The attributes, which have been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axes {
    time: i64,
    batch: i64,
}

/// `time_axis` of a node without the attribute.
pub(crate) const DEFAULT_TIME: i64 = 0;
/// `batch_axis` of a node without the attribute.
pub(crate) const DEFAULT_BATCH: i64 = 1;

impl Axes {
    /// Axes 0 and 1, in one order or the other; nothing else is valid.
    pub(crate) fn new(time: i64, batch: i64) -> Option<Self> {
        matches!((time, batch), (0, 1) | (1, 0)).then_some(Axes { time, batch })
    }

    /// The engine's operator.
    pub(crate) fn operator(self, policy: LengthPolicy) -> ReverseSequence {
        ReverseSequence::onnx().time_axis(self.time).batch_axis(self.batch).policy(policy)
    }
}
