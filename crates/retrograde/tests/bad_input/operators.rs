//! Operands that the operators refuse.

use crate::{dense, refused};
use retrograde::{
    DType, Error, ExecuteError, Layout, LengthPolicy, Lengths, LengthsOperator, Operator, Orient,
    OrientEach, Orientation, Reversal, Reverse, ReverseMode, ReverseSegments, ReverseSequence,
    ReverseSubsequences, Table, Tail, TensorMut, TensorRef,
};

pub(crate) fn outputs() {
    use Error::{OutputOverlapsItself, OutputShape, OutputType};
    let (x, lengths) = (dense(DType::F32, &[2, 3]), dense(DType::I64, &[3]));
    let sequence = ReverseSequence::new();
    let lanes = ReverseSubsequences::along(0);
    refused! {
        Reverse::all().plan(&x, &dense(DType::F32, &[3, 2]))
            => OutputShape { operator: Operator::Reverse, .. },
            "Reverse: output has shape [3, 2], expected the input's shape [2, 3]";
        sequence.plan(&x, &lengths, &dense(DType::F32, &[6])) => OutputShape { .. },
            "ReverseSequence: output has shape [6], expected the input's shape [2, 3]";
        lanes.plan(&x, &dense(DType::U32, &[1, 3]), &dense(DType::F32, &[2, 3, 1]))
            => OutputShape { .. },
            "ReverseSubsequences: output has shape [2, 3, 1], expected the input's shape [2, 3]";
        Reverse::all().plan(&x, &dense(DType::I32, &[2, 3]))
            => OutputType { input: DType::F32, output: DType::I32, .. },
            "Reverse: output has type i32, expected the input's type f32";
        sequence.plan(&x, &lengths, &dense(DType::F64, &[2, 3])) => OutputType { .. },
            "ReverseSequence: output has type f64, expected the input's type f32";
    }
    let repeated = Layout::strided(DType::F32, &[2, 3], &[0, 1], 0).unwrap();
    refused! {
        Reverse::axes([]).plan(&x, &repeated) => OutputOverlapsItself { packed: false, .. },
            "Reverse: output of shape [2, 3] with strides [0, 4] (in bytes) places two elements on the same memory";
    }
    let overlapping = Layout::byte_strided(DType::F32, &[2, 3], &[12, 3], 0).unwrap();
    refused! {
        sequence.plan(&x, &lengths, &overlapping) => OutputOverlapsItself { .. },
            "ReverseSequence: output of shape [2, 3] with strides [12, 3] (in bytes) places two elements on the same memory";
    }
    let packed = Layout::strided(DType::U4, &[2, 3], &[2, 1], 0).unwrap();
    refused! {
        Reverse::all().plan(&dense(DType::U4, &[2, 3]), &packed)
            => OutputOverlapsItself { packed: true, .. },
            "Reverse: output of shape [2, 3] with strides [2, 1] (in elements) places two elements on the same memory";
    }
    // In place, the one view is the output too.
    let mut memory = [1f32, 2., 3.];
    let before = memory;
    let mut view = TensorMut::new(repeated, &mut memory[..]).unwrap();
    refused! {
        Reverse::axes([1]).in_place_view(&mut view) => OutputOverlapsItself { .. },
            "Reverse: output of shape [2, 3] with strides [0, 4] (in bytes) places two elements on the same memory";
    }
    assert_eq!(memory, before);
}

