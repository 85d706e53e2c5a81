/*
 * ring.h - libgshare's streams, and which of the process's streams use them.
 *
 * A session has few streams (a ring of its segment each), and a CUDA program as many as it likes.
 * Up to RINGS_MAX streams have a ring of their own. Those beyond share one, and their work is done
 * in the order in which it was given. That order is stricter than CUDA asks for and cannot
 * deadlock: a stream waits only for an event whose record was given before the wait, so that what
 * is waited for is never behind the wait in the same ring; and a host function must not wait for
 * work that is not ordered before it. The device's own queues are shared in the same way
 * (CUDA_DEVICE_MAX_CONNECTIONS).
 *
 * A stream that shares its ring waits for its own work only: before another stream's work follows
 * on it, an event is recorded at the end of the stream's. The event is all that a shared ring
 * costs.
 */
#ifndef GS_CUDART_RING_H
#define GS_CUDART_RING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "gshare.h"

struct stream;

/* The others of a session's 63 are for gs_* calls of the program's own, for graphs while they are
 * recorded, and for managed memory. */
#define RINGS_MAX 48u

struct ring {
    gs_stream handle; /* NULL: the legacy stream's ring, or an unused one */
    unsigned users;
    bool blocking;        /* whether its first stream is blocking */
    int priority;         /* of gs_qos: 1 for all of CUDA's priorities below 0 */
    pthread_mutex_t lock; /* guards what follows, and its streams' end events */
    _Atomic bool shared;  /* other streams' work may stand in it */
    struct stream *last; /* the stream whose work stands last; NULL: none that still waits for it */
};

enum ring_end_state {
    RING_END_NONE, /* the stream has done nothing in its ring */
    RING_END_RECORDED,
    RING_END_LOST /* no event could be recorded: the end of the ring counts */
};

/* Finds a ring for a new stream; priority: as in a ring. GS_ERR_LIMIT: there is none at all. Others
 * as gs_stream_create. */
gs_status ring_take(struct stream *stream, bool blocking, int priority, struct ring **ring);
/* Takes the stream, which has ended, from its ring; its work may go on. */
void ring_give(struct ring *ring, struct stream *stream);
/* These are of the call's device, as those above. Forgets all rings, because the session is gone.
 */
void rings_forget(void);
/* Whether the work of all rings is done: GS_OK, or GS_NOT_READY. */
gs_status rings_query(void);

/* Called before and after a stream's work in a shared ring. */
void ring_turn_slow(struct ring *ring, struct stream *stream);
void ring_leave_slow(struct ring *ring, struct stream *stream);
/* Sets *end to an event at the end of the stream's work: NULL where it has none to wait for.
 * GS_ERR_LIMIT: there is no event for it. */
gs_status ring_end(struct ring *ring, struct stream *stream, gs_event *end);

/* Whether several streams use the ring. Asked before a stream's work and after it; ring_take stores
 * `shared` before the next stream's first end event. Both sides also take the lock of libgshare's
 * stream, so either the load after the work sees the store, or the event comes after the work. */
static inline bool ring_shared(const struct ring *ring)
{
    return __builtin_expect(atomic_load_explicit(&ring->shared, memory_order_acquire), 0);
}

/* Waits for the stream's own work, or asks about it. */
gs_status ring_wait(struct ring *ring, struct stream *stream);
gs_status ring_query(struct ring *ring, struct stream *stream);

#endif
