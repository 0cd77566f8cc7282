//! Memory for outputs that the library allocates itself.
//!
//! Beyond a few megabytes half the cost of a copy into fresh memory is page faults, so large
//! outputs ask the system for huge pages. Nothing is filled with zeros.

/// Smaller outputs are not worth a system call.
const LEAST: usize = 4 << 20;

/// An empty vector with capacity for `len` elements.
pub(crate) fn vec_with_capacity<T>(len: usize) -> Vec<T> {
    let vec: Vec<T> = Vec::with_capacity(len);
    let bytes = len.saturating_mul(size_of::<T>());
    if bytes >= LEAST {
        advise_huge_pages(vec.as_ptr().cast::<u8>().addr(), bytes);
    }
    vec
}

/// Room for `len` bytes, if there is that much memory.
pub(crate) fn try_bytes(len: usize) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    if len >= LEAST {
        advise_huge_pages(bytes.as_ptr().addr(), len);
    }
    Some(bytes)
}

/// Asks for huge pages (transparent huge pages) inside a range of addresses. A hint: if it is
/// refused, ordinary pages work too.
// Miri does not know the call.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge_pages(start: usize, bytes: usize) {
    const LARGE: usize = 2 << 20;
    let first = start.next_multiple_of(LARGE);
    let end = (start + bytes) / LARGE * LARGE;
    if first < end {
        // SAFETY: the range is part of an allocation of ours, and the advice changes nothing
        // but the size of the pages behind it.
        unsafe {
            libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE);
        }
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
fn advise_huge_pages(_start: usize, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_room_asked_for() {
        let large = if cfg!(miri) { 3000 } else { 3 << 20 };
        for len in [0, 1, 1000, large] {
            let mut vec = vec_with_capacity::<u32>(len);
            assert!(vec.is_empty() && vec.capacity() >= len);
            vec.resize(len, 7);
            assert!(vec.iter().all(|&v| v == 7));
        }
    }
}