pub(crate) fn reverse() {
    use Error::*;
    let x = [1u8, 2, 3, 4, 5, 6];
    let mut out = [9u8; 6];
    let on = |operator: Reverse, out: &mut [u8]| operator.apply(&x, out, &[2, 3]);
    refused! {
        on(Reverse::axes([2]), &mut out)
            => AxisOutOfRange { value: 2, low: -2, high: 1, rank: 2, .. },
            "Reverse: axes[0] is 2, outside [-2, 1] for a tensor of rank 2";
        on(Reverse::axes([0, 1, -3]), &mut out) => AxisOutOfRange { value: -3, .. },
            "Reverse: axes[2] is -3, outside [-2, 1] for a tensor of rank 2";
        on(Reverse::axes([i64::MIN]), &mut out) => AxisOutOfRange { .. },
            format!("Reverse: axes[0] is {}, outside [-2, 1] for a tensor of rank 2", i64::MIN);
        Reverse::axes([0]).to_vec(&[1], &[]) => ScalarHasNoAxes { value: 0, .. },
            "Reverse: axes[0] is 0, but a scalar (rank 0) has no axes";
        Reverse::axes([-1]).to_vec(&[1], &[]) => ScalarHasNoAxes { value: -1, .. },
            "Reverse: axes[0] is -1, but a scalar (rank 0) has no axes";
        on(Reverse::mask([true]), &mut out) => MaskLength { len: 1, rank: 2 },
            "Reverse: the mask has 1 entry, expected 2, one per axis";
        on(Reverse::mask([false, false, true]), &mut out) => MaskLength { len: 3, rank: 2 },
            "Reverse: the mask has 3 entries, expected 2, one per axis";
    }
    assert_eq!(out, [9; 6]);
    refused! {
        "Index".parse::<ReverseMode>() => UnknownMode { .. },
            "Reverse: mode \"Index\" does not exist, expected \"index\" or \"mask\"";
        "".parse::<ReverseMode>() => UnknownMode { .. },
            "Reverse: mode \"\" does not exist, expected \"index\" or \"mask\"";
    }
    let axes = |values: &[f32]| {
        let tensor = TensorRef::from_slice(values, &[values.len()]).unwrap();
        Reverse::from_tensor(ReverseMode::Index, &tensor)
    };
    refused! {
        axes(&[0.0]) => AxesType { dtype: DType::F32 },
            "Reverse: mode \"index\" needs axes of an integer type (i8 ... u64), got f32";
    }
    let flags = TensorRef::from_slice(&[true, false], &[2]).unwrap();
    refused! {
        Reverse::from_tensor(ReverseMode::Index, &flags) => AxesType { dtype: DType::Bool },
            "Reverse: mode \"index\" needs axes of an integer type (i8 ... u64), got bool";
    }
    let bytes = TensorRef::from_slice(&[1u8, 0], &[2]).unwrap();
    refused! {
        Reverse::from_tensor(ReverseMode::Mask, &bytes) => MaskType { dtype: DType::U8 },
            "Reverse: mode \"mask\" needs a bool tensor, got u8";
    }
    let square = TensorRef::from_slice(&[0i64; 4], &[2, 2]).unwrap();
    refused! {
        Reverse::from_tensor(ReverseMode::Index, &square) => AxesRank { .. },
            "Reverse: axes must be a 1-D tensor, got shape [2, 2]";
    }
    let scalar = TensorRef::from_slice(&[1i8], &[]).unwrap();
    refused! {
        Reverse::from_tensor(ReverseMode::Index, &scalar) => AxesRank { .. },
            "Reverse: axes must be a 1-D tensor, got shape []";
    }
    let big = TensorRef::from_slice(&[u64::MAX], &[1]).unwrap();
    let big = Reverse::from_tensor(ReverseMode::Index, &big).unwrap();
    refused! {
        big.to_vec(&x, &[2, 3]) => AxisOutOfRange { .. },
            "Reverse: axes[0] is 18446744073709551615, outside [-2, 1] for a tensor of rank 2";
    }
}

