//! The device limits that the choice of kernels depends on, and cache policies.

use crate::kernel::Kernel;

/// Limits that the choice depends on, in addition to plan and addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Shared memory per block, in bytes.
    pub shared: usize,
    /// Whether 16 blocks can form a cluster.
    pub clusters: bool,
    /// Whether temporary memory may be allocated to make a call faster. Not while a graph is being
    /// captured.
    pub scratch: bool,
    /// Bytes of L2 cache.
    pub cache: u64,
    /// The number of multiprocessors.
    pub multiprocessors: usize,
    /// For tensors of at least this many bytes, the cache is asked to keep what is read rather than
    /// what is written: usually 1 to 4 % faster. Some of it stays cached afterwards, which affects
    /// kernels that use most of the cache for a while.
    pub keep_from: u64,
    /// A kernel that is not chosen where another one can run the call: to measure what it is worth.
    pub without: Option<Kernel>,
}

/// Cache policies, as encoded by the hardware: normal, evict last, or evict first.
const NORMAL: u64 = 0x10F0_0000_0000_0000;
const KEEP: u64 = 0x14F0_0000_0000_0000;
const FIRST: u64 = 0x12F0_0000_0000_0000;
/// Tensors at least this many times as large as the cache: smaller ones may be in it for the next
/// kernel.
const FAR_LARGER: u64 = 2;

impl Limits {
    /// The same limits, reduced to these.
    pub fn at_most(self, shared: usize, clusters: bool) -> Self {
        Limits { shared: self.shared.min(shared), clusters: self.clusters && clusters, ..self }
    }

    /// The cache policy for loads of a tensor of so many bytes.
    pub(crate) fn policy(&self, bytes: u64) -> u64 {
        if bytes >= self.keep_from { KEEP } else { NORMAL }
    }

    /// Shared memory per block, if a multiprocessor holds so many; one KiB of each is reserved.
    pub(crate) fn shared_by(&self, blocks: u64) -> u64 {
        (self.shared as u64 + 1024) / blocks - 1024
    }

    /// The same for data that passes by while scratch memory stays in the cache, if that does.
    pub(crate) fn passing(&self, bytes: u64, stays: bool) -> u64 {
        if stays && bytes >= self.keep_from { FIRST } else { NORMAL }
    }

    /// From compute capability, shared memory per block, number of multiprocessors, and bytes of L2
    /// cache.
    pub(crate) fn new(major: u32, shared: usize, multiprocessors: usize, cache: u64) -> Self {
        // Clusters of 16 require 9.0; consumer chips (12.x) do not support that size.
        let clusters = matches!(major, 9 | 10);
        let keep_from = FAR_LARGER * cache;
        Limits { shared, clusters, cache, multiprocessors, keep_from, ..Limits::default() }
    }
}

impl Default for Limits {
    /// The limits of the H100 and H200, for use without a device.
    fn default() -> Self {
        Limits {
            shared: 227 * 1024,
            clusters: true,
            scratch: true,
            cache: 50 << 20,
            multiprocessors: 132,
            keep_from: FAR_LARGER * (50 << 20),
            without: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_keeps_what_is_read_of_tensors_twice_its_size() {
        let limits = Limits::new(9, 227 * 1024, 132, 50 << 20);
        assert_eq!(limits.keep_from, 100 << 20);
        assert_eq!(limits.policy((100 << 20) - 1), NORMAL);
        assert_eq!(limits.policy(100 << 20), KEEP);
        // The device's values, not those of the H200.
        assert_eq!(Limits::new(8, 99 * 1024, 84, 6 << 20).policy(12 << 20), KEEP);
        let never = Limits { keep_from: u64::MAX, ..limits };
        assert_eq!(never.policy(1 << 40), NORMAL);
    }
}
