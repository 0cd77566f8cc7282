//! Operators: descriptors of a program, checked and compiled by the engine; and initialisers.

use super::buffer::MINIMUM_ALIGNMENT;
use super::fault::{E_NOTIMPL, Fault};
use super::object::{Compiled, Demand};
use super::types::{
    DML_BINDING_PROPERTIES, DML_BUFFER_TENSOR_DESC, DML_OPERATOR_DESC,
    DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC, DML_TENSOR_DESC, UINT, UINT64,
};
use crate::pointer::{reference, slice};
use retrograde::DType;
use retrograde_directml::{
    DescError, FeatureLevel, OPERATOR_REVERSE_SUBSEQUENCES, ReverseSubsequencesDesc, Role,
    TENSOR_FLAG_OWNED_BY_DML, TENSOR_TYPE_BUFFER, TensorDesc, minimum_total_size,
};
use std::sync::OnceLock;

/// The most dimensions of any feature level (`DML_TENSOR_DIMENSION_COUNT_MAX1`).
const MOST_DIMENSIONS: UINT = 8;

impl Compiled {
    /// Reads and checks descriptors by the rules of a feature level.
    ///
    /// # Safety
    /// `desc` and the structs and arrays that it leads to are null or as DirectML requires.
    pub(crate) unsafe fn from_desc(
        desc: *const DML_OPERATOR_DESC,
        level: u32,
    ) -> Result<Self, Fault> {
        // SAFETY: as the caller promises.
        let desc = unsafe { reference(desc, "desc")? };
        if desc.Type != OPERATOR_REVERSE_SUBSEQUENCES {
            let text = format!(
                "DML_OPERATOR_DESC.Type is {}, only 106 (DML_OPERATOR_REVERSE_SUBSEQUENCES) is implemented",
                desc.Type
            );
            return Err(Fault::new(E_NOTIMPL, text));
        }
        let Some(rules) = FeatureLevel::from_value(level) else {
            let text = format!("ReverseSubsequences does not exist at feature level {level:#x}");
            return Err(Fault::invalid(text));
        };
        let desc = desc.Desc.cast::<DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC>();
        // SAFETY: as the caller promises; the type says which struct it is.
        let desc = unsafe { reference(desc, "DML_OPERATOR_DESC.Desc")? };
        // SAFETY: as the caller promises.
        let (input, lengths, output) = unsafe {
            (
                tensor(desc.InputTensor, Role::Input)?,
                tensor(desc.SequenceLengthsTensor, Role::SequenceLengths)?,
                tensor(desc.OutputTensor, Role::Output)?,
            )
        };
        let demands = [demand(Role::Input, &input), demand(Role::SequenceLengths, &lengths)];
        let written = demand(Role::Output, &output);
        let desc =
            ReverseSubsequencesDesc { input, sequence_lengths: lengths, output, axis: desc.Axis };
        let compiled = desc.compile(rules).map_err(|error: DescError| Fault::invalid(error))?;
        let program = compiled.program().clone();
        Ok(Compiled { program, inputs: demands, output: written, owned: OnceLock::new() })
    }

    /// A compiled form of it, which has not been initialised.
    pub(crate) fn fresh(&self) -> Self {
        let Compiled { program, inputs, output, .. } = self;
        let (program, owned) = (program.clone(), OnceLock::new());
        Compiled { program, inputs: *inputs, output: *output, owned }
    }

    /// One descriptor per tensor; no memory beside the tensors.
    pub(crate) fn properties(&self) -> DML_BINDING_PROPERTIES {
        DML_BINDING_PROPERTIES { RequiredDescriptorCount: 3, ..Default::default() }
    }
}

fn demand(role: Role, desc: &TensorDesc<'_>) -> Demand {
    Demand {
        role,
        total: desc.total_size_in_bytes,
        alignment: MINIMUM_ALIGNMENT.max(desc.base_offset_alignment.into()),
        owned: desc.flags == TENSOR_FLAG_OWNED_BY_DML,
    }
}

/// A tensor descriptor as the engine takes it.
///
/// # Safety
/// As for [`Compiled::from_desc`].
unsafe fn tensor<'a>(desc: *const DML_TENSOR_DESC, role: Role) -> Result<TensorDesc<'a>, Fault> {
    // SAFETY: as the caller promises.
    let &DML_TENSOR_DESC { Type: tensor_type, Desc } =
        unsafe { reference(desc, &role.to_string())? };
    // Only of this type is it known what `Desc` points to.
    if tensor_type != TENSOR_TYPE_BUFFER {
        return Err(Fault::invalid(DescError::NotABuffer { tensor: role, tensor_type }));
    }
    // SAFETY: as the caller promises.
    let desc =
        *unsafe { reference(Desc.cast::<DML_BUFFER_TENSOR_DESC>(), &format!("{role}.Desc"))? };
    // SAFETY: as the caller promises.
    let (sizes, strides) =
        unsafe { dimensions(desc.DimensionCount, desc.Sizes, desc.Strides, &role.to_string())? };
    Ok(TensorDesc {
        tensor_type,
        data_type: desc.DataType,
        flags: desc.Flags,
        sizes,
        strides,
        total_size_in_bytes: desc.TotalTensorSizeInBytes,
        base_offset_alignment: desc.GuaranteedBaseOffsetAlignment,
    })
}

type Dimensions<'a> = (&'a [UINT], Option<&'a [UINT]>);

/// Sizes and strides.
///
/// # Safety
/// The arrays are null or have `count` entries.
unsafe fn dimensions<'a>(
    count: UINT,
    sizes: *const UINT,
    strides: *const UINT,
    name: &str,
) -> Result<Dimensions<'a>, Fault> {
    // Before the arrays are read, since no feature level has more.
    if count > MOST_DIMENSIONS {
        let text = format!("{name}.DimensionCount is {count}, expected at most {MOST_DIMENSIONS}");
        return Err(Fault::invalid(text));
    }
    let count = count as usize;
    // SAFETY: as the caller promises.
    let sizes = unsafe { slice(sizes, count, &format!("{name}.Sizes"))? };
    let strides = match strides.is_null() {
        true => None,
        // SAFETY: as the caller promises.
        false => Some(unsafe { slice(strides, count, &format!("{name}.Strides"))? }),
    };
    Ok((sizes, strides))
}

/// The least `TotalTensorSizeInBytes` of a tensor: up to its last element, rounded up to 4 bytes,
/// as `DMLCalcBufferTensorSize` of DirectML's documentation computes it. 0 if the type is not one
/// of DirectML, there are no dimensions or more than 8, a size is 0, or the result does not fit.
///
/// # Safety
/// `sizes` and `strides` are null or have `dimension_count` entries; `strides` is null for a packed
/// tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retrograde_dml_calc_buffer_tensor_size(
    data_type: super::types::DML_TENSOR_DATA_TYPE,
    dimension_count: UINT,
    sizes: *const UINT,
    strides: *const UINT,
) -> UINT64 {
    let body = || {
        // SAFETY: as the caller promises.
        let (sizes, strides) = unsafe { dimensions(dimension_count, sizes, strides, "tensor")? };
        let dtype = DType::from_directml(data_type)
            .ok_or_else(|| Fault::invalid(format!("data type {data_type} does not exist")))?;
        if sizes.is_empty() || sizes.contains(&0) {
            return Err(Fault::invalid(format!("sizes {sizes:?} have no elements")));
        }
        minimum_total_size(dtype, sizes, strides)
            .ok_or_else(|| Fault::invalid("the size does not fit in 64 bits"))
    };
    super::fault::contained(body).unwrap_or_else(|fault| {
        super::fault::report(fault);
        0
    })
}
