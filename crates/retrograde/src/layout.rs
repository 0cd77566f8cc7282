//! Memory layout of a tensor: shape, strides and offset in a buffer.
//!
//! A [`Layout`] is pure arithmetic, checked once when it is created; it holds no memory.

use crate::dtype::{DType, Grain};
use crate::error::LayoutError;
use smallvec::SmallVec;

/// Sizes of the axes; no heap allocation up to rank 8.
pub(crate) type Shape = SmallVec<[usize; 8]>;
/// Strides of the axes; no heap allocation up to rank 8.
pub(crate) type Strides = SmallVec<[isize; 8]>;

/// The grains that a layout accesses: it starts at `origin`, and never leaves `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reach {
    /// Position of element `[0, 0, ..]`.
    pub origin: usize,
    /// The lowest grain accessed.
    pub start: usize,
    /// One past the highest grain accessed; equal to `start` if the layout is empty.
    pub end: usize,
}

/// The shape of a tensor and the positions of its elements in a buffer.
///
/// Invariants, relied on by the planner and the backends:
/// 1. there is one stride per axis;
/// 2. the number of elements is at most `isize::MAX`;
/// 3. the element at every index is within `reach.start..reach.end`, and `reach.end <= isize::MAX`,
///    so no address arithmetic can overflow;
/// 4. the element type has a width (it is not [`DType::String`]);
/// 5. a stride that is never used, because its axis has size 0 or 1 or because there are no elements,
///    is that of a dense tensor around the axes after it, whatever the caller gave: so arithmetic on
///    it cannot overflow either, and layouts that mean the same are equal.
///
/// ```
/// use retrograde::{DType, Layout};
///
/// // Every other column of a 3 x 8 matrix of f32, from right to left.
/// let view = Layout::strided(DType::F32, &[3, 4], &[8, -2], 7)?;
/// assert_eq!(view.byte_len(), (16 + 7 + 1) * 4);
/// # Ok::<(), retrograde::LayoutError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    dtype: DType,
    shape: Shape,
    /// In grains: bytes, or elements of a packed type.
    strides: Strides,
    reach: Reach,
    owns_last_byte: bool,
}

impl Layout {
    /// Row-major and contiguous, from the start of the buffer.
    ///
    /// For a packed type this is a whole tensor, including the unused bits of its last byte, which
    /// are written as zero. Any other layout is part of a larger tensor: its neighbours in shared
    /// bytes are kept.
    pub fn dense(dtype: DType, shape: &[usize]) -> Result<Self, LayoutError> {
        let width = width(dtype)?;
        let too_large = || LayoutError::TooLarge { shape: shape.to_vec(), dtype };
        let empty = shape.contains(&0);
        let mut strides: Strides = SmallVec::from_elem(0, shape.len());
        let mut step = isize::try_from(width).map_err(|_| too_large())?;
        for (stride, &size) in strides.iter_mut().zip(shape).rev() {
            *stride = step;
            let grown = isize::try_from(size.max(1)).ok().and_then(|n| step.checked_mul(n));
            step = match grown {
                Some(grown) => grown,
                None if empty => 0,
                None => return Err(too_large()),
            };
        }
        let layout = Self::checked(dtype, shape.into(), strides, 0, 1)?;
        Ok(Layout { owns_last_byte: dtype.is_packed(), ..layout })
    }

