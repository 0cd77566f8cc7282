//! Layouts that cannot be, and views that do not fit their memory.

use crate::{HUGE, refused};
use retrograde::{DType, Layout, LayoutError, TensorMut, TensorRef};

pub(crate) fn layouts() {
    use LayoutError::*;
    refused! {
        Layout::strided(DType::F32, &[2, 3], &[1], 0) => StrideCount { rank: 2, strides: 1 },
            "shape has rank 2 but 1 stride: one stride per axis is needed";
        Layout::strided(DType::F32, &[], &[1], 0) => StrideCount { rank: 0, strides: 1 },
            "shape has rank 0 but 1 stride: one stride per axis is needed";
        Layout::dense(DType::F32, &[HUGE, 2]) => TooLarge { .. },
            format!("shape [{HUGE}, 2] of f32 needs more than {} bytes", isize::MAX);
        Layout::dense(DType::U8, &[HUGE]) => TooLarge { .. },
            format!("shape [{HUGE}] of u8 needs more than {} bytes", isize::MAX);
        Layout::dense(DType::F64, &[1 << 30, 1 << 30, 1 << 4]) => TooLarge { .. },
            format!("shape [1073741824, 1073741824, 16] of f64 needs more than {} bytes", isize::MAX);
    }
    let many = 1usize << (usize::BITS * 5 / 8);
    refused! {
        Layout::dense(DType::U1, &[many, many]) => TooLarge { .. },
            format!("shape [{many}, {many}] of u1 needs more than {} bytes", isize::MAX);
        Layout::dense(DType::Bytes(HUGE), &[1]) => TooLarge { .. },
            format!("shape [1] of bytes{HUGE} needs more than {} bytes", isize::MAX);
        Layout::strided(DType::U8, &[HUGE, HUGE], &[0, 0], 0) => TooLarge { .. },
            format!("shape [{HUGE}, {HUGE}] of u8 needs more than {} bytes", isize::MAX);
        Layout::strided(DType::F32, &[2], &[isize::MAX], 0)
            => StrideOverflow { axis: 0, size: 2, stride: isize::MAX },
            format!(
                "axis 0: size 2 times stride {0} reaches past what an address can hold ({0} bytes)",
                isize::MAX
            );
        Layout::byte_strided(DType::F32, &[3, 3], &[4, isize::MAX], 0)
            => StrideOverflow { axis: 1, size: 3, stride: isize::MAX },
            format!(
                "axis 1: size 3 times stride {0} reaches past what an address can hold ({0} bytes)",
                isize::MAX
            );
        Layout::byte_strided(DType::U8, &[2], &[isize::MIN], 0) => BeforeStart { offset: 0, .. },
            format!(
                "negative strides lead {} bytes before the start of the buffer: raise the offset (now 0)",
                isize::MIN.unsigned_abs()
            );
        Layout::byte_strided(DType::U8, &[2, 2], &[isize::MIN, isize::MIN], 0)
            => StrideOverflow { axis: 1, size: 2, stride: isize::MIN },
            format!(
                "axis 1: size 2 times stride {} reaches past what an address can hold ({} bytes)",
                isize::MIN,
                isize::MAX
            );
        Layout::strided(DType::F64, &[2], &[1], HUGE) => OffsetOverflow { offset: HUGE },
            format!("offset {HUGE} reaches past what an address can hold ({} bytes)", isize::MAX);
        Layout::byte_strided(DType::F64, &[1], &[8], isize::MAX as usize) => OffsetOverflow { .. },
            format!("offset {0} reaches past what an address can hold ({0} bytes)", isize::MAX);
        Layout::strided(DType::F32, &[4], &[-1], 2)
            => BeforeStart { before: 4, offset: 2, packed: false },
            "negative strides lead 4 bytes before the start of the buffer: raise the offset (now 2)";
        Layout::strided(DType::U4, &[4], &[-1], 2)
            => BeforeStart { before: 1, offset: 2, packed: true },
            "negative strides lead 1 element before the start of the buffer: raise the offset (now 2)";
        Layout::byte_strided(DType::U4, &[4], &[1], 0) => PackedByteStrides { dtype: DType::U4 },
            "u4 packs several elements into a byte: give strides in elements, not bytes";
    }
    let strings = "string elements have no fixed width: use the slice functions \
        (in_place, to_vec_cloned)";
    refused! {
        Layout::dense(DType::String, &[4]) => Strings, strings;
        Layout::strided(DType::String, &[4], &[1], 0) => Strings, strings;
        Layout::byte_strided(DType::String, &[4], &[8], 0) => Strings, strings;
    }
}

pub(crate) fn views() {
    use LayoutError::*;
    refused! {
        TensorRef::from_slice(&[0f32; 5], &[2, 3])
            => SizeMismatch { expected: 24, available: 20, .. },
            "shape [2, 3] of f32 takes 24 bytes but the buffer has 20";
        TensorRef::from_slice(&[0f32; 7], &[2, 3])
            => SizeMismatch { expected: 24, available: 28, .. },
            "shape [2, 3] of f32 takes 24 bytes but the buffer has 28";
        TensorMut::from_slice(&mut [0u8; 3], &[]) => SizeMismatch { expected: 1, available: 3, .. },
            "shape [] of u8 takes 1 byte but the buffer has 3";
        TensorRef::dense(DType::U2, &[0u8; 1][..], &[5])
            => SizeMismatch { expected: 2, available: 1, .. },
            "shape [5] of u2 takes 2 bytes but the buffer has 1";
    }
    let wide = || Layout::strided(DType::F32, &[2, 3], &[8, 1], 1).unwrap();
    refused! {
        TensorRef::new(wide(), &[0f32; 11][..]) => OutOfBounds { needed: 48, available: 44 },
            "the layout reaches 48 bytes but the buffer has 44";
        TensorMut::new(wide(), &mut [0f32; 11][..]) => OutOfBounds { needed: 48, available: 44 },
            "the layout reaches 48 bytes but the buffer has 44";
        TensorRef::new(Layout::strided(DType::U1, &[9], &[1], 8).unwrap(), &[0u8; 2][..])
            => OutOfBounds { needed: 3, available: 2 },
            "the layout reaches 3 bytes but the buffer has 2";
    }
    let origin = [0u8; 4];
    let raw = |shape: &[usize], strides: &[isize]| {
        // SAFETY: refused before anything is read.
        unsafe { TensorRef::from_raw(DType::U8, origin.as_ptr(), shape, strides) }
    };
    refused! {
        raw(&[3], &[1, 1]) => StrideCount { rank: 1, strides: 2 },
            "shape has rank 1 but 2 strides: one stride per axis is needed";
        raw(&[3, 3], &[-isize::MAX, 1]) => OffsetOverflow { .. },
            format!("offset {} reaches past what an address can hold ({} bytes)", HUGE - 1, isize::MAX);
    }
}
