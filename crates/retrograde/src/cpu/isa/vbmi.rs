//! AVX-512 with VBMI: permutations of single bytes, which make units of any width alike.

use super::avx2::Avx;
use super::avx512::{Avx512, low, own, turned_orders};
use super::entries;
use super::ssse3::Sse;
use crate::cpu::rows::{Rows, in_fours};
use crate::cpu::short::LaneMap;
use crate::cpu::stream::{self, Stream};
use crate::cpu::vector::{OddVector, Source, Vector};
use std::arch::x86_64::*;

entries!(Vbmi, "avx512f,avx512bw,avx512vl,avx512vbmi,avx2");

/// Sixty-four bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Vbmi(__m512i);

/// Which byte comes where when the last whole units of `W` bytes reverse their order.
const fn order<const W: usize>() -> [u8; 64] {
    let mut order = [0; 64];
    let mut byte = 0;
    while byte < 64 / W * W {
        let (unit, within) = (byte / W, byte % W);
        order[byte] = (64 - (unit + 1) * W + within) as u8;
        byte += 1;
    }
    order
}

impl Vector for Vbmi {
    type Odd = Self;
    type Half = Avx;
    type Quarter = Sse;
    const BYTES: usize = 64;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Vbmi(unsafe { _mm512_loadu_si512(src.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(dst.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_stream_si512(dst.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_part(self, dst: *mut u8, from: usize, to: usize) {
        // SAFETY: masked-off bytes are not written.
        unsafe { _mm512_mask_storeu_epi8(dst.cast(), low(to) & !low(from), self.0) }
    }

    #[inline(always)]
    unsafe fn interleave<const W: usize>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: the caller's promise.
        let (low, high) = unsafe { Avx512::interleave::<W>(Avx512(a.0), Avx512(b.0)) };
        (Vbmi(low.0), Vbmi(high.0))
    }

    #[inline(always)]
    unsafe fn reversed<const W: usize>(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            match W {
                1 | 2 => self.reversed_odd::<W>(),
                _ => Vbmi(Avx512(self.0).reversed::<W>().0),
            }
        }
    }

    #[inline(always)]
    unsafe fn reverse_short<const W: usize>(end: *const u8, dst: *mut u8, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe { Avx512::reverse_short::<W>(end, dst, bytes) }
    }

    #[inline(always)]
    unsafe fn lane_short<const W: usize>(src: *const u8, dst: *mut u8, head: usize, units: usize) {
        // SAFETY: masked-off bytes are neither read nor written.
        unsafe {
            if W > 1 {
                return Avx512::lane_short::<W>(src, dst, head, units);
            }
            let whole = low(units);
            let row = _mm512_maskz_loadu_epi8(whole, src.cast());
            let own = _mm512_loadu_si512(const { own::<1>() }.as_ptr().cast());
            let turned = _mm512_sub_epi8(_mm512_set1_epi8((head as i8).wrapping_sub(1)), own);
            let order = _mm512_mask_mov_epi8(own, low(head), turned);
            let row = _mm512_permutexvar_epi8(order, row);
            _mm512_mask_storeu_epi8(dst.cast(), whole, row);
        }
    }

    #[inline(always)]
    unsafe fn backward_any(rows: &Rows, stream: &mut Stream) -> bool {
        let bytes = rows.len * rows.unit;
        if bytes < 64 {
            return false;
        }
        // SAFETY: the caller's promise.
        unsafe {
            match rows.unit {
                3 => backward_any::<3>(rows, bytes, stream, const { &Phase::all(3) }),
                6 => backward_any::<6>(rows, bytes, stream, const { &Phase::all(6) }),
                12 => backward_any::<12>(rows, bytes, stream, const { &Phase::all(12) }),
                // Phases made on the spot must be worth their while.
                unit if unit <= WIDEST && rows.count * bytes >= 64 * 1024 => {
                    backward_any::<0>(rows, bytes, stream, &Phase::all(unit));
                }
                _ => return false,
            }
        }
        true
    }

    #[inline(always)]
    fn packs(unit: usize) -> bool {
        unit == 1 || Avx512::packs(unit)
    }

    #[inline(always)]
    unsafe fn packed_lanes<const W: usize>(
        src: *const u8,
        heads: *const u8,
        map: &LaneMap,
    ) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            if W > 1 {
                return Vbmi(Avx512::packed_lanes::<W>(src, heads, map).0);
            }
            let row = _mm512_loadu_si512(src.cast());
            let lane = _mm512_load_si512(map.lane.as_ptr().cast());
            let within = _mm512_load_si512(map.within.as_ptr().cast());
            let base = _mm512_load_si512(map.base.as_ptr().cast());
            let own = _mm512_loadu_si512(const { own::<1>() }.as_ptr().cast());
            let head = _mm512_permutexvar_epi8(lane, _mm512_loadu_si512(heads.cast()));
            let inside = _mm512_cmplt_epu8_mask(within, head);
            let order = _mm512_mask_add_epi8(own, inside, base, head);
            Vbmi(_mm512_permutexvar_epi8(order, row))
        }
    }

    #[inline(always)]
    unsafe fn partly_reversed<const W: usize>(
        reversed: *const u8,
        straight: *const u8,
        turned: usize,
    ) -> Self {
        // SAFETY: the caller's promise; there is an order for every number of turned units.
        unsafe {
            if W > 1 {
                return Vbmi(Avx512::partly_reversed::<W>(reversed, straight, turned).0);
            }
            let order = const { &turned_orders::<1>() }.get_unchecked(turned);
            let order = _mm512_loadu_si512(order.as_ptr().cast());
            let (a, b) = (Self::load(reversed), Self::load(straight));
            Vbmi(_mm512_permutex2var_epi8(a.0, order, b.0))
        }
    }

    #[inline(always)]
    unsafe fn either<const W: usize>(src: *const u8, reversed: bool) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::partly_reversed::<W>(src, src, if reversed { 64 / W } else { 0 }) }
    }

    #[inline(always)]
    fn fetch(address: *const u8) {
        // SAFETY: a prefetch has no effect that a program can see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }

    #[inline(always)]
    unsafe fn turned<const BITS: usize>(self) -> Self {
        // SAFETY: the caller's promise.
        Vbmi(unsafe { Avx512(self.0).turned::<BITS>() }.0)
    }

    #[inline(always)]
    unsafe fn funnel(self, next: Self, shift: usize, high_first: bool) -> Self {
        // SAFETY: the caller's promise.
        Vbmi(unsafe { Avx512(self.0).funnel(Avx512(next.0), shift, high_first) }.0)
    }
}

