//! Which calls become which plans: fusing, widening, turning around, and how plans read.

use retrograde::{
    BitOrder, DType, Dim, Flow, Grain, Layout, LengthPolicy, Lengths, LengthsOperator, Plan,
    Reversal, Reverse, ReverseSegments, ReverseSequence, ReverseSubsequences, TensorRef,
    WithLengths,
};

fn dense(dtype: DType, shape: &[usize]) -> Layout {
    Layout::dense(dtype, shape).unwrap()
}

fn strided(dtype: DType, shape: &[usize], strides: &[isize], offset: usize) -> Layout {
    Layout::strided(dtype, shape, strides, offset).unwrap()
}

fn flip(axes: &[i64], shape: &[usize]) -> Plan {
    let layout = dense(DType::F32, shape);
    Reverse::axes(axes.iter().copied()).plan(&layout, &layout).unwrap()
}

fn batch_major() -> ReverseSequence {
    ReverseSequence::new().time_axis(1).batch_axis(0)
}

fn keep(len: usize, stride: isize, lengths: isize) -> Dim {
    Dim { len, src: stride, dst: stride, lengths, flow: Flow::Keep }
}

fn flips(len: usize, stride: isize) -> Dim {
    Dim { len, src: stride, dst: stride, lengths: 0, flow: Flow::Flip }
}

fn prefix(len: usize, stride: isize) -> Dim {
    Dim { len, src: stride, dst: stride, lengths: 0, flow: Flow::FlipPrefix }
}

#[test]
fn no_axes_are_one_block() {
    let plan = flip(&[], &[2, 3, 4]);
    assert_eq!((plan.dims(), plan.unit().count), (&[][..], 96));
    assert!(plan.keeps_order());
}

#[test]
fn an_outer_axis_moves_blocks() {
    let plan = flip(&[0], &[2, 3, 4]);
    assert_eq!((plan.dims(), plan.unit().count), (&[flips(2, 48)][..], 48));
}

#[test]
fn a_middle_axis_keeps_the_outer_one() {
    let plan = flip(&[1], &[2, 3, 4]);
    assert_eq!((plan.dims(), plan.unit().count), (&[keep(2, 48, 0), flips(3, 16)][..], 16));
}

#[test]
fn neighbouring_flips_are_one() {
    let plan = flip(&[0, 1, 2], &[2, 3, 4]);
    assert_eq!((plan.dims(), plan.unit().count), (&[flips(24, 4)][..], 4));
    assert_eq!(plan, flip(&[0], &[24]));
}

#[test]
fn flips_apart_stay_apart() {
    let plan = flip(&[0, 2], &[2, 3, 4]);
    assert_eq!(plan.dims(), [flips(2, 48), keep(3, 16, 0), flips(4, 4)]);
}

#[test]
fn duplicate_and_negative_axes_are_a_set() {
    assert_eq!(flip(&[1, 1, -2], &[2, 3, 4]), flip(&[1], &[2, 3, 4]));
    assert_eq!(flip(&[2, -1, 0], &[2, 3, 4]), flip(&[0, 2], &[2, 3, 4]));
}

#[test]
fn a_mask_and_the_axes_it_names_are_the_same() {
    let layout = dense(DType::F32, &[2, 3, 4]);
    let mask = Reverse::mask([true, false, true]).plan(&layout, &layout).unwrap();
    assert_eq!(mask, flip(&[0, 2], &[2, 3, 4]));
    assert_eq!(Reverse::all().plan(&layout, &layout).unwrap(), flip(&[0, 1, 2], &[2, 3, 4]));
}

#[test]
fn axes_of_size_one_do_not_matter() {
    assert_eq!(flip(&[1], &[4, 1, 5]), flip(&[], &[4, 5]));
    assert_eq!(flip(&[0, 1, 2], &[4, 1, 5]), flip(&[0, 1], &[4, 5]));
    assert_eq!(flip(&[0], &[1, 1, 1, 7, 1]), flip(&[], &[7]));
}

#[test]
fn empty_tensors_all_move_nothing() {
    assert_eq!(flip(&[0], &[0, 5]), flip(&[1], &[3, 0, 2]));
    assert!(flip(&[0], &[0]).is_empty());
}

