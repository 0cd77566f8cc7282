//! Slices and buffers that do not fit the call, and lengths found bad when it runs.

use crate::{HUGE, dense, refused};
use retrograde::{
    DType, Error, ExecuteError, Layout, LengthPolicy, Lengths, LengthsMemory, LengthsOperator,
    Memory, MemoryMut, Operator, Prepared, Reversal, Reverse, ReverseSegments, ReverseSequence,
    TensorMut, TensorRef, cpu,
};

pub(crate) fn slices() {
    use Error::*;
    let mut out = [7u16; 6];
    refused! {
        Reverse::all().apply(&[1u16; 5], &mut out, &[2, 3])
            => Argument { operator: Operator::Reverse, argument: "input", .. },
            "Reverse: input: shape [2, 3] has 6 elements but the slice has 5";
        Reverse::all().apply(&[1u16; 6], &mut out[..5], &[2, 3])
            => Argument { argument: "output", .. },
            "Reverse: output: shape [2, 3] of bytes2 takes 12 bytes but the buffer has 10";
    }
    assert_eq!(out, [7; 6]);
    refused! {
        Reverse::all().to_vec(&[1u16; 6], &[HUGE, HUGE]) => Argument { argument: "input", .. },
            format!(
                "Reverse: input: shape [{HUGE}, {HUGE}] of bytes2 needs more than {} bytes",
                isize::MAX
            );
    }
    let mut words = ["a", "b"].map(String::from);
    refused! {
        Reverse::all().in_place(&mut words, &[3]) => Argument { argument: "input", .. },
            "Reverse: input: shape [3] has 3 elements but the slice has 2";
        ReverseSequence::new().lengths(&[2]).in_place(&mut words, &[1, 1])
            => Argument { operator: Operator::ReverseSequence, .. },
            "ReverseSequence: input: shape [1, 1] has 1 element but the slice has 2";
        Reverse::axes([4]).to_vec_cloned(&words, &[2]) => AxisOutOfRange { .. },
            "Reverse: axes[0] is 4, outside [-1, 0] for a tensor of rank 1";
        Reverse::all().to_vec(&[(); 3], &[2]) => Argument { .. },
            "Reverse: input: shape [2] has 2 elements but the slice has 3";
    }
}