    /// With strides and offset counted in elements.
    ///
    /// A stride may be negative, or zero to repeat an element (inputs only).
    pub fn strided(
        dtype: DType,
        shape: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> Result<Self, LayoutError> {
        Self::scaled(dtype, shape, strides, offset, width(dtype)?)
    }

    /// With strides and offset counted in bytes; refused for packed types.
    pub fn byte_strided(
        dtype: DType,
        shape: &[usize],
        strides: &[isize],
        offset: usize,
    ) -> Result<Self, LayoutError> {
        if dtype.is_packed() {
            return Err(LayoutError::PackedByteStrides { dtype });
        }
        width(dtype)?;
        Self::scaled(dtype, shape, strides, offset, 1)
    }

    fn scaled(
        dtype: DType,
        shape: &[usize],
        strides: &[isize],
        offset: usize,
        scale: usize,
    ) -> Result<Self, LayoutError> {
        if shape.len() != strides.len() {
            return Err(LayoutError::StrideCount { rank: shape.len(), strides: strides.len() });
        }
        let factor = isize::try_from(scale)
            .map_err(|_| LayoutError::TooLarge { shape: shape.to_vec(), dtype })?;
        let empty = shape.contains(&0);
        let mut scaled = Strides::with_capacity(strides.len());
        for (axis, (&stride, &size)) in strides.iter().zip(shape).enumerate() {
            // A stride that is never used may have any value (`settle` replaces it).
            let step = match stride.checked_mul(factor) {
                Some(step) => step,
                None if empty || size <= 1 => 0,
                None => return Err(LayoutError::StrideOverflow { axis, size, stride }),
            };
            scaled.push(step);
        }
        let origin = offset.checked_mul(scale).ok_or(LayoutError::OffsetOverflow { offset })?;
        Self::checked(dtype, shape.into(), scaled, origin, scale)
    }

    /// Establishes the invariants. `scale` converts strides back to the caller's unit for errors.
    fn checked(
        dtype: DType,
        shape: Shape,
        mut strides: Strides,
        origin: usize,
        scale: usize,
    ) -> Result<Self, LayoutError> {
        let width = width(dtype)?;
        settle(width, &shape, &mut strides);
        let too_large = || LayoutError::TooLarge { shape: shape.to_vec(), dtype };
        if width == 0 || shape.contains(&0) {
            // Invariant 3 holds in an empty reach. Zero-width elements still have a count.
            if width == 0 {
                count(&shape).ok_or_else(too_large)?;
            }
            let reach = Reach { origin: 0, start: 0, end: 0 };
            return Ok(Layout { dtype, shape, strides, reach, owns_last_byte: false });
        }
        count(&shape).ok_or_else(too_large)?;
        let in_callers_unit = |grains: usize| grains / scale.max(1);
        let offset_overflow = || LayoutError::OffsetOverflow { offset: in_callers_unit(origin) };
        let (mut low, mut high) = {
            let origin = isize::try_from(origin).map_err(|_| offset_overflow())?;
            (origin, origin)
        };
        for (axis, (&size, &stride)) in shape.iter().zip(&strides).enumerate() {
            // `size - 1` fits: invariant 2.
            let last = (size as isize - 1).checked_mul(stride);
            let side = if stride < 0 { &mut low } else { &mut high };
            *side = last.and_then(|last| side.checked_add(last)).ok_or(
                LayoutError::StrideOverflow { axis, size, stride: stride / scale.max(1) as isize },
            )?;
        }
        if low < 0 {
            return Err(LayoutError::BeforeStart {
                before: low.unsigned_abs(),
                offset: in_callers_unit(origin),
                packed: dtype.is_packed(),
            });
        }
        let end = isize::try_from(width)
            .ok()
            .and_then(|width| high.checked_add(width))
            .ok_or_else(offset_overflow)?;
        let reach = Reach { origin, start: low as usize, end: end as usize };
        Ok(Layout { dtype, shape, strides, reach, owns_last_byte: false })
    }

    /// The same elements with their axes in another order: axis `i` of the result is axis
    /// `order[i]` of this layout. As an output, it makes a transpose and a reversal one pass:
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, Layout};
    ///
    /// // Rotates an image by 90 degrees: flips its columns into the rows of the output.
    /// let image = Layout::dense(DType::U8, &[2, 3])?;
    /// let turned = Layout::dense(DType::U8, &[3, 2])?.permuted(&[1, 0])?;
    /// let rotate = Reverse::axes([1]).prepare(&image, &turned)?;
    /// let mut out = [0u8; 6];
    /// rotate.run(b"abcdef", &mut out)?;
    /// assert_eq!(&out, b"cfbead");
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    pub fn permuted(&self, order: &[usize]) -> Result<Layout, LayoutError> {
        let rank = self.rank();
        let names_all = (0..rank).all(|axis| order.contains(&axis));
        if order.len() != rank || !names_all {
            return Err(LayoutError::AxisOrder { order: order.to_vec(), rank });
        }
        let shape: Shape = order.iter().map(|&axis| self.shape[axis]).collect();
        let mut strides = order.iter().map(|&axis| self.strides[axis]).collect();
        settle(self.width(), &shape, &mut strides);
        Ok(Layout { shape, strides, ..self.clone() })
    }

