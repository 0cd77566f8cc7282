//! retrograde.h as a C program calls it.

mod operators;
mod refused;

use retrograde_c::call::*;
use retrograde_c::cuda::*;
use retrograde_c::dtype::*;
use retrograde_c::guard::*;
use retrograde_c::operator::*;
use retrograde_c::status::*;
use retrograde_c::tensor::*;
use retrograde_c::version::*;
use retrograde_c::workers::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn message() -> String {
    // SAFETY: a string of this thread, until its next failure.
    unsafe { CStr::from_ptr(retrograde_last_error()) }.to_str().expect("UTF-8").to_owned()
}

fn tensor(dtype: ElementType, shape: &[i64]) -> Tensor {
    Tensor {
        struct_bytes: size_of::<Tensor>(),
        dtype,
        stride_unit: RETROGRADE_ELEMENTS,
        element_bytes: 0,
        rank: shape.len(),
        shape: shape.as_ptr(),
        strides: null(),
        offset: 0,
    }
}

fn operator(kind: OperatorKind) -> *mut Operator {
    let mut op = null_mut();
    // SAFETY: the result can be written.
    assert_eq!(unsafe { retrograde_operator_create(kind, &mut op) }, RETROGRADE_OK);
    op
}

/// Prepares a call; the operator is destroyed.
fn prepared(
    op: *mut Operator,
    input: &Tensor,
    lengths: Option<&Tensor>,
    output: &Tensor,
) -> Result<*mut Call, (Status, String)> {
    let mut call = null_mut();
    let lengths = lengths.map_or(null(), std::ptr::from_ref);
    // SAFETY: all are valid, and the operator is destroyed once.
    let status = unsafe {
        let status = retrograde_prepare(op, input, lengths, output, &mut call);
        retrograde_operator_destroy(op);
        status
    };
    match status {
        RETROGRADE_OK => Ok(call),
        status => {
            assert!(call.is_null());
            Err((status, message()))
        }
    }
}

/// A call that flips the rows of a 2 x 3 tensor of bytes.
fn flip() -> *mut Call {
    let shape = [2, 3];
    let op = operator(RETROGRADE_REVERSE);
    // SAFETY: one axis.
    assert_eq!(unsafe { retrograde_operator_set_axes(op, &1, 1) }, RETROGRADE_OK);
    let rows = tensor(RETROGRADE_U8, &shape);
    prepared(op, &rows, None, &rows).expect("a valid call")
}

#[test]
fn the_version_is_that_of_the_package() {
    // SAFETY: a constant string.
    let version = unsafe { CStr::from_ptr(retrograde_version()) };
    assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
    assert_eq!(retrograde_abi_version(), RETROGRADE_ABI_VERSION);
}

#[test]
fn every_status_has_its_name() {
    for status in RETROGRADE_OK..=RETROGRADE_INTERNAL {
        // SAFETY: a constant string.
        let name = unsafe { CStr::from_ptr(retrograde_status_name(status)) };
        assert!(name.to_str().expect("text").starts_with("RETROGRADE_"), "{status}");
    }
    for status in [-1, RETROGRADE_INTERNAL + 1, i32::MAX] {
        // SAFETY: a constant string.
        let name = unsafe { CStr::from_ptr(retrograde_status_name(status)) };
        assert_eq!(name, c"unknown status");
    }
}

#[test]
fn messages_belong_to_threads() {
    // SAFETY: null is refused.
    unsafe { retrograde_operator_set_all_axes(null_mut()) };
    let here = message();
    assert_eq!(here, "operator is a null pointer");
    std::thread::spawn(|| {
        assert_eq!(message(), "");
        // SAFETY: null is refused.
        unsafe { retrograde_tensor_bytes(null(), null_mut()) };
        assert_eq!(message(), "tensor is a null pointer");
    })
    .join()
    .expect("the thread");
    assert_eq!(message(), here);
}

#[test]
fn a_call_runs_on_many_threads() {
    struct Shared(*mut Call);
    // SAFETY: calls are immutable.
    unsafe impl Sync for Shared {}
    let call = Shared(flip());
    let shared = &call;
    std::thread::scope(|scope| {
        for first in 0..8u8 {
            scope.spawn(move || {
                // Miri sees a race in the first calls, and takes long for each.
                for _ in 0..if cfg!(miri) { 3 } else { 200 } {
                    let input: Vec<u8> = (first..first + 6).collect();
                    let mut output = [0u8; 6];
                    // SAFETY: six bytes each.
                    let status = unsafe {
                        let (src, dst) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
                        retrograde_run(shared.0, src, 6, null(), 0, dst, 6)
                    };
                    assert_eq!(status, RETROGRADE_OK);
                    assert_eq!(output, [2, 1, 0, 5, 4, 3].map(|step| first + step));
                }
            });
        }
    });
    // SAFETY: no thread uses it any more.
    unsafe { retrograde_call_destroy(call.0) };
}