pub(crate) fn reverse_sequence() {
    use Error::*;
    let x = [1u8, 2, 3, 4, 5, 6];
    let mut out = [9u8; 6];
    let mut on = |operator: ReverseSequence, lengths: &[i64]| {
        operator.lengths(lengths).apply(&x, &mut out, &[2, 3])
    };
    let (op, onnx) = (ReverseSequence::new, ReverseSequence::onnx);
    refused! {
        on(op(), &[2, 3, 1]) => LengthOutOfRange { value: 3, limit: 2, .. },
            "ReverseSequence: lengths[1] is 3, outside [0, 2]";
        on(op(), &[2, 1, -1]) => LengthOutOfRange { value: -1, .. },
            "ReverseSequence: lengths[2] is -1, outside [0, 2]";
        on(op().policy(LengthPolicy::Clamp), &[9, 9, i64::MIN]) => LengthOutOfRange { .. },
            format!("ReverseSequence: lengths[2] is {}, outside [0, 2]", i64::MIN);
        on(op(), &[0, i64::MAX, 0]) => LengthOutOfRange { .. },
            format!("ReverseSequence: lengths[1] is {}, outside [0, 2]", i64::MAX);
        on(op(), &[1, 1]) => LengthsCount { got: 2, expected: 3, .. },
            "ReverseSequence: 2 lengths given, expected 3, one per lane of shape [3]";
        on(op(), &[1]) => LengthsCount { got: 1, expected: 3, .. },
            "ReverseSequence: 1 length given, expected 3, one per lane of shape [3]";
        on(op(), &[]) => LengthsCount { got: 0, expected: 3, .. },
            "ReverseSequence: 0 lengths given, expected 3, one per lane of shape [3]";
        on(onnx().time_axis(2), &[1, 1, 1]) => SequenceAxis { argument: "time_axis", value: 2 },
            "ReverseSequence: time_axis is 2, expected 0 or 1";
        on(onnx().time_axis(1).batch_axis(-2), &[1, 1])
            => SequenceAxis { argument: "batch_axis", value: -2 },
            "ReverseSequence: batch_axis is -2, expected 0 or 1";
        on(op().batch_axis(0), &[1, 1]) => SameSequenceAxes { value: 0 },
            "ReverseSequence: time_axis and batch_axis are both 0, they must differ";
    }
    let any = |time, batch| op().time_axis(time).batch_axis(batch);
    refused! {
        on(any(2, 0), &[1, 1]) => AxisOutOfRange { value: 2, rank: 2, .. },
            "ReverseSequence: time_axis is 2, outside [-2, 1] for a tensor of rank 2";
        on(any(0, -3), &[1, 1]) => AxisOutOfRange { value: -3, rank: 2, .. },
            "ReverseSequence: batch_axis is -3, outside [-2, 1] for a tensor of rank 2";
        on(any(-1, 1), &[1, 1]) => SameSequenceAxes { value: 1 },
            "ReverseSequence: time_axis and batch_axis are both 1, they must differ";
        any(0, 0).lengths(&[1i64]).to_vec(&[1u8], &[1]) => RankTooSmall { rank: 1, .. },
            "ReverseSequence: input has rank 1, expected at least 2";
    }
    let raw = |dtype, bytes: &[u8]| op().lengths(Lengths::flat(dtype, bytes)).to_vec(&x, &[2, 3]);
    refused! {
        raw(DType::F64, &[0; 24]) => LengthsType { dtype: DType::F64, .. },
            "ReverseSequence: lengths have type f64, expected an integer type (i8 ... u64)";
        raw(DType::I32, &[0; 11]) => Argument { argument: "lengths", .. },
            "ReverseSequence: lengths: shape [3] of i32 takes 12 bytes but the buffer has 11";
    }
    let lengths = op().lengths(&[1i64]);
    refused! {
        lengths.to_vec(&[1u8], &[1]) => RankTooSmall { rank: 1, least: 2, .. },
            "ReverseSequence: input has rank 1, expected at least 2";
        lengths.to_vec(&[1u8], &[]) => RankTooSmall { rank: 0, .. },
            "ReverseSequence: input has rank 0, expected at least 2";
    }
    // An empty time axis allows only length 0.
    refused! {
        op().lengths(&[0i64, 1]).to_vec(&[0u8; 0], &[0, 2])
            => LengthOutOfRange { value: 1, limit: 0, .. },
            "ReverseSequence: lengths[1] is 1, outside [0, 0]";
    }
    let shape = |dtype, shape: &[usize]| dense(dtype, shape);
    let input = shape(DType::F32, &[2, 3]);
    refused! {
        op().plan(&input, &shape(DType::I64, &[3, 1]), &input)
            => SequenceLengthsShape { time_axis: 0, time_size: 2, batch_axis: 1, batch_size: 3, .. },
            "ReverseSequence: lengths have shape [3, 1], expected [3]: axis 1 (batch_axis) has size 3, \
             axis 0 (time_axis) has size 2";
        op().plan(&input, &shape(DType::I64, &[]), &input) => SequenceLengthsShape { .. },
            "ReverseSequence: lengths have shape [], expected [3]: axis 1 (batch_axis) has size 3, \
             axis 0 (time_axis) has size 2";
        op().plan(&input, &shape(DType::F32, &[3]), &input)
            => LengthsType { dtype: DType::F32, .. },
            "ReverseSequence: lengths have type f32, expected an integer type (i8 ... u64)";
        op().plan(&input, &shape(DType::Bool, &[3]), &input)
            => LengthsType { dtype: DType::Bool, .. },
            "ReverseSequence: lengths have type bool, expected an integer type (i8 ... u64)";
        op().plan(&input, &shape(DType::U4, &[3]), &input) => LengthsType { dtype: DType::U4, .. },
            "ReverseSequence: lengths have type u4, expected an integer type (i8 ... u64)";
    }
    let lengths = shape(DType::I64, &[3]);
    let onnx = |opset, dtype| {
        let input = shape(dtype, &[2, 3]);
        ReverseSequence::onnx().opset(opset).plan(&input, &lengths, &input)
    };
    refused! {
        onnx(9, DType::F32) => Opset { opset: 9 },
            "ReverseSequence: opset 9 does not have it, it came with opset 10";
        onnx(27, DType::BF16) => InputType { dtype: DType::BF16, .. },
            "ReverseSequence: input of type bf16 is not allowed at opset 27";
        onnx(28, DType::I4) => InputType { dtype: DType::I4, .. },
            "ReverseSequence: input of type i4 is not allowed at opset 28";
        ReverseSequence::onnx().opset(10).plan(&input, &shape(DType::I32, &[3]), &input)
            => LengthsType { dtype: DType::I32, .. },
            "ReverseSequence: lengths have type i32, expected i64";
    }
    assert!(onnx(28, DType::BF16).is_ok() && onnx(10, DType::C128).is_ok());
    assert_eq!(out, [9; 6]);
}

