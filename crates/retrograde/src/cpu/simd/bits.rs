//! Sub-byte elements in a register: reversal within bytes, and shifts across them. Written once, on
//! the primitives of [`Vector`].

use super::vector::{Vector, swapped};

/// How elements of one width are reversed within their bytes. Made once for many registers: the
/// width is data, and kernels are compiled once for several.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct InBytes<V> {
    bits: usize,
    /// What the low nibble of a byte becomes, and what its high nibble becomes.
    tables: [V; 2],
}

impl<V: Vector> InBytes<V> {
    /// For elements of 1, 2 or 4 bits.
    ///
    /// # Safety
    /// Contract 1.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn new(bits: usize) -> Self {
        let [low, high] = &TABLES[bits / 2];
        // SAFETY: contract 1; the tables have 16 bytes each.
        let tables = unsafe { [V::broadcast(low.as_ptr()), V::broadcast(high.as_ptr())] };
        InBytes { bits, tables }
    }

    /// Reverses the order of elements within each byte. Their width is `BITS` if the compiler knows
    /// it, otherwise that is 0.
    ///
    /// # Safety
    /// Contract 1.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn reversed<const BITS: usize>(self, vector: V) -> V {
        debug_assert!(BITS == 0 || BITS == self.bits);
        // SAFETY: contract 1; nibbles are below 16.
        unsafe {
            // Elements of four bits take fewer instructions without tables.
            if V::SHUFFLES && !V::REVERSES_BITS && BITS != 4 {
                let ([low, high], nibble) = (self.tables, V::splat(0x0F));
                let low = low.shuffle(vector.and(nibble));
                return low.or(high.shuffle(vector.shr(4).and(nibble)));
            }
            match if BITS == 0 { self.bits } else { BITS } {
                1 => vector.reversed_bits(),
                2 if V::REVERSES_BITS => swapped(vector.reversed_bits(), 1, 0xAA),
                2 => swapped(swapped(vector, 4, 0xF0), 2, 0xCC),
                _ => swapped(vector, 4, 0xF0),
            }
        }
    }

    /// Whether a loop is as fast if the width of elements is data.
    pub(in crate::cpu) const AS_DATA: bool = V::SHUFFLES || V::REVERSES_BITS;
}

/// Funnel shift by bytes: each byte of `high` without its `shift` (1 to 7) most significant bits,
/// then as many of the most significant bits of the same byte of `low`.
///
/// # Safety
/// Contract 1 and 3.
#[inline(always)]
pub(in crate::cpu) unsafe fn funnel<V: Vector>(high: V, low: V, shift: usize) -> V {
    // SAFETY: contract 1. There are no shifts of bytes: shift words, and mask what crosses a byte.
    unsafe { V::select(V::splat(0xFF << shift), high.shl(shift), low.shr(8 - shift)) }
}

/// The tables of [`InBytes`] for elements of 1, 2 and 4 bits.
static TABLES: [[[u8; 16]; 2]; 3] = [tables(1), tables(2), tables(4)];

const fn tables(bits: usize) -> [[u8; 16]; 2] {
    let mut tables = [[0; 16]; 2];
    let mut nibble = 0;
    while nibble < 16 {
        let reversed = match bits {
            1 => (nibble as u8).reverse_bits() >> 4,
            2 => (nibble as u8 & 3) << 2 | nibble as u8 >> 2,
            _ => nibble as u8,
        };
        tables[0][nibble] = reversed << 4;
        tables[1][nibble] = reversed;
        nibble += 1;
    }
    tables
}
