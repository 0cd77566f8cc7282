//! Cuts of a packed plan between threads: only where no byte of the output has two owners.

use crate::cpu::parts::Window;
use crate::plan::Dim;

/// How a plan is cut: which dimension, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteCut {
    dim: usize,
    len: usize,
    /// The first part has this many steps more, so that the others start on bytes.
    lead: usize,
    step: usize,
}

/// Output bytes that parts are multiples of, where the output is contiguous.
const ALIGNED: usize = 256;

impl ByteCut {
    /// Cuts the outermost dimension that is long enough, or else the longest, into `parts`.
    /// `may_cut` rules dimensions out; without any, there is one part.
    ///
    /// Dimensions nest in the output, as layouts have it: each step lies beyond all of the step
    /// before it.
    pub(super) fn new(
        dims: &[Dim],
        origin: usize,
        per_byte: usize,
        parts: usize,
        may_cut: impl Fn(&Dim) -> bool,
    ) -> Self {
        let len = dims.first().map_or(1, |dim| dim.len);
        let mut cut = ByteCut { dim: 0, len, lead: 0, step: len.max(1) };
        if parts == 1 {
            return cut;
        }
        let grains = per_byte as isize;
        let below = |dim: &Dim| (dim.dst * (dim.len as isize - 1)).min(0);
        let lowest = origin as isize + dims.iter().map(below).sum::<isize>();
        let mut longest = 0;
        for (index, dim) in dims.iter().enumerate() {
            let on_byte = |&step: &usize| (lowest + dim.dst * step as isize) % grains == 0;
            let lead = (0..per_byte).find(on_byte).filter(|_| may_cut(dim) && dim.dst > 0);
            if let Some(lead) = lead.filter(|_| dim.len > longest) {
                let align = (ALIGNED * per_byte / dim.dst as usize).next_multiple_of(per_byte);
                let step = dim.len.div_ceil(parts).next_multiple_of(align.max(per_byte));
                cut = ByteCut { dim: index, len: dim.len, lead, step };
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
    pub(super) fn parts(&self) -> usize {
        self.len.saturating_sub(self.lead).div_ceil(self.step).max(1)
    }

    /// One of them.
    pub(super) fn window(&self, part: usize) -> Window {
        let from = |part: usize| if part == 0 { 0 } else { self.lead + part * self.step };
        Window { dim: self.dim, start: from(part), end: from(part + 1).min(self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Flow;

    fn dim(len: usize, dst: isize) -> Dim {
        Dim { len, src: dst, dst, lengths: 0, flow: Flow::Keep }
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
                        for dims in
                            [&[dim(len, pitch), dim(row, 1)][..], &[dim(len, -pitch), dim(row, 1)]]
                        {
                            let origin = match dims[0].dst < 0 {
                                true => origin + pitch as usize * (len - 1),
                                false => origin,
                            };
                            let cut = ByteCut::new(dims, origin, per_byte, parts, |_| true);
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
        assert!(cuts > 100, "only {cuts} layouts were cut at all");
    }
}