pub(crate) fn reverse_subsequences() {
    use Error::*;
    let x = [1u8, 2, 3, 4, 5, 6];
    let mut out = [9u8; 6];
    let mut on = |operator: ReverseSubsequences, lengths: &[u32]| {
        operator.lengths(lengths).apply(&x, &mut out, &[2, 3])
    };
    refused! {
        on(ReverseSubsequences::along(2), &[1, 1]) => AxisOutOfRange { value: 2, .. },
            "ReverseSubsequences: axis is 2, outside [-2, 1] for a tensor of rank 2";
        on(ReverseSubsequences::along(-3), &[1, 1]) => AxisOutOfRange { value: -3, .. },
            "ReverseSubsequences: axis is -3, outside [-2, 1] for a tensor of rank 2";
        on(ReverseSubsequences::along(1), &[1, 1, 1]) => LengthsCount { got: 3, expected: 2, .. },
            "ReverseSubsequences: 3 lengths given, expected 2, one per lane of shape [2, 1]";
        on(ReverseSubsequences::along(1).policy(LengthPolicy::Strict), &[3, 4])
            => LengthOutOfRange { value: 4, limit: 3, .. },
            "ReverseSubsequences: lengths[1, 0] is 4, outside [0, 3]";
        on(ReverseSubsequences::along(0).policy(LengthPolicy::Strict), &[0, 2, u32::MAX])
            => LengthOutOfRange { .. },
            "ReverseSubsequences: lengths[0, 2] is 4294967295, outside [0, 2]";
        ReverseSubsequences::along(0).lengths(&[0i8, -128, 0]).to_vec(&x, &[2, 3])
            => LengthOutOfRange { value: -128, .. },
            "ReverseSubsequences: lengths[0, 1] is -128, outside [0, 2]";
        ReverseSubsequences::along(0).lengths(&[1u32]).to_vec(&[1u8], &[])
            => ScalarHasNoAxes { .. },
            "ReverseSubsequences: axis is 0, but a scalar (rank 0) has no axes";
    }
    let input = dense(DType::F32, &[2, 3]);
    refused! {
        ReverseSubsequences::along(1).plan(&input, &dense(DType::U32, &[2]), &input)
            => LengthsShape { .. },
            "ReverseSubsequences: lengths have shape [2], expected [2, 1]";
        ReverseSubsequences::along(1).plan(&input, &dense(DType::U32, &[1, 3]), &input)
            => LengthsShape { .. },
            "ReverseSubsequences: lengths have shape [1, 3], expected [2, 1]";
        ReverseSubsequences::along(1).plan(&input, &dense(DType::F16, &[2, 1]), &input)
            => LengthsType { .. },
            "ReverseSubsequences: lengths have type f16, expected an integer type (i8 ... u64)";
    }
    assert_eq!(out, [9; 6]);
}

