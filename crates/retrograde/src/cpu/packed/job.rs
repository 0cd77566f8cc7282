//! A part of a plan of packed elements, as [`runs`](super::runs) and [`short`](super::short) take it.

use crate::cpu::dispatch::Isa;
use crate::cpu::lengths::LengthReader;
use crate::cpu::schedule::Window;
use crate::plan::Dim;

/// A part of a plan of packed elements. Distances are in elements.
#[derive(Clone, Copy)]
pub(super) struct BitRuns<'a> {
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
    /// Bits in an element: 1, 2 or 4.
    pub(super) bits: usize,
    /// The plan's first element, on both sides.
    pub(super) origins: [usize; 2],
    /// All dimensions; the last one is the row.
    pub(super) dims: &'a [Dim],
    /// The steps that are wanted.
    pub(super) window: Window,
    pub(super) lengths: Option<LengthReader<'a>>,
    /// Whether unused bits become zero.
    pub(super) seals: bool,
    /// Whether to use non-temporal stores; only if rows are contiguous in the output.
    pub(super) stream: bool,
    pub(super) isa: Isa,
}

/// A loop around the rows: how often, and how far input, output and lengths move per step.
pub(super) struct Level {
    pub(super) len: usize,
    pub(super) done: usize,
    pub(super) steps: [isize; 3],
}