/// A team of the caller's: counts how many parts it ran, backwards, on two threads.
unsafe extern "C" fn team(context: *mut c_void, parts: usize, part: Part, job: *mut c_void) {
    /// May be sent to another thread.
    #[derive(Clone, Copy)]
    struct Sent(*mut c_void);
    // SAFETY: the job is shared by references only.
    unsafe impl Sync for Sent {}
    let (part, job) = (part.expect("a function"), &Sent(job));
    // SAFETY: the counter below.
    let ran = unsafe { &*context.cast::<AtomicUsize>() };
    let half = |from: usize, to: usize| {
        for at in (from..to).rev() {
            // SAFETY: each part once, and the job lives until this returns.
            unsafe { part(job.0, at) };
            ran.fetch_add(1, Relaxed);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| half(0, parts / 2));
        half(parts / 2, parts);
    });
}

#[test]
#[cfg_attr(
    miri,
    ignore = "a call that is large enough for two threads takes more than six minutes"
)]
fn callers_lend_threads() {
    let shape = [64, 1 << 16];
    let rows = tensor(RETROGRADE_U8, &shape);
    let op = operator(RETROGRADE_REVERSE);
    // SAFETY: one axis.
    assert_eq!(unsafe { retrograde_operator_set_axes(op, &1, 1) }, RETROGRADE_OK);
    let call = prepared(op, &rows, None, &rows).expect("a valid call");
    let bytes = 64 << 16;
    let input: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
    let ran = AtomicUsize::new(0);
    let context = (&raw const ran).cast_mut().cast();
    let workers =
        Workers { struct_bytes: size_of::<Workers>(), threads: 2, context, run: Some(team) };
    let run = |workers: *const Workers, output: &mut [u8]| {
        let (from, to) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        // SAFETY: the call and the buffers are valid.
        unsafe { retrograde_run_with(call, workers, from, bytes, null(), 0, to, bytes) }
    };
    for lent in [&raw const workers, null()] {
        let mut output = vec![0; bytes];
        assert_eq!(run(lent, &mut output), RETROGRADE_OK);
        let right = |(from, to): (&[u8], &[u8])| from.iter().eq(to.iter().rev());
        assert!(input.chunks(1 << 16).zip(output.chunks(1 << 16)).all(right));
        // A null pointer lends none.
        assert!(ran.load(Relaxed) > 1);
    }
    let parts = ran.load(Relaxed);
    for wrong in [
        Workers { struct_bytes: 8, ..workers },
        Workers { run: None, struct_bytes: workers.struct_bytes, threads: 2, context },
    ] {
        let mut output = vec![7; bytes];
        assert_eq!(run(&wrong, &mut output), RETROGRADE_BAD_ARGUMENT);
        assert!(output.iter().all(|&byte| byte == 7) && ran.load(Relaxed) == parts);
    }
    // SAFETY: destroyed once.
    unsafe { retrograde_call_destroy(call) };
}

#[test]
fn calls_describe_themselves() {
    let call = flip();
    let mut needed = 0;
    // SAFETY: the text has as many bytes as stated.
    unsafe {
        assert_eq!(retrograde_call_describe(call, null_mut(), 0, &mut needed), RETROGRADE_OK);
        let mut text = vec![1u8; needed];
        let place = text.as_mut_ptr().cast();
        assert_eq!(retrograde_call_describe(call, place, needed, null_mut()), RETROGRADE_OK);
        let text = CStr::from_bytes_with_nul(&text).expect("one zero at the end");
        let text = text.to_str().expect("UTF-8");
        assert!(text.starts_with("Reverse\n") && text.is_ascii(), "{text}");
        let mut short = [1u8; 4];
        let place = short.as_mut_ptr().cast();
        assert_eq!(retrograde_call_describe(call, place, 4, null_mut()), RETROGRADE_OK);
        assert_eq!(&short, b"Rev\0");
        retrograde_call_destroy(call);
    }
}

/// Without a device, or without the feature, there is a status and a message. With a device, the
/// conformance suite runs calls on it.
#[test]
fn cuda_says_why_it_cannot_run() {
    let mut count = 7;
    let call = flip();
    let (src, mut dst) = ([1u8; 6], [0u8; 6]);
    let (from, to) = (src.as_ptr().cast::<c_void>(), dst.as_mut_ptr().cast::<c_void>());
    // SAFETY: the places are refused; the device number too, or there is no device.
    unsafe {
        let place = retrograde_run_cuda(call, 0, null_mut(), from, 6, null(), 0, 2, to, 6);
        assert_eq!(place, RETROGRADE_BAD_ARGUMENT);
        let status = retrograde_cuda_device_count(&mut count);
        let far = usize::MAX;
        let run = retrograde_run_cuda(call, far, null_mut(), from, 6, null(), 0, 0, to, 6);
        let in_place = retrograde_run_cuda_in_place(call, far, null_mut(), null(), 0, 0, to, 6);
        let check = retrograde_cuda_check(far, null_mut());
        if cfg!(feature = "cuda") {
            assert!(matches!(status, RETROGRADE_OK | RETROGRADE_NO_DEVICE), "{status}");
            assert_eq!([run, in_place, check], [RETROGRADE_NO_DEVICE; 3], "{}", message());
            assert!(message().contains("no CUDA device"), "{}", message());
        } else {
            assert_eq!([status, run, in_place, check], [RETROGRADE_UNSUPPORTED; 4]);
            assert!(message().contains("feature `cuda`"), "{}", message());
        }
        assert!(count == 0 || status == RETROGRADE_OK);
        retrograde_call_destroy(call);
    }
    assert_eq!(dst, [0; 6]);
}
