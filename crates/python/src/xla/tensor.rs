//! XLA's buffers as the engine's tensors.

use super::abi::{Buffer, Failure};
use crate::view::{Shape, Strides};
use retrograde::{DType, Layout, Memory, MemoryMut, TensorMut, TensorRef};
use std::ptr::NonNull;

pub(super) fn tensor(buffer: &Buffer) -> Result<TensorRef<'_>, Failure> {
    let (dtype, shape, data, len) = described(buffer)?;
    // SAFETY: XLA's buffers hold a dense tensor of that type and shape, and do not change until the
    // call returns. Buffers on a device are not accessed from here.
    let memory = unsafe { Memory::from_raw(data, len) };
    TensorRef::dense(dtype, memory, &shape).map_err(Failure::internal)
}

pub(super) fn tensor_mut(buffer: &Buffer) -> Result<TensorMut<'_>, Failure> {
    let (dtype, shape, data, len) = described(buffer)?;
    // SAFETY: as above; only the handler writes to a result.
    let memory = unsafe { MemoryMut::from_raw(data, len, false) };
    TensorMut::dense(dtype, memory, &shape).map_err(Failure::internal)
}

/// A view of a dense tensor with two axes swapped.
pub(super) fn swapped<'a>(
    tensor: &TensorRef<'a>,
    (first, second): (usize, usize),
) -> Result<TensorRef<'a>, Failure> {
    let layout = tensor.layout();
    if first.max(second) >= layout.rank() {
        let rank = layout.rank();
        return Err(Failure::internal(format!("axes {first}, {second} of rank {rank}")));
    }
    let mut shape = Shape::from_slice(layout.shape());
    let mut strides = Strides::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        // The number of elements is at most that of the layout, or there are none.
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis] as isize);
    }
    shape.swap(first, second);
    strides.swap(first, second);
    let layout = Layout::strided(layout.dtype(), &shape, &strides, 0).map_err(Failure::internal)?;
    TensorRef::new(layout, tensor.memory()).map_err(Failure::internal)
}

fn described(buffer: &Buffer) -> Result<(DType, Shape, *mut u8, usize), Failure> {
    let dtype = element_type(buffer.dtype())?;
    let size = |&size: &i64| {
        usize::try_from(size).map_err(|_| Failure::internal(format!("a size is {size}")))
    };
    let shape = buffer.dims().iter().map(size).collect::<Result<Shape, _>>()?;
    let len = Layout::dense(dtype, &shape).map_err(Failure::internal)?.byte_len();
    match buffer.data() {
        data if !data.is_null() => Ok((dtype, shape, data, len)),
        _ if len == 0 => Ok((dtype, shape, NonNull::dangling().as_ptr(), 0)),
        _ => Err(Failure::internal("a buffer has no memory")),
    }
}

/// By `XLA_FFI_DataType`; types of the same width move the same way.
fn element_type(dtype: i32) -> Result<DType, Failure> {
    Ok(match dtype {
        1 => DType::Bool,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::U8,
        7 => DType::U16,
        8 => DType::U32,
        9 => DType::U64,
        10 => DType::F16,
        11 => DType::F32,
        12 => DType::F64,
        15 => DType::C64,
        16 => DType::BF16,
        18 => DType::C128,
        // The eight one-byte float types.
        19 | 20 | 23 | 24 | 25 | 28 | 29 | 33 => DType::Bytes(1),
        21 => DType::I4,
        22 => DType::U4,
        26 => DType::I2,
        27 => DType::U2,
        32 => DType::F4E2M1,
        other => {
            return Err(Failure::argument(format!(
                "elements of XLA type {other} are not supported"
            )));
        }
    })
}
