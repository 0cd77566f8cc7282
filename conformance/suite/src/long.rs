//! Rows, lanes and columns of every length around the widths of vectors, cache lines and pages, at
//! which kernels switch algorithms; rows with gaps after them; transposed tiles; high ranks; packed
//! rows from every bit offset to every other.

use crate::backend::Backend;
use crate::case::{Case, CaseLengths, Operation, Rule};
use crate::placement::{Kind, Placement, Width};
use crate::runner::{FRONTS, Runner, Share, Tally, split_mix};
use crate::workers::on_all_threads;
use retrograde::DType;
use std::sync::Arc;

/// The lengths of rows and columns.
fn sizes() -> impl Iterator<Item = usize> {
    (1..=70)
        .chain(125..=131)
        .chain([191, 192, 193, 255, 256, 257, 300, 511, 513, 600, 1100, 2048, 4500])
}

/// The most elements of a case.
const MOST: usize = 9_000;

/// Runs all of it, or a share, on all available threads.
pub fn run(backend: &dyn Backend, share: Share) -> Tally {
    on_all_threads(|worker, threads| {
        let mut runner = Runner::new(backend, worker as u64, share);
        let widths = Width::ALL.into_iter().skip(worker).step_by(threads);
        widths.for_each(|width| run_width(&mut runner, width, share));
        runner.finish()
    })
}

/// Approximate sizes of packed rows in whole bytes; the last ones are split into blocks.
const PACKED: [usize; 19] =
    [0, 1, 2, 7, 8, 15, 17, 28, 31, 33, 57, 63, 65, 127, 129, 200, 260, 600, 5000];
/// Packed rows longer than this many bytes are tested singly.
const ALONE: usize = 1000;

fn run_width(runner: &mut Runner<'_>, width: Width, share: Share) {
    let mut state = 11;
    if width.is_packed() {
        let every = if share == Share::All { 1 } else { 4 };
        let bytes = PACKED.into_iter().step_by(every);
        bytes.for_each(|bytes| phases(runner, width, bytes, &mut state));
    }
    if share == Share::All {
        squares(runner, width, &mut state);
        long_columns(runner, width, &mut state);
        if matches!(width.bits(), 8 | 24) {
            full_columns(runner, width, &mut state);
        }
        deep(runner, width, &mut state);
    }
    // The share also applies to the sizes: laying tensors out costs more than running on them.
    let (sizes, most): (Vec<usize>, _) = match share {
        Share::All | Share::Part(..) => (sizes().collect(), MOST),
        Share::OneIn(_) => (sizes().step_by(9).collect(), MOST / 12),
    };
    for size in sizes {
        for other in [1, 3, 18, 70, 80] {
            if size * other <= most {
                rows(runner, width, size, other, &mut state);
                columns(runner, width, size, other, &mut state);
            }
        }
    }
}

/// Input whose contiguous axis is not the output's: tiles, complete and partial, alone and several
/// with a length each.
fn squares(runner: &mut Runner<'_>, width: Width, state: &mut u64) {
    for (rows, columns) in [(16, 64), (65, 130), (128, 256), (131, 137), (132, 260)] {
        for flips in [[false, false], [false, true], [true, false], [true, true]] {
            let operation = Operation::Reverse { flips: flips.to_vec() };
            check(runner, width, &[rows, columns], operation, None);
        }
    }
    // Images of one channel and of three, upright.
    for (shape, exif) in
        [[65, 130, 1], [33, 70, 3]].iter().flat_map(|shape| (1..=8).map(move |exif| (shape, exif)))
    {
        let operation = Operation::Orient { exif, rows: 0, columns: 1 };
        let dense = |shape: &[usize]| Arc::new(Placement::new(Kind::Dense, width, shape));
        let output = Some(dense(&operation.output_shape(shape)));
        let case = Case { operation, input: dense(shape), lengths: None, output };
        runner.check(&case, &case.expected());
    }
    let pitch = match width {
        Width::Bytes(bytes) => bytes as isize,
        _ => 1,
    };
    for (rows, columns) in [(64, 128), (33, 130)] {
        let (count, shape) = (4, [4, 2, rows, columns]);
        let (row, block) = (rows as isize, (rows * columns) as isize);
        let strides = [2 * block, block, 1, row].map(|stride| stride * pitch).to_vec();
        let bytes = (count * 2 * rows * columns * width.bits()).div_ceil(8);
        let input = Arc::new(Placement::custom(width, &shape, strides, 0, bytes, false));
        let output = Some(Arc::new(Placement::new(Kind::Dense, width, &shape)));
        let values = (0..2).map(|_| draw(state, count)).collect();
        let lengths = Some(Arc::new(CaseLengths::new(values, &[2], DType::I32, Kind::Dense)));
        let operation = Operation::Sequence { time: 0, batch: 1, rule: Rule::STRICT };
        let case = Case { operation, input: input.clone(), lengths, output: output.clone() };
        runner.check(&case, &case.expected());
        let operation = Operation::Reverse { flips: vec![true, false, true, true] };
        let case = Case { operation, input, lengths: None, output };
        runner.check(&case, &case.expected());
    }
}

