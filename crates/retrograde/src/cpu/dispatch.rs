//! Dispatch: which instruction sets this processor has, and the kernels compiled for each.
//!
//! The only place where kernels meet instruction sets: a row for each kernel, and a row for each
//! instruction set. An [`Isa`] can only be made where it was detected, so holding one proves that
//! its instructions may be used.

use super::kernels::bit_lines::BitLines;
use super::kernels::blocks::Blocks;
use super::kernels::columns::Columns;
use super::kernels::lanes::Lanes;
use super::kernels::lengths::{Check, Fill};
use super::kernels::look_up::LookUp;
use super::kernels::packed_rows::PackedRow;
use super::kernels::packed_swaps::PackedSwaps;
use super::kernels::rows::Rows;
use super::kernels::segments::Segments;
use super::kernels::short_lanes::ShortLanes;
use super::kernels::stream::{Stream, StreamCopy};
use super::kernels::swaps::Swaps;
use super::kernels::tiles::Tiles;
use super::{kernels, simd};
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

/// Passes the kernels to a macro. The first word of a row says what makes a kernel another one at
/// another level: `all` of the instructions, only the `wide` registers, or (without registers) what
/// the compiler makes of the `loops`.
macro_rules! kernels {
    ($then:ident!($($argument:tt)*)) => {
        $then! { $($argument)*;
            all rows(&Rows) => (|job| kernels::rows::run::<V>(job, stream_copy));
            all lanes(&Lanes<'_>) => (|job| kernels::lanes::run::<V>(job, stream_copy));
            all short_lanes(&ShortLanes<'_>) => (|job| kernels::short_lanes::run::<V>(job, stream_copy));
            wide stream_copy(&mut StreamCopy<'_>) => kernels::runs::stream_copy::<V>;
            wide blocks(&Blocks<'_>) => (|job| kernels::blocks::run::<V>(job, stream_copy));
            all columns(&Columns<'_>) => (|job| kernels::columns::run::<V>(job, narrow::columns));
            all segments(&Segments<'_>) => (|job| kernels::segments::run::<V>(job, stream_copy));
            all tiles(&Tiles) => (|job| kernels::tiles::run::<V>(job, narrow::tiles));
            all swaps(&Swaps) => (|job| kernels::swaps::run::<V>(job, rows));
            wide look_up(&LookUp<'_>) => kernels::look_up::run::<V>;
            loops fill(&mut Fill<'_>) => kernels::lengths::fill;
            loops check(&mut Check) => kernels::lengths::check;
            loops bit_lines(&BitLines) => kernels::bit_lines::run;
            all packed_rows(&PackedRow) => kernels::packed_rows::run::<V>;
            all packed_swaps(&PackedSwaps) => kernels::packed_swaps::run::<V>;
        }
    };
}

/// Generates the entry points of an instruction set: every kernel, compiled for it if a row asks
/// for it.
macro_rules! entries {
    ($features:tt; $($like:ident $kernel:ident($job:ty) => $run:expr;)*) => {
        $(entries!(@ $features $kernel($job) => $run);)*
    };
    (@ [$($feature:tt)*] $kernel:ident($job:ty) => $run:expr) => {
        /// # Safety
        /// The kernel contract, or that of the length kernels; the processor has the features.
        $(#[target_feature(enable = $feature)])*
        #[inline(never)]
        // A row may take it from another level.
        #[allow(dead_code)]
        pub(super) unsafe fn $kernel(job: $job) {
            // SAFETY: passed on; the function is compiled for the features.
            unsafe { $run(job) }
        }
    };
}

/// Generates [`Level`]: what an instruction set is called, and its kernels.
macro_rules! level {
    (; $($like:ident $kernel:ident($job:ty) => $run:expr;)*) => {
        /// A row of the table of instruction sets.
        struct Level {
            name: &'static str,
            is_detected: fn() -> bool,
            $($kernel: unsafe fn($job),)*
        }

        impl Isa {$(
            /// Runs the kernel of this name.
            ///
            /// # Safety
            /// The kernel contract without the instructions, or the contract of the length kernels.
            #[inline]
            pub(super) unsafe fn $kernel(self, job: $job) {
                // SAFETY: passed on; `self` proves that the processor has the instructions.
                unsafe { (self.level().$kernel)(job) }
            }
        )*}
    };
}

/// Generates a [`Level`], with kernels of its own or of those named for them.
macro_rules! row {
    ($name:literal, $detected:expr, $levels:tt; $($like:ident $kernel:ident($job:ty) => $run:expr;)*) => {
        Level { name: $name, is_detected: || $detected, $($kernel: row!(@ $like $kernel $levels),)* }
    };
    (@ all $kernel:ident [$all:ident $wide:ident $loops:ident]) => { $all::$kernel };
    (@ wide $kernel:ident [$all:ident $wide:ident $loops:ident]) => { $wide::$kernel };
    (@ loops $kernel:ident [$all:ident $wide:ident $loops:ident]) => { $loops::$kernel };
}

/// Whether the processor has all of these features.
macro_rules! detected {
    () => { true };
    ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
}

/// Generates the table: for every level its module, its register and its features, and the levels
/// from which it takes kernels. From the plainest to the most capable.
macro_rules! levels {
    ($($(#[$exists:meta])* $module:ident($name:literal, $vector:ty, [$($feature:tt)*])
        wide: $wide:ident, loops: $loops:ident;)*) => {
        $($(#[$exists])*
        mod $module {
            use super::*;
            type V = $vector;
            kernels! { entries!([$($feature)*]) }
        })*

        static LEVELS: &[Level] = &[
            $($(#[$exists])*
            kernels! { row!($name, detected!($($feature)*), [$module $wide $loops]) }),*
        ];
    };
}

kernels! { level!() }

// A module that has simd128 never runs the portable kernels, and is downloaded. Tests compare both.
// Unit tests need kernels, but not those of every instruction set, which take minutes to compile a
// second time. Integration tests and the conformance suite test them all, `simd/tests.rs` the
// registers.
levels! {
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128", not(feature = "testing"))))]
    portable("portable", simd::portable::Pair, []) wide: portable, loops: portable;
    #[cfg(all(target_arch = "x86_64", not(test)))]
    ssse3("ssse3", simd::ssse3::Sse, ["ssse3"]) wide: ssse3, loops: portable;
    #[cfg(target_arch = "x86_64")]
    avx2("avx2", simd::avx2::Avx, ["avx2"]) wide: avx2, loops: avx2;
    #[cfg(all(target_arch = "x86_64", not(test)))]
    avx512(
        "avx512",
        simd::avx512::Avx512<false>,
        ["avx512f" "avx512bw" "avx512vl" "avx2"]
    ) wide: avx512, loops: avx512;
    #[cfg(all(target_arch = "x86_64", not(test)))]
    vbmi(
        "avx512-vbmi",
        simd::avx512::Avx512<true>,
        ["avx512f" "avx512bw" "avx512vl" "avx512vbmi" "avx2"]
    ) wide: avx512, loops: vbmi;
    // Every processor of this architecture has it.
    #[cfg(target_arch = "aarch64")]
    neon("neon", simd::neon::Neon, []) wide: neon, loops: neon;
    // A module with other instructions than its engine has does not start.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    simd128("simd128", simd::simd128::Simd128, []) wide: simd128, loops: simd128;
}

#[cfg(not(any(
    all(target_arch = "x86_64", not(test)),
    all(target_arch = "wasm32", target_feature = "simd128", not(feature = "testing"))
)))]
use self::portable as narrow;
/// The kernels for registers of 16 bytes, which wider instruction sets include.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128", not(feature = "testing")))]
use self::simd128 as narrow;
#[cfg(all(target_arch = "x86_64", not(test)))]
use self::ssse3 as narrow;

/// An instruction set that this processor has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Isa(
    /// Its row in the table.
    u8,
);

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Isa").field(&self.name()).finish()
    }
}

/// One more than the row of the level in use, 0 before it is detected.
static CURRENT: AtomicU8 = AtomicU8::new(0);

impl Isa {
    /// The one in use: the most capable that this processor has, unless a test forced another.
    #[inline]
    pub fn current() -> Self {
        match CURRENT.load(Ordering::Relaxed) {
            0 => Self::detect(),
            current => Isa(current - 1),
        }
    }

    /// All that this processor has, the plainest first.
    pub fn available() -> impl Iterator<Item = Isa> {
        let rows = (0..).zip(LEVELS);
        rows.filter(|(_, level)| (level.is_detected)()).map(|(row, _)| Isa(row))
    }

    /// Uses this one from now on, in the whole process. Every level gives the same results.
    ///
    /// For tests and benchmarks, behind the feature `testing`.
    #[cfg(any(feature = "testing", test))]
    pub fn force(self) {
        self.store();
    }

    fn store(self) {
        CURRENT.store(self.0 + 1, Ordering::Relaxed);
    }

    #[inline]
    fn level(self) -> &'static Level {
        &LEVELS[usize::from(self.0)]
    }

    /// A stream of non-temporal stores.
    #[inline]
    pub(super) fn stream(self) -> Stream {
        Stream::new(self.level().stream_copy)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.level().name
    }

    /// Orders non-temporal stores before later ones. The portable level has none.
    #[inline]
    pub(super) fn fence(self) {
        #[cfg(target_arch = "x86_64")]
        if self.0 > 0 {
            // SAFETY: every x86-64 processor has the instruction; it has no operands.
            unsafe { std::arch::x86_64::_mm_sfence() };
        }
    }

    #[cold]
    fn detect() -> Self {
        // The first level needs no features.
        let best = Self::available().last().unwrap_or(Isa(0));
        best.store();
        best
    }
}
