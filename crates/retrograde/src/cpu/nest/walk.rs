//! Nested loops as data: visits every combination of steps, outermost loop first.

use crate::plan::{Dim, Flow};
use smallvec::SmallVec;

/// One loop: how often, and how far each of `K` offsets moves per step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cpu) struct Loop<const K: usize> {
    pub(in crate::cpu) len: usize,
    pub(in crate::cpu) steps: [isize; K],
}

/// Calls `visit` with the offsets of every combination, the last loop running fastest.
///
/// No loops are one visit; a loop of length 0 is none. Stops at the first error.
pub(in crate::cpu) fn walk<const K: usize, E>(
    loops: &[Loop<K>],
    start: [isize; K],
    mut visit: impl FnMut([isize; K]) -> Result<(), E>,
) -> Result<(), E> {
    if loops.iter().any(|l| l.len == 0) {
        return Ok(());
    }
    let Some((inner, outer)) = loops.split_last() else { return visit(start) };
    let mut outer = Outer::new(outer, start);
    loop {
        let mut at = outer.row;
        for _ in 0..inner.len {
            visit(at)?;
            advance(&mut at, &inner.steps, 1);
        }
        if !outer.step() {
            return Ok(());
        }
    }
}

/// The loops around the innermost one. Compiled once for all that is visited in it.
struct Outer<'a, const K: usize> {
    loops: &'a [Loop<K>],
    counters: SmallVec<[usize; 8]>,
    /// Where the innermost loop starts.
    row: [isize; K],
}

impl<'a, const K: usize> Outer<'a, K> {
    #[inline(never)]
    fn new(loops: &'a [Loop<K>], row: [isize; K]) -> Self {
        Outer { loops, counters: SmallVec::from_elem(0, loops.len()), row }
    }

    /// Goes on to the next row: carries into the innermost loop that still has steps left. False if
    /// none has.
    #[inline(never)]
    fn step(&mut self) -> bool {
        for (counter, of) in self.counters.iter_mut().zip(self.loops).rev() {
            *counter += 1;
            if *counter < of.len {
                advance(&mut self.row, &of.steps, 1);
                return true;
            }
            advance(&mut self.row, &of.steps, 1 - of.len as isize);
            *counter = 0;
        }
        false
    }
}

#[inline]
fn advance<const K: usize>(offsets: &mut [isize; K], steps: &[isize; K], times: isize) {
    for (offset, step) in offsets.iter_mut().zip(steps) {
        // Wrapping: one step past a loop's end need not be an address, and is never used.
        *offset = offset.wrapping_add(step.wrapping_mul(times));
    }
}

/// Where a dimension's walk starts and how it steps, for input, output and lengths.
///
/// Not for `FlipPrefix` and `FlipSegments`, whose input depends on values.
pub(in crate::cpu) fn walk_of(dim: &Dim, start: usize) -> ([isize; 3], [isize; 3]) {
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

    fn visited(loops: &[Loop<1>]) -> Vec<isize> {
        let mut seen = Vec::new();
        walk(loops, [100], |[at]| {
            seen.push(at);
            Ok::<_, ()>(())
        })
        .unwrap();
        seen
    }

    #[test]
    fn visits_in_row_major_order() {
        let loops = [Loop { len: 2, steps: [10] }, Loop { len: 3, steps: [-1] }];
        assert_eq!(visited(&loops), [100, 99, 98, 110, 109, 108]);
    }

    #[test]
    fn no_loops_are_one_visit_and_an_empty_loop_is_none() {
        assert_eq!(visited(&[]), [100]);
        assert_eq!(visited(&[Loop { len: 2, steps: [1] }, Loop { len: 0, steps: [1] }]), []);
    }

    #[test]
    fn three_levels_carry() {
        let step = |len, step| Loop { len, steps: [step] };
        let seen = visited(&[step(2, 100), step(2, 10), step(2, 1)]);
        assert_eq!(seen, [100, 101, 110, 111, 200, 201, 210, 211]);
    }

    #[test]
    fn stops_at_the_first_error() {
        let mut count = 0;
        let result = walk(&[Loop { len: 5, steps: [1] }], [0], |[at]| {
            count += 1;
            if at == 2 { Err(at) } else { Ok(()) }
        });
        assert_eq!((result, count), (Err(2), 3));
    }
}
