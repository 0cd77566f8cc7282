//! The usual filters of HDF5 chunks, undone: deflate, shuffle and fletcher32.

use crate::inflate::Compression;
use hdf5_pure::Filter;

const DEFLATE: u16 = 1;
const SHUFFLE: u16 = 2;
const FLETCHER32: u16 = 3;

/// A pipeline of known filters, in the order in which they were applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filters {
    ids: Vec<u16>,
    width: usize,
}

impl Filters {
    /// The pipeline, if all of its filters are known.
    pub(super) fn new(pipeline: &[Filter], width: usize) -> Option<Filters> {
        let ids: Vec<u16> = pipeline.iter().map(|filter| filter.id).collect();
        let known = ids.iter().all(|id| matches!(*id, DEFLATE | SHUFFLE | FLETCHER32));
        known.then_some(Filters { ids, width })
    }

    /// The elements of a stored chunk, which must be `size` bytes. `skipped` has a bit for each
    /// filter that was not applied.
    pub(super) fn undo(
        &self,
        mut bytes: Vec<u8>,
        skipped: u32,
        size: u64,
    ) -> Result<Vec<u8>, String> {
        for (number, id) in self.ids.iter().enumerate().rev() {
            if number < 32 && skipped & (1 << number) != 0 {
                continue;
            }
            bytes = match *id {
                // A checksum of four bytes may be inside.
                DEFLATE => Compression::Zlib.undo(&bytes, size.saturating_add(4))?,
                SHUFFLE => unshuffle(&bytes, self.width),
                _ => check(bytes)?,
            };
        }
        match bytes.len() as u64 == size {
            true => Ok(bytes),
            false => Err(format!("decodes to {} bytes, expected {size}", bytes.len())),
        }
    }
}

/// All first bytes of elements are stored first, then all second ones, and so on.
fn unshuffle(bytes: &[u8], width: usize) -> Vec<u8> {
    let count = bytes.len() / width.max(1);
    let mut out = bytes.to_vec();
    for lane in 0..width {
        for (element, byte) in bytes[lane * count..(lane + 1) * count].iter().enumerate() {
            out[element * width + lane] = *byte;
        }
    }
    out
}

/// Compares and removes the checksum at the end. Old versions of the library on little-endian
/// machines stored its bytes in another order, which readers accept.
fn check(mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let Some(end) = bytes.len().checked_sub(4) else {
        return Err("is shorter than its checksum".to_owned());
    };
    let stored = bytes.split_off(end);
    let stored = u32::from_le_bytes([stored[0], stored[1], stored[2], stored[3]]);
    let computed = fletcher32(&bytes);
    let swapped = ((computed & 0x00ff_00ff) << 8) | ((computed >> 8) & 0x00ff_00ff);
    if stored != computed && stored != swapped {
        return Err(format!("the checksum is {stored:#010x}, computed {computed:#010x}"));
    }
    Ok(bytes)
}

/// Fletcher's checksum over words of 16 bits, most significant byte first.
fn fletcher32(bytes: &[u8]) -> u32 {
    let (mut first, mut second) = (0u32, 0u32);
    let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
    let pairs = bytes.chunks_exact(2);
    let rest = pairs.remainder();
    let words = pairs.map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let words: Vec<u32> = words.chain(rest.iter().map(|&byte| u32::from(byte) << 8)).collect();
    // As many sums as fit before the second one could overflow.
    for block in words.chunks(360) {
        for word in block {
            first += word;
            second += first;
        }
        (first, second) = (fold(first), fold(second));
    }
    (fold(second) << 16) | fold(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_put_back_in_order() {
        assert_eq!(unshuffle(&[1, 3, 5, 2, 4, 6, 9], 2), [1, 2, 3, 4, 5, 6, 9]);
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut bytes = vec![1, 2, 3, 4, 5];
        let sum = fletcher32(&bytes);
        bytes.extend(sum.to_le_bytes());
        assert_eq!(check(bytes.clone()), Ok(vec![1, 2, 3, 4, 5]));
        bytes[2] ^= 1;
        assert!(check(bytes).is_err());
        assert!(check(vec![1]).is_err());
    }
}
