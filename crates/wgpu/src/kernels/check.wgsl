// Checks lengths or offsets before anything moves. `find` looks for the first invalid one in
// row-major order; `conclude` writes it to the report, which kernels that follow obey.

override OFFSETS: bool = false;

// Words of a report.
const STOP = 0u;  // a length of the latest call is invalid
const FAILED = 1u;  // one was, since the host last cleared the report; the rest describes the first
const ORDINAL = 2u;
const VALUE = 3u;  // two words
const LIMIT = 5u;
const LOW = 6u;  // of an offset: the one before it
const LEAST = 7u;  // the lowest invalid index of this call; NONE between calls
const IS_SIGNED = 8u;
const IS_OFFSET = 9u;
const CALL = 10u;

fn checked_at(ordinal: u32) -> vec2<u32> {
    var at = p.lengths;
    var rest = ordinal;
    for (var a = p.rank; a > 0u; a--) {
        let axis = p.axes[a - 1u];
        let outer = rest / axis.len;
        at += (rest - outer * axis.len) * axis.lengths;
        rest = outer;
    }
    return value_at(at);
}

// Whether a length is out of range, or an offset is: the first is 0, and none is smaller than the
// one before it or larger than the axis. If that one is invalid, so that it says nothing about
// this, then this one is not the first.
fn is_bad(ordinal: u32) -> bool {
    let value = checked_at(ordinal);
    if (p.kind & SIGNED) != 0u && (value.y >> 31u) != 0u { return true; }
    if p.strict != 0u && (value.y != 0u || value.x > p.limit) { return true; }
    if !OFFSETS { return false; }
    if ordinal == 0u { return value.x != 0u; }
    let before = checked_at(ordinal - 1u);
    return before.y == 0u && value.x < before.x;
}

@compute @workgroup_size(256)
fn find(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let ordinal = number(group, thread, 256u);
    if ordinal < p.count && is_bad(ordinal) { atomicMin(&report[p.report + LEAST], ordinal); }
}

@compute @workgroup_size(1)
fn conclude() {
    let worst = atomicExchange(&report[p.report + LEAST], NONE);
    atomicStore(&report[p.report + STOP], u32(worst != NONE));
    if worst == NONE || atomicLoad(&report[p.report + FAILED]) != 0u { return; }
    let value = checked_at(worst);
    var limit = p.limit;
    var low = 0u;
    if OFFSETS && worst == 0u { limit = 0u; }
    if OFFSETS && worst != 0u { low = checked_at(worst - 1u).x; }
    atomicStore(&report[p.report + FAILED], 1u);
    atomicStore(&report[p.report + ORDINAL], worst);
    atomicStore(&report[p.report + VALUE], value.x);
    atomicStore(&report[p.report + VALUE + 1u], value.y);
    atomicStore(&report[p.report + LIMIT], limit);
    atomicStore(&report[p.report + LOW], low);
    atomicStore(&report[p.report + IS_SIGNED], u32((p.kind & SIGNED) != 0u));
    atomicStore(&report[p.report + IS_OFFSET], u32(OFFSETS));
    atomicStore(&report[p.report + CALL], p.first);
}
