/* heaps.c - see heaps.h. One lock, which is not held while the server is asked. */
#include "cudart/state/heaps.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "cudart/state/device.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/peer_access.h"
#include "cudart/state/stream.h"

/* The unused memory that cudaMalloc keeps: a thousandth of what the session may have, which is 137
 * MiB on an H200, but at least this. A round trip to the server takes 36 us for an allocation and a
 * free; and with the 64 MiB that Thrust allocates for a sort of as much, a third of the sort's
 * time. */
#define SPARE_LEAST ((size_t)16 << 20)
#define SPARE_SHARE 1024

struct stream_heap {
    struct block_heap blocks; /* first member: a block's arena points to it */
    struct stream_heap *next;
    unsigned pool;
    const struct ring *ring; /* of its streams; NULL: of no stream, or the ring has ended */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The heaps of each device. */
static struct device_heaps {
    struct stream_heap of_malloc;
    struct stream_heap *all;
    struct block *waiting; /* freed blocks that wait until their streams are idle */
} of_devices[DEVICES_MAX];

/* The heaps of the call's device. The lock is held. */
static struct device_heaps *heaps_here(void)
{
    struct device_heaps *here = &of_devices[device_number()];

    if (here->all == NULL)
        here->all = &here->of_malloc; /* because HEAP_OF_MALLOC is pool 0 */
    return here;
}

static struct stream_heap *heap_of(const struct block *block)
{
    return (struct stream_heap *)block->arena->heap;
}

/* ---- Rings: the lock is held ----------------------------------------------------------------- */

static bool ring_idle(const struct ring *ring)
{
    return ring == NULL || gs_stream_query(device_session(), ring->handle) == GS_OK;
}

/* Returns the blocks whose rings are idle, or are ENDED, which has ended. */
static void waiting_settle(const struct ring *ended)
{
    const struct ring *asked = NULL;
    bool idle = false;

    for (struct block **at = &heaps_here()->waiting, *block; (block = *at) != NULL;) {
        if (ended == NULL && block->order != asked) {
            asked = block->order;
            idle = ring_idle(asked);
        }
        if (ended == NULL ? idle : block->order == ended) {
            *at = block->next;
            block_heap_give(block);
        } else {
            at = &block->next;
        }
    }
}

/* ---- Taking ---------------------------------------------------------------------------------- */

/* The lock is held. NULL: no host memory. */
static struct stream_heap *heap_find(unsigned pool, const struct ring *ring)
{
    struct device_heaps *here = heaps_here();
    struct stream_heap *ended = NULL;

    for (struct stream_heap *heap = heaps_here()->all; heap != NULL; heap = heap->next) {
        if (heap->pool == pool && heap->ring == ring)
            return heap;
        if (heap->pool == pool && heap->ring == NULL)
            ended = heap;
    }
    if (ended == NULL) {
        ended = calloc(1, sizeof(*ended));
        if (ended == NULL)
            return NULL;
        ended->pool = pool;
        ended->next = here->all;
        here->all = ended;
    }
    ended->ring = ring;
    return ended;
}

static struct block *heap_take(struct stream_heap *heap, size_t size)
{
    /* An allocation from the server has exactly the requested size; one from a pool may be larger.
     */
    size_t most = heap->pool == HEAP_OF_MALLOC ? size : size + size / 4;

    return block_heap_take(&heap->blocks, size, size >= BLOCK_WHOLE, most);
}

/* Takes a block from the heap of another stream that has done all its work. The lock is held. */
static struct block *other_heap_take(const struct stream_heap *own, size_t size)
{
    struct block *block = NULL;

