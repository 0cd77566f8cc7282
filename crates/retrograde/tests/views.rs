//! Views over foreign memory: the same view twice, neighbours in one buffer, plans shared
//! between threads, ranks beyond the inline storage.

use retrograde::{
    Align, DType, Layout, LengthPolicy, LengthsMemory, LengthsOperator, Memory, MemoryMut,
    Reversal, Reverse, ReverseSequence, ReverseSubsequences, Tail, TensorMut, TensorRef, cpu,
};
use std::thread;

/// A tensor over a raw buffer, twice: once to read, once to write.
fn both<'a>(
    buffer: &'a mut [u16],
    shape: &[usize],
    src: (&[isize], usize),
    dst: (&[isize], usize),
) -> (TensorRef<'a>, TensorMut<'a>) {
    let (base, len) = (buffer.as_mut_ptr(), buffer.len());
    let bytes = |strides: &[isize]| strides.iter().map(|s| s * 2).collect::<Vec<_>>();
    assert!(src.1 < len && dst.1 < len);
    // SAFETY: the tests below only describe elements of `buffer`, which is borrowed for 'a.
    unsafe {
        let from = base.add(src.1).cast();
        let to = base.add(dst.1).cast();
        (
            TensorRef::from_raw(DType::U16, from, shape, &bytes(src.0)).unwrap(),
            TensorMut::from_raw(DType::U16, to, shape, &bytes(dst.0)).unwrap(),
        )
    }
}

#[test]
fn the_same_view_twice_runs_in_place() {
    let mut x = [1u16, 2, 3, 4, 5, 6];
    let (src, mut dst) = both(&mut x, &[2, 3], (&[3, 1], 0), (&[3, 1], 0));
    Reverse::axes([1]).apply_view(&src, &mut dst).unwrap();
    assert_eq!(x, [3, 2, 1, 6, 5, 4]);
}

#[test]
fn a_backward_view_onto_itself_is_a_flip_in_place() {
    let mut x = [1u16, 2, 3, 4, 5];
    let (src, mut dst) = both(&mut x, &[5], (&[-1], 4), (&[1], 0));
    Reverse::axes([]).apply_view(&src, &mut dst).unwrap();
    assert_eq!(x, [5, 4, 3, 2, 1]);
}

#[test]
fn lanes_that_change_places_cannot_run_in_place() {
    let mut x = [1u16, 2, 3, 4];
    let (src, mut dst) = both(&mut x, &[2, 2], (&[-2, 1], 2), (&[2, 1], 0));
    let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
    let error = rows.lengths(&[1, 2]).apply_view(&src, &mut dst).unwrap_err();
    assert!(error.to_string().contains("overlap"), "{error}");
    assert_eq!(x, [1, 2, 3, 4]);
}

#[test]
fn neighbouring_columns_of_one_buffer_do_not_overlap() {
    // Even columns to odd columns.
    let mut x = [1u16, 0, 2, 0, 3, 0];
    let (src, mut dst) = both(&mut x, &[3], (&[2], 0), (&[2], 1));
    Reverse::all().apply_view(&src, &mut dst).unwrap();
    assert_eq!(x, [1, 3, 2, 2, 3, 1]);
    // But with steps that meet, they do.
    let mut x = [1u16, 0, 2, 0, 3, 0, 0];
    let (src, mut dst) = both(&mut x, &[3], (&[2], 0), (&[2], 2));
    assert!(Reverse::all().apply_view(&src, &mut dst).is_err());
    assert_eq!(x, [1, 0, 2, 0, 3, 0, 0]);
}

