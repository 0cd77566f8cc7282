//! Which kernel a plan runs on, by its shape.

use retrograde::{
    Align, DType, Layout, LengthPolicy, LengthsOperator, Plan, Reverse, ReverseSegments,
    ReverseSequence, ReverseSubsequences, Table, Tail,
};
use retrograde_cuda::{Kernel, Limits, Route, kernel, kernel_in_place, kernels};
use std::collections::BTreeSet;

fn dense(dtype: DType, shape: &[usize]) -> Layout {
    Layout::dense(dtype, shape).unwrap()
}

fn flip(dtype: DType, shape: &[usize], axes: &[i64]) -> Plan {
    let layout = dense(dtype, shape);
    Reverse::axes(axes.iter().copied()).plan(&layout, &layout).unwrap()
}

fn sequence(dtype: DType, shape: &[usize], time: i64, batch: i64) -> Plan {
    let layout = dense(dtype, shape);
    let lengths = dense(DType::I64, &[shape[batch as usize]]);
    let operator =
        ReverseSequence::new().time_axis(time).batch_axis(batch).policy(LengthPolicy::Strict);
    operator.plan(&layout, &lengths, &layout).unwrap()
}

fn lanes(dtype: DType, shape: &[usize], axis: usize) -> Plan {
    let layout = dense(dtype, shape);
    let mut lanes = shape.to_vec();
    lanes[axis] = 1;
    let operator = ReverseSubsequences::along(axis as i64);
    operator.plan(&layout, &dense(DType::U32, &lanes), &layout).unwrap()
}

#[test]
fn flips_go_by_the_width_of_their_units_and_the_ends_of_their_rows() {
    use DType::*;
    let table = [
        (flip(U8, &[1 << 20], &[0]), Kernel::AlignedRows),
        (flip(F32, &[64, 64], &[1]), Kernel::AlignedRows),
        (flip(F32, &[64, 64], &[0]), Kernel::AlignedRows),
        (flip(C128, &[64, 64], &[1]), Kernel::AlignedRows),
        (flip(F32, &[64, 4097], &[1]), Kernel::WordFlips),
        (flip(F32, &[8, 8, 4097], &[0, 2]), Kernel::RowPairs),
        (flip(U8, &[64, 4097], &[1]), Kernel::RowPairs),
        (flip(F32, &[64, 4097], &[0]), Kernel::RowPairs),
        (flip(F32, &[64, 255], &[0]), Kernel::Rows),
        (flip(F32, &[64, 127], &[0]), Kernel::RowPairs),
        (flip(U8, &[1000, 63], &[1]), Kernel::DenseFlips),
        (flip(U8, &[1000, 7], &[1]), Kernel::Gather),
        (flip(U8, &[8, 704, 704, 3], &[2]), Kernel::AlignedRows),
        (flip(U16, &[8, 704, 704, 3], &[2]), Kernel::AlignedRows),
        (flip(F32, &[8, 704, 704, 3], &[2]), Kernel::WordFlips),
        (flip(U8, &[8, 704, 705, 3], &[2]), Kernel::DenseFlips),
        (flip(U16, &[8, 704, 705, 3], &[2]), Kernel::DenseFlips),
        (flip(F32, &[8, 704, 705, 3], &[2]), Kernel::WordFlips),
        (flip(Bytes(5), &[1000], &[0]), Kernel::StagedRows),
        (flip(U4, &[1001], &[0]), Kernel::PackedFlips),
        (flip(U8, &[3, 3], &[0]), Kernel::Strided),
        (flip(U8, &[0, 3], &[0]), Kernel::None),
    ];
    for (plan, wanted) in table {
        assert_eq!(kernel(&plan, &Limits::default()), wanted, "{plan}");
    }
}

