//! Parts of a plan for threads: ranges of steps along one dimension, none of which shares a byte
//! of the output with another.

use crate::plan::Dim;

/// Steps `start..end` of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cpu) struct Window {
    pub(in crate::cpu) dim: usize,
    pub(in crate::cpu) start: usize,
    pub(in crate::cpu) end: usize,
}

impl Window {
    /// The steps of dimension `index`, which has `len`.
    pub(in crate::cpu) fn steps(&self, index: usize, len: usize) -> std::ops::Range<usize> {
        if index == self.dim { self.start..self.end } else { 0..len }
    }
}

/// How a plan is cut: which dimension, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cpu) struct Cut {
    dim: usize,
    len: usize,
    /// The first part has this many steps more, so that the others start on bytes.
    lead: usize,
    step: usize,
}

/// Output bytes that parts are multiples of, where the output is contiguous.
const ALIGNED: usize = 256;

impl Cut {
    /// Cuts the outermost dimension that is long enough, or else the longest, into `parts`.
    /// `may_cut` rules dimensions out; without any, there is one part. A byte holds `per_byte`
    /// grains, the unit in which dimensions step from `origin`.
    ///
    /// Dimensions nest in the output, as layouts have it: each step is beyond all of the step
    /// before it.
    pub(in crate::cpu) fn new(
        dims: &[Dim],
        origin: usize,
        per_byte: usize,
        parts: usize,
        may_cut: impl Fn(&Dim) -> bool,
    ) -> Self {
        let len = dims.first().map_or(1, |dim| dim.len);
        let mut cut = Cut { dim: 0, len, lead: 0, step: len.max(1) };
        if parts == 1 {
            return cut;
        }
        let grains = per_byte as isize;
        let below = |dim: &Dim| (dim.dst * (dim.len as isize - 1)).min(0);
        let lowest = origin as isize + dims.iter().map(below).sum::<isize>();
        let mut longest = 0;
        for (index, dim) in dims.iter().enumerate() {
            let on_byte = |&step: &usize| (lowest + dim.dst * step as isize) % grains == 0;
            let allowed = may_cut(dim) && (dim.dst > 0 || per_byte == 1);
            let lead = (0..per_byte).find(on_byte).filter(|_| allowed);
            if let Some(lead) = lead.filter(|_| dim.len > longest) {
                let align = ALIGNED * per_byte / dim.dst.unsigned_abs().max(1);
                let align = align.next_multiple_of(per_byte).max(per_byte);
                let step = dim.len.div_ceil(parts).next_multiple_of(align);
                cut = Cut { dim: index, len: dim.len, lead, step };
                longest = dim.len;
            }
            // Further in, the last part of one step would share a byte with the first part of
            // the next step, unless all of them start on bytes.
            let on_bytes = lowest % grains == 0 && dim.dst % grains == 0;
            if dim.len >= 2 * parts * per_byte && lead.is_some() || !on_bytes {
                break;
            }
        }
        cut
    }

    /// How many parts it came to.
    pub(in crate::cpu) fn parts(&self) -> usize {
        self.len.saturating_sub(self.lead).div_ceil(self.step).max(1)
    }

    /// One of them.
    pub(in crate::cpu) fn window(&self, part: usize) -> Window {
        let from = |part: usize| if part == 0 { 0 } else { self.lead + part * self.step };
        Window { dim: self.dim, start: from(part), end: from(part + 1).min(self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Flow;

    fn dim(len: usize, dst: isize, flow: Flow) -> Dim {
        Dim { len, src: dst, dst, lengths: 0, flow }
    }

    #[test]
    fn cuts_cover_every_step_once() {
        for len in [1, 2, 3, 7, 64, 1000] {
            for parts in [1, 2, 3, 8] {
                let dims = [dim(len, 1 << 20, Flow::Keep), dim(5, 4, Flow::Flip)];
                let cut = Cut::new(&dims, 0, 1, parts, |dim| dim.flow == Flow::Keep);
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
        assert_eq!(Cut::new(&dims, 0, 1, 8, |_| true).dim, 1);
        assert_eq!(Cut::new(&dims, 0, 1, 8, |dim| dim.flow == Flow::Keep).dim, 2);
        assert_eq!(Cut::new(&dims, 0, 1, 8, |_| false).parts(), 1);
    }

    #[test]
    fn contiguous_parts_start_on_lines() {
        let cut = Cut::new(&[dim(1_000_000, 3, Flow::Flip)], 0, 1, 4, |_| true);
        assert_eq!(cut.window(1).start % (ALIGNED / 3), 0);
    }

    /// The bytes that each part writes.
    fn owned(dims: &[Dim], origin: usize, per_byte: usize, window: Window) -> Vec<usize> {
        let mut places = vec![origin as isize];
        for (index, dim) in dims.iter().enumerate() {
            let steps = window.steps(index, dim.len);
            let further = |&at: &isize| steps.clone().map(move |step| at + dim.dst * step as isize);
            places = places.iter().flat_map(further).collect();
        }
        let mut bytes: Vec<usize> = places.iter().map(|&at| at as usize / per_byte).collect();
        bytes.sort_unstable();
        bytes.dedup();
        bytes
    }

    #[test]
    #[cfg_attr(miri, ignore = "millions of steps of arithmetic, none of them unsafe")]
    fn no_byte_has_two_owners_and_every_step_has_one() {
        let mut cuts = 0;
        for per_byte in [2, 4, 8] {
            for origin in [0, 1, 5, 8] {
                for (len, row, pitch) in [
                    (1, 9999, 9999),
                    (3000, 7, 7),
                    (3000, 7, 8),
                    (700, 99, 101),
                    (40, 800, 816),
                    (9, 3200, 3200),
                ] {
                    for parts in [1, 2, 3, 8] {
                        for dims in [
                            &[dim(len, pitch, Flow::Keep), dim(row, 1, Flow::Keep)][..],
                            &[dim(len, -pitch, Flow::Keep), dim(row, 1, Flow::Keep)],
                        ] {
                            let origin = match dims[0].dst < 0 {
                                true => origin + pitch as usize * (len - 1),
                                false => origin,
                            };
                            let cut = Cut::new(dims, origin, per_byte, parts, |_| true);
                            let windows: Vec<_> = (0..cut.parts()).map(|p| cut.window(p)).collect();
                            let last = windows.last().unwrap();
                            assert_eq!((windows[0].start, last.end), (0, dims[last.dim].len));
                            assert!(windows.windows(2).all(|w| w[0].end == w[1].start));
                            let owned = |&w: &Window| owned(dims, origin, per_byte, w);
                            let mut all: Vec<usize> = windows.iter().flat_map(owned).collect();
                            let count = all.len();
                            all.sort_unstable();
                            all.dedup();
                            assert_eq!(all.len(), count, "{dims:?} {origin} {per_byte} {parts}");
                            cuts += usize::from(windows.len() > 1);
                        }
                    }
                }
            }
        }
        assert!(cuts > 100, "only {cuts} layouts were cut");
    }
}
