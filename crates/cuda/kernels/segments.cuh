// One dimension that offsets cut into segments, each of which is reversed; what is behind the last
// offset keeps its order, and so do segments that a mask keeps. A block writes a tile, a contiguous range of the dimension. It searches
// the offsets once, all threads together, for those in its tile, which are then in shared memory.
// Of contiguous units, it writes several tiles in turn: where the offsets of the next one begin is
// known then, and they are loaded while the tile itself is.
#pragma once
#include "staged.cuh"
#include "strided.cuh"
#include "table.cuh"

// Bounds that are loaded at first, and the most of a tile.
const i32 SOME_BOUNDS = 32;
const i32 MOST_BOUNDS = SOME_BOUNDS + 4 * THREADS;

// The bounds of the segments of a tile, in shared memory.
struct Bounds {
    u64 range[2][2];  // of the search; each round writes the one that the last did not
    u64 first[2];  // the first segment, which may begin before the tile
    u64 last[2];  // the last segment, which may end after it
    i32 count;  // of segments
    u32 more;  // whether segments begin after those that are loaded
    i32 at[MOST_BOUNDS + 1];  // steps from the start of the tile, clamped to it
    // In place, what trades places, both ways.
    struct Move {
        u64 to;  // the first step there
        i32 held, bytes;  // where what goes there is staged, in reverse order
    } moves[4];
    // Twice where what becomes byte 0 of the tile is staged, if a segment is continued to there: as its
    // last bytes if it is reversed. One more if it is.
    i32 from[MOST_BOUNDS];
};

__device__ __forceinline__ Bounds& bounds() {
    __shared__ Bounds held;
    return held;
}

// A tile: steps `first` to `last`, whose segments start with number `low`.
struct Tile {
    u64 first, last, low;
    i32 count;  // of segments; 0 if there are more than shared memory holds
    i32 kept;  // from this segment on, steps keep their order: the one behind the last offset

    __device__ __forceinline__ i32 relative(u64 step) const {
        return step <= first ? 0 : (i32)((step < last ? step : last) - first);
    }

    // The segment of a step of the tile, counted from its start.
    __device__ __forceinline__ i32 segment_at(i32 step) const {
        i32 low = 0, high = count;
#pragma unroll 1
        while (high - low > 1) {
            const i32 middle = (low + high) / 2;
            if (bounds().at[middle] <= step) low = middle;
            else high = middle;
        }
        return low;
    }

    // Whether a segment is reversed.
    __device__ __forceinline__ bool back(const Lengths& offsets, i32 k) const {
        return k < kept && !stays(offsets, low + (u64)k);
    }

    // The source of a step of the tile, counted from its start. No value leads out of bounds.
    __device__ __forceinline__ u64 source(const Lengths& offsets, i32 step) const {
        const u64 t = first + (u64)step;
        if (!count) return segment_of(offsets, t, low).source(t);
        const i32 k = segment_at(step);
        if (!back(offsets, k)) return t;
        const Bounds& b = bounds();
        u64 sum = 2 * first + (u64)(b.at[k] + b.at[k + 1]);
        if (k == 0) sum = b.first[0] + b.first[1];
        else if (k == count - 1) sum = b.last[0] + b.last[1];
        const u64 from = sum - 1 - t;
        return from < offsets.limit ? from : t;
    }
};

__device__ __forceinline__ u64 bound_at(const Lengths& offsets, u64 number) {
    return number < offsets.count ? offset_at(offsets, number) : offsets.limit;
}

// The number of the last offset that is not beyond a step, by all threads of a block: each round
// divides the range by the number of threads.
__device__ __forceinline__ u64 search(const Lengths& offsets, u64 step) {
    u64 low = 0, high = offsets.count;
#pragma unroll 1
    for (u32 round = 0; high - low > 1; ++round) {
        u64(&range)[2] = bounds().range[round & 1];
        const u64 share = (high - low + THREADS - 1) / THREADS;
        const u64 mine = low + threadIdx.x * share, next = mine + share;
        if (mine < high) {
            const u64 here = threadIdx.x ? bound_at(offsets, mine) : 0;
            const u64 there = next < high ? bound_at(offsets, next) : ~0ull;
            if (here <= step && there > step) range[0] = mine, range[1] = next < high ? next : high;
        }
        __syncthreads();
        const u64 from = range[0], to = range[1];
        // Only if offsets change meanwhile.
        if (from < low || to > high || to <= from || to - from > share) break;
        low = from, high = to;
    }
    return low;
}