#[test]
fn lengths_make_rows_blocks_or_columns() {
    let limits = Limits::default();
    let table = [
        (sequence(DType::F32, &[64, 4096], 1, 0), Kernel::CutRows),
        (sequence(DType::U8, &[64, 2048], 1, 0), Kernel::CutRows),
        (sequence(DType::U8, &[64, 1024], 1, 0), Kernel::ShortRows),
        (sequence(DType::U8, &[64, 3001], 1, 0), Kernel::ShortRows),
        (sequence(DType::F64, &[64, 64], 1, 0), Kernel::CutRows),
        (sequence(DType::C128, &[64, 4], 1, 0), Kernel::CutRows),
        (sequence(DType::F32, &[64, 4095], 1, 0), Kernel::StagedRows),
        (sequence(DType::F32, &[64, 4096, 3], 1, 0), Kernel::StagedRows),
        (sequence(DType::U8, &[64, 704, 3], 1, 0), Kernel::ShortRows),
        (sequence(DType::F32, &[64, 704, 3], 1, 0), Kernel::ShortRows),
        (sequence(DType::U8, &[64, 63], 1, 0), Kernel::BriefRows),
        (sequence(DType::U8, &[64, 64], 1, 0), Kernel::BriefRows),
        (sequence(DType::F32, &[64, 32, 1024], 0, 1), Kernel::RowBlocks),
        (sequence(DType::U8, &[64, 32, 2115], 1, 0), Kernel::StagedRows),
        (sequence(DType::U8, &[64, 32, 255], 1, 0), Kernel::RowPairs),
        (sequence(DType::F32, &[2048, 64], 0, 1), Kernel::Columns),
        (sequence(DType::F32, &[16384, 64], 0, 1), Kernel::ClusterColumns),
        (sequence(DType::U8, &[16384, 64], 0, 1), Kernel::ClusterColumns),
        (sequence(DType::F16, &[57_000, 64], 0, 1), Kernel::ClusterColumns),
        (sequence(DType::F32, &[100_000, 96], 0, 1), Kernel::ScratchColumnsWide),
        (sequence(DType::U8, &[100_000, 384], 0, 1), Kernel::ScratchColumnsWide),
        // Two blocks of a cluster per multiprocessor are for rows that share cache lines.
        (sequence(DType::F32, &[37_000, 256], 0, 1), Kernel::ClusterColumns),
        (sequence(DType::F32, &[57_000, 128], 0, 1), Kernel::ScratchColumns),
        (sequence(DType::F32, &[57_000, 132], 0, 1), Kernel::ClusterColumns),
        (sequence(DType::F32, &[40_000, 256], 0, 1), Kernel::ScratchColumns),
        (sequence(DType::C128, &[100_000, 64], 0, 1), Kernel::RowBlocks),
        // Too small for two passes.
        (sequence(DType::F32, &[100_000, 50], 0, 1), Kernel::DirectColumns),
        (lanes(DType::C128, &[64, 2048, 512], 1), Kernel::Columns),
        (lanes(DType::F32, &[64, 2048, 2048], 1), Kernel::Columns),
        (lanes(DType::F32, &[64, 2048, 2048], 2), Kernel::CutRows),
    ];
    for (plan, wanted) in table {
        assert_eq!(kernel(&plan, &limits), wanted, "{plan}");
    }
    // A smaller device: less shared memory, no clusters.
    let lesser = limits.at_most(100 * 1024, false);
    let plan = sequence(DType::F32, &[2048, 64], 0, 1);
    assert_eq!(kernel(&plan, &lesser), Kernel::DirectColumns);
    assert_eq!(kernel(&sequence(DType::F32, &[2048, 4096], 0, 1), &lesser), Kernel::ScratchColumns);
    assert_eq!(kernel_in_place(&plan, &lesser), Kernel::Swaps);
}

fn ends(dtype: DType, shape: &[usize], align: Align, tail: Tail) -> Plan {
    let layout = dense(dtype, shape);
    let axis = shape.len().min(2) - 1;
    let lengths = dense(DType::I64, &[shape[1 - axis]]);
    let operator = ReverseSequence::new().time_axis(axis as i64).batch_axis(1 - axis as i64);
    operator.align(align).tail(tail).plan(&layout, &lengths, &layout).unwrap()
}

