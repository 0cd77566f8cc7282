//! Lengths, offsets and masks: bytes with a type, and a shape if one was given.

use crate::number;
use retrograde::{DType, Error, Lengths, Mask, TensorRef};

/// Lengths, offsets or a mask as bytes.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    dtype: DType,
    bytes: Vec<u8>,
    /// `None` for a flat list, which takes the shape that the operator expects.
    shape: Option<Vec<usize>>,
}

/// The entries of a mask.
#[derive(Debug, Clone)]
pub(crate) enum Entries {
    /// A flat list, which takes the shape that the operator expects.
    Flat(Vec<bool>),
    Shaped(Values),
}

pub(crate) fn dtype(operator: &str, argument: &str, name: &str) -> Result<DType, String> {
    name.parse().map_err(|error| format!("{operator}: {argument}: {error}"))
}

impl Values {
    pub(crate) fn parse(
        operator: &str,
        argument: &str,
        name: &str,
        bytes: &[u8],
        shape: Option<Vec<f64>>,
    ) -> Result<Self, String> {
        let shape = shape.map(|shape| number::sizes(operator, &shape)).transpose()?;
        Ok(Values { dtype: dtype(operator, argument, name)?, bytes: bytes.to_vec(), shape })
    }

    /// Lengths that are beyond every axis, for an operator that clamps them.
    pub(crate) fn beyond_any(shape: Vec<usize>) -> Self {
        let bytes = vec![0xFF; shape.iter().product::<usize>() * size_of::<u64>()];
        Values { dtype: DType::U64, bytes, shape: Some(shape) }
    }

    pub(crate) fn lengths(&self) -> Result<Lengths<'_>, Error> {
        match &self.shape {
            None => Ok(Lengths::flat(self.dtype, &self.bytes[..])),
            Some(shape) => Ok(TensorRef::dense(self.dtype, &self.bytes, shape)?.into()),
        }
    }

    /// The values as numbers. Types that lengths cannot have give none.
    pub(crate) fn integers(&self) -> Vec<i128> {
        let signed = self.dtype.to_string().starts_with('i');
        let value = |bytes: &[u8]| {
            let negative = signed && bytes.last().is_some_and(|last| *last >= 0x80);
            let fill = if negative { -1 } else { 0 };
            bytes.iter().rev().fold(fill, |number: i128, byte| number << 8 | i128::from(*byte))
        };
        self.bytes.chunks_exact(self.width()).map(value).collect()
    }

    /// Bytes of a value.
    fn width(&self) -> usize {
        self.dtype.bits().unwrap_or(8).div_ceil(8)
    }
}

impl From<Values> for Entries {
    fn from(values: Values) -> Self {
        match values {
            Values { dtype: DType::Bool, bytes, shape: None } => {
                Entries::Flat(bytes.iter().map(|&entry| entry != 0).collect())
            }
            // Of another type: for the engine to refuse.
            Values { dtype, bytes, shape: None } => {
                let values = Values { dtype, bytes, shape: None };
                let shape = Some(vec![values.bytes.len() / values.width()]);
                Entries::Shaped(Values { shape, ..values })
            }
            values => Entries::Shaped(values),
        }
    }
}

impl Entries {
    pub(crate) fn mask(&self) -> Result<Mask<'_>, Error> {
        match self {
            Entries::Flat(entries) => Ok(Mask::from(entries)),
            Entries::Shaped(Values { dtype, bytes, shape }) => {
                let shape = shape.as_deref().unwrap_or_default();
                Ok(TensorRef::dense(*dtype, bytes, shape)?.into())
            }
        }
    }
}
