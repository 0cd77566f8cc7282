//! Tensors beyond 2^31 elements and 4 GiB, where counts and offsets take 64 bits.

use crate::common::{assert_from, byte, device, each_chunk, noise};
use retrograde::{DType, Layout, LengthsOperator, Reverse, ReverseSegments, ReverseSequence};
use retrograde_cuda::{CudaLengths, DeviceBuffer, Kernel, kernel};

const BIG: usize = (1 << 32) + (1 << 28) + 7;

#[test]
#[ignore = "needs a CUDA device"]
fn more_than_4_gib_flips_apart_and_in_place() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let layout = Layout::dense(DType::U8, &[BIG]).unwrap();
    let plan = Reverse::all().plan(&layout, &layout).unwrap();
    let input = DeviceBuffer::from_host(&cuda, &noise(BIG)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, BIG).unwrap();
    stream.execute(&plan, input.view(), None, output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    assert_from(&mut output.to_vec().unwrap(), |at| BIG - 1 - at);
    stream.execute_in_place(&plan, None, output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    assert_from(&mut output.to_vec().unwrap(), |at| at);
}

/// Flips whose output is counted in 64 bits from 2 GiB on, and rows so long that their lengths
/// split them by segments.
#[test]
#[ignore = "needs a CUDA device"]
fn more_than_4_gib_of_words_and_vectors() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let input = DeviceBuffer::from_host(&cuda, &noise(BIG)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, BIG).unwrap();
    for (width, columns) in [(4, 30_001), (8, 20_003), (12, 10_007)] {
        let rows = BIG / (width * columns);
        let layout = Layout::dense(DType::Bytes(width), &[rows, columns]).unwrap();
        let plan = Reverse::axes([1]).plan(&layout, &layout).unwrap();
        assert_eq!(kernel(&plan, &cuda.limits()), Kernel::WordFlips);
        stream.execute(&plan, input.view(), None, output.view_mut()).unwrap();
        stream.synchronize().unwrap();
        let mut got = output.to_vec().unwrap();
        assert_from(&mut got[..layout.byte_len()], |at| {
            let (unit, inside) = (at / width, at % width);
            (unit / columns * columns + columns - 1 - unit % columns) * width + inside
        });
    }
    let (rows, columns) = (4, (1 << 26) + 1);
    let layout = Layout::dense(DType::C128, &[rows, columns]).unwrap();
    let lengths = [columns as u64, 0, columns as u64 / 3, columns as u64 - 1];
    let lanes = Layout::dense(DType::U64, &[rows]).unwrap();
    let operator = ReverseSequence::new().time_axis(1).batch_axis(0);
    let plan = operator.plan(&layout, &lanes, &layout).unwrap();
    assert_eq!(kernel(&plan, &cuda.limits()), Kernel::StagedRows);
    let host = CudaLengths::Host((&lengths).into());
    stream.execute(&plan, input.view(), Some(host), output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    let mut got = output.to_vec().unwrap();
    assert_from(&mut got[..layout.byte_len()], |at| {
        let (unit, inside) = (at / 16, at % 16);
        let (row, t) = (unit / columns, unit % columns);
        let length = lengths[row] as usize;
        (row * columns + if t < length { length - 1 - t } else { t }) * 16 + inside
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn more_than_2_to_the_31_elements_in_any_order() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let (rows, columns) = (65_537, 65_600);
    let bytes = rows * columns;
    let dense = Layout::dense(DType::U8, &[rows, columns]).unwrap();
    let turned = Layout::strided(DType::U8, &[rows, columns], &[1, rows as isize], 0).unwrap();
    let input = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, bytes).unwrap();

    let plan = Reverse::axes([0]).plan(&turned, &dense).unwrap();
    stream.execute(&plan, input.view(), None, output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    let source = |at: usize| at % columns * rows + (rows - 1 - at / columns);
    assert_from(&mut output.to_vec().unwrap(), source);

    // One length per column; columns too long for one block and for a cluster, so not staged.
    let lengths: Vec<u32> = (0..columns as u32).map(|c| c * 7 % (rows as u32 + 1)).collect();
    let lanes = Layout::dense(DType::U32, &[columns]).unwrap();
    let operator = ReverseSequence::new().time_axis(0).batch_axis(1);
    let plan = operator.plan(&dense, &lanes, &dense).unwrap();
    let host = CudaLengths::Host((&lengths).into());
    stream.execute(&plan, input.view(), Some(host), output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    assert_from(&mut output.to_vec().unwrap(), |at| {
        let (t, c) = (at / columns, at % columns);
        let length = lengths[c] as usize;
        (if t < length { length - 1 - t } else { t }) * columns + c
    });
}

#[test]
#[ignore = "needs a CUDA device"]
fn more_than_2_to_the_32_packed_elements() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let count = (1usize << 33) + 5;
    let layout = Layout::dense(DType::U4, &[count]).unwrap();
    let plan = Reverse::all().plan(&layout, &layout).unwrap();
    let bytes = count.div_ceil(2);
    let input = DeviceBuffer::from_host(&cuda, &noise(bytes)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, bytes).unwrap();
    stream.execute(&plan, input.view(), None, output.view_mut()).unwrap();
    stream.synchronize().unwrap();
    let nibble = |at: usize| byte(at / 2) >> (at % 2 * 4) & 15;
    each_chunk(&mut output.to_vec().unwrap(), |start, chunk| {
        for (at, &got) in chunk.iter().enumerate() {
            let first = 2 * (start + at);
            let high = if first + 1 < count { nibble(count - 2 - first) } else { 0 };
            assert_eq!(got, nibble(count - 1 - first) | high << 4, "byte {}", start + at);
        }
    });
}

/// More than 4 GiB in segments, so that steps and offsets of bytes take 64 bits.
#[test]
#[ignore = "needs a CUDA device"]
fn more_than_4_gib_of_segments() {
    let cuda = device();
    let stream = cuda.stream().unwrap();
    let input = DeviceBuffer::from_host(&cuda, &noise(BIG)).unwrap();
    let mut output = DeviceBuffer::allocate(&cuda, BIG).unwrap();
    for width in [1, 4, 16, 1024] {
        let steps = BIG / width;
        // Two long segments, short ones of one, two, three steps, and a rest.
        let mut offsets = vec![0, steps as u64 / 2 + 3];
        offsets.extend((1..300).map(|at| steps as u64 / 2 + 3 + at * (at + 1) / 2));
        offsets.push(steps as u64 - 5);
        let layout = Layout::dense(DType::Bytes(width), &[steps]).unwrap();
        let of = Layout::dense(DType::U64, &[offsets.len()]).unwrap();
        let plan = ReverseSegments::along(0).plan(&layout, &of, &layout).unwrap();
        let host = CudaLengths::Host((&offsets).into());
        stream.execute(&plan, input.view(), Some(host), output.view_mut()).unwrap();
        stream.synchronize().unwrap();
        let source = |at: usize| {
            let (unit, inside) = ((at / width) as u64, at % width);
            let end = offsets.partition_point(|&offset| offset <= unit);
            match offsets.get(end) {
                Some(stop) => (offsets[end - 1] + stop - 1 - unit) as usize * width + inside,
                None => at,
            }
        };
        let mut got = output.to_vec().unwrap();
        assert_from(&mut got[..layout.byte_len()], source);
        let host = CudaLengths::Host((&offsets).into());
        stream.execute_in_place(&plan, Some(host), output.view_mut()).unwrap();
        stream.synchronize().unwrap();
        let mut got = output.to_vec().unwrap();
        assert_from(&mut got[..layout.byte_len()], |at| at);
    }
}