// Where a segment starts and ends.
struct Extent {
    u64 here, next;

    __device__ __forceinline__ Extent(const Lengths& offsets, u64 number)
        : here(bound_at(offsets, number)), next(bound_at(offsets, number + 1)) {}
};

// The extents of the first segments of a tile, one per thread.
__device__ __forceinline__ Extent first_extents(const Lengths& offsets, u64 low) {
    const u64 thread = threadIdx.x;
    return Extent(offsets, low + (thread < SOME_BOUNDS ? thread : SOME_BOUNDS - 1));
}

// The tile from step `first` to `last`, with its bounds, from the first extents on. If there are too many
// for shared memory and MAY_END, it ends at the last one that is there.
template <bool MAY_END = false>
__device__ __forceinline__ Tile tile_of(const Lengths& offsets, u64 low, Extent extent, u64 first, u64 last) {
    Tile tile = {first, last, low, 0, 0};
    const u64 segments = offsets.count - 1 - low;
    tile.kept = segments < (u64)MOST_BOUNDS ? (i32)segments : MOST_BOUNDS;
    Bounds& b = bounds();
#pragma unroll 1
    for (i32 begin = 0, size = SOME_BOUNDS; begin < MOST_BOUNDS; begin += size, size = THREADS) {
        const i32 thread = (i32)threadIdx.x, k = begin + thread;
        if (begin > 0) {
            __syncthreads();
            extent = Extent(offsets, low + (u64)k);
        }
        if (thread < size) {
            const u64 here = extent.here, next = extent.next;
            b.at[k] = tile.relative(here);
            if (k == 0) b.first[0] = here < first ? here : first, b.first[1] = next > first ? next : first;
            if (next >= last && (k == 0 || here < last)) b.count = k + 1, b.last[0] = here, b.last[1] = next;
            if (thread == size - 1) b.at[k + 1] = tile.relative(next), b.more = next < last;
        }
        __syncthreads();
        if (!b.more) {
            // Out of range only if offsets change meanwhile.
            tile.count = b.count < 1 ? 1 : b.count > begin + size ? begin + size : b.count;
            break;
        }
    }
    if constexpr (MAY_END) {
        // Not if nothing but empty segments are there.
        const i32 end = b.at[MOST_BOUNDS];
        if (tile.count || end == 0) return tile;
        tile.last = first + (u64)end, tile.count = MOST_BOUNDS;
        if (threadIdx.x == 0) {
            const Extent extent(offsets, low + (u64)(MOST_BOUNDS - 1));
            b.last[0] = extent.here, b.last[1] = extent.next;
        }
        __syncthreads();
    }
    return tile;
}

template <typename T>
__device__ __forceinline__ void swap_units(T* here, T* there) {
    const T v = *here, w = *there;
    *here = w;
    *there = v;
}

// Contiguous units of W bytes. The source of a tile is contiguous except for the segments that
// begin before it and end after it, so it is staged as three ranges, in each of which segments are
// mirrored within the tile.
//
// SWAP: in place. Of the first segment and of the last, a tile moves only the steps of the lower half
// that are in it, and their mirror images, wherever these are: no other tile moves any of them. Both
// are staged, so there are five ranges.
//
// TABLE: what is reversed is looked up.
template <int W, bool SWAP, bool TABLE>
struct StagedTile {
    const Segments& p;
    const Tile& tile;
    i32 origin[3];  // of the first segment, of the last one, and of those between
    i32 begin, end;  // the segments between, in steps from the start of the tile

    static const i32 TILE = SWAP ? SWAP_TILE_BYTES : TILE_BYTES;
    // Dynamic shared memory.
    static const i32 MOST = SWAP ? STAGED_SWAP_TILE : STAGED_TILE;

    __device__ __forceinline__ StagedTile(const Segments& p, const Tile& tile) : p(p), tile(tile) {}

    __device__ __forceinline__ bool back(i32 k) const { return tile.back(p.lengths, k); }

