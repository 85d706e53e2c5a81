/*
 * wait.h - waiting for words in shared memory: first spinning, then sleeping in growing steps. Any
 * thread; nothing is lost if the process is stopped meanwhile, for only the words count.
 */
#ifndef GS_CLIENT_WAIT_H
#define GS_CLIENT_WAIT_H

#include "client/session.h"

/* The state of one wait. */
struct backoff {
    uint64_t started_ns; /* 0: the first pause is still to come */
    uint32_t spins;
};
#define BACKOFF_INIT                                                                               \
    {                                                                                              \
        0, 0                                                                                       \
    }

/* One pause: a short spin in the first WAIT_SPIN_NS of the wait, up to WAIT_YIELD_NS with the
 * processor offered to others, then a sleep. A sleep takes 70 us or more by the kernel's timer
 * slack: it is for waits that are long beside that. */
#define WAIT_SPIN_NS      20000u
#define WAIT_YIELD_NS     4000000u
#define WAIT_SLEEP_MIN_NS 20000u
#define WAIT_SLEEP_MAX_NS 20000000u /* a thousand waiters wake up often enough with it */
#define WAIT_SLEEP_SHARE  128u      /* a sleep is this part of the time waited so far */
void backoff_pause(struct backoff *backoff);

/* Byte position up to which a stream is complete. */
static inline uint64_t position_complete(const struct session *session, uint32_t stream)
{
    /* acquire: pairs with the device's write after its work; results are visible after it. */
    return atomic_load_explicit(&session->complete->position[stream], memory_order_acquire);
}

/* Byte position up to which records were given to a stream. */
static inline uint64_t position_tail(const struct session *session, uint32_t stream)
{
    /* acquire: pairs with the release in stream_publish of whichever thread gave the record. */
    return atomic_load_explicit(&session->client->tail[stream], memory_order_acquire);
}

static inline bool position_passed(uint64_t complete, uint64_t position)
{
    return (int64_t)(complete - position) >= 0;
}

/* Blocks until the stream is complete up to position. A completion that is there counts, even if
 * the session has ended meanwhile. Else the session's trouble. */
gs_status wait_position(const struct session *session, uint32_t stream, uint64_t position);

/* Blocks until every stream is complete up to what it was given before the call. */
gs_status wait_all(const struct session *session);

/* For who removes an object after its handle is retired: passes every stream's lock once, so that
 * no thread is between finding the object and queueing its use, and then waits for all streams. */
gs_status session_quiesce(struct session *session);

#endif
