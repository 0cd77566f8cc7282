//! retrograde.h as a C program calls it: bad input gives a status and a message, and writes
//! nothing.

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
fn null_and_misaligned_pointers_are_refused() {
    let rows = tensor(RETROGRADE_U8, &[2, 3]);
    let call = flip();
    let op = operator(RETROGRADE_REVERSE);
    let (input, mut output) = ([1u8; 6], [0u8; 6]);
    let src = input.as_ptr().cast::<c_void>();
    let dst = output.as_mut_ptr().cast::<c_void>();
    let odd = std::ptr::from_ref(&rows).cast::<u8>().wrapping_add(1).cast::<Tensor>();
    let mut result = null_mut();
    // SAFETY: pointers are valid, or are refused before they are used.
    unsafe {
        let bad = [
            retrograde_operator_create(RETROGRADE_REVERSE, null_mut()),
            retrograde_operator_set_all_axes(null_mut()),
            retrograde_operator_set_axes(op, null(), 1),
            retrograde_operator_set_mask(op, null(), 2),
            retrograde_prepare(null(), &rows, null(), &rows, &mut result),
            retrograde_prepare(op, null(), null(), &rows, &mut result),
            retrograde_prepare(op, odd, null(), &rows, &mut result),
            retrograde_prepare(op, &rows, null(), null(), &mut result),
            retrograde_prepare(op, &rows, null(), &rows, null_mut()),
            retrograde_tensor_bytes(null(), &mut 0),
            retrograde_tensor_bytes(&rows, null_mut()),
            retrograde_run(null(), src, 6, null(), 0, dst, 6),
            retrograde_run(call, null(), 6, null(), 0, dst, 6),
            retrograde_run(call, src, 6, null(), 0, null_mut(), 6),
            retrograde_run_in_place(call, null(), 0, null_mut(), 6),
            retrograde_call_describe(call, null_mut(), 5, null_mut()),
            retrograde_run_cuda(null(), 0, null_mut(), src, 6, null(), 0, 0, dst, 6),
            retrograde_cuda_device_count(null_mut()),
        ];
        assert_eq!(bad, [RETROGRADE_BAD_POINTER; 18]);
        assert!(message().contains("count is a null pointer"), "{}", message());
        retrograde_operator_destroy(op);
        retrograde_call_destroy(call);
        // Nothing to destroy.
        retrograde_operator_destroy(null_mut());
        retrograde_call_destroy(null_mut());
    }
    assert_eq!(output, [0; 6]);
}

#[test]
fn handles_of_the_wrong_kind_are_refused() {
    let call = flip();
    let op = operator(RETROGRADE_REVERSE);
    let (src, mut dst) = ([1u8; 6], [0u8; 6]);
    // SAFETY: both are objects of the library, whose tags differ.
    unsafe {
        let run = retrograde_run(
            op.cast(),
            src.as_ptr().cast(),
            6,
            null(),
            0,
            dst.as_mut_ptr().cast(),
            6,
        );
        assert_eq!(run, RETROGRADE_BAD_HANDLE);
        assert_eq!(retrograde_operator_set_all_axes(call.cast()), RETROGRADE_BAD_HANDLE);
        assert_eq!(message(), "operator is not a handle of that kind, or has been destroyed");
        // Refused, and so not freed as something that it is not.
        retrograde_operator_destroy(call.cast());
        retrograde_call_destroy(call);
        retrograde_operator_destroy(op);
    }
}