    __device__ __forceinline__ i32 stage(u32& room, const u8* in, u64 unit, i32 units) {
        if (units <= 0) return 0;
        const u32 bytes = (u32)units * W;
        const u32 held = stage_range<THREADS>(p.src_begin, p.src_end, p.policy, room, in + unit * W, bytes, threadIdx.x);
        room += room_for(bytes);
        return (i32)held;
    }

    __device__ __forceinline__ void stage_all(const u8* in) {
        const Bounds& b = bounds();
        const i32 all = (i32)(tile.last - tile.first), last = tile.count - 1;
        begin = back(0) ? tile.relative(b.first[1]) : 0;
        end = last == 0 || !back(last) ? all : tile.relative(b.last[0]);
        if (end < begin) end = begin;
        u64 stop = b.last[1];
        if (stop < tile.last || stop > p.lengths.limit) stop = tile.last;
        u32 room = MARGIN;
        origin[0] = stage(room, in, b.first[0] + b.first[1] - tile.first - (u64)begin, begin);
        origin[2] = stage(room, in, tile.first + (u64)begin, end - begin) - begin * W;
        origin[1] = stage(room, in, stop - (u64)(all - end), all - end) - end * W;
    }

    // Stages the steps from `low` on of a segment that trade places with their mirror images, and these.
    // What becomes of both are two moves, from number `k` on.
    __device__ __forceinline__ void trade(u32& room, const u8* in, u64 start, u64 stop, i32 low, i32 k) {
        const u64 from = tile.first + (u64)low, middle = start + (stop - start) / 2;
        const u64 to = middle < tile.last ? middle : tile.last;
        const i32 count = to > from ? (i32)(to - from) : 0;
        const u64 mirror = start + stop - from - (u64)count;
        const i32 held_low = stage(room, in, from, count), held_high = stage(room, in, mirror, count);
        if (threadIdx.x > 0) return;
        bounds().moves[k] = {from, held_high, count * W};
        bounds().moves[k + 1] = {mirror, held_low, count * W};
    }

    // What is not reversed stays where it is.
    __device__ __forceinline__ void stage_swaps(const u8* in) {
        const Bounds& b = bounds();
        const i32 count = tile.count - 1;
        u32 room = MARGIN;
        if (threadIdx.x < 4) bounds().moves[threadIdx.x].bytes = 0;
        // Before one thread stores what it knows.
        __syncwarp();
        begin = end = tile.relative(b.first[1]);
        if (tile.kept == 0) return;
        if (back(0)) trade(room, in, b.first[0], b.first[1], 0, 0);
        if (count == 0) return;
        end = count >= tile.kept ? b.at[tile.kept] : tile.relative(b.last[0]);
        if (end < begin) end = begin;
        origin[2] = stage(room, in, tile.first + (u64)begin, end - begin) - begin * W;
        // Out of order only if offsets are invalid, and the call does not stop.
        if (back(count) && b.last[0] == tile.first + (u64)end && b.last[1] >= b.last[0])
            trade(room, in, b.last[0], b.last[1], end, 2);
    }

    // Writes what trades places.
    __device__ __forceinline__ void put_moves(u8* out) const {
#pragma unroll 1
        for (i32 k = 0; k < 4; ++k) {
            const Bounds::Move move = bounds().moves[k];
            if (move.bytes == 0) continue;
            const typename Vectors<W>::Line line(move.held, move.bytes, true, 0);
            Vectors<W>::template put<THREADS>(out + move.to * W, line, line, move.bytes, move.bytes);
        }
    }

    // Stores where the segments of the tile are staged, for the other threads.
    __device__ __forceinline__ void tell() const {
        Bounds& b = bounds();
#pragma unroll 1
        for (i32 k = (i32)threadIdx.x; k < tile.count; k += THREADS) {
            const bool turns = back(k);
            i32 at = origin[2];
            if (!SWAP && turns && k == tile.count - 1) at = origin[1];
            if (!SWAP && turns && k == 0) at = origin[0];
            b.from[k] = turns ? 2 * (at + (b.at[k] + b.at[k + 1]) * W - 16) + 1 : 2 * at;
        }
    }

