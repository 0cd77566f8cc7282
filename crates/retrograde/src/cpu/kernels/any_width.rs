//! Units of any width in reverse order, by a byte permutation of two registers.
//!
//! A vector of output may start anywhere in a unit. Each such phase has a span of the input,
//! whole units that two overlapping loads cover, and one permutation of those two registers.

use crate::cpu::simd::{Source, Vector, WIDEST, prefetch};
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

    /// For registers of `register` bytes and a span of less than two: units of at most half of that, or of
    /// 12 bytes in 16, where the phase is a multiple of 4.
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
            V::permute(first, second, V::load(phase.order.as_ptr()))
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

/// Pixels of three channels in reverse order. Three vectors of the output are whole units of such widths, so
/// three phases take turns.
#[derive(Clone, Copy)]
pub(super) struct Pixels<V> {
    each: [Third<V>; 3],
}

/// How one of three vectors is made of two registers of the input.
#[derive(Clone, Copy)]
struct Third<V> {
    order: V,
    /// How far in front of the end of the input for all three they start.
    starts: [usize; 2],
}

impl<V: Vector> Pixels<V> {
    /// Whether rows of `len` such units are done this way.
    #[inline(always)]
    pub(super) fn applies(unit: usize, len: usize) -> bool {
        V::HAS_PERMUTE && matches!(unit, 3 | 6 | 12) && len * unit >= V::BYTES
    }

    /// # Safety
    /// Kernel contract 3, for a unit that this [applies](Self::applies) to.
    #[inline(always)]
    pub(super) unsafe fn new(unit: usize) -> Self {
        // SAFETY: passed on.
        unsafe {
            match unit {
                3 => Self::of::<3>(),
                6 => Self::of::<6>(),
                _ => Self::of::<12>(),
            }
        }
    }

    /// # Safety
    /// Kernel contract 3.
    #[inline(always)]
    unsafe fn of<const W: usize>() -> Self {
        // SAFETY: passed on.
        unsafe { Pixels { each: [Third::of::<W, 0>(), Third::of::<W, 1>(), Third::of::<W, 2>()] } }
    }

    /// Reverses the units of the `bytes` bytes that end at `end`, with ordinary stores, and prefetches `next`
    /// meanwhile, unless it is null.
    ///
    /// # Safety
    /// Kernel contract 1 to 3, for these bytes, whole units of which there is a vector.
    #[inline(always)]
    pub(super) unsafe fn reverse_run(
        &self,
        end: *const u8,
        dst: *mut u8,
        bytes: usize,
        next: *const u8,
    ) {
        let (wide, [first, second, third]) = (V::BYTES, self.each);
        let mut done = 0;
        // SAFETY: vectors are stored where one is left, and come from the units that belong there.
        unsafe {
            while done + 3 * wide <= bytes {
                if !next.is_null() {
                    prefetch(next.wrapping_add(done));
                }
                let (end, dst) = (end.sub(done), dst.add(done));
                first.load(end).store(dst);
                second.load(end).store(dst.add(wide));
                third.load(end).store(dst.add(2 * wide));
                done += 3 * wide;
            }
            if done + wide <= bytes {
                first.load(end.sub(done)).store(dst.add(done));
            }
            if done + 2 * wide <= bytes {
                second.load(end.sub(done)).store(dst.add(done + wide));
            }
            if done < bytes {
                // The last vector overlaps the one before it. Whole units end there: it is a third one.
                let last = bytes.wrapping_sub(3 * wide);
                third.load(end.wrapping_sub(last)).store(dst.add(bytes - wide));
            }
        }
    }
}

impl<V: Vector> Third<V> {
    /// # Safety
    /// Kernel contract 3.
    #[inline(always)]
    unsafe fn of<const W: usize, const INDEX: usize>() -> Self {
        let phase = const { &Phase::new(V::BYTES, W, INDEX * V::BYTES % W) };
        let before = INDEX * V::BYTES - phase.ahead;
        // SAFETY: kernel contract 3; an order is at least as long as a register.
        let order = unsafe { V::load(phase.order.as_ptr()) };
        Third { order, starts: [before + phase.span, before + V::BYTES] }
    }

    /// The vector, if the input for all three ends at `end`.
    ///
    /// # Safety
    /// Kernel contract 1 and 3: the units of the vector are valid for reads.
    #[inline(always)]
    unsafe fn load(&self, end: *const u8) -> V {
        let [first, second] = self.starts;
        // SAFETY: the span is whole units, those of the vector.
        unsafe {
            let (first, second) = (end.wrapping_sub(first), end.wrapping_sub(second));
            V::permute(V::load(first), V::load(second), self.order)
        }
    }
}
