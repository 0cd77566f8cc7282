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

/// Asks the kernel, which lists the caches of every processor in files. Not all kernels do, and not
/// on all machines. Allocates nothing, because no small call does.
#[cfg(all(target_os = "linux", not(target_arch = "x86_64"), not(miri)))]
fn detect() -> Option<usize> {
    use std::fs::File;
    use std::io::{Read, Write};
    let value = |index: usize, name: &str| {
        let mut path = [0; 64];
        let mut rest = &mut path[..];
        write!(rest, "/sys/devices/system/cpu/cpu0/cache/index{index}/{name}").ok()?;
        let unused = rest.len();
        let path = str::from_utf8(&path[..64 - unused]).ok()?;
        let mut text = [0; 16];
        let count = File::open(path).ok()?.read(&mut text).ok()?;
        bytes_of(str::from_utf8(&text[..count]).ok()?)
    };
    let levels = (0..8).map_while(|index| Some((index, value(index, "level")?)));
    levels.filter(|&(_, level)| level >= 2).filter_map(|(index, _)| value(index, "size")).max()
}

/// A number as the kernel writes sizes: `512K`, `32M`, or without a unit.
#[cfg(any(test, all(target_os = "linux", not(target_arch = "x86_64"), not(miri))))]
fn bytes_of(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_uppercase());
    let scale = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(scale)
}

/// Asks the system for the cache of the third level, or else of the second; on Apple's processors
/// the one that the fast cores share.
#[cfg(all(target_vendor = "apple", not(target_arch = "x86_64"), not(miri)))]
fn detect() -> Option<usize> {
    use std::ptr::null_mut;
    let names = [c"hw.l3cachesize", c"hw.perflevel0.l2cachesize", c"hw.l2cachesize"];
    names.into_iter().find_map(|name| {
        let (mut value, mut bytes) = (0u64, size_of::<u64>());
        // SAFETY: the name ends with a zero byte; `value` has room for `bytes` bytes, and the system
        // writes no more.
        let failed = unsafe {
            libc::sysctlbyname(name.as_ptr(), (&raw mut value).cast(), &mut bytes, null_mut(), 0)
        };
        // Little-endian, so a shorter answer is right too.
        (failed == 0 && value > 0).then_some(value as usize)
    })
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_os = "linux", target_vendor = "apple"))))]
fn detect() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_the_kernel_writes_them() {
        assert_eq!(bytes_of("512K\n"), Some(512 << 10));
        assert_eq!(bytes_of("32M\n"), Some(32 << 20));
        assert_eq!(bytes_of("1G"), Some(1 << 30));
        assert_eq!(bytes_of("2\n"), Some(2));
        for text in ["", "K", "12k", "-1K", "1KB", "99999999999999999999K", "18446744073709551615K"]
        {
            assert_eq!(bytes_of(text), None, "{text:?}");
        }
    }

    /// Under emulation too: there the files are those of the machine that emulates.
    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn finds_the_cache_where_the_kernel_lists_it() {
        if std::fs::exists("/sys/devices/system/cpu/cpu0/cache/index2/size").unwrap_or(false) {
            assert!(detect().is_some_and(|size| size >= 64 << 10), "{:?}", detect());
        }
        let half = half_of_last_level();
        assert!((LEAST..=MOST).contains(&half), "{half}");
    }
}
