//! Invalid and hostile lengths and offsets: what is written, and what is reported when.

use crate::common::{assert_from, device, noise, on_device};
use retrograde::{
    DType, ExecuteError, Layout, LengthPolicy, LengthsOperator, Plan, ReverseSegments,
    ReverseSequence, ReverseSubsequences,
};
use retrograde_cuda::{Cuda, CudaLengths, DeviceBuffer, Error, Reports, Stream};
use std::sync::Arc;

pub(crate) fn sequence(cuda: &Cuda, policy: LengthPolicy) -> (Plan, DeviceBuffer, DeviceBuffer) {
    let layout = Layout::dense(DType::U16, &[64, 100]).unwrap();
    let lanes = Layout::dense(DType::I32, &[64]).unwrap();
    let operator = ReverseSequence::new().time_axis(1).batch_axis(0).policy(policy);
    let plan = operator.plan(&layout, &lanes, &layout).unwrap();
    let bytes = layout.byte_len();
    let input = DeviceBuffer::from_host(cuda, &noise(bytes)).unwrap();
    (plan, input, DeviceBuffer::from_host(cuda, &vec![0xEE; bytes]).unwrap())
}

/// Kernels may start while lengths are still being checked: if only the last of many lengths is
/// invalid, nothing is written. Valid calls run in between, so that no result is left from the
/// previous call.
#[test]
#[ignore = "needs a CUDA device"]
fn a_wrong_length_stops_a_call_that_has_begun() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    // Blocks; rows of vectors, in segments and short ones; columns of bytes and words, with
    // clusters and without staging.
    for (shape, axis, dtype) in [
        ([1 << 20, 4, 16], 1, DType::F32),
        ([1 << 16, 1, 4096], 2, DType::U8),
        ([1 << 14, 1, 16_383], 2, DType::U8),
        ([1 << 20, 1, 100], 2, DType::U8),
        ([1 << 20, 1, 63], 2, DType::U8),
        ([1, 2048, 1 << 16], 1, DType::U8),
        ([1, 512, 1 << 16], 1, DType::F32),
        ([1, 8192, 8192], 1, DType::F32),
        ([1, 70_000, 1000], 1, DType::F32),
    ] {
        let layout = Layout::dense(dtype, &shape).unwrap();
        let batch = if shape[0] > 1 { 0 } else { 2 };
        let count = shape[batch];
        let operator = ReverseSequence::new().time_axis(axis as i64).batch_axis(batch as i64);
        let lengths = Layout::dense(DType::I64, &[count]).unwrap();
        let plan = operator.plan(&layout, &lengths, &layout).unwrap();
        let most = shape[axis] as i64;
        let given = |last: i64| {
            let others = (0..count as i64 - 1).map(|at| at % (most + 1));
            let bytes: Vec<u8> = others.chain([last]).flat_map(i64::to_ne_bytes).collect();
            DeviceBuffer::from_host(&cuda, &bytes).unwrap()
        };
        let bytes = layout.byte_len();
        let input = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
        let mut written = DeviceBuffer::allocate(&cuda, bytes).unwrap();
        let mut output = DeviceBuffer::from_host(&cuda, &vec![0xA5; bytes]).unwrap();
        let right = given(most);
        for wrong in [given(most + 1), given(-1)] {
            for _ in 0..10 {
                for (lengths, output) in [(&right, &mut written), (&wrong, &mut output)] {
                    let lengths = Some((DType::I64, lengths.view()).into());
                    stream.execute(&plan, input.view(), lengths, output.view_mut()).unwrap();
                }
            }
            assert!(matches!(stream.check(), Err(Error::Execute(_))), "{plan}");
            assert!(output.to_vec().unwrap().iter().all(|&b| b == 0xA5), "{plan}");
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_wrong_length_stops_its_own_call_and_is_told_later() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let (plan, input, mut output) = sequence(&cuda, LengthPolicy::Strict);
    let mut lengths = [100; 64];
    let good = on_device(&cuda, &lengths);
    (lengths[40], lengths[17]) = (101, -3);
    let bad = on_device(&cuda, &lengths);
    let run = |output: &mut DeviceBuffer, lengths: &DeviceBuffer| {
        let lengths = Some((DType::I32, lengths.view()).into());
        stream.execute(&plan, input.view(), lengths, output.view_mut()).unwrap();
    };
    run(&mut output, &bad);
    let error = ExecuteError::LengthOutOfRange { ordinal: 17, value: -3, limit: 100 };
    assert_eq!(stream.check(), Err(Error::Execute(error.clone())));
    assert_eq!(output.to_vec().unwrap(), vec![0xEE; output.len()], "nothing was written");
    assert_eq!(stream.check(), Ok(()), "told once");
    // A valid call after an invalid one runs; the first error is kept until it is read.
    run(&mut output, &bad);
    run(&mut output, &good);
    assert_eq!(stream.check(), Err(Error::Execute(error)));
    let source = |at: usize| at / 200 * 200 + (99 - at % 200 / 2) * 2 + at % 2;
    assert_from(&mut output.to_vec().unwrap(), source);
}

/// What a call has reported is found without waiting, on any stream of the device, and once.
#[test]
#[ignore = "needs a CUDA device"]
fn an_error_is_found_without_waiting() {
    let cuda = device();
    let (stream, other) = (cuda.stream().unwrap(), cuda.stream().unwrap());
    let (plan, input, mut output) = sequence(&cuda, LengthPolicy::Strict);
    let mut lengths = [100; 64];
    let good = on_device(&cuda, &lengths);
    (lengths[40], lengths[17]) = (101, -3);
    let bad = on_device(&cuda, &lengths);
    let error = |limit| ExecuteError::LengthOutOfRange { ordinal: 17, value: -3, limit };
    let mut run = |stream: &Stream, lengths: &DeviceBuffer| {
        let lengths = Some((DType::I32, lengths.view()).into());
        stream.execute(&plan, input.view(), lengths, output.view_mut()).unwrap();
        stream.synchronize().unwrap();
    };
    assert_eq!(stream.earlier(), Ok(None));
    run(&stream, &good);
    assert_eq!(stream.earlier(), Ok(None));
    for (failing, asking) in [(&stream, &stream), (&stream, &other), (&other, &stream)] {
        run(failing, &bad);
        assert_eq!(asking.earlier(), Ok(Some(error(100))));
        assert_eq!(asking.earlier(), Ok(None), "told once");
        assert_eq!(failing.check(), Ok(()), "told once");
    }
    // Each stream's error, one by one.
    run(&stream, &bad);
    run(&other, &bad);
    assert_eq!(stream.earlier(), Ok(Some(error(100))));
    assert_eq!(stream.earlier(), Ok(Some(error(100))));
    assert_eq!(stream.earlier(), Ok(None));
    // One that `check` returned is not repeated.
    run(&stream, &bad);
    assert_eq!(stream.check(), Err(Error::Execute(error(100))));
    assert_eq!(stream.earlier(), Ok(None));
    // A stream that does not stop reports, too, and writes what clamped lengths give.
    run(&stream.clamping(), &bad);
    assert_eq!(other.earlier(), Ok(Some(error(100))));
    let back = |at: usize| at / 200 * 200 + (99 - at % 200 / 2) * 2 + at % 2;
    assert_from(&mut output.to_vec().unwrap(), |at| if at / 200 == 17 { at } else { back(at) });
}

#[test]
#[ignore = "needs a CUDA device"]
fn hostile_lengths_never_lead_out_of_bounds() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state
    };
    // Columns, blocks, columns of every kind; short rows, rows in segments, and rows of vectors.
    for (shape, axis) in [
        ([40, 50, 3], 1),
        ([40, 3, 50], 0),
        ([7, 900, 33], 1),
        ([2, 7_000, 64], 1),
        ([2, 70_000, 20], 1),
        ([40, 3, 63], 2),
        ([12, 5, 900], 2),
        ([12, 5, 1024], 2),
    ] {
        for dtype in [DType::U8, DType::Bytes(3), DType::Bytes(5), DType::F32, DType::U4] {
            for policy in [LengthPolicy::Strict, LengthPolicy::Clamp] {
                let layout = Layout::dense(dtype, &shape).unwrap();
                let mut lanes = shape;
                lanes[axis] = 1;
                let lanes = Layout::dense(DType::U64, &lanes).unwrap();
                let operator = ReverseSubsequences::along(axis as i64).policy(policy);
                let plan = operator.plan(&layout, &lanes, &layout).unwrap();
                let lengths: Vec<u8> =
                    (0..lanes.len()).flat_map(|_| (next() | 1 << 63).to_ne_bytes()).collect();
                let lengths = DeviceBuffer::from_host(&cuda, &lengths).unwrap();
                let (bytes, guard) = (layout.byte_len(), 4096);
                let arena = vec![0xA5; 2 * guard + bytes];
                let mut arena = DeviceBuffer::from_host(&cuda, &arena).unwrap();
                let input = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
                let at = arena.address() + guard as u64;
                // SAFETY: inside the arena, which outlives the work.
                let view = unsafe { retrograde_cuda::DeviceMut::from_raw(at, bytes) };
                stream
                    .execute(&plan, input.view(), Some((DType::U64, lengths.view()).into()), view)
                    .unwrap();
                let refused = stream.check().is_err();
                assert_eq!(refused, policy == LengthPolicy::Strict);
                let got = arena.to_vec().unwrap();
                assert!(got[..guard].iter().chain(&got[guard + bytes..]).all(|&b| b == 0xA5));
                let untouched = got[guard..guard + bytes].iter().all(|&b| b == 0xA5);
                assert_eq!(untouched, refused);
                // In place, the bytes between the guards stay there or are moved within.
                arena.write(guard, &noise(bytes)).unwrap();
                // SAFETY: as above.
                let view = unsafe { retrograde_cuda::DeviceMut::from_raw(at, bytes) };
                stream
                    .execute_in_place(&plan, Some((DType::U64, lengths.view()).into()), view)
                    .unwrap();
                assert_eq!(stream.check().is_err(), refused);
                let got = arena.to_vec().unwrap();
                assert!(got[..guard].iter().chain(&got[guard + bytes..]).all(|&b| b == 0xA5));
                assert_eq!(got[guard..guard + bytes] == noise(bytes), refused);
            }
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn each_call_may_have_a_report_of_its_own() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let (plan, input, mut output) = sequence(&cuda, LengthPolicy::Strict);
    let reports = Arc::new(Reports::allocate(&cuda, 3).unwrap());
    for (at, length) in [(0, 5), (1, 500), (2, 100)] {
        let lengths = on_device(&cuda, &[length; 64]);
        let given = Some(CudaLengths::from((DType::I32, lengths.view())));
        let stream = stream.reporting_to(&reports, at);
        stream.execute(&plan, input.view(), given, output.view_mut()).unwrap();
        stream.synchronize().unwrap();
    }
    let error = ExecuteError::LengthOutOfRange { ordinal: 0, value: 500, limit: 100 };
    assert_eq!(stream.read(&reports).unwrap(), [None, Some(error), None]);
    assert_eq!(stream.check(), Ok(()), "none of it is the stream's");
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_clamping_stream_writes_its_output_and_tells_where_it_was_told_to() {
    let cuda = device();
    let own = cuda.stream().unwrap();
    // SAFETY: a stream of this device, which outlives the value.
    let silent = unsafe { cuda.borrow_stream_clamping(own.handle()) };
    let reports = Arc::new(Reports::allocate(&cuda, 2).unwrap());
    let telling = silent.reporting_to(&reports, 1);
    let (plan, input, mut output) = sequence(&cuda, LengthPolicy::Strict);
    let mut lengths = [100; 64];
    lengths[17] = 101;
    let lengths = on_device(&cuda, &lengths);
    let error = ExecuteError::LengthOutOfRange { ordinal: 17, value: 101, limit: 100 };
    for (stream, told) in [(&telling, Some(error)), (&silent, None)] {
        let blank = vec![0xEE; output.len()];
        output.write(0, &blank).unwrap();
        let lengths = Some((DType::I32, lengths.view()).into());
        stream.execute(&plan, input.view(), lengths, output.view_mut()).unwrap();
        assert_eq!(own.read(&reports), Ok(vec![None, told]));
        let source = |at: usize| at / 200 * 200 + (99 - at % 200 / 2) * 2 + at % 2;
        assert_from(&mut output.to_vec().unwrap(), source);
    }
    assert_eq!(silent.check(), Ok(()));
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_bad_offset_stops_its_own_call_and_is_told_later() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    // Tiles of contiguous units and of blocks, units of three bytes, and packed elements. Many
    // offsets, of which the last is bad: kernels start while these are being checked.
    let count = 1 << 20;
    for (dtype, width) in [(DType::F32, 1), (DType::F32, 16), (DType::Bytes(3), 1), (DType::U4, 1)]
    {
        let layout = Layout::dense(dtype, &[2 * count, width]).unwrap();
        let of = Layout::dense(DType::I32, &[count]).unwrap();
        let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
        let mut offsets: Vec<i32> = (0..count as i32).collect();
        let good = on_device(&cuda, &offsets);
        let bytes = layout.byte_len();
        let input = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
        let mut written = DeviceBuffer::allocate(&cuda, bytes).unwrap();
        let mut output = DeviceBuffer::from_host(&cuda, &vec![0xA5; bytes]).unwrap();
        let last = count - 1;
        for (at, value, low, high) in [
            (last, last as i32 - 2, last - 1, 2 * count),
            (last, 2 * count as i32 + 1, last - 1, 2 * count),
            (0, 1, 0, 0),
            (77, -1, 76, 2 * count),
        ] {
            let before = std::mem::replace(&mut offsets[at], value);
            let bad = on_device(&cuda, &offsets);
            for (offsets, output) in [(&good, &mut written), (&bad, &mut output)] {
                let view = Some((DType::I32, offsets.view()).into());
                stream.execute(&plan, input.view(), view, output.view_mut()).unwrap();
            }
            let value = value.into();
            let error = ExecuteError::OffsetOutOfRange { ordinal: at, value, low, high };
            assert_eq!(stream.check(), Err(Error::Execute(error.clone())), "{plan}");
            stream
                .execute_in_place(&plan, Some((DType::I32, bad.view()).into()), output.view_mut())
                .unwrap();
            assert_eq!(stream.check(), Err(Error::Execute(error)), "{plan}");
            assert!(output.to_vec().unwrap().iter().all(|&b| b == 0xA5), "{plan}");
            offsets[at] = before;
        }
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn hostile_offsets_never_lead_out_of_bounds() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    // SAFETY: the stream outlives the borrowed one.
    let clamping = unsafe { cuda.borrow_stream_clamping(stream.handle()) };
    let mut state = 5u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 20
    };
    for (dtype, shape) in [
        (DType::U8, [200_000, 1]),
        (DType::F32, [90_000, 1]),
        (DType::F64, [30_000, 1]),
        (DType::F32, [9_000, 12]),
        (DType::Bytes(5), [9_000, 3]),
        (DType::U4, [90_001, 1]),
    ] {
        for count in [1, 2, 30, 700, 30_000] {
            for most in [shape[0] as u64 + 1, u64::MAX] {
                let layout = Layout::dense(dtype, &shape).unwrap();
                let of = Layout::dense(DType::U64, &[count]).unwrap();
                let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
                let offsets: Vec<u8> =
                    (0..count).flat_map(|_| (next() % most).to_ne_bytes()).collect();
                let offsets = DeviceBuffer::from_host(&cuda, &offsets).unwrap();
                let (bytes, guard) = (layout.byte_len(), 4096);
                let input = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
                let arena = vec![0xA5; 2 * guard + bytes];
                let arena = DeviceBuffer::from_host(&cuda, &arena).unwrap();
                let at = arena.address() + guard as u64;
                // SAFETY: inside the arena, which outlives the work.
                let view = || unsafe { retrograde_cuda::DeviceMut::from_raw(at, bytes) };
                let given = || Some((DType::U64, offsets.view()).into());
                clamping.execute(&plan, input.view(), given(), view()).unwrap();
                clamping.execute_in_place(&plan, given(), view()).unwrap();
                clamping.synchronize().unwrap();
                let got = arena.to_vec().unwrap();
                assert!(got[..guard].iter().chain(&got[guard + bytes..]).all(|&b| b == 0xA5));
            }
        }
    }
}
