//! Tensors in memory, the naive way: the position of each element, read and written bit by bit.

/// The width of an element, and its position in its byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 1 bit, the first element in the most significant bit of its byte.
    Bit,
    /// 2 bits, the first element in the least significant bits.
    Crumb,
    /// 4 bits, the first element in the least significant bits.
    Nibble,
    /// Whole bytes.
    Bytes(usize),
}

impl Width {
    /// Every width the suite covers.
    pub const ALL: [Width; 15] = [
        Width::Bit,
        Width::Crumb,
        Width::Nibble,
        Width::Bytes(1),
        Width::Bytes(2),
        Width::Bytes(3),
        Width::Bytes(4),
        Width::Bytes(5),
        Width::Bytes(6),
        Width::Bytes(8),
        Width::Bytes(12),
        Width::Bytes(16),
        Width::Bytes(24),
        Width::Bytes(33),
        Width::Bytes(64),
    ];

    /// Bits in one element.
    pub fn bits(self) -> usize {
        match self {
            Width::Bit => 1,
            Width::Crumb => 2,
            Width::Nibble => 4,
            Width::Bytes(bytes) => bytes * 8,
        }
    }

    /// Bits per unit of a stride: an element if packed, a byte otherwise.
    pub fn step_bits(self) -> usize {
        self.bits().min(8)
    }

    /// Units from one element to the next in a dense row.
    pub fn pitch(self) -> usize {
        self.bits() / self.step_bits()
    }

    /// Whether elements share bytes.
    pub fn is_packed(self) -> bool {
        self.bits() < 8
    }

    /// The bit of memory (counted low to high through the bytes) that holds bit `bit` of the
    /// element at `position`.
    fn bit_at(self, position: usize, bit: usize) -> usize {
        let linear = position * self.step_bits() + bit;
        match self {
            Width::Bit => linear / 8 * 8 + (7 - linear % 8),
            _ => linear,
        }
    }
}

/// Memory layouts of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Row-major without gaps.
    Dense,
    /// Every stride negative.
    Backwards,
    /// Column-major.
    Transposed,
    /// Every other element, and gaps between rows.
    Padded,
    /// Strides and offset that are not multiples of the element; packed rows that start inside a
    /// byte.
    Odd,
    /// The last axis longer than 1 repeats its first element. Inputs only.
    Broadcast,
    /// The first axis longer than 1 runs backwards, the others are transposed and padded.
    Mixed,
}

impl Kind {
    /// Layouts of inputs.
    pub const INPUTS: [Kind; 7] = [
        Kind::Dense,
        Kind::Backwards,
        Kind::Transposed,
        Kind::Padded,
        Kind::Odd,
        Kind::Broadcast,
        Kind::Mixed,
    ];
    /// Layouts of outputs, and of tensors that are reversed in place.
    pub const OUTPUTS: [Kind; 6] =
        [Kind::Dense, Kind::Backwards, Kind::Transposed, Kind::Padded, Kind::Odd, Kind::Mixed];
}

/// The positions of a tensor's elements in a buffer. Distances are in bytes, or in elements of a
/// packed width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Width of an element.
    pub width: Width,
    /// The shape.
    pub shape: Vec<usize>,
    /// One stride per axis.
    pub strides: Vec<isize>,
    /// Position of element `[0, 0, ..]`.
    pub offset: usize,
    /// Bytes in the buffer.
    pub bytes: usize,
    /// Whether elements fill the buffer without gaps from its first bit.
    pub whole: bool,
    /// Position of every element, in row-major order.
    pub positions: Vec<usize>,
}