#[test]
fn unknown_values_are_refused() {
    let mut op = null_mut();
    // SAFETY: the results can be written, and operators are valid.
    unsafe {
        for kind in [0, 6, u32::MAX] {
            assert_eq!(retrograde_operator_create(kind, &mut op), RETROGRADE_BAD_ARGUMENT);
            assert!(op.is_null());
        }
        let sequence = operator(RETROGRADE_REVERSE_SEQUENCE);
        for value in [2, u32::MAX] {
            let bad = [
                retrograde_operator_set_policy(sequence, value),
                retrograde_operator_set_align(sequence, value),
                retrograde_operator_set_tail(sequence, value),
            ];
            assert_eq!(bad, [RETROGRADE_BAD_ARGUMENT; 3]);
            assert_eq!(message(), format!("tail is {value}, expected 0 or 1"));
        }
        assert_eq!(retrograde_operator_set_onnx_opset(sequence, 9), RETROGRADE_BAD_ARGUMENT);
        // Attributes that the operator does not have.
        let none = [
            retrograde_operator_set_axis(sequence, 0),
            retrograde_operator_set_axes(sequence, null(), 0),
            retrograde_operator_set_mask(sequence, null(), 0),
            retrograde_operator_set_all_axes(sequence),
            retrograde_operator_set_duplicates(sequence, 0),
        ];
        assert_eq!(none, [RETROGRADE_BAD_ARGUMENT; 5]);
        assert_eq!(message(), "ReverseSequence has no attribute duplicates");
        retrograde_operator_destroy(sequence);
        let segments = operator(RETROGRADE_REVERSE_SEGMENTS);
        let none = [
            retrograde_operator_set_policy(segments, 0),
            retrograde_operator_set_align(segments, 0),
            retrograde_operator_set_tail(segments, 0),
            retrograde_operator_set_time_axis(segments, 0),
            retrograde_operator_set_batch_axis(segments, 0),
            retrograde_operator_set_onnx_opset(segments, 10),
        ];
        assert_eq!(none, [RETROGRADE_BAD_ARGUMENT; 6]);
        retrograde_operator_destroy(segments);
    }
}

#[test]
fn impossible_tensors_are_refused() {
    let large = [i64::MAX, i64::MAX];
    let negative = [2, -1];
    let fine = [2, 3];
    let strides = [i64::MIN, 1];
    let zeros = [0u64; 16];
    let with = |change: &dyn Fn(&mut Tensor)| {
        let mut tensor = tensor(RETROGRADE_F32, &fine);
        change(&mut tensor);
        let mut bytes = 7;
        // SAFETY: the arrays have two entries, unless the description is refused before.
        let status = unsafe { retrograde_tensor_bytes(&tensor, &mut bytes) };
        (status, bytes)
    };
    assert_eq!(with(&|_| ()), (RETROGRADE_OK, 24));
    assert_eq!(with(&|t| t.offset = 2), (RETROGRADE_OK, 32));
    assert_eq!(with(&|t| (t.offset, t.stride_unit) = (2, 1)), (RETROGRADE_OK, 26));
    assert_eq!(with(&|t| t.dtype = RETROGRADE_U4), (RETROGRADE_OK, 3));
    assert_eq!(with(&|t| (t.dtype, t.element_bytes) = (RETROGRADE_BYTES, 5)), (RETROGRADE_OK, 30));
    assert_eq!(with(&|t| (t.rank, t.shape) = (0, null())), (RETROGRADE_OK, 4));
    for (change, status) in [
        (&(|t: &mut Tensor| t.struct_bytes = 0) as &dyn Fn(&mut Tensor), RETROGRADE_BAD_ARGUMENT),
        (&|t| t.struct_bytes = size_of::<Tensor>() - 1, RETROGRADE_BAD_ARGUMENT),
        (&|t| t.struct_bytes = 1 << 20, RETROGRADE_BAD_ARGUMENT),
        (&|t| t.dtype = 0, RETROGRADE_BAD_ARGUMENT),
        (&|t| t.dtype = 28, RETROGRADE_BAD_ARGUMENT),
        (&|t| t.dtype = RETROGRADE_BYTES, RETROGRADE_BAD_ARGUMENT),
        (&|t| t.element_bytes = 3, RETROGRADE_BAD_ARGUMENT),
        (&|t| t.stride_unit = 2, RETROGRADE_BAD_ARGUMENT),
        (&|t| t.rank = RETROGRADE_MAX_RANK + 1, RETROGRADE_BAD_ARGUMENT),
        (&|t| t.shape = null(), RETROGRADE_BAD_POINTER),
        (&|t| t.shape = negative.as_ptr(), RETROGRADE_BAD_TENSOR),
        (&|t| t.shape = large.as_ptr(), RETROGRADE_BAD_TENSOR),
        (&|t| t.strides = strides.as_ptr(), RETROGRADE_BAD_TENSOR),
        (&|t| t.offset = usize::MAX, RETROGRADE_BAD_TENSOR),
        (&|t| (t.dtype, t.offset, t.stride_unit) = (RETROGRADE_U4, 1, 1), RETROGRADE_BAD_TENSOR),
    ] {
        assert_eq!(with(change), (status, 7), "{}", message());
    }
    // A larger struct of a later version, with nothing in the fields that we do not know.
    let mut longer = zeros;
    // SAFETY: there is room for the struct.
    unsafe {
        let place = longer.as_mut_ptr().cast::<Tensor>();
        let mut known = tensor(RETROGRADE_F32, &fine);
        known.struct_bytes = size_of_val(&longer);
        place.write(known);
        let mut bytes = 0;
        assert_eq!(retrograde_tensor_bytes(place, &mut bytes), RETROGRADE_OK);
        assert_eq!(bytes, 24);
        longer[15] = 1;
        let status = retrograde_tensor_bytes(longer.as_ptr().cast(), &mut bytes);
        assert_eq!(status, RETROGRADE_BAD_ARGUMENT);
        assert!(message().contains("older than the header"), "{}", message());
    }
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    let (rows, columns) = ([2, 3], [3, 2]);
    let input = tensor(RETROGRADE_U8, &rows);
    let error = |op, lengths: Option<&Tensor>, output: &Tensor| {
        prepared(op, &input, lengths, output).expect_err("an invalid call")
    };
    let reverse = || {
        let op = operator(RETROGRADE_REVERSE);
        // SAFETY: the operator is valid.
        unsafe { retrograde_operator_set_all_axes(op) };
        op
    };
    let lengths = tensor(RETROGRADE_I64, &rows[1..]);
    let missing = error(operator(RETROGRADE_REVERSE), None, &input);
    assert_eq!(missing, (RETROGRADE_BAD_ARGUMENT, "Reverse: axes has not been set".to_owned()));
    assert_eq!(error(reverse(), Some(&lengths), &input).0, RETROGRADE_BAD_ARGUMENT);
    assert_eq!(error(reverse(), None, &tensor(RETROGRADE_I8, &rows)).0, RETROGRADE_MISMATCH);
    assert_eq!(error(reverse(), None, &tensor(RETROGRADE_U8, &columns)).0, RETROGRADE_MISMATCH);
    for kind in [RETROGRADE_REVERSE_SUBSEQUENCES, RETROGRADE_REVERSE_SEGMENTS] {
        assert_eq!(error(operator(kind), Some(&lengths), &input).0, RETROGRADE_BAD_ARGUMENT);
        assert_eq!(error(operator(kind), None, &input).0, RETROGRADE_BAD_ARGUMENT);
    }
    let sequence = || operator(RETROGRADE_REVERSE_SEQUENCE);
    let wrong = tensor(RETROGRADE_I64, &rows[..1]);
    let (status, text) = error(sequence(), Some(&wrong), &input);
    assert_eq!(status, RETROGRADE_MISMATCH);
    assert_eq!(
        text,
        "ReverseSequence: lengths have shape [2], expected [3]: axis 1 (batch_axis) has size 3, \
         axis 0 (time_axis) has size 2"
    );
    let floats = tensor(RETROGRADE_F32, &rows[1..]);
    assert_eq!(error(sequence(), Some(&floats), &input).0, RETROGRADE_MISMATCH);
}

