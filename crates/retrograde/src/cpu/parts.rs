//! Parts of a plan: a range of steps along one dimension, for threads to share.

use crate::plan::{Dim, Flow};

/// Steps `start..end` of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) dim: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Window {
    /// The steps of dimension `index`, which has `len`.
    pub(super) fn steps(&self, index: usize, len: usize) -> std::ops::Range<usize> {
        if index == self.dim { self.start..self.end } else { 0..len }
    }
}

/// How a plan is cut: which dimension, into how many ranges of how many steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    dim: usize,
    len: usize,
    step: usize,
}

/// Output bytes that parts start on multiples of, where the output is contiguous.
const ALIGNED: usize = 256;

impl Cut {
    /// Cuts the outermost dimension that is long enough, or else the longest, into `parts`.
    /// `may_cut` rules dimensions out; without any, there is one part.
    pub(super) fn new(dims: &[Dim], parts: usize, may_cut: impl Fn(&Dim) -> bool) -> Self {
        let candidates = || dims.iter().enumerate().filter(|(_, dim)| may_cut(dim));
        let chosen = candidates()
            .find(|(_, dim)| dim.len >= 2 * parts)
            .or_else(|| candidates().max_by_key(|(_, dim)| dim.len));
        let Some((dim, &Dim { len, dst, .. })) = chosen else {
            let len = dims.first().map_or(1, |dim| dim.len);
            return Cut { dim: 0, len, step: len };
        };
        let align = (ALIGNED / dst.unsigned_abs().max(1)).max(1);
        let step = len.div_ceil(parts).next_multiple_of(align).max(1);
        Cut { dim, len, step }
    }

    /// How many parts it came to.
    pub(super) fn parts(&self) -> usize {
        self.len.div_ceil(self.step)
    }

    /// One of them.
    pub(super) fn window(&self, part: usize) -> Window {
        let start = part * self.step;
        Window { dim: self.dim, start, end: (start + self.step).min(self.len) }
    }
}

/// Where a dimension's walk starts and how it steps, input first, then output, then lengths.
///
/// Not for `FlipPrefix`, whose input depends on the length.
pub(super) fn walk_of(dim: &Dim, start: usize) -> ([isize; 3], [isize; 3]) {
    let (first, step) = match dim.flow {
        Flow::Flip => (dim.src * (dim.len - 1 - start) as isize, -dim.src),
        _ => (dim.src * start as isize, dim.src),
    };
    let start = start as isize;
    ([first, dim.dst * start, dim.lengths * start], [step, dim.dst, dim.lengths])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(len: usize, dst: isize, flow: Flow) -> Dim {
        Dim { len, src: dst, dst, lengths: 0, flow }
    }

    #[test]
    fn cuts_cover_every_step_once() {
        for len in [1, 2, 3, 7, 64, 1000] {
            for parts in [1, 2, 3, 8] {
                let dims = [dim(len, 1 << 20, Flow::Keep), dim(5, 4, Flow::Flip)];
                let cut = Cut::new(&dims, parts, |dim| dim.flow == Flow::Keep);
                let windows: Vec<_> = (0..cut.parts()).map(|part| cut.window(part)).collect();
                assert!(windows.len() <= parts.max(1));
                assert_eq!((windows[0].start, windows.last().unwrap().end), (0, len));
                assert!(windows.windows(2).all(|pair| pair[0].end == pair[1].start));
            }
        }
    }

    #[test]
    fn cuts_the_outermost_dimension_that_is_long_enough() {
        let dims =
            [dim(2, 1 << 20, Flow::Keep), dim(64, 1 << 14, Flow::Flip), dim(99, 4, Flow::Keep)];
        assert_eq!(Cut::new(&dims, 8, |_| true).dim, 1);
        assert_eq!(Cut::new(&dims, 8, |dim| dim.flow == Flow::Keep).dim, 2);
        assert_eq!(Cut::new(&dims, 8, |_| false).parts(), 1);
    }

    #[test]
    fn contiguous_parts_start_on_lines() {
        let cut = Cut::new(&[dim(1_000_000, 3, Flow::Flip)], 4, |_| true);
        assert_eq!(cut.window(1).start % (ALIGNED / 3), 0);
    }
}