#[test]
fn a_view_that_runs_backwards_is_a_flip() {
    let forward = dense(DType::F32, &[3, 4]);
    let backward = strided(DType::F32, &[3, 4], &[4, -1], 3);
    let copied = Reverse::axes([]).plan(&backward, &forward).unwrap();
    assert_eq!(copied, flip(&[1], &[3, 4]));
    // Flipping the backward view is a plain copy.
    let flipped = Reverse::axes([1]).plan(&backward, &forward).unwrap();
    assert_eq!(flipped, flip(&[], &[3, 4]));
    // And from one backward view to another nothing but the direction of the walk changes.
    let both = Reverse::axes([1]).plan(&backward, &backward).unwrap();
    assert_eq!(both, flip(&[1], &[3, 4]));
}

#[test]
fn the_order_of_axes_is_the_outputs() {
    // Column-major to column-major is the row-major movement of the transposed tensor.
    let columns = strided(DType::F32, &[4, 3], &[1, 4], 0);
    let plan = Reverse::axes([0]).plan(&columns, &columns).unwrap();
    assert_eq!(plan, flip(&[1], &[3, 4]));
}

#[test]
fn transposed_input_keeps_two_dims() {
    let columns = strided(DType::F32, &[3, 4], &[1, 3], 0);
    let plan = Reverse::axes([1]).plan(&columns, &dense(DType::F32, &[3, 4])).unwrap();
    let outer = Dim { len: 3, src: 4, dst: 16, lengths: 0, flow: Flow::Keep };
    let inner = Dim { len: 4, src: 12, dst: 4, lengths: 0, flow: Flow::Flip };
    assert_eq!(plan.dims(), [outer, inner]);
}

#[test]
fn padded_rows_do_not_fuse() {
    let padded = strided(DType::F32, &[3, 4], &[5, 1], 0);
    let plan = Reverse::all().plan(&padded, &dense(DType::F32, &[3, 4])).unwrap();
    let outer = Dim { len: 3, src: 20, dst: 16, lengths: 0, flow: Flow::Flip };
    assert_eq!(plan.dims(), [outer, flips(4, 4)]);
}

#[test]
fn a_repeated_input_has_no_direction() {
    let one = strided(DType::F32, &[3, 4], &[1, 0], 0);
    let out = dense(DType::F32, &[3, 4]);
    let flipped = Reverse::axes([1]).plan(&one, &out).unwrap();
    assert_eq!(flipped, Reverse::axes([]).plan(&one, &out).unwrap());
    assert!(flipped.keeps_order());
}

#[test]
fn a_time_major_batch_has_lengths_inside() {
    let (x, lengths) = (dense(DType::F32, &[9, 5, 8]), dense(DType::I64, &[5]));
    let plan = ReverseSequence::new().plan(&x, &lengths, &x).unwrap();
    assert_eq!(plan.dims(), [prefix(9, 160), keep(5, 32, 8)]);
    assert_eq!(plan.unit().count, 32);
    let lengths = plan.lengths().unwrap();
    assert_eq!((lengths.count(), lengths.limit), (5, 9));
    assert_eq!(lengths.policy, LengthPolicy::Strict);
}

#[test]
fn a_batch_major_batch_has_lengths_outside() {
    let (x, lengths) = (dense(DType::U8, &[5, 9, 2, 3]), dense(DType::I64, &[5]));
    let plan = batch_major().plan(&x, &lengths, &x).unwrap();
    assert_eq!(plan.dims(), [keep(5, 54, 8), prefix(9, 6)]);
    assert_eq!(plan.unit().count, 6);
}

#[test]
fn a_batch_of_lanes_is_the_same_plan_from_either_operator() {
    let x = dense(DType::F16, &[5, 9]);
    let sequence = batch_major().policy(LengthPolicy::Clamp);
    let sequence = sequence.plan(&x, &dense(DType::U32, &[5]), &x).unwrap();
    let lanes = ReverseSubsequences::along(1).plan(&x, &dense(DType::U32, &[5, 1]), &x).unwrap();
    assert_eq!(sequence, lanes);
    let last = ReverseSubsequences::along(-1).plan(&x, &dense(DType::U32, &[5, 1]), &x).unwrap();
    assert_eq!(lanes, last);
    let strict = batch_major().plan(&x, &dense(DType::U32, &[5]), &x).unwrap();
    assert_ne!(strict, lanes, "the policy is part of the plan");
}

#[test]
fn lanes_of_several_axes_fuse_when_their_lengths_do() {
    let x = dense(DType::F32, &[2, 3, 4, 5]);
    let lengths = dense(DType::U32, &[2, 3, 4, 1]);
    let plan = ReverseSubsequences::along(3).plan(&x, &lengths, &x).unwrap();
    assert_eq!(plan.dims(), [keep(24, 20, 4), prefix(5, 4)]);
    // Lengths stored elsewhere keep the axes apart.
    let padded = strided(DType::U32, &[2, 3, 4, 1], &[100, 4, 1, 1], 0);
    let plan = ReverseSubsequences::along(3).plan(&x, &padded, &x).unwrap();
    assert_eq!(plan.dims(), [keep(2, 240, 400), keep(12, 20, 4), prefix(5, 4)]);
}

