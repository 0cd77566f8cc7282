//! Decodes a fuzz input into decisions, byte by byte. Returns zeros after the end of the input.

use retrograde_suite::placement::Width;
use retrograde_suite::runner::split_mix;

/// The maximum number of elements and bytes of a tensor. The limits keep the oracle fast.
const MOST: usize = 2048;
const MOST_BYTES: usize = 32 << 10;

/// The bytes of the input that have not been read yet.
pub(crate) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Choices(bytes)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number below a limit of at most 256.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit.max(1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from(self.u32()) | u64::from(self.u32()) << 32
    }

    /// A pseudo-random generator seeded from two bytes of the input. It fills buffers, which are
    /// too large to take every byte from the input.
    pub(crate) fn noise(&mut self) -> Noise {
        Noise(self.u16().into())
    }

    /// The size of an axis: usually small, sometimes close to a vector width.
    pub(crate) fn size(&mut self) -> usize {
        match self.byte() {
            small @ 0..128 => usize::from(small) % 6,
            large => usize::from(large - 127) * if self.flag() { 1 } else { 5 },
        }
    }

    /// A shape of up to eight axes.
    pub(crate) fn shape(&mut self, width: Width) -> Vec<usize> {
        let mut room = MOST.min(MOST_BYTES * 8 / width.bits());
        let rank = self.pick(&[2, 1, 3, 4, 0, 5, 6, 8]);
        let mut size = || {
            let size = self.size().min(room);
            room /= size.max(1);
            size
        };
        (0..rank).map(|_| size()).collect()
    }
}

/// A pseudo-random number generator.
#[derive(Clone)]
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// A buffer of random bytes without spare capacity, so that a sanitizer detects any access
    /// beyond its end.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        for eight in bytes.chunks_mut(8) {
            eight.copy_from_slice(&self.next().to_le_bytes()[..eight.len()]);
        }
        bytes
    }
}
