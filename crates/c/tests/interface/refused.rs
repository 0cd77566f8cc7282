//! Bad input: a status and a message, and nothing written.

use super::*;

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