#[test]
fn buffers_are_compared_with_the_call() {
    let call = flip();
    let (input, mut output) = ([1u8, 2, 3, 4, 5, 6, 7], [9u8; 7]);
    let (src, dst) = (input.as_ptr().cast::<c_void>(), output.as_mut_ptr());
    // SAFETY: buffers have at least as many bytes as stated, or the call is refused before.
    unsafe {
        assert_eq!(
            retrograde_run(call, src, 5, null(), 0, dst.cast(), 6),
            RETROGRADE_BUFFER_TOO_SMALL
        );
        assert_eq!(
            retrograde_run(call, src, 6, null(), 0, dst.cast(), 5),
            RETROGRADE_BUFFER_TOO_SMALL
        );
        assert_eq!(retrograde_run(call, src, 6, src, 1, dst.cast(), 6), RETROGRADE_MISMATCH);
        assert_eq!(
            retrograde_run_in_place(call, null(), 0, dst.cast(), 5),
            RETROGRADE_BUFFER_TOO_SMALL
        );
        let overlap = retrograde_run(call, dst.cast(), 6, null(), 0, dst.add(1).cast(), 6);
        assert_eq!(overlap, RETROGRADE_OVERLAP);
        let beyond = retrograde_run(call, src, usize::MAX, null(), 0, dst.cast(), 6);
        assert_eq!(beyond, RETROGRADE_BAD_ARGUMENT);
        assert_eq!(output, [9; 7]);
        let dst = output.as_mut_ptr();
        assert_eq!(retrograde_run(call, src, 7, null(), 0, dst.cast(), 7), RETROGRADE_OK);
        assert_eq!(output, [3, 2, 1, 6, 5, 4, 9]);
        let dst = output.as_mut_ptr();
        // The same memory twice is in place.
        assert_eq!(retrograde_run(call, dst.cast(), 6, null(), 0, dst.cast(), 6), RETROGRADE_OK);
        assert_eq!(output, [1, 2, 3, 4, 5, 6, 9]);
        retrograde_call_destroy(call);
    }
}

