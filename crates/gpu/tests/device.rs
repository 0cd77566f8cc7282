//! Tests that need a device, ignored by default: `cargo test -p retrograde-gpu -- --ignored` on a
//! machine with a CUDA device (they use 20 GiB of its memory).

use cudarc::driver::{result, sys};
use retrograde::{
    Align, DType, ExecuteError, Layout, LengthPolicy, LengthsOperator, Memory, MemoryMut, Plan,
    Reverse, ReverseSegments, ReverseSequence, ReverseSubsequences, Tail, cpu,
};
use retrograde_gpu::{Cuda, CudaLengths, DeviceBuffer, Error, Kernel, Reports, Stream, kernel};
use std::sync::Arc;

fn device() -> Cuda {
    Cuda::device(0).unwrap_or_else(|error| panic!("these tests need a device: {error}"))
}

/// A byte for every position that differs from its neighbours', at any distance.
fn byte(at: usize) -> u8 {
    ((at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

fn noise(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    each_chunk(&mut bytes, |start, chunk| {
        chunk.iter_mut().enumerate().for_each(|(at, b)| *b = byte(start + at));
    });
    bytes
}

/// Processes large buffers on all cores.
fn each_chunk(bytes: &mut [u8], work: impl Fn(usize, &mut [u8]) + Sync) {
    let share = bytes.len().div_ceil(16).max(1);
    std::thread::scope(|scope| {
        for (number, chunk) in bytes.chunks_mut(share).enumerate() {
            let work = &work;
            scope.spawn(move || work(number * share, chunk));
        }
    });
}

/// Compares with a formula for the source of every byte.
fn assert_from(got: &mut [u8], source: impl Fn(usize) -> usize + Sync) {
    each_chunk(got, |start, chunk| {
        for (at, &got) in chunk.iter().enumerate() {
            let want = byte(source(start + at));
            assert_eq!(got, want, "byte {} comes from {}", start + at, source(start + at));
        }
    });
}

const BIG: usize = (1 << 32) + (1 << 28) + 7;

#[test]
#[ignore = "needs a CUDA device"]
fn more_than_4_gib_flips_apart_and_in_place() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let layout = Layout::dense(DType::U8, &[BIG]).unwrap();
    let plan = Reverse::all().plan(&layout, &layout).unwrap();
    let input = DeviceBuffer::from_host(&cuda, &noise(BIG)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, BIG).unwrap();
    stream.execute(&plan, input.view(), None, output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    assert_from(&mut output.to_vec().unwrap(), |at| BIG - 1 - at);
    stream.execute_in_place(&plan, None, output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    assert_from(&mut output.to_vec().unwrap(), |at| at);
}

/// Flips whose output is counted in 64 bits from 2 GiB on, and rows so long that their lengths
/// split them by segments.
#[test]
#[ignore = "needs a CUDA device"]
fn more_than_4_gib_of_words_and_vectors() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let input = DeviceBuffer::from_host(&cuda, &noise(BIG)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, BIG).unwrap();
    for (width, columns) in [(4, 30_001), (8, 20_003), (12, 10_007)] {
        let rows = BIG / (width * columns);
        let layout = Layout::dense(DType::Bytes(width), &[rows, columns]).unwrap();
        let plan = Reverse::axes([1]).plan(&layout, &layout).unwrap();
        assert_eq!(kernel(&plan, &cuda.limits()), Kernel::DenseRows);
        stream.execute(&plan, input.view(), None, output.view_mut()).unwrap();
        stream.synchronize().unwrap();
        let mut got = output.to_vec().unwrap();
        assert_from(&mut got[..layout.byte_len()], |at| {
            let (unit, inside) = (at / width, at % width);
            (unit / columns * columns + columns - 1 - unit % columns) * width + inside
        });
    }
    let (rows, columns) = (4, (1 << 26) + 1);
    let layout = Layout::dense(DType::C128, &[rows, columns]).unwrap();
    let lengths = [columns as u64, 0, columns as u64 / 3, columns as u64 - 1];
    let lanes = Layout::dense(DType::U64, &[rows]).unwrap();
    let operator = ReverseSequence::new().time_axis(1).batch_axis(0);
    let plan = operator.plan(&layout, &lanes, &layout).unwrap();
    assert_eq!(kernel(&plan, &cuda.limits()), Kernel::StagedRows);
    let host = CudaLengths::Host(Memory::from(&lengths[..]));
    stream.execute(&plan, input.view(), Some(host), output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    let mut got = output.to_vec().unwrap();
    assert_from(&mut got[..layout.byte_len()], |at| {
        let (unit, inside) = (at / 16, at % 16);
        let (row, t) = (unit / columns, unit % columns);
        let length = lengths[row] as usize;
        (row * columns + if t < length { length - 1 - t } else { t }) * 16 + inside
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn more_than_2_to_the_31_elements_in_any_order() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let (rows, columns) = (65_537, 65_600);
    let bytes = rows * columns;
    let dense = Layout::dense(DType::U8, &[rows, columns]).unwrap();
    let turned = Layout::strided(DType::U8, &[rows, columns], &[1, rows as isize], 0).unwrap();
    let input = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, bytes).unwrap();

    let plan = Reverse::axes([0]).plan(&turned, &dense).unwrap();
    stream.execute(&plan, input.view(), None, output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    let source = |at: usize| at % columns * rows + (rows - 1 - at / columns);
    assert_from(&mut output.to_vec().unwrap(), source);

    // One length per column; columns too long for one block and for a cluster, so not staged.
    let lengths: Vec<u32> = (0..columns as u32).map(|c| c * 7 % (rows as u32 + 1)).collect();
    let lanes = Layout::dense(DType::U32, &[columns]).unwrap();
    let operator = ReverseSequence::new().time_axis(0).batch_axis(1);
    let plan = operator.plan(&dense, &lanes, &dense).unwrap();
    let host = CudaLengths::Host(Memory::from(&lengths[..]));
    stream.execute(&plan, input.view(), Some(host), output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    assert_from(&mut output.to_vec().unwrap(), |at| {
        let (t, c) = (at / columns, at % columns);
        let length = lengths[c] as usize;
        (if t < length { length - 1 - t } else { t }) * columns + c
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn more_than_2_to_the_32_packed_elements() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let count = (1usize << 33) + 5;
    let layout = Layout::dense(DType::U4, &[count]).unwrap();
    let plan = Reverse::all().plan(&layout, &layout).unwrap();
    let bytes = count.div_ceil(2);
    let input = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, bytes).unwrap();
    stream.execute(&plan, input.view(), None, output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    let nibble = |at: usize| byte(at / 2) >> (at % 2 * 4) & 15;
    each_chunk(&mut output.to_vec().unwrap(), |start, chunk| {
        for (at, &got) in chunk.iter().enumerate() {
            let first = 2 * (start + at);
            let high = if first + 1 < count { nibble(count - 2 - first) } else { 0 };
            assert_eq!(got, nibble(count - 1 - first) | high << 4, "byte {}", start + at);
        }
    });
}

/// Columns of every length that staging has to handle, by blocks and by clusters.
#[test]
#[ignore = "needs a CUDA device"]
fn long_columns_of_every_width() {
    let cuda = device();
    let sizes = [(2, 5000), (100, 333), (3000, 48), (3700, 64), (17_000, 80), (60_000, 32)];
    // So wide that blocks run in step; their number of strips is not a multiple.
    let wide = [(1900, 2083), (1800, 8205), (2000, 8208)];
    let mut seen = columns(&cuda, &[&sizes[..], &wide].concat());
    assert!(seen.contains(&Kernel::Columns) && seen.contains(&Kernel::DirectColumns));
    assert_eq!(seen.contains(&Kernel::ClusterColumns), cuda.limits().clusters);
    // As on smaller devices: shorter columns use clusters, and then are not staged.
    seen = columns(&cuda.limited(cuda.limits().at_most(20_000, true)), &sizes);
    assert_eq!(seen.contains(&Kernel::ClusterColumns), cuda.limits().clusters);
    seen = columns(&cuda.limited(cuda.limits().at_most(20_000, false)), &sizes);
    assert!(!seen.contains(&Kernel::ClusterColumns));
}

/// Blocks of short columns that run in step, as those of long ones do with more shared memory: rows
/// near and far apart. Bytes in rows of whole vectors are transposed instead.
#[test]
#[ignore = "needs a CUDA device"]
fn blocks_of_columns_keep_pace() {
    let cuda = device();
    let lesser = cuda.limited(cuda.limits().at_most(20_000, true));
    let seen = columns(&lesser, &[(200, 2101), (198, 2128), (200, 16_401)]);
    assert!(seen.contains(&Kernel::Columns));
}

/// Runs columns of these sizes (steps and columns); returns the kernels that they ran on.
fn columns(cuda: &Cuda, sizes: &[(usize, usize)]) -> Vec<Kernel> {
    let stream = cuda.stream().unwrap();
    let mut seen = Vec::new();
    for &(steps, columns) in sizes {
        for width in [1, 2, 3, 4, 6, 8, 12, 16] {
            let layout = Layout::dense(DType::Bytes(width), &[steps, columns]).unwrap();
            let lanes = Layout::dense(DType::I64, &[columns]).unwrap();
            let lengths: Vec<i64> = (0..columns as i64)
                .map(|c| [0, 1, steps as i64, c * 7919 % (steps as i64 + 1)][c as usize % 4])
                .collect();
            let plan = ReverseSequence::new().plan(&layout, &lanes, &layout).unwrap();
            seen.push(kernel(&plan, &cuda.limits()));
            let bytes = layout.byte_len();
            let input = DeviceBuffer::from_host(cuda, &noise(bytes)).unwrap();
            let device_lengths = lengths.iter().flat_map(|l| l.to_ne_bytes()).collect::<Vec<u8>>();
            let device_lengths = DeviceBuffer::from_host(cuda, &device_lengths).unwrap();
            let given = || Some(CudaLengths::from(device_lengths.view()));
            let source = |at: usize| {
                let (unit, inside) = (at / width, at % width);
                let (t, c) = (unit / columns, unit % columns);
                let length = lengths[c] as usize;
                let from = if t < length { length - 1 - t } else { t };
                (from * columns + c) * width + inside
            };
            let mut output = DeviceBuffer::allocate(cuda, bytes).unwrap();
            stream.execute(&plan, input.view(), given(), output.view_mut()).unwrap();
            stream.check().unwrap();
            assert_from(&mut output.to_vec().unwrap(), source);
            let mut memory = input;
            stream.execute_in_place(&plan, given(), memory.view_mut()).unwrap();
            stream.check().unwrap();
            assert_from(&mut memory.to_vec().unwrap(), source);
        }
    }
    seen
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
        ([1, 2048, 1 << 16], 1, DType::U8),
        ([1, 512, 1 << 16], 1, DType::F32),
        ([1, 8192, 8192], 1, DType::F32),
        ([1, 70_000, 1000], 1, DType::F32),
    ] {
        let layout = Layout::dense(dtype, &shape).unwrap();
        let batch = if shape[0] > 1 { 0 } else { 2 };
        let count = shape[batch];
        let operator = ReverseSequence::any_axes(axis as i64, batch as i64);
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
                    let lengths = Some(lengths.view().into());
                    stream.execute(&plan, input.view(), lengths, output.view_mut()).unwrap();
                }
            }
            assert!(matches!(stream.check(), Err(Error::Execute(_))), "{plan}");
            assert!(output.to_vec().unwrap().iter().all(|&b| b == 0xA5), "{plan}");
        }
    }
}

/// Transposed input, in tiles of vectors, of words, and of elements, forward and backward.
#[test]
#[ignore = "needs a CUDA device"]
fn squares_of_every_width() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    for (rows, columns) in [(128, 384), (132, 260), (131, 137)] {
        for width in [1, 2, 4, 8] {
            for axis in [0, 1] {
                let dtype = DType::Bytes(width);
                let output = Layout::dense(dtype, &[rows, columns]).unwrap();
                let strides = [1, rows as isize];
                let input = Layout::strided(dtype, &[rows, columns], &strides, 0).unwrap();
                let plan = Reverse::axes([axis]).plan(&input, &output).unwrap();
                assert_eq!(kernel(&plan, &cuda.limits()), Kernel::Tiles);
                let bytes = output.byte_len();
                let from = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
                let mut to = DeviceBuffer::allocate(&cuda, bytes).unwrap();
                stream.execute(&plan, from.view(), None, to.view_mut()).unwrap();
                stream.synchronize().unwrap();
                assert_from(&mut to.to_vec().unwrap(), |at| {
                    let (unit, inside) = (at / width, at % width);
                    let (mut row, mut column) = (unit / columns, unit % columns);
                    match axis {
                        0 => row = rows - 1 - row,
                        _ => column = columns - 1 - column,
                    }
                    (column * rows + row) * width + inside
                });
            }
        }
    }
}

fn sequence(cuda: &Cuda, policy: LengthPolicy) -> (Plan, DeviceBuffer, DeviceBuffer) {
    let layout = Layout::dense(DType::U16, &[64, 100]).unwrap();
    let lanes = Layout::dense(DType::I32, &[64]).unwrap();
    let operator = ReverseSequence::new().time_axis(1).batch_axis(0).policy(policy);
    let plan = operator.plan(&layout, &lanes, &layout).unwrap();
    let bytes = layout.byte_len();
    let input = DeviceBuffer::from_host(cuda, &noise(bytes)).unwrap();
    (plan, input, DeviceBuffer::from_host(cuda, &vec![0xEE; bytes]).unwrap())
}

fn on_device(cuda: &Cuda, lengths: &[i32]) -> DeviceBuffer {
    let bytes: Vec<u8> = lengths.iter().flat_map(|length| length.to_ne_bytes()).collect();
    DeviceBuffer::from_host(cuda, &bytes).unwrap()
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
        stream
            .execute(&plan, input.view(), Some(lengths.view().into()), output.view_mut())
            .unwrap();
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
                let view = unsafe { retrograde_gpu::DeviceMut::from_raw(at, bytes) };
                stream.execute(&plan, input.view(), Some(lengths.view().into()), view).unwrap();
                let refused = stream.check().is_err();
                assert_eq!(refused, policy == LengthPolicy::Strict);
                let got = arena.to_vec().unwrap();
                assert!(got[..guard].iter().chain(&got[guard + bytes..]).all(|&b| b == 0xA5));
                let untouched = got[guard..guard + bytes].iter().all(|&b| b == 0xA5);
                assert_eq!(untouched, refused);
                // In place, the bytes between the guards stay there or are moved within.
                arena.write(guard, &noise(bytes)).unwrap();
                // SAFETY: as above.
                let view = unsafe { retrograde_gpu::DeviceMut::from_raw(at, bytes) };
                stream.execute_in_place(&plan, Some(lengths.view().into()), view).unwrap();
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
fn two_streams_at_once_keep_apart() {
    let cuda = device();
    std::thread::scope(|scope| {
        for worker in 0..4usize {
            let cuda = &cuda;
            scope.spawn(move || {
                let stream = cuda.stream().unwrap();
                let (plan, input, mut output) = sequence(cuda, LengthPolicy::Strict);
                let mut lengths = [100; 64];
                let good = on_device(cuda, &lengths);
                lengths[worker] = 1000;
                let bad = on_device(cuda, &lengths);
                for round in 0..500 {
                    let lengths = if round % 3 == worker % 3 { &bad } else { &good };
                    let given = Some(CudaLengths::from(lengths.view()));
                    stream.execute(&plan, input.view(), given, output.view_mut()).unwrap();
                    let outcome = stream.check();
                    let limit = 100;
                    let error =
                        ExecuteError::LengthOutOfRange { ordinal: worker, value: 1000, limit };
                    let wanted =
                        if round % 3 == worker % 3 { Err(Error::Execute(error)) } else { Ok(()) };
                    assert_eq!(outcome, wanted);
                }
                let source = |at: usize| at / 200 * 200 + (99 - at % 200 / 2) * 2 + at % 2;
                assert_from(&mut output.to_vec().unwrap(), source);
            });
        }
    });
}

/// Captures what `work` launches on a stream.
fn captured(stream: &Stream, work: impl FnOnce()) -> sys::CUgraphExec {
    let raw = stream.handle() as sys::CUstream;
    // SAFETY: the stream is alive and its context is retained; the graph is instantiated once and
    // never freed, as the test ends.
    unsafe {
        let device = result::device::get(0).unwrap();
        result::ctx::set_current(result::primary_ctx::retain(device).unwrap()).unwrap();
        // Thread-local, as other tests allocate at the same time.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        result::stream::begin_capture(raw, mode).unwrap();
        work();
        let graph = result::stream::end_capture(raw).unwrap();
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        result::graph::instantiate(graph, flags).unwrap()
    }
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_graph_replays_with_new_lengths() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let (plan, input, mut output) = sequence(&cuda, LengthPolicy::Strict);
    let mut lengths = on_device(&cuda, &[100; 64]);
    // SAFETY: the buffers outlive all launches of the graph.
    let raw = unsafe {
        let view = retrograde_gpu::DeviceRef::from_raw(lengths.address(), lengths.len());
        let out = retrograde_gpu::DeviceMut::from_raw(output.address(), output.len());
        // As in PyTorch's graphs: on a stream that was not used before.
        let borrowed = cuda.borrow_stream(stream.handle()).unwrap();
        captured(&stream, || {
            borrowed.execute(&plan, input.view(), Some(view.into()), out).unwrap();
        })
    };
    let host = [100i32; 64];
    let refused = captured(&stream, || {
        let given = Some(CudaLengths::Host(Memory::from(&host[..])));
        let outcome = stream.execute(&plan, input.view(), given, output.view_mut());
        assert_eq!(outcome, Err(Error::HostLengthsInGraph));
    });
    let launch = |graph| {
        // SAFETY: graph and stream are alive.
        unsafe { result::graph::launch(graph, stream.handle() as sys::CUstream).unwrap() };
        stream.synchronize().unwrap();
    };
    launch(refused);
    for length in [100usize, 0, 37] {
        let new: Vec<u8> = [length as i32; 64].iter().flat_map(|l| l.to_ne_bytes()).collect();
        lengths.write(0, &new).unwrap();
        launch(raw);
        assert_from(&mut output.to_vec().unwrap(), |at| {
            let t = at % 200 / 2;
            let from = if t < length { length - 1 - t } else { t };
            at / 200 * 200 + from * 2 + at % 2
        });
    }
    // An invalid length leaves the previous result unchanged.
    lengths.write(0, &(-1i32).to_ne_bytes()).unwrap();
    let before = output.to_vec().unwrap();
    launch(raw);
    assert_eq!(output.to_vec().unwrap(), before);
    output.write(0, &before[..1]).unwrap();
}

#[test]
#[ignore = "needs a CUDA device"]
fn packed_elements_in_place_can_be_captured() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let layout = Layout::dense(DType::U4, &[1001]).unwrap();
    let plan = Reverse::all().plan(&layout, &layout).unwrap();
    let original = noise(501);
    let mut memory = DeviceBuffer::from_host(&cuda, &original).unwrap();
    let graph =
        captured(&stream, || stream.execute_in_place(&plan, None, memory.view_mut()).unwrap());
    for _ in 0..3 {
        // SAFETY: graph and stream are alive.
        unsafe { result::graph::launch(graph, stream.handle() as sys::CUstream).unwrap() };
    }
    stream.synchronize().unwrap();
    let nibble = |bytes: &[u8], at: usize| bytes[at / 2] >> (at % 2 * 4) & 15;
    let got = memory.to_vec().unwrap();
    for at in 0..1001 {
        assert_eq!(nibble(&got, at), nibble(&original, 1000 - at), "element {at}");
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
        let given = Some(CudaLengths::from(lengths.view()));
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
        stream
            .execute(&plan, input.view(), Some(lengths.view().into()), output.view_mut())
            .unwrap();
        assert_eq!(own.read(&reports), Ok(vec![None, told]));
        let source = |at: usize| at / 200 * 200 + (99 - at % 200 / 2) * 2 + at % 2;
        assert_from(&mut output.to_vec().unwrap(), source);
    }
    assert_eq!(silent.check(), Ok(()));
}

#[test]
#[ignore = "needs a CUDA device"]
fn buffers_that_do_not_fit_are_refused() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let layout = Layout::dense(DType::F32, &[8, 8]).unwrap();
    let plan = Reverse::axes([1]).plan(&layout, &layout).unwrap();
    let input = DeviceBuffer::allocate(&cuda, 256).unwrap();
    let mut short = DeviceBuffer::allocate(&cuda, 255).unwrap();
    let refused = |outcome: Result<(), Error>| match outcome {
        Err(Error::Execute(error)) => error,
        other => panic!("{other:?}"),
    };
    let outcome = stream.execute(&plan, input.view(), None, short.view_mut());
    let (buffer, needed, available) = ("output", 256, 255);
    assert_eq!(refused(outcome), ExecuteError::BufferTooSmall { buffer, needed, available });
    let mut both = DeviceBuffer::allocate(&cuda, 512).unwrap();
    // SAFETY: inside the buffer; the call is refused.
    let shifted = unsafe { retrograde_gpu::DeviceRef::from_raw(both.address() + 16, 256) };
    let outcome = stream.execute(&plan, shifted, None, both.view_mut());
    assert_eq!(refused(outcome), ExecuteError::Overlap);
    let outcome = stream.execute(&plan, input.view(), Some(input.view().into()), both.view_mut());
    assert_eq!(refused(outcome), ExecuteError::LengthsUnexpected);
}

/// Runs a plan out of place and in place, with lengths on the device; compares with the CPU.
fn agrees_with_the_cpu(cuda: &Cuda, stream: &Stream, plan: &Plan, lengths: &[u64]) {
    let per_byte = plan.unit().grain.per_byte();
    let bytes = plan.src().end.max(plan.dst().end).div_ceil(per_byte);
    let (before, given) = (noise(bytes), Memory::from(lengths));
    let mut expected = before.clone();
    let to = MemoryMut::from(&mut expected[..]);
    cpu::execute(plan, before[..].into(), Some(given), to).unwrap();
    let raw: Vec<u8> = lengths.iter().flat_map(|length| length.to_ne_bytes()).collect();
    let raw = DeviceBuffer::from_host(cuda, &raw).unwrap();
    let input = DeviceBuffer::from_host(cuda, &before).unwrap();
    let mut output = DeviceBuffer::from_host(cuda, &before).unwrap();
    stream.execute(plan, input.view(), Some(raw.view().into()), output.view_mut()).unwrap();
    stream.check().unwrap();
    let wrong = |got: &[u8]| got.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(wrong(&output.to_vec().unwrap()), None, "the first wrong byte: {plan}");
    if plan.fits_in_place() {
        output.write(0, &before).unwrap();
        stream.execute_in_place(plan, Some(raw.view().into()), output.view_mut()).unwrap();
        stream.check().unwrap();
        assert_eq!(wrong(&output.to_vec().unwrap()), None, "in place, the first one: {plan}");
    }
}

/// Segments of every size, some of them empty, with and without a rest.
#[test]
#[ignore = "needs a CUDA device"]
fn segments_of_every_width() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let mut state = 3u64;
    let mut draw = |most: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % (most as u64 + 1)
    };
    for (dtype, shape, axis) in [
        (DType::U8, &[3_000_001][..], 0),
        (DType::U16, &[5, 300_003], 1),
        (DType::F32, &[2_000_000], 0),
        (DType::F64, &[700_001], 0),
        (DType::C128, &[3, 100_000], 1),
        (DType::Bytes(3), &[500_000], 0),
        (DType::F32, &[20_000, 64], 0),
        (DType::F32, &[3, 5_000, 61], 1),
        (DType::F16, &[300, 200, 33], 0),
        (DType::U4, &[3_000_001], 0),
        (DType::U1, &[3, 400_001], 1),
    ] {
        for most in [1, 5, 70, 1_000, 30_000, 10_000_000] {
            let mut offsets = vec![0];
            let mut last = 0;
            while last < shape[axis] as u64 {
                last += if draw(3) == 0 { 0 } else { draw(most) };
                offsets.push(last.min(shape[axis] as u64 - most.min(7) as u64));
            }
            offsets.sort_unstable();
            let layout = Layout::dense(dtype, shape).unwrap();
            let of = Layout::dense(DType::U64, &[offsets.len()]).unwrap();
            let plan = ReverseSegments::along(axis as i64).plan(&layout, &of, &layout).unwrap();
            agrees_with_the_cpu(&cuda, &stream, &plan, &offsets);
        }
    }
}

/// More than 4 GiB in segments, so that steps and offsets of bytes take 64 bits.
#[test]
#[ignore = "needs a CUDA device"]
fn more_than_4_gib_of_segments() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let input = DeviceBuffer::from_host(&cuda, &noise(BIG)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, BIG).unwrap();
    for width in [1, 4, 16, 1024] {
        let steps = BIG / width;
        // Two long segments, short ones of one, two, three steps, and a rest.
        let mut offsets = vec![0, steps as u64 / 2 + 3];
        offsets.extend((1..300).map(|at| steps as u64 / 2 + 3 + at * (at + 1) / 2));
        offsets.push(steps as u64 - 5);
        let layout = Layout::dense(DType::Bytes(width), &[steps]).unwrap();
        let of = Layout::dense(DType::U64, &[offsets.len()]).unwrap();
        let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
        let host = CudaLengths::Host(Memory::from(&offsets[..]));
        stream.execute(&plan, input.view(), Some(host), output.view_mut()).unwrap();
        stream.synchronize().unwrap();
        let source = |at: usize| {
            let (unit, inside) = ((at / width) as u64, at % width);
            let end = offsets.partition_point(|&offset| offset <= unit);
            match offsets.get(end) {
                Some(stop) => (offsets[end - 1] + stop - 1 - unit) as usize * width + inside,
                None => at,
            }
        };
        let mut got = output.to_vec().unwrap();
        assert_from(&mut got[..layout.byte_len()], source);
        let host = CudaLengths::Host(Memory::from(&offsets[..]));
        stream.execute_in_place(&plan, Some(host), output.view_mut()).unwrap();
        stream.synchronize().unwrap();
        let mut got = output.to_vec().unwrap();
        assert_from(&mut got[..layout.byte_len()], |at| at);
    }
}

