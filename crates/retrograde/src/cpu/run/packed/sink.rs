//! Where packed elements go: written from low addresses to high ones, each byte once.

use super::eights::Eights;
use crate::cpu::dispatch::Isa;
use crate::cpu::kernels::stream::{Stream, StreamCopy};
use crate::cpu::simd::words;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

/// From so many bytes on vectors take over: none is wider.
const WIDE: usize = 64;

/// Writes elements to memory, gathering those that share a byte until it is full.
///
/// Bits of a byte that are not the sink's own are merged from memory, unless it seals its
/// last byte, when they become zero.
pub(super) struct Sink<'a, const BITS: usize> {
    dst: *mut u8,
    seals: bool,
    /// The stream for non-temporal stores, if any.
    stream: Option<&'a mut Stream>,
    /// The byte that `pending` belongs to.
    byte: usize,
    /// Bits gathered for that byte, low-first.
    pending: u64,
    /// How many bits of it are accounted for, foreign ones included; less than 8.
    filled: usize,
    /// How many low bits of it are foreign: not ours to write.
    foreign: usize,
    isa: Isa,
}

impl<'a, const BITS: usize> Sink<'a, BITS> {
    #[inline(always)]
    pub(super) fn new(dst: *mut u8, seals: bool, stream: Option<&'a mut Stream>, isa: Isa) -> Self {
        Sink { dst, seals, stream, byte: 0, pending: 0, filled: 0, foreign: 0, isa }
    }

    /// Goes to element `at`, closing what was pending elsewhere.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    #[inline(always)]
    pub(super) unsafe fn seek(&mut self, at: usize) {
        let (byte, phase) = words::place::<BITS>(at);
        if (byte, phase) == (self.byte, self.filled) {
            return;
        }
        // SAFETY: the contract of [`push`](Self::push).
        unsafe { self.close() };
        (self.byte, self.filled, self.foreign) = (byte, phase, phase);
    }

    /// How many elements fill the current byte.
    #[inline(always)]
    pub(super) fn to_byte(&self) -> usize {
        (8 - self.filled) % 8 / BITS
    }

