// The kernels compiled as C++ for the CPU, with one thread after the other, so that their results
// can be tested without a device (src/simulate.rs). Compiled as for the oldest chips: no clusters,
// no asynchronous copies.
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

struct Index {
    unsigned x;
};
static thread_local Index threadIdx, blockIdx, blockDim, gridDim;

struct uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
// Shared memory is thread-local: each CPU thread simulates one block at a time.
#define __shared__ thread_local

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned bits) {
    return (unsigned)((((unsigned long long)high << 32) | low) >> (bits & 31));
}
static inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned bits) {
    unsigned long long both = ((unsigned long long)high << 32) | low;
    return (unsigned)((both << (bits < 32 ? bits : 32)) >> 32);
}
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned order) {
    unsigned long long both = ((unsigned long long)b << 32) | a;
    unsigned result = 0;
    for (int k = 0; k < 4; ++k) result |= (unsigned)((both >> (8 * (order >> (4 * k) & 7))) & 255) << (8 * k);
    return result;
}
static inline unsigned __brev(unsigned word) {
    unsigned result = 0;
    for (int k = 0; k < 32; ++k) result |= (word >> k & 1) << (31 - k);
    return result;
}
static inline int __ffs(int word) { return __builtin_ffs(word); }
static inline void __threadfence() {}
static inline void __threadfence_system() {}
template <typename T> static T atomicMin(T* at, T value) {
    T old = *at;
    if (value < old) *at = value;
    return old;
}
template <typename T> static T atomicExch(T* at, T value) {
    T old = *at;
    *at = value;
    return old;
}
static inline unsigned atomicInc(unsigned* at, unsigned most) {
    unsigned old = *at;
    *at = old >= most ? 0 : old + 1;
    return old;
}

// Threads that wait for each other run alternately, each from one barrier to the next. A `ucontext`
// only starts a thread, which then runs the same thread of one block after the other: switching
// between contexts makes a system call each time, and `longjmp` does not.
namespace turns {
const size_t STACK = 64 * 1024, MOST = 1024;
struct Turn {
    jmp_buf here;
    bool begun, done;
};
static thread_local Turn* all;
static thread_local char* stacks;
static thread_local Turn* current;
static thread_local jmp_buf scheduler;
static thread_local void (*body)();

static void wait() {
    if (!_setjmp(current->here)) _longjmp(scheduler, 1);
}

static void begin() {
    for (;; wait()) {
        body();
        current->done = true;
    }
}

// Runs until the next barrier, or the end.
static void resume(unsigned t) {
    threadIdx.x = t;
    current = &all[t];
    if (_setjmp(scheduler)) return;
    if (current->begun) _longjmp(current->here, 1);
    current->begun = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stacks + t * STACK;
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, begin, 0);
    setcontext(&context);
}

// Frees them when the thread ends.
struct Memory {
    void* turns;
    void* stacks;
    ~Memory() {
        free(turns);
        free(stacks);
    }
};
static thread_local Memory memory;

static void run(unsigned count, void (*what)()) {
    if (!all) {
        memory.turns = all = (Turn*)calloc(MOST, sizeof(Turn));
        memory.stacks = stacks = (char*)malloc(MOST * STACK);
    }
    body = what;
    for (unsigned t = 0; t < count; ++t) all[t].done = false;
    for (bool any = true; any;) {
        any = false;
        for (unsigned t = 0; t < count; ++t) {
            if (!all[t].done) resume(t);
            any |= !all[t].done;
        }
    }
}
}  // namespace turns

static inline void __syncthreads() { turns::wait(); }
static inline void __syncwarp() { turns::wait(); }
// The lanes of a warp call it at the same time, so they are between the same two barriers.
static inline unsigned __shfl_down_sync(unsigned, unsigned value, unsigned by) {
    static thread_local unsigned values[turns::MOST];
    const unsigned from = threadIdx.x % 32 + by < 32 ? threadIdx.x + by : threadIdx.x;
    values[threadIdx.x] = value;
    turns::wait();
    const unsigned result = values[from];
    turns::wait();
    return result;
}

// Detects vectors that are read outside the input of the plan.
static void look_at(const unsigned char* vector);
// Detects blocks that would wait for others that have not run.
static void look_for(bool done);

#include "kernels.cu"

// The largest shared memory of a block, and guard bytes that no kernel may write.
const size_t SHARED = MOST_SHARED, GUARD = 1024;
thread_local uint4 staged[(SHARED + GUARD) / 16];

static thread_local const u8 *reach_begin, *reach_end;
static thread_local bool strayed, early;

static void look_at(const u8* vector) {
    const bool in_reach = vector >= reach_begin && vector + 16 <= reach_end;
    const bool is_shared = vector >= (const u8*)staged && vector < (const u8*)staged + sizeof(staged);
    strayed |= !in_reach && !is_shared;
}

static void look_for(bool done) { early |= !done; }

// Sets the range of the input for the next launches.
extern "C" void set_reach(const u8* begin, const u8* end) { reach_begin = begin, reach_end = end; }

// A kernel, with its second argument if it has one.
template <typename P>
struct Kernel {
    static thread_local void* function;
    static thread_local const P* params;
    static thread_local const Table* table;
    static void run() {
        if (table) ((void (*)(P, Table))function)(*params, *table);
        else ((void (*)(P))function)(*params);
    }
};
template <typename P> thread_local void* Kernel<P>::function;
template <typename P> thread_local const P* Kernel<P>::params;
template <typename P> thread_local const Table* Kernel<P>::table;

template <typename P>
static u32 launch(void* kernel, const P* params, const Table* table, u64 blocks, u32 threads, u32 shared, u32 waits) {
    Kernel<P>::function = kernel;
    Kernel<P>::params = params;
    Kernel<P>::table = table;
    strayed = early = false;
    gridDim.x = (u32)blocks;
    blockDim.x = threads;
    u8* guard = (u8*)staged + shared;
    for (u64 block = 0; block < blocks; ++block) {
        blockIdx.x = (u32)block;
        if (!waits) {
            for (u32 t = 0; t < threads; ++t) {
                threadIdx.x = t;
                Kernel<P>::run();
            }
            continue;
        }
        memset(staged, 0xCD, shared + GUARD);
        turns::run(threads, Kernel<P>::run);
        for (size_t k = 0; k < GUARD; ++k)
            if (guard[k] != 0xCD) return TOUCHED_SHARED;
    }
    if (early) return RAN_EARLY;
    return strayed ? READ_OUTSIDE : KEPT_APART;
}

#define LAUNCH(NAME, P)                                                                            \
    extern "C" u32 launch_##NAME(void* kernel, const P* params, const Table* table, u64 blocks,    \
                                 u32 threads, u32 shared, u32 waits) {                             \
        return launch<P>(kernel, params, table, blocks, threads, shared, waits);                   \
    }

LAUNCH(rows, Rows)
LAUNCH(segments, Segments)
LAUNCH(strided, Strided)
LAUNCH(gather, Gather)
LAUNCH(tiles, Tiles)
LAUNCH(columns, Columns)
LAUNCH(passes, Strips)
LAUNCH(packed, Packed)
LAUNCH(check, Check)