#[test]
fn columns_keep_their_lengths_inside_the_reversed_axis() {
    let x = dense(DType::F32, &[2, 9, 3, 4]);
    let plan = ReverseSubsequences::along(1).plan(&x, &dense(DType::U32, &[2, 1, 3, 4]), &x);
    let plan = plan.unwrap();
    assert_eq!(plan.dims(), [keep(2, 432, 48), prefix(9, 48), keep(12, 4, 4)]);
    assert_eq!(plan.unit().count, 4);
}

#[test]
fn a_single_step_is_a_copy_that_still_checks_lengths() {
    let x = dense(DType::F32, &[1, 5]);
    let plan = ReverseSequence::new().plan(&x, &dense(DType::I64, &[5]), &x).unwrap();
    assert!(plan.dims().is_empty() && plan.keeps_order());
    let lengths = plan.lengths().unwrap();
    assert_eq!((lengths.count(), lengths.limit), (5, 1));
    assert!(lengths.needs_check());
}

#[test]
fn a_prefix_of_a_repeated_input_is_a_copy() {
    let x = strided(DType::F32, &[7, 5], &[0, 1], 0);
    let plan =
        ReverseSequence::new().plan(&x, &dense(DType::I64, &[5]), &dense(DType::F32, &[7, 5]));
    assert!(plan.unwrap().keeps_order());
}

#[test]
fn a_backward_prefix_stays_backward() {
    let backward = strided(DType::U8, &[2, 4], &[4, -1], 3);
    let out = dense(DType::U8, &[2, 4]);
    let plan = batch_major().plan(&backward, &dense(DType::I64, &[2]), &out).unwrap();
    let time = Dim { len: 4, src: -1, dst: 1, lengths: 0, flow: Flow::FlipPrefix };
    assert_eq!(plan.dims(), [keep(2, 4, 8), time]);
    assert_eq!(plan.src().origin, 3);
}

#[test]
fn packed_rows_of_whole_bytes_are_bytes() {
    let rows = dense(DType::U4, &[3, 8]);
    let plan = Reverse::axes([0]).plan(&rows, &rows).unwrap();
    let bytes = dense(DType::U8, &[3, 4]);
    assert_eq!(plan, Reverse::axes([0]).plan(&bytes, &bytes).unwrap());
}

#[test]
fn packed_rows_that_share_bytes_stay_packed() {
    for (dtype, bits, order) in [
        (DType::I4, 4, BitOrder::LowFirst),
        (DType::U2, 2, BitOrder::LowFirst),
        (DType::U1, 1, BitOrder::HighFirst),
    ] {
        let rows = dense(dtype, &[3, 5]);
        let plan = Reverse::axes([0]).plan(&rows, &rows).unwrap();
        assert_eq!(plan.unit().grain, Grain::Packed { bits, order });
        assert_eq!((plan.dims(), plan.unit().count), (&[flips(3, 5)][..], 5));
        assert!(plan.seals_last_byte() && !plan.merges_bytes());
    }
}

#[test]
fn a_part_of_a_packed_tensor_merges_into_its_neighbours() {
    let part = strided(DType::U4, &[3], &[1], 1);
    let plan = Reverse::all().plan(&part, &part).unwrap();
    assert!(plan.merges_bytes() && !plan.seals_last_byte());
}

#[test]
fn dtype_does_not_matter_beyond_its_width() {
    let of = |dtype| {
        let x = dense(dtype, &[6, 7]);
        Reverse::axes([1]).plan(&x, &x).unwrap()
    };
    assert_eq!(of(DType::F32), of(DType::U32));
    assert_eq!(of(DType::C128), of(DType::Bytes(16)));
    assert_ne!(of(DType::F32), of(DType::F16));
}

#[test]
fn rank_has_no_limit() {
    let shape = vec![2; 20];
    let x = dense(DType::U8, &shape);
    let alternating: Vec<bool> = (0..20).map(|axis| axis % 2 == 0).collect();
    let plan = Reverse::mask(alternating).plan(&x, &x).unwrap();
    assert_eq!(plan.dims().len(), 19, "the last axis is kept and joins the unit");
    assert_eq!(Reverse::all().plan(&x, &x).unwrap().dims().len(), 1);
    let long = dense(DType::U8, &vec![1; if cfg!(miri) { 100 } else { 1000 }]);
    assert!(Reverse::all().plan(&long, &long).unwrap().dims().is_empty());
}

