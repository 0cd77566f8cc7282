//! Which input chunks an output chunk needs: arithmetic on sizes, without data.
//!
//! Input and output have the same regular grid, which starts at position 0. If the last chunk is
//! ragged, the mirror image of a chunk lies across a border: it comes from two input chunks along
//! each reversed axis, and never from more.

/// A regular grid of chunks over an array.
///
/// 1. Shape and chunk have the same rank.
/// 2. No chunk size is zero.
/// 3. The number of chunks fits in 64 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    shape: Vec<u64>,
    chunk: Vec<u64>,
}

/// Part of an axis: `len` positions from `from` in the input chunk `chunk`, to `to` in the output
/// chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The input chunk.
    pub chunk: u64,
    /// The first position inside the input chunk.
    pub from: u64,
    /// The first position inside the output chunk.
    pub to: u64,
    /// How many positions.
    pub len: u64,
}

/// A box of an input chunk that becomes a box of an output chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The position of the input chunk in the grid.
    pub chunk: Vec<u64>,
    /// The first position inside the input chunk, per axis.
    pub from: Vec<u64>,
    /// The first position inside the output chunk, per axis.
    pub to: Vec<u64>,
    /// The size, per axis.
    pub len: Vec<u64>,
}

impl Grid {
    /// A grid; `None` if it would break an invariant.
    pub fn new(shape: Vec<u64>, chunk: Vec<u64>) -> Option<Grid> {
        let valid = shape.len() == chunk.len() && !chunk.contains(&0);
        let grid = Grid { shape, chunk };
        let product = |count: u64, axis| count.checked_mul(grid.count(axis));
        // A grid without chunks has none whatever the product of the others would be.
        let empty = grid.shape.contains(&0);
        let fits = empty || (valid && (0..grid.rank()).try_fold(1, product).is_some());
        (valid && fits).then_some(grid)
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The shape of the array.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The shape of a chunk.
    pub fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    /// The number of chunks along an axis.
    pub fn count(&self, axis: usize) -> u64 {
        self.shape[axis].div_ceil(self.chunk[axis])
    }

    /// The number of all chunks.
    pub fn chunks(&self) -> u64 {
        if self.shape.contains(&0) {
            return 0;
        }
        (0..self.rank()).map(|axis| self.count(axis)).product()
    }

    /// The number of elements of a chunk, if it fits in 64 bits.
    pub fn chunk_len(&self) -> Option<u64> {
        self.chunk.iter().try_fold(1u64, |product, &size| product.checked_mul(size))
    }

    /// The bytes of a chunk whose elements have this width; as many as 64 bits can count if it has
    /// more.
    pub fn chunk_bytes(&self, width: usize) -> u64 {
        self.chunk_len().unwrap_or(u64::MAX).saturating_mul(width as u64)
    }

    /// The position of a chunk that is counted with the last axis of `order` varying fastest.
    pub fn index(&self, mut number: u64, order: &[usize]) -> Vec<u64> {
        let mut index = vec![0; self.rank()];
        for &axis in order.iter().rev() {
            let count = self.count(axis);
            index[axis] = number % count;
            number /= count;
        }
        index
    }

    /// The size of a chunk inside the array: less than that of a chunk at the end of an axis.
    pub fn inside(&self, index: &[u64]) -> Vec<u64> {
        let size = |axis: usize| {
            let low = index[axis] * self.chunk[axis];
            self.chunk[axis].min(self.shape[axis] - low)
        };
        (0..self.rank()).map(size).collect()
    }

    /// Whether the mirror images of chunks lie across borders along this axis.
    pub fn is_ragged(&self, axis: usize) -> bool {
        !self.shape[axis].is_multiple_of(self.chunk[axis]) && self.shape[axis] > self.chunk[axis]
    }

    /// Whether reversing an axis only moves whole chunks: one element per chunk along the axis, or
    /// one element in all.
    pub fn only_renames(&self, axis: usize) -> bool {
        self.chunk[axis] == 1 || self.shape[axis] <= 1
    }

    /// Where the positions of an output chunk along one axis come from: one or two spans, in the
    /// order of the input if the axis is kept, and backwards if it is flipped.
    pub fn spans(&self, axis: usize, at: u64, flipped: bool) -> Vec<Span> {
        let (size, chunk) = (self.shape[axis], self.chunk[axis]);
        let low = at * chunk;
        let high = size.min(low.saturating_add(chunk));
        if !flipped {
            return vec![Span { chunk: at, from: 0, to: 0, len: high - low }];
        }
        let (begin, mut end) = (size - high, size - low);
        let mut spans = Vec::with_capacity(2);
        while begin < end {
            let source = (end - 1) / chunk;
            let first = begin.max(source * chunk);
            spans.push(Span {
                chunk: source,
                from: first - source * chunk,
                to: size - end - low,
                len: end - first,
            });
            end = first;
        }
        spans
    }

    /// The boxes of input chunks that an output chunk consists of.
    pub fn pieces(&self, index: &[u64], flipped: &[bool]) -> Vec<Piece> {
        let none = Piece { chunk: vec![], from: vec![], to: vec![], len: vec![] };
        let mut pieces = vec![none];
        for axis in 0..self.rank() {
            let spans = self.spans(axis, index[axis], flipped[axis]);
            pieces = pieces.iter().flat_map(|piece| spans.iter().map(|s| piece.with(s))).collect();
        }
        pieces
    }
}

impl Piece {
    /// The same with one more axis.
    fn with(&self, span: &Span) -> Piece {
        let mut piece = self.clone();
        piece.chunk.push(span.chunk);
        piece.from.push(span.from);
        piece.to.push(span.to);
        piece.len.push(span.len);
        piece
    }

