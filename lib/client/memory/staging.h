/*
 * staging.h - a staging area, through which copies of ordinary host memory pass: a pinned host
 * block in chunks of one size. A session has two areas, made at their first use, so that small
 * copies do not wait behind the chunks of large ones. Any thread; copies of several threads share
 * the chunks.
 *
 * One thread holds a chunk while it fills or empties the chunk. A chunk that has been given back
 * keeps the position at which its copy is complete; the next holder waits for that position.
 */
#ifndef GS_CLIENT_STAGING_H
#define GS_CLIENT_STAGING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

/* These figures tune copies. A small copy is one record. A large copy is cut into slices, so that
 * the device moves one slice while the CPU copies the next: into STAGING_SLICES slices, unless they
 * would be smaller than STAGING_SLICE_MIN, which is not worth a record, or larger than a chunk. */
#define STAGING_SMALL_CHUNK (64u << 10)
#define STAGING_SMALL_COUNT 8u
#define STAGING_LARGE_CHUNK (1u << 20)
#define STAGING_LARGE_COUNT 8u
#define STAGING_SLICES      8u
#define STAGING_SLICE_MIN   (64u << 10)
#define STAGING_CHUNKS_MAX  8u

struct session;

struct staging {
    pthread_mutex_t lock;
    pthread_cond_t given; /* signalled when a chunk is given back */
    uint32_t chunk_bytes, count;
    uint32_t next;       /* the chunk to try first: chunks are taken in turn, the oldest first */
    uint32_t block;      /* the server's host block */
    unsigned char *base; /* NULL: the block is not made yet */
    struct {
        bool held;
        uint32_t stream;
        uint64_t position;
    } chunk[STAGING_CHUNKS_MAX];
};

void staging_init(struct staging *staging, uint32_t chunk_bytes, uint32_t count);
void staging_deinit(struct staging *staging);

/* Makes the host block unless it exists. Statuses as gs_host_alloc. */
gs_status staging_prepare(struct session *session, struct staging *staging);
/* Takes a chunk and waits until its last copy is complete. If other threads hold all chunks, it
 * waits for one, or with `wait` false sets *chunk to staging->count. A thread that holds a chunk
 * must not wait, since two such threads could wait for each other. Statuses as session_trouble. */
gs_status staging_take(struct session *session, struct staging *staging, bool wait,
                       uint32_t *chunk);
/* Gives a chunk back, whose copy is complete at this position of the stream. */
void staging_give(struct staging *staging, uint32_t chunk, uint32_t stream, uint64_t position);

#endif