pub(crate) fn plans() {
    use ExecuteError::*;
    let (x, lengths) = (dense(DType::F32, &[2, 3]), dense(DType::I64, &[3]));
    let flip = Reverse::all().plan(&x, &x).unwrap();
    let sequence = ReverseSequence::new().plan(&x, &lengths, &x).unwrap();
    let input = [1f32; 6];
    let mut output = [5f32; 6];
    let source = || Memory::from(&input[..]);
    let values = [2i64, 2, 2];
    refused! {
        cpu::execute(&flip, Memory::from(&input[..5]), None, (&mut output[..]).into())
            => BufferTooSmall { buffer: "input", needed: 24, available: 20 },
            "the input buffer has 20 bytes but the plan reaches 24";
        cpu::execute(&flip, source(), None, (&mut output[1..]).into())
            => BufferTooSmall { buffer: "output", .. },
            "the output buffer has 20 bytes but the plan reaches 24";
        cpu::execute(&sequence, source(), Some((&values[1..]).into()), (&mut output[..]).into())
            => BufferTooSmall { buffer: "lengths", .. },
            "the lengths buffer has 16 bytes but the plan reaches 24";
        cpu::execute(&sequence, source(), None, (&mut output[..]).into()) => LengthsMissing,
            "the plan needs lengths but none were given";
        cpu::execute(&flip, source(), Some((&values[..]).into()), (&mut output[..]).into())
            => LengthsUnexpected,
            "lengths were given but the plan reverses whole axes";
    }
    // As many bytes as three of the planned type, and one of the width that it has.
    for (given, dtype) in [
        (LengthsMemory::from(&[1i32, 2, 0, 0, 0, 0]), DType::I32),
        (LengthsMemory::from(&[1u64, 2, 0]), DType::U64),
    ] {
        let text = format!(
            "the lengths are of type {dtype}, but the plan was made for i64: convert them to i64, or plan for {dtype}"
        );
        let given = Some(given);
        refused! {
            cpu::execute(&sequence, source(), given, (&mut output[..]).into())
                => LengthsType { values: "lengths", planned: DType::I64, .. },
                text;
            cpu::execute_in_place(&sequence, given, (&mut output[..]).into()) => LengthsType { .. },
                text;
            cpu::Checked::new(&sequence, given) => LengthsType { .. }, text;
        }
    }
    let bad = [0i64, 0, 3];
    refused! {
        cpu::execute(&sequence, source(), Some((&bad[..]).into()), (&mut output[..]).into())
            => LengthOutOfRange { ordinal: 2, value: 3, limit: 2 },
            "length number 2 (in row-major order) is 3, outside [0, 2]";
        cpu::execute_in_place(&sequence, Some((&bad[..]).into()), (&mut output[..]).into())
            => LengthOutOfRange { ordinal: 2, .. },
            "length number 2 (in row-major order) is 3, outside [0, 2]";
    }
    let columns = Layout::strided(DType::F32, &[2, 3], &[1, 2], 0).unwrap();
    let transpose = Reverse::all().plan(&columns, &x).unwrap();
    refused! {
        cpu::execute_in_place(&transpose, None, (&mut output[..]).into()) => NotInPlace,
            "this plan moves between two different layouts: it cannot run in place";
    }
    assert_eq!(output, [5.0; 6]);

    let mut packed = [std::mem::MaybeUninit::<u8>::uninit(); 2];
    let part = Layout::strided(DType::U4, &[3], &[1], 1).unwrap();
    let mut dst = TensorMut::new(part, MemoryMut::uninit(&mut packed)).unwrap();
    let src = TensorRef::dense(DType::U4, &[1u8, 2][..], &[3]).unwrap();
    refused! {
        Reverse::all().apply_view(&src, &mut dst) => Error::Execute { source: Uninitialised, .. },
            "Reverse: the output's packed elements share bytes with their neighbours: it must be initialised memory";
    }
}

/// Lengths of the next batch that are not what the call was prepared for.
pub(crate) fn prepared() {
    let x = dense(DType::U8, &[2, 4]);
    let rows = ReverseSequence::new().time_axis(1).batch_axis(0).policy(LengthPolicy::Clamp);
    let prepared = rows.lengths(&[4i64, 2]).prepare(&x, &x).unwrap();
    let next = || prepared.clone();
    refused! {
        next().with_lengths(&[4i32, 2, 0, 0]) => Error::LengthsCount { got: 4, expected: 2, .. },
            "ReverseSequence: 4 lengths given, expected 2, one per lane of shape [2]";
        next().with_lengths(Lengths::flat(DType::F64, &[4f64, 2.0]))
            => Error::LengthsType { dtype: DType::F64, .. },
            "ReverseSequence: lengths have type f64, expected an integer type (i8 ... u64)";
        next().with_lengths(TensorRef::from_slice(&[4f32, 2.0], &[2]).unwrap())
            => Error::LengthsType { dtype: DType::F32, .. },
            "ReverseSequence: lengths have type f32, expected an integer type (i8 ... u64)";
        next().with_lengths(&[4i64, 2, 1]) => Error::LengthsCount { got: 3, expected: 2, .. },
            "ReverseSequence: 3 lengths given, expected 2, one per lane of shape [2]";
    }
    let table = [4i64, 9, 2];
    let every_other = Layout::strided(DType::I64, &[2], &[2], 0).unwrap();
    let every_other = TensorRef::new(every_other, &table).unwrap();
    refused! {
        next().with_lengths(&every_other) => Error::PreparedLengths { values: "lengths", .. },
            "ReverseSequence: lengths have shape [2], strides [16] and offset 0 (in bytes), but the call was prepared for shape [2], strides [8] and offset 0 (in bytes): prepare it again";
    }
    // Prepared for such a view, it takes others of that layout, and no dense ones.
    let strided = rows.lengths(&every_other).prepare(&x, &x).unwrap();
    let mut y = [0u8; 8];
    strided.clone().with_lengths(&every_other).unwrap().run(b"abcdefgh", &mut y).unwrap();
    assert_eq!(&y, b"dcbafegh");
    assert!(strided.with_lengths(&[4i64, 2]).is_err());

    let pieces = ReverseSegments::along(1).offsets(&[0i32, 1, 4]).prepare(&x, &x).unwrap();
    refused! {
        pieces.clone().with_lengths(Lengths::flat(DType::Bool, &[false, true]))
            => Error::OffsetsType { dtype: DType::Bool, .. },
            "ReverseSegments: offsets have type bool, expected an integer type (i8 ... u64)";
        pieces.with_lengths(&[0i32, 4]) => Error::PreparedLengths { values: "offsets", .. },
            "ReverseSegments: offsets have shape [2], strides [4] and offset 0 (in bytes), but the call was prepared for shape [3], strides [4] and offset 0 (in bytes): prepare it again";
    }
    // A plan and lengths of the caller's are compared when they run.
    let given = TensorRef::from_slice(&[4i32, 2, 0, 0], &[4]).unwrap();
    let mixed = Prepared::from_plan(Operator::ReverseSequence, next().plan().clone(), Some(given));
    let error = mixed.run(b"abcdefgh", &mut y).unwrap_err();
    assert!(matches!(error, Error::Execute { source: ExecuteError::LengthsType { .. }, .. }));
}

