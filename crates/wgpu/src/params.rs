//! The parameters of a dispatch, as `kernels/common.wgsl` declares them.

use crate::cut::Window;
use crate::shape::{Shape, Tile};
use bytemuck::{Pod, Zeroable};
use retrograde::{DType, LengthPolicy, LengthsPlan, Meaning};

/// The most dimensions of a plan.
pub(crate) const MOST_AXES: usize = 48;
/// Invocations of a workgroup.
const THREADS: u64 = 256;
/// Bytes of output across a tile, and steps along it: those of `kernels/tiles.wgsl`.
const TILE_BYTES: u64 = 128;
const TILE_STEPS: u64 = 64;
/// No dimension.
const NONE: u32 = u32::MAX;

/// One dimension; see the kernels for units.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Axis {
    pub(crate) len: u32,
    pub(crate) dst: u32,
    pub(crate) src: u32,
    pub(crate) lengths: u32,
}

/// See `kernels/common.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Params {
    pub(crate) words: u32,
    pub(crate) run: u32,
    pub(crate) groups: u32,
    pub(crate) outer: u32,
    pub(crate) rank: u32,
    pub(crate) first: u32,
    pub(crate) lead: u32,
    pub(crate) span: u32,
    pub(crate) seal: u32,
    pub(crate) src: u32,
    pub(crate) lengths: u32,
    pub(crate) row: u32,
    pub(crate) unit: u32,
    pub(crate) limit: u32,
    pub(crate) kind: u32,
    pub(crate) steps: u32,
    pub(crate) first_step: u32,
    pub(crate) step_by: u32,
    pub(crate) source_low: u32,
    pub(crate) source_count: u32,
    pub(crate) step_src: u32,
    pub(crate) offset_by: u32,
    pub(crate) count: u32,
    pub(crate) report: u32,
    pub(crate) strict: u32,
    pub(crate) power: u32,
    pub(crate) zero: u32,
    pub(crate) checked: u32,
    pub(crate) across: u32,
    pub(crate) along: u32,
    pub(crate) height: u32,
    pub(crate) pitch: u32,
    pub(crate) rows: u32,
    pub(crate) inverse: u32,
    pub(crate) marked: u32,
    pub(crate) unused: u32,
    pub(crate) axes: [Axis; MOST_AXES],
    pub(crate) table: [u8; 256],
}

/// Workgroups of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) x: u32,
    pub(crate) y: u32,
}

impl Grid {
    /// So many workgroups, of which a dimension takes at most `most`.
    fn of(groups: u64, most: u32) -> Self {
        let groups = groups.max(1);
        let y = groups.div_ceil(u64::from(most));
        Grid { x: groups.div_ceil(y) as u32, y: y as u32 }
    }
}

/// Where the lengths of a call are, and where its report is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Read {
    /// The byte of the binding that the plan counts from.
    pub(crate) base: i64,
    /// Number of the report.
    pub(crate) report: u32,
    /// Whether the device has checked them.
    pub(crate) checked: bool,
}

/// Words of a report.
pub(crate) const REPORT_WORDS: u32 = 16;

/// Numbers modulo 2^32, as kernels count.
fn wrapped(number: i64) -> u32 {
    number as u32
}

impl Params {
    /// The parameters of a piece, for buffers whose views begin at bytes `src` and `dst`.
    pub(crate) fn of(shape: &Shape, lengths: Option<(&LengthsPlan, Read)>, at: Site) -> Self {
        let mut params = Params::zeroed();
        params.read(lengths, shape.lengths_offset);
        params.place(shape, at);
        match (&shape.tile, shape.dense) {
            (Some(tile), _) => params.enumerate_tiles(shape, tile),
            (None, Some(grain)) => params.enumerate_rows(shape, grain),
            (None, None) => params.enumerate(shape),
        }
        params
    }

    /// The parameters of the check of all lengths or offsets, in row-major order.
    pub(crate) fn check(lengths: &LengthsPlan, read: Read) -> Self {
        let mut params = Params::zeroed();
        params.read(Some((lengths, read)), lengths.first as i64 - lengths.reach.origin as i64);
        params.count = lengths.count() as u32;
        params.rank = lengths.dims().len() as u32;
        for (axis, &(len, stride)) in params.axes.iter_mut().zip(lengths.dims()) {
            (axis.len, axis.lengths) = (len as u32, wrapped(stride as i64));
        }
        params
    }

