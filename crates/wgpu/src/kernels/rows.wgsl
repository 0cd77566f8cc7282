// Reads rows, which are contiguous in the input: any part of one, as it is after its reversal. All
// kernels that move are made of this.

override GRAIN: u32 = 3u;  // log2 of the bits of a grain
override HIGH_FIRST: bool = false;  // whether the first grain of a byte is in its highest bits
override ROW: u32 = 0u;  // how a row is read
override SMALL: u32 = 5u;  // log2 of the bits of a unit, if it is a fraction of a word; 5 if not

// Values of ROW.
const FORWARD = 0u;
const BACKWARD = 1u;
const PREFIX = 2u;  // the first steps are reversed, as many as a length says
const SUFFIX = 3u;  // the last steps are
const SEGMENTS = 4u;  // what lies between two offsets is

override PER_WORD: u32 = 32u >> GRAIN;

// Reverses the bits of each byte, so that the first grain is in the lowest bits.
fn turned(word: u32) -> u32 {
    if !HIGH_FIRST { return word; }
    let bits = reverseBits(word);
    let halves = (bits >> 16u) | (bits << 16u);
    return ((halves >> 8u) & 0x00ff00ffu) | ((halves & 0x00ff00ffu) << 8u);
}

// Reverses the order of the units in a word.
fn reversed(word: u32) -> u32 {
    var w = (word >> 16u) | (word << 16u);
    if SMALL <= 3u { w = ((w >> 8u) & 0x00ff00ffu) | ((w & 0x00ff00ffu) << 8u); }
    if SMALL <= 2u { w = ((w >> 4u) & 0x0f0f0f0fu) | ((w & 0x0f0f0f0fu) << 4u); }
    if SMALL <= 1u { w = ((w >> 2u) & 0x33333333u) | ((w & 0x33333333u) << 2u); }
    if SMALL == 0u { w = ((w >> 1u) & 0x55555555u) | ((w & 0x55555555u) << 1u); }
    return w;
}

// The same if this word is read backward, and its units are a fraction of it.
fn mirrored(word: u32, backward: bool) -> u32 {
    if SMALL == 5u { return word; }
    return select(word, reversed(word), backward);
}

// The lowest bits of a word, for so many grains.
fn low_bits(grains: u32) -> u32 {
    return select((1u << (grains << GRAIN)) - 1u, 0xffffffffu, grains >= PER_WORD);
}

// A word of input from this grain on.
fn fetch(grain: u32) -> u32 {
    let word = grain >> (5u - GRAIN);
    let shift = (grain & (PER_WORD - 1u)) << GRAIN;
    let low = turned(src[word]);
    if shift == 0u { return low; }
    return funnel(low, turned(src[word + 1u]), shift);
}

// The word of input that ends before this grain.
fn fetch_before(end: u32) -> u32 {
    let word = (end - 1u) >> (5u - GRAIN);
    let used = (end & (PER_WORD - 1u)) << GRAIN;
    let high = turned(src[word]);
    if used == 0u { return high; }
    // Grains before the first word are never wanted.
    return funnel(turned(src[max(word, 1u) - 1u]), high, used);
}

// A grain of a row, counted from the start of its unit. Divisions are slow.
fn in_unit(at: u32) -> u32 {
    if p.power != 0u { return at & (p.unit - 1u); }
    return at % p.unit;
}

// A range of steps or grains with one direction.
struct Part {
    start: u32,
    end: u32,
    backward: bool,
    zero: bool,
}

// The segment of step `t`. Whatever is in memory, it contains `t`.
fn segment_of(t: u32) -> Part {
    var low = 0u;
    var high = p.count;
    var part = Part(0u, p.limit, true, false);
    while high - low > 1u {
        let middle = low + (high - low) / 2u;
        let value = length_at(p.lengths + middle * p.offset_by);
        if value <= t {
            low = middle;
            part.start = value;
        } else {
            high = middle;
            part.end = value;
        }
    }
    part.backward = high != p.count;
    if p.marked != 0u && part.backward {
        part.backward = (integer_at(p.lengths + low * p.offset_by).x & 1u) != 0u;
    }
    return part;
}

// The part of a row that contains grain `at` of it; `lane` is where its length is.
fn part_of(at: u32, lane: u32) -> Part {
    if ROW == FORWARD { return Part(0u, p.row, false, false); }
    if ROW == BACKWARD { return Part(0u, p.row, true, false); }
    if ROW == SEGMENTS {
        let part = segment_of(at / p.unit);
        return Part(part.start * p.unit, part.end * p.unit, part.backward, false);
    }
    let length = length_at(lane) * p.unit;
    if ROW == PREFIX {
        if at < length { return Part(0u, length, true, false); }
        return Part(length, p.row, false, p.zero != 0u);
    }
    if at >= p.row - length { return Part(p.row - length, p.row, true, false); }
    return Part(0u, p.row - length, false, p.zero != 0u);
}

