//! Descriptors and bindings that break a rule of DirectML.

#[path = "../../retrograde/tests/bad_input/rows.rs"]
mod rows;

use retrograde::DType;
use retrograde_directml::{
    BindError, BufferBinding, BufferBindingMut, DescError, FeatureLevel, ReverseSubsequencesDesc,
    Role, TensorDesc,
};
use rows::{groups, refused};

groups! {
    descriptors_are_refused: descriptors, 20;
    descriptors_together_are_refused: descriptors_together, 8;
    bindings_are_refused: bindings, 7;
}

const F32_SIZES: [u32; 4] = [1, 1, 3, 4];

fn good() -> ReverseSubsequencesDesc<'static> {
    ReverseSubsequencesDesc {
        input: TensorDesc::packed(DType::F32, &F32_SIZES),
        sequence_lengths: TensorDesc::packed(DType::U32, &[1, 1, 3, 1]),
        output: TensorDesc::packed(DType::F32, &F32_SIZES),
        axis: 3,
    }
}

fn changed(
    level: FeatureLevel,
    change: impl FnOnce(&mut ReverseSubsequencesDesc<'static>),
) -> Result<(), DescError> {
    let mut desc = good();
    assert_eq!(desc.validate(FeatureLevel::L2_1), Ok(()));
    change(&mut desc);
    desc.compile(level).map(|_| ())
}

fn descriptors() {
    use DescError::*;
    use FeatureLevel::*;
    refused! {
        changed(L5_0, |d| d.input.tensor_type = 0)
            => NotABuffer { tensor: Role::Input, tensor_type: 0 },
            "ReverseSubsequences: InputTensor.Type is 0, expected 1 (DML_TENSOR_TYPE_BUFFER)";
        changed(L5_0, |d| d.sequence_lengths.flags = 6)
            => UnknownFlags { tensor: Role::SequenceLengths, flags: 6 },
            "ReverseSubsequences: SequenceLengthsTensor.Flags is 0x6, expected 0 (NONE) or 1 (OWNED_BY_DML)";
        changed(L5_0, |d| d.output.flags = 1) => OutputOwnedByDml,
            "ReverseSubsequences: OutputTensor.Flags is OWNED_BY_DML, which only inputs may have";
    }
    assert_eq!(changed(L5_0, |d| d.input.flags = 1), Ok(()));
    refused! {
        changed(L4_0, |d| d.input = TensorDesc::packed(DType::F64, &F32_SIZES))
            => DataType { tensor: Role::Input, data_type: 9, .. },
            "ReverseSubsequences: InputTensor.DataType is 9 (FLOAT64), feature level 4.0 allows \
            FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8";
        changed(L5_0, |d| d.input = TensorDesc::packed(DType::BF16, &F32_SIZES))
            => DataType { data_type: 0, .. },
            "ReverseSubsequences: InputTensor.DataType is 0 (UNKNOWN), feature level 5.0 allows \
            FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, UINT8";
        changed(L4_0, |d| d.sequence_lengths = TensorDesc::packed(DType::U64, &[1, 1, 3, 1]))
            => DataType { tensor: Role::SequenceLengths, .. },
            "ReverseSubsequences: SequenceLengthsTensor.DataType is 10 (UINT64), feature level 4.0 allows UINT32";
        changed(L5_0, |d| d.sequence_lengths = TensorDesc::packed(DType::I64, &[1, 1, 3, 1]))
            => DataType { tensor: Role::SequenceLengths, .. },
            "ReverseSubsequences: SequenceLengthsTensor.DataType is 11 (INT64), feature level 5.0 allows UINT64, UINT32";
        changed(L2_1, |d| d.input = TensorDesc::packed(DType::F32, &[1, 1, 1, 3, 4]))
            => DimensionCount { count: 5, .. },
            "ReverseSubsequences: InputTensor.DimensionCount is 5, feature level 2.1 allows 4 to 4";
        changed(L3_0, |d| d.input = TensorDesc::packed(DType::F32, &[3, 4]))
            => DimensionCount { count: 2, .. },
            "ReverseSubsequences: InputTensor.DimensionCount is 2, feature level 3.0 allows 4 to 5";
        changed(L5_0, |d| d.output = TensorDesc::packed(DType::F32, &[1; 9]))
            => DimensionCount { tensor: Role::Output, count: 9, .. },
            "ReverseSubsequences: OutputTensor.DimensionCount is 9, feature level 5.0 allows 1 to 8";
        changed(L5_0, |d| d.input = TensorDesc::packed(DType::F32, &[]))
            => DimensionCount { count: 0, .. },
            "ReverseSubsequences: InputTensor.DimensionCount is 0, feature level 5.0 allows 1 to 8";
        changed(L5_0, |d| d.input = TensorDesc::strided(DType::F32, &F32_SIZES, &[4, 1]))
            => StrideCount { strides: 2, count: 4, .. },
            "ReverseSubsequences: InputTensor has 2 strides for 4 dimensions";
        changed(L5_0, |d| d.input = TensorDesc::strided(DType::F32, &F32_SIZES, &[1]))
            => StrideCount { strides: 1, count: 4, .. },
            "ReverseSubsequences: InputTensor has 1 stride for 4 dimensions";
        changed(L5_0, |d| d.input = TensorDesc::packed(DType::F32, &[1, 0, 3, 4]))
            => ZeroSize { dimension: 1, .. },
            "ReverseSubsequences: InputTensor.Sizes[1] is 0, expected at least 1";
        changed(L5_0, |d| d.input = TensorDesc::packed(DType::U8, &[1, 1, 1 << 16, 1 << 16]))
            => TooManyElements { .. },
            "ReverseSubsequences: InputTensor.Sizes [1, 1, 65536, 65536] have more than 4294967295 elements";
        changed(L5_0, |d| d.input = TensorDesc::packed(DType::U8, &[u32::MAX; 8]))
            => TooManyElements { .. },
            format!(
                "ReverseSubsequences: InputTensor.Sizes {:?} have more than 4294967295 elements",
                [u32::MAX; 8]
            );
        changed(L5_0, |d| d.input.base_offset_alignment = 24)
            => Alignment { alignment: 24, element_size: 4, .. },
            "ReverseSubsequences: InputTensor.GuaranteedBaseOffsetAlignment is 24, expected 0 or a power of two of at least 4";
        changed(L5_0, |d| d.output.base_offset_alignment = 2)
            => Alignment { tensor: Role::Output, alignment: 2, .. },
            "ReverseSubsequences: OutputTensor.GuaranteedBaseOffsetAlignment is 2, expected 0 or a power of two of at least 4";
        changed(L5_0, |d| d.input.total_size_in_bytes = 47)
            => TotalSizeTooSmall { total: 47, minimum: 48, .. },
            "ReverseSubsequences: InputTensor.TotalTensorSizeInBytes is 47, sizes and strides need at least 48";
    }
    // 65536 * 65536 elements apart: the index of the last element needs more than 32 bits.
    refused! {
        changed(L5_0, |d| {
            d.input = TensorDesc {
                total_size_in_bytes: 48,
                ..TensorDesc::strided(DType::F32, &[1, 1, 3, 4], &[0, 0, u32::MAX, u32::MAX])
            }
        }) => TotalSizeTooSmall { .. },
            "ReverseSubsequences: InputTensor.TotalTensorSizeInBytes is 48, sizes and strides need at least 85899345904";
    }
}

fn descriptors_together() {
    use DescError::*;
    use FeatureLevel::*;
    refused! {
        changed(L4_0, |d| d.sequence_lengths = TensorDesc::packed(DType::U32, &[3, 1]))
            => DimensionCountMismatch { tensor: Role::SequenceLengths, count: 2, input: 4 },
            "ReverseSubsequences: SequenceLengthsTensor.DimensionCount is 2, expected that of InputTensor, 4";
        changed(L4_0, |d| d.output = TensorDesc::packed(DType::F32, &[3, 4]))
            => DimensionCountMismatch { tensor: Role::Output, .. },
            "ReverseSubsequences: OutputTensor.DimensionCount is 2, expected that of InputTensor, 4";
        changed(L5_0, |d| d.axis = 4) => AxisOutOfRange { axis: 4, dimension_count: 4 },
            "ReverseSubsequences: Axis is 4, expected less than DimensionCount 4";
        changed(L5_0, |d| d.axis = u32::MAX) => AxisOutOfRange { .. },
            "ReverseSubsequences: Axis is 4294967295, expected less than DimensionCount 4";
        changed(L5_0, |d| d.output = TensorDesc::packed(DType::I32, &F32_SIZES))
            => OutputDataType { input: 1, output: 6 },
            "ReverseSubsequences: OutputTensor.DataType is INT32 but InputTensor.DataType is FLOAT32";
        changed(L5_0, |d| d.output = TensorDesc::packed(DType::F32, &[1, 1, 4, 3]))
            => OutputSizes { .. },
            "ReverseSubsequences: OutputTensor.Sizes are [1, 1, 4, 3], expected the input's [1, 1, 3, 4]";
        changed(L5_0, |d| d.axis = 2) => LengthsSizes { .. },
            "ReverseSubsequences: SequenceLengthsTensor.Sizes are [1, 1, 3, 1], expected [1, 1, 1, 4]";
        changed(L5_0, |d| {
            d.output = TensorDesc {
                total_size_in_bytes: 48,
                ..TensorDesc::strided(DType::F32, &F32_SIZES, &[0, 0, 0, 1])
            }
        }) => OutputOverlapsItself { .. },
            "ReverseSubsequences: OutputTensor with sizes [1, 1, 3, 4] and strides [0, 0, 0, 1] places two elements on the same memory";
    }
}

fn bindings() {
    use BindError::*;
    let mut desc = good();
    desc.input.base_offset_alignment = 16;
    let operator = desc.compile(FeatureLevel::L2_1).unwrap();
    let (input, lengths) = ([0u8; 64], [0u8; 12]);
    let mut output = [3u8; 48];
    let mut run = |input: BufferBinding<'_>, size: u64| {
        let output = BufferBindingMut { buffer: &mut output, offset: 0, size };
        operator.execute(input, BufferBinding::whole(&lengths), output)
    };
    let at = |offset, size| BufferBinding { buffer: &input, offset, size };
    refused! {
        run(at(32, 48), 48)
            => OutsideBuffer { tensor: Role::Input, offset: 32, size: 48, buffer: 64 },
            "ReverseSubsequences: InputTensor is bound to 48 bytes at offset 32 of a buffer of 64 bytes";
        run(at(u64::MAX, 48), 48) => OutsideBuffer { .. },
            "ReverseSubsequences: InputTensor is bound to 48 bytes at offset 18446744073709551615 of a buffer of 64 bytes";
        run(at(64, 1), 48) => OutsideBuffer { size: 1, .. },
            "ReverseSubsequences: InputTensor is bound to 1 byte at offset 64 of a buffer of 64 bytes";
        run(at(0, 1), 48) => TooSmall { tensor: Role::Input, size: 1, total: 48 },
            "ReverseSubsequences: InputTensor is bound to 1 byte, its TotalTensorSizeInBytes is 48";
        run(at(0, 44), 48) => TooSmall { tensor: Role::Input, size: 44, total: 48 },
            "ReverseSubsequences: InputTensor is bound to 44 bytes, its TotalTensorSizeInBytes is 48";
        run(at(8, 48), 48) => Misaligned { tensor: Role::Input, offset: 8, alignment: 16 },
            "ReverseSubsequences: InputTensor is bound at offset 8, its GuaranteedBaseOffsetAlignment is 16";
        run(at(16, 48), 40) => TooSmall { tensor: Role::Output, .. },
            "ReverseSubsequences: OutputTensor is bound to 40 bytes, its TotalTensorSizeInBytes is 48";
    }
    assert_eq!(run(at(16, 48), 48), Ok(()));
}
