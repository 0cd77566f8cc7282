//! The letters of nucleic acids: bytes among those that a call looks up that are none.

use crate::error::Error;
use crate::layout::Layout;
use crate::prepared::{Prepared, unravel};
use crate::table::Table;
use crate::tensor::TensorRef;
use std::fmt;

/// The letters of nucleic acids, those of IUPAC included.
const LETTERS: &str = "ACGTURYSWKMBDHVN";

/// A byte that is no letter of nucleic acids, and its index in the tensor.
///
/// Shown as `[3] is '-' (45), expected one of ACGTURYSWKMBDHVN, in either case`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stray {
    /// Where it is.
    pub index: Vec<usize>,
    /// What it is.
    pub byte: u8,
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stray { index, byte } = self;
        let letter = char::from(*byte);
        write!(f, "{index:?} is {letter:?} ({byte}), expected one of {LETTERS}, in either case")
    }
}

impl Prepared<'_> {
    /// The first byte, in row-major order, that this call would look up in its table and that is no letter
    /// of nucleic acids, in either case. Input and output of the call have the same layout.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, Layout, Table};
    ///
    /// let reads = Layout::dense(DType::U8, &[7])?;
    /// let both = ReverseSegments::along(0).offsets(&[0, 4, 7]).where_(&[true, false]);
    /// let call = both.table(&Table::dna()).prepare(&reads, &reads)?;
    /// assert_eq!(call.stray(&reads, b"ACGTxyz")?, None);
    /// let stray = call.stray(&reads, b"AC-Txyz")?.unwrap();
    /// assert_eq!((stray.index, stray.byte), (vec![2], b'-'));
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    pub fn stray(&self, layout: &Layout, bytes: &[u8]) -> Result<Option<Stray>, Error> {
        TensorRef::new(layout.clone(), bytes)?;
        let is_stray = |byte: &u8| !LETTERS.as_bytes().contains(&byte.to_ascii_uppercase());
        let are_strays: [bool; 256] = std::array::from_fn(|byte| is_stray(&(byte as u8)));
        let is_stray = |byte: &u8| are_strays[usize::from(*byte)];
        // Most files have none, and may be larger than memory.
        if !bytes.iter().any(is_stray) {
            return Ok(None);
        }
        let mut strays: Vec<u8> = bytes.iter().map(|byte| u8::from(is_stray(byte))).collect();
        // The program knows what is reversed: it counts strays there. After two runs each is where it was.
        let counting = Table::bytes(&std::array::from_fn(|count| match count {
            1 => 2,
            2 => 3,
            _ => 0,
        }));
        let counting = self.with_table(counting, layout.dtype())?;
        for _ in 0..2 {
            counting.run_in_place(&mut strays[..])?;
        }
        if !strays.contains(&3) {
            return Ok(None);
        }
        let (shape, strides) = (layout.shape(), layout.grain_strides());
        let place = |index: &[usize]| {
            let steps = index.iter().zip(strides).map(|(&at, &stride)| at as isize * stride);
            layout.reach().origin.wrapping_add_signed(steps.sum())
        };
        let indices = (0..layout.len()).map(|ordinal| unravel(ordinal, shape));
        let mut found = indices.filter(|index| strays[place(index)] == 3);
        Ok(found.next().map(|index| Stray { byte: bytes[place(&index)], index }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Reversal, Reverse};

    /// Whatever a table changes is a letter; S, W and N are their own complements.
    #[test]
    fn letters_are_those_of_the_tables() {
        for (byte, &entry) in Table::dna().byte_entries().iter().enumerate() {
            let byte = byte as u8;
            let is_letter = LETTERS.as_bytes().contains(&byte.to_ascii_uppercase());
            assert_eq!(is_letter, entry != byte || b"SWNswn".contains(&byte), "{byte}");
        }
    }

    #[test]
    fn a_layout_beyond_the_bytes_is_refused() {
        let dense = Layout::dense(DType::U8, &[4]).unwrap();
        let call = Reverse::all().table(&Table::dna()).prepare(&dense, &dense).unwrap();
        let spread = Layout::strided(DType::U8, &[4], &[2], 0).unwrap();
        let error = call.stray(&spread, b"A-GT").unwrap_err();
        assert!(matches!(error, Error::Layout(_)), "{error}");
    }
}