/// Overlap can only come from foreign pointers: one buffer, lent twice.
pub(crate) fn overlaps() {
    use ExecuteError::*;
    let (x, lengths) = (dense(DType::F32, &[2, 3]), dense(DType::I64, &[3]));
    let flip = Reverse::all().plan(&x, &x).unwrap();
    let sequence = ReverseSequence::new().plan(&x, &lengths, &x).unwrap();
    let mut buffer = [1.0f32, 2., 3., 4., 5., 6., 7., 8.];
    let before = buffer;
    let base = buffer.as_mut_ptr().cast::<u8>();
    // SAFETY: both ranges lie inside `buffer`, which nothing else touches meanwhile.
    let (first, second) =
        unsafe { (Memory::from_raw(base, 24), || MemoryMut::from_raw(base.add(8), 24, true)) };
    refused! {
        cpu::execute(&flip, first, None, second()) => Overlap,
            "input and output overlap without being the same view: use separate memory, or the very same view to work in place";
    }
    let other = [0.0f32; 6];
    // SAFETY: as above.
    let lengths = unsafe { Memory::from_raw(base.add(8), 24) };
    let lengths = LengthsMemory::new(DType::I64, lengths);
    refused! {
        cpu::execute(&sequence, Memory::from(&other[..]), Some(lengths), second())
            => LengthsOverlap,
            "lengths and output overlap: the lengths would change while they are read";
    }
    assert_eq!(buffer, before);
}

/// A bad offset among so many that threads share their check: on both sides of where their parts meet,
/// and at both ends.
pub(crate) fn many_offsets() {
    const SEGMENTS: usize = if cfg!(miri) { 300 } else { 300_000 };
    let (src, mut dst) = (vec![1u8; 2 * SEGMENTS], vec![7u8; 2 * SEGMENTS]);
    let good: Vec<u32> = (0..=SEGMENTS as u32).map(|index| 2 * index).collect();
    let rows = ReverseSegments::along(0);
    let middle = (1 << 17).min(SEGMENTS / 2);
    for at in [0, 2, middle - 1, middle, SEGMENTS] {
        for threads in [1, 3] {
            let mut offsets = good.clone();
            // One more or less than allowed.
            let (value, low) = match at {
                0 => (1, 0),
                SEGMENTS => (good[at] + 1, good[at - 1]),
                _ => (good[at - 1] - 1, good[at - 1]),
            };
            offsets[at] = value;
            let high = if at == 0 { 0 } else { 2 * SEGMENTS };
            let call = || rows.offsets(&offsets[..]).apply(&src, &mut dst, &[2 * SEGMENTS]);
            refused! {
                cpu::with_threads(threads, call) => Error::OffsetOutOfRange { .. },
                    format!("ReverseSegments: offsets[{at}] is {value}, outside [{low}, {high}]");
            }
        }
    }
    assert!(dst.iter().all(|&byte| byte == 7), "the output of a refused call");
}
