//! Units of any width in reverse order, by a byte permutation of two registers.
//!
//! A vector of output may start anywhere in a unit. Each such phase has a span of the input,
//! whole units that two overlapping loads cover, and one permutation of those two registers.

use crate::cpu::simd::{Source, Vector, WIDEST};
use std::marker::PhantomData;

/// The widest unit whose spans two of the widest registers cover.
const WIDEST_UNIT: usize = WIDEST / 2;

/// Units of other than the usual widths pay off from so many bytes on: their phases are
/// computed in the call.
const LEAST_COMPUTED: usize = 64 << 10;

/// How to make the vector of output that starts `phase` bytes into a unit.
#[derive(Clone, Copy)]
struct Phase {
    /// The permutation of the span's first and last register.
    order: [u8; WIDEST],
    /// Bytes in the span: whole units, at least a register, less than two.
    span: usize,
    /// Distance from the end of the span to the input bytes that end where the output starts.
    ahead: usize,
}

/// The phases of a unit, one for each byte of it.
pub(super) struct Phases {
    unit: usize,
    /// 2^64 / `unit`, rounded up: a multiplication by it is a division by the unit.
    inverse: u64,
    each: [Phase; WIDEST_UNIT],
}

impl Phase {
    const NONE: Phase = Phase { order: [0; WIDEST], span: WIDEST, ahead: 0 };

    /// For registers of `register` bytes and units of at most half of that.
    const fn new(register: usize, unit: usize, phase: usize) -> Self {
        let units = (phase + register).div_ceil(unit);
        let span = units * unit;
        let mut order = [0; WIDEST];
        let mut byte = 0;
        while byte < register {
            let (index, within) = ((phase + byte) / unit, (phase + byte) % unit);
            let at = span - (index + 1) * unit + within;
            // The first register is the span's first bytes, the second one its last bytes.
            order[byte] = if at < register { at } else { 2 * register + at - span } as u8;
            byte += 1;
        }
        Phase { order, span, ahead: phase }
    }
}

impl Phases {
    /// For registers of `register` bytes and units of at most half of that.
    pub(super) const fn new(register: usize, unit: usize) -> Self {
        let mut each = [Phase::NONE; WIDEST_UNIT];
        let mut phase = 0;
        while phase < unit {
            each[phase] = Phase::new(register, unit, phase);
            phase += 1;
        }
        Phases { unit, inverse: u64::MAX / unit as u64 + 1, each }
    }
}

/// Whether `count` rows of `len` such units are done this way, with non-temporal stores if `stream`.
#[inline(always)]
pub(super) fn applies<V: Vector>(stream: bool, unit: usize, len: usize, count: usize) -> bool {
    if !V::HAS_PERMUTE || len * unit < V::BYTES || unit > V::BYTES / 2 {
        return false;
    }
    // One shuffle of one load does units that have an order, but not whole lines of them.
    let wanted = !V::orders(unit) || stream && V::BYTES == WIDEST;
    wanted && (matches!(unit, 3 | 6 | 12) || count * len * unit >= LEAST_COMPUTED)
}

/// Units in reverse order, a vector at any offset.
#[derive(Clone, Copy)]
pub(super) struct BackwardAny<'a, V> {
    end: *const u8,
    phases: &'a Phases,
    vector: PhantomData<V>,
}

impl<'a, V: Vector> BackwardAny<'a, V> {
    /// The row whose last unit, the first one of the output, starts at `src`.
    #[inline(always)]
    pub(super) fn new(src: *const u8, phases: &'a Phases) -> Self {
        BackwardAny { end: src.wrapping_add(phases.unit), phases, vector: PhantomData }
    }

    /// The phase of an offset.
    #[inline(always)]
    fn phase(&self, offset: usize) -> &'a Phase {
        let Phases { unit, inverse, ref each } = *self.phases;
        // Exact: an offset times the unit is far below 2^64.
        let units = ((offset as u128 * u128::from(inverse)) >> 64) as usize;
        // SAFETY: the rest of a division by the unit is below the unit's width, which is the number of
        // phases.
        unsafe { each.get_unchecked(offset - units * unit) }
    }

    /// The vector at an offset in this phase.
    ///
    /// # Safety
    /// As for [`Source::at`], with the phase of the offset.
    #[inline(always)]
    unsafe fn in_phase(&self, phase: &Phase, offset: usize) -> V {
        // SAFETY: the span is inside the row: it consists of whole units, those of the output
        // bytes `offset..offset + V::BYTES`.
        unsafe {
            let end = self.end.sub(offset - phase.ahead);
            let start = end.sub(phase.span);
            let (first, second) = (V::load(start), V::load(end.sub(V::BYTES)));
            V::permute(first, second, phase.order.as_ptr())
        }
    }
}

impl<V: Vector> Source<V> for BackwardAny<'_, V> {
    /// Any offset is allowed, not only multiples of the unit.
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        // SAFETY: passed on.
        unsafe { self.in_phase(self.phase(offset), offset) }
    }
}
