//! Reads integers of any type from views, for axes, lengths and masks.

use crate::dtype::DType;
use crate::layout::Layout;
use crate::tensor::TensorRef;

/// Reads one integer (or boolean) at any alignment.
///
/// # Safety
/// `ptr` is valid for reads of one element of `dtype`.
#[inline]
pub(crate) unsafe fn read(dtype: DType, ptr: *const u8) -> i128 {
    // SAFETY: the caller promises that the type's width is valid for reads; every bit pattern of
    // these types is a value.
    unsafe {
        match dtype {
            DType::I8 => i128::from(ptr.cast::<i8>().read_unaligned()),
            DType::I16 => i128::from(ptr.cast::<i16>().read_unaligned()),
            DType::U16 => i128::from(ptr.cast::<u16>().read_unaligned()),
            DType::I32 => i128::from(ptr.cast::<i32>().read_unaligned()),
            DType::U32 => i128::from(ptr.cast::<u32>().read_unaligned()),
            DType::I64 => i128::from(ptr.cast::<i64>().read_unaligned()),
            DType::U64 => i128::from(ptr.cast::<u64>().read_unaligned()),
            // U8 and Bool; every type has at least this one byte.
            _ => i128::from(ptr.read()),
        }
    }
}

/// The values of a 1-D tensor of integers or booleans.
pub(crate) fn values(tensor: &TensorRef<'_>) -> impl Iterator<Item = i128> {
    let layout = tensor.layout();
    debug_assert!(layout.rank() == 1);
    debug_assert!(layout.dtype().is_integer() || layout.dtype() == DType::Bool);
    let (dtype, origin, stride) =
        (layout.dtype(), layout.reach().origin, layout.grain_strides()[0]);
    let memory = tensor.memory();
    (0..layout.len()).map(move |index| {
        let offset = origin.wrapping_add_signed(stride * index as isize);
        // SAFETY: the view was checked to hold every element of its layout.
        unsafe { read(dtype, memory.as_ptr().add(offset)) }
    })
}

/// The bytes of a tensor of whole bytes, in row-major order.
pub(crate) fn bytes_of(tensor: &TensorRef<'_>) -> Vec<u8> {
    let (layout, memory) = (tensor.layout(), tensor.memory());
    let (shape, strides, width) = (layout.shape(), layout.grain_strides(), layout.width());
    // SAFETY: the view was checked to hold every element of its layout, of this many bytes.
    let part = |offset: usize, len: usize| unsafe {
        std::slice::from_raw_parts(memory.as_ptr().add(offset), len)
    };
    let origin = layout.reach().origin;
    if Layout::dense(layout.dtype(), shape).is_ok_and(|dense| dense == *layout) {
        return if layout.is_empty() {
            Vec::new()
        } else {
            part(origin, layout.byte_len()).to_vec()
        };
    }
    let mut bytes = Vec::with_capacity(layout.len() * width);
    let mut index = vec![0usize; shape.len()];
    for _ in 0..layout.len() {
        let steps = index.iter().zip(strides).map(|(&at, &stride)| at as isize * stride);
        bytes.extend_from_slice(part(origin.wrapping_add_signed(steps.sum()), width));
        for (at, &size) in index.iter_mut().zip(shape).rev() {
            *at += 1;
            if *at < size {
                break;
            }
            *at = 0;
        }
    }
    bytes
}
