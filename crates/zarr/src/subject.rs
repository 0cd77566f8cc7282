//! What an operator asks about an array, whatever holds it.

use crate::grid::Grid;

/// An array, as far as an operator asks.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// For messages.
    pub(crate) name: &'a str,
    /// Where it is in its group; empty for an array by itself.
    pub(crate) path: &'a str,
    pub(crate) grid: &'a Grid,
    /// The names of its axes.
    pub(crate) axes: &'a [Option<String>],
}
