/* segment_pool.c - see segment_pool.h. */
#include "server/base/segment_pool.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "common/segment.h"
#include "common/wire.h"

/* The supervisor's attachment and the worker's. */
#define ATTACHED_OURS 2u

static bool attached_elsewhere(const struct pooled_segment *segment)
{
    struct shmid_ds ds;

    return shmctl(segment->id, IPC_STAT, &ds) < 0 || ds.shm_nattch != ATTACHED_OURS;
}

/* Zeroes a part by giving its pages back, which is cheaper the less the tenant has used. */
static void part_clear(unsigned char *from, size_t size)
{
    if (madvise(from, size, MADV_REMOVE) < 0)
        memset(from, 0, size);
}

/* Zeroes a segment. The driver has pinned the completion page, so that page is kept and
 * overwritten. */
static void segment_clear(unsigned char *memory)
{
    part_clear(memory, SEG_OFF_COMPLETE);
    memset(memory + SEG_OFF_COMPLETE, 0, SEG_OFF_SERVER - SEG_OFF_COMPLETE);
    part_clear(memory + SEG_OFF_SERVER, SEG_SIZE - SEG_OFF_SERVER);
}

static void segment_remove(struct segment_pool *pool, uint32_t at)
{
    pool->count--;
    memmove(&pool->segment[at], &pool->segment[at + 1],
            (pool->count - at) * sizeof(pool->segment[0]));
}

bool segment_pool_take(struct segment_pool *pool, uid_t uid, struct pooled_segment *segment)
{
    for (uint32_t i = pool->count; i-- > 0;) {
        const struct pooled_segment found = pool->segment[i];

        if (found.uid != uid || attached_elsewhere(&found))
            continue;
        segment_remove(pool, i);
        segment_clear(found.memory);
        *segment = found;
        return true;
    }
    return false;
}

bool segment_pool_put(struct segment_pool *pool, const struct pooled_segment *segment, int *dropped)
{
    const bool full = pool->count == SEGMENT_POOL_MAX;

    if (full) {
        *dropped = pool->segment[0].id;
        shmdt(pool->segment[0].memory);
        segment_remove(pool, 0);
    }
    pool->segment[pool->count++] = *segment;
    return full;
}

/* Segments that cannot be attached are dropped from the pool; the worker keeps these until it
 * ends. */
void segment_pool_restore(struct segment_pool *pool)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < pool->count; i++) {
        struct pooled_segment segment = pool->segment[i];

        segment.memory = segment_attach(segment.id, SEG_SIZE);
        if (segment.memory)
            pool->segment[kept++] = segment;
    }
    pool->count = kept;
}

void segment_pool_deinit(struct segment_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        shmdt(pool->segment[i].memory);
    pool->count = 0;
}