/// A pointer has no type, but lengths without gaps have an exact size.
#[test]
fn lengths_of_another_width_are_refused() {
    let (shape, batch) = ([2, 4], [2]);
    let rows = tensor(RETROGRADE_U8, &shape);
    for (described, bytes) in [(RETROGRADE_I32, 8), (RETROGRADE_I64, 16)] {
        let op = operator(RETROGRADE_REVERSE_SEQUENCE);
        // SAFETY: the operator is valid.
        unsafe {
            assert_eq!(retrograde_operator_set_time_axis(op, 1), RETROGRADE_OK);
            assert_eq!(retrograde_operator_set_batch_axis(op, 0), RETROGRADE_OK);
            assert_eq!(retrograde_operator_set_policy(op, RETROGRADE_CLAMP), RETROGRADE_OK);
        }
        let call = prepared(op, &rows, Some(&tensor(described, &batch)), &rows).expect("valid");
        let values = [4i64, 2];
        let lengths = values.as_ptr().cast::<c_void>();
        let (src, mut dst) = (*b"abcdefgh", [0u8; 8]);
        let mut run = |bytes: usize| {
            let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
            // SAFETY: the call is valid, and the buffers have at least as many bytes.
            unsafe { retrograde_run(call, from, 8, lengths, bytes, to, 8) }
        };
        if described == RETROGRADE_I32 {
            assert_eq!(run(16), RETROGRADE_MISMATCH);
            assert_eq!(
                message(),
                "ReverseSequence: lengths have 16 bytes, but the call was prepared for 2 of type i32, which take 8: pass these, or prepare the call for the type and number that you have"
            );
        } else {
            assert_eq!(run(8), RETROGRADE_BUFFER_TOO_SMALL);
        }
        assert_eq!(run(bytes), RETROGRADE_OK);
        // SAFETY: valid, destroyed once.
        unsafe { retrograde_call_destroy(call) };
    }
    // Lengths in a column of a table end where the table may not.
    let (shape, every_other) = ([4, 2], 2);
    let column = Tensor { strides: &every_other, ..tensor(RETROGRADE_I32, &batch) };
    let (op, columns) = (operator(RETROGRADE_REVERSE_SEQUENCE), tensor(RETROGRADE_U8, &shape));
    let call = prepared(op, &columns, Some(&column), &columns);
    let (call, table, mut data) = (call.expect("valid"), [4i32, 9, 1, 9], *b"aAbBcCdD");
    // SAFETY: the call is valid, and the buffers have as many bytes as stated.
    unsafe {
        let (lengths, data) = (table.as_ptr().cast(), data.as_mut_ptr().cast());
        assert_eq!(retrograde_run_in_place(call, lengths, 16, data, 8), RETROGRADE_OK);
        retrograde_call_destroy(call);
    }
    assert_eq!(&data, b"dAcBbCaD");
}