// A row, and the grain of it where the direction changes: one past the reversed prefix, or the first
// of the reversed suffix.
struct Split {
    src: u32,
    at: u32,
}

fn split_at(lane: u32) -> u32 {
    if ROW == PREFIX { return length_at(lane) * p.unit; }
    if ROW == SUFFIX { return p.row - length_at(lane) * p.unit; }
    return 0u;
}

fn is_backward(row: Split, at: u32) -> bool {
    if ROW == PREFIX { return at < row.at; }
    if ROW == SUFFIX { return at >= row.at; }
    return ROW == BACKWARD;
}

// Whether grains that are not reversed become zero.
fn is_zeroed() -> bool {
    return (ROW == PREFIX || ROW == SUFFIX) && p.zero != 0u;
}

// The start and the end of the reversed part, added: a grain and its mirror have the same sum, but
// for their places in a unit.
fn ends(row: Split) -> u32 {
    if ROW == PREFIX { return row.at; }
    if ROW == SUFFIX { return p.row + row.at; }
    return p.row;
}

fn next_in_unit(inside: u32) -> u32 {
    return select(inside + 1u, 0u, inside + 1u == p.unit);
}

// A word of output from grain `at` of row `a` on, which may reach into the row `b` behind it. Rows
// have no fewer grains than a word. Grain by grain, but all invocations do the same: several loads
// from the same cache lines cost less than branches in which neighbours differ.
fn grains_of(a: Split, b: Split, at: u32) -> u32 {
    var bits = 0u;
    var moved = all_if(ROW == FORWARD || ROW == BACKWARD);
    var inside = in_unit(at);
    for (var k = 0u; k < PER_WORD; k++) {
        let is_next = at + k >= p.row;
        let row = Split(select(a.src, b.src, is_next), select(a.at, b.at, is_next));
        let from_ = select(at + k, at + k - p.row, is_next);
        let backward = is_backward(row, from_);
        let mirror = ends(row) - from_ - p.unit + 2u * inside;
        let grain = row.src + select(from_, mirror, backward);
        let found = src[grain >> (5u - GRAIN)] >> ((grain & (PER_WORD - 1u)) << GRAIN);
        if backward || !is_zeroed() { bits |= (found & low_bits(1u)) << (k << GRAIN); }
        if backward { moved |= low_bits(1u) << (k << GRAIN); }
        inside = next_in_unit(inside);
    }
    return looked_up(bits, moved);
}

// The same of one row, of which most words can be read at once. Bits behind the row are anything.
fn word_of(row: Split, at: u32) -> u32 {
    if ROW == FORWARD { return looked_up(fetch(row.src + at), all_if(true)); }
    let inside = in_unit(at);
    let backward = is_backward(row, at);
    let last = at + PER_WORD - 1u;
    var is_whole = last < p.row && is_backward(row, last) == backward;
    if backward {
        is_whole = is_whole && select(inside + PER_WORD <= p.unit, inside == 0u, SMALL < 5u);
    }
    if !is_whole { return grains_of(row, row, at); }
    if !backward && is_zeroed() { return 0u; }
    let mirror = ends(row) - at - select(p.unit - 2u * inside, PER_WORD, SMALL < 5u);
    // Two loads without a branch, unlike `fetch`: some invocations would need both.
    let grain = row.src + select(at, mirror, backward);
    let word = grain >> (5u - GRAIN);
    let bits = funnel(src[word], src[word + 1u], (grain & (PER_WORD - 1u)) << GRAIN);
    return mirrored(looked_up(bits, all_if(backward)), backward);
}

// Grains of a row from `first` on, `count` of them, at most a word; `row` is the row's first grain and
// `lane` where its length is. The other bits are zero. `moves` says whether a table applies to the row,
// as far as it is reversed.
fn row_bits(row: u32, lane: u32, first: u32, count: u32, moves: bool) -> u32 {
    if ROW == FORWARD {
        return looked_up(fetch(row + first), all_if(moves)) & low_bits(count);
    }
    var bits = 0u;
    var k = 0u;
    while k < count {
        let at = first + k;
        let part = part_of(at, lane);
        var taken = min(count - k, part.end - at);
        var found = 0u;
        if !part.backward {
            if !part.zero { found = fetch(row + at); }
        } else if SMALL < 5u {
            // Several units at once: they are read in a word, and reversed.
            let inside = at & (p.unit - 1u);
            taken = min(taken, PER_WORD - inside);
            let end = part.start + part.end - (at - inside);
            found = reversed(fetch_before(row + end)) >> (inside << GRAIN);
        } else {
            let inside = in_unit(at);
            taken = min(taken, p.unit - inside);
            found = fetch(row + part.start + part.end - at - p.unit + 2u * inside);
        }
        found = looked_up(found, all_if(moves && part.backward));
        if taken == PER_WORD { return found; }
        bits |= (found & low_bits(taken)) << (k << GRAIN);
        k += taken;
    }
    return bits;
}
