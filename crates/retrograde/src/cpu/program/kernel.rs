//! The names of kernels, as `explain` and the documents have them.

use std::fmt;

/// A kernel, named as in the documentation of the CPU backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// Nothing moves.
    None,
    /// Contiguous runs of units, forward or backward.
    Rows,
    /// Contiguous runs of which only a prefix is reversed.
    Lanes,
    /// Lanes of a few elements that are contiguous in the output.
    Short,
    /// Wide units, in the order of the output.
    Blocks,
    /// Adjacent lanes, transposed through a staging buffer.
    Columns,
    /// Segments of one axis.
    Segments,
    /// Transposed planes, in tiles.
    Tiles,
    /// Lanes of any other shape, one by one.
    Prefixes,
    /// Units one by one.
    Strided,
    /// Rows of packed elements.
    PackedRows,
    /// Adjacent lanes of packed elements, transposed through a staging buffer.
    PackedColumns,
    /// Transposed planes of packed elements.
    PackedTiles,
    /// Packed elements, a byte each while they move.
    Spread,
    /// In place: units, or packed elements, and their mirror images.
    Swaps,
}

impl Kernel {
    /// Its name.
    pub const fn name(self) -> &'static str {
        self.texts().0
    }

    /// What it does, in a few words.
    pub const fn about(self) -> &'static str {
        self.texts().1
    }

    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Kernel::None => ("none", "nothing to move"),
            Kernel::Rows => ("rows", "contiguous runs of units, forward or backward"),
            Kernel::Lanes => ("lanes", "contiguous runs of which only a prefix is reversed"),
            Kernel::Short => ("short lanes", "lanes of a few elements, several at a time"),
            Kernel::Blocks => ("blocks", "wide units, in the order of the output"),
            Kernel::Columns => ("columns", "adjacent lanes, transposed through a staging buffer"),
            Kernel::Segments => ("segments", "segments of one axis, one behind the other"),
            Kernel::Tiles => ("tiles", "transposed planes, in tiles"),
            Kernel::Prefixes => ("prefixes", "lanes one by one"),
            Kernel::Strided => ("strided", "units one by one"),
            Kernel::PackedRows => {
                ("packed rows", "packed elements, by vectors of bytes; ends by words")
            }
            Kernel::PackedColumns => {
                ("packed columns", "adjacent lanes, bytes of which are transposed in a buffer")
            }
            Kernel::PackedTiles => {
                ("packed tiles", "transposed planes: elements inside bytes, then bytes")
            }
            Kernel::Spread => ("spread", "packed elements, a byte each while they move"),
            Kernel::Swaps => ("swaps", "units and their mirror images"),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
