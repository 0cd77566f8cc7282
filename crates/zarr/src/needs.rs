//! The parts of input chunks that an output chunk consists of.

use crate::grid::Piece;

/// Part of an output chunk that comes from one input chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Which elements, and where they go.
    pub piece: Piece,
    /// Whether they are reversed, along the axes of [`Movement::flipped`](crate::Movement::flipped).
    pub reversed: bool,
}

/// What an output chunk needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// The parts of each input chunk; one input chunk has one entry.
    pub sources: Vec<(Vec<u64>, Vec<Part>)>,
    /// Boxes that become zero. Only `to` and `len` count.
    pub zeros: Vec<Piece>,
}
