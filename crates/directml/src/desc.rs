//! The descriptor of one tensor: `DML_BUFFER_TENSOR_DESC` and the rules that apply to it alone.

use crate::error::DescError;
use crate::level::FeatureLevel;
use crate::role::Role;
use crate::{TENSOR_FLAG_NONE, TENSOR_FLAG_OWNED_BY_DML, TENSOR_TYPE_BUFFER};
use retrograde::{DType, Layout};

/// The most elements a DirectML tensor may have.
const MOST_ELEMENTS: u64 = u32::MAX as u64;

/// `DML_TENSOR_DESC` with its `DML_BUFFER_TENSOR_DESC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorDesc<'a> {
    /// `DML_TENSOR_TYPE`; only [`TENSOR_TYPE_BUFFER`] is allowed.
    pub tensor_type: u32,
    /// `DML_TENSOR_DATA_TYPE`.
    pub data_type: u32,
    /// `DML_TENSOR_FLAGS`.
    pub flags: u32,
    /// `Sizes`; their number is `DimensionCount`.
    pub sizes: &'a [u32],
    /// `Strides` in elements, 0 to repeat; `None` for a packed row-major tensor.
    pub strides: Option<&'a [u32]>,
    /// `TotalTensorSizeInBytes`.
    pub total_size_in_bytes: u64,
    /// `GuaranteedBaseOffsetAlignment`: 0, or a power of two of at least the element size.
    pub base_offset_alignment: u32,
}

impl<'a> TensorDesc<'a> {
    /// A packed row-major tensor of the minimum size. Types that DirectML does not have become
    /// `UNKNOWN`, which no feature level allows.
    pub fn packed(dtype: DType, sizes: &'a [u32]) -> Self {
        Self::new(dtype, sizes, None)
    }

    /// A strided tensor of the minimum size.
    pub fn strided(dtype: DType, sizes: &'a [u32], strides: &'a [u32]) -> Self {
        Self::new(dtype, sizes, Some(strides))
    }

    fn new(dtype: DType, sizes: &'a [u32], strides: Option<&'a [u32]>) -> Self {
        let code = dtype.names().and_then(|row| row.directml);
        TensorDesc {
            tensor_type: TENSOR_TYPE_BUFFER,
            data_type: code.map_or(0, |(value, _)| value),
            flags: TENSOR_FLAG_NONE,
            sizes,
            strides,
            total_size_in_bytes: minimum_total_size(dtype, sizes, strides).unwrap_or(u64::MAX),
            base_offset_alignment: 0,
        }
    }

    /// Checks the rules for a single tensor and returns its layout.
    pub(super) fn checked(&self, tensor: Role, level: FeatureLevel) -> Result<Layout, DescError> {
        if self.tensor_type != TENSOR_TYPE_BUFFER {
            return Err(DescError::NotABuffer { tensor, tensor_type: self.tensor_type });
        }
        self.check_flags(tensor)?;
        let dtype = self.checked_type(tensor, level)?;
        self.check_sizes(tensor, level)?;
        // The tables contain only whole-byte types.
        let width = dtype.bits().unwrap_or(8) / 8;
        let alignment = self.base_offset_alignment;
        if alignment != 0 && (!alignment.is_power_of_two() || (alignment as usize) < width) {
            return Err(DescError::Alignment { tensor, alignment, element_size: width });
        }
        let minimum = minimum_total_size(dtype, self.sizes, self.strides)
            .ok_or(DescError::SizeOverflow { tensor })?;
        if self.total_size_in_bytes < minimum {
            let total = self.total_size_in_bytes;
            return Err(DescError::TotalSizeTooSmall { tensor, total, minimum });
        }
        self.layout(dtype).ok_or(DescError::SizeOverflow { tensor })
    }

    fn check_flags(&self, tensor: Role) -> Result<(), DescError> {
        match self.flags {
            TENSOR_FLAG_NONE => Ok(()),
            TENSOR_FLAG_OWNED_BY_DML if tensor != Role::Output => Ok(()),
            TENSOR_FLAG_OWNED_BY_DML => Err(DescError::OutputOwnedByDml),
            flags => Err(DescError::UnknownFlags { tensor, flags }),
        }
    }

    fn checked_type(&self, tensor: Role, level: FeatureLevel) -> Result<DType, DescError> {
        let allowed = level.data_types(tensor);
        DType::from_directml(self.data_type)
            .filter(|dtype| allowed.contains(dtype))
            .ok_or(DescError::DataType { tensor, level, data_type: self.data_type })
    }

    fn check_sizes(&self, tensor: Role, level: FeatureLevel) -> Result<(), DescError> {
        let (count, allowed) = (self.sizes.len(), level.dimension_counts());
        if !allowed.contains(&count) {
            return Err(DescError::DimensionCount { tensor, level, count });
        }
        if let Some(dimension) = self.sizes.iter().position(|&size| size == 0) {
            return Err(DescError::ZeroSize { tensor, dimension });
        }
        let elements = self.sizes.iter().try_fold(1u64, |n, &size| n.checked_mul(size.into()));
        if elements.is_none_or(|elements| elements > MOST_ELEMENTS) {
            return Err(DescError::TooManyElements { tensor, sizes: self.sizes.to_vec() });
        }
        match self.strides {
            Some(strides) if strides.len() != count => {
                Err(DescError::StrideCount { tensor, strides: strides.len(), count })
            }
            _ => Ok(()),
        }
    }

    fn layout(&self, dtype: DType) -> Option<Layout> {
        let shape: Vec<usize> = self.sizes.iter().map(|&size| size as usize).collect();
        match self.strides {
            None => Layout::dense(dtype, &shape).ok(),
            Some(strides) => {
                let strides: Option<Vec<isize>> =
                    strides.iter().map(|&stride| isize::try_from(stride).ok()).collect();
                Layout::strided(dtype, &shape, &strides?, 0).ok()
            }
        }
    }
}

/// The least `TotalTensorSizeInBytes`, as `DMLCalcBufferTensorSize` computes it: up to the last
/// element, rounded up to 4 bytes. `None` if it does not fit in 64 bits, or for strings.
///
/// ```
/// use retrograde::DType;
/// use retrograde_directml::minimum_total_size;
///
/// assert_eq!(minimum_total_size(DType::U8, &[1, 1, 1, 5], None), Some(8));
/// // The last of 2 x 3 elements, in rows of eight, is the eleventh.
/// assert_eq!(minimum_total_size(DType::F32, &[2, 3], Some(&[8, 1])), Some(44));
/// ```
pub fn minimum_total_size(dtype: DType, sizes: &[u32], strides: Option<&[u32]>) -> Option<u64> {
    let bits = dtype.bits()? as u128;
    let elements = match strides {
        None => sizes.iter().try_fold(1u128, |n, &size| n.checked_mul(size.into()))?,
        Some(strides) => {
            let span = |(&size, &stride): (&u32, &u32)| {
                u128::from(size.saturating_sub(1)) * u128::from(stride)
            };
            1 + sizes.iter().zip(strides).map(span).sum::<u128>()
        }
    };
    let bytes = elements.checked_mul(bits)?.div_ceil(8).checked_next_multiple_of(4)?;
    u64::try_from(bytes).ok()
}
