//! Packed elements whose rows are no runs of the input, against element by element: every instruction
//! set, ordinary and non-temporal stores, one thread and several, rows that start on bytes and rows
//! that do not.

use retrograde::{
    Align, DType, Layout, LengthsOperator, Plan, Reverse, ReverseSequence, ReverseSubsequences,
    Tail, cpu,
};
use std::sync::{Mutex, MutexGuard};

const TYPES: [(DType, usize); 3] = [(DType::U1, 1), (DType::U2, 2), (DType::U4, 4)];
/// Below and above the sizes from which kernels take them, and of strips of each width; with whole
/// bytes in a row, whole vectors and lines, and neither. Miri takes the first ones, and half of the ways to run them, for minutes.
const SHAPES: &[[usize; 2]] = if cfg!(miri) { MORE_SHAPES.split_at(3).0 } else { &MORE_SHAPES };
const MORE_SHAPES: [[usize; 2]; 16] = [
    [3, 5],
    [16, 128],
    [37, 41],
    [64, 64],
    [15, 128],
    [17, 136],
    [65, 127],
    [96, 264],
    [130, 512],
    [33, 1032],
    [301, 255],
    [70, 1100],
    [512, 1030],
    [300, 2056],
    [20, 4160],
    [1040, 528],
];

/// Instruction sets and tuning belong to the process, so tests take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn pack(elements: &[u8], bits: usize) -> Vec<u8> {
    let place = |at: usize| if bits == 1 { 7 - at } else { at * bits };
    let byte = |chunk: &[u8]| chunk.iter().enumerate().fold(0, |b, (at, e)| b | e << place(at));
    elements.chunks(8 / bits).map(byte).collect()
}

fn elements(count: usize, bits: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 9) as u8 & (0xFF >> (8 - bits)) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Runs a plan of packed elements in every way, and compares it with what `expected` makes of the
/// elements.
fn compare(
    bits: usize,
    count: usize,
    plan: &Plan,
    lengths: Option<&[i32]>,
    expected: impl Fn(&[u8]) -> Vec<u8>,
) {
    let input = elements(count, bits);
    let expected = pack(&expected(&input), bits);
    // Buffers that end where their allocation does, so that tools see a byte too many.
    let source = pack(&input, bits).into_boxed_slice();
    for isa in cpu::Isa::available() {
        isa.force();
        let ways = [(1, None), (3, Some(0)), (1, Some(0)), (3, None)];
        for (threads, stream_from) in ways.into_iter().take(if cfg!(miri) { 2 } else { 4 }) {
            let small = cpu::Tuning { share_from: 0, wake_from: 0, least_part: 64, stream_from };
            if threads > 1 { small } else { cpu::Tuning { stream_from, ..Default::default() } }
                .apply();
            // Ones in the output would show bits that are not written.
            let mut out = vec![0xFF; count.div_ceil(8 / bits)].into_boxed_slice();
            cpu::with_threads(threads, || {
                let (source, out) = ((&source[..]).into(), (&mut out[..]).into());
                cpu::execute(plan, source, lengths.map(Into::into), out)
            })
            .unwrap();
            let name = isa.name();
            assert!(out[..] == expected, "{name}, {threads} threads, {stream_from:?}: {plan:?}");
        }
    }
    cpu::Tuning::default().apply();
}

fn lengths_of(count: usize, most: usize) -> Vec<usize> {
    (0..count).map(|at| at * 7919 % (most + 1)).collect()
}

fn as_i32(lengths: &[usize]) -> Vec<i32> {
    lengths.iter().map(|&length| length as i32).collect()
}

/// The step that becomes step `at`, if any.
fn source_of(at: usize, length: usize, zero: bool) -> Option<usize> {
    if at < length { Some(length - 1 - at) } else { (!zero).then_some(at) }
}

/// The same, counted from the end.
fn source_from_end(at: usize, length: usize, steps: usize, zero: bool) -> Option<usize> {
    source_of(steps - 1 - at, length, zero).map(|from| steps - 1 - from)
}

#[test]
fn transposed_inputs() {
    let _turn = alone();
    for (dtype, bits) in TYPES {
        for [rows, columns] in SHAPES.iter().copied() {
            let flips: [&[i64]; 4] = [&[1], &[0], &[0, 1], &[]];
            for flips in flips.into_iter().take(if cfg!(miri) { 2 } else { 4 }) {
                // Column-major: the second axis is contiguous in the output only.
                let strides = [1, rows as isize];
                let input = Layout::strided(dtype, &[rows, columns], &strides, 0).unwrap();
                let output = Layout::dense(dtype, &[rows, columns]).unwrap();
                let plan = Reverse::axes(flips.iter().copied()).plan(&input, &output).unwrap();
                let flipped = |axis: i64, at: usize, len: usize| match flips.contains(&axis) {
                    true => len - 1 - at,
                    false => at,
                };
                compare(bits, rows * columns, &plan, None, |input| {
                    let places = (0..rows).flat_map(|row| (0..columns).map(move |c| (row, c)));
                    let from =
                        |(row, column)| flipped(0, row, rows) + flipped(1, column, columns) * rows;
                    places.map(|place| input[from(place)]).collect()
                });
            }
        }
    }
}

