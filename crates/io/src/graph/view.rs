//! A value as a node sees it: its elements in another order, or some of them.
//!
//! Slice, Transpose, Squeeze, Unsqueeze and Expand only change the view. The elements move once,
//! when an operator or an output needs them.

use crate::strings::{self, Strings};
use crate::value::{Elements, Value};
use bytes::Bytes;
use retrograde::{DType, Layout, LayoutError};

/// A strided view of a value.
///
/// Invariants:
/// 1. there is one stride per axis;
/// 2. every element of the view is an element of the value, so no offset can overflow;
/// 3. if there are no elements, `offset` and all strides are zero.
#[derive(Debug, Clone)]
pub(crate) struct View {
    value: Value,
    shape: Vec<usize>,
    /// In elements.
    strides: Vec<isize>,
    /// Of the first element, in elements.
    offset: usize,
}

/// Elements `start`, `start + step` and so on of an axis. They exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) len: usize,
    /// Not used if there are fewer than two elements.
    pub(super) step: isize,
}

impl View {
    /// The whole value.
    pub(crate) fn of(value: Value) -> View {
        let shape = value.shape().to_vec();
        let strides = dense_strides(&shape);
        View { value, shape, strides, offset: 0 }
    }

    pub(crate) fn dtype(&self) -> DType {
        self.value.dtype()
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements that move: those of the tensor, or the handles of its strings.
    pub(super) fn bytes(&self) -> &Bytes {
        match self.value.elements() {
            Elements::Bytes(bytes) => bytes,
            Elements::Strings(strings) => strings.handles(),
        }
    }

    /// The type of the elements that move.
    pub(super) fn moving_type(&self) -> DType {
        match self.value.elements() {
            Elements::Bytes(_) => self.value.dtype(),
            Elements::Strings(_) => strings::HANDLE,
        }
    }

    /// How many bytes are read for the value, with the text of strings.
    pub(super) fn bytes_read(&self) -> u64 {
        let text = match self.value.elements() {
            Elements::Bytes(_) => 0,
            Elements::Strings(strings) => strings.text().len(),
        };
        self.bytes().len().saturating_add(text) as u64
    }

    /// Where the elements are in [`bytes`](Self::bytes).
    pub(super) fn layout(&self) -> Result<Layout, LayoutError> {
        Layout::strided(self.moving_type(), &self.shape, &self.strides, self.offset)
    }

    /// The elements as a value, if nothing has to move for that.
    pub(super) fn whole(&self) -> Option<Value> {
        if self.shape == self.value.shape() && self.strides == dense_strides(&self.shape) {
            return (self.offset == 0).then(|| self.value.clone());
        }
        let count = |shape: &[usize]| shape.iter().try_fold(1usize, |all, &n| all.checked_mul(n));
        let same = count(&self.shape) == count(self.value.shape());
        // Strides of axes of size 1 are never used.
        let dense = dense_strides(&self.shape);
        let mut axes = self.shape.iter().zip(self.strides.iter().zip(&dense));
        let dense = axes.all(|(&size, (own, dense))| size < 2 || own == dense);
        (same && dense && self.offset == 0).then(|| self.with_bytes(self.bytes().clone())).flatten()
    }

    /// A value of these elements, which are as many as the view has.
    pub(super) fn with_bytes(&self, bytes: Bytes) -> Option<Value> {
        with_bytes(&self.value, &self.shape, bytes).ok()
    }

    /// The value that it is a view of.
    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// These elements of each axis.
    pub(super) fn spans(&self, spans: &[Span]) -> View {
        let mut view = self.clone();
        for (axis, span) in spans.iter().enumerate() {
            // Invariant 2: the first element exists, so its offset does not overflow.
            let start = span.start as isize * view.strides[axis];
            view.shape[axis] = span.len;
            view.offset = view.offset.wrapping_add_signed(if span.len == 0 { 0 } else { start });
            // The second one exists too.
            view.strides[axis] = if span.len < 2 { 0 } else { view.strides[axis] * span.step };
        }
        view.normal()
    }

    /// Axis `n` of the result is axis `order[n]` of the view; `None` is a new axis of size 1. Axes
    /// that are left out have size 1.
    pub(super) fn axes(&self, order: &[Option<usize>]) -> View {
        let shape = order.iter().map(|axis| axis.map_or(1, |axis| self.shape[axis])).collect();
        let strides = order.iter().map(|axis| axis.map_or(0, |axis| self.strides[axis])).collect();
        View { value: self.value.clone(), shape, strides, offset: self.offset }.normal()
    }

    /// Repeated to this shape, which has at least as many axes. Those of size 1 are repeated; others
    /// have the same size.
    pub(super) fn repeated(&self, shape: &[usize]) -> View {
        let new = shape.len().saturating_sub(self.shape.len());
        let stride = |axis: usize| match axis.checked_sub(new) {
            Some(own) if self.shape[own] != 1 => self.strides[own],
            _ => 0,
        };
        let strides = (0..shape.len()).map(stride).collect();
        let (value, shape) = (self.value.clone(), shape.to_vec());
        View { value, shape, strides, offset: self.offset }.normal()
    }

    /// `count` places of the first `axes` axes, as one axis: `start` and `step` are the distances
    /// of the first place from the first element, and from each place to the next, in elements.
    /// The places exist.
    pub(super) fn places(&self, axes: usize, start: isize, step: isize, count: usize) -> View {
        let shape = [&[count], &self.shape[axes..]].concat();
        let strides = [&[step], &self.strides[axes..]].concat();
        // Invariant 2: the first place exists, so its offset does not overflow.
        let offset = self.offset.wrapping_add_signed(start);
        View { value: self.value.clone(), shape, strides, offset }.normal()
    }

    /// Distances between the entries of each axis, in elements.
    pub(super) fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The same view of other strings, as many as the value has.
    pub(super) fn of_strings(&self, strings: Strings) -> Result<View, LayoutError> {
        let value = Value::strings(self.value.shape(), strings)?;
        Ok(View { value, ..self.clone() })
    }

    /// Whether all entries of an axis are the same elements.
    pub(super) fn repeats(&self, axis: usize) -> bool {
        self.strides[axis] == 0
    }

    /// Invariant 3.
    fn normal(mut self) -> View {
        if self.shape.contains(&0) {
            self.strides.fill(0);
            self.offset = 0;
        }
        self
    }
}

/// A value like this one with another shape and other elements: a tensor of the same type, or some
/// of the same strings.
pub(super) fn with_bytes(
    like: &Value,
    shape: &[usize],
    bytes: Bytes,
) -> Result<Value, LayoutError> {
    match like.elements() {
        Elements::Bytes(_) => Value::new(like.dtype(), shape, bytes),
        Elements::Strings(strings) => Value::strings(shape, strings.with_handles(bytes)),
    }
}

/// Strides of a row-major tensor, in elements; zero if it has none.
pub(super) fn dense_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    if !shape.contains(&0) {
        let mut step = 1isize;
        for (stride, &size) in strides.iter_mut().zip(shape).rev() {
            *stride = step;
            // The tensor exists, so its size does not overflow.
            step = step.wrapping_mul(size as isize);
        }
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_compose_and_know_when_they_are_whole() {
        let value = Value::new(DType::U8, &[2, 3], (0..6).collect::<Vec<u8>>()).unwrap();
        let view = View::of(value.clone());
        assert_eq!(view.whole(), Some(value));
        let all = |len| Span { start: 0, len, step: 1 };
        let back = view.spans(&[all(2), Span { start: 2, len: 3, step: -1 }]);
        assert_eq!((&back.strides[..], back.offset), (&[3, -1][..], 2));
        assert_eq!(back.whole(), None);
        let turned = back.axes(&[Some(1), None, Some(0)]);
        assert_eq!((turned.shape(), &turned.strides[..]), (&[3, 1, 2][..], &[-1, 0, 3][..]));
        let again = turned.spans(&[Span { start: 2, len: 3, step: -1 }, all(1), all(2)]);
        assert_eq!((&again.strides[..], again.offset), (&[1, 0, 3][..], 0));
        let flat = again.axes(&[Some(2), Some(0)]).whole().unwrap();
        assert_eq!(flat.shape(), [2, 3]);
        let column = view.axes(&[Some(0), Some(1), None]);
        assert_eq!(column.whole().unwrap().shape(), [2, 3, 1]);
        let none = back.spans(&[Span { start: 2, len: 0, step: isize::MIN }, all(3)]);
        assert_eq!((none.shape(), &none.strides[..], none.offset), (&[0, 3][..], &[0, 0][..], 0));
    }
}
