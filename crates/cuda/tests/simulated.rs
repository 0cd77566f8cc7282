//! Kernels on this processor, on tensors larger than those of the conformance suite: segments in
//! many tiles, and tails that become zero in rows of every kernel. Compared with the CPU backend.
#![cfg(feature = "simulate")]

use retrograde::cpu::Program;
use retrograde::prelude::*;
use retrograde::{
    Align, DType, ExecuteError, Layout, LengthPolicy, LengthsMemory, MemoryMut, Plan, Table, Tail,
    TensorRef, cpu,
};
use retrograde_cuda::{Error, Kernel, Simulator, kernel, kernel_in_place};
use std::sync::LazyLock;

/// The kernels, compiled once; `None` if there is no compiler.
fn simulator() -> Option<&'static Simulator> {
    static COMPILED: LazyLock<Option<Simulator>> = LazyLock::new(|| {
        if let Some(reason) = Simulator::unavailable() {
            println!("SKIPPED: {reason}");
            return None;
        }
        let name = format!("retrograde-cuda-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let made = Simulator::compile(&folder);
        // The loaded library stays mapped.
        let _ = std::fs::remove_dir_all(&folder);
        Some(made.unwrap_or_else(|error| panic!("the kernels do not compile: {error}")))
    });
    COMPILED.as_ref()
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn up_to(&mut self, most: usize) -> u64 {
        self.next() % (most as u64 + 1)
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

/// Offsets of segments of up to `most` steps, of which one in three is empty, up to near the end.
fn offsets(dice: &mut Dice, size: usize, most: usize) -> Vec<u64> {
    let mut all = vec![0];
    let mut last = 0;
    while last < size {
        last += if dice.up_to(2) == 0 { 0 } else { dice.up_to(most) as usize };
        if last + 5 < size {
            all.push(last as u64);
        }
    }
    all
}

/// Bytes around the output, which no kernel may write: a cache line, so that what follows is aligned.
const GUARD: usize = 128;

/// Buffers are aligned to cache lines, as on a device.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct Line([u8; 128]);

/// Runs a plan out of place, from and to these alignments, and in place.
fn agrees(simulator: &Simulator, plan: &Plan, lengths: &[u64], alignments: [usize; 2]) {
    let program = Program::new(plan.clone());
    same(simulator, &program, Some(LengthsMemory::from(lengths)), alignments);
}

/// The same with its table, and with any lengths.
fn same(
    simulator: &Simulator,
    program: &Program,
    lengths: Option<LengthsMemory<'_>>,
    [from, to]: [usize; 2],
) {
    let plan = program.plan();
    let simulator = simulator.looking_up(program.looked_up_in());
    let mut dice = Dice(plan.units() as u64);
    let per_byte = plan.unit().grain.per_byte();
    let input = dice.bytes(plan.src().end.div_ceil(per_byte));
    let before = dice.bytes(plan.dst().end.div_ceil(per_byte));
    let mut expected = before.clone();
    program.execute(input[..].into(), lengths, MemoryMut::from(&mut expected[..])).unwrap();

    let place = |bytes: &[u8], lead: usize| {
        let mut held = vec![Line([0; 128]); (lead + bytes.len() + 2 * GUARD).div_ceil(128)];
        let at = GUARD + lead;
        // SAFETY: the vector has room for the bytes and a guard on both sides of them.
        unsafe {
            let to = held.as_mut_ptr().cast::<u8>();
            to.write_bytes(0xA5, held.len() * 128);
            to.add(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        held
    };
    let bytes = |held: &mut Vec<Line>| -> *mut u8 { held.as_mut_ptr().cast() };
    let check = |held: &mut Vec<Line>, lead: usize, expected: &[u8], how: &str| {
        // SAFETY: all bytes of the vector, which were initialised.
        let all = unsafe { std::slice::from_raw_parts(bytes(held), held.len() * 128) };
        let (start, end) = (GUARD + lead, GUARD + lead + expected.len());
        assert!(all[..start].iter().chain(&all[end..]).all(|&b| b == 0xA5), "{how}: {plan}");
        let wrong = all[start..end].iter().zip(expected).position(|(a, b)| a != b);
        assert_eq!(wrong, None, "{how}, the first wrong byte: {plan}");
    };
    let (mut src, mut dst) = (place(&input, from), place(&before, to));
    // SAFETY: the bytes that were placed there; the two vectors do not overlap.
    unsafe {
        let src = std::slice::from_raw_parts(bytes(&mut src).add(GUARD + from), input.len());
        let dst = std::slice::from_raw_parts_mut(bytes(&mut dst).add(GUARD + to), before.len());
        simulator.execute(plan, src, lengths, dst).unwrap();
    }
    check(&mut dst, to, &expected, "apart");
    if plan.fits_in_place() {
        let mut expected = input.clone();
        program.execute_in_place(lengths, MemoryMut::from(&mut expected[..])).unwrap();
        let mut held = place(&input, from);
        // SAFETY: as above.
        unsafe {
            let at = bytes(&mut held).add(GUARD + from);
            let data = std::slice::from_raw_parts_mut(at, input.len());
            simulator.execute_in_place(plan, lengths, data).unwrap();
        }
        check(&mut held, from, &expected, "in place");
    }
}

#[test]
fn segments_of_every_size_cross_tiles() {
    let Some(simulator) = simulator() else { return };
    let mut dice = Dice(1);
    let limits = simulator.limits();
    for (dtype, shape, axis, wanted) in [
        (DType::U8, &[40_001][..], 0, Kernel::SegmentRows),
        (DType::U16, &[3, 9_001], 1, Kernel::SegmentRows),
        (DType::F32, &[20_000], 0, Kernel::SegmentRows),
        (DType::F32, &[2, 4_099], 1, Kernel::SegmentRows),
        (DType::F64, &[5_000], 0, Kernel::SegmentRows),
        // Several tiles per block.
        (DType::U8, &[900_001], 0, Kernel::SegmentRows),
        (DType::F32, &[2, 190_001], 1, Kernel::SegmentRows),
        (DType::C128, &[2, 1_300], 1, Kernel::SegmentRows),
        (DType::Bytes(3), &[5_000], 0, Kernel::SegmentBlocks),
        (DType::F32, &[700, 20], 0, Kernel::SegmentBlocks),
        (DType::F32, &[300, 65], 0, Kernel::SegmentUnits),
        (DType::F32, &[300, 63], 0, Kernel::SegmentBlocks),
        (DType::F32, &[2, 60, 701], 1, Kernel::SegmentUnits),
        (DType::U8, &[90, 1_025], 0, Kernel::SegmentUnits),
        (DType::F32, &[300, 28], 0, Kernel::SegmentBlocks),
        (DType::F16, &[40, 30, 3], 1, Kernel::SegmentBlocks),
        (DType::U4, &[9_001], 0, Kernel::PackedMore),
        (DType::U1, &[3, 5_003], 1, Kernel::PackedMore),
    ] {
        for most in [1, 3, 30, 300, 5_000, 100_000] {
            let layout = Layout::dense(dtype, shape).unwrap();
            let given = offsets(&mut dice, shape[axis], most);
            let of = Layout::dense(DType::U64, &[given.len()]).unwrap();
            let plan = ReverseSegments::along(axis as i64).plan(&layout, &of, &layout).unwrap();
            assert_eq!(kernel(&plan, &limits), wanted, "{plan}");
            if wanted == Kernel::SegmentRows {
                let in_place = kernel_in_place(&plan, &limits);
                assert_eq!(in_place, Kernel::SegmentRowSwaps, "{plan}");
            }
            let width = dtype.bits().unwrap_or(8).div_ceil(8);
            // Sixteen is aligned too.
            let lead = width * dice.up_to(16 / width.min(16)) as usize;
            agrees(simulator, &plan, &given, [0, 0]);
            agrees(simulator, &plan, &given, [lead % 64, width % 64]);
        }
    }
}

/// Segments of which a mask keeps some, in every kernel, and bytes and packed elements that are looked
/// up: with offsets, with lengths and with neither.
#[test]
fn masks_and_tables_reach_every_kernel() {
    let Some(simulator) = simulator() else { return };
    let mut dice = Dice(7);
    for (dtype, shape, axis, table) in [
        (DType::U8, &[40_001][..], 0, Some(Table::dna())),
        (DType::U8, &[3, 9_001], 1, Some(Table::dna())),
        (DType::U8, &[70, 150], 1, Some(Table::dna())),
        (DType::U8, &[300, 33], 1, Some(Table::dna())),
        (DType::U8, &[3, 5_000], 1, Some(Table::dna())),
        (DType::U8, &[9, 1_000], 0, Some(Table::dna())),
        (DType::U8, &[5_000, 7], 0, Some(Table::dna())),
        (DType::U4, &[9_001], 0, Some(Table::nibbles(&std::array::from_fn(|k| 15 - k as u8)))),
        (DType::U2, &[3, 5_003], 1, Some(Table::quarters(&[3, 2, 1, 0]))),
        (DType::U8, &[40_001], 0, None),
        (DType::F32, &[20_000], 0, None),
        (DType::C128, &[2, 1_300], 1, None),
        (DType::F32, &[700, 20], 0, None),
        (DType::U8, &[90, 1_025], 0, None),
        (DType::U4, &[9_001], 0, None),
    ] {
        let layout = Layout::dense(dtype, shape).unwrap();
        for most in [1, 3, 30, 300, 5_000, 100_000] {
            let plain = offsets(&mut dice, shape[axis], most);
            let marked: Vec<i64> =
                plain.iter().map(|&offset| 2 * offset as i64 + dice.up_to(1) as i64).collect();
            let segments = ReverseSegments::along(axis as i64).marked().offsets(&marked);
            let prepared = match &table {
                Some(table) => segments.table(table).prepare(&layout, &layout),
                None => segments.prepare(&layout, &layout),
            };
            let prepared = prepared.unwrap();
            for alignments in [[0, 0], [16, 48]] {
                same(simulator, prepared.program(), prepared.lengths_memory(), alignments);
            }
            if matches!(dtype, DType::U8) {
                same(simulator, prepared.program(), prepared.lengths_memory(), [3, 6]);
            }
        }
        let Some(table) = table else { continue };
        let lanes: Vec<usize> =
            (0..shape.len()).map(|at| if at == axis { 1 } else { shape[at] }).collect();
        let given: Vec<u64> =
            (0..lanes.iter().product()).map(|_| dice.up_to(shape[axis])).collect();
        let given = TensorRef::from_slice(&given, &lanes).unwrap();
        for align in [Align::Start, Align::End] {
            for tail in [Tail::Keep, Tail::Zero] {
                let lanes = ReverseSubsequences::along(axis as i64).align(align).tail(tail);
                let lanes = lanes.lengths(given.clone());
                let prepared = lanes.table(&table).prepare(&layout, &layout).unwrap();
                same(simulator, prepared.program(), prepared.lengths_memory(), [1, 5]);
            }
        }
        let whole = Reverse::axes([axis as i64]);
        let prepared = whole.table(&table).prepare(&layout, &layout).unwrap();
        same(simulator, prepared.program(), None, [7, 2]);
    }
    let left: Vec<String> = simulator.unused();
    let left: Vec<&String> = left.iter().filter(|name| name.contains("table")).collect();
    assert_eq!(left, Vec::<&String>::new(), "kernels that no call has run");
}

/// Tiles of many short segments end early, anywhere in a vector, and full ones follow in the same block.
#[test]
fn short_segments_before_long_ones_fill_all_tiles() {
    let Some(simulator) = simulator() else { return };
    let mut dice = Dice(11);
    for (dtype, size) in [(DType::U8, 900_001), (DType::F32, 400_001)] {
        let layout = Layout::dense(dtype, &[size]).unwrap();
        let mut given = vec![0];
        while given[given.len() - 1] < size as u64 {
            for (count, most) in [(700, 2), (4, 30_000)] {
                for _ in 0..count {
                    given.push((given[given.len() - 1] + dice.up_to(most)).min(size as u64));
                }
            }
        }
        let of = Layout::dense(DType::U64, &[given.len()]).unwrap();
        let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
        assert_eq!(kernel(&plan, &simulator.limits()), Kernel::SegmentRows, "{plan}");
        agrees(simulator, &plan, &given, [0, 0]);
        agrees(simulator, &plan, &given, [4, 8]);
    }
}

#[test]
fn segments_of_views_go_piece_by_piece() {
    let Some(simulator) = simulator() else { return };
    let mut dice = Dice(2);
    let dense = Layout::dense(DType::F32, &[70, 90]).unwrap();
    let columns = Layout::strided(DType::F32, &[70, 90], &[1, 70], 0).unwrap();
    let back = Layout::strided(DType::F32, &[70, 90], &[-90, -1], 70 * 90 - 1).unwrap();
    for (src, dst) in [(&dense, &columns), (&columns, &dense), (&back, &dense), (&back, &back)] {
        for axis in [0, 1] {
            let given = offsets(&mut dice, [70, 90][axis as usize], 20);
            let of = Layout::dense(DType::U64, &[given.len()]).unwrap();
            let plan = ReverseSegments::along(axis).plan(src, &of, dst).unwrap();
            agrees(simulator, &plan, &given, [0, 0]);
        }
    }
}

#[test]
fn tails_become_zero_at_either_end_in_every_kernel() {
    let Some(simulator) = simulator() else { return };
    let mut dice = Dice(3);
    for (dtype, shape, axis) in [
        (DType::F32, &[5, 2_000][..], 1),
        (DType::U8, &[5, 4_096], 1),
        (DType::U8, &[40, 100], 1),
        (DType::U8, &[300, 63], 1),
        (DType::U8, &[77, 95], 1),
        (DType::U8, &[500, 16], 1),
        (DType::F32, &[5, 2_001], 1),
        (DType::Bytes(3), &[5, 2_001], 1),
        (DType::Bytes(5), &[5, 1_001], 1),
        (DType::Bytes(5), &[2, 5_003], 1),
        (DType::F32, &[9, 5, 64], 1),
        (DType::F32, &[9, 7, 300], 1),
        (DType::F32, &[9, 5, 63], 1),
        (DType::F32, &[9, 5, 511], 1),
        (DType::F32, &[300, 64], 0),
        (DType::U8, &[3_000, 96], 0),
        (DType::U16, &[5_000, 33], 0),
        (DType::U8, &[900, 3], 0),
        (DType::U4, &[5, 2_003], 1),
        (DType::U4, &[50, 33], 0),
        (DType::F32, &[7, 1], 1),
        (DType::U2, &[7, 1], 1),
    ] {
        for align in [Align::Start, Align::End] {
            for tail in [Tail::Keep, Tail::Zero] {
                let layout = Layout::dense(dtype, shape).unwrap();
                let mut lanes = shape.to_vec();
                lanes[axis] = 1;
                let lanes = Layout::dense(DType::U64, &lanes).unwrap();
                let operator = ReverseSubsequences::along(axis as i64).align(align).tail(tail);
                let plan = operator.plan(&layout, &lanes, &layout).unwrap();
                let given: Vec<u64> = (0..lanes.len()).map(|_| dice.up_to(shape[axis])).collect();
                agrees(simulator, &plan, &given, [0, 0]);
                agrees(simulator, &plan, &given, [4, 8]);
            }
        }
    }
}

/// Long columns in two passes: several strips, rows in whole cache lines and others, tiles that end
/// anywhere, units of several granules, and tails that are kept and become zero.
#[test]
fn long_columns_pass_through_scratch() {
    let Some(simulator) = simulator() else { return };
    let mut dice = Dice(5);
    let limits = simulator.limits();
    for (dtype, steps, columns) in [
        (DType::U8, 3_700, 1_408),
        (DType::U8, 4_001, 777),
        (DType::U16, 3_719, 640),
        (DType::U16, 3_800, 333),
        (DType::F32, 3_650, 320),
        (DType::F32, 5_003, 175),
        (DType::F32, 3_700, 204),
        (DType::F64, 3_702, 112),
        (DType::F64, 3_801, 81),
        (DType::C128, 3_713, 72),
        (DType::C128, 3_640, 67),
        (DType::Bytes(12), 3_700, 50),
        (DType::Bytes(24), 3_650, 16),
        (DType::Bytes(3), 3_999, 100),
    ] {
        for tail in [Tail::Keep, Tail::Zero] {
            let layout = Layout::dense(dtype, &[steps, columns]).unwrap();
            let lanes = Layout::dense(DType::U64, &[1, columns]).unwrap();
            let operator = ReverseSubsequences::along(0).tail(tail);
            let plan = operator.plan(&layout, &lanes, &layout).unwrap();
            // Rows in whole cache lines take narrow strips.
            let width = dtype.bits().unwrap_or(8).div_ceil(8);
            let scratch = match (columns * width).is_multiple_of(128) {
                true => Kernel::ScratchColumns,
                false => Kernel::ScratchColumnsWide,
            };
            let wanted = match dtype {
                // In place only.
                DType::C128 => Kernel::RowBlocks,
                _ => scratch,
            };
            assert_eq!(kernel(&plan, &limits), wanted, "{plan}");
            assert_eq!(kernel_in_place(&plan, &limits), scratch, "{plan}");
            let ends = [0, 1, 2, steps as u64, steps as u64 - 1, 252, 253];
            let ends = ends.into_iter().chain((0..).map(|_| dice.up_to(steps)));
            let given: Vec<u64> = ends.take(columns).collect();
            agrees(simulator, &plan, &given, [0, 0]);
            agrees(simulator, &plan, &given, [width % 16, 0]);
        }
    }
    // Three planes of columns each, with a length for every one.
    let layout = Layout::dense(DType::F32, &[3, 3_700, 40]).unwrap();
    let lanes = Layout::dense(DType::U64, &[3, 1, 40]).unwrap();
    let plan = ReverseSubsequences::along(1).plan(&layout, &lanes, &layout).unwrap();
    assert_eq!(kernel(&plan, &limits), Kernel::ScratchColumnsWide, "{plan}");
    let given: Vec<u64> = (0..120).map(|_| dice.up_to(3_700)).collect();
    agrees(simulator, &plan, &given, [0, 0]);
}

#[test]
fn bad_offsets_are_told_and_nothing_is_written() {
    let Some(simulator) = simulator() else { return };
    let layout = Layout::dense(DType::F32, &[1_000]).unwrap();
    for (values, ordinal, value, low, high) in [
        (vec![1i64, 5], 0, 1, 0, 0),
        (vec![-1, 5], 0, -1, 0, 0),
        (vec![0, 700, 699, 1_000], 2, 699, 700, 1_000),
        (vec![0, 700, -1], 2, -1, 700, 1_000),
        (vec![0, 5, 5, 1_001, 3], 3, 1_001, 5, 1_000),
        ((0..600).chain([598]).collect(), 600, 598, 599, 1_000),
    ] {
        let of = Layout::dense(DType::I64, &[values.len()]).unwrap();
        let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
        let lengths = Some(LengthsMemory::from(&values));
        let mut output = vec![0xA5; 4_000];
        let error = ExecuteError::OffsetOutOfRange { ordinal, value, low, high };
        let error = Err(Error::Execute(error));
        let input = vec![1; 4_000];
        assert_eq!(simulator.execute(&plan, &input, lengths, &mut output), error);
        assert_eq!(simulator.execute_in_place(&plan, lengths, &mut output), error);
        assert_eq!(output, [0xA5; 4_000]);
    }
    // The largest unsigned value is not negative.
    let of = Layout::dense(DType::U64, &[2]).unwrap();
    let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
    let value = u64::MAX.into();
    let error = ExecuteError::OffsetOutOfRange { ordinal: 1, value, low: 0, high: 1_000 };
    let mut output = vec![0xA5; 4_000];
    let told = simulator.execute_in_place(&plan, Some((&[0, u64::MAX]).into()), &mut output);
    assert_eq!(told, Err(Error::Execute(error)));
}

/// Calls that do not stop write nothing but the output; those that know of the error, every byte of
/// it, and from the input only.
#[test]
fn hostile_offsets_stay_in_bounds() {
    let Some(simulator) = simulator() else { return };
    let (unchecked, clamping) = (simulator.unchecked(), simulator.clamping());
    let mut dice = Dice(4);
    for (dtype, shape) in [
        (DType::U8, &[20_000, 1][..]),
        (DType::F32, &[9_000, 1]),
        (DType::F64, &[3_000, 1]),
        (DType::F32, &[900, 12]),
        (DType::Bytes(5), &[900, 3]),
        (DType::U4, &[9_001, 1]),
    ] {
        for count in [1, 2, 30, 700, 3_000] {
            for huge in [false, true] {
                let layout = Layout::dense(dtype, shape).unwrap();
                let of = Layout::dense(DType::U64, &[count]).unwrap();
                let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
                let most = if huge { usize::MAX >> 32 } else { shape[0] };
                let given: Vec<u64> = (0..count).map(|_| dice.up_to(most)).collect();
                let bytes = layout.byte_len();
                // No byte, nor half of one, has its highest bit set.
                let input: Vec<u8> = dice.bytes(bytes).iter().map(|byte| byte & 0x77).collect();
                let mut arena = vec![0xA5; bytes + 2 * GUARD];
                let given = Some(LengthsMemory::from(&given));
                let output = &mut arena[GUARD..GUARD + bytes];
                unchecked.execute(&plan, &input, given, output).unwrap();
                unchecked.execute_in_place(&plan, given, output).unwrap();
                output.fill(0xA5);
                clamping.execute(&plan, &input, given, output).unwrap();
                assert_made_of(&input, output, dtype);
                clamping.execute_in_place(&plan, given, output).unwrap();
                assert_made_of(&input, output, dtype);
                let (low, high) = (&arena[..GUARD], &arena[GUARD + bytes..]);
                assert!(low.iter().chain(high).all(|&b| b == 0xA5), "{plan}");
            }
        }
    }
}

/// Into a new output, an invalid length is clamped instead of stopping its call.
#[test]
fn invalid_lengths_of_a_new_output_are_clamped() {
    let Some(simulator) = simulator() else { return };
    let clamping = simulator.clamping();
    let mut dice = Dice(5);
    for (shape, axis) in [([40, 50, 3], 1), ([40, 3, 64], 0), ([12, 5, 63], 2), ([6, 5, 1024], 2)] {
        for dtype in [DType::U8, DType::Bytes(3), DType::F32, DType::U4] {
            let layout = Layout::dense(dtype, &shape).unwrap();
            let mut lanes = shape;
            lanes[axis] = 1;
            let lanes = Layout::dense(DType::I64, &lanes).unwrap();
            let operator = ReverseSubsequences::along(axis as i64).policy(LengthPolicy::Strict);
            let plan = operator.plan(&layout, &lanes, &layout).unwrap();
            let size = shape[axis] as i64;
            let given: Vec<i64> =
                (0..lanes.len()).map(|_| dice.up_to(3 * size as usize) as i64 - size).collect();
            let clamped: Vec<i64> = given.iter().map(|&length| length.clamp(0, size)).collect();
            let bytes = layout.byte_len();
            let (input, given) = (dice.bytes(bytes), Some(LengthsMemory::from(&given)));
            let (mut expected, mut output) = (vec![0; bytes], vec![0xA5; bytes]);
            let refused = simulator.execute(&plan, &input, given, &mut output);
            assert!(matches!(refused, Err(Error::Execute(_))), "{plan}");
            assert!(output.iter().all(|&byte| byte == 0xA5), "{plan}");
            let lengths = Some(LengthsMemory::from(&clamped));
            cpu::execute(&plan, input[..].into(), lengths, MemoryMut::from(&mut expected[..]))
                .unwrap();
            clamping.execute(&plan, &input, given, &mut output).unwrap();
            assert_eq!(output, expected, "{plan}");
        }
    }
}

/// Whether an output is made of the input: nothing is left of what was there before, neither in the
/// output nor, where elements have enough values to tell, in shared memory.
fn assert_made_of(input: &[u8], output: &[u8], dtype: DType) {
    assert!(output.iter().all(|byte| byte & 0x88 == 0), "bytes that were not written, of {dtype}");
    let width = dtype.bits().unwrap() / 8;
    // Others are moved in pieces.
    if width != 4 && width != 8 {
        return;
    }
    let elements: std::collections::HashSet<&[u8]> = input.chunks(width).collect();
    let foreign = output.chunks(width).filter(|element| !elements.contains(element)).count();
    assert_eq!(foreign, 0, "of {} elements of {dtype}", output.len() / width);
}
