//! What operators do, and that every attribute reaches them.

use super::*;

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