#[test]
fn planes_of_transposed_inputs_from_any_element() {
    let _turn = alone();
    for (dtype, bits) in TYPES {
        // A gap behind each line, some elements in front of all, several planes.
        let (rows, planes) = if cfg!(miri) { (40, 2) } else { (150, 3) };
        let (columns, pitch, front) = (72, rows + 3, 5);
        let strides = [(pitch * columns) as isize, 1, pitch as isize];
        let shape = [planes, rows, columns];
        let input = Layout::strided(dtype, &shape, &strides, front).unwrap();
        let output = Layout::dense(dtype, &shape).unwrap();
        let plan = Reverse::axes([2]).plan(&input, &output).unwrap();
        let count = front + planes * columns * pitch;
        let expected = |input: &[u8]| {
            let mut out = Vec::new();
            for plane in 0..planes {
                for row in 0..rows {
                    for column in (0..columns).rev() {
                        out.push(input[front + (plane * columns + column) * pitch + row]);
                    }
                }
            }
            out
        };
        let input = elements(count, bits);
        let expected = pack(&expected(&input), bits);
        let mut source = pack(&input, bits);
        source.truncate((count - (pitch - rows)).div_ceil(8 / bits));
        for isa in cpu::Isa::available() {
            isa.force();
            let mut out = vec![0xFF; expected.len()];
            cpu::execute(&plan, (&source[..]).into(), None, (&mut out[..]).into()).unwrap();
            assert!(out == expected, "{} {bits}", isa.name());
        }
    }
}

#[test]
fn a_length_for_each_column() {
    let _turn = alone();
    for (dtype, bits) in TYPES {
        for [steps, columns] in SHAPES.iter().copied() {
            let ways = [
                (Tail::Keep, Align::Start),
                (Tail::Zero, Align::End),
                (Tail::Keep, Align::End),
                (Tail::Zero, Align::Start),
            ];
            for (tail, align) in ways.into_iter().take(if cfg!(miri) { 2 } else { 4 }) {
                let lengths = Layout::dense(DType::I32, &[columns]).unwrap();
                let operator = ReverseSequence::new().time_axis(0).batch_axis(1);
                let operator = operator.tail(tail).align(align);
                let layout = Layout::dense(dtype, &[steps, columns]).unwrap();
                let plan = operator.plan(&layout, &lengths, &layout).unwrap();
                let values = lengths_of(columns, steps);
                let given = as_i32(&values);
                compare(bits, steps * columns, &plan, Some(&given), |input| {
                    let place = |index: usize| (index / columns, index % columns);
                    let element = |index: usize| {
                        let ((at, column), zero) = (place(index), tail == Tail::Zero);
                        let from = match align {
                            Align::End => source_from_end(at, values[column], steps, zero),
                            _ => source_of(at, values[column], zero),
                        };
                        from.map_or(0, |from| input[from * columns + column])
                    };
                    (0..steps * columns).map(element).collect()
                });
            }
        }
    }
}

#[test]
fn a_length_for_each_lane_of_a_middle_axis() {
    let _turn = alone();
    for (dtype, bits) in TYPES {
        let shapes = [[2, 17, 136], [3, 40, 136], [5, 260, 71], [2, 17, 1064]];
        for shape in shapes.into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
            let [outer, steps, inner] = shape;
            let operator = ReverseSubsequences::along(1);
            let lengths_shape = operator.lengths_shape(&shape).unwrap();
            let lengths = Layout::dense(DType::I32, &lengths_shape).unwrap();
            let layout = Layout::dense(dtype, &shape).unwrap();
            let plan = operator.plan(&layout, &lengths, &layout).unwrap();
            let values = lengths_of(outer * inner, steps);
            let given = as_i32(&values);
            compare(bits, outer * steps * inner, &plan, Some(&given), |input| {
                let element = |index: usize| {
                    let (block, at, lane) =
                        (index / inner / steps, index / inner % steps, index % inner);
                    let from = source_of(at, values[block * inner + lane], false).unwrap();
                    input[(block * steps + from) * inner + lane]
                };
                (0..outer * steps * inner).map(element).collect()
            });
        }
    }
}

#[test]
fn columns_that_are_read_backward() {
    let _turn = alone();
    for (dtype, bits) in TYPES {
        let shapes = [[17, 136], [64, 256], [50, 301], [33, 1032]];
        for [steps, columns] in shapes.into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
            // The last row is the first one in memory.
            let strides = [-(columns as isize), 1];
            let origin = (steps - 1) * columns;
            let input = Layout::strided(dtype, &[steps, columns], &strides, origin).unwrap();
            let output = Layout::dense(dtype, &[steps, columns]).unwrap();
            let lengths = Layout::dense(DType::I32, &[columns]).unwrap();
            let operator = ReverseSequence::new().time_axis(0).batch_axis(1);
            let plan = operator.plan(&input, &lengths, &output).unwrap();
            let values = lengths_of(columns, steps);
            compare(bits, steps * columns, &plan, Some(&as_i32(&values)), |input| {
                let element = |index: usize| {
                    let (at, column) = (index / columns, index % columns);
                    let from = source_of(at, values[column], false).unwrap();
                    input[(steps - 1 - from) * columns + column]
                };
                (0..steps * columns).map(element).collect()
            });
        }
    }
}
