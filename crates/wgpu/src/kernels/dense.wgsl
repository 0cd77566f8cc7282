// Moves rows that follow each other in the output without gaps. A workgroup finds its rows and
// their lengths once, and keeps them in its memory; every word is then a part of one row, or of two.
// `gather_dense` reads the input; `swap_dense` runs in place. There, elements may share words, so
// whoever exchanges two grains changes nothing but these: by exclusive or, which is atomic.

// One more than a workgroup has rows: each is a word or longer.
var<workgroup> rows: array<Split, 1026>;

// Instead of a grain: it becomes zero.
const ZEROED = 0xfffffffeu;

// The output again, where several invocations write to a word.
@group(0) @binding(1) var<storage, read_write> shared_dst: array<atomic<u32>>;

// The words of a workgroup: the first word, the row that it begins in, and the grain of that row.
struct Chunk {
    words: u32,
    row: u32,
    at: u32,
}

fn chunk_at(group: vec3<u32>) -> Chunk {
    let words = number(group, 0u, THREADS * PER_THREAD);
    // What is before position 0 is the end of a row that does not exist.
    if words == 0u && p.lead != 0u { return Chunk(0u, NONE, p.row - p.lead); }
    let position = words * PER_WORD - p.lead;
    let row = position / p.row;
    return Chunk(words, row, position - row * p.row);
}

fn find_rows(chunk: Chunk, thread: u32) {
    let count = (chunk.at + THREADS * PER_THREAD * PER_WORD - 1u) / p.row + 1u;
    for (var k = thread; k < count; k += THREADS) {
        var row = Split(0u, 0u);
        if chunk.row + k < p.rows {
            let place = run_at(chunk.row + k);
            row = Split(place.src, split_at(place.lengths));
        }
        rows[k] = row;
    }
}

// A word's first row, counted from the chunk's, the grain of it, and which bits are in the tensor.
struct Spot {
    row: u32,
    at: u32,
    mask: u32,
}

fn spot_of(chunk: Chunk, word: u32) -> Spot {
    let position = chunk.at + word * PER_WORD;
    // A division by multiplication is wrong by one at most: there are few rows in a chunk.
    var row = u32(f32(position) * bitcast<f32>(p.inverse));
    if row * p.row > position { row -= 1u; }
    if position - row * p.row >= p.row { row += 1u; }
    let at = position - row * p.row;
    let first = low_bits(p.row - at);
    let mask = select(0u, first, chunk.row + row < p.rows)
        | select(0u, ~first, chunk.row + row + 1u < p.rows);
    return Spot(row, at, mask);
}

fn gathered_dense(chunk: Chunk, word: u32) -> Word {
    let spot = spot_of(chunk, word);
    if spot.mask == 0u { return Word(0u, 0u, 0u); }
    let bits = grains_of(rows[spot.row], rows[spot.row + 1u], spot.at);
    return Word(p.first + chunk.words + word, bits & spot.mask, spot.mask);
}

@compute @workgroup_size(256)
fn gather_dense(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let chunk = chunk_at(group);
    let works = chunk.words < p.words && !is_stopped();
    if works { find_rows(chunk, thread); }
    workgroupBarrier();
    if !works { return; }
    // As in `gather`: all loads before the first store.
    let a = gathered_dense(chunk, thread);
    var b = Word(0u, 0u, 0u);
    var c = b;
    var d = b;
    if PER_THREAD > 1u {
        b = gathered_dense(chunk, thread + THREADS);
        c = gathered_dense(chunk, thread + 2u * THREADS);
        d = gathered_dense(chunk, thread + 3u * THREADS);
    }
    put(a);
    put(b);
    put(c);
    put(d);
}

// Replaces bits of a word by others: `change` is their exclusive or.
fn change(word: u32, bits: u32) {
    if bits != 0u { atomicXor(&shared_dst[word], bits); }
}

// Exchanges a word with the one that begins with grain `there`, perhaps inside two words.
fn swap_whole(here: u32, there: u32, backward: bool) {
    let word = there >> (5u - GRAIN);
    let shift = (there & (PER_WORD - 1u)) << GRAIN;
    let mine = mirrored(atomicLoad(&shared_dst[here]), backward);
    var other = atomicLoad(&shared_dst[word]);
    if shift == 0u {
        atomicStore(&shared_dst[word], mine);
    } else {
        other = funnel(other, atomicLoad(&shared_dst[word + 1u]), shift);
        change(word, (mine ^ other) << shift);
        change(word + 1u, (mine ^ other) >> (32u - shift));
    }
    atomicStore(&shared_dst[here], mirrored(other, backward));
}

