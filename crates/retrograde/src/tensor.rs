//! Views of the caller's memory: a [`Layout`] that has been checked to fit.
//!
//! Holding a view proves that every element is inside its memory, so that later code does not check
//! bounds again.

use crate::dtype::DType;
use crate::error::LayoutError;
use crate::layout::Layout;
use bytemuck::{AnyBitPattern, NoUninit};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Borrowed bytes for reading.
///
/// Created from a slice of any elements without padding ([`NoUninit`]).
#[derive(Debug, Clone, Copy)]
pub struct Memory<'a> {
    ptr: *const u8,
    len: usize,
    lifetime: PhantomData<&'a [u8]>,
}

/// Borrowed bytes for writing, initialised or not.
///
/// Created from a slice of elements for which any bytes are a value ([`AnyBitPattern`]), because the
/// input of a call may be any bytes. Others, such as `bool`, are moved from slice to slice, by the
/// methods of [`Reversal`](crate::Reversal): both sides have the same type there, and only whole
/// values move.
#[derive(Debug)]
pub struct MemoryMut<'a> {
    ptr: *mut u8,
    len: usize,
    initialised: bool,
    lifetime: PhantomData<&'a mut [u8]>,
}

// SAFETY: `Memory` is a shared borrow of plain bytes, as `&[u8]` is.
unsafe impl Send for Memory<'_> {}
// SAFETY: as above.
unsafe impl Sync for Memory<'_> {}
// SAFETY: `MemoryMut` is an exclusive borrow of plain bytes, as `&mut [u8]` is.
unsafe impl Send for MemoryMut<'_> {}
// SAFETY: a shared `&MemoryMut` gives access only to the address and the length.
unsafe impl Sync for MemoryMut<'_> {}

impl<'a> Memory<'a> {
    /// The bytes of a slice of any type, including padding.
    ///
    /// Crate-private: code that moves padding must write it to the same type again.
    pub(crate) fn of<T>(slice: &'a [T]) -> Self {
        Memory { ptr: slice.as_ptr().cast(), len: size_of_val(slice), lifetime: PhantomData }
    }

    /// Memory behind a foreign pointer.
    ///
    /// # Safety
    /// `ptr` is valid for reads of `len` initialised bytes for the lifetime `'a`, and nothing
    /// writes to them meanwhile.
    pub unsafe fn from_raw(ptr: *const u8, len: usize) -> Self {
        Memory { ptr, len, lifetime: PhantomData }
    }

    /// Address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.ptr
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<'a> MemoryMut<'a> {
    /// The bytes of a slice of any type.
    ///
    /// Crate-private: code that writes to it must keep the values valid for `T`.
    pub(crate) fn of<T>(slice: &'a mut [T]) -> Self {
        let len = size_of_val(slice);
        MemoryMut { ptr: slice.as_mut_ptr().cast(), len, initialised: true, lifetime: PhantomData }
    }

    /// The bytes of an uninitialised slice, all of which a successful call writes.
    pub fn uninit<T: AnyBitPattern>(slice: &'a mut [MaybeUninit<T>]) -> Self {
        MemoryMut::of_uninit(slice)
    }

    /// The same of any type.
    ///
    /// Crate-private for the same reason as [`MemoryMut::of`].
    pub(crate) fn of_uninit<T>(slice: &'a mut [MaybeUninit<T>]) -> Self {
        MemoryMut { initialised: false, ..MemoryMut::of(slice) }
    }

    /// Memory behind a foreign pointer.
    ///
    /// # Safety
    /// `ptr` is valid for writes of `len` bytes (and for reads of initialised bytes, if
    /// `initialised`) for the lifetime `'a`, and nothing else accesses them meanwhile except
    /// [`Memory`] given to the same call, which is then checked for overlap.
    pub unsafe fn from_raw(ptr: *mut u8, len: usize, initialised: bool) -> Self {
        MemoryMut { ptr, len, initialised, lifetime: PhantomData }
    }

    /// Address of the first byte.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr
    }

    /// Address of the first byte, for comparison.
    pub fn as_ptr(&self) -> *const u8 {
        self.ptr
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the bytes may be read before they are written.
    pub fn is_initialised(&self) -> bool {
        self.initialised
    }

    /// The same memory with a shorter lifetime.
    pub fn reborrow(&mut self) -> MemoryMut<'_> {
        MemoryMut {
            ptr: self.ptr,
            len: self.len,
            initialised: self.initialised,
            lifetime: PhantomData,
        }
    }
}

