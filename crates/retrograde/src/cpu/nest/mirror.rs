//! In place, a flip swaps pairs of steps: the loops that visit them.

use super::walk::Loop;
use crate::plan::{Dim, Flow};
use smallvec::SmallVec;
use std::ops::Range;

/// Reverses all `Flip` dimensions at once by swapping every unit with its mirror image:
/// `swap` gets loops that step on both sides, and where the two start.
///
/// The two sides never meet if no two units of the nest do.
pub(in crate::cpu) fn mirror(
    dims: &[Dim],
    mut origin: isize,
    swap: impl Fn(&[Loop<2>], [isize; 2]),
) {
    let mut rest: SmallVec<[Dim; 8]> = dims.into();
    // Split on the outermost flip: its first half is swapped with its second half. Units
    // of the middle step, if there is one, are mirrored along the remaining flips.
    while let Some(at) = rest.iter().position(|dim| dim.flow == Flow::Flip) {
        let flip = rest[at];
        swap_pairs(&rest, at, 0..flip.len / 2, origin, &swap);
        if flip.len.is_multiple_of(2) {
            return;
        }
        rest.remove(at);
        origin += flip.dst * (flip.len as isize / 2);
    }
}

/// Swaps steps `pairs` of the flip `dims[at]`, and all that moves with them, with their mirror
/// images. `pairs` are inside the first half of the flip, the outermost one; the first half
/// and the second half have no step in common, so no unit meets itself.
pub(in crate::cpu) fn swap_pairs(
    dims: &[Dim],
    at: usize,
    pairs: Range<usize>,
    origin: isize,
    swap: impl Fn(&[Loop<2>], [isize; 2]),
) {
    if pairs.is_empty() {
        // A flip of length 0 has no last step, so its mirror image would start in front of the
        // memory: not even that address may be computed.
        return;
    }
    let (mut here, mut image) = (origin, origin);
    // In the dimensions' own order, so that the innermost loop takes the smallest steps.
    let loops: SmallVec<[Loop<2>; 8]> = dims
        .iter()
        .enumerate()
        .map(|(index, dim)| {
            let last = dim.len as isize - 1;
            let back = dim.flow == Flow::Flip;
            let (len, start) =
                if index == at { (pairs.len(), pairs.start as isize) } else { (dim.len, 0) };
            here += dim.dst * start;
            image += dim.dst * if back { last - start } else { 0 };
            Loop { len, steps: [dim.dst, if back { -dim.dst } else { dim.dst }] }
        })
        .collect();
    swap(&loops, [here, image]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Where `mirror` starts on both sides, and how many steps the flip takes there.
    fn swapped(dims: &[Dim]) -> Vec<([isize; 2], usize)> {
        let calls = RefCell::new(Vec::new());
        mirror(dims, 0, |loops, start| calls.borrow_mut().push((start, loops[0].len)));
        calls.into_inner()
    }

    fn dim(len: usize, step: isize, flow: Flow) -> Dim {
        Dim { len, src: step, dst: step, lengths: 0, flow }
    }

    #[test]
    fn flips_that_move_nothing_swap_nothing() {
        for len in [0, 1] {
            assert_eq!(swapped(&[dim(len, 4, Flow::Flip)]), []);
            assert_eq!(swapped(&[dim(len, 12, Flow::Flip), dim(3, 4, Flow::Keep)]), []);
        }
    }

    #[test]
    fn the_middle_of_one_flip_is_mirrored_along_the_next() {
        assert_eq!(swapped(&[dim(4, 4, Flow::Flip)]), [([0, 12], 2)]);
        let both = [dim(3, 8, Flow::Flip), dim(2, 4, Flow::Flip)];
        assert_eq!(swapped(&both), [([0, 20], 1), ([8, 12], 1)]);
    }
}
