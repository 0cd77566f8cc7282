//! Tensors of the runtime: type, shape and memory.

use crate::ffi::OrtValue;
use crate::runtime::{Failure, Runtime};
use retrograde::{DType, Memory};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::ptr;

/// Sizes of axes.
pub(crate) type Sizes = SmallVec<[usize; 8]>;
/// Indices, axes and steps.
pub(crate) type Integers = SmallVec<[i64; 8]>;

/// An input of a node, or an initializer.
#[derive(Debug)]
pub(crate) struct Tensor {
    pub(crate) value: *const OrtValue,
    pub(crate) dtype: DType,
    pub(crate) shape: Sizes,
}

/// The types that the runtime carries in the operators that the provider knows: the codes of ONNX.
pub(crate) const TYPES: [i32; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16];

/// The element type, if the provider knows it.
pub(crate) fn element(code: i32) -> Option<DType> {
    DType::from_onnx(code).filter(|_| TYPES.contains(&code))
}

impl Tensor {
    /// # Safety
    /// The value is a tensor of the runtime, and lives as long as the result is used.
    pub(crate) unsafe fn new(runtime: &Runtime, value: *const OrtValue) -> Result<Self, Failure> {
        // SAFETY: passed on.
        let (code, shape) = unsafe {
            if runtime.has_registries() {
                borrowed_shape(runtime, value)?
            } else {
                copied_shape(runtime, value)?
            }
        };
        let Some(dtype) = element(code) else {
            return Err(Failure::argument(format!("elements of ONNX type {code} are unknown")));
        };
        Ok(Tensor { value, dtype, shape })
    }

    /// The elements of a dense tensor as bytes; not for strings.
    ///
    /// # Safety
    /// As for [`new`](Self::new), for the lifetime `'a`, in which nothing writes to the tensor
    /// except the call that this memory is passed to.
    pub(crate) unsafe fn memory<'a>(&self, runtime: &Runtime) -> Result<Memory<'a>, Failure> {
        let mut data = ptr::null();
        // SAFETY: the value is a tensor (`new`).
        runtime.check(unsafe { runtime.api.tensor_data(self.value, &mut data) })?;
        let bytes = byte_len(self.dtype, &self.shape)?;
        // SAFETY: the runtime's tensors are dense and hold exactly their elements. Without any, no
        // byte is read, and the address may be null.
        Ok(unsafe { Memory::from_raw(filled(data.cast_mut()), bytes) })
    }

    /// The values of a list of indices: int32 or int64, one axis.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    pub(crate) unsafe fn integers(
        &self,
        runtime: &Runtime,
        name: &str,
    ) -> Result<Integers, Failure> {
        let &[count] = &self.shape[..] else {
            let rank = self.shape.len();
            return Err(Failure::argument(format!("{name} has rank {rank}, expected 1")));
        };
        // SAFETY: passed on; nothing writes to an input of a node while it runs.
        let data = unsafe { self.memory(runtime)? }.as_ptr();
        let wide = |at: usize| {
            // SAFETY: `count` values of this type, aligned as the runtime allocates them or not.
            unsafe { data.cast::<i64>().add(at).read_unaligned() }
        };
        let narrow = |at: usize| {
            // SAFETY: as above.
            i64::from(unsafe { data.cast::<i32>().add(at).read_unaligned() })
        };
        match self.dtype {
            DType::I64 => Ok((0..count).map(wide).collect()),
            DType::I32 => Ok((0..count).map(narrow).collect()),
            dtype => {
                Err(Failure::argument(format!("{name} is of type {dtype}, expected i32 or i64")))
            }
        }
    }
}

/// The address of a tensor's elements; an empty tensor may have none.
pub(crate) fn filled(data: *mut c_void) -> *mut u8 {
    if data.is_null() { ptr::dangling_mut() } else { data.cast() }
}

/// Bytes of a dense tensor of a type with bytes.
pub(crate) fn byte_len(dtype: DType, shape: &[usize]) -> Result<usize, Failure> {
    let width = dtype.bits().map_or(0, |bits| bits / 8);
    let product =
        |sizes: &[usize]| sizes.iter().try_fold(width, |all, &size| all.checked_mul(size));
    // The product of the other sizes of an empty tensor need not fit.
    let bytes = if shape.contains(&0) { Some(0) } else { product(shape) };
    bytes.ok_or_else(|| Failure::argument(format!("a tensor of shape {shape:?} is too large")))
}

/// # Safety
/// As for [`Tensor::new`], with a runtime of 1.24 or later.
unsafe fn borrowed_shape(
    runtime: &Runtime,
    value: *const OrtValue,
) -> Result<(i32, Sizes), Failure> {
    let (mut code, mut dims, mut count) = (0, ptr::null(), 0);
    // SAFETY: a tensor, as required; the runtime is new enough.
    let status = unsafe { runtime.api.tensor_reference(value, &mut code, &mut dims, &mut count) };
    runtime.check(status)?;
    let dims = if count == 0 {
        &[]
    } else {
        // SAFETY: so many sizes, which live as long as the tensor.
        unsafe { std::slice::from_raw_parts(dims, count) }
    };
    Ok((code, sizes(dims)?))
}

/// # Safety
/// As for [`Tensor::new`].
unsafe fn copied_shape(runtime: &Runtime, value: *const OrtValue) -> Result<(i32, Sizes), Failure> {
    let api = &runtime.api;
    let mut info = ptr::null_mut();
    // SAFETY: a tensor, as required.
    runtime.check(unsafe { api.tensor_type_and_shape(value, &mut info) })?;
    let read = || {
        let (mut code, mut count) = (0, 0);
        // SAFETY: the information that the runtime has just made.
        unsafe {
            runtime.check(api.element_type(info, &mut code))?;
            runtime.check(api.dimensions_count(info, &mut count))?;
            let mut dims: Integers = SmallVec::from_elem(0, count);
            runtime.check(api.dimensions(info, dims.as_mut_ptr(), count))?;
            Ok((code, sizes(&dims)?))
        }
    };
    let read = read();
    // SAFETY: released once, after its last use.
    unsafe { api.release_tensor_type_and_shape(info) };
    read
}

fn sizes(dims: &[i64]) -> Result<Sizes, Failure> {
    let size = |&size: &i64| usize::try_from(size).ok();
    let sizes: Option<Sizes> = dims.iter().map(size).collect();
    sizes.ok_or_else(|| Failure::other(format!("a tensor has the shape {dims:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_the_list_is_one_of_the_engine() {
        for code in TYPES {
            let dtype = element(code).unwrap();
            assert!(dtype == DType::String || dtype.bits().is_some_and(|bits| bits % 8 == 0));
        }
        for code in [0, 14, 15, 17, 21, 22, 99] {
            assert_eq!(element(code), None);
        }
    }

    #[test]
    fn bytes_of_a_tensor_are_counted_without_overflow() {
        assert!(matches!(byte_len(DType::F32, &[2, 3]), Ok(24)));
        assert!(matches!(byte_len(DType::F32, &[usize::MAX, 0, 7]), Ok(0)));
        assert!(byte_len(DType::U8, &[usize::MAX, 2]).is_err());
    }
}