impl<'a, T: NoUninit> From<&'a [T]> for Memory<'a> {
    fn from(slice: &'a [T]) -> Self {
        Memory::of(slice)
    }
}

impl<'a, T: NoUninit + AnyBitPattern> From<&'a mut [T]> for MemoryMut<'a> {
    fn from(slice: &'a mut [T]) -> Self {
        MemoryMut::of(slice)
    }
}

impl<'a, T: NoUninit, const N: usize> From<&'a [T; N]> for Memory<'a> {
    fn from(array: &'a [T; N]) -> Self {
        Memory::of(array.as_slice())
    }
}

impl<'a, T: NoUninit + AnyBitPattern, const N: usize> From<&'a mut [T; N]> for MemoryMut<'a> {
    fn from(array: &'a mut [T; N]) -> Self {
        MemoryMut::of(array.as_mut_slice())
    }
}

impl<'a, T: NoUninit> From<&'a Vec<T>> for Memory<'a> {
    fn from(vec: &'a Vec<T>) -> Self {
        Memory::of(vec.as_slice())
    }
}

impl<'a, T: NoUninit + AnyBitPattern> From<&'a mut Vec<T>> for MemoryMut<'a> {
    fn from(vec: &'a mut Vec<T>) -> Self {
        MemoryMut::of(vec.as_mut_slice())
    }
}

/// A readable tensor.
///
/// ```
/// use retrograde::{DType, Layout, TensorRef};
///
/// let pixels = [0u8; 640 * 480 * 3];
/// let image = TensorRef::from_slice(&pixels, &[480, 640, 3])?;
/// // The same memory as rows of whole pixels.
/// let rows = TensorRef::new(Layout::dense(DType::Bytes(3), &[480, 640])?, &pixels[..])?;
/// assert_eq!(image.layout().byte_len(), rows.layout().byte_len());
/// # Ok::<(), retrograde::LayoutError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TensorRef<'a> {
    layout: Layout,
    memory: Memory<'a>,
}

/// A writable tensor.
///
/// ```
/// use retrograde::{DType, Layout, TensorMut};
///
/// // A 4 x 4 tile in the middle of an 8 x 8 buffer.
/// let mut buffer = [0f64; 64];
/// let tile = Layout::strided(DType::F64, &[4, 4], &[8, 1], 2 * 8 + 2)?;
/// let tile = TensorMut::new(tile, &mut buffer[..])?;
/// assert_eq!(tile.layout().shape(), [4, 4]);
/// # Ok::<(), retrograde::LayoutError>(())
/// ```
#[derive(Debug)]
pub struct TensorMut<'a> {
    layout: Layout,
    memory: MemoryMut<'a>,
}

impl<'a> TensorRef<'a> {
    /// A layout over memory that is at least as large as its reach.
    pub fn new(layout: Layout, memory: impl Into<Memory<'a>>) -> Result<Self, LayoutError> {
        let memory = memory.into();
        fits(&layout, memory.len)?;
        Ok(TensorRef { layout, memory })
    }

    /// A dense row-major tensor that fills the slice exactly. Its type is [`DType::of`] the elements'.
    ///
    /// ```
    /// use retrograde::prelude::*;
    /// use retrograde::{TensorMut, TensorRef};
    ///
    /// #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
    /// #[repr(C)]
    /// struct Pixel { rgb: [u8; 3] }
    ///
    /// let x = [[9, 8, 7], [1, 2, 3]].map(|rgb| Pixel { rgb });
    /// let mut y = [Pixel { rgb: [0; 3] }; 2];
    /// let (from, mut to) = (TensorRef::from_slice(&x, &[2])?, TensorMut::from_slice(&mut y, &[2])?);
    /// Reverse::all().apply_view(&from, &mut to)?;
    /// assert_eq!(y, [x[1], x[0]]);
    /// # Ok::<(), retrograde::Error>(())
    /// ```
    pub fn from_slice<T: NoUninit>(slice: &'a [T], shape: &[usize]) -> Result<Self, LayoutError> {
        Self::dense(DType::of::<T>(), slice, shape)
    }

