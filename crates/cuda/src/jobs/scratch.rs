//! Adjacent lanes in two passes through scratch memory.

use super::columns::arguments;
use super::{AnyParams, Call, Launch};
use crate::choose::Choice;
use crate::constants::{PASS_THREADS, TILE_ROWS};
use crate::kernel::Kernel;
use crate::lanes::{LINE, Lanes, RING, WIDE_STRIP};
use crate::limits::Limits;
use crate::params::{Axis, Strips};
use crate::shape::{Addresses, Shape};

/// Scratch memory of a call: counters, then a ring of strips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScratchLayout {
    /// Bytes of counters, which must be zero before the launch.
    pub(crate) counters: u64,
    strip: u64,
    strips: u64,
    pitch: u64,
    ring: u64,
    granule: u64,
}

impl ScratchLayout {
    /// What a call needs; `None` if its kernel needs no scratch memory.
    pub(crate) fn of(
        shape: &Shape,
        at: Addresses,
        choice: Choice,
        limits: &Limits,
    ) -> Option<Self> {
        let strip = match choice.kernel {
            Kernel::ScratchColumns => LINE,
            Kernel::ScratchColumnsWide => WIDE_STRIP,
            _ => return None,
        };
        let (lanes, granule) = (Lanes::of(shape, at)?, u64::from(choice.variant));
        let pitch = lanes.pitch(granule);
        let strips = lanes.strips(strip);
        let ring = (limits.cache / RING / lanes.held(granule, strip)).max(3).min(strips);
        // Tiles that are written and that have been read, of each strip.
        let counters = (2 * strips * 4).next_multiple_of(LINE);
        Some(ScratchLayout { counters, strip, strips, pitch, ring, granule })
    }

    /// All bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.counters + self.held()
    }

    /// Bytes of the ring.
    fn held(&self) -> u64 {
        self.ring * self.pitch * (self.strip / self.granule)
    }
}

pub(super) fn columns(call: &Call<'_>, choice: Choice, limits: &Limits) -> Option<Launch> {
    let &Call { shape, at, scratch, .. } = call;
    let room = ScratchLayout::of(shape, at, choice, limits)?;
    let lanes = Lanes::of(shape, at)?;
    // A larger ring leaves the cache anyway, and evicting everything else first only loses.
    let stays = 4 * room.held() <= 3 * limits.cache;
    let passing = limits.passing(shape.grains(), stays);
    let mut columns = arguments(call, &lanes, room.granule, room.strip, 16);
    columns.policy = passing;
    // A range of steps that is not aligned touches one vector more, except if each is a vector.
    let rows = TILE_ROWS - if room.granule < 16 { 16 / room.granule } else { 0 };
    let tiles = columns.steps.div_ceil(rows);
    // A tile is read when its strip is complete, and then as much later as it is read before the ring
    // comes around, so that blocks hardly ever wait for others.
    let behind = tiles + room.ring.saturating_sub(2) * tiles / 2;
    let params = Strips {
        columns,
        scratch: scratch + room.counters,
        written: scratch,
        read: scratch + 4 * room.strips,
        store_policy: passing,
        pitch: room.pitch,
        behind,
        tiles: Axis::count(tiles),
        ring: Axis::count(room.ring),
    };
    Some(Launch {
        blocks: 2 * (room.strips * tiles + behind),
        threads: PASS_THREADS,
        shared: (TILE_ROWS * room.strip) as u32,
        params: AnyParams::Strips(params),
    })
}