pub(crate) fn offsets_and_tails() {
    use Error::{OffsetOutOfRange, OffsetsShape, OffsetsType, TailOfAnyType};
    let x = [1f32, 2., 3., 4., 5., 6.];
    let rows = ReverseSegments::along(0);
    let call = |offsets: &[i64]| rows.offsets(offsets).to_vec(&x, &[6]);
    refused! {
        call(&[1, 6])
            => OffsetOutOfRange { operator: Operator::ReverseSegments, index: 0, value: 1, .. },
            "ReverseSegments: offsets[0] is 1, outside [0, 0]";
        call(&[-1]) => OffsetOutOfRange { .. }, "ReverseSegments: offsets[0] is -1, outside [0, 0]";
        call(&[0, 4, 3, 6]) => OffsetOutOfRange { index: 2, value: 3, low: 4, high: 6, .. },
            "ReverseSegments: offsets[2] is 3, outside [4, 6]";
        call(&[0, 7]) => OffsetOutOfRange { .. },
            "ReverseSegments: offsets[1] is 7, outside [0, 6]";
        call(&[0, 5, i64::MIN]) => OffsetOutOfRange { .. },
            "ReverseSegments: offsets[2] is -9223372036854775808, outside [5, 6]";
        rows.offsets(&[0, u64::MAX]).to_vec(&x, &[6]) => OffsetOutOfRange { .. },
            "ReverseSegments: offsets[1] is 18446744073709551615, outside [0, 6]";
        call(&[]) => OffsetsShape { .. },
            "ReverseSegments: offsets have shape [0], expected [n + 1] for n segments";
    }
    let square = TensorRef::from_slice(&[0i64, 1, 2, 3], &[2, 2]).unwrap();
    refused! {
        rows.offsets(square).to_vec(&x, &[6]) => OffsetsShape { .. },
            "ReverseSegments: offsets have shape [2, 2], expected [n + 1] for n segments";
        rows.offsets(Lengths::flat(DType::F32, &x[..])).to_vec(&x, &[6])
            => OffsetsType { dtype: DType::F32, .. },
            "ReverseSegments: offsets have type f32, expected an integer type (i8 ... u64)";
        rows.offsets(Lengths::flat(DType::I32, &[0u8, 0, 0][..])).to_vec(&x, &[6])
            => Error::Argument { argument: "offsets", .. },
            "ReverseSegments: offsets: shape [0] of i32 takes 0 bytes but the buffer has 3";
        ReverseSegments::along(1).offsets(&[0, 1]).to_vec(&x, &[6]) => Error::AxisOutOfRange { .. },
            "ReverseSegments: axis is 1, outside [-1, 0] for a tensor of rank 1";
    }
    // A reference has no value of zero bytes.
    let masked = ReverseSubsequences::along(0).tail(Tail::Zero);
    refused! {
        masked.lengths(&[1]).to_vec(&["a", "b"], &[2])
            => TailOfAnyType { operator: Operator::ReverseSubsequences },
            "ReverseSubsequences: a tail of zeros needs elements of a known type, not a slice of any type: use to_vec_of or views";
    }
    let mut words = ["a", "b"];
    refused! {
        masked.lengths(&[1]).in_place(&mut words, &[2]) => TailOfAnyType { .. },
            "ReverseSubsequences: a tail of zeros needs elements of a known type, not a slice of any type: use to_vec_of or views";
    }
    assert_eq!(words, ["a", "b"]);
}

