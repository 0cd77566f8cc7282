//! A mask (`--where`): a boolean for each sequence, lane, segment or entry of a batch.

use super::lengths::count;
use crate::load;
use anyhow::{Result, bail};
use retrograde::{Error, Operator};
use retrograde_io::FilesRead;
use retrograde_program::lists::MaskArgument;

/// The booleans in row-major order, and their shape.
#[derive(Debug)]
pub(super) struct Entries {
    flags: Vec<bool>,
    shape: Vec<usize>,
}

impl Entries {
    /// Loads a mask of this shape. `omitted` is an axis of size 1 that the shape of a tensor may omit.
    pub(super) fn load(
        operator: Operator,
        argument: &MaskArgument,
        expected: &[usize],
        omitted: Option<usize>,
        read: &FilesRead,
    ) -> Result<Entries> {
        let (flags, shape) = load::mask(argument, read)?;
        let without = omitted.map(|axis| [&expected[..axis], &expected[axis + 1..]].concat());
        let fits = match &shape {
            None => flags.len() == count(expected),
            Some(shape) => shape == expected || Some(shape) == without.as_ref(),
        };
        if fits {
            return Ok(Entries { flags, shape: expected.to_vec() });
        }
        if let (Some(got), Some(without)) = (&shape, without) {
            bail!("{operator}: where has shape {got:?}, expected {expected:?} or {without:?}");
        }
        let got = shape.unwrap_or_else(|| vec![flags.len()]);
        Err(Error::WhereShape { operator, got, expected: expected.to_vec() }.into())
    }

    /// The booleans in row-major order.
    pub(super) fn flags(&self) -> &[bool] {
        &self.flags
    }

    /// Whether it is true at this index.
    pub(super) fn has(&self, index: &[usize]) -> bool {
        let position = index.iter().zip(&self.shape).fold(0, |sum, (at, size)| sum * size + at);
        self.flags[position]
    }

    /// For headlines.
    pub(super) fn note(&self) -> String {
        let chosen = self.flags.iter().filter(|&&flag| flag).count();
        format!(", where {chosen} of {}", self.flags.len())
    }
}