    // Sixteen bytes from `to` on, as if all of them belonged to a segment.
    __device__ __forceinline__ uint4 sixteen(i32 k, i32 to) const {
        const i32 from = bounds().from[k];
        const bool turns = from & 1;
        i32 at = (from >> 1) + (turns ? -to : to);
        // Only if offsets are invalid, and the call does not stop.
        at = at < 0 ? 0 : at > MOST - 32 ? MOST - 32 : at;
        const uint4* low = staged + ((u32)at >> 4);
        const uint4 v = turned<W>(low[0], low[1], (u32)at & 15, turns);
        return TABLE && turns ? looked_up(v) : v;
    }

    // Where the segment ends; the last one has no end.
    __device__ __forceinline__ i32 end_of(i32 k) const {
        return k + 1 < tile.count ? bounds().at[k + 1] * W : 1 << 30;
    }

    // Writes the bytes from `low` up to `end`, counted from the start of the tile; those of a warp are
    // contiguous.
    __device__ __forceinline__ void put(u8* out, i32 low, i32 end) const {
        const i32 warp = (i32)(threadIdx.x / 32), lane = (i32)(threadIdx.x & 31);
        i32 to = low - (i32)((u64)(out + low) & 15) + warp * (TILE / (THREADS / 32));
        // The same in all threads of a warp, which then go on from there.
        i32 k = tile.segment_at((to < low ? low : to) / W);
        to += lane * 16;
#pragma unroll 1
        for (i32 j = 0; j < TILE / (THREADS * 16); ++j, to += 512) {
            if (to >= end) return;
            const i32 from = to < low ? low : to, high = to + 16 < end ? to + 16 : end;
            i32 edge = end_of(k);
#pragma unroll 1
            while (edge <= from) edge = end_of(++k);
            uint4 v = sixteen(k, to);
#pragma unroll 1
            for (i32 next = k; edge < high; edge = end_of(next)) {
                ++next;
                // Bytes of earlier segments are kept.
                v = joined(v, sixteen(next, to), edge - to);
            }
            if (to >= low && high == to + 16) store16(out + to, v);
            else store_some<W>(out + to, v, low - to, high - to);
        }
    }
};

template <int W, bool SWAP, bool TABLE = false>
__device__ __forceinline__ void segments_rows(const Segments& p) {
    typedef typename Word<W>::T T;
    typedef StagedTile<W, SWAP, TABLE> Held;
    const u64 lane = divide(blockIdx.x, p.blocks);
    const Place at = place(p.outer, lane);
    const u8* in = p.src + at.src;
    u8* out = p.dst + at.dst;
    // Tiles begin at vector boundaries of the output.
    i64 begin = (i64)((blockIdx.x - lane * p.blocks.len) * p.run) * Held::TILE - (i64)((u64)out & 15);
    const i64 bytes = (i64)p.steps * W, all = begin + (i64)p.run * Held::TILE, stop = all < bytes ? all : bytes;
    i64 first = begin < 0 ? 0 : begin;
    if (first >= stop) return;
    u64 low = search(p.lengths, (u64)(first / W));
    Extent extent = first_extents(p.lengths, low);
    bool checked = false;
#pragma unroll 1
    for (;;) {
        const i64 most = begin + Held::TILE < stop ? begin + Held::TILE : stop;
        const Tile tile = tile_of<true>(p.lengths, low, extent, (u64)(first / W), (u64)(most / W));
        const i64 last = (i64)tile.last * W;
        const i32 end = (i32)(last - first);
        Held held(p, tile);
        if (tile.count) {
            if constexpr (SWAP) held.stage_swaps(in);
            else held.stage_all(in);
            held.tell();
        }
        if (last < stop) {
            // The last segment of this tile, or an empty one, is the first of the next. Beyond the
            // last offset only if offsets change meanwhile.
            if (tile.count) low += (u64)(tile.count - 1);
            if (low >= p.lengths.count) low = p.lengths.count - 1;
            extent = first_extents(p.lengths, low);
        }
        if (!checked && stopped(p.lengths)) {
            // Of a new output, the input as it is: what is staged is undefined if offsets are invalid.
#pragma unroll 1
            for (i64 k = first + (i64)threadIdx.x * W; !SWAP && p.lengths.copies && k < stop; k += THREADS * W)
                *(T*)(out + k) = *(const T*)(in + k);
            return;
        }
        checked = true;
        if (tile.count) {
            wait_for_copies();
            if constexpr (SWAP) {
                if (held.begin < held.end) held.put(out + first, held.begin * W, held.end * W);
                held.put_moves(out);
            } else {
                held.put(out + first, 0, end);
            }
        } else {
            // Nothing but empty segments at first, unit by unit.
#pragma unroll 1
            for (i32 k = (i32)threadIdx.x; k < end / W; k += THREADS) {
                T* here = (T*)(out + first) + k;
                if constexpr (TABLE) {
                    const u64 t = tile.first + (u64)k;
                    const Segment s = segment_of(p.lengths, t, tile.low);
                    const u8 v = in[s.source(t)];
                    *here = s.kept ? v : (u8)looked_up(v);
                    continue;
                }
                const u64 from = tile.source(p.lengths, k);
                if constexpr (SWAP) {
                    if (from > tile.first + (u64)k) swap_units(here, (T*)(out + from * W));
                } else {
                    *here = *(const T*)(in + from * W);
                }
            }
        }
        if (last >= stop) return;
        // A tile that ended early may do so inside a vector, which the next one begins with.
        first = last, begin = last - (i64)((u64)(out + last) & 15);
        if (!tile.count) {
            low = search(p.lengths, (u64)(first / W));
            extent = first_extents(p.lengths, low);
        }
        __syncthreads();
    }
}