    /// The same with one more axis, of size 1.
    pub(crate) fn with_one(&self) -> Layout {
        let (mut shape, mut strides) = (self.shape.clone(), self.strides.clone());
        shape.push(1);
        strides.push(0);
        settle(self.width(), &shape, &mut strides);
        Layout { shape, strides, ..self.clone() }
    }

    /// A part of one axis: `count` elements from `start` on, `step` apart. A negative step walks
    /// backward.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{DType, Layout, TensorRef};
    ///
    /// // x[6:0:-2]
    /// let x = Layout::dense(DType::U8, &[8])?.sliced(0, 6, 3, -2)?;
    /// let x = TensorRef::new(x, b"abcdefgh")?;
    /// assert_eq!(Reverse::axes([]).to_bytes(&x)?, b"gec");
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    pub fn sliced(
        &self,
        axis: usize,
        start: usize,
        count: usize,
        step: isize,
    ) -> Result<Layout, LayoutError> {
        let Some(&size) = self.shape.get(axis) else {
            return Err(LayoutError::NoAxis { axis, rank: self.rank() });
        };
        let outside = || LayoutError::SliceOutside { axis, start, count, step, size };
        let mut shape = self.shape.clone();
        shape[axis] = count;
        let mut strides = self.strides.clone();
        let mut origin = self.reach.origin;
        if count > 0 && !self.is_empty() {
            let span = isize::try_from(count - 1).ok().and_then(|last| last.checked_mul(step));
            let last = span.and_then(|span| start.checked_add_signed(span)).ok_or_else(outside)?;
            if start >= size || last >= size {
                return Err(outside());
            }
            // Both ends are elements of this layout, so nothing overflows (invariant 3).
            origin = origin.wrapping_add_signed(self.strides[axis] * start as isize);
            strides[axis] = match count {
                1 => self.strides[axis],
                _ => self.strides[axis] * step,
            };
        } else if start > size {
            return Err(outside());
        }
        Self::checked(self.dtype, shape, strides, origin, 1)
    }