impl Placement {
    /// Lays out a shape.
    pub fn new(kind: Kind, width: Width, shape: &[usize]) -> Self {
        let pitch = width.pitch();
        let rank = shape.len();
        let row_major: Vec<usize> = (0..rank).rev().collect();
        let column_major: Vec<usize> = (0..rank).collect();
        let placed = |order: &[usize], first: usize, gap: usize| {
            // The axes in `order`, fastest first; a gap of `gap` after each run of an axis.
            let mut strides = vec![0isize; rank];
            let mut step = first;
            for &axis in order {
                strides[axis] = step as isize;
                step = step * shape[axis].max(1) + gap;
            }
            strides
        };
        let (mut strides, lead) = match kind {
            Kind::Dense | Kind::Broadcast | Kind::Backwards => (placed(&row_major, pitch, 0), 0),
            Kind::Transposed => (placed(&column_major, pitch, 0), 0),
            Kind::Padded => (placed(&row_major, 2 * pitch, pitch), 0),
            Kind::Odd if width.is_packed() => (placed(&row_major, 1, 1), 3),
            Kind::Odd => (placed(&row_major, pitch + 1, 3), 1),
            Kind::Mixed => (placed(&column_major, pitch, pitch), pitch),
        };
        let long = |axis: &usize| shape[*axis] > 1;
        match kind {
            Kind::Backwards => strides.iter_mut().for_each(|stride| *stride = -*stride),
            Kind::Broadcast => {
                if let Some(axis) = (0..rank).rev().find(long) {
                    strides[axis] = 0;
                }
            }
            Kind::Mixed => {
                if let Some(axis) = (0..rank).find(long) {
                    strides[axis] = -strides[axis];
                }
            }
            _ => {}
        }
        let spans = shape.iter().zip(&strides).map(|(&n, &s)| s * (n.max(1) as isize - 1));
        let (mut back, mut ahead) = (0isize, 0isize);
        for span in spans {
            if span < 0 { back -= span } else { ahead += span }
        }
        let empty = shape.contains(&0);
        let offset = lead + back as usize;
        let steps = if empty { 0 } else { offset + ahead as usize + pitch };
        let bytes = (steps * width.step_bits()).div_ceil(8);
        let whole = kind == Kind::Dense;
        Self::custom(width, shape, strides, offset, bytes, whole)
    }

    /// Axes behind each other, the fastest first: each with a gap before its next step, and whether it
    /// runs backwards. Axes that are not among them repeat their first element.
    pub fn nested(
        width: Width,
        shape: &[usize],
        lead: usize,
        axes: impl IntoIterator<Item = (usize, usize, bool)>,
    ) -> Self {
        let mut strides = vec![0isize; shape.len()];
        let (mut extent, mut offset) = (width.pitch(), lead);
        for (axis, gap, backwards) in axes {
            let stride = extent + gap;
            let span = stride * shape[axis].saturating_sub(1);
            strides[axis] = if backwards { -(stride as isize) } else { stride as isize };
            offset += if backwards { span } else { 0 };
            extent += span;
        }
        let bytes = ((lead + extent) * width.step_bits()).div_ceil(8);
        Self::custom(width, shape, strides, offset, bytes, false)
    }

    /// With the given strides and offset.
    pub fn custom(
        width: Width,
        shape: &[usize],
        strides: Vec<isize>,
        offset: usize,
        bytes: usize,
        whole: bool,
    ) -> Self {
        let mut positions = Vec::new();
        crate::oracle::for_each_index(shape, |index| {
            let mut position = offset as isize;
            for axis in 0..index.len() {
                position += strides[axis] * index[axis] as isize;
            }
            positions.push(position as usize);
        });
        Placement { width, shape: shape.to_vec(), strides, offset, bytes, whole, positions }
    }

    /// Clears the bits after the last element of a whole packed tensor.
    pub fn clear_tail(&self, buffer: &mut [u8]) {
        if !self.whole || !self.width.is_packed() {
            return;
        }
        let elements: usize = self.shape.iter().product();
        for position in elements.. {
            if position * self.width.bits() >= self.bytes * 8 {
                break;
            }
            for bit in 0..self.width.bits() {
                let at = self.width.bit_at(position, bit);
                buffer[at / 8] &= !(1 << (at % 8));
            }
        }
    }
}

/// Copies one element from a position in one buffer to a position in another.
pub fn copy_element(width: Width, src: &[u8], from: usize, dst: &mut [u8], to: usize) {
    if let Width::Bytes(bytes) = width {
        dst[to..to + bytes].copy_from_slice(&src[from..from + bytes]);
        return;
    }
    for bit in 0..width.bits() {
        let (from, to) = (width.bit_at(from, bit), width.bit_at(to, bit));
        let value = src[from / 8] >> (from % 8) & 1;
        dst[to / 8] = dst[to / 8] & !(1 << (to % 8)) | value << (to % 8);
    }
}