/// So many tiles of contiguous units that a block writes several of them.
#[test]
#[ignore = "needs a CUDA device"]
fn segments_in_runs_of_tiles() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    const SIZE: usize = 200 << 20;
    let input = DeviceBuffer::from_host(&cuda, &noise(SIZE)).unwrap();
    for (width, most) in [(1, SIZE), (1, 3_000), (2, 100), (4, 70_000), (8, 900), (8, SIZE)] {
        let steps = SIZE / width;
        let mut offsets = vec![0u64];
        while *offsets.last().unwrap() < steps as u64 {
            let last = *offsets.last().unwrap();
            let more = 1 + usize::from(byte(offsets.len())) * most / 256;
            offsets.push((last + more as u64).min(steps as u64));
        }
        let layout = Layout::dense(DType::Bytes(width), &[steps]).unwrap();
        let of = Layout::dense(DType::U64, &[offsets.len()]).unwrap();
        let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
        let source = |at: usize| {
            let (unit, inside) = ((at / width) as u64, at % width);
            let end = offsets.partition_point(|&offset| offset <= unit);
            (offsets[end - 1] + offsets[end] - 1 - unit) as usize * width + inside
        };
        for _ in 0..3 {
            let mut output = DeviceBuffer::from_host(&cuda, &vec![7; SIZE]).unwrap();
            let host = CudaLengths::Host(Memory::from(&offsets[..]));
            stream.execute(&plan, input.view(), Some(host), output.view_mut()).unwrap();
            stream.synchronize().unwrap();
            assert_from(&mut output.to_vec().unwrap(), source);
        }
    }
}

