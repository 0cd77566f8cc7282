// Moves plans whose rows are contiguous in the input and strided in the output, where another
// dimension, the lanes, is contiguous: a transpose. A workgroup reads a tile in words along rows,
// turns it in its memory, and writes it in words along lanes.

override TILE: u32 = 2u;  // log2 of the bytes of a unit, at most 16

const TILE_WORDS = 32u;  // of output, across lanes
const TILE_STEPS = 64u;
// One more than the words across, so that neighbouring steps are in different banks.
const TILE_PITCH = 33u;
const TILE_THREADS = 256u;
const TILE_TURNS = 8u;  // words of a tile that an invocation writes

override UNITS: u32 = max(4u >> TILE, 1u);  // units in a word
override WIDE: u32 = max(TILE, 2u) - 2u;  // log2 of the words in a unit
override LANES: u32 = (TILE_WORDS * UNITS) >> WIDE;  // of a tile

var<workgroup> tile: array<u32, 2112>;
var<workgroup> splits: array<u32, 128>;  // of its lanes

// Grains `at` of a row, a word of them: zero outside the tensor. `lane` counts in the tile.
fn lane_bits(plane: Place, first_lane: u32, lane: u32, at: u32) -> u32 {
    let axis = p.axes[p.rank - 1u];
    let which = first_lane + lane;
    if which >= axis.len || at >= p.row { return 0u; }
    let row = plane.src + which * axis.src;
    if ROW == SEGMENTS { return row_bits(row, 0u, at, min(4u, p.row - at), true); }
    let split = Split(row, splits[lane]);
    return word_of(split, at) & low_bits(p.row - at);
}

// The even bytes of two words in turn, and the odd ones.
fn mixed(a: u32, b: u32) -> vec2<u32> {
    let low = 0x00ff00ffu;
    return vec2((a & low) | ((b & low) << 8u), ((a >> 8u) & low) | (b & ~low));
}

// Reads UNITS steps of UNITS lanes, one word a lane, and keeps them as one word a step.
fn read_block(plane: Place, first_lane: u32, first_step: u32, block: u32) {
    let steps = TILE_STEPS / UNITS;
    let word = block / steps;
    let step = (block % steps) * UNITS;
    let lane = word * UNITS;
    let at = (first_step + step) * p.unit;
    let to = step * TILE_PITCH + word;
    let a = lane_bits(plane, first_lane, lane, at);
    let b = lane_bits(plane, first_lane, lane + 1u, at);
    if UNITS == 2u {
        tile[to] = (a & 0xffffu) | (b << 16u);
        tile[to + TILE_PITCH] = (a >> 16u) | (b & 0xffff0000u);
        return;
    }
    let c = lane_bits(plane, first_lane, lane + 2u, at);
    let d = lane_bits(plane, first_lane, lane + 3u, at);
    let ab = mixed(a, b);
    let cd = mixed(c, d);
    let even = (ab & vec2(0xffffu)) | (cd << vec2(16u));
    let odd = (ab >> vec2(16u)) | (cd & vec2(0xffff0000u));
    tile[to] = even.x;
    tile[to + TILE_PITCH] = even.y;
    tile[to + 2u * TILE_PITCH] = odd.x;
    tile[to + 3u * TILE_PITCH] = odd.y;
}

// Reads a word of one lane: a unit, or a part of one.
fn read_word(plane: Place, first_lane: u32, first_step: u32, index: u32) {
    let words = TILE_STEPS << WIDE;
    let lane = index / words;
    let word = index % words;
    let at = (first_step * p.unit) + word * 4u;
    let across = (lane << WIDE) + (word & ((1u << WIDE) - 1u));
    tile[(word >> WIDE) * TILE_PITCH + across] = lane_bits(plane, first_lane, lane, at);
}

@compute @workgroup_size(256)
fn transpose(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let index = number(group, 0u, 1u);
    let works = index < p.words && !is_stopped();
    let rest = index / p.across;
    let first_lane = (index - rest * p.across) * LANES;
    let which = rest / p.along;
    let first_step = (rest - which * p.along) * TILE_STEPS;
    let plane = run_at(which);
    if ROW == PREFIX || ROW == SUFFIX {
        let axis = p.axes[p.rank - 1u];
        if works && thread < LANES && first_lane + thread < axis.len {
            splits[thread] = split_at(plane.lengths + (first_lane + thread) * axis.lengths);
        }
        workgroupBarrier();
    }
    if works {
        // Loops of a known number of turns are unrolled, so that loads overlap.
        for (var i = 0u; i < TILE_TURNS / UNITS; i++) {
            let k = thread + i * TILE_THREADS;
            if UNITS > 1u {
                read_block(plane, first_lane, p.first_step + first_step, k);
            } else {
                read_word(plane, first_lane, p.first_step + first_step, k);
            }
        }
    }
    workgroupBarrier();
    if !works { return; }
    let column = thread % TILE_WORDS;
    let lane = first_lane + ((column * UNITS) >> WIDE);
    let lanes = p.axes[p.rank - 1u].len;
    if lane >= lanes { return; }
    let mask = low_bits((lanes - lane) * p.unit);
    let to = plane.at + ((first_lane * p.unit) >> 2u) + column;
    let end = min(TILE_STEPS, p.height - first_step);
    for (var i = 0u; i < TILE_TURNS; i++) {
        let step = thread / TILE_WORDS + i * (TILE_THREADS / TILE_WORDS);
        let word = Word(to + (first_step + step) * p.pitch, tile[step * TILE_PITCH + column], mask);
        if step < end { put(word); }
    }
}
