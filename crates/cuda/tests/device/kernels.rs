//! Each kernel at every width, at the sizes where the choice of kernel changes.

use crate::common::{agrees_with_the_cpu, assert_from, byte, device, noise};
use retrograde::{
    Align, DType, Layout, LengthsOperator, Reverse, ReverseSegments, ReverseSequence,
    ReverseSubsequences, Tail,
};
use retrograde_cuda::{Cuda, CudaLengths, DeviceBuffer, Kernel, kernel};

/// Columns of every length that staging has to handle, by blocks and by clusters.
#[test]
#[ignore = "needs a CUDA device"]
fn long_columns_of_every_width() {
    let cuda = device();
    let sizes = [(2, 5000), (100, 333), (3000, 48), (3700, 64), (17_000, 80), (60_000, 32)];
    // Strips of a sector and of a whole line.
    let sizes = [&sizes[..], &[(4000, 160), (30_001, 48)]].concat();
    // So wide that blocks run in step; their number of strips is not a multiple.
    let wide = [(1900, 2083), (1800, 8205), (2000, 8208)];
    let mut seen = columns(&cuda, &[&sizes[..], &wide[..]].concat());
    assert!(seen.contains(&Kernel::Columns) && seen.contains(&Kernel::DirectColumns));
    assert_eq!(seen.contains(&Kernel::ClusterColumns), cuda.limits().clusters);
    // As on smaller devices: shorter columns use clusters, and then are not staged.
    seen = columns(&cuda.limited(cuda.limits().at_most(20_000, true)), &sizes);
    assert_eq!(seen.contains(&Kernel::ClusterColumns), cuda.limits().clusters);
    seen = columns(&cuda.limited(cuda.limits().at_most(20_000, false)), &sizes);
    assert!(!seen.contains(&Kernel::ClusterColumns));
}

/// Small ones as if they were large, in rings of three strips and of more.
#[test]
#[ignore = "needs a CUDA device"]
fn columns_pass_through_scratch() {
    let cuda = device();
    let mut limits = cuda.limits().at_most(20_000, false);
    limits.multiprocessors = 1;
    for (cache, kernel) in [(1, Kernel::ScratchColumnsWide), (limits.cache, Kernel::ScratchColumns)]
    {
        limits.cache = cache;
        let seen = columns(&cuda.limited(limits), &[(500, 640), (1003, 301), (700, 1024)]);
        assert!(seen.contains(&kernel), "{kernel:?} is not among {seen:?}");
    }
}

/// As large as scratch memory is for, so that blocks wait for others: rows in whole cache lines, and
/// rows that share them. Twice, because the order of blocks differs.
#[test]
#[ignore = "needs a CUDA device"]
fn large_columns_pass_through_scratch() {
    let cuda = device();
    for _ in 0..2 {
        let seen = columns(&cuda, &[(90_001, 256), (120_000, 75)]);
        assert!(seen.contains(&Kernel::ScratchColumns));
    }
}

/// Blocks of short columns that run in step, as those of long ones do with more shared memory: rows
/// near and far apart. Bytes in rows of whole vectors are transposed instead.
#[test]
#[ignore = "needs a CUDA device"]
fn blocks_of_columns_keep_pace() {
    let cuda = device();
    let lesser = cuda.limited(cuda.limits().at_most(20_000, true));
    let seen = columns(&lesser, &[(200, 2101), (198, 2128), (200, 16_401)]);
    assert!(seen.contains(&Kernel::Columns));
}

