/*
 * stream.h - a session's streams and events; see stream.c. The session's lane, except where a
 * comment says otherwise.
 */
#ifndef GS_WORKER_SUBMIT_STREAM_H
#define GS_WORKER_SUBMIT_STREAM_H

#include <stdatomic.h>
#include <string.h>

#include "common/ring.h"
#include "worker/session_parts.h"

/* The ring's memory at a position; the tenant can write there. */
static inline const unsigned char *ring_at(const struct session *session, uint32_t index,
                                           uint64_t position)
{
    return session->segment + SEG_OFF_RINGS + (size_t)index * SEG_RING_BYTES +
           ring_offset(position);
}

/* The header of the record there. The load is atomic, so that the compiler reads the header once
 * and uses what it has checked. The load of the tail orders it. */
static inline struct rec_header ring_header(const struct session *session, uint32_t index,
                                            uint64_t position)
{
    const unsigned char *at = ring_at(session, index, position);
    const uint64_t word =
        atomic_load_explicit((const _Atomic uint64_t *)(const void *)at, memory_order_relaxed);
    struct rec_header header;

    memcpy(&header, &word, sizeof(header));
    return header;
}

/* Sets the class and priority of the stream's launches by the session's grant. The session's lane,
 * or the job that opens the session. */
void stream_grant(const struct session *session, struct stream *stream);
/* Gives a stream its CUDA stream, at its first use. */
CUresult stream_make(struct session *session, struct stream *stream);

/* Moves the stream to another context: a lane's, or the primary one (NULL). Returns false when it
 * cannot move now: the device has work of it (streams_idle has found none since), or the pool has
 * no CUDA stream there. */
bool stream_move(struct session *session, struct stream *stream, struct partition *context);
/* Moves the stream back to the primary context, where CUDA's events and recorded graphs are, and
 * makes its context current. Returns false while it cannot move. */
bool stream_primary(struct session *session, struct stream *stream);

/* Whether the device has finished all that was issued on the session's streams. Asks the driver. */
bool streams_idle(struct session *session);
/* The same by the completion words, which cost nothing to read and which a tenant can falsify: good
 * for deciding when to ask the driver, or for decisions that only cost time. */
bool session_seems_idle(const struct session *session);
/* Whether the session has unfinished work: by its fences, which only the device writes, and by the
 * completion words for work without a fence. */
static inline bool session_unfinished(const struct session *session)
{
    return session->inflight.awaiting_fence || !session_seems_idle(session);
}
/* The same, but the driver is asked where only its tenant's words say that kernels have ended. */
static inline bool session_runs(struct session *session)
{
    return session_unfinished(session) || (session->inflight.by_word && !streams_idle(session));
}
/* Whether the device may have work of the session, whatever its tenant has written. */
static inline bool session_may_run(const struct session *session)
{
    return session_unfinished(session) || session->inflight.by_word;
}
/* Whether the device may have kernels of the session, whatever its tenant has written. */
bool session_has_kernels(const struct session *session);
/* The streams of which the device may have kernels, whatever the tenant has written, and those with
 * other work by the completion words. */
uint64_t session_busy_streams(const struct session *session);
/* Whether no copy, fill or graph is unfinished, by the tenant's own words. */
bool session_transferred(const struct session *session);
/* Whether all that runs again is complete, by the tenant's own words. */
bool session_caught_up(const struct session *session);
/* The first stream whose completion word says that it is not finished. */
uint32_t stream_unfinished(const struct session *session);

/* The event of a slot, with a CUDA event, which is made at the first use and charged to the
 * session's user. NULL: the user has no room for it. What waits for the event waits for its stream
 * then, and only its time is not known. */
CUresult event_slot(struct session *session, uint32_t slot, struct event **event);

/* Makes the streams that the session's journal names, each where a former worker has left it. Fails
 * the job with GS_ERR_INTERRUPTED if one has unfinished work. Service thread. */
gs_status streams_resume(struct job *job);
/* Charges the session's user for the streams that are open: at the session's beginning. */
void streams_adopt(struct session *session);
/* Destroys streams, their executable graphs, and events of a session that has nothing on the
 * device. Service thread. */
void streams_deinit(struct session *session);

#endif
