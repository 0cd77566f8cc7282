//! Short lanes that follow each other in the output: several to a vector, or a few vectors each.
//!
//! Where stores go past the caches, or where input and output are the same memory, lanes are
//! first put together in a tile that stays in the nearest cache, and written from there.

use super::lanes::Lanes;
use super::rows::copy_run;
use super::stream::{Stream, To};
use super::vector::Vector;
use std::mem::MaybeUninit;
use std::ptr::null;

/// Lanes up to this many bytes are short.
pub(super) const MOST_BYTES: usize = 512;

/// Bytes in a tile: four pages, as many as are written at once.
const TILE: usize = 16 << 10;
/// The most lanes that are put together at a time.
const MOST_LANES: usize = 2048;
/// No vector is wider.
const WIDEST: usize = 64;

/// How lanes lie in a vector, as integers as wide as a unit, one for each unit.
#[repr(align(64))]
pub(super) struct LaneMap {
    /// Which lane the unit belongs to.
    pub(super) lane: [u8; WIDEST],
    /// Its place in the lane; more than any length if it belongs to none.
    pub(super) within: [u8; WIDEST],
    /// What to add to the lane's length to find where the unit comes from.
    pub(super) base: [u8; WIDEST],
}

impl LaneMap {
    fn new(bytes: usize, unit: usize, len: usize) -> Self {
        let mut map = LaneMap { lane: [0; WIDEST], within: [0xFF; WIDEST], base: [0; WIDEST] };
        for own in 0..bytes / unit / len * len {
            let (lane, within) = (own / len, own % len);
            let base = (own as i64 - 1 - 2 * within as i64).to_le_bytes();
            let place = own * unit..(own + 1) * unit;
            map.lane[place.clone()].copy_from_slice(&lane.to_le_bytes()[..unit]);
            map.within[place.clone()].copy_from_slice(&within.to_le_bytes()[..unit]);
            map.base[place].copy_from_slice(&base[..unit]);
        }
        map
    }
}

/// Runs all lanes if they are short and follow each other in the output; else says false.
///
/// # Safety
/// As for [`lanes::run`](super::lanes::run), with `unit == W`.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, const W: usize>(
    lanes: &Lanes<'_>,
    stream: &mut Stream,
) -> bool {
    let bytes = lanes.len * W;
    if bytes > MOST_BYTES || lanes.dst_step != bytes as isize || bytes == 0 {
        return false;
    }
    let packed = V::packs(W) && 2 * bytes <= V::BYTES && lanes.src_step == bytes as isize;
    let map = packed.then(|| LaneMap::new(V::BYTES, W, lanes.len));
    let mut tile = MaybeUninit::<[u8; TILE + WIDEST]>::uninit();
    let tile = tile.as_mut_ptr().cast::<u8>();
    let tile = tile.wrapping_add(tile.addr().wrapping_neg() % WIDEST);
    let through = lanes.stream || lanes.in_place;
    // Whole vectors of lanes, so that few are left over.
    let together = (V::BYTES / bytes).max(1);
    let most = (TILE / bytes).min(MOST_LANES) / together * together;
    let mut first = 0;
    while first < lanes.heads.len() {
        let count = most.min(lanes.heads.len() - first);
        // SAFETY: the caller's promises; a tile has room for `count` lanes.
        unsafe {
            let src = lanes.src.offset(lanes.src_step * first as isize);
            let dst = lanes.dst.add(first * bytes);
            let heads = &lanes.heads[first..first + count];
            let group = Group { src, src_step: lanes.src_step, heads, len: lanes.len };
            group.write::<V, W>(if through { tile } else { dst }, map.as_ref());
            if through {
                let to = lanes.stream.then_some(To { stream: &mut *stream, next: null() });
                copy_run::<V>(tile, dst, count * bytes, to);
            }
        }
        first += count;
    }
    true
}

/// Lanes that are written one behind the other.
struct Group<'a> {
    src: *const u8,
    src_step: isize,
    heads: &'a [usize],
    len: usize,
}

impl Group<'_> {
    /// # Safety
    /// As for [`run`]; `dst` is valid for writes of all lanes.
    #[inline(always)]
    unsafe fn write<V: Vector, const W: usize>(&self, dst: *mut u8, map: Option<&LaneMap>) {
        let bytes = self.len * W;
        // SAFETY: the caller's promises.
        unsafe {
            let done = map.map_or(0, |map| self.packed::<V, W>(dst, map));
            for (lane, &head) in self.heads.iter().enumerate().skip(done) {
                let src = self.src.offset(self.src_step * lane as isize);
                let dst = dst.add(lane * bytes);
                if bytes < V::BYTES {
                    V::lane_short::<W>(src, dst, head, self.len);
                } else {
                    pieces::<V, W>(src, dst, head * W, bytes);
                }
            }
        }
    }

    /// As many lanes at a time as fit a vector; says how many lanes that was.
    ///
    /// # Safety
    /// As for [`write`](Self::write); the lanes follow each other in the input too.
    #[inline(always)]
    unsafe fn packed<V: Vector, const W: usize>(&self, dst: *mut u8, map: &LaneMap) -> usize {
        let bytes = self.len * W;
        let together = V::BYTES / bytes;
        // Lanes are no longer than a vector, so a byte holds a length.
        let mut heads = MaybeUninit::<[u8; MOST_LANES + WIDEST]>::uninit();
        let narrow = heads.as_mut_ptr().cast::<u8>();
        let mut lane = 0;
        // SAFETY: the caller's promises. Vectors are loaded and stored only where that many
        // bytes of lanes are left; what is stored too much, the next one covers. At most
        // `MOST_LANES` lengths are written, and a vector of them is read from any of those.
        unsafe {
            narrow.write_bytes(0, MOST_LANES + WIDEST);
            for (index, &head) in self.heads.iter().enumerate() {
                narrow.add(index).write(head as u8);
            }
            while (lane * bytes) + V::BYTES <= self.heads.len() * bytes {
                let at = lane * bytes;
                let vector = V::packed_lanes::<W>(self.src.add(at), narrow.add(lane), map);
                vector.store(dst.add(at));
                lane += together;
            }
        }
        lane
    }
}

/// One lane of at least a vector, of which the first `head` bytes are reversed.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `bytes`; the two do not overlap.
#[inline(always)]
unsafe fn pieces<V: Vector, const W: usize>(
    src: *const u8,
    dst: *mut u8,
    head: usize,
    bytes: usize,
) {
    let mut at = 0;
    while at < bytes {
        // The last piece overlaps the one before it.
        let first = at.min(bytes - V::BYTES);
        let left = head.saturating_sub(first);
        let turned = left.min(V::BYTES);
        // SAFETY: the caller's promises; both sources have a vector's bytes inside the lane.
        unsafe {
            let (reversed, straight) = (src.add(left - turned), src.add(first));
            V::partly_reversed::<W>(reversed, straight, turned / W).store(dst.add(first));
        }
        at += V::BYTES;
    }
}
