//! Runs prepared calls on candle's CPU storage.

use crate::layout::{dense, refused, strided};
use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, Layout, Result, Shape};
use float8::F8E4M3;
use half::{bf16, f16};
use retrograde::{Error, Memory, MemoryMut, Prepared, TensorRef};

/// An element type of candle's storage.
///
/// # Safety
/// A number without padding bytes, for which every bit pattern is a value.
unsafe trait Number: Copy {}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        // SAFETY: an integer, a float, or a `repr(transparent)` wrapper of an integer.
        unsafe impl Number for $number {}
    )*};
}

numbers!(u8, u32, i16, i32, i64, bf16, f16, f32, f64, F8E4M3);

/// The bytes of a slice.
fn memory<T: Number>(slice: &[T]) -> Memory<'_> {
    // SAFETY: the slice's bytes, which are initialised, because numbers have no padding.
    unsafe { Memory::from_raw(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// A tensor as a view of its storage.
pub(crate) fn view<'a>(storage: &'a CpuStorage, at: &Layout) -> Result<TensorRef<'a>> {
    macro_rules! memory_of {
        ($($kind:ident)*) => {
            match storage { $(CpuStorage::$kind(vector) => memory(vector),)* }
        };
    }
    let memory = memory_of!(U8 U32 I16 I32 I64 BF16 F16 F32 F64 F8E4M3 F6E2M3 F6E3M2 F4 F8E8M0);
    TensorRef::new(strided(storage.dtype(), at)?, memory).map_err(refused)
}

/// Runs the call that `prepare` makes from the layouts of the input and of a new, dense output.
pub(crate) fn run<'l>(
    storage: &CpuStorage,
    at: &Layout,
    prepare: impl FnOnce(
        &retrograde::Layout,
        &retrograde::Layout,
    ) -> std::result::Result<Prepared<'l>, Error>,
) -> Result<(CpuStorage, Shape)> {
    let input = view(storage, at)?;
    let output = dense(storage.dtype(), at)?;
    let prepared = prepare(input.layout(), &output).map_err(refused)?;
    macro_rules! moved {
        ($($kind:ident)*) => {
            match storage {
                $(CpuStorage::$kind(vector) => {
                    CpuStorage::$kind(moved(&prepared, input.memory(), &output, vector)?)
                })*
            }
        };
    }
    let storage = moved!(U8 U32 I16 I32 I64 BF16 F16 F32 F64 F8E4M3 F6E2M3 F6E3M2 F4 F8E8M0);
    Ok((storage, at.shape().clone()))
}

/// The elements of the output; `_same_type` says which type they have.
fn moved<T: Number>(
    prepared: &Prepared<'_>,
    input: Memory<'_>,
    output: &retrograde::Layout,
    _same_type: &[T],
) -> Result<Vec<T>> {
    let len = output.len();
    // A width that is not the type's would leave elements unwritten.
    assert_eq!(output.byte_len(), len * size_of::<T>(), "elements of another width");
    let mut vector: Vec<T> = Vec::with_capacity(len);
    let room = &mut vector.spare_capacity_mut()[..len];
    // SAFETY: the bytes of `room`, which nothing else uses during the call. Any bytes may be
    // written: every bit pattern is a number.
    let room = unsafe { MemoryMut::from_raw(room.as_mut_ptr().cast(), size_of_val(room), false) };
    prepared.run(input, room).map_err(refused)?;
    // SAFETY: `run` succeeded, so it has written every element of the dense layout, which has `len`
    // elements of this width, as asserted.
    unsafe { vector.set_len(len) };
    Ok(vector)
}
