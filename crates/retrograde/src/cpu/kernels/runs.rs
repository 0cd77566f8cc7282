//! One contiguous run of bytes or units: copied or reversed, with ordinary or non-temporal
//! stores. The kernels for rows, lanes and blocks are made of these.

use super::stream::{self, Ahead, StreamCopy, To, ZEROS, to_line};
use crate::cpu::simd::{
    PartialVector, Simd, Source, Vector, WIDEST, copy_ends, copy_narrow, copy_unit,
    divides_registers,
};
use std::mem::MaybeUninit;
use std::ptr::null;

/// Rows longer than this are left to the hardware prefetcher.
pub(in crate::cpu) const PREFETCHED: usize = 128 << 10;

/// How many runs of so many bytes to prefetch ahead, or the next one: 16 KiB from memory, 2 KiB from
/// a cache. Measured: from a cache, more throws out what is about to be read.
#[inline(always)]
pub(in crate::cpu) fn runs_ahead(bytes: usize, stream: bool) -> usize {
    let distance = if stream { 16 << 10 } else { 2 << 10 };
    (distance / bytes.max(1)).max(1)
}

/// How far ahead of many short runs memory is prefetched.
const AHEAD: usize = 4 << 10;

/// Prefetches what short runs behind this one read, and what they write: an ordinary store reads it first.
/// The hardware prefetchers are late, because lengths and data are read in turns.
#[inline(always)]
pub(in crate::cpu) fn prefetch_ahead<V: Vector>(src: *const u8, dst: *const u8) {
    V::prefetch(src.wrapping_add(AHEAD));
    V::prefetch(dst.wrapping_add(AHEAD));
}

/// Bytes in their own order.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Forward(pub(in crate::cpu) *const u8);

impl<V: Vector> Source<V> for Forward {
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        // SAFETY: kernel contract 1 to 3.
        unsafe { V::load(self.0.add(offset)) }
    }
}

/// Units in reverse order, from the ones that end here.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Backward<V: Vector> {
    pub(in crate::cpu) end: *const u8,
    pub(in crate::cpu) order: V::Order,
}

impl<V: Vector> Source<V> for Backward<V> {
    #[inline(always)]
    unsafe fn at(&self, offset: usize) -> V {
        // SAFETY: kernel contract 1 to 3.
        unsafe { V::load_reversed(self.end.sub(offset + V::BYTES), self.order) }
    }
}

/// Whether the next line starts a whole number of units further on.
#[inline(always)]
pub(in crate::cpu) fn in_units(dst: *mut u8, unit: usize) -> bool {
    debug_assert!(unit.is_power_of_two());
    dst.addr() & (unit - 1) == 0
}

/// Copies one run of bytes.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes.
#[inline(always)]
pub(in crate::cpu) unsafe fn copy_run(src: *const u8, dst: *mut u8, bytes: usize, to: To<'_>) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match to.stream {
            Some(stream) => {
                (stream.copy)(&mut StreamCopy { stream, src, dst, bytes, next: to.next });
            }
            None => src.copy_to_nonoverlapping(dst, bytes),
        }
    }
}

/// Copies bytes with non-temporal stores.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes.
#[inline(always)]
pub(in crate::cpu) unsafe fn stream_copy<V: Vector>(job: &mut StreamCopy<'_>) {
    let &mut StreamCopy { ref mut stream, src, dst, bytes, next } = job;
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        match bytes >= stream::LEAST {
            true => stream.run::<V, _>(Forward(src), next, dst, bytes),
            false => stream.bytes::<V>(src, dst, bytes),
        }
    }
}

/// Writes zeros. As a copy, so that a stream keeps its order.
///
/// # Safety
/// Kernel contract 1 to 3, for the output.
#[inline(always)]
pub(in crate::cpu) unsafe fn zero_run(dst: *mut u8, bytes: usize, to: To<'_>) {
    let Some(stream) = to.stream else {
        // SAFETY: kernel contract 1.
        return unsafe { dst.write_bytes(0, bytes) };
    };
    let mut done = 0;
    while done < bytes {
        let count = ZEROS.len().min(bytes - done);
        let to = To::new(&mut *stream, true);
        // SAFETY: kernel contract 1 to 3.
        unsafe { copy_run(ZEROS.as_ptr(), dst.add(done), count, to) };
        done += count;
    }
}

