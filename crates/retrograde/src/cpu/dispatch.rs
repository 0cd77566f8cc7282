//! Dispatch: which instruction sets this processor has, and the kernels compiled for each.
//!
//! The only place where kernels meet instruction sets. An [`Isa`] can only be made where it was detected, so
//! holding one proves that its instructions may be used.

use super::kernels::bit_lines::BitLines;
use super::kernels::blocks::Blocks;
use super::kernels::columns::Columns;
use super::kernels::lanes::Lanes;
use super::kernels::lengths::{Check, Fill};
use super::kernels::packed_rows::PackedRow;
use super::kernels::packed_swaps::PackedSwaps;
use super::kernels::rows::Rows;
use super::kernels::segments::Segments;
use super::kernels::short_lanes::ShortLanes;
use super::kernels::swaps::Swaps;
use super::kernels::tiles::Tiles;
use std::sync::atomic::{AtomicU8, Ordering};

/// Generates the entry points of one instruction set: every kernel, compiled for it.
macro_rules! entries {
    ($module:ident, $vector:ty $(, $feature:literal)?) => {
        mod $module {
            use crate::cpu::{kernels, simd};
            use crate::cpu::dispatch::*;

            entries!(@ $vector $(, $feature)?;
                rows(&Rows) => kernels::rows::run::<$vector>;
                lanes(&Lanes<'_>) => kernels::lanes::run::<$vector>;
                short_lanes(&ShortLanes<'_>) => kernels::short_lanes::run::<$vector>;
                blocks(&Blocks<'_>) => kernels::blocks::run::<$vector>;
                columns(&Columns<'_>) => (|job| kernels::columns::run::<$vector>(job, narrow::columns));
                segments(&Segments<'_>) => kernels::segments::run::<$vector>;
                tiles(&Tiles) => kernels::tiles::run::<$vector>;
                swaps(&Swaps) => (|job| kernels::swaps::run::<$vector>(job, rows));
                fill(&mut Fill<'_>) => kernels::lengths::fill;
                check(&mut Check) => kernels::lengths::check;
                bit_lines(&BitLines) => kernels::bit_lines::run::<$vector>;
                packed_rows(&PackedRow) => kernels::packed_rows::run::<$vector>;
                packed_swaps(&PackedSwaps) => kernels::packed_swaps::run::<$vector>;
            );
        }
    };
    (@ $vector:ty; $($entry:ident($job:ty) => $kernel:expr;)*) => {$(
        /// # Safety
        /// The kernel contract, or that of the length kernels.
        #[inline(never)]
        pub(super) unsafe fn $entry(job: $job) {
            // SAFETY: passed on; every processor has these instructions.
            unsafe { $kernel(job) }
        }
    )*};
    (@ $vector:ty, $feature:literal; $($entry:ident($job:ty) => $kernel:expr;)*) => {$(
        /// # Safety
        /// The kernel contract, or that of the length kernels; the processor has the features.
        #[target_feature(enable = $feature)]
        #[inline(never)]
        pub(super) unsafe fn $entry(job: $job) {
            // SAFETY: passed on; the function is compiled for the features.
            unsafe { $kernel(job) }
        }
    )*};
}

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128", not(feature = "testing"))))]
entries!(portable, simd::portable::Pair);
// A module that has simd128 never runs the portable kernels, and is downloaded. Tests compare both.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128", not(feature = "testing")))]
use self::simd128 as portable;
#[cfg(target_arch = "x86_64")]
entries!(avx2, simd::avx2::Avx, "avx2");
#[cfg(all(target_arch = "x86_64", not(test)))]
entries!(ssse3, simd::ssse3::Sse, "ssse3");
#[cfg(all(target_arch = "x86_64", not(test)))]
entries!(avx512, simd::avx512::Avx512<false>, "avx512f,avx512bw,avx512vl,avx2");
#[cfg(all(target_arch = "x86_64", not(test)))]
entries!(vbmi, simd::avx512::Avx512<true>, "avx512f,avx512bw,avx512vl,avx512vbmi,avx2");
// Unit tests need kernels, but not those of every instruction set, which take minutes to compile a
// second time. Integration tests and the conformance suite test them all, `simd/tests.rs` the
// registers.
#[cfg(all(target_arch = "x86_64", test))]
use self::{portable as ssse3, portable as avx512, portable as vbmi};
#[cfg(target_arch = "aarch64")]
entries!(neon, simd::neon::Neon, "neon");
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
entries!(simd128, simd::simd128::Simd128, "simd128");

/// The kernels for registers of 16 bytes, which wider instruction sets include.
#[cfg(not(all(target_arch = "x86_64", not(test))))]
use self::portable as narrow;
#[cfg(all(target_arch = "x86_64", not(test)))]
use self::ssse3 as narrow;

/// Generates the methods of [`Isa`] that call its entry points.
macro_rules! dispatch {
    ($($entry:ident($job:ty);)*) => {$(
        /// Runs the kernel of this name.
        ///
        /// # Safety
        /// The kernel contract without the instructions, or the contract of the length kernels.
        #[inline]
        pub(super) unsafe fn $entry(self, job: $job) {
            // SAFETY: passed on; `self` proves that the processor has the instructions.
            unsafe {
                match self.0 {
                    Level::Portable => portable::$entry(job),
                    #[cfg(target_arch = "x86_64")]
                    Level::Ssse3 => ssse3::$entry(job),
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => avx2::$entry(job),
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => avx512::$entry(job),
                    #[cfg(target_arch = "x86_64")]
                    Level::Vbmi => vbmi::$entry(job),
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => neon::$entry(job),
                    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                    Level::Simd128 => simd128::$entry(job),
                }
            }
        }
    )*};
}

/// An instruction set that this processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isa(Level);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Level {
    Portable = 1,
    #[cfg(target_arch = "x86_64")]
    Ssse3,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Vbmi,
    #[cfg(target_arch = "aarch64")]
    Neon,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

/// Every level, from the plainest to the most capable.
const LEVELS: &[Level] = &[
    Level::Portable,
    #[cfg(target_arch = "x86_64")]
    Level::Ssse3,
    #[cfg(target_arch = "x86_64")]
    Level::Avx2,
    #[cfg(target_arch = "x86_64")]
    Level::Avx512,
    #[cfg(target_arch = "x86_64")]
    Level::Vbmi,
    #[cfg(target_arch = "aarch64")]
    Level::Neon,
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Level::Simd128,
];

/// The level in use, 0 before it is detected.
static CURRENT: AtomicU8 = AtomicU8::new(0);

impl Isa {
    /// The one in use: the most capable that this processor has, unless a test forced another.
    #[inline]
    pub fn current() -> Self {
        let stored = CURRENT.load(Ordering::Relaxed);
        LEVELS.iter().find(|&&level| level as u8 == stored).map_or_else(Self::detect, |&l| Isa(l))
    }

    /// All that this processor has, the plainest first.
    pub fn available() -> impl Iterator<Item = Isa> {
        LEVELS.iter().filter(|level| level.is_detected()).map(|&level| Isa(level))
    }

    /// Uses this one from now on, in the whole process. Every level gives the same results.
    ///
    /// For tests and benchmarks, behind the feature `testing`.
    #[cfg(any(feature = "testing", test))]
    pub fn force(self) {
        self.store();
    }

    fn store(self) {
        CURRENT.store(self.0 as u8, Ordering::Relaxed);
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0 {
            Level::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Level::Ssse3 => "ssse3",
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Level::Vbmi => "avx512-vbmi",
            #[cfg(target_arch = "aarch64")]
            Level::Neon => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128 => "simd128",
        }
    }

    /// Orders non-temporal stores before later ones. The portable level has none.
    #[inline]
    pub(super) fn fence(self) {
        #[cfg(target_arch = "x86_64")]
        if self.0 != Level::Portable {
            // SAFETY: every x86-64 processor has the instruction; it has no operands.
            unsafe { std::arch::x86_64::_mm_sfence() };
        }
    }

    #[cold]
    fn detect() -> Self {
        let best = Self::available().last().unwrap_or(Isa(Level::Portable));
        best.store();
        best
    }

    dispatch! {
        rows(&Rows);
        lanes(&Lanes<'_>);
        short_lanes(&ShortLanes<'_>);
        blocks(&Blocks<'_>);
        columns(&Columns<'_>);
        segments(&Segments<'_>);
        tiles(&Tiles);
        swaps(&Swaps);
        fill(&mut Fill<'_>);
        check(&mut Check);
        bit_lines(&BitLines);
        packed_rows(&PackedRow);
        packed_swaps(&PackedSwaps);
    }
}

impl Level {
    fn is_detected(&self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Ssse3 => is_x86_feature_detected!("ssse3"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx2")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Vbmi => Level::Avx512.is_detected() && is_x86_feature_detected!("avx512vbmi"),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => true,
            // A module with other instructions than its engine has does not start.
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Level::Simd128 => true,
        }
    }
}