#[test]
fn lengths_at_the_end_use_the_kernels_of_long_rows() {
    let limits = Limits::default();
    let table = [
        (DType::F32, &[64, 2048][..], Kernel::CutRows, Kernel::StagedSwaps),
        (DType::U8, &[64, 4096], Kernel::CutRows, Kernel::StagedSwaps),
        (DType::F32, &[64, 4095], Kernel::StagedRows, Kernel::StagedSwaps),
        (DType::F32, &[64, 512, 256], Kernel::RowBlocks, Kernel::BlockSwaps),
        (DType::F32, &[64, 512, 255], Kernel::StagedRows, Kernel::Swaps),
    ];
    for (dtype, shape, wanted, in_place) in table {
        for tail in [Tail::Keep, Tail::Zero] {
            let plan = ends(dtype, shape, Align::End, tail);
            assert_eq!(kernel(&plan, &limits), wanted, "{plan}");
            // Blocks that trade places do not become zero.
            let in_place = match (in_place, tail) {
                (Kernel::BlockSwaps, Tail::Zero) => Kernel::Swaps,
                _ => in_place,
            };
            assert_eq!(kernel_in_place(&plan, &limits), in_place, "{plan}");
        }
    }
}

/// The kernels that can write zeros: not those that transpose tiles or cross rows.
#[test]
fn tails_that_become_zero_avoid_kernels_that_always_read() {
    let limits = Limits::default();
    let zero = |dtype, shape: &[usize]| ends(dtype, shape, Align::Start, Tail::Zero);
    let table = [
        (zero(DType::F32, &[64, 4096]), Kernel::CutRows),
        (zero(DType::U8, &[64, 1024]), Kernel::ShortRows),
        (zero(DType::F32, &[64, 4095]), Kernel::StagedRows),
        (zero(DType::F32, &[64, 32, 1024]), Kernel::RowBlocks),
        (zero(DType::U8, &[64, 32, 255]), Kernel::RowPairs),
        (zero(DType::F32, &[64, 32, 255]), Kernel::StagedRows),
        (zero(DType::U4, &[64, 33]), Kernel::PackedMore),
        (zero(DType::F32, &[64, 1]), Kernel::ColumnsZero),
    ];
    for (plan, wanted) in table {
        assert_eq!(kernel(&plan, &limits), wanted, "{plan}");
    }
    let columns = |steps: usize| {
        let layout = dense(DType::F32, &[steps, 96]);
        let operator = ReverseSequence::new().tail(Tail::Zero);
        operator.plan(&layout, &dense(DType::I64, &[96]), &layout).unwrap()
    };
    assert_eq!(kernel(&columns(2048), &limits), Kernel::ColumnsZero);
    assert_eq!(kernel(&columns(16_384), &limits), Kernel::ClusterColumns);
    assert_eq!(kernel(&columns(100_000), &limits), Kernel::ScratchColumnsWide);
    assert_eq!(kernel_in_place(&columns(2048), &limits), Kernel::ColumnsZero);
    assert_eq!(kernel_in_place(&columns(100_000), &limits), Kernel::ScratchColumnsWide);
    // More scratch memory than a call may take.
    assert_eq!(kernel(&columns(200_000), &limits), Kernel::DirectColumns);
    let vectors = sequence(DType::C128, &[100_000, 64], 0, 1);
    assert_eq!(kernel_in_place(&vectors, &limits), Kernel::ScratchColumnsWide);
    // Without scratch memory, as while a graph is being captured.
    let mut without = limits;
    without.scratch = false;
    assert_eq!(kernel(&columns(100_000), &without), Kernel::DirectColumns);
    assert_eq!(kernel_in_place(&columns(100_000), &without), Kernel::ClusterColumns);
    assert_eq!(kernel_in_place(&columns(200_000), &without), Kernel::Swaps);
}

