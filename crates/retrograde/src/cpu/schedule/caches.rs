//! The size of the L2 cache.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of second-level cache that a core has to itself.
pub(in crate::cpu) fn second_level() -> usize {
    // Not a `OnceLock`: a child forked while another thread asks would wait for its lock for ever.
    // Detecting it twice is harmless.
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    match SIZE.load(Ordering::Relaxed) {
        0 => {
            let size = detect().unwrap_or(1 << 20).max(1);
            SIZE.store(size, Ordering::Relaxed);
            size
        }
        size => size,
    }
}

/// Asks the processor: Intel answers at leaf 4, AMD at 0x8000_001D, in the same format.
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
        for index in 0..8 {
            // SAFETY: as above, for a leaf that the processor has.
            let answer = unsafe { __cpuid_count(leaf, index) };
            let (kind, level) = (answer.eax & 0x1F, answer.eax >> 5 & 0x7);
            if kind == 0 {
                break;
            }
            if level == 2 {
                let ways = (answer.ebx >> 22) as usize + 1;
                let partitions = (answer.ebx >> 12 & 0x3FF) as usize + 1;
                let line = (answer.ebx & 0xFFF) as usize + 1;
                return Some(ways * partitions * line * (answer.ecx as usize + 1));
            }
        }
    }
    None
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn detect() -> Option<usize> {
    None
}