/// A few columns that are too long for the shared memory of one block: in rows of 34 bytes, and in
/// rows of one cache line and a quarter more, for which scratch memory is worthwhile.
fn long_columns(runner: &mut Runner<'_>, width: Width, state: &mut u64) {
    let sizes: &[usize] = if width.bits() < 8 { &[272] } else { &[272, 1024, 1280] };
    for bits in sizes {
        columns_of(runner, width, bits.div_ceil(width.bits()), state);
    }
}

/// Bits of the larger ones.
const LARGE: usize = 4500 * 1024;

fn columns_of(runner: &mut Runner<'_>, width: Width, columns: usize, state: &mut u64) {
    let steps = 4500;
    let operation = Operation::Sequence { time: 0, batch: 1, rule: Rule::CLAMP };
    let values = (0..columns).map(|_| draw(state, steps)).collect();
    let lengths = CaseLengths::new(values, &[columns], DType::I64, Kind::Dense);
    let place = |kind| Arc::new(Placement::new(kind, width, &[steps, columns]));
    let (dense, backwards) = (place(Kind::Dense), place(Kind::Backwards));
    let lengths = Some(Arc::new(lengths));
    let output = Some(dense.clone());
    let mut case = Case { operation, input: dense, lengths, output };
    let expected = case.expected();
    runner.check(&case, &expected);
    // So many calls that those after them get the same guards as without the larger ones.
    if steps * columns * width.bits() >= LARGE {
        case.output = None;
        runner.check(&case, &expected);
        case.output = Some(case.input.clone());
    }
    case.input = backwards;
    runner.check(&case, &expected);
}

/// Columns of bytes that fill a multiprocessor of a device: lengths at both ends and anywhere, in
/// complete and partial strips; and lengths of other types, aligned and not, contiguous and not.
fn full_columns(runner: &mut Runner<'_>, width: Width, state: &mut u64) {
    for (steps, columns, integer, kind) in [
        (1900, 48, DType::I32, Kind::Dense),
        (2046, 80, DType::I64, Kind::Dense),
        (2047, 80, DType::U16, Kind::Dense),
        (2048, 128, DType::U64, Kind::Backwards),
        (3001, 80, DType::I32, Kind::Odd),
        (3588, 80, DType::U32, Kind::Padded),
    ] {
        let operation = Operation::Sequence { time: 0, batch: 1, rule: Rule::CLAMP };
        let ends = (0..8).chain(steps as i64 - 5..=steps as i64);
        let values = ends.chain((0..).map(|_| draw(state, steps + 1))).take(columns).collect();
        let lengths = CaseLengths::new(values, &[columns], integer, kind);
        let input = Arc::new(Placement::new(Kind::Dense, width, &[steps, columns]));
        let (lengths, output) = (Some(Arc::new(lengths)), Some(input.clone()));
        let mut case = Case { operation, input, lengths, output };
        let expected = case.expected();
        runner.check(&case, &expected);
        case.output = None;
        runner.check(&case, &expected);
    }
}

/// More dimensions than most kernels support, none of which nests in another.
fn deep(runner: &mut Runner<'_>, width: Width, state: &mut u64) {
    let shape = [2, 3, 2, 2, 3, 2, 2, 3];
    let flips = (0..shape.len()).map(|axis| axis % 3 != 1).collect();
    check(runner, width, &shape, Operation::Reverse { flips }, None);
    let lengths = (0..3).map(|_| draw(state, 3)).collect();
    let lengths = CaseLengths::new(lengths, &[3], DType::U64, Kind::Dense);
    let operation = Operation::Sequence { time: 4, batch: 1, rule: Rule::CLAMP };
    let mut case = Case {
        operation,
        input: Arc::new(Placement::new(Kind::Padded, width, &shape)),
        lengths: Some(Arc::new(lengths)),
        output: Some(Arc::new(Placement::new(Kind::Mixed, width, &shape))),
    };
    let expected = case.expected();
    runner.check(&case, &expected);
    case.output = None;
    runner.check(&case, &expected);
    // Segments along a dimension that is not the innermost one, at every alignment of the runner.
    let offsets = CaseLengths::new(vec![0, 2, 3], &[3], DType::I32, Kind::Dense);
    case.operation = Operation::Segments { axis: 4 };
    case.input = Arc::new(Placement::new(Kind::Mixed, width, &shape));
    case.lengths = Some(Arc::new(offsets));
    let expected = case.expected();
    (0..FRONTS.len()).for_each(|_| runner.check(&case, &expected));
}

