//! Descriptions of tensors: a struct on the caller's side, a checked layout on ours.

use crate::dtype::{ElementType, element_type};
use crate::guard::guarded;
use crate::pointer::{reference, slice, write};
use crate::status::{Failure, RETROGRADE_BAD_TENSOR, Status};
use retrograde::Layout;
use smallvec::SmallVec;

/// No heap allocation for usual ranks.
type Shape = SmallVec<[usize; 8]>;
type Strides = SmallVec<[isize; 8]>;

/// What strides and offsets count.
pub type StrideUnit = u32;

/// Elements.
pub const RETROGRADE_ELEMENTS: StrideUnit = 0;
/// Bytes; not for types that pack several elements into a byte.
pub const RETROGRADE_STRIDE_BYTES: StrideUnit = 1;

/// The most axes that a tensor may have.
pub const RETROGRADE_MAX_RANK: usize = 1024;

/// The type, sizes and strides of a tensor, without its memory.
///
/// `RETROGRADE_TENSOR(dtype, rank, shape)` initialises one that is dense and row-major. Later
/// versions may append fields, in which zero keeps today's meaning; `struct_bytes` says which
/// fields the caller knows.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Tensor {
    /// `sizeof(retrograde_tensor)`.
    pub struct_bytes: usize,
    /// The element type.
    pub dtype: ElementType,
    /// What `strides` and `offset` count: `RETROGRADE_ELEMENTS` or `RETROGRADE_STRIDE_BYTES`.
    pub stride_unit: StrideUnit,
    /// The width of an element of `RETROGRADE_BYTES`; otherwise 0.
    pub element_bytes: usize,
    /// The number of axes; 0 for a scalar.
    pub rank: usize,
    /// The size of each axis; may be null if `rank` is 0.
    pub shape: *const i64,
    /// The distance from one element to the next along each axis, which may be negative, or 0 in
    /// inputs to repeat an element. Null for a dense row-major tensor.
    pub strides: *const i64,
    /// Where element `[0, 0, ..]` is, counted from the start of the buffer.
    pub offset: usize,
}

/// The layout that a description means.
///
/// # Safety
/// As for [`retrograde_tensor_bytes`].
pub(crate) unsafe fn layout(tensor: *const Tensor, name: &str) -> Result<Layout, Failure> {
    // SAFETY: passed on.
    let Tensor { dtype, stride_unit, element_bytes, rank, shape, strides, offset, .. } =
        unsafe { known_fields(tensor, name)? };
    let about = |failure: Failure| Failure { text: format!("{name}: {}", failure.text), ..failure };
    let dtype = element_type(dtype, element_bytes).map_err(about)?;
    if rank > RETROGRADE_MAX_RANK {
        let text = format!("{name}: rank is {rank}, expected at most {RETROGRADE_MAX_RANK}");
        return Err(Failure::argument(text));
    }
    // SAFETY: passed on: `rank` sizes.
    let sizes = unsafe { slice(shape, rank, &format!("{name}: shape"))? };
    let mut shape = Shape::with_capacity(rank);
    for (axis, &size) in sizes.iter().enumerate() {
        shape.push(usize::try_from(size).map_err(|_| {
            let most = isize::MAX;
            let text = format!("{name}: shape[{axis}] is {size}, outside [0, {most}]");
            Failure::new(RETROGRADE_BAD_TENSOR, text)
        })?);
    }
    let in_bytes = match stride_unit {
        RETROGRADE_ELEMENTS => false,
        RETROGRADE_STRIDE_BYTES => true,
        other => {
            let text =
                format!("{name}: stride_unit is {other}, expected 0 (elements) or 1 (bytes)");
            return Err(Failure::argument(text));
        }
    };
    if strides.is_null() && offset == 0 {
        return Layout::dense(dtype, &shape).map_err(|error| about(error.into()));
    }
    let steps: Strides = if strides.is_null() {
        dense_strides(&shape, if in_bytes { dtype.bits().map_or(1, |bits| bits / 8) } else { 1 })
    } else {
        // SAFETY: passed on: as many strides as sizes.
        let strides = unsafe { slice(strides, rank, &format!("{name}: strides"))? };
        // A stride that does not fit leads out of every address space.
        strides.iter().map(|&stride| isize::try_from(stride).unwrap_or(isize::MAX)).collect()
    };
    let made = match in_bytes {
        true => Layout::byte_strided(dtype, &shape, &steps, offset),
        false => Layout::strided(dtype, &shape, &steps, offset),
    };
    made.map_err(|error| about(error.into()))
}

/// The fields that both sides know. The caller's struct may be larger, if the rest of it is zero.
///
/// # Safety
/// As for [`retrograde_tensor_bytes`].
unsafe fn known_fields(tensor: *const Tensor, name: &str) -> Result<Tensor, Failure> {
    // SAFETY: every version of the struct begins with its size.
    let size = *unsafe { reference(tensor.cast::<usize>(), name)? };
    let known = size_of::<Tensor>();
    if !(known..=4096).contains(&size) {
        let text = format!("{name}: struct_bytes is {size}, expected at least {known}");
        return Err(Failure::argument(text));
    }
    // SAFETY: the struct has at least the fields that we know.
    let fields = *unsafe { reference(tensor, name)? };
    // SAFETY: as many bytes as the struct says.
    let bytes = unsafe { slice(tensor.cast::<u8>(), size, name)? };
    if bytes[known..].iter().any(|&byte| byte != 0) {
        let text = format!(
            "{name}: struct_bytes is {size}, and fields after byte {known} are set: this library is older than the header"
        );
        return Err(Failure::argument(text));
    }
    Ok(fields)
}

/// Row-major strides, if a step along the last axis is `step`. They wrap where they overflow: that
/// is possible only beside a size of 0, or `Layout` refuses the shape.
fn dense_strides(shape: &[usize], mut step: usize) -> Strides {
    let mut strides: Strides = shape.iter().map(|_| 0).collect();
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = isize::try_from(step).unwrap_or(isize::MAX);
        step = step.saturating_mul(size.max(1));
    }
    strides
}

/// The bytes that a buffer for this tensor must have at least: up to its last element.
///
/// # Safety
/// `tensor` is null or points to a struct of `struct_bytes` bytes, whose arrays have `rank`
/// entries; `bytes` is null or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_tensor_bytes(
    tensor: *const Tensor,
    bytes: *mut usize,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let layout = unsafe { layout(tensor, "tensor")? };
        // SAFETY: as the caller promises.
        unsafe { write(bytes, layout.byte_len(), "bytes") }
    })
}
