//! Packed elements in 64-bit words (SWAR: SIMD within a register).
//!
//! Elements of 4 and 2 bits start at the low end of a byte, those of 1 bit at its high end, so
//! the width alone determines the bit order.

/// How many elements of `BITS` bits a byte holds.
pub(in crate::cpu) const fn per_byte<const BITS: usize>() -> usize {
    8 / BITS
}

/// The byte that holds element `at`, and how many bits precede it there.
#[inline(always)]
pub(in crate::cpu) fn place<const BITS: usize>(at: usize) -> (usize, usize) {
    (at / per_byte::<BITS>(), at % per_byte::<BITS>() * BITS)
}

/// Whether the first element of a byte sits in its most significant bits.
#[inline(always)]
pub(in crate::cpu) const fn high_first<const BITS: usize>() -> bool {
    high_first_of(8 / BITS)
}

/// The bits of element `at` of the `E` elements of a byte.
#[inline(always)]
pub(in crate::cpu) const fn mask<const E: usize>(at: usize) -> u8 {
    let first = (0xFF >> (8 - 8 / E)) as u8;
    if high_first_of(E) { first << (7 - at) } else { first << (at * (8 / E)) }
}

/// Whether the first of `elements` elements of a byte sits in its most significant bits.
#[inline(always)]
pub(in crate::cpu) const fn high_first_of(elements: usize) -> bool {
    elements == 8
}

/// The most bits that [`load`] and [`store`] take, wherever in a byte they start.
pub(in crate::cpu) const MOST: usize = 56;

/// Reverses the order of elements within each byte. Its own inverse.
#[inline(always)]
pub(in crate::cpu) fn reverse_in_bytes<const BITS: usize>(word: u64) -> u64 {
    const FOURS: u64 = 0x0F0F_0F0F_0F0F_0F0F;
    const TWOS: u64 = 0x3333_3333_3333_3333;
    const ONES: u64 = 0x5555_5555_5555_5555;
    let mut word = (word & FOURS) << 4 | word >> 4 & FOURS;
    if BITS <= 2 {
        word = (word & TWOS) << 2 | word >> 2 & TWOS;
    }
    if BITS == 1 {
        word = (word & ONES) << 1 | word >> 1 & ONES;
    }
    word
}

/// For each byte, the eight bits that start `shift` (1 to 7) bits into it: some of its own,
/// the others from the same byte of `next`.
#[inline(always)]
pub(in crate::cpu) fn funnel(here: u64, next: u64, shift: usize, high_first: bool) -> u64 {
    let own = if high_first { 0xFF << shift & 0xFF } else { 0xFF >> shift };
    let own = 0x0101_0101_0101_0101 * own;
    if high_first {
        here << shift & own | next >> (8 - shift) & !own
    } else {
        here >> shift & own | next << (8 - shift) & !own
    }
}

/// Loads 1 to 8 bytes, the first one lowest.
///
/// # Safety
/// `src` is valid for reads of `bytes`.
#[inline(always)]
pub(in crate::cpu) unsafe fn load_few(src: *const u8, bytes: usize) -> u64 {
    // SAFETY: `bytes` bytes are valid, as required; two loads that overlap stay inside them.
    unsafe {
        let four = |at: usize| u64::from(u32::from_le(src.add(at).cast::<u32>().read_unaligned()));
        let one = |at: usize| u64::from(src.add(at).read()) << (8 * at);
        match bytes {
            8 => u64::from_le(src.cast::<u64>().read_unaligned()),
            4..8 => four(0) | four(bytes - 4) << (8 * (bytes - 4)),
            _ => one(0) | one(bytes / 2) | one(bytes - 1),
        }
    }
}

/// Stores the lowest 1 to 8 bytes of a word.
///
/// # Safety
/// `dst` is valid for writes of `bytes`.
#[inline(always)]
pub(in crate::cpu) unsafe fn store_few(word: u64, dst: *mut u8, bytes: usize) {
    // SAFETY: `bytes` bytes are valid, as required; two stores that overlap stay inside them.
    unsafe {
        let four = |at: usize| {
            let part = (word >> (8 * at)) as u32;
            dst.add(at).cast::<u32>().write_unaligned(part.to_le());
        };
        let one = |at: usize| dst.add(at).write((word >> (8 * at)) as u8);
        match bytes {
            8 => dst.cast::<u64>().write_unaligned(word.to_le()),
            4..8 => {
                four(0);
                four(bytes - 4);
            }
            _ => {
                one(0);
                one(bytes / 2);
                one(bytes - 1);
            }
        }
    }
}

/// Converts bytes between memory order and low-first order. Its own inverse.
#[inline(always)]
pub(in crate::cpu) fn low_first<const BITS: usize>(word: u64) -> u64 {
    // Reversing the bits of a byte reverses its elements, if those have one bit.
    if high_first::<BITS>() { reverse_in_bytes::<BITS>(word) } else { word }
}

/// A mask of the lowest `count < 64` bits.
#[inline(always)]
pub(in crate::cpu) fn low(count: usize) -> u64 {
    (1 << count) - 1
}

/// Loads `count` elements, 1 to [`MOST`] bits, low-first.
///
/// # Safety
/// The elements are inside memory valid for reads.
#[inline(always)]
pub(in crate::cpu) unsafe fn load<const BITS: usize>(
    src: *const u8,
    at: usize,
    count: usize,
) -> u64 {
    let (byte, phase) = place::<BITS>(at);
    // SAFETY: the elements are in valid memory, as required, and each of these bytes holds one.
    let word = unsafe { load_few(src.add(byte), (phase + count * BITS).div_ceil(8)) };
    low_first::<BITS>(word) >> phase & low(count * BITS)
}

/// Stores what [`load`] loads, and keeps all other bits.
///
/// # Safety
/// The elements are inside memory valid for reads and writes, and initialised.
#[inline(always)]
pub(in crate::cpu) unsafe fn store<const BITS: usize>(
    word: u64,
    dst: *mut u8,
    at: usize,
    count: usize,
) {
    let (byte, phase) = place::<BITS>(at);
    let (bytes, own) = ((phase + count * BITS).div_ceil(8), low(count * BITS) << phase);
    // SAFETY: the elements are in valid memory, as required, and each of these bytes holds one.
    unsafe {
        let kept = low_first::<BITS>(load_few(dst.add(byte), bytes)) & !own;
        store_few(low_first::<BITS>(kept | word << phase), dst.add(byte), bytes);
    }
}

/// Reverses the order of `count` elements, 1 to 64 bits, that were loaded low-first.
#[inline(always)]
pub(in crate::cpu) fn reverse<const BITS: usize>(word: u64, count: usize) -> u64 {
    reverse_in_bytes::<BITS>(word.swap_bytes()) >> (64 - count * BITS)
}
