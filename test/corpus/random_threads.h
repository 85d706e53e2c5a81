/* random_threads.h - of random.h: what threads of a warp and of a block do together, and the
 * comparison of a kernel's results.
 *
 * On the host, the threads of a block are coroutines of one thread. One that comes to a barrier or
 * to an operation of its warp gives way until those that it waits for have come, too. */
#ifndef GS_TEST_CORPUS_RANDOM_THREADS_H
#define GS_TEST_CORPUS_RANDOM_THREADS_H

#ifndef DEVICE_CODE
#include <ucontext.h>

enum { MOST_THREADS = 256, STACK = 64 * 1024 };
struct random_thread {
    ucontext_t context;
    u32 id, waits_for; /* the lanes of an operation of its warp; 0: none */
    bool at_barrier, ended;
    u64 given, others[32];
};
static struct {
    struct random_thread *now, all[MOST_THREADS];
    ucontext_t scheduler;
    u32 block, count, said_yes; /* at the last barrier */
    void (*body)(const u64 *, u64 *, u8 *, struct given);
    const u64 *in;
    u64 *out;
    u8 *memory;
    struct given given;
    char *stacks;
} threads;

static void random_wait(void)
{
    swapcontext(&threads.now->context, &threads.scheduler);
}

static void random_begin(void)
{
    threads.body(threads.in, threads.out, threads.memory, threads.given);
    threads.now->ended = true;
    random_wait();
}

/* Lets those go on that have met in an operation of their warp. */
static bool random_meet(void)
{
    bool met = false;

    for (u32 i = 0; i < threads.count; i++) {
        struct random_thread *warp = &threads.all[i / 32 * 32];
        u32 mask = threads.all[i].waits_for, here = 0;

        for (u32 k = 0; k < 32; k++)
            here |= (u32)(mask && warp[k].waits_for == mask) << k;
        if (!mask || (here & mask) != mask)
            continue;
        met = true;
        for (u32 k = 0; k < 32; k++)
            for (u32 j = 0; mask >> k & 1 && j < 32; j++)
                warp[k].others[j] = mask >> j & 1 ? warp[j].given : 0;
        for (u32 k = 0; k < 32; k++)
            if (mask >> k & 1)
                warp[k].waits_for = 0;
    }
    return met;
}

static void random_block(u32 block)
{
    u32 left = threads.count;

    threads.block = block;
    for (u32 i = 0; i < MOST_THREADS; i++) {
        struct random_thread *t = &threads.all[i];

        *t = (struct random_thread){.id = i, .ended = i >= left};
        getcontext(&t->context);
        t->context.uc_stack.ss_sp = threads.stacks + (size_t)i * STACK;
        t->context.uc_stack.ss_size = STACK;
        makecontext(&t->context, random_begin, 0);
    }
    while (left) {
        for (u32 i = 0; i < threads.count; i++) {
            threads.now = &threads.all[i];
            if (threads.now->ended || threads.now->at_barrier || threads.now->waits_for)
                continue;
            swapcontext(&threads.scheduler, &threads.now->context);
            left -= threads.now->ended;
        }
        if (!left || random_meet())
            continue;
        for (u32 i = 0; i < threads.count; i++)
            if (threads.all[i].waits_for)
                corpus_fail("thread %u waits in vain: the program is wrong", i);
        threads.said_yes = 0;
        for (u32 i = 0; i < threads.count; i++) {
            threads.said_yes += threads.all[i].at_barrier && threads.all[i].given;
            threads.all[i].at_barrier = false;
        }
    }
}

static inline const u64 *meet(u32 mask, u64 given)
{
    threads.now->given = given;
    threads.now->waits_for = mask;
    random_wait();
    return threads.now->others;
}
static inline u32 meet_all(bool yes)
{
    threads.now->given = yes;
    threads.now->at_barrier = true;
    random_wait();
    return threads.said_yes;
}
#endif

/* clang-format off: a line for each */
/* ---- Of a warp, by lanes that MASK names; and of a block ---- */

#define LANE (TID & 31)
INLINE u32 pick(u32 mask, u32 n) /* the lane of one of the bits */
{
    for (n %= popc_u32(mask); n; n--)
        mask &= mask - 1;
    return ffs_u32(mask) - 1;
}
INLINE void sync_block(void)
{
    SIDES(__syncthreads(), meet_all(false));
}
INLINE u32 count_block(bool yes)
{
    return SIDES((u32)__syncthreads_count(yes), meet_all(yes));
}
INLINE u32 any_block(bool yes)
{
    return SIDES(__syncthreads_or(yes) != 0, meet_all(yes) != 0);
}

