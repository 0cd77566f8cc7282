//! Padded batches: each sequence is reversed by its own length, and the padding stays or becomes
//! zero. An output chunk needs only the input chunks that its own lengths reach.

use crate::error::Error;
use crate::grid::{Grid, Piece};
use crate::needs::{Needs, Part};
use retrograde::{
    Align, DType, Layout, LengthPolicy, LengthsOperator, Reversal, ReverseSequence, Tail,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// The operator and its lengths, before an array is known.
#[derive(Debug, Clone)]
pub struct Padded {
    /// The axis that is reversed. Negative ones count from the end.
    pub time_axis: i64,
    /// The axis with one length per entry.
    pub batch_axis: i64,
    /// The lengths.
    pub lengths: Vec<i64>,
    /// What to do with a length beyond the axis.
    pub policy: LengthPolicy,
    /// At which end of the axis sequences are.
    pub align: Align,
    /// What becomes of the padding.
    pub tail: Tail,
}

/// The sequences of an array, checked.
///
/// 1. `time` and `batch` are different axes of the array.
/// 2. There is one length per entry of the batch axis.
/// 3. No length is beyond the time axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequences {
    time: usize,
    batch: usize,
    lengths: Vec<u64>,
    align: Align,
    tail: Tail,
    rank: usize,
}

impl Padded {
    /// Checks axes and lengths against an array.
    pub(crate) fn of(&self, at: &str, grid: &Grid) -> Result<Sequences, Error> {
        let refused = |source| Error::Operator { at: at.to_owned(), source: Box::new(source) };
        // The operator checks a tensor of the same shape, which is nowhere in memory.
        let shape: Vec<usize> = grid.shape().iter().map(|&size| size as usize).collect();
        let layout = Layout::dense(DType::U8, &shape).map_err(|error| refused(error.into()))?;
        let operator = ReverseSequence::new().time_axis(self.time_axis).batch_axis(self.batch_axis);
        let operator = operator.policy(self.policy).align(self.align).tail(self.tail);
        let expected = operator.lengths_shape(&shape).map_err(refused)?;
        let prepared = operator.lengths(&self.lengths[..]).prepare(&layout, &layout);
        prepared.and_then(|prepared| prepared.check().map(|_| ())).map_err(refused)?;
        debug_assert_eq!(expected[..], [self.lengths.len()]);
        let from_start = |axis: i64| axis.rem_euclid(shape.len() as i64) as usize;
        let (time, batch) = (from_start(self.time_axis), from_start(self.batch_axis));
        let limit = grid.shape()[time];
        let lengths = self.lengths.iter().map(|&length| (length.max(0) as u64).min(limit));
        let (align, tail, rank) = (self.align, self.tail, grid.rank());
        Ok(Sequences { time, batch, lengths: lengths.collect(), align, tail, rank })
    }
}

impl Sequences {
    /// The axis that is reversed, and the axis with one length per entry.
    pub fn axes(&self) -> (usize, usize) {
        (self.time, self.batch)
    }

    /// The time axis as a mask.
    pub(crate) fn flipped(&self) -> Vec<bool> {
        (0..self.rank).map(|axis| axis == self.time).collect()
    }

    pub(crate) fn identity(&self) -> Value {
        let (align, tail) = (self.align == Align::End, self.tail == Tail::Zero);
        json!([self.time, self.batch, align, tail, self.lengths])
    }

    /// Runs of sequences of the same length, among those of an output chunk.
    fn runs(&self, entries: Range<u64>) -> Vec<(Range<u64>, u64)> {
        let mut runs: Vec<(Range<u64>, u64)> = Vec::new();
        for entry in entries {
            let length = self.lengths[entry as usize];
            match runs.last_mut() {
                Some((run, known)) if *known == length => run.end = entry + 1,
                _ => runs.push((entry..entry + 1, length)),
            }
        }
        runs
    }

