//! SIMD registers: what the kernels know about an instruction set, and nothing above it.
//!
//! [`Vector`] has the primitives. What only some kernels need is a trait of its own, with a
//! portable default that gives the same bytes: [`PartialVector`] (registers reversed in part),
//! [`BytePermute`] (units whose width does not divide a register),
//! [`PackedLanes`] (several short lanes in one register), [`BitVector`] (sub-byte elements),
//! [`SquareVector`] (squares of narrow units side by side). One file per instruction set implements
//! them; [`Simd`] is all of them together.
//!
//! # Contract
//! Methods of these traits are unsafe for up to three reasons. SAFETY comments cite them by
//! number:
//! 1. the processor has the instructions of the type. Holding an
//!    [`Isa`](super::dispatch::Isa) proves it;
//! 2. pointers are valid for the bytes that the method loads or stores;
//! 3. counts are in the range that the method names.

mod bits;
mod lanes;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
mod orders;
mod partial;
mod permute;
mod squares;
#[cfg(test)]
mod tests;
mod vector;
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

pub(in crate::cpu) use bits::BitVector;
pub(in crate::cpu) use lanes::{LaneMap, PackedLanes};
pub(in crate::cpu) use partial::PartialVector;
pub(in crate::cpu) use permute::BytePermute;
pub(in crate::cpu) use squares::{PART, SquareVector};
pub(in crate::cpu) use vector::{Source, Vector, WIDEST, copy_ends, copy_narrow, copy_unit};

/// All that the kernels ask of an instruction set, with the narrower registers beside the widest.
pub(in crate::cpu) trait Simd:
    Vector + PartialVector + BytePermute + PackedLanes + BitVector + SquareVector
{
    /// The register for units of up to 16 bytes that this one has no [order](Vector::orders) of.
    type Odd: PartialVector;

    /// The register for several short lanes at once.
    type Lanes: PackedLanes;
}