/// Lengths at both ends of an axis; the rest stays or becomes zero, in every kind of kernel.
#[test]
#[ignore = "needs a CUDA device"]
fn aligned_ends_and_zero_tails_of_every_kind() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    for (dtype, shape, axis) in [
        (DType::F32, &[300, 8_192][..], 1),
        (DType::U8, &[300, 8_192], 1),
        (DType::U8, &[3_000, 100], 1),
        (DType::U8, &[300, 1_001], 1),
        (DType::F32, &[300, 8_191], 1),
        (DType::Bytes(3), &[300, 2_001], 1),
        (DType::Bytes(5), &[300, 2_001], 1),
        (DType::C128, &[300, 500], 1),
        (DType::F32, &[90, 50, 64], 1),
        (DType::F32, &[90, 50, 63], 1),
        (DType::F32, &[90, 50, 511], 1),
        (DType::F32, &[2_000, 640], 0),
        (DType::U8, &[3_000, 640], 0),
        (DType::F32, &[16_384, 64], 0),
        (DType::U16, &[70_000, 33], 0),
        (DType::U8, &[9_000, 3], 0),
        (DType::U4, &[500, 2_003], 1),
        (DType::U1, &[500, 333], 0),
        (DType::F32, &[700, 1], 1),
    ] {
        let layout = Layout::dense(dtype, shape).unwrap();
        let mut lanes = shape.to_vec();
        lanes[axis] = 1;
        let lanes = Layout::dense(DType::U64, &lanes).unwrap();
        let given = |at: u64| at.wrapping_mul(0x9E37_79B9) % (shape[axis] as u64 + 1);
        let given: Vec<u64> = (0..lanes.len() as u64).map(given).collect();
        for align in [Align::Start, Align::End] {
            for tail in [Tail::Keep, Tail::Zero] {
                let operator = ReverseSubsequences::along(axis as i64).align(align).tail(tail);
                let plan = operator.plan(&layout, &lanes, &layout).unwrap();
                agrees_with_the_cpu(&cuda, &stream, &plan, &given);
            }
        }
    }
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
                let view = Some(offsets.view().into());
                stream.execute(&plan, input.view(), view, output.view_mut()).unwrap();
            }
            let value = value.into();
            let error = ExecuteError::OffsetOutOfRange { ordinal: at, value, low, high };
            assert_eq!(stream.check(), Err(Error::Execute(error.clone())), "{plan}");
            stream.execute_in_place(&plan, Some(bad.view().into()), output.view_mut()).unwrap();
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
                let view = || unsafe { retrograde_gpu::DeviceMut::from_raw(at, bytes) };
                let given = || Some(offsets.view().into());
                clamping.execute(&plan, input.view(), given(), view()).unwrap();
                clamping.execute_in_place(&plan, given(), view()).unwrap();
                clamping.synchronize().unwrap();
                let got = arena.to_vec().unwrap();
                assert!(got[..guard].iter().chain(&got[guard + bytes..]).all(|&b| b == 0xA5));
            }
        }
    }
}