/// Whole rows reversed, and each by its own length.
fn rows(runner: &mut Runner<'_>, width: Width, size: usize, count: usize, state: &mut u64) {
    let shape = [count, size];
    check(runner, width, &shape, Operation::Reverse { flips: vec![false, true] }, None);
    let operation = Operation::Sequence { time: 1, batch: 0, rule: Rule::CLAMP };
    let values = (0..count).map(|_| draw(state, size + 1)).collect();
    let lengths = CaseLengths::new(values, &[count], DType::I64, Kind::Dense);
    check(runner, width, &shape, operation, Some(lengths));
    others(runner, width, &shape, [1, 0], state);
}

/// Other alignments and tails, and segments of about a vector to a few lines, along one axis.
fn others(
    runner: &mut Runner<'_>,
    width: Width,
    shape: &[usize; 2],
    [time, batch]: [usize; 2],
    state: &mut u64,
) {
    // One in three sizes: the kernels are those of the usual rule.
    if !shape[time].is_multiple_of(3) && shape[time] > 8 {
        return;
    }
    let (size, count) = (shape[time], shape[batch]);
    let rule = Rule::OTHERS[draw(state, 2) as usize];
    let rule = Rule { policy: Rule::CLAMP.policy, ..rule };
    let values = (0..count).map(|_| draw(state, size + 1)).collect();
    let lengths = CaseLengths::new(values, &[count], DType::I64, Kind::Dense);
    check(runner, width, shape, Operation::Sequence { time, batch, rule }, Some(lengths));
    let most = [3, 40, 300][draw(state, 2) as usize];
    let mut offsets = vec![0];
    let mut last = 0;
    while last < size as i64 {
        last += draw(state, most);
        offsets.push(last.min(size as i64 - draw(state, 1)));
    }
    offsets.sort_unstable();
    let offsets = CaseLengths::new(offsets.clone(), &[offsets.len()], DType::I32, Kind::Dense);
    check(runner, width, shape, Operation::Segments { axis: time }, Some(offsets));
}

/// Rows in reverse order, and columns each by their own length; a few of them equal.
fn columns(runner: &mut Runner<'_>, width: Width, size: usize, count: usize, state: &mut u64) {
    let shape = [size, count];
    check(runner, width, &shape, Operation::Reverse { flips: vec![true, false] }, None);
    let operation = Operation::Sequence { time: 0, batch: 1, rule: Rule::CLAMP };
    let alike = draw(state, size);
    let values = (0..count)
        .map(|column| if column % 80 < 64 { alike } else { draw(state, size + 1) })
        .collect();
    let lengths = CaseLengths::new(values, &[count], DType::U32, Kind::Dense);
    check(runner, width, &shape, operation.clone(), Some(lengths));
    let values = (0..count).map(|_| draw(state, size)).collect();
    let lengths = CaseLengths::new(values, &[count], DType::I32, Kind::Padded);
    check(runner, width, &shape, operation, Some(lengths));
    others(runner, width, &shape, [0, 1], state);
}

/// Packed rows of about this many bytes that start at every bit offset on both sides, and in place.
/// Rows are contiguous or have gaps, so that each one starts at a different offset.
fn phases(runner: &mut Runner<'_>, width: Width, bytes: usize, state: &mut u64) {
    let per_byte = 8 / width.bits();
    let count = if bytes > ALONE { 1 } else { 3 };
    for extra in [0, 1, per_byte - 1] {
        let size = bytes * per_byte + extra;
        if size == 0 {
            continue;
        }
        let shape = [count, size];
        let place = |lead: usize, gap: usize| {
            let pitch = size + gap;
            let end = lead + pitch * (count - 1) + size;
            let bytes = (end * width.bits()).div_ceil(8);
            let strides = vec![pitch as isize, 1];
            Arc::new(Placement::custom(width, &shape, strides, lead, bytes, false))
        };
        let inputs: Vec<_> = (0..per_byte).map(|lead| place(lead, 3)).collect();
        let outputs: Vec<_> = (0..per_byte).map(|lead| place(lead, lead % 2)).collect();
        for (operation, lengths) in packed_calls(count, size, state) {
            let lengths = lengths.map(Arc::new);
            let output = None;
            let mut case = Case { operation, input: inputs[0].clone(), lengths, output };
            let expected = case.expected();
            for output in &outputs {
                for input in &inputs {
                    runner.check_on(&mut case, &expected, input, Some(output));
                }
                runner.check_on(&mut case, &expected, output, None);
            }
        }
    }
}