// A piece: the step that it belongs to, and its number there.
struct PieceOf {
    u32 step;
    i64 part;

    __device__ __forceinline__ PieceOf(const Segments& p, i32 number) {
        step = divide32((u32)number, p.pieces);
        part = number - (i32)(step * (u32)p.pieces.len);
    }
};

template <typename T>
__device__ __forceinline__ void put_piece(u8* to, T v) { *(T*)to = v; }
__device__ __forceinline__ void put_piece(u8* to, uint4 v) { store16(to, v); }

// A block's pieces, so many that its size says, counted from the start of its first step.
template <i32 SIZE>
struct BlockOf {
    u64 lane, first;  // lane and step
    i32 begin, count;

    __device__ __forceinline__ BlockOf(const Segments& p) {
        lane = divide(blockIdx.x, p.blocks);
        const u64 all = p.steps * p.pieces.len, start = (blockIdx.x - lane * p.blocks.len) * SIZE;
        first = divide(start, p.pieces);
        begin = (i32)(start - first * p.pieces.len);
        count = all - start < SIZE ? (i32)(all - start) : SIZE;
    }

    __device__ __forceinline__ Tile tile(const Segments& p) const {
        const u64 low = search(p.lengths, first);
        return tile_of(p.lengths, low, first_extents(p.lengths, low), first,
                       first + divide32((u32)(begin + count - 1), p.pieces) + 1);
    }
};

// Units of pieces of G bytes with any steps between them.
template <int G>
__device__ __forceinline__ void segments_blocks(const Segments& p) {
    typedef typename Word<G>::T T;
    const BlockOf<THREADS * SPREAD> block(p);
    const Tile tile = block.tile(p);
    const Place at = place(p.outer, block.lane);
    const u8* in = kept(p.src, p.policy) + at.src;
    u8* out = p.dst + at.dst;
    T v[SPREAD];
#pragma unroll
    for (int k = 0; k < SPREAD; ++k) {
        const i32 i = (i32)threadIdx.x + k * THREADS;
        if (i >= block.count) continue;
        const PieceOf piece(p, block.begin + i);
        v[k] = *(const T*)(in + (i64)tile.source(p.lengths, (i32)piece.step) * p.src_step + piece.part * G);
    }
    if (stopped(p.lengths)) return;
#pragma unroll
    for (int k = 0; k < SPREAD; ++k) {
        const i32 i = (i32)threadIdx.x + k * THREADS;
        if (i >= block.count) continue;
        // Computed again, which takes fewer registers.
        const PieceOf piece(p, block.begin + i);
        put_piece(out + (i64)(block.first + piece.step) * p.dst_step + piece.part * G, v[k]);
    }
}

// The same in place: a thread swaps pieces of the lower half of a segment with their mirror images.
template <int G>
__device__ __forceinline__ void segments_swap(const Segments& p) {
    typedef typename Word<G>::T T;
    const BlockOf<THREADS * SPREAD> block(p);
    const Tile tile = block.tile(p);
    u8* out = p.dst + place(p.outer, block.lane).dst;
    if (stopped(p.lengths)) return;
#pragma unroll 1
    for (i32 i = (i32)threadIdx.x; i < block.count; i += THREADS) {
        const PieceOf piece(p, block.begin + i);
        const u64 t = block.first + piece.step, source = tile.source(p.lengths, (i32)piece.step);
        if (source <= t) continue;
        T* here = (T*)(out + (i64)t * p.dst_step + piece.part * G);
        T* there = (T*)(out + (i64)source * p.dst_step + piece.part * G);
        swap_units(here, there);
    }
}

