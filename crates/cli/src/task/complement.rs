//! `reverse-complement`: what it asks of a tensor and of its letters.

use super::lengths::{count, index_of};
use anyhow::{Result, bail};
use retrograde::{DType, Layout};
use retrograde_picture::Movement;
use std::ops::Range;

/// The letters of nucleic acids, those of IUPAC included.
const LETTERS: &str = "ACGTURYSWKMBDHVN";

/// Checks the type of the tensor and the axis.
pub(super) fn check(axis: i64, input: &Layout) -> Result<()> {
    let (rank, dtype) = (input.rank(), input.dtype());
    if !matches!(dtype, DType::U8 | DType::I8 | DType::Bytes(1)) {
        bail!(
            "reverse-complement: the input has type {dtype}, expected letters of one byte (u8, i8, S1): \
             save wider strings as S1 with one more axis"
        );
    }
    if rank == 0 {
        bail!("reverse-complement: axis is {axis}, but a scalar (rank 0) has no axes");
    }
    let bound = rank as i64;
    if !(-bound..bound).contains(&axis) {
        let last = bound - 1;
        bail!(
            "reverse-complement: axis is {axis}, outside [-{rank}, {last}] for a tensor of rank {rank}"
        );
    }
    Ok(())
}

/// Refuses the first byte that is no letter among those that are complemented: in segments that `has`
/// names, or as many as `length` says of each lane.
pub(super) fn check_letters(
    movement: &Movement,
    input: &Layout,
    data: &[u8],
    has: impl Fn(usize) -> bool,
    length: impl Fn(&[usize]) -> i128,
) -> Result<()> {
    let (shape, strides) = (input.shape(), input.grain_strides());
    let (axis, segments) = match movement {
        Movement::Axes(axes) => (axes[0], std::iter::once(0..shape[axes[0]]).collect()),
        Movement::Segments { axis, offsets } => {
            let segments = offsets.windows(2).map(|pair| pair[0]..pair[1]).enumerate();
            let chosen = segments.filter(|(at, _)| has(*at));
            (*axis, chosen.map(|(_, segment)| segment).collect())
        }
        Movement::Lanes { axis, .. } => (*axis, Vec::new()),
        Movement::Sequence { .. } | Movement::Orient { .. } => return Ok(()),
    };
    let mut lanes = shape.to_vec();
    lanes[axis] = 1;
    let check = |lane: &mut Vec<usize>, letters: Range<usize>| -> Result<()> {
        // Strides of a file are never negative.
        let start: usize = lane.iter().zip(strides).map(|(at, step)| at * *step as usize).sum();
        for at in letters {
            let byte = data[start + at * strides[axis] as usize];
            if !is_letter(byte) {
                lane[axis] = at;
                let letter = char::from(byte);
                bail!(
                    "reverse-complement: x{lane:?} is {letter:?} ({byte}), expected one of {LETTERS}, in \
                     either case (without --strict it keeps its value)"
                );
            }
        }
        Ok(())
    };
    for number in 0..count(&lanes) {
        let mut lane = index_of(number, &lanes);
        if let Movement::Lanes { .. } = movement {
            // The operator has accepted the lengths: none is longer than the axis.
            let length = usize::try_from(length(&lane)).unwrap_or(0);
            check(&mut lane, 0..length)?;
        }
        segments.iter().try_for_each(|segment| check(&mut lane, segment.clone()))?;
    }
    Ok(())
}

fn is_letter(byte: u8) -> bool {
    LETTERS.as_bytes().contains(&byte.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::Table;

    /// Whatever the table changes is a letter; S, W and N are their own complements.
    #[test]
    fn letters_are_those_of_the_table() {
        for (byte, &entry) in Table::dna().byte_entries().iter().enumerate() {
            let byte = byte as u8;
            assert_eq!(is_letter(byte), entry != byte || b"SWNswn".contains(&byte), "{byte}");
        }
    }
}