    /// For a foreign pointer to element `[0, 0, ..]`: the layout over the memory that the strides
    /// (in grains) reach, and how many bytes before the pointer that memory begins.
    pub(crate) fn around_origin(
        dtype: DType,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<(Self, usize), LayoutError> {
        let per_byte = grain(dtype)?.per_byte();
        let scale = 1;
        let mut back = 0usize;
        if strides.len() == shape.len() && !shape.contains(&0) {
            for (axis, (&size, &stride)) in shape.iter().zip(strides).enumerate() {
                if stride < 0 {
                    back = stride
                        .unsigned_abs()
                        .checked_mul(size - 1)
                        .and_then(|span| back.checked_add(span))
                        .ok_or(LayoutError::StrideOverflow { axis, size, stride })?;
                }
            }
        }
        let back = back
            .checked_next_multiple_of(per_byte)
            .ok_or(LayoutError::OffsetOverflow { offset: back })?;
        Ok((Self::scaled(dtype, shape, strides, back, scale)?, back / per_byte))
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Strides of the axes in grains: bytes, or elements of a packed type.
    pub fn grain_strides(&self) -> &[isize] {
        &self.strides
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        // If one size is zero, the product of the others need not fit; otherwise it does (invariant
        // 2).
        if self.is_empty() { 0 } else { self.shape.iter().product() }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The grains that this layout accesses.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Whether this is a whole packed tensor, so that nothing else uses its last byte.
    pub fn owns_last_byte(&self) -> bool {
        self.owns_last_byte
    }

    /// The size of a buffer for this layout in bytes.
    pub fn byte_len(&self) -> usize {
        self.grain().bytes_for(self.reach.end)
    }

    /// The grain that strides and reach count.
    pub fn grain(&self) -> Grain {
        // Invariant 4: the type has a grain.
        self.dtype.grain().unwrap_or(Grain::Byte)
    }

    /// Grains in one element.
    pub(crate) fn width(&self) -> usize {
        // Invariant 4.
        self.dtype.grains().unwrap_or(0)
    }

    /// Whether the elements are at the same places, counted in elements, as those of another layout,
    /// of whole bytes both.
    pub(crate) fn is_same_in_elements(&self, other: &Layout) -> bool {
        let (own, others) = (self.width() as i128, other.width() as i128);
        let same = |here: i128, there: i128| here * others == there * own;
        self.shape == other.shape
            && same(self.reach.origin as i128, other.reach.origin as i128)
            && self.strides.iter().zip(&other.strides).all(|(&a, &b)| same(a as i128, b as i128))
    }

    /// Whether two elements may share memory.
    ///
    /// Axes must nest: each stride steps over everything that the smaller strides reach. Layouts
    /// that interleave without nesting are reported too, although some of them do not overlap.
    pub fn may_overlap_itself(&self) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut steps: SmallVec<[(usize, usize); 8]> = self
            .shape
            .iter()
            .zip(&self.strides)
            .filter(|&(&size, _)| size > 1)
            .map(|(&size, &stride)| (stride.unsigned_abs(), size))
            .collect();
        steps.sort_unstable();
        let mut extent = self.width();
        for (stride, size) in steps {
            if stride < extent {
                return true;
            }
            // No overflow: invariant 3 bounds the sum.
            extent += stride * (size - 1);
        }
        false
    }
}

/// Invariant 5.
fn settle(width: usize, shape: &[usize], strides: &mut Strides) {
    let empty = shape.contains(&0);
    let mut step = isize::try_from(width).unwrap_or(0);
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        if empty || size <= 1 {
            *stride = step;
        }
        let reached = isize::try_from(size.max(1)).ok().zip(stride.checked_abs());
        step = reached.and_then(|(size, stride)| stride.checked_mul(size)).unwrap_or(0);
    }
}

/// Number of elements, if it is at most `isize::MAX` (or zero).
fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    let count = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size))?;
    isize::try_from(count).is_ok().then_some(count)
}

fn grain(dtype: DType) -> Result<Grain, LayoutError> {
    dtype.grain().ok_or(LayoutError::Strings)
}