// Units at any alignment that are so wide that a warp stages pieces of one, and in place those of two
// that trade places. In place, both addresses are the same, which they never are otherwise.
KERNEL_BY(128, 10) segments_units(const __grid_constant__ Segments p) {
    const BlockOf<STAGED_PIECES> block(p);
    const Tile tile = block.tile(p);
    const Place at = place(p.outer, block.lane);
    const bool swap = p.src == p.dst;
    const u8* in = p.src + at.src;
    u8* out = p.dst + at.dst;
    if (stopped(p.lengths)) return;
    const u32 half = room_for(STAGED_PIECE), room = MARGIN + threadIdx.x / 32 * 2 * half, lane = threadIdx.x & 31;
#pragma unroll 1
    for (i32 i = (i32)(threadIdx.x / 32); i < block.count; i += THREADS / 32) {
        const PieceOf piece(p, block.begin + i);
        const u64 t = block.first + piece.step, from = tile.source(p.lengths, (i32)piece.step);
        if (swap && from <= t) continue;
        const u64 begin = (u64)piece.part * p.piece, left = p.unit - begin;
        const u32 bytes = (u32)(left < p.piece ? left : p.piece);
        const u8* there = in + (i64)from * p.src_step + begin;
        u8* here = out + (i64)t * p.dst_step + begin;
        // What was staged before has been read by all lanes.
        __syncwarp();
        const u32 held = stage_range<32>(p.src_begin, p.src_end, p.policy, room, there, bytes, lane);
        u32 other = 0;
        if (swap) other = stage_range<32>(p.src_begin, p.src_end, p.policy, room + half, here, bytes, lane);
        wait_for_own_copies();
        __syncwarp();
        put_forward(here, (i32)held, (i32)bytes);
        if (swap) put_forward((u8*)there, (i32)other, (i32)bytes);
    }
}

// Any plan: one piece per thread, which searches all offsets.
template <int G>
__device__ __forceinline__ void segments_strided(const Strided& p) {
    typedef typename Word<G>::T T;
    u64 thread = thread_index();
    if (thread >= p.threads || stopped(p.lengths)) return;
    const Place at = place(p.loops, thread);
    const u64 from = segment_of(p.lengths, at.step).source(at.step);
    const bool swap = p.src == p.dst;
    if (swap && from <= at.step) return;
    T* here = (T*)(p.dst + at.dst);
    T* there = (T*)(p.src + at.src + (i64)from * p.loops.axis[p.loops.prefix].src);
    const T v = *there;
    if (swap) *there = *here;
    *here = v;
}

KERNEL_BY(128, 9) segments_rows_table_1(const __grid_constant__ Segments p, const __grid_constant__ Table table) {
    keep(table);
    segments_rows<1, false, true>(p);
}

#define SEGMENTS_ROWS(W)                                                                                         \
    KERNEL_BY(128, 9) segments_rows_##W(const __grid_constant__ Segments p) { segments_rows<W, false>(p); }      \
    KERNEL_BY(128, 6) segments_rows_swap_##W(const __grid_constant__ Segments p) { segments_rows<W, true>(p); }
#define SEGMENTS(G)                                                                                              \
    KERNEL_BY(128, 10) segments_blocks_##G(const __grid_constant__ Segments p) { segments_blocks<G>(p); }        \
    KERNEL_BY(128, 12) segments_swap_##G(const __grid_constant__ Segments p) { segments_swap<G>(p); }            \
    KERNEL(256) segments_strided_##G(const __grid_constant__ Strided p) { segments_strided<G>(p); }

SEGMENTS_ROWS(1) SEGMENTS_ROWS(2) SEGMENTS_ROWS(4) SEGMENTS_ROWS(8) SEGMENTS_ROWS(16)
SEGMENTS(1) SEGMENTS(2) SEGMENTS(4) SEGMENTS(8) SEGMENTS(16)
