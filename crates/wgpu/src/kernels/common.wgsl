// Bindings, parameters and lengths, shared by all kernels. `src/params.rs` has the same struct;
// keep them in sync.

// One dimension. `dst` counts words in an outer dimension and grains in an inner one, `src` grains,
// `lengths` bytes; `src` and `lengths` may be negative, modulo 2^32.
struct Axis {
    len: u32,
    dst: u32,
    src: u32,
    lengths: u32,
}

struct Params {
    words: u32,  // words of the output that are looked at, or tiles
    run: u32,  // words in one run
    groups: u32,  // workgroups in a row of the grid
    outer: u32,  // dimensions whose index comes from the number of the run
    rank: u32,  // all dimensions: after those, the ones that are found by position in a run
    first: u32,  // the output's first word; in a check, the number of the call
    lead: u32,  // grains in it before position 0
    span: u32,  // grains of a run
    seal: u32,  // grains behind it that become zero
    src: u32,  // the input's first grain
    lengths: u32,  // the first byte of the first length, or offset
    row: u32,  // grains in a row
    unit: u32,  // grains in a unit
    limit: u32,  // largest length that means anything
    kind: u32,  // of integers: log2 of the bytes, plus 4 if signed
    steps: u32,  // the dimension with lengths, or NONE
    first_step: u32,  // of the output; in tiles, of a row
    step_by: u32,  // 1, or -1 where steps run backward in memory
    source_low: u32,  // only steps of the input from here on are read,
    source_count: u32,  // so many
    step_src: u32,  // from a step of the input to the next, in grains
    offset_by: u32,  // from an offset to the next, in bytes
    count: u32,  // of offsets, or of lengths to check
    report: u32,  // where the report begins, in words
    strict: u32,  // whether lengths beyond the limit are errors
    power: u32,  // whether the grains of a unit are a power of 2
    zero: u32,  // whether steps beyond a length become zero
    checked: u32,  // whether lengths were checked on the device
    across: u32,  // tiles across lanes
    along: u32,  // tiles along rows
    height: u32,  // steps of the output in tiles
    pitch: u32,  // from one of these to the next, in words
    rows: u32,  // rows of the output, if they are dense
    inverse: u32,  // 1 / row, the bits of an f32
    marked: u32,  // of each offset, the lowest bits that say whether its segment is reversed: 1 or 0
    @align(16) axes: array<Axis, 48>,
    table: array<vec4<u32>, 16>,  // what each byte becomes
}

override TABLE: bool = false;  // whether elements that are reversed are looked up in the table

const NONE = 0xffffffffu;
const SIGNED = 4u;

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<storage, read> lengths: array<u32>;
@group(0) @binding(3) var<storage, read_write> report: array<atomic<u32>>;
// The same for kernels that only read it: loads that are not atomic stay in the cache.
@group(0) @binding(3) var<storage, read_write> findings: array<u32>;
@group(0) @binding(4) var<uniform> p: Params;

// 32 bits of two words, from bit `shift` on.
fn funnel(low: u32, high: u32, shift: u32) -> u32 {
    // Shifting by 32 is not defined.
    return select((low >> shift) | (high << (32u - shift)), low, shift == 0u);
}

// The integer at a byte, as 64 bits: low word, high word.
fn integer_at(at: u32) -> vec2<u32> {
    let word = at >> 2u;
    let shift = (at & 3u) * 8u;
    let size = p.kind & 3u;
    var low = lengths[word];
    if shift != 0u || size == 3u {
        let next = lengths[word + 1u];
        if size == 3u {
            var last = 0u;
            if shift != 0u { last = lengths[word + 2u]; }
            return vec2(funnel(low, next, shift), funnel(next, last, shift));
        }
        low = funnel(low, next, shift);
    }
    let unused = 32u - (8u << size);
    if (p.kind & SIGNED) == 0u { return vec2((low << unused) >> unused, 0u); }
    let value = (bitcast<i32>(low) << unused) >> unused;
    return vec2(bitcast<u32>(value), bitcast<u32>(value >> 31u));
}

// A length, or an offset without its mark.
fn value_at(at: u32) -> vec2<u32> {
    let value = integer_at(at);
    if p.marked == 0u { return value; }
    return vec2(funnel(value.x, value.y, 1u), bitcast<u32>(bitcast<i32>(value.y) >> 1u));
}

// The same as a number of steps, clamped to the axis whatever is in memory.
fn length_at(at: u32) -> u32 {
    let value = value_at(at);
    if (p.kind & SIGNED) != 0u && (value.y >> 31u) != 0u { return 0u; }
    return select(min(value.x, p.limit), p.limit, value.y != 0u);
}

// What a byte becomes.
fn entry_of(byte: u32) -> u32 {
    let word = p.table[byte >> 4u][(byte >> 2u) & 3u];
    return (word >> ((byte & 3u) * 8u)) & 0xffu;
}

// A word whose elements in `mask` are looked up in the table, if there is one. Those of a byte become
// independent of each other, so a byte may be in the mask in part.
fn looked_up(word: u32, mask: u32) -> u32 {
    if !TABLE || mask == 0u { return word; }
    let old = turned(word);
    let low = entry_of(old & 0xffu) | (entry_of((old >> 8u) & 0xffu) << 8u);
    let high = entry_of((old >> 16u) & 0xffu) | (entry_of(old >> 24u) << 8u);
    return (word & ~mask) | (turned(low | (high << 16u)) & mask);
}

// All bits of a word, or none.
fn all_if(condition: bool) -> u32 {
    return select(0u, 0xffffffffu, condition);
}

// The number of this invocation, whose workgroup has `size`.
fn number(group: vec3<u32>, thread: u32, size: u32) -> u32 {
    return (group.y * p.groups + group.x) * size + thread;
}
