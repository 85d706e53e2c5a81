// heap_device.cu - what stands where kernels call malloc and free, compiled to heap_device.ptx by
// `make ptx` (clang, no toolkit needed). heap_pass.c puts it into modules.
//
// Runs as part of a tenant's kernel, on any GPU and on the software device, so it uses nothing
// newer than sm_50. To the address fence it is the tenant's own code: what a kernel may scribble
// over, these functions may follow. It reaches the heap in .global space only, for a generic store
// could mean the thread's stack.
//
// The heap's pages of 4 KiB (heap.h) are given out in two ways.
//
// - A page of blocks has blocks of one size: 1, 2, 3, 4, 6, 8 ... 85, 128 units of 16 bytes. The
//   page's state counts its blocks in use. A thread enters the page by adding 1 to the count: if
//   the page had the right size and a block to spare, then one block is the thread's, and some bit
//   of the page's map is clear for it. Else the thread takes its 1 back and goes to the next page.
//   A page whose count is 0 belongs to nobody; an exchange gives it a new size. free clears the bit
//   first and the count second, so a page without a block in use has no bit set.
// - A run is consecutive pages for more than 2 KiB. A thread looks for free pages, and makes them
//   its own one by one, upwards; if another thread was faster, it gives back what it has and goes
//   on behind. The map of the first page holds the length.
//
// No thread waits for another, so threads of a warp may run in any order. An addition to a count
// succeeds for all threads at once, where an exchange would succeed for one and be repeated by
// thousands. A thread visits each page once; if another thread was in the way, twice. So malloc may
// return NULL while the last room is being given back. Sixteen groups of SMs begin on different
// pages, so that not all meet on one word; each steps by sixteen pages, so that the heap fills from
// its beginning and long runs stay possible at its end.
//
// Of what it reads in the heap it believes nothing that could make a loop endless.
#include "ptx/rewrite/heap.h"

typedef unsigned long long u64;
typedef __attribute__((address_space(1))) unsigned global_u32;

#define DEVICE  __attribute__((device))
#define NOTHING 0xffffffffu

// A state: the kind in 8 bits, the count in 24, more than the device has threads at a time. The
// kind of a page of blocks is their size in units, at most 128.
#define KIND(state)  ((state) >> 24)
#define COUNT(state) ((state)&0xffffffu)
#define RUN          0xfeu // the first page of a run
#define TAIL         0xffu // a further page of a run, or one of a run that is being put together
#define STATE(kind)  ((kind) << 24 | 1u)

#define PAGE_UNITS  (HEAP_PAGE / HEAP_UNIT)
#define BLOCK_UNITS 128u // of the largest block
#define GROUPS      16u  // of SMs; hints are by size and group

extern "C" {
// The heap's address, and its number of pages. The worker writes it after loading; no kernel can.
__attribute__((constant)) u64 gshare$heap[2];
}