    /// What an output chunk needs.
    pub(crate) fn needs(&self, grid: &Grid, index: &[u64]) -> Needs {
        let (time, batch) = (self.time, self.batch);
        let inside = grid.inside(index);
        let (size, step) = (grid.shape()[time], grid.chunk()[time]);
        let steps = index[time] * step..index[time] * step + inside[time];
        let first = index[batch] * grid.chunk()[batch];
        let mut sources: BTreeMap<u64, Vec<Part>> = BTreeMap::new();
        let mut zeros = Vec::new();
        for (run, length) in self.runs(first..first + inside[batch]) {
            // A box of this run: `len` steps from `from` of the input chunk `chunk`, to `to`.
            let piece = |chunk: u64, from: u64, to: u64, len: u64| {
                let mut piece = Piece {
                    chunk: index.to_vec(),
                    from: vec![0; grid.rank()],
                    to: vec![0; grid.rank()],
                    len: inside.clone(),
                };
                piece.chunk[time] = chunk;
                (piece.from[time], piece.to[time], piece.len[time]) = (from, to, len);
                piece.from[batch] = run.start - first;
                piece.to[batch] = run.start - first;
                piece.len[batch] = run.end - run.start;
                piece
            };
            let sequence = match self.align {
                Align::Start => 0..length,
                Align::End => size - length..size,
            };
            let common = |range: Range<u64>| range.start.max(steps.start)..range.end.min(steps.end);
            // Output step `p` of a sequence comes from its mirror image.
            let turned = common(sequence.clone());
            let mirror = sequence.start + sequence.end;
            let mut at = turned.start;
            while at < turned.end {
                let source = mirror - 1 - at;
                let chunk = source / step;
                // As far as this input chunk and this output chunk reach.
                let len = (source - chunk * step + 1).min(turned.end - at);
                let piece = piece(chunk, source + 1 - len - chunk * step, at - steps.start, len);
                sources.entry(chunk).or_default().push(Part { piece, reversed: true });
                at += len;
            }
            for rest in [common(0..sequence.start), common(sequence.end..size)] {
                if rest.start >= rest.end {
                    continue;
                }
                let (at, len) = (rest.start - steps.start, rest.end - rest.start);
                let piece = piece(index[time], at, at, len);
                match self.tail {
                    Tail::Keep => sources
                        .entry(index[time])
                        .or_default()
                        .push(Part { piece, reversed: false }),
                    Tail::Zero => zeros.push(piece),
                }
            }
        }
        let whole = |(chunk, parts)| {
            let mut position = index.to_vec();
            position[time] = chunk;
            (position, parts)
        };
        Needs { sources: sources.into_iter().map(whole).collect(), zeros }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padded(lengths: &[i64], align: Align, tail: Tail) -> Padded {
        let lengths = lengths.to_vec();
        Padded { time_axis: 1, batch_axis: 0, lengths, policy: LengthPolicy::Strict, align, tail }
    }

    /// Every element of every output chunk comes from where the definition says.
    #[test]
    fn every_step_comes_from_its_mirror_image() {
        let all =
            [(Align::Start, Tail::Keep), (Align::End, Tail::Keep), (Align::Start, Tail::Zero)];
        for (align, tail) in all.into_iter().chain([(Align::End, Tail::Zero)]) {
            for (size, step, rows) in [(7u64, 3u64, 2u64), (8, 4, 3), (5, 8, 1), (9, 1, 4)] {
                let lengths: Vec<i64> =
                    (0..6).map(|entry| (entry * 5 % (size + 1)) as i64).collect();
                let grid = Grid::new(vec![6, size], vec![rows, step]).unwrap();
                let sequences = padded(&lengths, align, tail).of("x", &grid).unwrap();
                let mut seen = BTreeMap::new();
                for number in 0..grid.chunks() {
                    let index = grid.index(number, &[0, 1]);
                    let needs = sequences.needs(&grid, &index);
                    for (chunk, Part { piece, reversed }) in needs
                        .sources
                        .iter()
                        .flat_map(|(chunk, parts)| parts.iter().map(move |p| (chunk, p)))
                    {
                        assert_eq!(chunk, &piece.chunk);
                        for row in 0..piece.len[0] {
                            for at in 0..piece.len[1] {
                                let back = if *reversed { piece.len[1] - 1 - at } else { at };
                                let from = chunk[1] * step + piece.from[1] + back;
                                let entry = index[0] * rows + piece.to[0] + row;
                                assert_eq!(entry, chunk[0] * rows + piece.from[0] + row);
                                let to = index[1] * step + piece.to[1] + at;
                                assert_eq!(seen.insert((entry, to), Some(from)), None);
                            }
                        }
                    }
                    for zero in &needs.zeros {
                        for row in 0..zero.len[0] {
                            for at in 0..zero.len[1] {
                                let entry = index[0] * rows + zero.to[0] + row;
                                let to = index[1] * step + zero.to[1] + at;
                                assert_eq!(seen.insert((entry, to), None), None);
                            }
                        }
                    }
                }
                for entry in 0..6 {
                    let length = lengths[entry as usize] as u64;
                    let start = if align == Align::End { size - length } else { 0 };
                    for at in 0..size {
                        let expected = match (start..start + length).contains(&at) {
                            true => Some(2 * start + length - 1 - at),
                            false if tail == Tail::Zero => None,
                            false => Some(at),
                        };
                        assert_eq!(seen[&(entry, at)], expected, "{entry} {at} {align:?} {tail:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn chunks_beyond_the_lengths_are_not_read() {
        let grid = Grid::new(vec![2, 100], vec![2, 10]).unwrap();
        let sequences = padded(&[25, 25], Align::Start, Tail::Keep).of("x", &grid).unwrap();
        let chunks = |at: u64| -> Vec<u64> {
            let needs = sequences.needs(&grid, &[0, at]);
            needs.sources.iter().map(|(chunk, _)| chunk[1]).collect()
        };
        assert_eq!(chunks(0), [1, 2]);
        assert_eq!(chunks(2), [0, 2]);
        assert_eq!(chunks(9), [9]);
    }

    #[test]
    fn lengths_are_checked_by_the_operator() {
        let grid = Grid::new(vec![2, 100], vec![2, 10]).unwrap();
        let of = |lengths: &[i64]| padded(lengths, Align::Start, Tail::Keep).of("x.zarr", &grid);
        let message = |lengths: &[i64]| of(lengths).unwrap_err().to_string();
        assert!(message(&[1, 101]).contains("lengths[1] is 101"), "{}", message(&[1, 101]));
        assert!(message(&[-1, 1]).contains("lengths[0] is -1"), "{}", message(&[-1, 1]));
        assert!(message(&[1]).contains('2'), "{}", message(&[1]));
    }
}
