//! Which kernel a plan runs on, for people who want to know.

use super::bytes;
use crate::dtype::Grain;
use crate::plan::Plan;
use std::fmt;

/// A way to move elements, named as in the documentation of the CPU backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// Nothing moves.
    None,
    /// Runs of units, forward or backward.
    Rows,
    /// Runs of which only a prefix is reversed.
    Lanes,
    /// Lanes of a few elements that follow each other.
    Short,
    /// Wide units, in the order of the output.
    Blocks,
    /// Lanes side by side, through a turned buffer that their axis fits.
    Columns,
    /// Transposed planes, square by square.
    Tiles,
    /// Lanes of any other shape, one by one.
    Prefixes,
    /// Units one by one.
    Strided,
    /// Packed elements, by vectors of bytes.
    Bits,
}

impl Kernel {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::None => "none",
            Kernel::Rows => "rows",
            Kernel::Lanes => "lanes",
            Kernel::Short => "short lanes",
            Kernel::Blocks => "blocks",
            Kernel::Columns => "columns",
            Kernel::Tiles => "tiles",
            Kernel::Prefixes => "prefixes",
            Kernel::Strided => "strided",
            Kernel::Bits => "bits",
        }
    }

    /// What it does, in a few.
    pub const fn about(self) -> &'static str {
        match self {
            Kernel::None => "nothing to move",
            Kernel::Rows => "runs of units, forward or backward",
            Kernel::Lanes => "runs of which only a prefix is reversed",
            Kernel::Short => "lanes of a few elements, several at a time",
            Kernel::Blocks => "wide units, in the order of the output",
            Kernel::Columns => "lanes side by side, through a turned buffer",
            Kernel::Tiles => "transposed planes, square by square",
            Kernel::Prefixes => "lanes one by one",
            Kernel::Strided => "units one by one",
            Kernel::Bits => "packed elements, by vectors of bytes; ends by words",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The kernel that [`execute`](super::execute) takes for most of a plan, out of place.
///
/// ```
/// use retrograde::cpu::{self, Kernel};
/// use retrograde::{DType, Layout, Reverse};
///
/// let rows = Layout::dense(DType::F32, &[64, 64])?;
/// assert_eq!(cpu::kernel(&Reverse::axes([1]).plan(&rows, &rows)?), Kernel::Rows);
/// # Ok::<(), retrograde::Error>(())
/// ```
pub fn kernel(plan: &Plan) -> Kernel {
    match plan.unit().grain {
        _ if plan.is_empty() => Kernel::None,
        Grain::Packed { .. } => Kernel::Bits,
        Grain::Byte => bytes::kernel_of(plan),
    }
}