/// Strides that are never used: they used to overflow, which is `RETROGRADE_INTERNAL`.
#[test]
fn strides_of_axes_of_size_1_may_be_anything() {
    let (shape, counts) = ([4, 1, 2], [1i32, 0, 1, 0]);
    for (dtype, bytes) in [(RETROGRADE_U8, 8), (RETROGRADE_F32, 32), (RETROGRADE_U4, 4)] {
        for wild in [i64::MIN, i64::MAX, -1] {
            // Miri, which takes minutes for all, gets the one that overflowed.
            let rules = [(1, 1), (0, 0), (0, 1), (1, 0)];
            for (tail, align) in rules.into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
                let (dense, strides) = (tensor(dtype, &shape), [2, wild, 1]);
                let odd = Tensor { strides: strides.as_ptr(), ..dense };
                let data: Vec<u8> = (1..=bytes).collect();
                let moved = |view: &Tensor, time: i64, in_place: bool| {
                    let op = operator(RETROGRADE_REVERSE_SEQUENCE);
                    // A tail of zeros keeps time in the plan, even if it is the axis of size 1.
                    let batch = i64::from(time != 1);
                    let (of, one) = ([shape[batch as usize]], 1);
                    let strides = if batch == 1 { &wild } else { &one };
                    let lengths = Tensor { strides, ..tensor(RETROGRADE_I32, &of) };
                    // SAFETY: all are valid; the call is destroyed once.
                    unsafe {
                        retrograde_operator_set_time_axis(op, time);
                        retrograde_operator_set_batch_axis(op, batch);
                        retrograde_operator_set_align(op, align);
                        retrograde_operator_set_tail(op, tail);
                        let call = prepared(op, view, Some(&lengths), view).expect("valid");
                        let mut out = data.clone();
                        let (given, to) = (counts.as_ptr().cast(), out.as_mut_ptr().cast());
                        let size = of[0] as usize * 4;
                        let status = match in_place {
                            true => retrograde_run_in_place(call, given, size, to, out.len()),
                            false => {
                                let from = data.as_ptr().cast();
                                retrograde_run(call, from, data.len(), given, size, to, out.len())
                            }
                        };
                        assert_eq!(status, RETROGRADE_OK, "{}", message());
                        retrograde_call_destroy(call);
                        out
                    }
                };
                for time in [0, 1, 2] {
                    let expected = moved(&dense, time, false);
                    assert_eq!(moved(&odd, time, false), expected);
                    assert_eq!(moved(&odd, time, true), expected);
                }
            }
            // The axis of size 1 itself.
            let flipped = |view: &Tensor| {
                let op = operator(RETROGRADE_REVERSE);
                // SAFETY: all are valid; the call is destroyed once.
                unsafe {
                    assert_eq!(retrograde_operator_set_all_axes(op), RETROGRADE_OK);
                    let call = prepared(op, view, None, view).expect("valid");
                    let mut out: Vec<u8> = (1..=bytes).collect();
                    let to = out.as_mut_ptr().cast();
                    assert_eq!(
                        retrograde_run_in_place(call, null(), 0, to, out.len()),
                        RETROGRADE_OK
                    );
                    retrograde_call_destroy(call);
                    out
                }
            };
            let (dense, strides) = (tensor(dtype, &shape), [2, wild, 1]);
            assert_eq!(flipped(&Tensor { strides: strides.as_ptr(), ..dense }), flipped(&dense));
        }
    }
}

