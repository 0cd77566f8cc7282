//! Moves a box of an input chunk to an output chunk, reversed along some axes, with the engine.

use crate::grid::Piece;
use retrograde::{DType, Error, Layout, LayoutError, Reversal, Reverse};

/// A chunk in memory: its shape, the bytes of an element, and where its memory begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk<'a> {
    pub(crate) shape: &'a [u64],
    pub(crate) width: usize,
    /// The first byte of the chunk that is in memory.
    pub(crate) begin: u64,
}

impl Chunk<'_> {
    /// Byte strides, row-major.
    fn strides(&self) -> Vec<isize> {
        let mut strides = vec![0; self.shape.len()];
        let mut step = self.width as isize;
        for (stride, &size) in strides.iter_mut().zip(self.shape).rev() {
            *stride = step;
            step = step.saturating_mul(size as isize);
        }
        strides
    }

    /// The byte where a position begins.
    fn offset(&self, at: &[u64]) -> u64 {
        let strides = self.strides();
        at.iter().zip(strides).map(|(&at, stride)| at * stride as u64).sum()
    }

    /// The bytes from the first to the last element of a box.
    pub(crate) fn hull(&self, start: &[u64], len: &[u64]) -> std::ops::Range<u64> {
        let last: Vec<u64> = start.iter().zip(len).map(|(start, len)| start + len - 1).collect();
        self.offset(start)..self.offset(&last) + self.width as u64
    }

    fn layout(&self, start: &[u64], len: &[u64]) -> Result<Layout, LayoutError> {
        let sizes: Vec<usize> = len.iter().map(|&size| size as usize).collect();
        let offset = (self.offset(start) - self.begin) as usize;
        Layout::byte_strided(DType::Bytes(self.width), &sizes, &self.strides(), offset)
    }
}

/// Moves a piece. The memory of the chunks must hold it.
pub(crate) fn flip(
    piece: &Piece,
    flipped: &[bool],
    (input, source): (Chunk<'_>, &[u8]),
    (output, target): (Chunk<'_>, &mut [u8]),
) -> Result<(), Error> {
    let from = input.layout(&piece.from, &piece.len)?;
    let to = output.layout(&piece.to, &piece.len)?;
    Reverse::mask(flipped.iter().copied()).prepare(&from, &to)?.run(source, target)
}

/// Fills memory with copies of one element.
pub(crate) fn fill(memory: &mut [u8], element: &[u8]) {
    match element {
        [] => {}
        [first, rest @ ..] if rest.iter().all(|byte| byte == first) => memory.fill(*first),
        element => {
            let done = element.len().min(memory.len());
            memory[..done].copy_from_slice(&element[..done]);
            let mut done = done;
            // Doubling: a few large copies instead of many small ones.
            while done < memory.len() {
                let more = done.min(memory.len() - done);
                memory.copy_within(..more, done);
                done += more;
            }
        }
    }
}

/// Fills the box of an output chunk that a piece would write.
pub(crate) fn fill_box(piece: &Piece, chunk: Chunk<'_>, memory: &mut [u8], element: &[u8]) {
    let Some((&row, outer)) = piece.len.split_last() else { return fill(memory, element) };
    let row = row as usize * chunk.width;
    let rows: u64 = outer.iter().product();
    let mut at = piece.to.clone();
    for mut number in 0..rows {
        for (axis, &size) in outer.iter().enumerate().rev() {
            at[axis] = piece.to[axis] + number % size;
            number /= size;
        }
        let start = chunk.offset(&at) as usize;
        fill(&mut memory[start..start + row], element);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_filled_with_whole_elements() {
        let mut memory = [9; 12];
        fill(&mut memory, &[1, 2, 3]);
        assert_eq!(memory, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
        fill(&mut memory, &[0; 4]);
        assert_eq!(memory, [0; 12]);
    }

    #[test]
    fn a_piece_needs_only_its_hull() {
        let piece = Piece { chunk: vec![0, 0], from: vec![1, 1], to: vec![0, 0], len: vec![2, 2] };
        let chunk = Chunk { shape: &[3, 3], width: 1, begin: 0 };
        let hull = chunk.hull(&piece.from, &piece.len);
        assert_eq!(hull, 4..9);
        let part = Chunk { begin: hull.start, ..chunk };
        let mut out = [0; 9];
        flip(&piece, &[true, false], (part, b"efghi"), (chunk, &mut out)).unwrap();
        assert_eq!(&out, b"hi\0ef\0\0\0\0");
    }
}