/// How to make the 64 output bytes that start `phase` bytes into a unit: which window of the
/// input they come from, and the permutation of its two (overlapping) halves.
#[derive(Clone, Copy)]
struct Phase {
    order: [u8; 64],
    /// Bytes in the window: whole units, 64 to 126 bytes for units of up to 32.
    window: usize,
    /// How far the window's end lies past the bytes that end where the output starts.
    ahead: usize,
}

/// The widest unit whose windows two vectors cover.
const WIDEST: usize = 32;

/// The phases of a unit, one for each byte of it.
type Phases = [Phase; WIDEST];

impl Phase {
    const NONE: Phase = Phase { order: [0; 64], window: 64, ahead: 0 };

    const fn new(unit: usize, phase: usize) -> Self {
        let units = (phase + 64).div_ceil(unit);
        let window = units * unit;
        let mut order = [0; 64];
        let mut byte = 0;
        while byte < 64 {
            let (index, within) = ((phase + byte) / unit, (phase + byte) % unit);
            let at = window - (index + 1) * unit + within;
            // The first half is the window's first 64 bytes, the second its last 64.
            order[byte] = if at < 64 { at } else { 64 + at - (window - 64) } as u8;
            byte += 1;
        }
        Phase { order, window, ahead: phase }
    }

    const fn all(unit: usize) -> Phases {
        let mut phases = [Phase::NONE; WIDEST];
        let mut phase = 0;
        while phase < unit {
            phases[phase] = Phase::new(unit, phase);
            phase += 1;
        }
        phases
    }
}

/// Units of any width up to 32 in reverse order, a vector at any offset. A width that the
/// compiler knows is `KNOWN`, which saves a division for every vector; otherwise that is 0.
#[derive(Clone, Copy)]
struct BackwardAny<'a, const KNOWN: usize> {
    end: *const u8,
    unit: usize,
    phases: &'a Phases,
}

impl<const KNOWN: usize> Source<Vbmi> for BackwardAny<'_, KNOWN> {
    /// Any offset will do, multiple of the unit or not.
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> Vbmi {
        // SAFETY: the window lies inside the row: it is made of whole units, and those of the
        // output bytes `offset..offset + 64`.
        unsafe {
            let unit = if KNOWN == 0 { self.unit } else { KNOWN };
            let phase = self.phases.get_unchecked(offset % unit);
            let end = self.end.sub(offset - phase.ahead);
            let start = end.sub(phase.window);
            let (first, second) = (Vbmi::load(start), Vbmi::load(end.sub(64)));
            let order = _mm512_loadu_si512(phase.order.as_ptr().cast());
            Vbmi(_mm512_permutex2var_epi8(first.0, order, second.0))
        }
    }
}

/// # Safety
/// As for [`rows::run`](crate::cpu::rows::run), with `unit <= WIDEST` and `bytes >= 64`, and `KNOWN` the unit
/// or 0.
#[inline(always)]
unsafe fn backward_any<const KNOWN: usize>(
    rows: &Rows,
    bytes: usize,
    stream: &mut Stream,
    phases: &Phases,
) {
    let unit = rows.unit;
    let source = |src: *const u8| {
        let end = src.wrapping_add(unit);
        BackwardAny::<KNOWN> { end, unit, phases }
    };
    // SAFETY: the caller's promises; any offset will do.
    let done = unsafe { in_fours::<Vbmi, _>(rows, bytes, stream, source) };
    for row in done..rows.count {
        // SAFETY: `offset + 64 <= bytes` throughout.
        unsafe {
            let (src, dst) = rows.row(row);
            let source = source(src);
            if let Some(to) = rows.to(stream, row, bytes).filter(|_| bytes >= stream::LEAST) {
                to.run::<Vbmi, _>(source, dst, bytes);
                continue;
            }
            let mut offset = 0;
            while offset + 64 <= bytes {
                source.at(offset).store(dst.add(offset));
                offset += 64;
            }
            if offset < bytes {
                source.at(bytes - 64).store(dst.add(bytes - 64));
            }
        }
    }
}

impl OddVector for Vbmi {
    #[inline(always)]
    unsafe fn reversed_odd<const W: usize>(self) -> Self {
        let order = const { order::<W>() };
        // SAFETY: the caller's promise.
        unsafe {
            let order = _mm512_loadu_si512(order.as_ptr().cast());
            Vbmi(_mm512_permutexvar_epi8(order, self.0))
        }
    }
}
