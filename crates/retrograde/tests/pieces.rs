//! Pieces of a plan do together what the plan does, whatever their size.

use retrograde::cpu::{self, Checked};
use retrograde::{
    Align, DType, Layout, LengthPolicy, LengthsMemory, LengthsOperator, Plan, Reverse,
    ReverseSegments, ReverseSequence, ReverseSubsequences, Tail,
};

/// Bytes in a piece.
const SIZES: &[usize] = match cfg!(miri) {
    false => &[1, 3, 16, 64, 100, 4096, 5000, 40_000, usize::MAX],
    true => &[16, usize::MAX],
};

/// Shapes to cut into pieces; Miri, which is a thousand times slower, gets short ones.
fn shapes<'a>(all: &[&'a [usize]], short: &[&'a [usize]]) -> Vec<&'a [usize]> {
    if cfg!(miri) { short.to_vec() } else { all.to_vec() }
}

/// Runs the plan whole and in pieces of several sizes; both must write the same.
fn same_in_pieces(plan: &Plan, bytes: usize, lengths: Option<&[u8]>) {
    let src: Vec<u8> = (0..bytes).map(|at| (at * 37 % 251) as u8).collect();
    let lengths = || {
        let (of, bytes) = plan.lengths().zip(lengths)?;
        Some(LengthsMemory::new(of.dtype, bytes))
    };
    let mut whole = vec![0xEE; bytes];
    cpu::execute(plan, src[..].into(), lengths(), whole[..].as_mut().into()).unwrap();
    for &size in SIZES {
        let mut out = vec![0xEE; bytes];
        let pieces = Checked::new(plan, lengths()).unwrap().pieces(size);
        let (count, mut ran, mut moved) = (pieces.len(), 0, 0);
        for piece in pieces {
            let part = piece.plan();
            assert!(part.dst().end <= plan.dst().end && part.src().end <= plan.src().end);
            piece.execute(&src, &mut out).unwrap();
            ran += 1;
            moved += part.bytes_moved();
        }
        assert_eq!((ran, moved), (count, plan.bytes_moved()), "{plan} by {size}");
        assert!(out == whole, "{plan} by {size}");
        // The same as plans, each of which checks the lengths that it reads.
        let mut out = vec![0xEE; bytes];
        for piece in plan.pieces(size) {
            cpu::execute(&piece, src[..].into(), lengths(), out[..].as_mut().into()).unwrap();
        }
        assert!(out == whole, "{plan} by {size}, checked again");
    }
}

fn dense(dtype: DType, shape: &[usize]) -> Layout {
    Layout::dense(dtype, shape).unwrap()
}

#[test]
fn whole_axes() {
    let all: [&[usize]; 6] =
        [&[7, 5, 3], &[2, 3, 4, 5], &[1000], &[2, 9000], &[3, 1, 5000], &[0, 4]];
    for shape in shapes(&all, &[&[3, 5], &[41], &[0, 4]]) {
        for dtype in [DType::U8, DType::Bytes(3), DType::F32, DType::C128] {
            let layout = dense(dtype, shape);
            for mask in 0..1 << shape.len() {
                let axes = (0..shape.len() as i64).filter(|axis| mask >> axis & 1 == 1);
                let plan = Reverse::axes(axes).plan(&layout, &layout).unwrap();
                same_in_pieces(&plan, layout.byte_len(), None);
            }
        }
    }
}

#[test]
fn transposed_inputs_and_packed_types() {
    let (height, width) = if cfg!(miri) { (9, 10) } else { (50, 70) };
    let strides = [1, height as isize];
    let columns = Layout::strided(DType::U16, &[height, width], &strides, 0).unwrap();
    let rows = dense(DType::U16, &[height, width]);
    let plan = Reverse::axes([1]).plan(&columns, &rows).unwrap();
    same_in_pieces(&plan, rows.byte_len(), None);
    let packed = dense(DType::U4, &[3, 5]);
    let plan = Reverse::axes([0]).plan(&packed, &packed).unwrap();
    // Two rows of five fill five bytes.
    assert_eq!(plan.pieces(1).len(), 2);
    same_in_pieces(&plan, packed.byte_len(), None);
    // Bytes that are shared with others are not cut.
    let part = Layout::strided(DType::U4, &[3, 5], &[6, 1], 0).unwrap();
    assert_eq!(Reverse::axes([0]).plan(&part, &part).unwrap().pieces(1).len(), 1);
}

#[test]
fn packed_types_are_cut_between_bytes() {
    for dtype in [DType::U4, DType::U2, DType::U1] {
        let all: [&[usize]; 6] =
            [&[7, 5, 3], &[40_001], &[2, 9000], &[3, 9001], &[300, 1, 41], &[0, 4]];
        for shape in shapes(&all, &[&[3, 5], &[201], &[0, 4]]) {
            let layout = dense(dtype, shape);
            for mask in 0..1 << shape.len() {
                let axes = (0..shape.len() as i64).filter(|axis| mask >> axis & 1 == 1);
                let plan = Reverse::axes(axes).plan(&layout, &layout).unwrap();
                same_in_pieces(&plan, layout.byte_len(), None);
            }
        }
        let layout = dense(dtype, &[40_001]);
        let plan = Reverse::all().plan(&layout, &layout).unwrap();
        assert_eq!(plan.pieces(1000).len(), layout.byte_len().div_ceil(1000), "{dtype}");
        let (all, short) = ([([9, 16_000], 0), ([60, 401], 1), ([5, 333], 0)], [([3, 70], 0)]);
        for &(shape, time) in if cfg!(miri) { &short[..] } else { &all[..] } {
            let data = dense(dtype, &shape);
            let batch = 1 - time;
            let lengths: Vec<i64> =
                (0..shape[batch]).map(|at| (at * 7 % (shape[time] + 1)) as i64).collect();
            let lengths_layout = dense(DType::I64, &[shape[batch]]);
            let operator = ReverseSequence::new().time_axis(time as i64).batch_axis(batch as i64);
            let plan = operator.plan(&data, &lengths_layout, &data).unwrap();
            let bytes: Vec<u8> = lengths.iter().flat_map(|length| length.to_ne_bytes()).collect();
            same_in_pieces(&plan, data.byte_len(), Some(&bytes));
        }
    }
}

/// Runs the plan in place, whole and in pieces of several sizes.
fn same_in_place(plan: &Plan, bytes: usize, lengths: Option<&[u8]>) -> usize {
    assert!(plan.fits_in_place());
    let src: Vec<u8> = (0..bytes).map(|at| (at * 37 % 251) as u8).collect();
    let lengths = || {
        let (of, bytes) = plan.lengths().zip(lengths)?;
        Some(LengthsMemory::new(of.dtype, bytes))
    };
    let mut whole = src.clone();
    cpu::execute_in_place(plan, lengths(), whole[..].as_mut().into()).unwrap();
    let mut most = 0;
    for &size in SIZES {
        let mut memory = src.clone();
        let mut pieces: Vec<Plan> = plan.pieces_in_place(size).collect();
        pieces.reverse();
        for piece in &pieces {
            assert!(piece.fits_in_place() && piece.dst().end <= plan.dst().end, "{piece}");
            cpu::execute_in_place(piece, lengths(), memory[..].as_mut().into()).unwrap();
        }
        assert!(memory == whole, "{plan} by {size}");
        most = most.max(pieces.len());
    }
    most
}

#[test]
fn in_place_mirror_images_stay_together() {
    for dtype in [DType::U8, DType::Bytes(3), DType::F32, DType::U4] {
        let all: [&[usize]; 8] = [
            &[7, 5, 3],
            &[2, 3, 4, 5],
            &[1001],
            &[1000],
            &[2, 9000],
            &[9, 7000],
            &[5, 6, 7],
            &[0, 4],
        ];
        for shape in shapes(&all, &[&[3, 2], &[41], &[0, 4]]) {
            let layout = dense(dtype, shape);
            for mask in 0..1 << shape.len() {
                let axes = (0..shape.len() as i64).filter(|axis| mask >> axis & 1 == 1);
                let plan = Reverse::axes(axes).plan(&layout, &layout).unwrap();
                same_in_place(&plan, layout.byte_len(), None);
            }
        }
    }
    let (columns, many, rows) = if cfg!(miri) { (20, 1, 1) } else { (7000, 100, 9) };
    let layout = dense(DType::F32, &[9, columns]);
    for (axes, least) in [(vec![0], many), (vec![1], rows), (vec![0, 1], many)] {
        let plan = Reverse::axes(axes).plan(&layout, &layout).unwrap();
        assert!(same_in_place(&plan, layout.byte_len(), None) >= least, "{plan}");
    }
    let lengths = [3i64, 0, 7, 5, 1].map(i64::to_ne_bytes).concat();
    let (data, five) = (dense(DType::U16, &[7, 5]), dense(DType::I64, &[5]));
    let plan = ReverseSequence::new().plan(&data, &five, &data).unwrap();
    same_in_place(&plan, data.byte_len(), Some(&lengths));
}

#[test]
fn lengths_in_every_place() {
    let all: [&[usize]; 4] = [&[6, 5, 40], &[9, 300], &[40, 5000], &[4, 2, 3000]];
    for shape in shapes(&all, &[&[3, 2, 5]]) {
        for time in [0usize, 1] {
            for dtype in [DType::U8, DType::F32, DType::Bytes(5)] {
                let operator =
                    ReverseSequence::new().time_axis(time as i64).batch_axis(1 - time as i64);
                let data = dense(dtype, shape);
                let lengths: Vec<u8> = (0..shape[1 - time])
                    .flat_map(|at| ((at * 7 % (shape[time] + 1)) as u16).to_ne_bytes())
                    .collect();
                let layout = dense(DType::U16, &operator.lengths_shape(shape).unwrap());
                let plan = operator.plan(&data, &layout, &data).unwrap();
                same_in_pieces(&plan, data.byte_len(), Some(&lengths));
            }
        }
        for axis in 0..shape.len() {
            let operator = ReverseSubsequences::along(axis as i64);
            let data = dense(DType::I16, shape);
            let layout = dense(DType::U16, &operator.lengths_shape(shape).unwrap());
            let lengths: Vec<u8> = (0..layout.len())
                .flat_map(|at| ((at * 13 % (shape[axis] + 2)) as u16).to_ne_bytes())
                .collect();
            let plan = operator.plan(&data, &layout, &data).unwrap();
            same_in_pieces(&plan, data.byte_len(), Some(&lengths));
        }
    }
}

#[test]
fn pieces_of_dense_flips_are_the_output_in_order() {
    let layout = dense(DType::F32, &[3, 1000, 1000]);
    let plan = Reverse::axes([0, 2]).plan(&layout, &layout).unwrap();
    let mut at = 0;
    for piece in plan.pieces(64 << 10) {
        assert_eq!(piece.dst().start, at);
        at = piece.dst().end;
    }
    assert_eq!(at, layout.byte_len());
}

#[test]
fn lengths_are_checked_once_before_the_pieces() {
    let data = dense(DType::U8, &[4, 3]);
    let lengths = dense(DType::U8, &[3]);
    let plan = ReverseSequence::new().plan(&data, &lengths, &data).unwrap();
    let bad = [1u8, 5, 0];
    let error = Checked::new(&plan, Some(bad[..].into())).unwrap_err();
    let mut out = [0u8; 12];
    let whole =
        cpu::execute(&plan, [0u8; 12][..].into(), Some(bad[..].into()), out[..].as_mut().into());
    assert_eq!(whole, Err(error));
    assert!(Checked::new(&plan, None).is_err());
}

#[test]
fn a_piece_of_a_strict_plan_is_strict() {
    let data = dense(DType::U8, &[4, 300]);
    let lengths = dense(DType::U8, &[300]);
    let mut bad = [4u8; 300];
    bad[290] = 5;
    let src = [7u8; 1200];
    for (policy, fails) in [(LengthPolicy::Strict, true), (LengthPolicy::Clamp, false)] {
        let plan = ReverseSequence::new().policy(policy).plan(&data, &lengths, &data).unwrap();
        let mut out = [0u8; 1200];
        let run = |piece: Plan| {
            cpu::execute(&piece, src[..].into(), Some(bad[..].into()), out[..].as_mut().into())
        };
        let failed = plan.pieces(1).map(run).filter(Result::is_err).count();
        // Only the pieces that read the wrong length fail.
        assert_eq!(failed > 0, fails, "{policy:?}");
    }
    // Lengths that steer nothing are checked by every piece, as by the whole.
    let column = dense(DType::U8, &[1, 300]);
    let plan = ReverseSequence::new().plan(&column, &lengths, &column).unwrap();
    let mut out = [0u8; 300];
    for piece in plan.pieces(1).chain([plan.clone()]) {
        let ran =
            cpu::execute(&piece, src[..].into(), Some(bad[..].into()), out[..].as_mut().into());
        assert!(ran.is_err());
    }
    assert_eq!(out, [0; 300]);
}

#[test]
fn aligned_ends_zero_tails_and_segments() {
    let all: [&[usize]; 4] = [&[7, 5, 3], &[5, 9000], &[3000, 4], &[6, 1]];
    for shape in shapes(&all, &[&[3, 5], &[6, 1]]) {
        for dtype in [DType::U8, DType::F32, DType::U4] {
            let (layout, lengths) = (dense(dtype, shape), dense(DType::I64, &[shape[0]]));
            let values: Vec<u8> =
                (0..shape[0]).flat_map(|at| ((at % (shape[1] + 1)) as i64).to_ne_bytes()).collect();
            let rows = ReverseSequence::new().time_axis(1).batch_axis(0);
            for align in [Align::Start, Align::End] {
                for tail in [Tail::Keep, Tail::Zero] {
                    let rows = rows.clone().align(align).tail(tail);
                    let plan = rows.plan(&layout, &lengths, &layout).unwrap();
                    same_in_pieces(&plan, layout.byte_len(), Some(&values));
                }
            }
            for (axis, &size) in shape.iter().enumerate() {
                let size = size as i64;
                let offsets = [0, size / 3, size / 2, size - size / 5];
                let bytes: Vec<u8> = offsets.iter().flat_map(|at| at.to_ne_bytes()).collect();
                let segments = ReverseSegments::along(axis as i64);
                let plan = segments.plan(&layout, &dense(DType::I64, &[4]), &layout).unwrap();
                same_in_pieces(&plan, layout.byte_len(), Some(&bytes));
            }
        }
    }
}