#[test]
fn segments_go_by_tiles_if_they_cut_the_innermost_dimension() {
    let limits = Limits::default();
    let segments = |src: &Layout, dst: &Layout, axis| {
        let offsets = dense(DType::I32, &[9]);
        ReverseSegments::along(axis).plan(src, &offsets, dst).unwrap()
    };
    let of = |dtype, shape: &[usize], axis| {
        let layout = dense(dtype, shape);
        segments(&layout, &layout, axis)
    };
    let back = Layout::strided(DType::F32, &[4096], &[-1], 4095).unwrap();
    let columns = Layout::strided(DType::F32, &[64, 64], &[1, 64], 0).unwrap();
    let table = [
        (of(DType::U8, &[4096], 0), Kernel::SegmentRows),
        (of(DType::F32, &[3, 4097], 1), Kernel::SegmentRows),
        (of(DType::F64, &[4096], 0), Kernel::SegmentRows),
        (of(DType::C128, &[4096], 0), Kernel::SegmentRows),
        (of(DType::F32, &[4096, 256], 0), Kernel::SegmentBlocks),
        (of(DType::F32, &[8, 512, 255], 1), Kernel::SegmentUnits),
        (of(DType::F32, &[8, 512, 63], 1), Kernel::SegmentBlocks),
        (of(DType::Bytes(3), &[4096], 0), Kernel::SegmentBlocks),
        (of(DType::U8, &[63], 0), Kernel::SegmentBlocks),
        (segments(&back, &dense(DType::F32, &[4096]), 0), Kernel::SegmentBlocks),
        (segments(&columns, &dense(DType::F32, &[64, 64]), 0), Kernel::SegmentStrided),
        (of(DType::U4, &[4097], 0), Kernel::PackedMore),
        (of(DType::F32, &[1, 64], 0), Kernel::AlignedRows),
    ];
    for (plan, wanted) in table {
        assert_eq!(kernel(&plan, &limits), wanted, "{plan}");
        if plan.fits_in_place() {
            let in_place = match wanted {
                Kernel::Packed => Kernel::Packed,
                Kernel::SegmentRows => Kernel::SegmentRowSwaps,
                // Nothing moves: the axis has one step.
                Kernel::AlignedRows => Kernel::None,
                Kernel::SegmentStrided | Kernel::SegmentUnits => wanted,
                Kernel::PackedMore => Kernel::PackedMore,
                _ => Kernel::SegmentSwaps,
            };
            assert_eq!(kernel_in_place(&plan, &limits), in_place, "{plan}");
        }
    }
}

#[test]
fn in_place_vectors_trade_places_where_they_can() {
    let limits = Limits::default();
    let table = [
        (flip(DType::F32, &[64, 64], &[1]), Kernel::RowSwaps),
        (flip(DType::F32, &[64, 1024], &[1]), Kernel::StagedSwaps),
        (flip(DType::F32, &[64, 1024], &[0]), Kernel::BlockSwaps),
        (flip(DType::Bytes(5), &[64, 1024], &[1]), Kernel::StagedSwaps),
        (flip(DType::F32, &[64, 63], &[1]), Kernel::ShortRows),
        (flip(DType::F32, &[64, 3], &[1]), Kernel::Swaps),
        (flip(DType::F32, &[64, 1023], &[1]), Kernel::StagedSwaps),
        (flip(DType::U8, &[64, 700, 3], &[1]), Kernel::StagedSwaps),
        (sequence(DType::F32, &[64, 1024], 1, 0), Kernel::StagedSwaps),
        (sequence(DType::U8, &[64, 63], 1, 0), Kernel::BriefRows),
        (flip(DType::F32, &[64, 64], &[0]), Kernel::Swaps),
        (flip(DType::F32, &[64, 64], &[]), Kernel::None),
        (flip(DType::U4, &[65], &[]), Kernel::Packed),
        (sequence(DType::F32, &[2048, 64], 0, 1), Kernel::Columns),
    ];
    for (plan, wanted) in table {
        assert_eq!(kernel_in_place(&plan, &limits), wanted, "{plan}");
    }
}