    /// Appends `count` elements (at most [`words::MOST`] bits), low-first.
    ///
    /// # Safety
    /// The elements' bytes are valid for writes, and for reads where they are shared and the
    /// sink does not seal.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, word: u64, count: usize) {
        self.pending |= word << self.filled;
        self.filled += count * BITS;
        let whole = self.filled / 8;
        if whole == 0 {
            return;
        }
        // SAFETY: the contract of [`push`](Self::push); all these bytes hold our elements, and only the first
        // one can hold foreign ones too.
        unsafe {
            if self.foreign > 0 && !self.seals {
                self.merge(words::low(self.foreign));
            }
            self.put(words::low_first::<BITS>(self.pending), whole);
        }
        self.byte += whole;
        self.pending >>= whole * 8;
        self.filled %= 8;
        self.foreign = 0;
    }

    /// Appends whole bytes at a byte boundary. `next` is what to fetch meanwhile.
    ///
    /// # Safety
    /// As for [`push`](Self::push), with nothing pending; the source is valid for `bytes`, at
    /// least one.
    #[inline(always)]
    pub(super) unsafe fn fill<const BACK: bool>(
        &mut self,
        source: Eights<BITS, BACK>,
        bytes: usize,
        next: *const u8,
    ) {
        debug_assert!(self.filled == 0);
        // SAFETY: the contract of [`push`](Self::push); all these bytes are the elements' own. Last words
        // overlap the ones before them.
        unsafe {
            let dst = self.dst.add(self.byte);
            if bytes >= WIDE {
                self.isa.packed_rows(&source.fill(dst, bytes, self.stream(), next));
            } else {
                let mut ready = MaybeUninit::<[u8; WIDE]>::uninit();
                let ready = if self.stream.is_some() { ready.as_mut_ptr().cast() } else { dst };
                if bytes < 8 {
                    words::store_few(source.few(0, bytes), ready, bytes);
                } else {
                    let mut offset = 0;
                    while offset + 8 < bytes {
                        words::store_few(source.few(offset, 8), ready.add(offset), 8);
                        offset += 8;
                    }
                    words::store_few(source.few(bytes - 8, 8), ready.add(bytes - 8), 8);
                }
                if self.stream.is_some() {
                    self.put_through(ready, bytes);
                }
            }
        }
        self.byte += bytes;
    }

    /// The stream, if there is one.
    #[inline(always)]
    fn stream(&mut self) -> *mut Stream {
        self.stream.as_deref_mut().map_or(null_mut(), |stream| stream)
    }

    /// Writes all that is left.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    #[inline(always)]
    pub(super) unsafe fn finish(mut self) {
        // SAFETY: the contract of [`push`](Self::push).
        unsafe {
            self.close();
            self.flush();
        }
    }

    /// Stores a last, partly filled byte.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    #[inline(always)]
    pub(super) unsafe fn close(&mut self) {
        if self.filled > self.foreign {
            // SAFETY: the contract of [`push`](Self::push); the byte holds one of our elements.
            unsafe {
                if !self.seals {
                    self.merge(!words::low(self.filled) | words::low(self.foreign));
                }
                self.put(words::low_first::<BITS>(self.pending), 1);
            }
        }
        (self.pending, self.filled, self.foreign) = (0, 0, 0);
    }

    /// Writes what waits in the stream.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    #[inline(always)]
    unsafe fn flush(&mut self) {
        if let Some(stream) = &mut self.stream {
            // SAFETY: the contract of [`push`](Self::push).
            unsafe { stream.flush() };
        }
    }

    /// What a kernel needs that stores bytes itself: the current byte, the bits pending for it,
    /// and how many they are. `None` if some of its bits are foreign or there is a stream.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Option<(*mut u8, u64, usize)> {
        let dst = self.dst.wrapping_add(self.byte);
        (self.foreign == 0 && self.stream.is_none()).then_some((dst, self.pending, self.filled))
    }

    /// The kernel stored `bytes` bytes and leaves this behind.
    #[inline(always)]
    pub(super) fn put_back(&mut self, bytes: usize, pending: u64, filled: usize) {
        (self.byte, self.pending, self.filled) = (self.byte + bytes, pending, filled);
    }

    /// Takes these bits of the current byte from memory.
    ///
    /// # Safety
    /// The byte is valid for reads and initialised.
    #[inline(always)]
    unsafe fn merge(&mut self, kept: u64) {
        // SAFETY: the contract of [`push`](Self::push). What this sink wrote to the byte before may still wait
        // in the stream.
        unsafe {
            self.flush();
            let old = u64::from(self.dst.add(self.byte).read());
            self.pending |= words::low_first::<BITS>(old) & kept & 0xFF;
        }
    }

    /// Stores the lowest bytes of a word, 1 to 7, from the current byte on.
    ///
    /// # Safety
    /// They are valid for writes.
    #[inline(always)]
    unsafe fn put(&mut self, word: u64, bytes: usize) {
        // SAFETY: the contract of [`push`](Self::push).
        unsafe {
            if self.stream.is_some() {
                self.put_through(word.to_le_bytes().as_ptr(), bytes);
            } else {
                words::store_few(word, self.dst.add(self.byte), bytes);
            }
        }
    }

    /// Writes bytes from memory through the stream, from the current byte on.
    ///
    /// # Safety
    /// They are valid for reads, and their place for writes.
    unsafe fn put_through(&mut self, ready: *const u8, bytes: usize) {
        let Some(stream) = self.stream.as_deref_mut() else { return };
        // SAFETY: the contract of [`push`](Self::push).
        unsafe {
            let dst = self.dst.add(self.byte);
            self.isa.stream_copy(&mut StreamCopy { stream, src: ready, dst, bytes, next: null() });
        }
    }
}
