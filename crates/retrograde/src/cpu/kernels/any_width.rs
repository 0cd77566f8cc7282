//! Units of any width in reverse order, by a byte permutation of two registers.
//!
//! A vector of output may start anywhere in a unit. Each such phase has a window of the input,
//! whole units that two overlapping loads cover, and one permutation of those two registers.

use crate::cpu::simd::{BytePermute, Source, WIDEST};
use std::marker::PhantomData;

/// The widest unit whose windows two of the widest registers cover.
const WIDEST_UNIT: usize = WIDEST / 2;

/// Units of other than the usual widths pay off from so many bytes on: their phases are
/// computed in the call.
const LEAST_COMPUTED: usize = 64 << 10;

/// How to make the vector of output that starts `phase` bytes into a unit.
#[derive(Clone, Copy)]
struct Phase {
    /// The permutation of the window's first and last register.
    order: [u8; WIDEST],
    /// Bytes in the window: whole units, at least a register, less than two.
    window: usize,
    /// Distance from the end of the window to the input bytes that end where the output starts.
    ahead: usize,
}

/// The phases of a unit, one for each byte of it.
pub(super) struct Phases([Phase; WIDEST_UNIT]);

impl Phase {
    const NONE: Phase = Phase { order: [0; WIDEST], window: WIDEST, ahead: 0 };

    /// For registers of `register` bytes and units of at most half of that.
    const fn new(register: usize, unit: usize, phase: usize) -> Self {
        let units = (phase + register).div_ceil(unit);
        let window = units * unit;
        let mut order = [0; WIDEST];
        let mut byte = 0;
        while byte < register {
            let (index, within) = ((phase + byte) / unit, (phase + byte) % unit);
            let at = window - (index + 1) * unit + within;
            // The first register is the window's first bytes, the second one its last bytes.
            order[byte] = if at < register { at } else { 2 * register + at - window } as u8;
            byte += 1;
        }
        Phase { order, window, ahead: phase }
    }
}

impl Phases {
    /// For registers of `register` bytes and units of at most half of that.
    pub(super) const fn new(register: usize, unit: usize) -> Self {
        let mut phases = [Phase::NONE; WIDEST_UNIT];
        let mut phase = 0;
        while phase < unit {
            phases[phase] = Phase::new(register, unit, phase);
            phase += 1;
        }
        Phases(phases)
    }
}

/// Whether rows of `len` such units, `count` of them, are done this way.
#[inline(always)]
pub(super) fn applies<V: BytePermute>(unit: usize, len: usize, count: usize) -> bool {
    if !V::HAS_PERMUTE || len * unit < V::BYTES || unit > V::BYTES / 2 {
        return false;
    }
    match unit {
        // In a narrow register, one shuffle of one load does those.
        3 | 6 | 12 => V::BYTES == WIDEST,
        _ => count * len * unit >= LEAST_COMPUTED,
    }
}

/// Units in reverse order, a vector at any offset. A width known at compile time is `KNOWN`,
/// which saves a division per vector; otherwise that is 0.
#[derive(Clone, Copy)]
pub(super) struct BackwardAny<'a, V, const KNOWN: usize> {
    end: *const u8,
    unit: usize,
    phases: &'a Phases,
    vector: PhantomData<V>,
}

impl<'a, V, const KNOWN: usize> BackwardAny<'a, V, KNOWN> {
    /// The row whose last unit, the first one of the output, starts at `src`.
    #[inline(always)]
    pub(super) fn new(src: *const u8, unit: usize, phases: &'a Phases) -> Self {
        BackwardAny { end: src.wrapping_add(unit), unit, phases, vector: PhantomData }
    }
}

impl<V: BytePermute, const KNOWN: usize> BackwardAny<'_, V, KNOWN> {
    /// The vector at an offset that is `INDEX` vectors behind the start of a unit.
    ///
    /// # Safety
    /// As for [`Source::at`]; the width is `KNOWN`.
    #[inline(always)]
    pub(super) unsafe fn in_phase<const INDEX: usize>(&self, offset: usize) -> V {
        let phase = const { if KNOWN == 0 { 0 } else { INDEX * V::BYTES % KNOWN } };
        // SAFETY: passed on, with the phase of this offset.
        unsafe { self.of(&self.phases.0[phase], offset) }
    }

    /// # Safety
    /// As for [`Source::at`], with the phase of the offset.
    #[inline(always)]
    unsafe fn of(&self, phase: &Phase, offset: usize) -> V {
        // SAFETY: the window is inside the row: it consists of whole units, those of the output
        // bytes `offset..offset + V::BYTES`.
        unsafe {
            let end = self.end.sub(offset - phase.ahead);
            let start = end.sub(phase.window);
            let (first, second) = (V::load(start), V::load(end.sub(V::BYTES)));
            V::permute(first, second, phase.order.as_ptr())
        }
    }
}

impl<V: BytePermute, const KNOWN: usize> Source<V> for BackwardAny<'_, V, KNOWN> {
    /// Any offset is allowed, not only multiples of the unit.
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        let unit = if KNOWN == 0 { self.unit } else { KNOWN };
        // SAFETY: passed on. The index of a phase is below the unit's width.
        unsafe { self.of(self.phases.0.get_unchecked(offset % unit), offset) }
    }
}
