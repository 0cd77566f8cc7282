//! The sizes of caches.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of cache beyond which ordinary stores cost more than non-temporal ones: an output of this
/// size and its input fill the last-level cache.
pub(in crate::cpu) fn half_of_last_level() -> usize {
    // Not a `OnceLock`: a child forked while another thread asks would wait for its lock for ever.
    // Detecting it twice is harmless.
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    match SIZE.load(Ordering::Relaxed) {
        0 => {
            let size = detect().map_or(UNKNOWN, |size| (size / 2).clamp(LEAST, MOST));
            SIZE.store(size, Ordering::Relaxed);
            size
        }
        size => size,
    }
}

/// Where the processor does not tell.
const UNKNOWN: usize = 8 << 20;
/// A virtual machine is told the size of a cache that it shares with others.
const MOST: usize = 32 << 20;
/// The same for machines without a third level.
const LEAST: usize = 1 << 20;

/// Asks the processor for its largest cache: Intel answers at leaf 4, AMD at 0x8000_001D, in the same format.
// Miri runs no assembly, so there is no processor to ask.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unused_unsafe, reason = "older Rust has these calls as unsafe")]
fn detect() -> Option<usize> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    // SAFETY: every x86-64 processor has the instruction.
    let (highest, highest_extended) = unsafe { (__cpuid(0).eax, __cpuid(0x8000_0000).eax) };
    for leaf in [4, 0x8000_001D] {
        if leaf > if leaf < 0x8000_0000 { highest } else { highest_extended } {
            continue;
        }
        let mut largest = None;
        for index in 0..8 {
            // SAFETY: as above, for a leaf that the processor has.
            let answer = unsafe { __cpuid_count(leaf, index) };
            let (kind, level) = (answer.eax & 0x1F, answer.eax >> 5 & 0x7);
            if kind == 0 {
                break;
            }
            if level >= 2 {
                let ways = (answer.ebx >> 22) as usize + 1;
                let partitions = (answer.ebx >> 12 & 0x3FF) as usize + 1;
                let line = (answer.ebx & 0xFFF) as usize + 1;
                let size = ways * partitions * line * (answer.ecx as usize + 1);
                largest = largest.max(Some(size));
            }
        }
        if largest.is_some() {
            return largest;
        }
    }
    None
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn detect() -> Option<usize> {
    None
}