    /// The number of elements.
    pub fn elements(&self) -> u64 {
        self.len.iter().product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_comes_from_its_mirror_image() {
        for size in 0..20u64 {
            for chunk in 1..8 {
                let grid = Grid::new(vec![size], vec![chunk]).unwrap();
                for flipped in [false, true] {
                    let mut seen = Vec::new();
                    for at in 0..grid.chunks() {
                        let spans = grid.spans(0, at, flipped);
                        assert!(spans.len() <= if grid.is_ragged(0) && flipped { 2 } else { 1 });
                        for span in spans {
                            assert!(span.from + span.len <= chunk && span.to + span.len <= chunk);
                            for step in 0..span.len {
                                let back = if flipped { span.len - 1 - step } else { step };
                                let source = span.chunk * chunk + span.from + back;
                                let target = at * chunk + span.to + step;
                                assert_eq!(
                                    source,
                                    if flipped { size - 1 - target } else { target }
                                );
                                seen.push(target);
                            }
                        }
                    }
                    assert_eq!(seen, (0..size).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn a_ragged_chunk_reads_two_per_axis() {
        let grid = Grid::new(vec![10, 7, 4], vec![4, 3, 2]).unwrap();
        let pieces = grid.pieces(&[0, 0, 1], &[true, true, true]);
        let chunks: Vec<_> = pieces.iter().map(|piece| piece.chunk.clone()).collect();
        assert_eq!(chunks, [[2, 2, 0], [2, 1, 0], [1, 2, 0], [1, 1, 0]]);
        assert_eq!(pieces[1].from, [0, 1, 0]);
        assert_eq!(pieces[1].to, [0, 1, 0]);
        assert_eq!(pieces[1].len, [2, 2, 2]);
        assert_eq!(grid.pieces(&[0, 0, 1], &[false; 3]).len(), 1);
    }

    #[test]
    fn grids_that_cannot_be_counted_are_refused() {
        assert_eq!(Grid::new(vec![4], vec![0]), None);
        assert_eq!(Grid::new(vec![4], vec![1, 1]), None);
        assert_eq!(Grid::new(vec![u64::MAX, 2], vec![1, 1]), None);
        assert_eq!(Grid::new(vec![u64::MAX, 2, 0], vec![1, 1, 1]).unwrap().chunks(), 0);
        assert_eq!(Grid::new(vec![], vec![]).unwrap().chunks(), 1);
    }

    #[test]
    fn chunks_are_counted_in_any_order_of_axes() {
        let grid = Grid::new(vec![4, 6], vec![2, 2]).unwrap();
        assert_eq!(grid.index(4, &[0, 1]), [1, 1]);
        assert_eq!(grid.index(4, &[1, 0]), [0, 2]);
        assert_eq!(grid.inside(&[1, 2]), [2, 2]);
    }
}
