//! What an output chunk consists of: parts of input chunks, each as it is or reversed. Arithmetic on
//! sizes, without data; every operator that works on chunks is one of these.

use crate::grid::{Grid, Piece};
use crate::needs::{Needs, Part};
use crate::sequences::Sequences;
use serde_json::{Value, json};

/// What becomes of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Movement {
    /// These axes are reversed.
    Flip(Vec<bool>),
    /// Each sequence of a padded batch is reversed by its own length.
    Sequences(Sequences),
}

impl Movement {
    /// The axes along which elements are reversed where they are.
    pub fn flipped(&self) -> Vec<bool> {
        match self {
            Movement::Flip(flipped) => flipped.clone(),
            Movement::Sequences(sequences) => sequences.flipped(),
        }
    }

    /// What an output chunk needs.
    pub fn needs(&self, grid: &Grid, index: &[u64]) -> Needs {
        match self {
            Movement::Flip(flipped) => {
                let alone =
                    |piece: Piece| (piece.chunk.clone(), vec![Part { piece, reversed: true }]);
                let pieces = grid.pieces(index, flipped);
                Needs { sources: pieces.into_iter().map(alone).collect(), zeros: Vec::new() }
            }
            Movement::Sequences(sequences) => sequences.needs(grid, index),
        }
    }

    /// Whether every output chunk is an input chunk.
    pub fn only_copies(&self, grid: &Grid) -> bool {
        match self {
            Movement::Flip(flipped) => {
                (0..grid.rank()).all(|axis| !flipped[axis] || grid.only_renames(axis))
            }
            Movement::Sequences(_) => false,
        }
    }

    /// The axes along which an output chunk needs two neighbouring input chunks, and shares one of
    /// them with the next output chunk.
    pub(crate) fn ragged(&self, grid: &Grid) -> Vec<usize> {
        match self {
            Movement::Flip(flipped) => {
                (0..grid.rank()).filter(|&axis| flipped[axis] && grid.is_ragged(axis)).collect()
            }
            // Input chunks are read one after the other, as many as the lengths need.
            Movement::Sequences(_) => Vec::new(),
        }
    }

    /// What is done with an array, in words.
    pub fn described(&self, grid: &Grid) -> String {
        let flipped = self.flipped();
        let axes: Vec<usize> = (0..flipped.len()).filter(|&axis| flipped[axis]).collect();
        match self {
            Movement::Sequences(sequences) => {
                let (time, batch) = sequences.axes();
                format!("sequences reversed along {time}, a length for each entry of {batch}")
            }
            _ if axes.is_empty() => "copied".to_owned(),
            _ if self.only_copies(grid) => format!("reversed along {axes:?}, chunks are renamed"),
            _ => {
                let reads = 1u64 << self.ragged(grid).len().min(63);
                format!("reversed along {axes:?}, at most {reads} input chunks per chunk")
            }
        }
    }

    /// What identifies it among the outputs that are not complete.
    pub(crate) fn identity(&self) -> Value {
        match self {
            Movement::Flip(flipped) => json!(flipped),
            Movement::Sequences(sequences) => sequences.identity(),
        }
    }
}

impl Needs {
    /// The number of elements that are written.
    pub fn elements(&self) -> u64 {
        let parts = self.sources.iter().flat_map(|(_, parts)| parts);
        let parts: u64 = parts.map(|part| part.piece.elements()).sum();
        parts + self.zeros.iter().map(Piece::elements).sum::<u64>()
    }
}