// What grain `k` of a word is exchanged with: where that is, or NONE if this is the upper one of the
// pair, or stays. `inside` counts from the start of its unit.
fn partner_of(a: Split, b: Split, spot: Spot, here: u32, k: u32, inside: u32) -> u32 {
    let is_next = spot.at + k >= p.row;
    let row = Split(select(a.src, b.src, is_next), select(a.at, b.at, is_next));
    let at = select(spot.at + k, spot.at + k - p.row, is_next);
    let backward = is_backward(row, at);
    let there = row.src + select(at, ends(row) - at - p.unit + 2u * inside, backward);
    if !backward && is_zeroed() { return ZEROED; }
    let is_lower = ((spot.mask >> (k << GRAIN)) & 1u) != 0u && there > here * PER_WORD + k;
    return select(NONE, there, is_lower);
}

// Exchanges the grains of a word one by one. All are loaded before the first one is changed.
fn swap_grains(a: Split, b: Split, spot: Spot, here: u32) {
    let mine = atomicLoad(&shared_dst[here]);
    let first = in_unit(spot.at);
    var inside = first;
    var others = 0u;
    var pairs = 0u;
    for (var k = 0u; k < PER_WORD; k++) {
        let there = partner_of(a, b, spot, here, k, inside);
        let grain = low_bits(1u) << (k << GRAIN);
        if there < ZEROED {
            let shift = (there & (PER_WORD - 1u)) << GRAIN;
            let other = atomicLoad(&shared_dst[there >> (5u - GRAIN)]) >> shift;
            others |= (other & low_bits(1u)) << (k << GRAIN);
        }
        if there <= ZEROED { pairs |= grain & spot.mask; }
        inside = next_in_unit(inside);
    }
    // Those that become zero are exchanged with nothing.
    let bits = (mine ^ others) & pairs;
    inside = first;
    for (var k = 0u; k < PER_WORD; k++) {
        let there = partner_of(a, b, spot, here, k, inside);
        if there < ZEROED {
            let shift = (there & (PER_WORD - 1u)) << GRAIN;
            change(there >> (5u - GRAIN), ((bits >> (k << GRAIN)) & low_bits(1u)) << shift);
        }
        inside = next_in_unit(inside);
    }
    // Nobody else writes to a word whose grains are all the lower ones.
    if pairs == 0xffffffffu {
        atomicStore(&shared_dst[here], mine ^ bits);
    } else {
        change(here, bits);
    }
}

fn swap_word(chunk: Chunk, word: u32) {
    let spot = spot_of(chunk, word);
    if spot.mask == 0u { return; }
    let here = p.first + chunk.words + word;
    let a = rows[spot.row];
    let last = spot.at + PER_WORD - 1u;
    let backward = is_backward(a, spot.at);
    let is_mixed = last >= p.row || is_backward(a, last) != backward || spot.mask != 0xffffffffu;
    if !is_mixed && !backward && is_zeroed() {
        atomicStore(&shared_dst[here], 0u);
        return;
    }
    let inside = in_unit(spot.at);
    let first = here * PER_WORD;
    // Where the mirror of the word's first unit ends: all that it is exchanged with is before that.
    if !is_mixed && backward && a.src + ends(a) - (spot.at - inside) <= first { return; }
    if !is_mixed && (!backward || (SMALL < 5u && inside == 0u)) {
        let there = a.src + select(spot.at, ends(a) - spot.at - PER_WORD, backward);
        // A word that stays, or the upper one of a pair. Around the middle, a word may overlap the
        // one that it is exchanged with.
        if !backward && there <= first { return; }
        if there >= first + PER_WORD {
            swap_whole(here, there, backward);
            return;
        }
    }
    swap_grains(a, rows[spot.row + 1u], spot, here);
}

@compute @workgroup_size(256)
fn swap_dense(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let chunk = chunk_at(group);
    let works = chunk.words < p.words && !is_stopped();
    if works { find_rows(chunk, thread); }
    workgroupBarrier();
    if !works { return; }
    for (var k = 0u; k < PER_THREAD; k++) { swap_word(chunk, thread + k * THREADS); }
}