#[test]
fn every_attribute_reaches_the_engine() {
    // Rows of five steps; lengths 2 and 3, at the end, with zeros before them.
    let (shape, count, lanes) = ([2, 5], [2], [2, 1]);
    let rows = tensor(RETROGRADE_U8, &shape);
    let input: Vec<u8> = (1..=10).collect();
    let run = |op: *mut Operator, lengths: &Tensor, values: &[u16]| {
        let call = prepared(op, &rows, Some(lengths), &rows).expect("a valid call");
        let mut output = vec![0u8; 10];
        // SAFETY: the buffers are vectors.
        let status = unsafe {
            let (values, bytes) = (values.as_ptr().cast(), size_of_val(values));
            let (src, dst) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
            let status = retrograde_run(call, src, 10, values, bytes, dst, 10);
            retrograde_call_destroy(call);
            status
        };
        (status, output)
    };
    let lengths = tensor(RETROGRADE_U16, &count);
    let sequence = |change: &dyn Fn(*mut Operator)| {
        let op = operator(RETROGRADE_REVERSE_SEQUENCE);
        // SAFETY: the operator is valid.
        unsafe {
            retrograde_operator_set_time_axis(op, 1);
            retrograde_operator_set_batch_axis(op, 0);
        }
        change(op);
        op
    };
    // SAFETY: in all closures the operator is valid.
    let plain = run(sequence(&|_| ()), &lengths, &[2, 3]);
    assert_eq!(plain, (RETROGRADE_OK, vec![2, 1, 3, 4, 5, 8, 7, 6, 9, 10]));
    let strict = run(sequence(&|_| ()), &lengths, &[2, 6]);
    assert_eq!(strict, (RETROGRADE_LENGTH_OUT_OF_RANGE, vec![0; 10]));
    assert_eq!(message(), "ReverseSequence: lengths[1] is 6, outside [0, 5]");
    assert_eq!(retrograde_last_error_position(), 1);
    let clamping = sequence(&|op| {
        // SAFETY: the operator is valid.
        let status = unsafe { retrograde_operator_set_policy(op, RETROGRADE_CLAMP) };
        assert_eq!(status, RETROGRADE_OK);
    });
    let clamped = run(clamping, &lengths, &[0, 9]);
    assert_eq!(clamped, (RETROGRADE_OK, vec![1, 2, 3, 4, 5, 10, 9, 8, 7, 6]));
    let ends = run(
        // SAFETY: the operator is valid.
        sequence(&|op| unsafe {
            assert_eq!(retrograde_operator_set_align(op, RETROGRADE_ALIGN_END), RETROGRADE_OK);
            assert_eq!(retrograde_operator_set_tail(op, RETROGRADE_TAIL_ZERO), RETROGRADE_OK);
        }),
        &lengths,
        &[2, 3],
    );
    assert_eq!(ends, (RETROGRADE_OK, vec![0, 0, 0, 5, 4, 0, 0, 10, 9, 8]));
    // Axes counted from the end.
    let any = operator(RETROGRADE_REVERSE_SEQUENCE);
    // SAFETY: the operator is valid.
    unsafe {
        retrograde_operator_set_time_axis(any, -1);
        retrograde_operator_set_batch_axis(any, -2);
    }
    assert_eq!(run(any, &lengths, &[2, 3]), plain);
    // ONNX has axes 0 and 1, and lengths of 64 bits only.
    // SAFETY: the operator is valid.
    let onnx = sequence(&|op| unsafe {
        assert_eq!(retrograde_operator_set_onnx_opset(op, 10), RETROGRADE_OK);
        assert_eq!(retrograde_operator_set_time_axis(op, -1), RETROGRADE_OK);
    });
    let refused = prepared(onnx, &rows, Some(&lengths), &rows).map_err(|e| e.1);
    assert_eq!(refused, Err("ReverseSequence: time_axis is -1, expected 0 or 1".to_owned()));
    // SAFETY: the operator is valid.
    let onnx = sequence(&|op| unsafe {
        assert_eq!(retrograde_operator_set_onnx_opset(op, 10), RETROGRADE_OK);
    });
    assert_eq!(
        prepared(onnx, &rows, Some(&lengths), &rows).map_err(|e| e.0),
        Err(RETROGRADE_MISMATCH)
    );
    // Lanes clamp by default.
    let lanes = tensor(RETROGRADE_U16, &lanes);
    let op = operator(RETROGRADE_REVERSE_SUBSEQUENCES);
    // SAFETY: the operator is valid.
    unsafe { retrograde_operator_set_axis(op, -1) };
    assert_eq!(run(op, &lanes, &[1, 9]), (RETROGRADE_OK, vec![1, 2, 3, 4, 5, 10, 9, 8, 7, 6]));
    // Segments, and an offset that descends.
    let cuts = [3];
    let offsets = tensor(RETROGRADE_U16, &cuts);
    let segments = || {
        let op = operator(RETROGRADE_REVERSE_SEGMENTS);
        // SAFETY: the operator is valid.
        unsafe { retrograde_operator_set_axis(op, 1) };
        op
    };
    let moved = run(segments(), &offsets, &[0, 2, 5]);
    assert_eq!(moved, (RETROGRADE_OK, vec![2, 1, 5, 4, 3, 7, 6, 10, 9, 8]));
    assert_eq!(run(segments(), &offsets, &[0, 2, 1]).0, RETROGRADE_LENGTH_OUT_OF_RANGE);
    assert_eq!(retrograde_last_error_position(), 2);
}

#[test]
fn a_flip_is_one_call() {
    let (shape, axes) = ([2, 3], [-1, 0]);
    let rows = tensor(RETROGRADE_U16, &shape);
    let x: Vec<u16> = (1..=6).collect();
    let flip = |axes: &[i64], bytes: usize, y: &mut [u16]| {
        let (from, to) = (x.as_ptr().cast(), y.as_mut_ptr().cast());
        // SAFETY: the arrays have as many entries, and the buffers at least as many bytes.
        unsafe { retrograde_flip(&rows, axes.as_ptr(), axes.len(), from, 12, to, bytes) }
    };
    let mut y = [0; 6];
    assert_eq!(flip(&axes[..1], 12, &mut y), RETROGRADE_OK);
    assert_eq!(y, [3, 2, 1, 6, 5, 4]);
    assert_eq!(flip(&axes, 12, &mut y), RETROGRADE_OK);
    assert_eq!(y, [6, 5, 4, 3, 2, 1]);
    assert_eq!(flip(&[], 12, &mut y), RETROGRADE_OK);
    assert_eq!(y, [1, 2, 3, 4, 5, 6]);
    let data = y.as_mut_ptr().cast();
    // SAFETY: as above, in place.
    let status = unsafe { retrograde_flip(&rows, axes.as_ptr(), 1, data, 12, data, 12) };
    assert_eq!((status, y), (RETROGRADE_OK, [3, 2, 1, 6, 5, 4]));
    assert_eq!(flip(&[2], 12, &mut y), RETROGRADE_BAD_ARGUMENT);
    assert_eq!(message(), "Reverse: axes[0] is 2, outside [-2, 1] for a tensor of rank 2");
    assert_eq!(flip(&axes, 10, &mut y), RETROGRADE_BUFFER_TOO_SMALL);
    assert_eq!(y, [3, 2, 1, 6, 5, 4]);
}

