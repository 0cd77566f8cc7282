//! What the tests share: the device, bytes that tell their position, and comparisons.

use retrograde::{DType, LengthsMemory, MemoryMut, Plan, cpu};
use retrograde_cuda::{Cuda, DeviceBuffer, Stream};

pub(crate) fn device() -> Cuda {
    Cuda::device(0).unwrap_or_else(|error| panic!("these tests need a device: {error}"))
}

/// A byte for every position that differs from its neighbours', at any distance.
pub(crate) fn byte(at: usize) -> u8 {
    ((at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    each_chunk(&mut bytes, |start, chunk| {
        chunk.iter_mut().enumerate().for_each(|(at, b)| *b = byte(start + at));
    });
    bytes
}

/// Processes large buffers on all cores.
pub(crate) fn each_chunk(bytes: &mut [u8], work: impl Fn(usize, &mut [u8]) + Sync) {
    let share = bytes.len().div_ceil(16).max(1);
    std::thread::scope(|scope| {
        for (number, chunk) in bytes.chunks_mut(share).enumerate() {
            let work = &work;
            scope.spawn(move || work(number * share, chunk));
        }
    });
}

/// Compares with a formula for the source of every byte.
pub(crate) fn assert_from(got: &mut [u8], source: impl Fn(usize) -> usize + Sync) {
    each_chunk(got, |start, chunk| {
        for (at, &got) in chunk.iter().enumerate() {
            let want = byte(source(start + at));
            assert_eq!(got, want, "byte {} comes from {}", start + at, source(start + at));
        }
    });
}

pub(crate) fn on_device(cuda: &Cuda, lengths: &[i32]) -> DeviceBuffer {
    let bytes: Vec<u8> = lengths.iter().flat_map(|length| length.to_ne_bytes()).collect();
    DeviceBuffer::from_host(cuda, &bytes).unwrap()
}

/// Runs a plan out of place and in place, with lengths on the device; compares with the CPU.
pub(crate) fn agrees_with_the_cpu(cuda: &Cuda, stream: &Stream, plan: &Plan, lengths: &[u64]) {
    let per_byte = plan.unit().grain.per_byte();
    let bytes = plan.src().end.max(plan.dst().end).div_ceil(per_byte);
    let (before, given) = (noise(bytes), LengthsMemory::from(lengths));
    let mut expected = before.clone();
    let to = MemoryMut::from(&mut expected[..]);
    cpu::execute(plan, before[..].into(), Some(given), to).unwrap();
    let raw: Vec<u8> = lengths.iter().flat_map(|length| length.to_ne_bytes()).collect();
    let raw = DeviceBuffer::from_host(cuda, &raw).unwrap();
    let input = DeviceBuffer::from_host(cuda, &before).unwrap();
    let mut output = DeviceBuffer::from_host(cuda, &before).unwrap();
    stream
        .execute(plan, input.view(), Some((DType::U64, raw.view()).into()), output.view_mut())
        .unwrap();
    stream.check().unwrap();
    let wrong = |got: &[u8]| got.iter().zip(&expected).position(|(a, b)| a != b);
    assert_eq!(wrong(&output.to_vec().unwrap()), None, "the first wrong byte: {plan}");
    if plan.fits_in_place() {
        output.write(0, &before).unwrap();
        stream
            .execute_in_place(plan, Some((DType::U64, raw.view()).into()), output.view_mut())
            .unwrap();
        stream.check().unwrap();
        assert_eq!(wrong(&output.to_vec().unwrap()), None, "in place, the first one: {plan}");
    }
}