pub(crate) fn orient() {
    use Error::{
        AxisOutOfRange, Execute, OrientInPlace, OrientationCount, OrientationsDiffer,
        OrientedShape, OutputOverlapsItself, OutputType, SameOrientAxes, ScalarHasNoAxes,
    };
    use Orientation::{FlipLr, Identity, Rot90, Rot270, Transverse};
    for (given, text) in [
        (Orientation::from_exif(0), "0"),
        (Orientation::from_exif(9), "9"),
        (Orientation::from_exif(i64::MIN), "-9223372036854775808"),
        ("9".parse(), "9"),
        ("".parse(), "\"\""),
        ("Rot90".parse(), "\"Rot90\""),
    ] {
        let names = "identity, fliplr, rot180, flipud, transpose, rot270, transverse, rot90";
        let expected = format!("Orient: orientation is {text}, expected 1 to 8 or one of {names}");
        assert_eq!(given.unwrap_err().to_string(), expected);
    }
    let x = [1u8, 2, 3, 4, 5, 6];
    let mut out = [9u8; 6];
    let turn = Orient::new(Rot270);
    refused! {
        turn.axes(0, 2).apply(&x, &mut out, &[2, 3])
            => AxisOutOfRange { operator: Operator::Orient, value: 2, .. },
            "Orient: axes[1] is 2, outside [-2, 1] for a tensor of rank 2";
        turn.apply(&x, &mut out, &[6]) => AxisOutOfRange { .. },
            "Orient: axes[1] is 1, outside [-1, 0] for a tensor of rank 1";
        turn.to_vec(&[1], &[]) => ScalarHasNoAxes { .. },
            "Orient: axes[0] is 0, but a scalar (rank 0) has no axes";
        turn.axes(1, -1).apply(&x, &mut out, &[2, 3]) => SameOrientAxes { axis: 1, .. },
            "Orient: axes[1] and axes[0] are both axis 1, expected different axes";
    }
    let image = dense(DType::U8, &[2, 3]);
    refused! {
        turn.plan(&image, &image) => OrientedShape { .. },
            "Orient: output has shape [2, 3], expected [3, 2] (orientation 6 (rot270))";
        turn.plan(&image, &dense(DType::I8, &[3, 2])) => OutputType { .. },
            "Orient: output has type i8, expected the input's type u8";
        turn.plan(&image, &Layout::strided(DType::U8, &[3, 2], &[0, 1], 0).unwrap())
            => OutputOverlapsItself { .. },
            "Orient: output of shape [3, 2] with strides [0, 1] (in bytes) places two elements on the same memory";
    }
    let text = "Orient: orientation 6 (rot270) exchanges rows and columns, which does not run in place: give another output";
    refused! {
        turn.in_place(&mut out, &[2, 3]) => OrientInPlace { orientation: Rot270 }, text;
        turn.in_place(&mut out[..4], &[2, 2]) => OrientInPlace { .. }, text;
        turn.to_vec_cloned(&x[..4], &[2, 2]) => OrientInPlace { .. }, text;
    }
    assert_eq!(out, [9; 6]);
    // Nothing moves.
    assert_eq!(turn.in_place(&mut [1], &[1, 1]), Ok(()));

    let batch = |orientations: &[Orientation]| OrientEach::new(orientations.iter().copied());
    refused! {
        batch(&[FlipLr]).to_vec(&x, &[3, 2, 1])
            => OrientationCount { got: 1, expected: 3, batch_axis: 0 },
            "Orient: 1 orientation given, expected 3, one for each entry of axis 0 (batch_axis)";
        batch(&[FlipLr, Identity, Rot90]).to_vec(&x, &[3, 2, 1])
            => OrientationsDiffer { position: 2, .. },
            "Orient: orientations[2] is 8 (rot90), whose result has 1 rows and 2 columns, expected 2 and 1 as for orientations[0], 2 (fliplr)";
        batch(&[Rot90, Transverse, Identity]).to_vec(&x, &[3, 2, 1])
            => OrientationsDiffer { position: 2, orientation: Identity, first: Rot90, .. },
            "Orient: orientations[2] is 1 (identity), whose result has 2 rows and 1 columns, expected 1 and 2 as for orientations[0], 8 (rot90)";
        batch(&[FlipLr; 2]).axes(0, 1).to_vec(&x, &[2, 3, 1]) => SameOrientAxes { .. },
            "Orient: batch_axis and axes[0] are both axis 0, expected different axes";
        batch(&[FlipLr; 2]).batch_axis(-4).to_vec(&x, &[2, 3, 1]) => AxisOutOfRange { .. },
            "Orient: batch_axis is -4, outside [-3, 2] for a tensor of rank 3";
        batch(&[FlipLr; 2]).plans(&dense(DType::U8, &[2, 3, 4]), &dense(DType::U8, &[2, 4, 3]))
            => OrientedShape { .. },
            "Orient: output has shape [2, 4, 3], expected [2, 3, 4] (orientation 2 (fliplr))";
    }
    // On one memory: a transpose behind a mirror writes nothing.
    let mut memory = [1u8, 2, 3, 4, 5, 6, 7, 8];
    let start = memory.as_mut_ptr();
    let on_itself = |each: OrientEach| {
        // SAFETY: both are the memory, and nothing else accesses it.
        let (src, mut dst) = unsafe {
            (
                TensorRef::from_raw(DType::U8, start, &[2, 2, 2], &[4, 2, 1]).unwrap(),
                TensorMut::from_raw(DType::U8, start, &[2, 2, 2], &[4, 2, 1]).unwrap(),
            )
        };
        each.apply_view(&src, &mut dst)
    };
    refused! {
        on_itself(batch(&[FlipLr, Rot270])) => OrientInPlace { orientation: Rot270 }, text;
    }
    assert_eq!(memory, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(on_itself(batch(&[FlipLr, Identity])), Ok(()));
    assert_eq!(memory, [2, 1, 4, 3, 5, 6, 7, 8]);
    let mut shifted = [1u8, 2, 3, 4, 5];
    let start = shifted.as_mut_ptr();
    // SAFETY: both are inside the memory, and nothing else accesses it.
    let (src, mut dst) = unsafe {
        (
            TensorRef::from_raw(DType::U8, start, &[2, 2, 1], &[2, 1, 1]).unwrap(),
            TensorMut::from_raw(DType::U8, start.add(1), &[2, 2, 1], &[2, 1, 1]).unwrap(),
        )
    };
    refused! {
        batch(&[Identity; 2]).apply_view(&src, &mut dst)
            => Execute { operator: Operator::Orient, source: ExecuteError::Overlap },
            "Orient: input and output overlap without being the same view: use separate memory, or the very same view to work in place";
    }
    assert_eq!(shifted, [1, 2, 3, 4, 5]);
}

pub(crate) fn masks() {
    use Error::{AxisOutOfRange, WhereAxes, WhereReversesBatch, WhereShape, WhereTail, WhereType};
    let x = [1u8, 2, 3, 4, 5, 6];
    let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
    refused! {
        rows.lengths(&[3, 2]).where_(&[true]).to_vec(&x, &[2, 3])
            => WhereShape { operator: Operator::ReverseSequence, .. },
            "ReverseSequence: where has shape [1], expected [2], one for each sequence";
    }
    let numbers = TensorRef::from_slice(&[1u8, 0], &[2]).unwrap();
    refused! {
        rows.lengths(&[3, 2]).where_(&numbers).to_vec(&x, &[2, 3])
            => WhereType { dtype: DType::U8, .. },
            "ReverseSequence: where has type u8, expected bool";
        rows.tail(Tail::Zero).lengths(&[3, 2]).where_(&[true, false]).to_vec_of(&x, &[2, 3])
            => WhereTail { .. },
            "ReverseSequence: where keeps what it does not reverse, tail=zero does not: use one of them";
    }
    let lanes = ReverseSubsequences::along(0).lengths(&[1, 2, 2]);
    refused! {
        lanes.where_(&[true, false]).to_vec(&x, &[2, 3])
            => WhereShape { operator: Operator::ReverseSubsequences, .. },
            "ReverseSubsequences: where has shape [2], expected [1, 3], one for each lane";
    }
    let cut = ReverseSegments::along(0);
    refused! {
        cut.offsets(&[0, 2, 6]).where_(&[true, false, true]).to_vec(&x, &[6])
            => WhereShape { operator: Operator::ReverseSegments, .. },
            "ReverseSegments: where has shape [3], expected [2], one for each segment";
    }
    let mut memory = x;
    refused! {
        cut.offsets(&[0, 4, 3]).where_(&[true, false]).in_place(&mut memory, &[6])
            => Error::OffsetOutOfRange { index: 2, value: 3, low: 4, high: 6, .. },
            "ReverseSegments: offsets[2] is 3, outside [4, 6]";
    }
    assert_eq!(memory, x);
    refused! {
        cut.marked().offsets(&[0i32, 2]).to_vec(&x, &[6])
            => Error::OffsetsType { dtype: DType::I32, .. },
            "ReverseSegments: offsets have type i32, expected i64 if marked";
        Reverse::axes([0, 1]).batch(0).where_(&[true, false]).to_vec(&x, &[2, 3])
            => WhereReversesBatch { axis: 0 },
            "Reverse: batch_axis is 0, which is reversed itself, expected another axis";
        Reverse::axes([1, 3]).batch(0).where_(&[true]).to_vec(&[0; 24], &[1, 2, 3, 4]) => WhereAxes,
            "Reverse: with where, the axes that are reversed must be neighbours in memory, on both sides: \
             reverse one axis after the other";
        Reverse::axes([1]).batch(2).where_(&[true, false]).to_vec(&x, &[2, 3])
            => AxisOutOfRange { .. },
            "Reverse: batch_axis is 2, outside [-2, 1] for a tensor of rank 2";
    }
}

pub(crate) fn tables() {
    use Error::{TableEntry, TableLength, TableOfAnyType, TableType};
    let (x, table) = (*b"ACGT", Table::dna());
    refused! {
        Table::new(&[0; 255]) => TableLength { len: 255 },
            "a table has 255 entries, expected 256 (bytes), 16 (4-bit elements) or 4 (2-bit elements)";
        Table::new(&[3, 2, 1, 4]) => TableEntry { index: 3, value: 4, bits: 2 },
            "table[3] is 4, outside [0, 3]";
    }
    let words = TensorRef::from_slice(&[1u16, 2], &[2]).unwrap();
    refused! {
        Reverse::all().table(&table).to_bytes(&words)
            => TableType { dtype: DType::U16, entries: 256, .. },
            "Reverse: a table of 256 entries is for elements of one byte (u8, i8), got u16: view them as such";
    }
    let nibbles = TensorRef::dense(DType::U4, &x[..], &[8]).unwrap();
    refused! {
        Reverse::all().table(&Table::quarters(&[3, 2, 1, 0])).to_bytes(&nibbles)
            => TableType { dtype: DType::U4, entries: 4, .. },
            "Reverse: a table of 4 entries is for elements of 2 bits (u2, i2), got u4: view them as such";
    }
    let text = "Reverse: a table needs elements of a known type, not a slice of any type: use to_bytes or views";
    refused! {
        Reverse::all().table(&table).to_vec(&x, &[4]) => TableOfAnyType { .. }, text;
        Reverse::all().table(&table).to_vec_of(&x, &[4]) => TableOfAnyType { .. }, text;
    }
    let mut memory = x;
    refused! {
        Reverse::all().table(&table).in_place(&mut memory, &[4]) => TableOfAnyType { .. }, text;
    }
    let mut view = TensorMut::from_slice(&mut memory[..], &[4]).unwrap();
    let cut = ReverseSegments::along(0).offsets(&[0, 9]);
    refused! {
        cut.table(&table).in_place_view(&mut view) => Error::OffsetOutOfRange { .. },
            "ReverseSegments: offsets[1] is 9, outside [0, 4]";
    }
    assert_eq!(memory, x);
}