INLINE void sync_warp(u32 mask)
{
    SIDES(__syncwarp(mask), meet(mask, 0));
}
INLINE u32 shfl_u32(u32 mask, u32 v, u32 lane)
{
    return SIDES(__shfl_sync(mask, v, (int)lane), (u32)meet(mask, v)[lane & 31]);
}
INLINE u64 shfl_u64(u32 mask, u64 v, u32 lane)
{
    return SIDES(__shfl_sync(mask, v, (int)lane), meet(mask, v)[lane & 31]);
}
INLINE f64 shfl_f64(u32 mask, f64 v, u32 lane)
{
    return SIDES(__shfl_sync(mask, v, (int)lane), double_of(meet(mask, bits_f64(v))[lane & 31]));
}
/* Of whole warps: */
INLINE u32 shfl_xor(u32 mask, u32 v, u32 n)
{
    return SIDES(__shfl_xor_sync(mask, v, (int)(n & 31)), (u32)meet(mask, v)[LANE ^ (n & 31)]);
}
INLINE u64 shfl_up8(u32 mask, u64 v, u32 n)
{
    n &= 7;
    return SIDES(__shfl_up_sync(mask, v, n, 8), meet(mask, v)[(LANE & 7) < n ? LANE : LANE - n]);
}
INLINE u32 shfl_down16(u32 mask, u32 v, u32 n)
{
    n &= 15;
    return SIDES(__shfl_down_sync(mask, v, n, 16),
                 (u32)meet(mask, v)[(LANE & 15) + n > 15 ? LANE : LANE + n]);
}
#ifdef DEVICE_CODE
INLINE u32 ballot(u32 mask, bool v)
{
    return __ballot_sync(mask, v);
}
INLINE u32 any(u32 mask, bool v)
{
    return __any_sync(mask, v) != 0;
}
INLINE u32 all(u32 mask, bool v)
{
    return __all_sync(mask, v) != 0;
}
INLINE u32 match_u32(u32 mask, u32 v)
{
    return __match_any_sync(mask, v);
}
INLINE u32 match_u64(u32 mask, u64 v)
{
    return __match_any_sync(mask, v);
}
#if __CUDA_ARCH__ >= 800
INLINE u32 reduce_add(u32 mask, u32 v)
{
    return __reduce_add_sync(mask, v);
}
INLINE i32 reduce_max(u32 mask, i32 v)
{
    return __reduce_max_sync(mask, v);
}
INLINE u32 reduce_xor(u32 mask, u32 v)
{
    return __reduce_xor_sync(mask, v);
}
#else
#define REDUCE(T, name, op)                                                                        \
    INLINE T name(u32 mask, T v)                                                                   \
    {                                                                                              \
        T d = __shfl_sync(mask, v, __ffs((int)mask) - 1);                                          \
        for (u32 m = mask & (mask - 1); m; m &= m - 1) {                                           \
            T x = __shfl_sync(mask, v, __ffs((int)m) - 1);                                         \
            d = op;                                                                                \
        }                                                                                          \
        return d;                                                                                  \
    }
REDUCE(u32, reduce_add, d + x)
REDUCE(i32, reduce_max, d > x ? d : x)
REDUCE(u32, reduce_xor, d ^ x)
#endif
#else
#define OVER(T, first, op)                                                                         \
    const u64 *of = meet(mask, (u64)v);                                                            \
    T d = first;                                                                                   \
    for (u32 i = 0; i < 32; i++) {                                                                 \
        T x = (T)of[i];                                                                            \
        if (mask >> i & 1)                                                                         \
            d = op;                                                                                \
    }                                                                                              \
    return d
static inline u32 ballot(u32 mask, bool v)
{
    OVER(u32, 0, d | x << i);
}
static inline u32 any(u32 mask, bool v)
{
    return ballot(mask, v) != 0;
}
static inline u32 all(u32 mask, bool v)
{
    return ballot(mask, v) == mask;
}
static inline u32 match_u32(u32 mask, u32 v)
{
    OVER(u32, 0, d | (u32)(x == v) << i);
}
static inline u32 match_u64(u32 mask, u64 v)
{
    OVER(u32, 0, d | (u32)(of[i] == v) << i);
}
static inline u32 reduce_add(u32 mask, u32 v)
{
    OVER(u32, 0, d + x);
}
static inline i32 reduce_max(u32 mask, i32 v)
{
    OVER(i32, INT32_MIN, d > x ? d : x);
}
static inline u32 reduce_xor(u32 mask, u32 v)
{
    OVER(u32, 0, d ^ x);
}
#endif

