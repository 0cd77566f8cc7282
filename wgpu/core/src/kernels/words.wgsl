// Moves any plan. The output is divided into words of 32 bits, and one invocation writes a word, so
// that units of any width need no atomics. `gather` reads the input; `exchange` runs in place and
// swaps a word with the one that belongs there, if every word belongs to one other word.

override GRAIN: u32 = 3u;  // log2 of the bits of a grain
override HIGH_FIRST: bool = false;  // whether the first grain of a byte is in its highest bits
override ROW: u32 = 0u;  // how a row is read
override STEPS: u32 = 0u;  // what a dimension outside rows reads
override PER_THREAD: u32 = 4u;  // words that an invocation takes: 4, or 1 on a processor
override SMALL: u32 = 5u;  // log2 of the bits of a unit, if it is a fraction of a word; 5 if not

// Values of ROW. Rows are contiguous in input and output.
const FORWARD = 0u;
const BACKWARD = 1u;
const PREFIX = 2u;  // the first steps are reversed, as many as a length says
const SUFFIX = 3u;  // the last steps are
const SEGMENTS = 4u;  // what lies between two offsets is
// Values of STEPS; 0 is for plans without lengths.
const BY_LENGTH = 1u;
const BY_OFFSETS = 2u;

override PER_WORD: u32 = 32u >> GRAIN;
const THREADS = 256u;

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

// A row, and a grain in it.
struct Place {
    src: u32,
    lengths: u32,
    step: u32,
    at: u32,
    inside: bool,
}

fn stepped(from_: Place, a: u32, i: u32) -> Place {
    var place = from_;
    let axis = p.axes[a];
    place.src += i * axis.src;
    place.lengths += i * axis.lengths;
    if STEPS != 0u && a == p.steps { place.step = i; }
    return place;
}

// Where a run of words begins: `at` is the first word of the output.
fn run_at(which: u32) -> Place {
    var place = Place(p.src, p.lengths, 0u, p.first, true);
    var rest = which;
    for (var a = p.outer; a > 0u; a--) {
        let axis = p.axes[a - 1u];
        let next = rest / axis.len;
        let i = rest - next * axis.len;
        place = stepped(place, a - 1u, i);
        place.at += i * axis.dst;
        rest = next;
    }
    return place;
}

// The row at a position of a run.
fn row_at(run: Place, position: u32) -> Place {
    var place = run;
    var rest = position;
    for (var a = p.outer; a < p.rank; a++) {
        let axis = p.axes[a];
        let i = rest / axis.dst;
        rest -= i * axis.dst;
        if i >= axis.len { place.inside = false; }
        place = stepped(place, a, i);
    }
    place.at = rest;
    place.inside = place.inside && rest < p.row;
    return place;
}

// Follows lengths or offsets along the dimension outside rows that has them: where the step of the
// input is. Not `inside` if that step is not among those that this dispatch reads.
fn settled(from_: Place) -> Place {
    var place = from_;
    if STEPS == 0u { return place; }
    let t = p.first_step + place.step * p.step_by;
    var source = t;
    if STEPS == BY_LENGTH {
        let length = length_at(place.lengths);
        if t < length { source = length - 1u - t; }
    } else {
        let part = segment_of(t);
        if part.backward { source = part.start + part.end - 1u - t; }
    }
    source -= p.source_low;
    place.inside = place.inside && source < p.source_count;
    place.src += source * p.step_src;
    return place;
}

// Whether a step outside rows is beyond its length and becomes zero.
fn is_beyond(place: Place) -> bool {
    if STEPS != BY_LENGTH || p.zero == 0u { return false; }
    return p.first_step + place.step * p.step_by >= length_at(place.lengths);
}

// A word of output: its bits, and which of them are written.
struct Word {
    at: u32,
    bits: u32,
    mask: u32,
}