    /// The grid of a move, which the kernel needs to know too; an invocation takes `each` words.
    pub(crate) fn grid(&mut self, each: u32, most: u32) -> Grid {
        let groups = match self.across {
            0 => u64::from(self.words).div_ceil(THREADS * u64::from(each)),
            _ => u64::from(self.words),
        };
        let grid = Grid::of(groups, most);
        self.groups = grid.x;
        grid
    }

    /// The same for a check.
    pub(crate) fn check_grid(&mut self, most: u32) -> Grid {
        let grid = Grid::of(u64::from(self.count).div_ceil(THREADS), most);
        self.groups = grid.x;
        grid
    }

    fn read(&mut self, lengths: Option<(&LengthsPlan, Read)>, offset: i64) {
        let Some((lengths, read)) = lengths else { return };
        self.lengths = wrapped(read.base + lengths.reach.origin as i64 + offset);
        self.limit = lengths.limit as u32;
        self.kind = kind(lengths.dtype);
        self.report = read.report * REPORT_WORDS;
        self.checked = u32::from(read.checked);
        let offsets = lengths.meaning.is_offsets();
        self.marked = u32::from(lengths.meaning == Meaning::MarkedOffsets);
        self.strict = u32::from(offsets || lengths.policy == LengthPolicy::Strict);
        if offsets {
            self.count = lengths.count() as u32;
            self.offset_by = wrapped(lengths.dims().last().map_or(0, |&(_, step)| step as i64));
        }
    }

    fn place(&mut self, shape: &Shape, at: Site) {
        let per_byte = shape.grain.per_byte() as i64;
        self.src = wrapped(shape.src + at.src * per_byte);
        let dst = shape.dst as i64 + at.dst * per_byte;
        let per_word = shape.per_word() as i64;
        (self.first, self.lead) = (wrapped(dst / per_word), wrapped(dst % per_word));
        (self.row, self.unit) = (shape.row_len as u32, shape.unit as u32);
        (self.power, self.zero) = (shape.unit.is_power_of_two().into(), shape.zero.into());
        self.steps = NONE;
        if let Some(steps) = &shape.steps {
            self.steps = steps.axis.map_or(NONE, |axis| axis as u32);
            self.first_step = steps.first as u32;
            self.step_by = if steps.descending { NONE } else { 1 };
            self.source_low = steps.source.start as u32;
            self.source_count = (steps.source.end - steps.source.start) as u32;
            self.step_src = wrapped(steps.src);
        }
    }

    fn enumerate(&mut self, shape: &Shape) {
        let per_word = shape.per_word();
        self.seal = shape
            .seals
            .filter(|&end| end == shape.dst_reach().end)
            .map_or(0, |end| (end.next_multiple_of(shape.grain.per_byte() as u64) - end) as u32);
        let words_of = |outer: usize| {
            (u64::from(self.lead) + shape.span(outer) + u64::from(self.seal)).div_ceil(per_word)
        };
        let count = |outer: usize| shape.axes[..outer].iter().map(|axis| axis.len).product::<u64>();
        let total = |outer: &usize| count(*outer) * words_of(*outer);
        let choices =
            (0..=shape.axes.len()).filter(|&outer| is_apart(shape, words_of(outer), outer));
        let outer = choices.min_by_key(total).unwrap_or(0);
        (self.outer, self.rank) = (outer as u32, shape.axes.len() as u32);
        (self.run, self.words) = (words_of(outer) as u32, total(&outer) as u32);
        self.span = shape.span(outer) as u32;
        self.take_axes(shape, outer);
    }

    /// Tiles take the place of words; the last dimension is that of lanes.
    fn enumerate_tiles(&mut self, shape: &Shape, tile: &Tile) {
        let outer = shape.axes.len() - 1;
        let lanes = shape.axes[outer].len;
        let count: u64 = shape.axes[..outer].iter().map(|axis| axis.len).product();
        let across = (lanes * shape.unit).div_ceil(TILE_BYTES);
        let along = tile.steps.div_ceil(TILE_STEPS);
        (self.across, self.along) = (across as u32, along as u32);
        self.words = (count * across * along) as u32;
        (self.height, self.pitch) = (tile.steps as u32, (tile.pitch / shape.per_word()) as u32);
        self.first_step = tile.first as u32;
        (self.outer, self.rank) = (outer as u32, outer as u32 + 1);
        self.take_axes(shape, outer);
    }