// A name of its own: it is in one module with the tenant's functions.
namespace gshare_heap
{

struct heap {
    u64 base;
    unsigned pages;
    global_u32 *hints, *states, *maps;
};

static DEVICE struct heap heap_find()
{
    struct heap h;

    h.base = gshare$heap[0];
    h.pages = (unsigned)gshare$heap[1];
    h.hints = (global_u32 *)(h.base + (u64)h.pages * HEAP_PAGE);
    h.states = h.hints + HEAP_HINTS;
    h.maps = h.states + h.pages;
    return h;
}

static DEVICE unsigned load(global_u32 *word)
{
    return *(volatile global_u32 *)word;
}

static DEVICE unsigned add(global_u32 *word, unsigned n)
{
    return __atomic_fetch_add(word, n, __ATOMIC_RELAXED);
}

static DEVICE unsigned exchange_if(global_u32 *word, unsigned is, unsigned with)
{
    __atomic_compare_exchange_n(word, &is, with, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return is;
}

// ---- A page of blocks

// A clear bit of the map, which becomes set; NOTHING: threads that free and take are in the way.
// Lanes of a warp begin at different bits, and warps at different words.
static DEVICE unsigned bit_take(global_u32 *map, unsigned most)
{
    unsigned words = (most + 31) / 32, lane = __nvvm_read_ptx_sreg_laneid();
    unsigned w = (__nvvm_read_ptx_sreg_tid_x() / 32 + __nvvm_read_ptx_sreg_ctaid_x()) % words;

#pragma unroll 1
    for (unsigned tries = 0; tries < 4 * PAGE_UNITS; tries++) {
        unsigned bits = most - w * 32, usable = bits < 32 ? (1u << bits) - 1 : ~0u;
        unsigned clear = ~load(map + w) & usable;

        if (!clear) {
            w = w + 1 == words ? 0 : w + 1;
            continue;
        }
        unsigned turned = clear >> lane | clear << (32 - lane) % 32;
        unsigned bit = (__builtin_ctz(turned) + lane) % 32;

        if (!(__atomic_fetch_or(map + w, 1u << bit, __ATOMIC_RELAXED) >> bit & 1))
            return w * 32 + bit;
    }
    return NOTHING;
}

// Makes one of the page's blocks the thread's, if it still is as in WAS.
static DEVICE bool page_enter(global_u32 *state, unsigned was, unsigned units, unsigned most)
{
    if (COUNT(was) == 0) {
        unsigned is = exchange_if(state, was, STATE(units));

        if (is == was)
            return true;
        if (KIND(is) != units || COUNT(is) >= most)
            return false;
    }
    was = add(state, 1);
    if (KIND(was) == units && COUNT(was) < most)
        return true;
    add(state, -1u);
    return false;
}

// Of all the pages, the one that comes next: by steps of GROUPS, then from the beginning, by one
// further.
static DEVICE unsigned page_next(unsigned at, unsigned pages)
{
    unsigned step = pages < GROUPS ? 1 : GROUPS;

    return at + step < pages ? at + step : (at % step + 1) % step;
}

// The hint of a group for a size: sizes double from one even number to the next.
static DEVICE unsigned hint_number(unsigned units, unsigned group)
{
    unsigned twice = 31 - __builtin_clz(units);

    return (2 * twice + ((units & (units - 1)) != 0)) * GROUPS + group;
}

// The address of a block; 0: no page has one.
static DEVICE __attribute__((noinline)) u64 block_take(unsigned units)
{
    struct heap h = heap_find();
    unsigned most = PAGE_UNITS / units, group = __nvvm_read_ptx_sreg_smid() % GROUPS;
    global_u32 *hint = h.hints + hint_number(units, group);
    unsigned hinted = load(hint), at = (hinted ? hinted : group) % h.pages;
    unsigned steps = h.pages;
    bool again = true;

#pragma unroll 1
    for (; steps; at = page_next(at, h.pages), steps--) {
        unsigned state = load(h.states + at), block = NOTHING;

        if (KIND(state) == units ? COUNT(state) >= most : COUNT(state))
            continue;
        if (page_enter(h.states + at, state, units, most)) {
            block = bit_take(h.maps + at * HEAP_MAP, most);
            if (block == NOTHING)
                add(h.states + at, -1u);
        }
        if (block != NOTHING) {
            if (at != hinted)
                *hint = at;
            return h.base + (u64)at * HEAP_PAGE + block * units * HEAP_UNIT;
        }
        steps += again ? h.pages : 0;
        again = false;
    }
    return 0;
}

// The addition waits for what the exchange of the bit returns, so nobody gets the page before its
// map is clear.
static DEVICE void block_give(const struct heap *h, unsigned at, unsigned units, unsigned offset)
{
    unsigned block = offset / (units * HEAP_UNIT), bit = 1u << block % 32;

    if (offset % (units * HEAP_UNIT) || block >= PAGE_UNITS / units)
        return;
    if (__atomic_fetch_and(h->maps + at * HEAP_MAP + block / 32, ~bit, __ATOMIC_RELAXED) & bit)
        add(h->states + at, -1u);
}

// ---- Runs

static DEVICE void run_release(global_u32 *states, unsigned n)
{
#pragma unroll 1
    while (n)
        add(states + --n, -1u);
}

// Makes N pages one run. Returns N, or how many of them come before one that is not free.
static DEVICE unsigned run_make(const struct heap *h, unsigned first, unsigned n)
{
    global_u32 *states = h->states + first;

#pragma unroll 1
    for (unsigned i = 0; i < n; i++) {
        unsigned state = load(states + i);

        if (COUNT(state) || exchange_if(states + i, state, STATE(TAIL)) != state) {
            run_release(states, i);
            return i;
        }
    }
    h->maps[first * HEAP_MAP] = n;
    __nvvm_membar_gl();
    add(states, (RUN - TAIL) << 24);
    return n;
}

// The address of N consecutive pages, aligned; 0: there are none.
static DEVICE __attribute__((noinline)) u64 run_take(unsigned n, u64 align)
{
    struct heap h = heap_find();
    global_u32 *hint = h.hints + HEAP_HINTS - 1;
    unsigned at = load(hint) % h.pages, have = 0, steps = h.pages + n;
    bool again = true;

#pragma unroll 1
    for (; steps; steps--) {
        bool free = COUNT(load(h.states + at)) == 0;
        bool begins = have || !((h.base + (u64)at * HEAP_PAGE) & (align - 1));

        have = free && begins ? have + 1 : 0;
        at++;
        if (have == n) {
            unsigned first = at - n, made = run_make(&h, first, n);

            if (made == n) {
                *hint = at;
                return h.base + (u64)first * HEAP_PAGE;
            }
            have = 0;
            at = first + made + 1;
            steps += again ? h.pages : 0;
            again = false;
        }
        if (at >= h.pages)
            at = have = 0;
    }
    return 0;
}

static DEVICE void run_give(const struct heap *h, unsigned first)
{
    unsigned n = __atomic_exchange_n(h->maps + first * HEAP_MAP, 0, __ATOMIC_RELAXED);

    if (n <= h->pages - first)
        run_release(h->states + first, n);
}

// ---- malloc and free

// Sizes of blocks: powers of two, and three quarters of them.
static DEVICE unsigned block_units(u64 size, u64 align)
{
    unsigned units = size ? (unsigned)((size + HEAP_UNIT - 1) / HEAP_UNIT) : 1;
    unsigned power = units == 1 ? 1 : 2u << (31 - __builtin_clz(units - 1));
    // A page has room for three blocks of 85 units, and only two of 96.
    unsigned less = power == BLOCK_UNITS ? PAGE_UNITS / 3 : power / 4 * 3;

    return align <= HEAP_UNIT && power >= 4 && units <= less ? less : power;
}

static DEVICE u64 take(u64 size, u64 align)
{
    u64 most = gshare$heap[1] * HEAP_PAGE, address;

    if (size > most || align > most)
        return 0;
    if (size <= BLOCK_UNITS * HEAP_UNIT && align <= BLOCK_UNITS * HEAP_UNIT)
        address = block_take(block_units(size > align ? size : align, align));
    else
        address = run_take((unsigned)((size + HEAP_PAGE - 1) / HEAP_PAGE), align);
    // Behind the fence of the thread that gave the memory back.
    __nvvm_membar_gl();
    return address;
}

} // namespace gshare_heap

using namespace gshare_heap;

extern "C" DEVICE void *gshare_heap$malloc(u64 size)
{
    return (void *)take(size, HEAP_UNIT);
}

// What __nv_aligned_device_malloc calls.
extern "C" DEVICE void *gshare_heap$aligned_malloc(u64 size, u64 align)
{
    return align & (align - 1) || !align ? nullptr : (void *)take(size, align);
}

// An address that malloc did not give, or that is free already, does nothing.
extern "C" DEVICE void gshare_heap$free(void *memory)
{
    struct heap h = heap_find();
    u64 offset = (u64)memory - h.base, page = offset / HEAP_PAGE;

    if (!memory || page >= h.pages)
        return;
    // What the thread has done with the memory, before the next thread gets it.
    __nvvm_membar_gl();
    unsigned state = load(h.states + page), within = (unsigned)(offset % HEAP_PAGE);

    if (KIND(state) == RUN && within == 0)
        run_give(&h, (unsigned)page);
    else if (KIND(state) && KIND(state) <= BLOCK_UNITS)
        block_give(&h, (unsigned)page, KIND(state), within);
}
