// Moves any plan. The output is divided into words of 32 bits, and one invocation writes a word, so
// that units of any width need no atomics. `gather` reads the input; `exchange` runs in place and
// swaps a word with the one that belongs there, if every word belongs to one other word.

override STEPS: u32 = 0u;  // what a dimension outside rows reads
override PER_THREAD: u32 = 4u;  // words that an invocation takes: 4, or 1 on a processor

// Values of STEPS; 0 is for plans without lengths.
const BY_LENGTH = 1u;
const BY_OFFSETS = 2u;

const THREADS = 256u;

// A row, and a grain in it.
struct Place {
    src: u32,
    lengths: u32,
    step: u32,
    at: u32,
    inside: bool,
    moves: bool,  // whether its step is reversed, or no step has a length: a table applies to it
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
    var place = Place(p.src, p.lengths, 0u, p.first, true, true);
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
        place.moves = t < length;
        if place.moves { source = length - 1u - t; }
    } else {
        let part = segment_of(t);
        place.moves = part.backward;
        if place.moves { source = part.start + part.end - 1u - t; }
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

// So many grains of a row from a place on.
fn bits_of(place: Place, count: u32) -> u32 {
    return row_bits(place.src, place.lengths, place.at, count, place.moves);
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
        let count = min(PER_WORD - k, p.row - row.at);
        let beyond = is_beyond(row);
        let place = settled(row);
        if beyond || place.inside {
            word.mask |= low_bits(count) << (k << GRAIN);
        }
        if !beyond && place.inside {
            if count == PER_WORD {
                word.bits = bits_of(place, PER_WORD);
                return word;
            }
            word.bits |= bits_of(place, count) << (k << GRAIN);
        }
        k += count;
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
    return p.checked != 0u && findings[p.report] != 0u;
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
    let moved = all_if(TABLE && place.moves && (ROW == FORWARD || part.backward));
    // The lower word of a pair swaps both. A word that keeps its place may still be looked up.
    if there < here || (there == here && SMALL == 5u && moved == 0u) { return; }
    let mine = looked_up(turned(dst[here]), moved);
    let other = looked_up(turned(dst[there]), moved);
    dst[here] = turned(mirrored(other, true));
    dst[there] = turned(mirrored(mine, true));
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
