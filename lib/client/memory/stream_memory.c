/* stream_memory.c - see stream_memory.h. */
#include "client/memory/stream_memory.h"

#include <stdlib.h>

#include "client/memory/memory.h"
#include "client/submit/wait.h"

struct stream_block {
    struct stream_block *next;
    uint64_t address, size;
    uint32_t stream;
    uint64_t position; /* the stream's position at which the block was freed */
};

enum { SMALLEST = 256, STEPS = 8 };

void stream_memory_init(struct stream_memory *memory)
{
    pthread_mutex_init(&memory->lock, NULL);
}

static void blocks_drop(struct stream_block *block)
{
    while (block) {
        struct stream_block *next = block->next;

        free(block);
        block = next;
    }
}

void stream_memory_deinit(struct stream_memory *memory)
{
    blocks_drop(memory->first);
    pthread_mutex_destroy(&memory->lock);
}

uint64_t stream_memory_size(uint64_t size)
{
    uint64_t step = SMALLEST;

    if (size > UINT64_MAX / 2)
        return size; /* more than any device has */
    while (step * 2 * STEPS <= size)
        step *= 2;
    return (size + step - 1) / step * step;
}

static bool is_free_for(const struct session *session, const struct stream_block *block,
                        uint32_t stream)
{
    return block->stream == stream ||
           position_passed(position_complete(session, block->stream), block->position);
}

bool stream_memory_take(struct session *session, const struct stream *stream, uint64_t size,
                        uint64_t *address)
{
    struct stream_memory *memory = &session->memory->of_streams;
    struct stream_block **link, *found;

    pthread_mutex_lock(&memory->lock);
    link = &memory->first;
    while (*link && ((*link)->size != size || !is_free_for(session, *link, stream->number)))
        link = &(*link)->next;
    found = *link;
    if (found) {
        *link = found->next;
        memory->bytes -= size;
        memory->count--;
        *address = found->address;
    }
    pthread_mutex_unlock(&memory->lock);
    free(found);
    return found != NULL;
}

/* Takes out the oldest blocks beyond the bounds. The lock is held. */
static struct stream_block *excess_take(struct stream_memory *memory)
{
    struct stream_block **link = &memory->first, *excess;
    uint64_t bytes = 0;
    uint32_t count = 0;

    for (; *link; link = &(*link)->next) {
        if (bytes + (*link)->size > STREAM_MEMORY_BYTES_MAX || count == STREAM_MEMORY_COUNT_MAX)
            break;
        bytes += (*link)->size;
        count++;
    }
    excess = *link;
    *link = NULL;
    memory->bytes = bytes;
    memory->count = count;
    return excess;
}

/* Frees the blocks as gs_free does. Returns the first failure. */
static gs_status blocks_free(struct session *session, struct stream_block *blocks)
{
    gs_status status = GS_OK;

    for (const struct stream_block *b = blocks; b; b = b->next) {
        const gs_status freed = freed_give(session, REQ_FREE, b->address, b->size);

        status = status == GS_OK ? freed : status;
    }
    blocks_drop(blocks);
    return status;
}

gs_status stream_memory_give(struct session *session, uint32_t stream, uint64_t position,
                             uint64_t address, uint64_t size)
{
    struct stream_memory *memory = &session->memory->of_streams;
    struct stream_block *block = size <= STREAM_MEMORY_BYTES_MAX ? malloc(sizeof(*block)) : NULL;
    struct stream_block *excess;

    if (!block)
        return freed_give(session, REQ_FREE, address, size);
    pthread_mutex_lock(&memory->lock);
    *block = (struct stream_block){memory->first, address, size, stream, position};
    memory->first = block;
    excess = excess_take(memory);
    pthread_mutex_unlock(&memory->lock);
    return blocks_free(session, excess);
}

bool stream_memory_release(struct session *session)
{
    struct stream_memory *memory = &session->memory->of_streams;
    struct stream_block *all;

    pthread_mutex_lock(&memory->lock);
    all = memory->first;
    memory->first = NULL;
    memory->bytes = memory->count = 0;
    pthread_mutex_unlock(&memory->lock);
    if (!all)
        return false;
    blocks_free(session, all);
    return true;
}