fn gathered(index: u32) -> Word {
    var which = 0u;
    if p.outer > 0u { which = index / p.run; }
    let in_run = index - which * p.run;
    let run = run_at(which);
    var word = Word(run.at + in_run, 0u, 0u);
    let first = in_run * PER_WORD - p.lead;
    var k = 0u;
    while k < PER_WORD {
        // The grains before position 0 are beyond the span too, modulo 2^32.
        if first + k >= p.span {
            if first + k - p.span < p.seal { word.mask |= low_bits(1u) << (k << GRAIN); }
            k += 1u;
            continue;
        }
        let row = row_at(run, first + k);
        if !row.inside {
            k += 1u;
            continue;
        }
        var at = row.at;
        let end = k + min(PER_WORD - k, p.row - at);
        if is_beyond(row) {
            word.mask |= low_bits(end - k) << (k << GRAIN);
            k = end;
            continue;
        }
        let place = settled(row);
        if !place.inside {
            k = end;
            continue;
        }
        while k < end {
            let part = part_of(at, place.lengths);
            var count = min(end - k, part.end - at);
            var from_ = at;
            if part.backward {
                let mirror = part.start + part.end - at;
                // Whole units that fill a word.
                if SMALL < 5u && k == 0u && count == PER_WORD && (at & (p.unit - 1u)) == 0u {
                    word.bits = reversed(fetch(place.src + mirror - PER_WORD));
                    word.mask = 0xffffffffu;
                    return word;
                }
                let inside = in_unit(at);
                count = min(count, p.unit - inside);
                from_ = mirror - p.unit + 2u * inside;
            }
            if count == PER_WORD && !part.zero {
                word.bits = fetch(place.src + from_);
                word.mask = 0xffffffffu;
                return word;
            }
            let mask = low_bits(count);
            if !part.zero { word.bits |= (fetch(place.src + from_) & mask) << (k << GRAIN); }
            word.mask |= mask << (k << GRAIN);
            at += count;
            k += count;
        }
    }
    return word;
}

fn put(word: Word) {
    if word.mask == 0xffffffffu {
        dst[word.at] = turned(word.bits);
    } else if word.mask != 0u {
        let mask = turned(word.mask);
        dst[word.at] = (dst[word.at] & ~mask) | turned(word.bits);
    }
}

fn is_stopped() -> bool {
    return p.checked != 0u && atomicLoad(&report[p.report]) != 0u;
}

@compute @workgroup_size(256)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    if is_stopped() { return; }
    // Neighbouring invocations take neighbouring words; each takes several, and loads them all
    // before it stores one.
    let first = number(group, 0u, THREADS * PER_THREAD) + thread;
    // Not a loop: drivers may keep an array of results in memory.
    var a = Word(0u, 0u, 0u);
    var b = a;
    var c = a;
    var d = a;
    if first < p.words { a = gathered(first); }
    if PER_THREAD > 1u {
        if first + THREADS < p.words { b = gathered(first + THREADS); }
        if first + 2u * THREADS < p.words { c = gathered(first + 2u * THREADS); }
        if first + 3u * THREADS < p.words { d = gathered(first + 3u * THREADS); }
    }
    put(a);
    put(b);
    put(c);
    put(d);
}

// Every word of the output is one word of the input, whose units may be reversed.
fn exchange_word(index: u32) {
    var which = 0u;
    if p.outer > 0u { which = index / p.run; }
    let in_run = index - which * p.run;
    let run = run_at(which);
    let position = in_run * PER_WORD;
    if position >= p.span { return; }
    let row = row_at(run, position);
    if !row.inside { return; }
    let here = run.at + in_run;
    if is_beyond(row) {
        dst[here] = 0u;
        return;
    }
    let place = settled(row);
    let part = part_of(place.at, place.lengths);
    if part.zero {
        dst[here] = 0u;
        return;
    }
    var from_ = place.at;
    if part.backward {
        let mirror = part.start + part.end - place.at;
        if SMALL < 5u {
            from_ = mirror - PER_WORD;
        } else {
            let inside = in_unit(place.at);
            from_ = mirror - p.unit + 2u * inside;
        }
    }
    let there = (place.src + from_) >> (5u - GRAIN);
    // The lower word of a pair swaps both.
    if there < here { return; }
    let mine = dst[here];
    if SMALL < 5u {
        let other = dst[there];
        dst[here] = turned(reversed(turned(other)));
        dst[there] = turned(reversed(turned(mine)));
    } else if there != here {
        dst[here] = dst[there];
        dst[there] = mine;
    }
}

@compute @workgroup_size(256)
fn exchange(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    if is_stopped() { return; }
    let first = number(group, 0u, THREADS * PER_THREAD) + thread;
    for (var k = 0u; k < PER_THREAD; k++) {
        let index = first + k * THREADS;
        if index < p.words { exchange_word(index); }
    }
}