#[test]
fn one_plan_serves_many_threads() {
    let (steps, columns, threads) = if cfg!(miri) { (9, 5, 3) } else { (64, 33, 8) };
    let x = Layout::dense(DType::F32, &[steps, columns]).unwrap();
    let lengths = Layout::dense(DType::I64, &[columns]).unwrap();
    let plan = ReverseSequence::new().plan(&x, &lengths, &x).unwrap();
    thread::scope(|scope| {
        for seed in 0..threads {
            let plan = &plan;
            scope.spawn(move || {
                let input: Vec<f32> = (0..steps * columns).map(|n| (n * 7 + seed) as f32).collect();
                let lengths: Vec<i64> =
                    (0..columns).map(|b| ((b + seed) % (steps + 1)) as i64).collect();
                let mut output = vec![0f32; steps * columns];
                let (from, at) = (Memory::from(&input[..]), LengthsMemory::from(&lengths));
                cpu::execute(plan, from, Some(at), MemoryMut::from(&mut output[..])).unwrap();
                for t in 0..steps {
                    for b in 0..columns {
                        let len = lengths[b] as usize;
                        let from = if t < len { len - 1 - t } else { t };
                        assert_eq!(output[t * columns + b], input[from * columns + b]);
                    }
                }
            });
        }
    });
}

#[test]
fn ranks_beyond_eight_work() {
    // Axis 0 is the highest bit: flipping axes 0, 2, .. flips bits 11, 9, ..
    let (rank, flipped) = if cfg!(miri) { (9, 0b1_0101_0101) } else { (12, 0b1010_1010_1010) };
    let shape = vec![2usize; rank];
    let x: Vec<u16> = (0..1 << rank).collect();
    let y = Reverse::all().to_vec(&x, &shape).unwrap();
    assert!(y.iter().rev().eq(&x));
    let y = Reverse::axes((0..rank as i64).step_by(2)).to_vec(&x, &shape).unwrap();
    assert!(y.iter().enumerate().all(|(at, &v)| usize::from(v) == at ^ flipped));
}

#[test]
fn packed_parts_leave_their_neighbours_alone() {
    // Elements 1 to 5 of eight 4-bit ones.
    let mut bytes = [0x10u8, 0x32, 0x54, 0x76];
    let part = Layout::strided(DType::U4, &[5], &[1], 1).unwrap();
    Reverse::all().in_place_view(&mut TensorMut::new(part, &mut bytes[..]).unwrap()).unwrap();
    assert_eq!(bytes, [0x50, 0x34, 0x12, 0x76]);
}

#[test]
fn one_bit_elements_start_at_the_high_end() {
    let x = TensorRef::dense(DType::U1, &[0b1011_0001u8, 0b0100_0000][..], &[10]).unwrap();
    let y = Reverse::all().to_bytes(&x).unwrap();
    assert_eq!(y, [0b1010_0011, 0b0100_0000]);
}

#[test]
fn two_bit_elements_start_at_the_low_end() {
    let x = TensorRef::dense(DType::U2, &[0b11_10_01_00u8, 0b01][..], &[5]).unwrap();
    let y = Reverse::all().to_bytes(&x).unwrap();
    assert_eq!(y, [0b01_10_11_01, 0b00]);
}

#[test]
fn strided_views_become_dense_bytes() {
    let x: Vec<u16> = (0..12).collect();
    let columns = Layout::strided(DType::U16, &[4, 3], &[1, 4], 0).unwrap();
    let view = TensorRef::new(columns, &x[..]).unwrap();
    let bytes = Reverse::axes([0]).to_bytes(&view).unwrap();
    let values: Vec<u16> =
        bytes.chunks_exact(2).map(|b| u16::from_ne_bytes([b[0], b[1]])).collect();
    assert_eq!(values, [3, 7, 11, 2, 6, 10, 1, 5, 9, 0, 4, 8]);
}