#[test]
fn reverse_takes_axes_and_masks() {
    let shape = [2, 2];
    let square = tensor(RETROGRADE_U8, &shape);
    let run = |op| {
        let call = prepared(op, &square, None, &square)?;
        let mut data = [1u8, 2, 3, 4];
        // SAFETY: four bytes.
        unsafe {
            let status = retrograde_run_in_place(call, null(), 0, data.as_mut_ptr().cast(), 4);
            assert_eq!(status, RETROGRADE_OK);
            retrograde_call_destroy(call);
        }
        Ok::<_, (Status, String)>(data)
    };
    let with = |set: &dyn Fn(*mut Operator) -> Status| {
        let op = operator(RETROGRADE_REVERSE);
        assert_eq!(set(op), RETROGRADE_OK);
        op
    };
    let twice = [0, -2];
    // SAFETY: in all closures the operator is valid, and the arrays have two entries.
    unsafe {
        assert_eq!(run(with(&|op| retrograde_operator_set_all_axes(op))), Ok([4, 3, 2, 1]));
        let mask = [0u8, 255];
        assert_eq!(
            run(with(&|op| retrograde_operator_set_mask(op, mask.as_ptr(), 2))),
            Ok([2, 1, 4, 3])
        );
        assert_eq!(run(with(&|op| retrograde_operator_set_axes(op, null(), 0))), Ok([1, 2, 3, 4]));
        let axes = |op| retrograde_operator_set_axes(op, twice.as_ptr(), 2);
        assert_eq!(run(with(&axes)), Ok([3, 4, 1, 2]));
        let distinct = with(&axes);
        retrograde_operator_set_duplicates(distinct, RETROGRADE_DUPLICATES_ERROR);
        let (status, text) = run(distinct).expect_err("an axis twice");
        assert_eq!(status, RETROGRADE_BAD_ARGUMENT);
        assert!(text.contains("the same axis as axes[0]"), "{text}");
    }
}

#[test]
fn orient_takes_a_number_and_axes() {
    let (image, turned) = (tensor(RETROGRADE_U8, &[2, 3]), tensor(RETROGRADE_U8, &[3, 2]));
    let orient = |exif: u32, axes: &[i64]| {
        let op = operator(RETROGRADE_ORIENT);
        // SAFETY: the operator is valid, and the axes are a slice.
        let set = unsafe {
            [
                retrograde_operator_set_orientation(op, exif),
                retrograde_operator_set_axes(op, axes.as_ptr(), axes.len()),
            ]
        };
        (op, set)
    };
    let refused = |found: Result<*mut Call, (Status, String)>, status: Status, text: &str| {
        let (got, message) = found.expect_err("an error");
        assert_eq!((got, &message[..]), (status, text));
    };
    let unset = prepared(operator(RETROGRADE_ORIENT), &image, None, &turned);
    refused(unset, RETROGRADE_BAD_ARGUMENT, "Orient: orientation has not been set");
    for number in [0, 9, u32::MAX] {
        let (op, [set, _]) = orient(number, &[0, 1]);
        assert_eq!(set, RETROGRADE_BAD_ARGUMENT);
        // SAFETY: destroyed once.
        unsafe { retrograde_operator_destroy(op) };
    }
    let (op, set) = orient(6, &[0, 1, 2]);
    assert_eq!(set, [RETROGRADE_OK, RETROGRADE_BAD_ARGUMENT]);
    assert_eq!(message(), "Orient: axes has 3 entries, expected 2");
    // The axes are still the first two.
    let text = "Orient: output has shape [2, 3], expected [3, 2] (orientation 6 (rot270))";
    refused(prepared(op, &image, None, &image), RETROGRADE_MISMATCH, text);
    let same = prepared(orient(6, &[-1, 1]).0, &image, None, &turned);
    let text = "Orient: axes[1] and axes[0] are both axis 1, expected different axes";
    refused(same, RETROGRADE_BAD_ARGUMENT, text);
    let lengths = prepared(orient(6, &[0, 1]).0, &image, Some(&image), &turned);
    let text = "Orient takes no lengths: pass a null pointer";
    refused(lengths, RETROGRADE_BAD_ARGUMENT, text);
    for (axes, wanted) in [([0, 1], [4, 1, 5, 2, 6, 3]), ([1, 0], [3, 6, 2, 5, 1, 4])] {
        let call = prepared(orient(6, &axes).0, &image, None, &turned).expect("a valid call");
        let (input, mut output) = ([1u8, 2, 3, 4, 5, 6], [0u8; 6]);
        // SAFETY: the buffers are arrays of the size of the tensors.
        unsafe {
            let (src, dst) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
            assert_eq!(retrograde_run(call, src, 6, null(), 0, dst, 6), RETROGRADE_OK);
            let in_place = retrograde_run_in_place(call, null(), 0, dst, 6);
            assert_eq!(in_place, RETROGRADE_NOT_IN_PLACE);
            retrograde_call_destroy(call);
        }
        assert_eq!(output, wanted);
    }
    let reverse = operator(RETROGRADE_REVERSE);
    // SAFETY: the operator is valid, and destroyed once.
    unsafe {
        assert_eq!(retrograde_operator_set_orientation(reverse, 6), RETROGRADE_BAD_ARGUMENT);
        assert_eq!(message(), "Reverse has no attribute orientation");
        retrograde_operator_destroy(reverse);
    }
}

