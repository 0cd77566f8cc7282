//! Instruction sets: which there are, which this processor has, and the way into their kernels.
//!
//! This is the one place of dispatch. An [`Isa`] can only be made where it was detected, so
//! holding one proves that its instructions may be used.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod ssse3;
#[cfg(target_arch = "x86_64")]
mod vbmi;

use super::bits::{BitFill, BitTurns};
use super::blocks::Blocks;
use super::columns::Columns;
use super::lanes::Lanes;
use super::lengths::{Check, Fill};
use super::rows::Rows;
use super::swaps::Swaps;
use super::tiles::Tiles;
use std::sync::atomic::{AtomicU8, Ordering};

/// Generates the entry points of one instruction set: the algorithms, compiled for it.
macro_rules! entries {
    ($vector:ty $(, $feature:literal)?) => {
        /// # Safety
        /// As for [`rows::run`](super::super::rows::run).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn rows(job: &super::Rows) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::rows::run::<$vector>(job) }
        }

        /// # Safety
        /// As for [`lanes::run`](super::super::lanes::run).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn lanes(job: &super::Lanes<'_>) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::lanes::run::<$vector>(job) }
        }

        /// # Safety
        /// As for [`blocks::run`](super::super::blocks::run).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn blocks(job: &super::Blocks<'_>) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::blocks::run::<$vector>(job) }
        }

        /// # Safety
        /// As for [`columns::run`](super::super::columns::run).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn columns(job: &super::Columns<'_>) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::columns::run::<$vector>(job) }
        }

        /// # Safety
        /// As for [`tiles::run`](super::super::tiles::run).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn tiles(job: &super::Tiles) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::tiles::run::<$vector>(job) }
        }

        /// # Safety
        /// As for [`lengths::run`](super::super::lengths::run).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn fill(job: &mut super::Fill<'_>) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::lengths::run(job) }
        }

        /// # Safety
        /// As for [`lengths::check`](super::super::lengths::check).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn check(job: &mut super::Check<'_>) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::lengths::check(job) }
        }

        /// # Safety
        /// As for [`swaps::run`](super::super::swaps::run).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn swaps(job: &super::Swaps) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::swaps::run::<$vector>(job) }
        }

        /// # Safety
        /// As for [`bits::fill`](super::super::bits::fill).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn bit_fill(job: &super::BitFill) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::bits::fill::<$vector>(job) }
        }

        /// # Safety
        /// As for [`bits::turn`](super::super::bits::turn).
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn bit_turns(job: &super::BitTurns) {
            // SAFETY: the caller's promises, and the features this function is compiled for.
            unsafe { super::super::bits::turn::<$vector>(job) }
        }
    };
}
use entries;

/// Generates the ways from an [`Isa`] to its entry points.
macro_rules! dispatch {
    ($($(#[$doc:meta])* $entry:ident($job:ty);)*) => {$(
        $(#[$doc])*
        #[inline]
        pub(super) unsafe fn $entry(self, job: $job) {
            // SAFETY: the caller's promises; `self` proves that the processor has the level.
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
];

/// The level in use, 0 before the first look.
static CURRENT: AtomicU8 = AtomicU8::new(0);

impl Isa {
    /// The one in use: the most capable, unless [`force`](Isa::force) chose another.
    #[inline]
    pub fn current() -> Self {
        let stored = CURRENT.load(Ordering::Relaxed);
        LEVELS.iter().find(|&&level| level as u8 == stored).map_or_else(Self::detect, |&l| Isa(l))
    }

    /// All that this processor has, the plainest first.
    pub fn available() -> impl Iterator<Item = Isa> {
        LEVELS.iter().filter(|level| level.is_detected()).map(|&level| Isa(level))
    }

    /// Uses this one from now on, in the whole process. For tests and measurements: every
    /// level gives the same results.
    pub fn force(self) {
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
        }
    }

    /// Makes stores past the caches visible to other threads. The portable level has none.
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
        best.force();
        best
    }

    dispatch! {
        /// # Safety
        /// As for [`rows::run`](super::rows::run), less the processor.
        rows(&Rows);
        /// # Safety
        /// As for [`lanes::run`](super::lanes::run), less the processor.
        lanes(&Lanes<'_>);
        /// # Safety
        /// As for [`blocks::run`](super::blocks::run), less the processor.
        blocks(&Blocks<'_>);
        /// # Safety
        /// As for [`columns::run`](super::columns::run), less the processor.
        columns(&Columns<'_>);
        /// # Safety
        /// As for [`lengths::run`](super::lengths::run), less the processor.
        fill(&mut Fill<'_>);
        /// # Safety
        /// As for [`lengths::check`](super::lengths::check), less the processor.
        check(&mut Check<'_>);
        /// # Safety
        /// As for [`swaps::run`](super::swaps::run), less the processor.
        swaps(&Swaps);
        /// # Safety
        /// As for [`tiles::run`](super::tiles::run), less the processor.
        tiles(&Tiles);
        /// # Safety
        /// As for [`bits::fill`](super::bits::fill), less the processor.
        bit_fill(&BitFill);
        /// # Safety
        /// As for [`bits::turn`](super::bits::turn), less the processor.
        bit_turns(&BitTurns);
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
        }
    }
}