    waiting_settle(NULL);
    for (struct stream_heap *heap = heaps_here()->all; heap != NULL && block == NULL;
         heap = heap->next) {
        if (heap->pool == own->pool && (heap->blocks.filled != 0 || heap->blocks.wholes != NULL) &&
            ring_idle(heap->ring))
            block = heap_take(heap, size);
    }
    return block;
}

/* Has the server allocate an arena, and takes a block of it. once: the arena has exactly that size,
 * and is not kept. */
static gs_status heap_grow(struct stream_heap *heap, size_t size, bool once, struct block **block)
{
    bool whole = once || size >= BLOCK_WHOLE;
    size_t arena_size = whole ? size : SLAB_SIZE;
    gs_status status;
    gs_devptr base;

    status = peer_malloc(heap->pool, arena_size, &base);
    if (status != GS_OK)
        return status;
    if (!memory_map_add_arena(base, arena_size)) {
        peer_free(base);
        return GS_ERR_NO_MEMORY;
    }
    pthread_mutex_lock(&lock);
    *block = NULL;
    if (block_heap_add(&heap->blocks, base, arena_size, whole) != NULL) {
        *block = block_heap_take(&heap->blocks, size, whole, size);
        (*block)->arena->shared = once;
    }
    pthread_mutex_unlock(&lock);
    if (*block != NULL)
        return GS_OK;
    memory_map_remove_arena(base);
    peer_free(base);
    return GS_ERR_NO_MEMORY;
}

/* Removes an arena from its heap and returns its address, for gs_free. The lock is held. */
static gs_devptr arena_end(struct arena *arena)
{
    gs_devptr base = arena->base;

    memory_map_remove_arena(base);
    block_heap_remove(arena);
    return base;
}

#define ALL_POOLS UINT_MAX

/* Removes an unused arena of the pool; 0: there is none. The lock is held. */
static gs_devptr empty_arena_take(unsigned pool)
{
    struct arena *arena = NULL;

    for (struct stream_heap *heap = heaps_here()->all; heap != NULL && arena == NULL;
         heap = heap->next) {
        if (pool == ALL_POOLS || heap->pool == pool)
            arena = block_heap_empty(&heap->blocks);
    }
    return arena != NULL ? arena_end(arena) : 0;
}

bool heaps_give_all(void)
{
    bool given = false;
    gs_devptr base;

    if (gs_sync(device_session()) != GS_OK)
        return false;
    do {
        pthread_mutex_lock(&lock);
        waiting_settle(NULL);
        base = empty_arena_take(ALL_POOLS);
        pthread_mutex_unlock(&lock);
        if (base != 0)
            given = peer_free(base) == GS_OK;
    } while (base != 0);
    return given;
}

static bool out_of_memory(gs_status status)
{
    return status == GS_ERR_QUOTA || status == GS_ERR_NO_DEVICE_MEMORY;
}

/* The lock is held. */
static size_t pool_held(unsigned pool)
{
    size_t held = 0;

    for (const struct stream_heap *heap = heaps_here()->all; heap != NULL; heap = heap->next)
        held += heap->pool == pool ? heap->blocks.held : 0;
    return held;
}

gs_status heaps_take(unsigned pool, struct stream *stream, size_t size, struct block **block)
{
    gs_status status = GS_ERR_NO_MEMORY;
    struct stream_heap *heap;

    size = block_size_of(size);
    pthread_mutex_lock(&lock);
    heap = heap_find(pool, stream != NULL ? stream->ring : NULL);
    *block = heap != NULL ? heap_take(heap, size) : NULL;
    if (*block == NULL && heap != NULL && pool != HEAP_OF_MALLOC)
        *block = other_heap_take(heap, size);
    if (*block != NULL)
        status = GS_OK;
    pthread_mutex_unlock(&lock);
    if (*block == NULL && heap != NULL) {
        status = heap_grow(heap, size, false, block);
        if (out_of_memory(status) && heaps_give_all())
            status = heap_grow(heap, size, false, block);
        if (out_of_memory(status) &&
            size < BLOCK_WHOLE) /* there may be room for something smaller than a slab */
            status = heap_grow(heap, size, true, block);
    }
    return status;
}

/* ---- Giving back ----------------------------------------------------------------------------- */

size_t heaps_spare_most(void)
{
    const gs_session_desc *desc = &device_here()->desc;
    uint64_t limit = desc->mem_limit != 0 ? desc->mem_limit : desc->device_memory;

    return limit / SPARE_SHARE > SPARE_LEAST ? (size_t)(limit / SPARE_SHARE) : SPARE_LEAST;
}

/* Returns what cudaMalloc keeps beyond its limit to the server, the oldest arenas first. */
static gs_status spare_trim(void)
{
    const size_t most = heaps_spare_most();
    gs_status status = GS_OK;
    gs_devptr base;

    do {
        base = 0;
        pthread_mutex_lock(&lock);
        if (heaps_here()->of_malloc.blocks.empty > most)
            base = arena_end(block_heap_empty(&heaps_here()->of_malloc.blocks));
        pthread_mutex_unlock(&lock);
        if (base != 0)
            status = peer_free(base);
    } while (base != 0 && status == GS_OK);
    return status;
}

gs_status heaps_give(struct block *block, struct stream *stream)
{
    struct stream_heap *heap = heap_of(block);
    struct arena *arena = block->arena;
    gs_status status = GS_OK;
    gs_devptr base = 0;
    bool over;

    pthread_mutex_lock(&lock);
    if (stream != NULL && stream->ring != heap->ring) {
        block->order = stream->ring;
        block->next = heaps_here()->waiting;
        heaps_here()->waiting = block;
        pthread_mutex_unlock(&lock);
        return GS_OK;
    }
    block_heap_give(block);
    if (arena->out == 0 && arena->shared)
        base = arena_end(arena);
    over = heap->pool == HEAP_OF_MALLOC && heap->blocks.empty > SPARE_LEAST;
    pthread_mutex_unlock(&lock);
    if (base != 0)
        status = peer_free(base);
    return over && status == GS_OK ? spare_trim() : status;
}

uint64_t heaps_share(const struct block *block)
{
    uint64_t base;

    pthread_mutex_lock(&lock);
    block->arena->shared = true;
    base = block->arena->base;
    pthread_mutex_unlock(&lock);
    return base;
}

size_t heaps_held(unsigned pool)
{
    size_t held;

    pthread_mutex_lock(&lock);
    held = pool_held(pool);
    pthread_mutex_unlock(&lock);
    return held;
}

size_t heaps_spare(void)
{
    size_t spare;

    pthread_mutex_lock(&lock);
    spare = heaps_here()->of_malloc.blocks.empty;
    pthread_mutex_unlock(&lock);
    return spare;
}

gs_status heaps_trim(unsigned pool, size_t kept)
{
    gs_status status = GS_OK;
    gs_devptr base;

    do {
        pthread_mutex_lock(&lock);
        waiting_settle(NULL);
        base = pool_held(pool) > kept ? empty_arena_take(pool) : 0;
        pthread_mutex_unlock(&lock);
        if (base != 0)
            status = peer_free(base);
    } while (base != 0 && status == GS_OK);
    return status;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

void heaps_ring_ended(const struct ring *ring)
{
    pthread_mutex_lock(&lock);
    waiting_settle(ring);
    for (struct stream_heap *heap = heaps_here()->all; heap != NULL; heap = heap->next) {
        if (heap->ring == ring)
            heap->ring = NULL;
    }
    pthread_mutex_unlock(&lock);
}

void heaps_forget(void)
{
    pthread_mutex_lock(&lock);
    heaps_here()->waiting = NULL;
    for (struct stream_heap *heap = heaps_here()->all; heap != NULL; heap = heap->next) {
        block_heap_deinit(&heap->blocks);
        heap->ring = NULL;
    }
    pthread_mutex_unlock(&lock);
}