fn width(dtype: DType) -> Result<usize, LayoutError> {
    dtype.grains().ok_or(LayoutError::Strings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permuted_axes_keep_their_strides() {
        let layout = Layout::dense(DType::F32, &[2, 3, 4]).unwrap();
        let turned = layout.permuted(&[2, 0, 1]).unwrap();
        assert_eq!((turned.shape(), turned.grain_strides()), (&[4, 2, 3][..], &[4, 48, 16][..]));
        assert_eq!(turned.reach(), layout.reach());
        for order in [&[0, 1][..], &[0, 0, 1], &[0, 1, 3], &[0, 1, 2, 2]] {
            let error = layout.permuted(order).unwrap_err();
            assert_eq!(error, LayoutError::AxisOrder { order: order.to_vec(), rank: 3 });
        }
    }

    #[test]
    fn slices_stay_inside_the_axis() {
        let layout = Layout::dense(DType::U16, &[3, 10]).unwrap();
        let odd = layout.sliced(1, 9, 5, -2).unwrap();
        assert_eq!((odd.shape(), odd.grain_strides()), (&[3, 5][..], &[20, -4][..]));
        assert_eq!(odd.reach(), Reach { origin: 18, start: 2, end: 60 });
        assert!(layout.sliced(0, 3, 0, 1).unwrap().is_empty());
        assert_eq!(layout.sliced(0, 2, 1, isize::MIN).unwrap().shape(), [1, 10]);
        for (start, count, step) in
            [(10, 1, 1), (0, 11, 1), (0, 2, -1), (8, 2, 2), (0, usize::MAX, 3), (11, 0, 1)]
        {
            let error = layout.sliced(1, start, count, step).unwrap_err();
            let wanted = LayoutError::SliceOutside { axis: 1, start, count, step, size: 10 };
            assert_eq!(error, wanted);
        }
        let error = layout.sliced(2, 0, 1, 1).unwrap_err();
        assert_eq!(error, LayoutError::NoAxis { axis: 2, rank: 2 });
    }

    #[test]
    fn dense_strides_are_row_major_in_bytes() {
        let layout = Layout::dense(DType::F32, &[2, 3, 4]).unwrap();
        assert_eq!(layout.grain_strides(), [48, 16, 4]);
        assert_eq!(layout.byte_len(), 96);
        assert!(!layout.may_overlap_itself());
    }

    #[test]
    fn packed_layouts_count_elements_and_round_bytes_up() {
        let layout = Layout::dense(DType::U4, &[3, 3]).unwrap();
        assert_eq!(layout.grain_strides(), [3, 1]);
        assert_eq!(layout.byte_len(), 5);
    }

    #[test]
    fn empty_shapes_accept_any_size_beside_the_zero() {
        let layout = Layout::dense(DType::F64, &[usize::MAX, 0, usize::MAX]).unwrap();
        assert_eq!((layout.byte_len(), layout.len()), (0, 0));
        assert_eq!(Layout::dense(DType::U8, &[usize::MAX, 4, 0]).unwrap().len(), 0);
        assert!(Layout::strided(DType::F64, &[0, 5], &[isize::MAX, isize::MIN], 0).is_ok());
    }

    #[test]
    fn strides_that_are_never_used_are_those_of_a_dense_tensor() {
        for wild in [isize::MIN, isize::MIN + 1, -1, 0, 7, isize::MAX] {
            let strides = |shape: &[usize], strides: &[isize]| {
                let layout = Layout::strided(DType::U16, shape, strides, 40).unwrap();
                layout.grain_strides().to_vec()
            };
            assert_eq!(strides(&[1], &[wild]), [2]);
            assert_eq!(strides(&[3, 1, 4], &[-8, wild, 2]), [-16, 16, 4]);
            assert_eq!(strides(&[1, 3, 1], &[wild, 0, wild]), [0, 0, 2]);
            assert_eq!(strides(&[3, 0, 4], &[wild, wild, wild]), [8, 8, 2]);
            let packed = Layout::strided(DType::U4, &[3, 1], &[1, wild], 0).unwrap();
            assert_eq!(packed.permuted(&[1, 0]).unwrap().grain_strides(), [3, 1]);
            let (around, back) = Layout::around_origin(DType::U8, &[1, 2], &[wild, -1]).unwrap();
            assert_eq!((around.grain_strides(), back), (&[2, -1][..], 1));
        }
        // Where a dense step does not fit, it is 0.
        let far = Layout::byte_strided(DType::U8, &[1, 2], &[5, isize::MAX - 1], 0).unwrap();
        assert_eq!(far.grain_strides(), [0, isize::MAX - 1]);
    }

    #[test]
    fn broadcast_and_interleaved_layouts_overlap_nested_ones_do_not() {
        let overlaps = |shape: &[usize], strides: &[isize]| {
            Layout::strided(DType::U16, shape, strides, 8).unwrap().may_overlap_itself()
        };
        assert!(overlaps(&[2], &[0]));
        assert!(!overlaps(&[1], &[0]));
        assert!(overlaps(&[2, 2], &[1, 1]));
        assert!(!overlaps(&[2, 3], &[1, 2]));
        assert!(!overlaps(&[2, 3], &[-1, -2]));
        assert!(!overlaps(&[2, 3], &[5, 1]));
        assert!(overlaps(&[2, 3], &[2, 1]));
    }

    #[test]
    fn around_origin_finds_the_lowest_byte() {
        let (layout, back) = Layout::around_origin(DType::U16, &[3, 2], &[-4, 2]).unwrap();
        assert_eq!(back, 8);
        assert_eq!(layout.reach(), Reach { origin: 8, start: 0, end: 12 });
        let (layout, back) = Layout::around_origin(DType::U4, &[4], &[-1]).unwrap();
        assert_eq!((back, layout.reach().start), (2, 1));
    }
}