#[test]
fn input_in_another_order_is_turned_by_squares_or_gathered() {
    let turned = |dtype, rows: usize, columns: usize| {
        let strides = [1, rows as isize];
        let input = Layout::strided(dtype, &[rows, columns], &strides, 0).unwrap();
        let plan = Reverse::axes([1]).plan(&input, &dense(dtype, &[rows, columns])).unwrap();
        kernel(&plan, &Limits::default())
    };
    assert_eq!(turned(DType::F32, 64, 64), Kernel::Tiles);
    assert_eq!(turned(DType::U8, 1000, 17), Kernel::Tiles);
    assert_eq!(turned(DType::C128, 64, 64), Kernel::Tiles);
    // Too narrow, and units that are not one piece.
    assert_eq!(turned(DType::F32, 8, 64), Kernel::Gather);
    assert_eq!(turned(DType::Bytes(12), 64, 64), Kernel::Gather);
}

/// No row of the table is hidden by those above it.
#[test]
fn every_kernel_of_the_table_runs_some_plan() {
    use DType::*;
    let limits = Limits::default();
    let segments = |src: &Layout, dst: &Layout| {
        ReverseSegments::along(0).plan(src, &dense(I32, &[9]), dst).unwrap()
    };
    let along = |dtype, shape: &[usize]| segments(&dense(dtype, shape), &dense(dtype, shape));
    let transposed = Layout::strided(F32, &[8, 64], &[1, 8], 0).unwrap();
    let wide = Layout::strided(F32, &[64, 64], &[1, 64], 0).unwrap();
    let rows = dense(F32, &[8, 64]);
    let gathered = ReverseSequence::new().time_axis(1).batch_axis(0).plan(
        &transposed,
        &dense(I64, &[8]),
        &rows,
    );
    let plans = [
        flip(U4, &[1001], &[0]),
        flip(U4, &[3, 33], &[0]),
        ends(U4, &[64, 33], Align::Start, Tail::Zero),
        along(F32, &[4096]),
        along(F32, &[4096, 255]),
        along(Bytes(3), &[4096]),
        segments(&wide, &dense(F32, &[64, 64])),
        flip(F32, &[64, 64], &[1]),
        sequence(F32, &[64, 4096], 1, 0),
        sequence(U8, &[64, 63], 1, 0),
        sequence(U8, &[64, 1024], 1, 0),
        flip(F32, &[64, 4097], &[1]),
        flip(U8, &[1000, 63], &[1]),
        flip(U8, &[8, 100, 70, 3], &[0, 2]),
        flip(U8, &[64, 4097], &[1]),
        flip(F32, &[64, 255], &[0]),
        flip(Bytes(5), &[1000], &[0]),
        lanes(U8, &[64, 2048, 8192], 1),
        ends(F32, &[2048, 96], Align::Start, Tail::Zero),
        lanes(F32, &[2048, 96], 0),
        ends(F32, &[64, 1], Align::Start, Tail::Zero),
        sequence(F32, &[16384, 64], 0, 1),
        sequence(F32, &[57_000, 128], 0, 1),
        sequence(F32, &[100_000, 96], 0, 1),
        sequence(F32, &[100_000, 50], 0, 1),
        sequence(F32, &[64, 32, 1024], 0, 1),
        flip(F32, &[64, 1024], &[0]),
        Reverse::axes([1]).plan(&wide, &dense(F32, &[64, 64])).unwrap(),
        Reverse::axes([1]).plan(&transposed, &rows).unwrap(),
        gathered.unwrap(),
        flip(U8, &[3, 3], &[0]),
    ];
    let mut left: BTreeSet<Kernel> = kernels().collect();
    let dna = Table::dna();
    for plan in [
        flip(U8, &[64, 64], &[1]),
        flip(U8, &[64, 8192], &[1]),
        flip(U8, &[64, 64], &[0]),
        along(U8, &[4096]),
    ] {
        let route = Route::of(&plan, usize::MAX).unwrap().looking_up(Some(&dna));
        left.remove(&route.kernel(&limits));
    }
    for plan in &plans {
        left.remove(&kernel(plan, &limits));
        if plan.fits_in_place() {
            left.remove(&kernel_in_place(plan, &limits));
        }
    }
    assert!(left.is_empty(), "{left:?}");
}
