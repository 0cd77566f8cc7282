//! Masks as an argument (`where`): which entries of a batch, sequences, lanes or segments are
//! reversed. Those that are false stay as they are.
//!
//! A plan knows no masks: they are folded into what it reads. A length becomes 0 where its sequence
//! stays, an offset says in its lowest bit whether its segment is reversed.

use crate::dtype::DType;
use crate::error::{Error, Operator};
use crate::integers::bytes_of;
use crate::layout::Layout;
use crate::lengths::LengthsMemory;
use crate::tensor::TensorRef;
use std::sync::Arc;

/// A boolean for each batch entry, sequence, lane or segment: whether it is reversed.
///
/// Created from a slice of `bool` in row-major order, or from a [`TensorRef`] of the shape that the
/// lengths have.
#[derive(Debug, Clone)]
pub struct Mask<'a>(Values<'a>);

#[derive(Debug, Clone)]
enum Values<'a> {
    Tensor(TensorRef<'a>),
    Flat(&'a [bool]),
}

impl Mask<'_> {
    /// A byte for each entry in row-major order, 0 where it is false, if the mask is of this shape.
    fn bytes(&self, operator: Operator, expected: &[usize]) -> Result<Vec<u8>, Error> {
        let wrong = |got: &[usize]| {
            let (got, expected) = (got.to_vec(), expected.to_vec());
            Error::WhereShape { operator, got, expected }
        };
        match &self.0 {
            Values::Flat(flat) if flat.len() != expected.iter().product() => {
                Err(wrong(&[flat.len()]))
            }
            Values::Flat(flat) => Ok(flat.iter().map(|&entry| u8::from(entry)).collect()),
            Values::Tensor(tensor) => match tensor.layout() {
                layout if layout.dtype() != DType::Bool => {
                    Err(Error::WhereType { operator, dtype: layout.dtype() })
                }
                layout if layout.shape() != expected => Err(wrong(layout.shape())),
                _ => Ok(bytes_of(tensor)),
            },
        }
    }
}

impl<'a> From<&'a [bool]> for Mask<'a> {
    fn from(slice: &'a [bool]) -> Self {
        Mask(Values::Flat(slice))
    }
}

impl<'a, const N: usize> From<&'a [bool; N]> for Mask<'a> {
    fn from(array: &'a [bool; N]) -> Self {
        Mask(Values::Flat(array))
    }
}

impl<'a> From<&'a Vec<bool>> for Mask<'a> {
    fn from(vec: &'a Vec<bool>) -> Self {
        Mask(Values::Flat(vec))
    }
}

impl<'a> From<TensorRef<'a>> for Mask<'a> {
    fn from(tensor: TensorRef<'a>) -> Self {
        Mask(Values::Tensor(tensor))
    }
}

impl<'a> From<&TensorRef<'a>> for Mask<'a> {
    fn from(tensor: &TensorRef<'a>) -> Self {
        Mask::from(tensor.clone())
    }
}

/// Lengths or offsets that a call reads: those that were given, or made from them and a mask.
#[derive(Debug, Clone)]
pub enum Held<'a> {
    Given(TensorRef<'a>),
    Made(Layout, Arc<[u8]>),
}

impl Held<'_> {
    pub(crate) fn layout(&self) -> &Layout {
        match self {
            Held::Given(tensor) => tensor.layout(),
            Held::Made(layout, _) => layout,
        }
    }

    pub(crate) fn memory(&self) -> LengthsMemory<'_> {
        match self {
            Held::Given(tensor) => LengthsMemory::from(tensor),
            Held::Made(layout, bytes) => LengthsMemory::new(layout.dtype(), &bytes[..]),
        }
    }

    pub(crate) fn tensor(&self) -> Option<TensorRef<'_>> {
        match self {
            Held::Given(tensor) => Some(tensor.clone()),
            Held::Made(layout, bytes) => TensorRef::new(layout.clone(), &bytes[..]).ok(),
        }
    }

    fn made<'h>(dtype: DType, shape: &[usize], bytes: Vec<u8>) -> Result<Held<'h>, Error> {
        Ok(Held::Made(Layout::dense(dtype, shape)?, bytes.into()))
    }
}

/// Lengths that are 0 where the mask is false.
pub(crate) fn lengths_where<'h>(
    operator: Operator,
    lengths: &TensorRef<'_>,
    mask: &Mask<'_>,
) -> Result<Held<'h>, Error> {
    let (dtype, shape) = (lengths.layout().dtype(), lengths.layout().shape());
    let mask = mask.bytes(operator, shape)?;
    let mut values = bytes_of(lengths);
    let width = values.len() / mask.len().max(1);
    for (value, &moves) in values.chunks_exact_mut(width.max(1)).zip(&mask) {
        if moves == 0 {
            value.fill(0);
        }
    }
    Held::made(dtype, shape, values)
}

/// A length beyond every axis for each entry of a batch that is reversed, and 0 for the others.
pub(crate) fn whole_where<'h>(
    operator: Operator,
    entries: usize,
    mask: &Mask<'_>,
) -> Result<Held<'h>, Error> {
    let mask = mask.bytes(operator, &[entries])?;
    let length = |&moves: &u8| if moves == 0 { 0 } else { u64::MAX };
    let bytes = mask.iter().map(length).flat_map(u64::to_ne_bytes).collect();
    Held::made(DType::U64, &[entries], bytes)
}

/// Twice each offset, and one more where its segment is reversed; behind the last one there is none.
pub(crate) fn offsets_where<'h>(
    operator: Operator,
    offsets: &TensorRef<'_>,
    mask: &Mask<'_>,
) -> Result<Held<'h>, Error> {
    let (dtype, shape) = (offsets.layout().dtype(), offsets.layout().shape());
    let segments = offsets.layout().len().saturating_sub(1);
    let mut mask = mask.bytes(operator, &[segments])?;
    mask.push(0);
    let values = bytes_of(offsets);
    let mut marked = Vec::with_capacity(8 * mask.len());
    let mut mark = |at: usize, value: i128| -> Result<(), Error> {
        // What does not fit is no offset of any axis.
        let high = (i64::MAX / 2) as usize;
        let fits = i64::try_from(value).ok().and_then(|value| value.checked_mul(2));
        let Some(twice) = fits else {
            return Err(Error::OffsetOutOfRange { operator, index: at, value, low: 0, high });
        };
        marked.extend((twice + i64::from(mask[at] != 0)).to_ne_bytes());
        Ok(())
    };
    macro_rules! each {
        ($($name:ident $rust:ty),*) => {
            match dtype {
                $(DType::$name => {
                    for (at, bytes) in values.as_chunks().0.iter().enumerate() {
                        mark(at, i128::from(<$rust>::from_ne_bytes(*bytes)))?;
                    }
                })*
                _ => {}
            }
        };
    }
    each!(U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64);
    Held::made(DType::I64, shape, marked)
}
