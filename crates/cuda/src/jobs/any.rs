//! Any order of dimensions: tiles, 16 bytes at a time, or piece by piece.

use super::{AnyParams, Call, Launch, axes, axis, count, flat};
use crate::choose::Choice;
use crate::constants::{NONE, TILE_ROW, TILE_SIDE, TILE_THREADS, VECTOR_SIDE};
use crate::facts::{self, chunks};
use crate::params::{Axis, Gather, Loops, Strided, Tiles};
use crate::shape::{Shape, address};
use retrograde::{Dim, Flow};
use smallvec::SmallVec;

/// All dimensions, with the granules of a unit as the innermost.
pub(super) fn granules(shape: &Shape, width: u64) -> SmallVec<[Axis; 8]> {
    let mut all = axes(&shape.dims);
    if shape.unit > width {
        all.push(Axis::new(shape.unit / width, width as i64, width as i64, 0));
    }
    all
}

pub(super) fn strided(call: &Call<'_>, choice: Choice) -> Launch {
    pieces(call, &granules(call.shape, choice.variant.into()), call.shape.prefix)
}

/// One piece per thread; `steered` is the dimension whose order lengths or offsets decide.
pub(super) fn pieces(call: &Call<'_>, all: &[Axis], steered: Option<usize>) -> Launch {
    let &Call { shape, at, lengths, .. } = call;
    let threads = all.iter().map(|axis| axis.len).product();
    let params = Strided {
        src: address(at.src, shape.src),
        dst: address(at.dst, shape.dst),
        threads,
        lengths,
        loops: Loops::new(all, steered),
    };
    flat(threads, AnyParams::Strided(params))
}

/// In place: one half of the outermost flipped dimension, or of the one with lengths, is swapped
/// with the other half. If what is beyond a length becomes zero, both halves have threads.
pub(super) fn swaps(call: &Call<'_>, choice: Choice) -> Option<Launch> {
    let mut all = granules(call.shape, choice.variant.into());
    halve(call, &mut all)?;
    let launch = pieces(call, &all, call.shape.prefix);
    (launch.blocks > 0).then_some(launch)
}

/// Leaves the lower half of the outermost flipped dimension, or of the one with lengths; `None` if
/// there is neither. If what is beyond a length becomes zero, both halves are left.
pub(super) fn halve(call: &Call<'_>, all: &mut [Axis]) -> Option<()> {
    let &Call { plan, shape, .. } = call;
    let flips = |dim: &Dim| dim.flow == Flow::Flip;
    let (at, half) = match (shape.prefix, plan.dims().iter().position(flips)) {
        (Some(_), _) if shape.zero => return Some(()),
        (Some(prefix), _) => (prefix, all[prefix].len / 2),
        (None, Some(flip)) => (flip, all[flip].len.div_ceil(2)),
        (None, None) => return None,
    };
    all[at] = Axis::new(half, all[at].src, all[at].dst, 0);
    Some(())
}

pub(super) fn gather(call: &Call<'_>, choice: Choice) -> Launch {
    let &Call { shape, at, lengths, .. } = call;
    let width = u64::from(choice.variant);
    let all = granules(shape, width);
    let run = shape.run();
    let mut below = shape.unit;
    // Dimensions outside the run, in which each step begins a new run.
    let outside: SmallVec<[&Dim; 8]> = shape
        .dims
        .iter()
        .rev()
        .skip_while(|dim| {
            let inside = dim.dst as i64 == below as i64;
            below *= if inside { dim.len as u64 } else { 1 };
            inside
        })
        .collect();
    let dst = address(at.dst, shape.dst);
    let uniform = outside.iter().all(|dim| dim.dst % 16 == 0);
    let chunk = chunks(run, width, uniform.then_some(dst % 16));
    let runs: u64 = outside.iter().map(|dim| dim.len as u64).product();
    let one = Axis::count(1);
    let inner = [
        all.last().copied().unwrap_or(one),
        all.len().checked_sub(2).map_or(one, |next| all[next]),
    ];
    let outer = &all[..all.len().saturating_sub(2)];
    let (prefix, outer_prefix) = match shape.prefix {
        None => (NONE, None),
        Some(at) if at < outer.len() => (2, Some(at)),
        Some(at) => ((all.len() - 1 - at) as u32, None),
    };
    let threads = runs * chunk;
    let params = Gather {
        src: address(at.src, shape.src),
        dst,
        threads,
        run: run / width,
        chunk: Axis::count(chunk),
        inner,
        prefix,
        uniform: u32::from(uniform),
        lengths,
        outer: Loops::new(outer, outer_prefix),
    };
    flat(threads, AnyParams::Gather(params))
}

pub(super) fn tiles(call: &Call<'_>) -> Launch {
    let &Call { shape, at, lengths, .. } = call;
    let inner = shape.dims.len() - 1;
    let transposed = facts::transposed_dim(shape).unwrap_or_default();
    let (a, b) = (&shape.dims[inner], &shape.dims[transposed]);
    let mut outer: SmallVec<[Dim; 8]> = SmallVec::from_slice(&shape.dims[..inner]);
    outer.remove(transposed);
    let prefix = shape.prefix.map(|prefix| prefix - usize::from(prefix > transposed));
    let width = shape.unit;
    // `Square` in tiles.cuh.
    let side = match width {
        1 | 2 => TILE_ROW / width,
        4 | 8 => TILE_SIDE,
        _ => VECTOR_SIDE,
    };
    let (src, dst) = (address(at.src, shape.src), address(at.dst, shape.dst));
    // If the input's rows run backward, those of a tile begin at their last element.
    let first = address(src, if b.src < 0 { b.src as i64 * (side as i64 - 1) } else { 0 });
    let whole = |number: u64, row: isize, side: fn(&Dim) -> isize, by: u64| {
        let steps = outer.iter().map(side).chain([row]);
        number.is_multiple_of(by) && steps.into_iter().all(|step| step as i64 % by as i64 == 0)
    };
    let both =
        |&by: &u64| whole(first, a.src, |dim| dim.src, by) && whole(dst, b.dst, |dim| dim.dst, by);
    let (tiles_a, tiles_b) = ((a.len as u64).div_ceil(side), (b.len as u64).div_ceil(side));
    let params = Tiles {
        src,
        dst,
        policy: call.policy,
        a: axis(a),
        b: axis(b),
        tiles_a: Axis::count(tiles_a),
        tiles_b: Axis::count(tiles_b),
        words: [16, 4].into_iter().find(both).unwrap_or(1) as u32,
        unused: 0,
        lengths,
        outer: Loops::new(&axes(&outer), prefix),
    };
    Launch {
        blocks: count(&outer) * tiles_a * tiles_b,
        threads: TILE_THREADS,
        // One element of padding per row, to avoid bank conflicts along columns.
        shared: (side * (side + 1) * width) as u32,
        params: AnyParams::Tiles(params),
    }
}
