/*
 * ring.h - libgshare's streams, here called rings, and the CUDA streams that use them.
 *
 * A session has few streams (each is a ring of its segment), and a CUDA program may have any
 * number. Up to RINGS_MAX streams get a ring of their own. Further streams share rings, and the
 * work in a shared ring is done in the order of submission. That order is stricter than CUDA
 * requires, and cannot deadlock: a stream only waits for an event that was recorded before the wait
 * was submitted, so the record is never behind the wait in the same ring; and a host function must
 * not wait for work that is not ordered before it. The device's own queues are shared in the same
 * way (CUDA_DEVICE_MAX_CONNECTIONS).
 *
 * A stream that shares its ring only waits for its own work: before another stream's work follows
 * in the ring, an event is recorded at the end of the stream's work. This event is the only cost of
 * a shared ring.
 */
#ifndef GS_CUDART_RING_H
#define GS_CUDART_RING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "gshare.h"

struct stream;

/* The rest of a session's 63 streams is for the program's own gs_* calls, for recording graphs, and
 * for managed memory. */
#define RINGS_MAX 48u

struct ring {
    gs_stream handle; /* NULL: the legacy stream's ring, or an unused one */
    unsigned users;
    bool blocking;        /* whether the first stream that used it is blocking */
    int priority;         /* gs_qos.priority, which is 1 for all CUDA priorities below 0 */
    pthread_mutex_t lock; /* guards the fields below and the end events of the ring's streams */
    _Atomic bool shared;  /* work of other streams may be in it */
    struct stream *last;  /* submitted last; NULL: no stream still waits for its work */
};

enum ring_end_state {
    RING_END_NONE, /* the stream has submitted nothing to its ring */
    RING_END_RECORDED,
    RING_END_LOST /* no event could be recorded: the end of the ring counts */
};

/* Finds a ring for a new stream. priority: as in struct ring. GS_ERR_LIMIT: there is none at all.
 * Other statuses as for gs_stream_create. */
gs_status ring_take(struct stream *stream, bool blocking, int priority, struct ring **ring);
/* Removes the stream, which has ended, from its ring; its work may still be running. */
void ring_give(struct ring *ring, struct stream *stream);
/* The functions here, too, concern the call's device. Forgets all rings, because the session is
 * gone. */
void rings_forget(void);
/* Whether the work of all rings is done: GS_OK, or GS_NOT_READY. */
gs_status rings_query(void);

/* Called before and after a stream submits work to a shared ring. */
void ring_turn_slow(struct ring *ring, struct stream *stream);
void ring_leave_slow(struct ring *ring, struct stream *stream);
/* Sets *end to an event at the end of the stream's work; NULL: there is no work to wait for.
 * GS_ERR_LIMIT: no event is available. */
gs_status ring_end(struct ring *ring, struct stream *stream, gs_event *end);

/* Whether several streams use the ring. Checked before a stream's work and after it; ring_take
 * stores `shared` before the next stream's first end event. Both sides also take the lock of
 * libgshare's stream, so either the load after the work sees the store, or the event comes after
 * the work. */
static inline bool ring_shared(const struct ring *ring)
{
    return __builtin_expect(atomic_load_explicit(&ring->shared, memory_order_acquire), 0);
}

/* Waits for the stream's own work, or queries it. */
gs_status ring_wait(struct ring *ring, struct stream *stream);
gs_status ring_query(struct ring *ring, struct stream *stream);

#endif
