//! A tensor as models and TensorProtos hold it: dense, row-major and little-endian, or strings.

use crate::packed;
use crate::strings::Strings;
use bytes::Bytes;
use retrograde::{DType, Layout, LayoutError};

/// A tensor in memory. Clones share its elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    dtype: DType,
    shape: Vec<usize>,
    elements: Elements,
    is_message: bool,
}

/// The elements of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elements {
    /// Elements of fixed width, contiguous; packed elements share bytes.
    Bytes(Bytes),
    /// Strings, one for each element.
    Strings(Strings),
}

impl Value {
    /// A tensor of these bytes, whose number must match shape and type exactly.
    pub fn new(
        dtype: DType,
        shape: &[usize],
        data: impl Into<Bytes>,
    ) -> Result<Value, LayoutError> {
        let (layout, data) = (Layout::dense(dtype, shape)?, data.into());
        let (expected, available) = (layout.byte_len(), data.len());
        if expected != available {
            let shape = shape.to_vec();
            return Err(LayoutError::SizeMismatch { shape, dtype, expected, available });
        }
        let (shape, elements) = (shape.to_vec(), Elements::Bytes(data));
        Ok(Value { dtype, shape, elements, is_message: false })
    }

    /// As [`new`](Self::new), but every element has a byte of its own; packed ones are packed.
    pub fn of_bytes(dtype: DType, shape: &[usize], data: &[u8]) -> Result<Value, LayoutError> {
        Value::new(dtype, shape, packed::pack(data, dtype))
    }

    /// Packed elements as a byte each, with higher bits of zero; `None` for other types.
    pub fn unpacked(&self) -> Option<Vec<u8>> {
        let Elements::Bytes(data) = &self.elements else { return None };
        let count = Layout::dense(self.dtype, &self.shape).ok()?.len();
        self.dtype.is_packed().then(|| packed::unpack(data, self.dtype, count))
    }

    /// A sequence of tensors, or an optional value: the bytes of its message, or others that stand
    /// for it. They are not parsed, and only an Identity accepts the value.
    pub fn message(bytes: impl Into<Bytes>) -> Value {
        let bytes = bytes.into();
        let (shape, elements) = (vec![bytes.len()], Elements::Bytes(bytes));
        Value { dtype: DType::U8, shape, elements, is_message: true }
    }

    /// Whether it is a sequence of tensors or an optional value: then its elements are the bytes
    /// that it was made of, a SequenceProto or OptionalProto if it was read from a file.
    pub fn is_message(&self) -> bool {
        self.is_message
    }

    /// A tensor of strings, one per element.
    pub fn strings(shape: &[usize], strings: Strings) -> Result<Value, LayoutError> {
        // Strings have no width; counting them as bytes gives the same check.
        let (expected, available) = (Layout::dense(DType::U8, shape)?.len(), strings.len());
        if expected != available {
            return Err(LayoutError::ElementCount { shape: shape.to_vec(), expected, available });
        }
        let elements = Elements::Strings(strings);
        let (dtype, shape) = (DType::String, shape.to_vec());
        Ok(Value { dtype, shape, elements, is_message: false })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// The same bytes as elements of another type of the same width; `None` if the widths differ.
    #[must_use]
    pub fn reinterpreted(&self, dtype: DType) -> Option<Value> {
        let Elements::Bytes(data) = &self.elements else { return None };
        if self.dtype.bits() != dtype.bits() {
            return None;
        }
        Value::new(dtype, &self.shape, data.clone()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_counted() {
        assert!(Value::new(DType::U4, &[3], vec![1, 2]).is_ok());
        assert!(Value::new(DType::U4, &[3], vec![1]).is_err());
        assert!(Value::new(DType::F32, &[usize::MAX, 2], vec![]).is_err());
        assert!(Value::new(DType::String, &[1], vec![1]).is_err());
        assert!(Value::strings(&[2], vec![Bytes::new(); 2].into_iter().collect()).is_ok());
        assert!(Value::strings(&[2], Strings::from_iter([])).is_err());
        assert!(Value::strings(&[usize::MAX, 4], Strings::from_iter([])).is_err());
        let nibbles = Value::of_bytes(DType::I4, &[3], &[1, 2, 0xFF]).unwrap();
        assert_eq!(nibbles, Value::new(DType::I4, &[3], vec![0x21, 0x0F]).unwrap());
        assert_eq!(nibbles.unpacked(), Some(vec![1, 2, 0x0F]));
        assert!(Value::of_bytes(DType::I4, &[3], &[1]).is_err());
        assert_eq!(Value::new(DType::U8, &[1], vec![1]).unwrap().unpacked(), None);
        let value = Value::new(DType::Bytes(2), &[2], vec![0; 4]).unwrap();
        assert_eq!(value.reinterpreted(DType::BF16).unwrap().dtype(), DType::BF16);
        assert_eq!(value.reinterpreted(DType::F32), None);
    }
}