    /// A dense row-major tensor of any type that fills the memory exactly.
    pub fn dense(
        dtype: DType,
        memory: impl Into<Memory<'a>>,
        shape: &[usize],
    ) -> Result<Self, LayoutError> {
        let (layout, memory) = (Layout::dense(dtype, shape)?, memory.into());
        fills(&layout, memory.len)?;
        Ok(TensorRef { layout, memory })
    }

    /// A tensor whose element `[0, 0, ..]` is at `origin`, with strides in bytes (in elements, if
    /// the type is packed), as in NumPy, DLPack and `ndarray`.
    ///
    /// # Safety
    /// Every byte that the shape and strides reach from `origin` is valid for reads and
    /// initialised for the lifetime `'a`, and nothing writes to it meanwhile.
    pub unsafe fn from_raw(
        dtype: DType,
        origin: *const u8,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, LayoutError> {
        let (layout, back) = Layout::around_origin(dtype, shape, strides)?;
        // The pointer stays inside the caller's memory: `back` is reached by the strides.
        let ptr = origin.wrapping_sub(back);
        let memory = Memory { ptr, len: layout.byte_len(), lifetime: PhantomData };
        Ok(TensorRef { layout, memory })
    }

    /// The layout of the elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The memory of the elements.
    pub fn memory(&self) -> Memory<'a> {
        self.memory
    }
}

impl<'a> TensorMut<'a> {
    /// A layout over memory that is at least as large as its reach.
    pub fn new(layout: Layout, memory: impl Into<MemoryMut<'a>>) -> Result<Self, LayoutError> {
        let memory = memory.into();
        fits(&layout, memory.len)?;
        Ok(TensorMut { layout, memory })
    }

    /// A dense row-major tensor that fills the slice exactly.
    pub fn from_slice<T: NoUninit + AnyBitPattern>(
        slice: &'a mut [T],
        shape: &[usize],
    ) -> Result<Self, LayoutError> {
        Self::dense(DType::of::<T>(), slice, shape)
    }

    /// A dense row-major tensor of any type that fills the memory exactly.
    pub fn dense(
        dtype: DType,
        memory: impl Into<MemoryMut<'a>>,
        shape: &[usize],
    ) -> Result<Self, LayoutError> {
        let (layout, memory) = (Layout::dense(dtype, shape)?, memory.into());
        fills(&layout, memory.len)?;
        Ok(TensorMut { layout, memory })
    }

    /// A tensor whose element `[0, 0, ..]` is at `origin`, with strides in bytes (in elements, if
    /// the type is packed).
    ///
    /// # Safety
    /// Every byte that the shape and strides reach from `origin` is valid for reads and writes
    /// and initialised for the lifetime `'a`, and nothing else accesses it meanwhile except a
    /// [`TensorRef`] given to the same call, which is then checked for overlap.
    pub unsafe fn from_raw(
        dtype: DType,
        origin: *mut u8,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, LayoutError> {
        // SAFETY: passed on; the bytes are initialised.
        let mut tensor = unsafe { Self::from_raw_uninit(dtype, origin, shape, strides)? };
        tensor.memory.initialised = true;
        Ok(tensor)
    }

    /// The same over memory that need not be initialised.
    ///
    /// # Safety
    /// As for [`from_raw`](Self::from_raw), but the bytes need only be valid for writes.
    pub unsafe fn from_raw_uninit(
        dtype: DType,
        origin: *mut u8,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, LayoutError> {
        let (layout, back) = Layout::around_origin(dtype, shape, strides)?;
        let ptr = origin.wrapping_sub(back);
        let len = layout.byte_len();
        let memory = MemoryMut { ptr, len, initialised: false, lifetime: PhantomData };
        Ok(TensorMut { layout, memory })
    }

    /// The layout of the elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The memory of the elements.
    pub fn memory(&mut self) -> MemoryMut<'_> {
        self.memory.reborrow()
    }
}

fn fits(layout: &Layout, available: usize) -> Result<(), LayoutError> {
    let needed = layout.byte_len();
    if needed > available {
        return Err(LayoutError::OutOfBounds { needed, available });
    }
    Ok(())
}

fn fills(layout: &Layout, available: usize) -> Result<(), LayoutError> {
    let expected = layout.byte_len();
    if expected != available {
        let (shape, dtype) = (layout.shape().to_vec(), layout.dtype());
        return Err(LayoutError::SizeMismatch { shape, dtype, expected, available });
    }
    Ok(())
}
