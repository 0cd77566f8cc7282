//! Streams beside each other, captured graphs, and buffers that do not fit.

use crate::common::{assert_from, device, noise, on_device};
use crate::lengths::sequence;
use cudarc::driver::{result, sys};
use retrograde::{
    DType, ExecuteError, Layout, LengthPolicy, LengthsOperator, Reverse, ReverseSequence,
};
use retrograde_cuda::{CudaLengths, DeviceBuffer, Error, Kernel, Stream, kernel};

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
                    let given = Some(CudaLengths::from((DType::I32, lengths.view())));
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

/// The default stream of a thread has the same handle on every thread, but is another stream.
#[test]
#[ignore = "needs a CUDA device"]
fn every_thread_has_its_own_default_stream() {
    const PER_THREAD: usize = 2;
    let cuda = device();
    let (plan, input, mut output) = sequence(&cuda, LengthPolicy::Strict);
    let bad = on_device(&cuda, &[1000; 64]);
    // SAFETY: a handle that every context has; used on this thread.
    let mine = unsafe { cuda.borrow_stream(PER_THREAD) }.unwrap();
    mine.execute(&plan, input.view(), Some((DType::I32, bad.view()).into()), output.view_mut())
        .unwrap();
    mine.synchronize().unwrap();
    // More threads than there are reports in a block.
    for _ in 0..600 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: as above.
                let stream = unsafe { cuda.borrow_stream(PER_THREAD) }.unwrap();
                assert_eq!(stream.check(), Ok(()));
            });
        });
    }
    assert!(matches!(mine.check(), Err(Error::Execute(_))));
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
        let view = retrograde_cuda::DeviceRef::from_raw(lengths.address(), lengths.len());
        let out = retrograde_cuda::DeviceMut::from_raw(output.address(), output.len());
        // As in PyTorch's graphs: on a stream that was not used before.
        let borrowed = cuda.borrow_stream(stream.handle()).unwrap();
        captured(&stream, || {
            borrowed.execute(&plan, input.view(), Some((DType::I32, view).into()), out).unwrap();
        })
    };
    let host = [100i32; 64];
    let refused = captured(&stream, || {
        let given = Some(CudaLengths::Host((&host).into()));
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
    // An invalid length leaves the previous result unchanged, and is reported, but not to a capture.
    lengths.write(0, &(-1i32).to_ne_bytes()).unwrap();
    let before = output.to_vec().unwrap();
    launch(raw);
    captured(&stream, || assert_eq!(stream.earlier(), Ok(None)));
    let error = ExecuteError::LengthOutOfRange { ordinal: 0, value: -1, limit: 100 };
    assert_eq!(stream.earlier(), Ok(Some(error)));
    assert_eq!(output.to_vec().unwrap(), before);
    output.write(0, &before[..1]).unwrap();
}

/// Without scratch memory, which a graph would have to own.
#[test]
#[ignore = "needs a CUDA device"]
fn long_columns_can_be_captured() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let (steps, columns) = (120_000, 64);
    let layout = Layout::dense(DType::F32, &[steps, columns]).unwrap();
    let lanes = Layout::dense(DType::I32, &[columns]).unwrap();
    let plan = ReverseSequence::new().plan(&layout, &lanes, &layout).unwrap();
    let chosen = kernel(&plan, &cuda.limits());
    assert!(matches!(chosen, Kernel::ScratchColumns | Kernel::ScratchColumnsWide), "{chosen:?}");
    let lengths = on_device(&cuda, &[steps as i32 / 2; 64]);
    let input = DeviceBuffer::from_host(&cuda, &noise(layout.byte_len())).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, layout.byte_len()).unwrap();
    let graph = captured(&stream, || {
        let lengths = Some((DType::I32, lengths.view()).into());
        stream.execute(&plan, input.view(), lengths, output.view_mut()).unwrap();
    });
    // SAFETY: graph and stream are alive.
    unsafe { result::graph::launch(graph, stream.handle() as sys::CUstream).unwrap() };
    stream.synchronize().unwrap();
    assert_from(&mut output.to_vec().unwrap(), |at| {
        let (t, half) = (at / (columns * 4), steps / 2);
        let from = if t < half { half - 1 - t } else { t };
        from * columns * 4 + at % (columns * 4)
    });
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
    let shifted = unsafe { retrograde_cuda::DeviceRef::from_raw(both.address() + 16, 256) };
    let outcome = stream.execute(&plan, shifted, None, both.view_mut());
    assert_eq!(refused(outcome), ExecuteError::Overlap);
    let lengths = Some((DType::I32, input.view()).into());
    let outcome = stream.execute(&plan, input.view(), lengths, both.view_mut());
    assert_eq!(refused(outcome), ExecuteError::LengthsUnexpected);
    let of = Layout::dense(DType::I64, &[8]).unwrap();
    let plan = ReverseSequence::new().plan(&layout, &of, &layout).unwrap();
    let (values, given, planned) = ("lengths", DType::I32, DType::I64);
    let outcome = stream.execute(&plan, input.view(), lengths, both.view_mut());
    assert_eq!(refused(outcome), ExecuteError::LengthsType { values, given, planned });
}
