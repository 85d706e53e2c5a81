/*
 * staging.h - where copies of ordinary host memory pass through: a pinned host block, cut into
 * chunks of one size. Two per session, made at their first use: small copies must not wait behind
 * the chunks of large ones. Any thread; copies of several threads share the chunks.
 *
 * A chunk is held by one thread while it fills or empties it. Given back, it carries the position
 * at which its copy is complete; who takes it next waits for that.
 */
#ifndef GS_CLIENT_STAGING_H
#define GS_CLIENT_STAGING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

/* The one place to tune copies. A small copy is one record. A large one is cut so that the device
 * moves one piece while the processor copies the next: into STAGING_PIECES pieces if they are not
 * too small to be worth a record, nor larger than a chunk. */
#define STAGING_SMALL_CHUNK (64u << 10)
#define STAGING_SMALL_COUNT 8u
#define STAGING_LARGE_CHUNK (1u << 20)
#define STAGING_LARGE_COUNT 8u
#define STAGING_PIECES      8u
#define STAGING_PIECE_MIN   (64u << 10)
#define STAGING_CHUNKS_MAX  8u

struct session;

struct staging {
    pthread_mutex_t lock;
    pthread_cond_t given; /* a chunk was given back */
    uint32_t chunk_bytes, count;
    uint32_t next;       /* chunks are taken in turn: the next was given back the longest ago */
    uint32_t block;      /* the server's host block */
    unsigned char *base; /* NULL: not made yet */
    struct {
        bool held;
        uint32_t stream;
        uint64_t position;
    } chunk[STAGING_CHUNKS_MAX];
};

void staging_init(struct staging *staging, uint32_t chunk_bytes, uint32_t count);
void staging_deinit(struct staging *staging);

/* Makes the host block if that has not been done. What gs_host_alloc returns. */
gs_status staging_prepare(struct session *session, struct staging *staging);
/* Takes a chunk that no copy uses any more. While others hold all of them: waits, or with `wait`
 * false sets *chunk to staging->count. Only who holds none may wait, else two could wait for each
 * other. The session's trouble. */
gs_status staging_take(struct session *session, struct staging *staging, bool wait,
                       uint32_t *chunk);
/* Gives it back; its copy is complete at this position of the stream. */
void staging_give(struct staging *staging, uint32_t chunk, uint32_t stream, uint64_t position);

#endif