/// Libraries give axes of size 1 any stride. Whole-byte and packed elements, from one memory to
/// another and in place, for every operator, with lengths that have such strides too.
#[test]
fn strides_of_axes_of_size_1_may_be_anything() {
    // As many elements as fill whole bytes, so that no unused bits are left.
    let shape = [4, 1, 4, 1];
    for dtype in [DType::U8, DType::F64, DType::U4, DType::U1] {
        let dense = Layout::dense(dtype, &shape).unwrap();
        let bytes = dense.byte_len();
        let x: Vec<u8> = (0..bytes).map(|at| (at * 73 + 41) as u8).collect();
        for (one, two) in [(isize::MIN, isize::MAX), (isize::MAX, isize::MIN), (-1, isize::MIN)] {
            let wild = Layout::strided(dtype, &shape, &[4, one, 1, two], 0).unwrap();
            let batch = Layout::strided(DType::I32, &[1], &[two], 0).unwrap();
            let lanes = Layout::strided(DType::I32, &[4, 1, 1, 1], &[1, one, two, one], 0).unwrap();
            let (batch, lanes) = (
                TensorRef::new(batch, &[2i32]).unwrap(),
                TensorRef::new(lanes, &[3i32, 0, 1, 4]).unwrap(),
            );
            let reversals: [&dyn Reversal<'_>; 7] = [
                &Reverse::all(),
                &Reverse::axes([1]),
                &Reverse::axes([0, 3]),
                &ReverseSequence::new().time_axis(2).batch_axis(1).lengths(batch.clone()),
                &ReverseSequence::new()
                    .time_axis(2)
                    .batch_axis(1)
                    .align(Align::End)
                    .tail(Tail::Zero)
                    .lengths(batch),
                &ReverseSubsequences::along(2).lengths(lanes.clone()),
                &ReverseSubsequences::along(2).align(Align::End).lengths(lanes),
            ];
            for reversal in reversals {
                moves_as_dense(reversal, &dense, &wild, &x);
            }
            // A tail of zeros keeps the axis of size 1 in the plan.
            for (count, tail) in [([0u8], Tail::Zero), ([1], Tail::Zero), ([1], Tail::Keep)] {
                let lanes = Layout::strided(DType::U8, &[4, 1, 4, 1], &[0, one, 0, two], 0);
                let lanes = TensorRef::new(lanes.unwrap(), &count).unwrap();
                for align in [Align::Start, Align::End] {
                    let one = ReverseSubsequences::along(1).align(align).tail(tail);
                    moves_as_dense(&one.lengths(lanes.clone()), &dense, &wild, &x);
                }
            }
        }
    }
}

/// Between all pairs of a dense layout and one that means the same, and in place.
fn moves_as_dense(reversal: &dyn Reversal<'_>, dense: &Layout, wild: &Layout, x: &[u8]) {
    let mut expected = vec![0; x.len()];
    reversal.prepare(dense, dense).unwrap().run(x, &mut expected).unwrap();
    for (src, dst) in [(wild, dense), (dense, wild), (wild, wild)] {
        let mut y = vec![0; x.len()];
        reversal.prepare(src, dst).unwrap().run(x, &mut y).unwrap();
        assert_eq!(y, expected, "{src:?} to {dst:?}");
    }
    let mut y = x.to_vec();
    reversal.prepare(wild, wild).unwrap().run_in_place(&mut y).unwrap();
    assert_eq!(y, expected, "{wild:?} in place");
}

/// Rows, columns of their own lengths, and packed elements, large enough for non-temporal stores.
#[test]
fn hints_change_no_result() {
    let lengths: Vec<u16> = (0..512).map(|column| column % 300).collect();
    let columns = ReverseSequence::new().policy(LengthPolicy::Clamp).lengths(&lengths);
    let reversals: [&dyn Reversal<'_>; 3] = [&Reverse::axes([1]), &Reverse::axes([0, 1]), &columns];
    for dtype in [DType::U8, DType::F32, DType::U4, DType::U1] {
        let layout = Layout::dense(dtype, &[if cfg!(miri) { 4 } else { 300 }, 512]).unwrap();
        let x: Vec<u8> = (0..layout.byte_len()).map(|at| (at % 251) as u8).collect();
        for reversal in reversals {
            let prepared = reversal.prepare(&layout, &layout).unwrap();
            let [mut y, mut hinted] = [(); 2].map(|()| vec![0u8; x.len()]);
            prepared.run(&x, &mut y).unwrap();
            for hint in [cpu::Hint::ReadSoon, cpu::Hint::ReadLater] {
                hinted.fill(0xEE);
                prepared.clone().hint(hint).run(&x, &mut hinted).unwrap();
                assert!(hinted == y, "{dtype} {hint:?} {}", prepared.plan());
            }
        }
    }
}