/// Runs columns of these sizes (steps and columns); returns the kernels that they ran on.
fn columns(cuda: &Cuda, sizes: &[(usize, usize)]) -> Vec<Kernel> {
    let stream = cuda.stream().unwrap();
    let mut seen = Vec::new();
    for &(steps, columns) in sizes {
        for width in [1, 2, 3, 4, 6, 8, 12, 16] {
            let layout = Layout::dense(DType::Bytes(width), &[steps, columns]).unwrap();
            let lanes = Layout::dense(DType::I64, &[columns]).unwrap();
            let lengths: Vec<i64> = (0..columns as i64)
                .map(|c| [0, 1, steps as i64, c * 7919 % (steps as i64 + 1)][c as usize % 4])
                .collect();
            let plan = ReverseSequence::new().plan(&layout, &lanes, &layout).unwrap();
            seen.push(kernel(&plan, &cuda.limits()));
            let bytes = layout.byte_len();
            let input = DeviceBuffer::from_host(cuda, &noise(bytes)).unwrap();
            let device_lengths = lengths.iter().flat_map(|l| l.to_ne_bytes()).collect::<Vec<u8>>();
            let device_lengths = DeviceBuffer::from_host(cuda, &device_lengths).unwrap();
            let given = || Some(CudaLengths::from((DType::I64, device_lengths.view())));
            let source = |at: usize| {
                let (unit, inside) = (at / width, at % width);
                let (t, c) = (unit / columns, unit % columns);
                let length = lengths[c] as usize;
                let from = if t < length { length - 1 - t } else { t };
                (from * columns + c) * width + inside
            };
            let mut output = DeviceBuffer::allocate(cuda, bytes).unwrap();
            stream.execute(&plan, input.view(), given(), output.view_mut()).unwrap();
            stream.check().unwrap();
            assert_from(&mut output.to_vec().unwrap(), source);
            let mut memory = input;
            stream.execute_in_place(&plan, given(), memory.view_mut()).unwrap();
            stream.check().unwrap();
            assert_from(&mut memory.to_vec().unwrap(), source);
        }
    }
    seen
}

/// Transposed input, in tiles of vectors, of words, and of elements, forward and backward.
#[test]
#[ignore = "needs a CUDA device"]
fn squares_of_every_width() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    for (rows, columns) in [(128, 384), (132, 260), (131, 137)] {
        for width in [1, 2, 4, 8] {
            for axis in [0, 1] {
                let dtype = DType::Bytes(width);
                let output = Layout::dense(dtype, &[rows, columns]).unwrap();
                let strides = [1, rows as isize];
                let input = Layout::strided(dtype, &[rows, columns], &strides, 0).unwrap();
                let plan = Reverse::axes([axis]).plan(&input, &output).unwrap();
                assert_eq!(kernel(&plan, &cuda.limits()), Kernel::Tiles);
                let bytes = output.byte_len();
                let from = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
                let mut to = DeviceBuffer::allocate(&cuda, bytes).unwrap();
                stream.execute(&plan, from.view(), None, to.view_mut()).unwrap();
                stream.synchronize().unwrap();
                assert_from(&mut to.to_vec().unwrap(), |at| {
                    let (unit, inside) = (at / width, at % width);
                    let (mut row, mut column) = (unit / columns, unit % columns);
                    match axis {
                        0 => row = rows - 1 - row,
                        _ => column = columns - 1 - column,
                    }
                    (column * rows + row) * width + inside
                });
            }
        }
    }
}

/// Segments of every size, some of them empty, with and without a rest.
#[test]
#[ignore = "needs a CUDA device"]
fn segments_of_every_width() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let mut state = 3u64;
    let mut draw = |most: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % (most as u64 + 1)
    };
    for (dtype, shape, axis) in [
        (DType::U8, &[3_000_001][..], 0),
        (DType::U16, &[5, 300_003], 1),
        (DType::F32, &[2_000_000], 0),
        (DType::F64, &[700_001], 0),
        (DType::C128, &[3, 100_000], 1),
        (DType::Bytes(3), &[500_000], 0),
        (DType::F32, &[20_000, 64], 0),
        (DType::F32, &[3, 5_000, 61], 1),
        (DType::F16, &[300, 200, 33], 0),
        (DType::U4, &[3_000_001], 0),
        (DType::U1, &[3, 400_001], 1),
    ] {
        for most in [1, 5, 70, 1_000, 30_000, 10_000_000] {
            let mut offsets = vec![0];
            let mut last = 0;
            while last < shape[axis] as u64 {
                last += if draw(3) == 0 { 0 } else { draw(most) };
                offsets.push(last.min(shape[axis] as u64 - most.min(7) as u64));
            }
            offsets.sort_unstable();
            let layout = Layout::dense(dtype, shape).unwrap();
            let of = Layout::dense(DType::U64, &[offsets.len()]).unwrap();
            let plan = ReverseSegments::along(axis as i64).plan(&layout, &of, &layout).unwrap();
            agrees_with_the_cpu(&cuda, &stream, &plan, &offsets);
        }
    }
}

