//! Describes which elements a call moves, and maps each element of the result to its source.

/// An operator with its axes, as non-negative indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Movement {
    /// `Reverse` along these axes, in ascending order and without duplicates.
    Axes(Vec<usize>),
    /// `ReverseSequence`.
    Sequence {
        /// The axis that is reversed.
        time: usize,
        /// The axis that enumerates the sequences and their lengths.
        batch: usize,
    },
    /// `ReverseSubsequences` along this axis.
    Lanes(usize),
}

impl Movement {
    /// The operator's name.
    pub fn operator(&self) -> &'static str {
        match self {
            Movement::Axes(_) => "Reverse",
            Movement::Sequence { .. } => "ReverseSequence",
            Movement::Lanes(_) => "ReverseSubsequences",
        }
    }

    /// The axes, formatted for the headline.
    pub fn arguments(&self) -> String {
        match self {
            Movement::Sequence { time, batch } => format!("time axis {time}, batch axis {batch}"),
            Movement::Lanes(axis) => format!("axis {axis}"),
            Movement::Axes(axes) => match &axes[..] {
                [] => "no axis".to_owned(),
                [axis] => format!("axis {axis}"),
                axes => {
                    let axes: Vec<_> = axes.iter().map(usize::to_string).collect();
                    format!("axes {}", axes.join(", "))
                }
            },
        }
    }

    /// The axis along which lanes with lengths run.
    fn lane(&self) -> Option<usize> {
        match self {
            Movement::Axes(_) => None,
            Movement::Sequence { time: axis, .. } | Movement::Lanes(axis) => Some(*axis),
        }
    }

    /// Whether lengths may vary along this axis; `None` if the operator has no lengths.
    pub(crate) fn lengths_vary_over(&self, axis: usize) -> Option<bool> {
        match self {
            Movement::Axes(_) => None,
            Movement::Sequence { batch, .. } => Some(axis == *batch),
            Movement::Lanes(lane) => Some(axis != *lane),
        }
    }

    /// The index of the length that applies to the element at `index`; `None` if the operator has
    /// no lengths.
    pub fn length_at(&self, index: &[usize]) -> Option<Vec<usize>> {
        match self {
            Movement::Axes(_) => None,
            Movement::Sequence { batch, .. } => Some(vec![index[*batch]]),
            Movement::Lanes(axis) => {
                let mut at = index.to_vec();
                at[*axis] = 0;
                Some(at)
            }
        }
    }

    /// The index in the input of the element at `index` of the output, for a tensor of this shape
    /// whose lane has this length.
    pub fn origin(&self, index: &[usize], shape: &[usize], length: Option<i128>) -> Vec<usize> {
        let mut origin = index.to_vec();
        if let Movement::Axes(axes) = self {
            axes.iter().for_each(|&axis| origin[axis] = shape[axis] - 1 - index[axis]);
        }
        if let (Some(axis), Some(length)) = (self.lane(), length) {
            // Operators reject negative lengths and clamp longer ones to the size of the axis.
            let length = length.clamp(0, shape[axis] as i128) as usize;
            if index[axis] < length {
                origin[axis] = length - 1 - index[axis];
            }
        }
        origin
    }

    /// Whether the element at this index is beyond the length of its lane, so it does not move.
    pub(crate) fn is_padding(&self, index: &[usize], length: Option<i128>) -> bool {
        match (self.lane(), length) {
            (Some(axis), Some(length)) => index[axis] as i128 >= length,
            _ => false,
        }
    }
}