#[test]
fn empty_tensors_need_no_memory() {
    let shape = [0, 3];
    let op = operator(RETROGRADE_REVERSE);
    // SAFETY: the operator is valid, and there are no bytes.
    unsafe {
        retrograde_operator_set_all_axes(op);
        let none = tensor(RETROGRADE_F32, &shape);
        let call = prepared(op, &none, None, &none).expect("a valid call");
        assert_eq!(retrograde_run(call, null(), 0, null(), 0, null_mut(), 0), RETROGRADE_OK);
        retrograde_call_destroy(call);
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

#[test]
fn marked_segments_are_looked_up_in_a_table() {
    let (letters, offsets) = (tensor(RETROGRADE_U8, &[7]), tensor(RETROGRADE_I64, &[3]));
    let mut table: [u8; 256] = std::array::from_fn(|byte| byte as u8);
    for (letter, complement) in b"ACGT".iter().zip(b"TGCA") {
        table[usize::from(*letter)] = *complement;
    }
    let op = operator(RETROGRADE_REVERSE_SEGMENTS);
    // SAFETY: all are valid, buffers have the sizes given, and the call is destroyed once.
    unsafe {
        assert_eq!(retrograde_operator_set_axis(op, 0), RETROGRADE_OK);
        assert_eq!(retrograde_operator_set_marked(op, 2), RETROGRADE_BAD_ARGUMENT);
        assert_eq!(message(), "marked is 2, expected 0 or 1");
        assert_eq!(retrograde_operator_set_marked(op, 1), RETROGRADE_OK);
        assert_eq!(retrograde_operator_set_table(op, table.as_ptr(), 255), RETROGRADE_BAD_ARGUMENT);
        assert!(message().starts_with("a table has 255 entries, expected 256"));
        assert_eq!(retrograde_operator_set_table(op, table.as_ptr(), 256), RETROGRADE_OK);
        let call = prepared(op, &letters, Some(&offsets), &letters).expect("valid");
        // The first four letters are reversed, the others stay.
        let (given, mut out) = ([1i64, 2 * 4, 2 * 7], [0u8; 7]);
        let status = retrograde_run(
            call,
            b"AACGTTA".as_ptr().cast(),
            7,
            given.as_ptr().cast(),
            24,
            out.as_mut_ptr().cast(),
            7,
        );
        assert_eq!((status, &out), (RETROGRADE_OK, b"CGTTTTA"));
        retrograde_call_destroy(call);
        let words = tensor(RETROGRADE_U16, &[7]);
        let op = operator(RETROGRADE_REVERSE);
        assert_eq!(retrograde_operator_set_all_axes(op), RETROGRADE_OK);
        assert_eq!(retrograde_operator_set_marked(op, 1), RETROGRADE_BAD_ARGUMENT);
        assert_eq!(retrograde_operator_set_table(op, table.as_ptr(), 256), RETROGRADE_OK);
        let (status, text) = prepared(op, &words, None, &words).expect_err("two bytes");
        assert_eq!(status, RETROGRADE_MISMATCH);
        assert!(text.starts_with("Reverse: a table of 256 entries is for elements of one byte"));
    }
}
