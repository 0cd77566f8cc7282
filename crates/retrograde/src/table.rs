//! Tables: what elements of one byte, or of 2 or 4 bits, become while they are reversed.
//!
//! The only thing in the library that looks at a value. It applies to what is reversed: elements
//! beyond a length, behind the last offset, or where a mask is false keep their value.

use crate::dtype::DType;
use crate::error::{Error, Operator};
use std::sync::Arc;

/// A table for elements of one byte (256 entries), 4 bits (16) or 2 bits (4): each element that is
/// reversed, also one that keeps its place, becomes its entry.
///
/// ```
/// use retrograde::prelude::*;
/// use retrograde::{Table, TensorRef};
///
/// let reads = TensorRef::from_slice(b"ACGTNaacgg", &[10])?;
/// let both = ReverseSegments::along(0).offsets(&[0, 5, 10]);
/// assert_eq!(both.table(&Table::dna()).to_bytes(&reads)?, b"NACGTccgtt");
/// # Ok::<(), retrograde::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table(Arc<Entries>);

#[derive(Debug, PartialEq, Eq)]
struct Entries {
    /// Bits in an element.
    bits: usize,
    /// Entries of bytes; of packed elements, what a byte of them becomes.
    bytes: [u8; 256],
    /// The same for registers.
    groups: Vec<Group>,
}

/// Bytes whose upper halves are looked up alike.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// For each upper half, all bits if it belongs to the group.
    pub(crate) upper: [u8; 16],
    /// For each lower half, the bits that change.
    pub(crate) lower: [u8; 16],
}

/// The letters of nucleic acids with their complements, in upper case.
const COMPLEMENTS: [(u8, u8); 16] = [
    (b'A', b'T'),
    (b'C', b'G'),
    (b'G', b'C'),
    (b'T', b'A'),
    (b'U', b'A'),
    (b'R', b'Y'),
    (b'Y', b'R'),
    (b'S', b'S'),
    (b'W', b'W'),
    (b'K', b'M'),
    (b'M', b'K'),
    (b'B', b'V'),
    (b'V', b'B'),
    (b'D', b'H'),
    (b'H', b'D'),
    (b'N', b'N'),
];

impl Table {
    /// For elements of one byte.
    pub fn bytes(entries: &[u8; 256]) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for upper in 0..16 {
            let mut lower = [0; 16];
            for (at, change) in lower.iter_mut().enumerate() {
                let byte = 16 * upper + at;
                *change = entries[byte] ^ byte as u8;
            }
            if lower == [0; 16] {
                continue;
            }
            match groups.iter_mut().find(|group| group.lower == lower) {
                Some(group) => group.upper[upper] = 0xFF,
                None => {
                    let mut group = Group { upper: [0; 16], lower };
                    group.upper[upper] = 0xFF;
                    groups.push(group);
                }
            }
        }
        Table(Arc::new(Entries { bits: 8, bytes: *entries, groups }))
    }

    /// For packed elements of 4 bits.
    pub fn nibbles(entries: &[u8; 16]) -> Self {
        Self::packed::<4>(entries)
    }

    /// For packed elements of 2 bits.
    pub fn quarters(entries: &[u8; 4]) -> Self {
        Self::packed::<2>(entries)
    }

    /// Of each entry, the bits that fit an element.
    fn packed<const BITS: usize>(entries: &[u8]) -> Self {
        let mask = (1 << BITS) - 1;
        let mut bytes = [0; 256];
        for (byte, entry) in bytes.iter_mut().enumerate() {
            for at in (0..8).step_by(BITS) {
                *entry |= (entries[byte >> at & mask] & mask as u8) << at;
            }
        }
        let Entries { bytes, groups, .. } =
            Arc::into_inner(Self::bytes(&bytes).0).expect("made here");
        Table(Arc::new(Entries { bits: BITS, bytes, groups }))
    }

    /// The complements of DNA in letters of either case, those of IUPAC included; U becomes A. Other
    /// bytes stay.
    pub fn dna() -> Self {
        Self::complement(b'T')
    }

    /// The same of RNA: A becomes U.
    pub fn rna() -> Self {
        Self::complement(b'U')
    }

    fn complement(of_a: u8) -> Self {
        let mut entries = std::array::from_fn(|byte| byte as u8);
        for (letter, complement) in COMPLEMENTS {
            let complement = if letter == b'A' { of_a } else { complement };
            for case in [0, 0x20] {
                entries[usize::from(letter | case)] = complement | case;
            }
        }
        Self::bytes(&entries)
    }

    /// For elements of 8, 4 or 2 bits, from a slice of 256, 16 or 4 entries.
    ///
    /// ```
    /// use retrograde::Table;
    ///
    /// let error = Table::new(&[3, 2, 1]).unwrap_err();
    /// let text = "a table has 3 entries, expected 256 (bytes), 16 (4-bit elements) or 4 (2-bit elements)";
    /// assert_eq!(error.to_string(), text);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    pub fn new(entries: &[u8]) -> Result<Self, Error> {
        let wrong = Error::TableLength { len: entries.len() };
        let bits = match entries.len() {
            256 => 8,
            16 => 4,
            4 => 2,
            _ => return Err(wrong),
        };
        if let Some(index) = entries.iter().position(|&entry| u32::from(entry) >> bits != 0) {
            return Err(Error::TableEntry { index, value: entries[index], bits });
        }
        Ok(match bits {
            8 => Self::bytes(&std::array::from_fn(|at| entries[at])),
            4 => Self::packed::<4>(entries),
            _ => Self::packed::<2>(entries),
        })
    }

    /// How many entries it has.
    pub fn entries(&self) -> usize {
        1 << self.0.bits
    }

    /// What each byte becomes: one element, or several packed ones.
    pub fn byte_entries(&self) -> &[u8; 256] {
        &self.0.bytes
    }

    /// Refuses elements that it is not for.
    pub(crate) fn check(&self, operator: Operator, dtype: DType) -> Result<(), Error> {
        let fits = match self.0.bits {
            8 => matches!(dtype, DType::U8 | DType::I8 | DType::Bytes(1)),
            4 => matches!(dtype, DType::U4 | DType::I4),
            _ => matches!(dtype, DType::U2 | DType::I2),
        };
        if fits {
            return Ok(());
        }
        Err(Error::TableType { operator, dtype, entries: self.entries() })
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.0.groups
    }
}