/// So many tiles of contiguous units that a block writes several of them.
#[test]
#[ignore = "needs a CUDA device"]
fn segments_in_runs_of_tiles() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    const SIZE: usize = 200 << 20;
    let input = DeviceBuffer::from_host(&cuda, &noise(SIZE)).unwrap();
    // After many short segments a tile ends early, anywhere in a vector, and full ones follow.
    let mixed = [(700, 2), (4, 30_000)];
    for (width, kinds) in [
        (1, &[(1, SIZE)][..]),
        (1, &[(1, 3_000)]),
        (1, &mixed),
        (2, &[(1, 100)]),
        (4, &[(1, 70_000)]),
        (4, &mixed),
        (8, &[(1, 900)]),
        (8, &[(1, SIZE)]),
    ] {
        let steps = SIZE / width;
        let mut offsets = vec![0u64];
        let mut kind = kinds.iter().flat_map(|&(count, most)| vec![most; count]).cycle();
        while *offsets.last().unwrap() < steps as u64 {
            let last = *offsets.last().unwrap();
            let more = 1 + usize::from(byte(offsets.len())) * kind.next().unwrap() / 256;
            offsets.push((last + more as u64).min(steps as u64));
        }
        let layout = Layout::dense(DType::Bytes(width), &[steps]).unwrap();
        let of = Layout::dense(DType::U64, &[offsets.len()]).unwrap();
        let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
        let source = |at: usize| {
            let (unit, inside) = ((at / width) as u64, at % width);
            let end = offsets.partition_point(|&offset| offset <= unit);
            (offsets[end - 1] + offsets[end] - 1 - unit) as usize * width + inside
        };
        for _ in 0..3 {
            let mut output = DeviceBuffer::from_host(&cuda, &vec![7; SIZE]).unwrap();
            let host = CudaLengths::Host((&offsets).into());
            stream.execute(&plan, input.view(), Some(host), output.view_mut()).unwrap();
            stream.synchronize().unwrap();
            assert_from(&mut output.to_vec().unwrap(), source);
        }
    }
}

/// Lengths at both ends of an axis; the rest stays or becomes zero, in every kind of kernel.
#[test]
#[ignore = "needs a CUDA device"]
fn aligned_ends_and_zero_tails_of_every_kind() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    for (dtype, shape, axis) in [
        (DType::F32, &[300, 8_192][..], 1),
        (DType::U8, &[300, 8_192], 1),
        (DType::U8, &[3_000, 100], 1),
        (DType::U8, &[300, 1_001], 1),
        (DType::F32, &[300, 8_191], 1),
        (DType::Bytes(3), &[300, 2_001], 1),
        (DType::Bytes(5), &[300, 2_001], 1),
        (DType::C128, &[300, 500], 1),
        (DType::F32, &[90, 50, 64], 1),
        (DType::F32, &[90, 50, 63], 1),
        (DType::F32, &[90, 50, 511], 1),
        (DType::F32, &[2_000, 640], 0),
        (DType::U8, &[3_000, 640], 0),
        (DType::F32, &[16_384, 64], 0),
        (DType::U16, &[70_000, 33], 0),
        (DType::U8, &[9_000, 3], 0),
        (DType::U4, &[500, 2_003], 1),
        (DType::U1, &[500, 333], 0),
        (DType::F32, &[700, 1], 1),
    ] {
        let layout = Layout::dense(dtype, shape).unwrap();
        let mut lanes = shape.to_vec();
        lanes[axis] = 1;
        let lanes = Layout::dense(DType::U64, &lanes).unwrap();
        let given = |at: u64| at.wrapping_mul(0x9E37_79B9) % (shape[axis] as u64 + 1);
        let given: Vec<u64> = (0..lanes.len() as u64).map(given).collect();
        for align in [Align::Start, Align::End] {
            for tail in [Tail::Keep, Tail::Zero] {
                let operator = ReverseSubsequences::along(axis as i64).align(align).tail(tail);
                let plan = operator.plan(&layout, &lanes, &layout).unwrap();
                agrees_with_the_cpu(&cuda, &stream, &plan, &given);
            }
        }
    }
}
