//! Slices and buffers that do not fit the call, and lengths found bad when it runs.

use crate::{HUGE, dense, refused};
use retrograde::{
    DType, Error, ExecuteError, Layout, LengthsOperator, Memory, MemoryMut, Operator, Reverse,
    ReverseSequence, TensorMut, TensorRef, cpu,
};

pub(crate) fn slices() {
    use Error::*;
    let mut out = [7u16; 6];
    refused!(
        Reverse::all().run_slice(&[1u16; 5], &mut out, &[2, 3]),
        Argument { operator: Operator::Reverse, argument: "input", .. },
        "Reverse: input: shape [2, 3] has 6 elements but the slice has 5"
    );
    refused!(
        Reverse::all().run_slice(&[1u16; 6], &mut out[..5], &[2, 3]),
        Argument { argument: "output", .. },
        "Reverse: output: shape [2, 3] of bytes2 takes 12 bytes but the buffer has 10"
    );
    assert_eq!(out, [7; 6]);
    refused!(
        Reverse::all().to_vec(&[1u16; 6], &[HUGE, HUGE]),
        Argument { argument: "input", .. },
        format!(
            "Reverse: input: shape [{HUGE}, {HUGE}] of bytes2 needs more than {} bytes",
            isize::MAX
        )
    );
    let mut words = ["a", "b"].map(String::from);
    refused!(
        Reverse::all().run_slice_in_place(&mut words, &[3]),
        Argument { argument: "input", .. },
        "Reverse: input: shape [3] has 3 elements but the slice has 2"
    );
    refused!(
        ReverseSequence::new().lengths(&[2]).run_slice_in_place(&mut words, &[1, 1]),
        Argument { operator: Operator::ReverseSequence, .. },
        "ReverseSequence: input: shape [1, 1] has 1 element but the slice has 2"
    );
    refused!(
        Reverse::axes([4]).to_vec_cloned(&words, &[2]),
        AxisOutOfRange { .. },
        "Reverse: axes[0] is 4, outside [-1, 0] for a tensor of rank 1"
    );
    refused!(
        Reverse::all().to_vec(&[(); 3], &[2]),
        Argument { .. },
        "Reverse: input: shape [2] has 2 elements but the slice has 3"
    );
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
    refused!(
        cpu::execute(&flip, Memory::from(&input[..5]), None, (&mut output[..]).into()),
        BufferTooSmall { buffer: "input", needed: 24, available: 20 },
        "the input buffer has 20 bytes but the plan reaches 24"
    );
    refused!(
        cpu::execute(&flip, source(), None, (&mut output[1..]).into()),
        BufferTooSmall { buffer: "output", .. },
        "the output buffer has 20 bytes but the plan reaches 24"
    );
    refused!(
        cpu::execute(&sequence, source(), Some((&values[1..]).into()), (&mut output[..]).into()),
        BufferTooSmall { buffer: "lengths", .. },
        "the lengths buffer has 16 bytes but the plan reaches 24"
    );
    refused!(
        cpu::execute(&sequence, source(), None, (&mut output[..]).into()),
        LengthsMissing,
        "the plan needs lengths but none were given"
    );
    refused!(
        cpu::execute(&flip, source(), Some((&values[..]).into()), (&mut output[..]).into()),
        LengthsUnexpected,
        "lengths were given but the plan reverses whole axes"
    );
    let bad = [0i64, 0, 3];
    refused!(
        cpu::execute(&sequence, source(), Some((&bad[..]).into()), (&mut output[..]).into()),
        LengthOutOfRange { ordinal: 2, value: 3, limit: 2 },
        "length number 2 (in row-major order) is 3, outside [0, 2]"
    );
    refused!(
        cpu::execute_in_place(&sequence, Some((&bad[..]).into()), (&mut output[..]).into()),
        LengthOutOfRange { ordinal: 2, .. },
        "length number 2 (in row-major order) is 3, outside [0, 2]"
    );
    let columns = Layout::strided(DType::F32, &[2, 3], &[1, 2], 0).unwrap();
    let transpose = Reverse::all().plan(&columns, &x).unwrap();
    refused!(
        cpu::execute_in_place(&transpose, None, (&mut output[..]).into()),
        NotInPlace,
        "this plan moves between two different layouts: it cannot run in place"
    );
    assert_eq!(output, [5.0; 6]);

    let mut packed = [std::mem::MaybeUninit::<u8>::uninit(); 2];
    let part = Layout::strided(DType::U4, &[3], &[1], 1).unwrap();
    let mut dst = TensorMut::new(part, &mut packed[..]).unwrap();
    let src = TensorRef::dense(DType::U4, &[1u8, 2][..], &[3]).unwrap();
    refused!(
        Reverse::all().run(&src, &mut dst),
        Error::Execute { source: Uninitialised, .. },
        "Reverse: the output's packed elements share bytes with their neighbours: it must be initialised memory"
    );
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
    refused!(
        cpu::execute(&flip, first, None, second()),
        Overlap,
        "input and output overlap without being the same view: use separate memory, or the very same view to work in place"
    );
    let other = [0.0f32; 6];
    // SAFETY: as above.
    let lengths = unsafe { Memory::from_raw(base.add(8), 24) };
    refused!(
        cpu::execute(&sequence, Memory::from(&other[..]), Some(lengths), second()),
        LengthsOverlap,
        "lengths and output overlap: the lengths would change while they are read"
    );
    assert_eq!(buffer, before);
}