#[test]
fn plans_explain_themselves() {
    assert_eq!(flip(&[], &[2, 3]).to_string(), "copy one block: 1 unit of 24 B");
    assert_eq!(flip(&[0], &[0, 3]).to_string(), "nothing to move");
    assert_eq!(
        flip(&[1], &[480, 640, 3]).to_string(),
        "reverse whole axes: 307200 units of 12 B each\n\
        \x20        480 x keep         step 7680 B in, 7680 B out\n\
        \x20        640 x flip         step 12 B in, 12 B out"
    );
    let (x, lengths) = (dense(DType::U4, &[5, 9]), dense(DType::I64, &[5]));
    assert_eq!(
        batch_major().plan(&x, &lengths, &x).unwrap().to_string(),
        "reverse the start of each lane: 45 units of 4 bit each\n\
        \x20          5 x keep         step 9 elements in, 9 elements out, a length each (step 8 B)\n\
        \x20          9 x flip prefix  step 1 elements in, 1 elements out\n\
        \x20 lengths: 5 of i64, each must be in [0, 9]"
    );
    let x = dense(DType::F32, &[1, 5]);
    let plan = ReverseSequence::new().policy(LengthPolicy::Clamp);
    assert_eq!(
        plan.plan(&x, &lengths, &x).unwrap().to_string(),
        "copy one block: 1 unit of 20 B\n\
        \x20 lengths: 5 of i64, clamped to 1 (checked, but nothing depends on them)"
    );
    let (x, offsets) = (dense(DType::F32, &[10, 4]), dense(DType::I32, &[3]));
    assert_eq!(
        ReverseSegments::along(0).plan(&x, &offsets, &x).unwrap().to_string(),
        "reverse each segment: 10 units of 16 B each\n\
        \x20         10 x flip segments  step 16 B in, 16 B out\n\
        \x20 offsets: 3 of i32, ascending from 0 to at most 10"
    );
}

/// With lengths of another type, a prepared call is the one that would be prepared for them.
#[test]
fn lengths_of_another_type_keep_it() {
    fn keep<'a, O: LengthsOperator>(
        bind: impl Fn(Lengths<'a>) -> WithLengths<'a, O>,
        shape: &[usize],
        (wide, narrow): (Lengths<'a>, Lengths<'a>),
    ) {
        for dtype in [DType::U8, DType::U4] {
            let x = dense(dtype, shape);
            let prepared = |lengths: &Lengths<'a>| bind(lengths.clone()).prepare(&x, &x).unwrap();
            let (of_wide, of_narrow) = (prepared(&wide), prepared(&narrow));
            let changed = of_wide.clone().with_lengths(narrow.clone()).unwrap();
            assert_eq!(changed.plan(), of_narrow.plan());
            let input: Vec<u8> = (0..x.byte_len() as u8).collect();
            let [mut y, mut expected] = [(); 2].map(|()| vec![0u8; x.byte_len()]);
            changed.run(&input, &mut y).unwrap();
            of_wide.run(&input, &mut expected).unwrap();
            assert_eq!(y, expected);
            assert_eq!(of_narrow.with_lengths(wide.clone()).unwrap().plan(), of_wide.plan());
        }
    }

    let rows = batch_major();
    let given = ((&[3i64, 0, 2]).into(), (&[3u8, 0, 2]).into());
    keep(|lengths| rows.lengths(lengths), &[3, 4, 5], given);
    let lanes = ReverseSubsequences::along(1);
    let given = ((&[1i32, 4, 0, 2, 3, 1]).into(), (&[1u16, 4, 0, 2, 3, 1]).into());
    keep(|lengths| lanes.lengths(lengths), &[2, 4, 3], given);
    let pieces = ReverseSegments::along(1);
    let given = ((&[0u64, 1, 4]).into(), (&[0i8, 1, 4]).into());
    keep(|offsets| pieces.offsets(offsets), &[2, 5], given);
    // A backward view of every other length.
    let (wide, narrow) = ([9i64, 2, 9, 0, 9, 3], [9i16, 2, 9, 0, 9, 3]);
    let view = |dtype| Layout::strided(dtype, &[3], &[-2], 5).unwrap();
    let wide = TensorRef::new(view(DType::I64), &wide).unwrap();
    let narrow = TensorRef::new(view(DType::I16), &narrow).unwrap();
    keep(|lengths| rows.lengths(lengths), &[3, 4, 5], (wide.into(), narrow.into()));
}
