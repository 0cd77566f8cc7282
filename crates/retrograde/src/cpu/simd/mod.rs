//! SIMD registers: what the kernels know about an instruction set, and nothing above it.
//!
//! [`Vector`] has the primitives, which one file per instruction set implements. What kernels need
//! beyond them has a portable default that gives the same bytes: [`PartialVector`] (registers
//! reversed in part, several short lanes in one) and [`Simd`] (squares of narrow units side by
//! side). It is written once for registers of 16 bytes with a table look-up
//! ([`Narrow`](narrow::Narrow)), and once for sub-byte elements in any register ([`bits`]).
//!
//! # Contract
//! Methods of these traits are unsafe for up to three reasons. SAFETY comments cite them by
//! number:
//! 1. the processor has the instructions of the type. Holding an
//!    [`Isa`](super::dispatch::Isa) proves it;
//! 2. pointers are valid for the bytes that the method loads or stores;
//! 3. counts are in the range that the method names.

/// Primitives of one expression: an instruction, or as few as the instruction set has for them.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
macro_rules! one_instruction {
    ($($name:ident($($parameter:tt)*) $(-> $result:ty)? = $value:expr;)*) => {$(
        #[inline(always)]
        // WebAssembly's intrinsics are safe, but for those of memory.
        #[allow(unused_unsafe)]
        unsafe fn $name($($parameter)*) $(-> $result)? {
            // SAFETY: contract 1, and 2 for a register or half of one.
            unsafe { $value }
        }
    )*};
}

pub(in crate::cpu) mod bits;
mod lanes;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
mod narrow;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
mod orders;
mod partial;
mod squares;
#[cfg(test)]
mod tests;
mod vector;
mod widths;
pub(in crate::cpu) mod words;

// Not in a module that has simd128, unless for tests (`dispatch.rs`).
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128", not(feature = "testing"))))]
pub(in crate::cpu) mod portable;

#[cfg(target_arch = "x86_64")]
pub(in crate::cpu) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(in crate::cpu) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(in crate::cpu) mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(in crate::cpu) mod simd128;
#[cfg(target_arch = "x86_64")]
pub(in crate::cpu) mod ssse3;

pub(in crate::cpu) use lanes::LaneMap;
pub(in crate::cpu) use partial::PartialVector;
pub(in crate::cpu) use squares::{SIXTEEN, Simd};
pub(in crate::cpu) use vector::{
    Source, Vector, WIDEST, copy_ends, copy_narrow, copy_unit, prefetch,
};
pub(in crate::cpu) use widths::{by_width, divides_registers};
