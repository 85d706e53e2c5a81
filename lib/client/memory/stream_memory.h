/*
 * stream_memory.h - device memory that gs_free_async has given back, for gs_malloc_async to give
 * out again without asking the server: at once in the stream that it was given back in, where what
 * used it comes before what uses it next, and in another one when that stream has passed that
 * position. What lies here is in no map, so no call of the program finds it. Any thread.
 */
#ifndef GS_CLIENT_STREAM_MEMORY_H
#define GS_CLIENT_STREAM_MEMORY_H

#include "client/session/session.h"

/* How much the session keeps; the oldest goes when there is more. */
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

/* The size that memory of this order is allocated with: the next of eight for each power of two. */
uint64_t stream_memory_size(uint64_t size);
/* Takes a block of exactly that size for the stream, whose lock is held. false: there is none. */
bool stream_memory_take(struct session *session, const struct stream *stream, uint64_t size,
                        uint64_t *address);
/* Keeps memory that work before the stream's end may use; what is too much for that is freed. The
 * stream's lock is not held. */
gs_status stream_memory_give(struct session *session, uint32_t stream, uint64_t position,
                             uint64_t address, uint64_t size);
/* Frees all that is kept. Whether there was something. */
bool stream_memory_release(struct session *session);

#endif
