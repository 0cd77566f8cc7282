//! Describes which elements a call moves, and maps each element of the result to its source.

use std::ops::Range;

/// Where padding is, and what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Padding {
    /// Whether it is in front of the sequences, which are at the end of the axis.
    pub in_front: bool,
    /// Whether it becomes zero.
    pub zero: bool,
}

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
        /// What is beyond a length.
        padding: Padding,
    },
    /// `ReverseSubsequences`.
    Lanes {
        /// The axis that is reversed.
        axis: usize,
        /// What is beyond a length.
        padding: Padding,
    },
    /// `ReverseSegments`.
    Segments {
        /// The axis that is cut.
        axis: usize,
        /// Where segments start, and the end of the last one; ascending.
        offsets: Vec<usize>,
    },
    /// `Orient`.
    Orient {
        /// What the orientation is called.
        name: String,
        /// The axes of rows and columns.
        axes: [usize; 2],
        /// Whether rows become columns.
        transposes: bool,
        /// Whether rows and columns of the result run backward.
        flips: [bool; 2],
    },
}

impl Padding {
    /// The steps of an axis of this size that a sequence of this length has. Operators reject
    /// negative lengths, and clamp longer ones to the size of the axis.
    fn sequence(self, size: usize, length: i128) -> Range<usize> {
        let length = length.clamp(0, size as i128) as usize;
        if self.in_front { size - length..size } else { 0..length }
    }

    /// For the headline, if it is not the usual one.
    fn arguments(self) -> String {
        let align = if self.in_front { ", aligned at the end" } else { "" };
        let tail = if self.zero { ", padding becomes zero" } else { "" };
        format!("{align}{tail}")
    }
}

impl Movement {
    /// The operator's name.
    pub fn operator(&self) -> &'static str {
        match self {
            Movement::Axes(_) => "Reverse",
            Movement::Sequence { .. } => "ReverseSequence",
            Movement::Lanes { .. } => "ReverseSubsequences",
            Movement::Segments { .. } => "ReverseSegments",
            Movement::Orient { .. } => "Orient",
        }
    }

    /// The axes, formatted for the headline.
    pub fn arguments(&self) -> String {
        match self {
            Movement::Sequence { time, batch, padding } => {
                format!("time axis {time}, batch axis {batch}{}", padding.arguments())
            }
            Movement::Lanes { axis, padding } => format!("axis {axis}{}", padding.arguments()),
            Movement::Segments { axis, offsets } => match offsets.len().saturating_sub(1) {
                1 => format!("axis {axis}, 1 segment"),
                count => format!("axis {axis}, {count} segments"),
            },
            Movement::Orient { name, axes: [0, 1], .. } => name.clone(),
            Movement::Orient { name, axes: [rows, columns], .. } => {
                format!("{name}, axes {rows}, {columns}")
            }
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

    /// The axis along which lanes with lengths run, and what is beyond a length.
    fn lane(&self) -> Option<(usize, Padding)> {
        match self {
            Movement::Axes(_) | Movement::Segments { .. } | Movement::Orient { .. } => None,
            Movement::Sequence { time: axis, padding, .. } | Movement::Lanes { axis, padding } => {
                Some((*axis, *padding))
            }
        }
    }

    /// Whether lengths may vary along this axis; `None` if the operator has no lengths.
    pub(crate) fn lengths_vary_over(&self, axis: usize) -> Option<bool> {
        match self {
            Movement::Axes(_) | Movement::Segments { .. } | Movement::Orient { .. } => None,
            Movement::Sequence { batch, .. } => Some(axis == *batch),
            Movement::Lanes { axis: lane, .. } => Some(axis != *lane),
        }
    }

    /// The index of the length that applies to the element at `index`; `None` if the operator has
    /// no lengths.
    pub fn length_at(&self, index: &[usize]) -> Option<Vec<usize>> {
        match self {
            Movement::Axes(_) | Movement::Segments { .. } | Movement::Orient { .. } => None,
            Movement::Sequence { batch, .. } => Some(vec![index[*batch]]),
            Movement::Lanes { axis, .. } => {
                let mut at = index.to_vec();
                at[*axis] = 0;
                Some(at)
            }
        }
    }

    /// The segment that the element at `index` belongs to; `None` behind the last one, and if the
    /// operator has no segments.
    pub fn segment(&self, index: &[usize]) -> Option<usize> {
        let Movement::Segments { axis, offsets } = self else { return None };
        let begun = offsets.partition_point(|&offset| offset <= index[*axis]);
        (1..offsets.len()).contains(&begun).then(|| begun - 1)
    }

    /// Whether the element at `index` of the result is reversed, even if it keeps its place: not beyond
    /// a length, nor behind the last segment.
    pub fn reverses(&self, index: &[usize], shape: &[usize], length: Option<i128>) -> bool {
        match self {
            Movement::Segments { .. } => self.segment(index).is_some(),
            _ => !self.is_padding(index, shape, length),
        }
    }

    /// The shape of the result for a tensor of this shape.
    pub fn result_shape(&self, shape: &[usize]) -> Vec<usize> {
        let mut result = shape.to_vec();
        if let Movement::Orient { axes: [rows, columns], transposes: true, .. } = *self {
            result.swap(rows, columns);
        }
        result
    }

    /// The index in the input of the element at `index` of the output, for a tensor of this shape
    /// whose lane has this length. Where [`is_zero`](Self::is_zero) says so, it is not used.
    pub fn origin(&self, index: &[usize], shape: &[usize], length: Option<i128>) -> Vec<usize> {
        let mut origin = index.to_vec();
        if let Movement::Axes(axes) = self {
            axes.iter().for_each(|&axis| origin[axis] = shape[axis] - 1 - index[axis]);
        }
        if let Movement::Segments { axis, offsets } = self
            && let Some(at) = self.segment(index)
        {
            origin[*axis] = offsets[at] + offsets[at + 1] - 1 - index[*axis];
        }
        if let Movement::Orient { axes: [rows, columns], transposes, flips, .. } = *self {
            let sizes = self.result_shape(shape);
            for (axis, flips) in [rows, columns].into_iter().zip(flips) {
                if flips {
                    origin[axis] = sizes[axis] - 1 - index[axis];
                }
            }
            if transposes {
                origin.swap(rows, columns);
            }
        }
        if let (Some((axis, padding)), Some(length)) = (self.lane(), length) {
            let range = padding.sequence(shape[axis], length);
            if range.contains(&index[axis]) {
                origin[axis] = range.start + range.end - 1 - index[axis];
            }
        }
        origin
    }

    /// Whether the element at this index is beyond the length of its lane, so it does not move.
    pub(crate) fn is_padding(
        &self,
        index: &[usize],
        shape: &[usize],
        length: Option<i128>,
    ) -> bool {
        match (self.lane(), length) {
            (Some((axis, padding)), Some(length)) => {
                !padding.sequence(shape[axis], length).contains(&index[axis])
            }
            _ => false,
        }
    }

    /// Whether the element at this index of the output is zero instead of one of the input.
    pub fn is_zero(&self, index: &[usize], shape: &[usize], length: Option<i128>) -> bool {
        let zero = self.lane().is_some_and(|(_, padding)| padding.zero);
        zero && self.is_padding(index, shape, length)
    }
}