    /// All dimensions count rows, in grains of two to the power of `grain` bytes.
    fn enumerate_rows(&mut self, shape: &Shape, grain: u32) {
        let span = shape.span(0);
        self.words = (u64::from(self.lead) + span).div_ceil(shape.per_word()) as u32;
        self.rows = (span / shape.row_len) as u32;
        (self.outer, self.rank) = (shape.axes.len() as u32, shape.axes.len() as u32);
        for (to, axis) in self.axes.iter_mut().zip(&shape.axes) {
            let (src, lengths) = (wrapped(axis.src >> grain), wrapped(axis.lengths));
            *to = Axis { len: axis.len as u32, dst: 0, src, lengths };
        }
        for count in [&mut self.src, &mut self.lead, &mut self.row, &mut self.unit] {
            *count >>= grain;
        }
        self.inverse = (1.0 / self.row as f32).to_bits();
    }

    fn take_axes(&mut self, shape: &Shape, outer: usize) {
        for (at, (to, axis)) in self.axes.iter_mut().zip(&shape.axes).enumerate() {
            let dst = if at < outer { axis.dst / shape.per_word() } else { axis.dst };
            let (src, lengths) = (wrapped(axis.src), wrapped(axis.lengths));
            *to = Axis { len: axis.len as u32, dst: dst as u32, src, lengths };
        }
    }
}

/// Where the views of a piece begin, in bytes from the start of what is bound; may be negative,
/// since only what the piece reaches is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) src: i64,
    pub(crate) dst: i64,
}

impl Site {
    /// Of views at these bytes of their buffers, where a piece is bound.
    pub(crate) fn of(shape: &Shape, window: Window, src: u64, dst: u64) -> Self {
        let per_byte = shape.grain.per_byte() as u64;
        let from =
            |reach, offset| offset as i64 - window.bytes(&reach, per_byte, offset).start as i64;
        Site { src: from(shape.src_reach(), src), dst: from(shape.dst_reach(), dst) }
    }
}

/// Whether runs of so many words, one for each index of the `outer` outermost dimensions, share no
/// word.
fn is_apart(shape: &Shape, words: u64, outer: usize) -> bool {
    let per_word = shape.per_word();
    let mut extent = words * per_word;
    shape.axes[..outer].iter().rev().all(|axis| {
        let apart = axis.dst.is_multiple_of(per_word) && axis.dst >= extent;
        extent += (axis.len - 1) * axis.dst;
        apart
    })
}

/// The code of a lengths type: log2 of its bytes, plus 4 if signed.
fn kind(dtype: DType) -> u32 {
    use DType::*;
    match dtype {
        I8 => 4,
        U16 => 1,
        I16 => 5,
        U32 => 2,
        I32 => 6,
        U64 => 3,
        I64 => 7,
        // U8, the only remaining integer type.
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrograde::{DType, Layout, Reverse};

    #[test]
    fn parameters_have_the_size_that_the_kernels_declare() {
        assert_eq!(size_of::<Params>(), 36 * 4 + MOST_AXES * 16 + 256);
        assert_eq!(std::mem::offset_of!(Params, axes) % 16, 0);
    }

    #[test]
    fn words_between_rows_are_not_looked_at_where_rows_share_none() {
        let words = |pitch: isize| {
            let layout = Layout::strided(DType::U8, &[10, 8], &[pitch, 1], 0).unwrap();
            let shape = Shape::of(&Reverse::axes([1]).plan(&layout, &layout).unwrap());
            let params = Params::of(&shape, None, Site { src: 0, dst: 0 });
            (params.outer, params.run, params.words)
        };
        assert_eq!(words(8), (0, 20, 20));
        assert_eq!(words(400), (1, 2, 20));
        assert_eq!(words(401), (0, 905, 905), "rows begin inside a word");
    }

    #[test]
    fn dense_rows_are_counted_in_their_grains() {
        let layout = Layout::dense(DType::U16, &[10, 7]).unwrap();
        let shape = Shape::of(&Reverse::axes([1]).plan(&layout, &layout).unwrap());
        let dense = shape.dense(0, 2).unwrap();
        let params = Params::of(&dense, None, Site { src: 0, dst: 2 });
        assert_eq!((params.lead, params.row, params.unit, params.rows), (1, 7, 1, 10));
        assert_eq!((params.words, params.axes[0].src), (36, 7));
        assert_eq!(f32::from_bits(params.inverse), 1.0 / 7.0);
    }

    #[test]
    fn grids_stay_within_the_limit() {
        assert_eq!(Grid::of(10, 65535), Grid { x: 10, y: 1 });
        assert_eq!(Grid::of(65536, 65535), Grid { x: 32768, y: 2 });
        assert_eq!(Grid::of(0, 65535), Grid { x: 1, y: 1 });
    }
}