/// Reverses the units of the `bytes` bytes that end at `end`.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes, with a unit that divides `V::BYTES` and `bytes`.
#[inline(always)]
pub(in crate::cpu) unsafe fn reverse_run<V: PartialVector>(
    end: *const u8,
    dst: *mut u8,
    bytes: usize,
    order: V::Order,
    to: To<'_>,
) {
    let source = Backward::<V> { end, order };
    // SAFETY: kernel contract 1 to 3; each way covers the bytes exactly. A stream asks for
    // vectors from the next line on, which must be whole units.
    unsafe {
        match to.stream {
            Some(stream) if bytes >= stream::LEAST && in_units(dst, V::unit(order)) => {
                stream.run::<V, _>(source, to.next, dst, bytes);
            }
            Some(stream) if bytes < stream::LEAST => {
                let mut ready = MaybeUninit::<[u8; stream::LEAST]>::uninit();
                let ready = ready.as_mut_ptr().cast::<u8>();
                reverse_plainly::<V>(end, ready, bytes, order);
                stream.bytes::<V>(ready, dst, bytes);
            }
            _ if bytes >= V::BYTES && !to.next.is_null() => {
                fill::<V, _>(Ahead { source, next: to.next }, dst, bytes, V::unit(order));
            }
            _ => reverse_plainly::<V>(end, dst, bytes, order),
        }
    }
}

/// Reverses the units of the first `prefix_len` of `bytes` bytes, at least a vector, and copies the
/// others; with ordinary stores. Nothing but the number of vectors decides how it branches: lengths
/// are hard to predict. If the compiler knows that number it is `VECTORS`, otherwise that is 0.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes, with `W` dividing `V::BYTES`, `bytes` and `prefix_len
/// <= bytes`.
#[inline(always)]
pub(in crate::cpu) unsafe fn partly_reverse_run<
    V: PartialVector,
    const W: usize,
    const VECTORS: usize,
>(
    src: *const u8,
    dst: *mut u8,
    prefix_len: usize,
    bytes: usize,
) {
    let vectors = if VECTORS == 0 { bytes.div_ceil(V::BYTES) } else { VECTORS };
    for index in 0..vectors {
        // The last vector overlaps the one before it.
        let last = bytes - V::BYTES;
        let first = if index + 1 == vectors { last } else { index * V::BYTES };
        let left = prefix_len.saturating_sub(first);
        let mirrored = left.min(V::BYTES);
        // SAFETY: kernel contract 1 to 3; both sources have a vector's bytes inside the lane.
        unsafe {
            let (reversed, straight) = (src.add(left - mirrored), src.add(first));
            V::partly_reversed::<W>(reversed, straight, mirrored / W).store(dst.add(first));
        }
    }
}

/// # Safety
/// As for [`reverse_run`].
#[inline(always)]
unsafe fn reverse_plainly<V: PartialVector>(
    end: *const u8,
    dst: *mut u8,
    bytes: usize,
    order: V::Order,
) {
    // SAFETY: kernel contract 1 to 3.
    unsafe {
        if bytes < V::BYTES {
            V::reverse_short(end, dst, bytes, order);
        } else {
            fill::<V, _>(Backward::<V> { end, order }, dst, bytes, V::unit(order));
        }
    }
}

/// Writes a row of at least one vector.
///
/// # Safety
/// `bytes >= V::BYTES` is a multiple of the unit, which divides `V::BYTES`; `dst` is valid for
/// writes of that many; the source is valid for it.
#[inline(always)]
unsafe fn fill<V: Vector, S: Source<V>>(source: S, dst: *mut u8, bytes: usize, unit: usize) {
    // SAFETY: offsets are multiples of the unit, and `offset + V::BYTES <= bytes` throughout.
    unsafe {
        let mut offset = 0;
        if bytes >= LEAST_ALIGNED && in_units(dst, unit) {
            // Stores that cross lines cost double. The first vectors may cover more than the
            // way to the line; what follows writes that again.
            let lead = to_line(dst);
            while offset < lead {
                source.at(offset).store(dst.add(offset));
                offset += V::BYTES;
            }
            offset = lead;
        }
        while offset + 4 * V::BYTES <= bytes {
            let block: [V; 4] = [
                source.at(offset),
                source.at(offset + V::BYTES),
                source.at(offset + 2 * V::BYTES),
                source.at(offset + 3 * V::BYTES),
            ];
            for (index, vector) in block.into_iter().enumerate() {
                vector.store(dst.add(offset + index * V::BYTES));
            }
            offset += 4 * V::BYTES;
        }
        while offset + V::BYTES <= bytes {
            source.at(offset).store(dst.add(offset));
            offset += V::BYTES;
        }
        if offset < bytes {
            // The last vector overlaps the one before it.
            let last = bytes - V::BYTES;
            source.at(last).store(dst.add(last));
        }
    }
}

/// Rows shorter than this are not worth aligning.
const LEAST_ALIGNED: usize = 256;