/* To shared memory from global memory, both the thread's own. */
INLINE void copy_async(u8 *to, const u8 *from)
{
#if defined(DEVICE_CODE) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\n\tcp.async.wait_all;"
                 :
                 : "r"((u32)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    memcpy(to, from, 16);
#endif
}

/* ---- Atomics: of shared words whose order does not count, or with the old value of one's own ----
 */
#ifdef DEVICE_CODE
INLINE void tally_add(u32 *p, u32 v)
{
    atomicAdd(p, v);
}
INLINE void tally_add64(u64 *p, u64 v)
{
    atomicAdd(p, v);
}
INLINE void tally_xor(u32 *p, u32 v)
{
    atomicXor(p, v);
}
INLINE void tally_or(u64 *p, u64 v)
{
    atomicOr(p, v);
}
INLINE void tally_max(i32 *p, i32 v)
{
    atomicMax(p, v);
}
INLINE void tally_min(u64 *p, u64 v)
{
    atomicMin(p, v);
}
INLINE void tally_loop(u64 *p, u64 v) /* as in lock-free code */
{
    u64 old = *(volatile u64 *)p, seen;
    while ((seen = atomicCAS(p, old, old + v)) != old)
        old = seen;
}
INLINE u32 own_add(u32 *p, u32 v)
{
    return atomicAdd(p, v);
}
INLINE u32 own_exch(u32 *p, u32 v)
{
    return atomicExch(p, v);
}
INLINE u32 own_cas(u32 *p, u32 c, u32 v)
{
    return atomicCAS(p, c, v);
}
INLINE u32 own_inc(u32 *p, u32 v)
{
    return atomicInc(p, v);
}
INLINE u32 own_dec(u32 *p, u32 v)
{
    return atomicDec(p, v);
}
INLINE u64 own_and(u64 *p, u64 v)
{
    return atomicAnd(p, v);
}
INLINE u64 own_cas64(u64 *p, u64 c, u64 v)
{
    return atomicCAS(p, c, v);
}
INLINE u32 own_cas16(u16 *p, u16 c, u16 v)
{
    return atomicCAS(p, c, v);
}
#else
static inline void tally_add(u32 *p, u32 v)
{
    *p += v;
}
static inline void tally_add64(u64 *p, u64 v)
{
    *p += v;
}
static inline void tally_xor(u32 *p, u32 v)
{
    *p ^= v;
}
static inline void tally_or(u64 *p, u64 v)
{
    *p |= v;
}
static inline void tally_max(i32 *p, i32 v)
{
    *p = *p > v ? *p : v;
}
static inline void tally_min(u64 *p, u64 v)
{
    *p = *p < v ? *p : v;
}
static inline void tally_loop(u64 *p, u64 v)
{
    *p += v;
}
#define OLD(T, value)                                                                              \
    T old = *p;                                                                                    \
    *p = value;                                                                                    \
    return old
static inline u32 own_add(u32 *p, u32 v)
{
    OLD(u32, old + v);
}
static inline u32 own_exch(u32 *p, u32 v)
{
    OLD(u32, v);
}
static inline u32 own_cas(u32 *p, u32 c, u32 v)
{
    OLD(u32, old == c ? v : old);
}
static inline u32 own_inc(u32 *p, u32 v)
{
    OLD(u32, old >= v ? 0 : old + 1);
}
static inline u32 own_dec(u32 *p, u32 v)
{
    OLD(u32, old == 0 || old > v ? v : old - 1);
}
static inline u64 own_and(u64 *p, u64 v)
{
    OLD(u64, old & v);
}
static inline u64 own_cas64(u64 *p, u64 c, u64 v)
{
    OLD(u64, old == c ? v : old);
}
static inline u32 own_cas16(u16 *p, u16 c, u16 v)
{
    OLD(u16, old == c ? v : old);
}
#endif
/* clang-format on */

#ifndef DEVICE_CODE
/* One kernel on both sides: words of all threads, and the memory behind them. */
static inline void random_compare(const char *name,
                                  void (*body)(const u64 *, u64 *, u8 *, struct given), u32 blocks,
                                  struct size3 block)
{
    enum { IN = 64, OWN = 64, COMMON = 256 };
    u32 count = block.x * block.y * block.z;
    size_t n = (size_t)blocks * count, bytes = n * OWN + COMMON;
    u64 *in = scratch(IN * 8), *want = scratch(n * 8), *got = scratch(n * 8);
    u8 *memory = scratch(bytes), *left = scratch(bytes);

    for (u32 i = 0; i < IN; i++)
        in[i] = (u64)random_u32() << 32 | random_u32();
    for (u32 i = 0; i < sizeof threads.given; i++)
        ((u8 *)&threads.given)[i] = (u8)random_u32();
    device_ptr din = upload(in, IN * 8), dout = zeros(n * 8), dmemory = zeros(bytes);
    launch(name, (struct size3){blocks, 1, 1}, block, 0,
           ARGS(&din, &dout, &dmemory, &threads.given));
    download(got, dout, n * 8);
    download(left, dmemory, bytes);
    threads.stacks = scratch((size_t)MOST_THREADS * STACK);
    threads.body = body;
    threads.count = count;
    threads.in = in;
    threads.out = want;
    threads.memory = memory;
    for (u32 i = 0; i < blocks; i++)
        random_block(i);
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            corpus_fail("%s: thread %zu has %016llx, not %016llx", name, i, got[i], want[i]);
    for (size_t i = 0; i < bytes; i++)
        if (left[i] != memory[i])
            corpus_fail("%s: byte %zu of memory is %02x, not %02x", name, i, left[i], memory[i]);
}
#endif

#endif
