/*
 * stream_memory.h - device memory that gs_free_async has freed, and that gs_malloc_async gives out
 * again without asking the server. The stream in which a block was freed may use it at once, since
 * the stream's order keeps the old use before the new one. Another stream may use it when the
 * freeing stream has passed the position of the free. A block kept here is in no map, so no call of
 * the program finds it. Any thread.
 */
#ifndef GS_CLIENT_STREAM_MEMORY_H
#define GS_CLIENT_STREAM_MEMORY_H

#include "client/session/session.h"

/* Bounds of what a session keeps. Beyond them the oldest blocks are freed. */
#define STREAM_MEMORY_BYTES_MAX (UINT64_C(64) << 20)
#define STREAM_MEMORY_COUNT_MAX 256u

struct stream_block;

struct stream_memory {
    pthread_mutex_t lock;
    struct stream_block *first; /* newest first */
    uint64_t bytes;
    uint32_t count;
};

void stream_memory_init(struct stream_memory *memory);
void stream_memory_deinit(struct stream_memory *memory);

/* Returns the size to which an allocation is rounded up: one of eight sizes for each power of
 * two. */
uint64_t stream_memory_size(uint64_t size);
/* Takes a block of exactly that size for the stream, whose lock is held. Returns false if there is
 * none. */
bool stream_memory_take(struct session *session, const struct stream *stream, uint64_t size,
                        uint64_t *address);
/* Keeps a block that the stream's work before `position` may use, and frees the oldest blocks
 * beyond the bounds. The stream's lock is not held. */
gs_status stream_memory_give(struct session *session, uint32_t stream, uint64_t position,
                             uint64_t address, uint64_t size);
/* Frees all blocks that are kept. Returns whether there were any. */
bool stream_memory_release(struct session *session);

#endif