/// Reverses the units of the `bytes` bytes that end at `end`, whose width does not divide a vector: as
/// many as fit, the next store covering what was stored too much. A width that the compiler knows is
/// `W`, otherwise that is 0.
///
/// # Safety
/// Kernel contract 1 to 3, for these bytes, with units of `unit <= 16` bytes, and their order.
#[inline(always)]
pub(in crate::cpu) unsafe fn reverse_odd_run<V: PartialVector, const W: usize>(
    end: *const u8,
    dst: *mut u8,
    bytes: usize,
    unit: usize,
    order: V::Order,
) {
    let unit = if W == 0 { unit } else { W };
    // From a table: the compiler would divide again and again in the loop.
    let step = usize::from(const { &whole_units(V::BYTES) }[unit]);
    let mut done = 0;
    // SAFETY: a vector is only loaded and stored where `V::BYTES` bytes are left on both
    // sides; the rest, which is whole units that fit one, goes by a part of it or unit by unit.
    unsafe {
        while done + V::BYTES <= bytes {
            V::load_reversed(end.sub(done + V::BYTES), order).store(dst.add(done));
            done += step;
        }
        // The widest registers have masks.
        if V::BYTES == WIDEST {
            return V::reverse_short(end.sub(done), dst.add(done), bytes - done, order);
        }
        while done < bytes {
            match W {
                0 => copy_narrow(end.sub(done + unit), dst.add(done), unit),
                _ => copy_unit::<W>(end.sub(done + W), dst.add(done)),
            }
            done += unit;
        }
    }
}

/// How many bytes the units take that fit a register, for every width up to 16.
const fn whole_units(register: usize) -> [u8; 17] {
    let mut bytes = [0; 17];
    let mut unit = 1;
    while unit <= 16 {
        bytes[unit] = (register / unit * unit) as u8;
        unit += 1;
    }
    bytes
}

/// How runs of units of one width are reversed.
pub(in crate::cpu) struct Reverser<V: Simd> {
    unit: usize,
    /// If these registers have one of the unit, and of the registers that have all up to 16 bytes.
    order: V::Order,
    odd: <V::Sixteen as Vector>::Order,
}

impl<V: Simd> Reverser<V> {
    /// # Safety
    /// Kernel contract 3.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn new(unit: usize) -> Self {
        // SAFETY: kernel contract 3; every register has an order of single bytes.
        let (order, odd) = unsafe {
            let known = if V::orders(unit) { unit } else { 1 };
            (V::order(known), V::Sixteen::order(if unit <= 16 { unit } else { 1 }))
        };
        Reverser { unit, order, odd }
    }

    /// The order of units in a register, if they divide one.
    #[inline(always)]
    pub(in crate::cpu) fn order(&self) -> V::Order {
        self.order
    }

    /// Whether units divide a register.
    #[inline(always)]
    pub(in crate::cpu) fn divides(&self) -> bool {
        divides_registers(self.unit)
    }

    /// Reverses the units of the `bytes` bytes that end at `end`; `DIVIDES` is whether they
    /// [divide a register](Self::divides).
    ///
    /// # Safety
    /// Kernel contract 1 to 3, for these bytes, a multiple of the unit.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn run<const DIVIDES: bool>(
        &self,
        end: *const u8,
        dst: *mut u8,
        bytes: usize,
        mut to: To<'_>,
    ) {
        let unit = self.unit;
        debug_assert_eq!(DIVIDES, self.divides());
        // SAFETY: kernel contract 1 to 3.
        unsafe {
            match unit {
                _ if DIVIDES => {
                    reverse_run::<V>(end, dst, bytes, self.order, to);
                }
                3 => self.odd_run::<3>(end, dst, bytes),
                6 => self.odd_run::<6>(end, dst, bytes),
                12 => self.odd_run::<12>(end, dst, bytes),
                ..=16 => self.odd_run::<0>(end, dst, bytes),
                _ => {
                    for done in (0..bytes).step_by(unit) {
                        let to = To { stream: to.stream.as_deref_mut(), next: null() };
                        copy_any(end.sub(done + unit), dst.add(done), unit, to);
                    }
                }
            }
        }
    }

    /// # Safety
    /// As for [`run`](Self::run); `W` is the unit, which is at most 16, or 0.
    #[inline(always)]
    pub(in crate::cpu) unsafe fn odd_run<const W: usize>(
        &self,
        end: *const u8,
        dst: *mut u8,
        bytes: usize,
    ) {
        // Asked of a constant: one of the two is not compiled. Other widths are rare.
        let wide = if W == 0 { V::orders(5) } else { V::orders(W) };
        // SAFETY: kernel contract 1 to 3.
        unsafe {
            match wide {
                true => reverse_odd_run::<V, W>(end, dst, bytes, self.unit, self.order),
                false => reverse_odd_run::<V::Sixteen, W>(end, dst, bytes, self.unit, self.odd),
            }
        }
    }
}

/// Copies one unit of any width; narrow ones by two moves that overlap.
///
/// # Safety
/// `src` and `dst` are valid for `bytes` and do not overlap.
#[inline(always)]
pub(in crate::cpu) unsafe fn copy_any(src: *const u8, dst: *mut u8, bytes: usize, to: To<'_>) {
    // SAFETY: kernel contract 1 to 3; both moves stay inside the unit.
    unsafe {
        if to.stream.is_some() {
            return copy_run(src, dst, bytes, to);
        }
        match bytes {
            1..=16 => copy_narrow(src, dst, bytes),
            17..=32 => copy_ends::<16>(src, dst, bytes),
            33..=64 => copy_ends::<32>(src, dst, bytes),
            _ => src.copy_to_nonoverlapping(dst, bytes),
        }
    }
}
