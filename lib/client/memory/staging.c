/* staging.c - see staging.h. */
#include "client/memory/staging.h"

#include <assert.h>

#include "client/memory/host_block.h"
#include "client/submit/wait.h"

static_assert(STAGING_SMALL_COUNT <= STAGING_CHUNKS_MAX, "chunks");
static_assert(STAGING_LARGE_COUNT <= STAGING_CHUNKS_MAX, "chunks");

void staging_init(struct staging *staging, uint32_t chunk_bytes, uint32_t count)
{
    pthread_mutex_init(&staging->lock, NULL);
    pthread_cond_init(&staging->given, NULL);
    staging->chunk_bytes = chunk_bytes;
    staging->count = count;
}

void staging_deinit(struct staging *staging)
{
    pthread_mutex_destroy(&staging->lock);
    pthread_cond_destroy(&staging->given);
}

gs_status staging_prepare(struct session *session, struct staging *staging)
{
    gs_status status = GS_OK;

    pthread_mutex_lock(&staging->lock);
    if (!staging->base) {
        struct host_block block;
        status = host_block_new(session, (uint64_t)staging->chunk_bytes * staging->count,
                                HOST_BLOCK_PINNED, &block);
        if (status == GS_OK) {
            staging->block = block.id;
            staging->base = block.address;
        }
    }
    pthread_mutex_unlock(&staging->lock);
    return status;
}

/* Returns the index of a chunk that is not held, if possible one whose copy is complete; count: all
 * are held. */
static uint32_t chunk_pick(struct session *session, const struct staging *staging)
{
    uint32_t oldest = staging->count;

    for (uint32_t i = 0; i < staging->count; i++) {
        uint32_t n = (staging->next + i) % staging->count;
        if (staging->chunk[n].held)
            continue;
        if (position_passed(position_complete(session, staging->chunk[n].stream),
                            staging->chunk[n].position))
            return n;
        if (oldest == staging->count)
            oldest = n;
    }
    return oldest;
}

gs_status staging_take(struct session *session, struct staging *staging, bool wait, uint32_t *chunk)
{
    uint32_t n;
    gs_status status;

    pthread_mutex_lock(&staging->lock);
    while ((n = chunk_pick(session, staging)) == staging->count && wait)
        pthread_cond_wait(&staging->given, &staging->lock);
    if (n < staging->count) {
        staging->chunk[n].held = true;
        staging->next = (n + 1) % staging->count;
    }
    pthread_mutex_unlock(&staging->lock);
    if (n < staging->count) {
        status = wait_position(session, staging->chunk[n].stream, staging->chunk[n].position);
        if (status != GS_OK) {
            staging_give(staging, n, staging->chunk[n].stream, staging->chunk[n].position);
            return status;
        }
    }
    *chunk = n;
    return GS_OK;
}

void staging_give(struct staging *staging, uint32_t chunk, uint32_t stream, uint64_t position)
{
    pthread_mutex_lock(&staging->lock);
    staging->chunk[chunk].held = false;
    staging->chunk[chunk].stream = stream;
    staging->chunk[chunk].position = position;
    pthread_cond_signal(&staging->given);
    pthread_mutex_unlock(&staging->lock);
}
