//! Reads integers of any type from views, for axes and lengths.

use crate::dtype::DType;
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