/// All operators, along rows and across them.
fn packed_calls(
    count: usize,
    size: usize,
    state: &mut u64,
) -> Vec<(Operation, Option<CaseLengths>)> {
    let flip = |flips: [bool; 2]| (Operation::Reverse { flips: flips.to_vec() }, None);
    let mut lengths = |count: usize, shape: &[usize], most: usize| {
        let values = (0..count).map(|_| draw(state, most)).collect();
        Some(CaseLengths::new(values, shape, DType::U32, Kind::Dense))
    };
    let rule = Rule::CLAMP;
    let end = Rule { end: true, ..rule };
    let zero = Rule { zero: true, ..rule };
    let offsets = |size: usize| {
        let values = vec![0, size as i64 / 3, size as i64 / 3 + 1, size as i64 * 3 / 4];
        Some(CaseLengths::new(values, &[4], DType::U32, Kind::Dense))
    };
    let mut calls = vec![
        flip([false, true]),
        flip([true, false]),
        flip([true, true]),
        (Operation::Sequence { time: 1, batch: 0, rule }, lengths(count, &[count], size)),
        (Operation::Subsequences { axis: 1, rule }, lengths(count, &[count, 1], size)),
        (Operation::Sequence { time: 1, batch: 0, rule: end }, lengths(count, &[count], size)),
        (Operation::Sequence { time: 1, batch: 0, rule: zero }, lengths(count, &[count], size)),
        (Operation::Segments { axis: 1 }, offsets(size)),
    ];
    if count > 1 {
        let across = Operation::Subsequences { axis: 0, rule };
        calls.push((across, lengths(size, &[1, size], count)));
        let across = Operation::Subsequences { axis: 0, rule: zero };
        calls.push((across, lengths(size, &[1, size], count)));
        calls.push((Operation::Segments { axis: 0 }, offsets(count)));
    }
    calls
}

fn draw(state: &mut u64, most: usize) -> i64 {
    (split_mix(state) % (most as u64 + 1)) as i64
}

/// One call on a few pairs of placements, and in place.
fn check(
    runner: &mut Runner<'_>,
    width: Width,
    shape: &[usize],
    operation: Operation,
    lengths: Option<CaseLengths>,
) {
    let place = |kind| Arc::new(Placement::new(kind, width, shape));
    let (dense, backwards, transposed, odd) =
        (place(Kind::Dense), place(Kind::Backwards), place(Kind::Transposed), place(Kind::Odd));
    let lengths = lengths.map(Arc::new);
    let mut case = Case { operation, input: dense.clone(), lengths, output: None };
    let expected = case.expected();
    runner.check(&case, &expected);
    let mut run = |pairs: &[(&Arc<Placement>, &Arc<Placement>)], in_place: &Arc<Placement>| {
        for &(input, output) in pairs {
            runner.check_on(&mut case, &expected, input, Some(output));
        }
        runner.check_on(&mut case, &expected, in_place, None);
    };
    let pairs = [
        (&dense, &dense),
        (&backwards, &dense),
        (&dense, &backwards),
        (&backwards, &backwards),
        (&transposed, &dense),
        (&odd, &odd),
    ];
    run(&pairs, &odd);
    // As in crops of images: contiguous rows with gaps after them, at whole vectors or not. For
    // short ones a few are enough.
    let &[count, size] = shape else { return };
    if count == 1 || (size < 60 && size % 8 != 0) {
        return;
    }
    let element = if width.is_packed() { 1 } else { width.bits() / 8 };
    let row = size * element;
    let pitches = [(row + 1).next_multiple_of(16), row + element];
    let [vectors, apart] = pitches.map(|pitch| {
        let bytes = (pitch * count * width.bits() / element).div_ceil(8);
        let strides = vec![pitch as isize, element as isize];
        Arc::new(Placement::custom(width, shape, strides, 0, bytes, false))
    });
    run(&[(&vectors, &vectors), (&apart, &vectors), (&dense, &apart)], &apart);
}
