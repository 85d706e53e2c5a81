/*
 * stream.h - a session's streams and events; see stream.c. Called by the session's lane, except
 * where a comment says otherwise.
 */
#ifndef GS_WORKER_SUBMIT_STREAM_H
#define GS_WORKER_SUBMIT_STREAM_H

#include <stdatomic.h>
#include <string.h>

#include "common/ring.h"
#include "worker/session_parts.h"

/* Returns the ring's memory at a position. The tenant can write there. */
static inline const unsigned char *ring_at(const struct session *session, uint32_t index,
                                           uint64_t position)
{
    return session->segment + SEG_OFF_RINGS + (size_t)index * SEG_RING_BYTES +
           ring_offset(position);
}

/* Returns the header of the record at a position. The load is atomic, so that the compiler reads
 * the header once and uses what was checked. The earlier load of the tail orders it. */
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

/* Sets the class and priority of the stream's launches from the session's grant. Called by the main
 * lane. */
void stream_grant(const struct session *session, struct stream *stream);
/* Makes the stream's CUDA stream and inflight tracker, at its first use. */
CUresult stream_make(struct session *session, struct stream *stream);

/* Moves the stream to another context: a side lane's, or the primary one (NULL). Returns false if
 * it cannot move now: the device has work of it, as far as the last streams_idle found, or the pool
 * has no CUDA stream there. */
bool stream_move(struct session *session, struct stream *stream, struct partition *context);
/* Moves the stream back to the primary context, where events, arrays and recorded graphs are, and
 * makes the stream's context current. Returns false while the stream cannot move. */
bool stream_primary(struct session *session, struct stream *stream);

/* Asks the driver whether the device has finished all work of the session's streams. Clears what
 * has ended from the accounts. */
bool streams_idle(struct session *session);
/* Returns the same according to the completion words, which cost nothing to read and which a tenant
 * can falsify: good for deciding when to ask the driver, and for decisions that only cost time. */
bool session_seems_idle(const struct session *session);
/* Returns whether the session has unfinished work, according to its fences, which only the device
 * writes, and for work without a fence according to the completion words. */
static inline bool session_unfinished(const struct session *session)
{
    return session->inflight.awaiting_fence || !session_seems_idle(session);
}
/* Returns the same, but asks the driver if only words that the tenant can write say that kernels
 * have ended. */
static inline bool session_runs(struct session *session)
{
    return session_unfinished(session) || (session->inflight.by_word && !streams_idle(session));
}
/* Returns whether the device may have kernels of the session, whatever its tenant has written, or
 * other work without a fence according to the completion words. */
static inline bool session_may_run(const struct session *session)
{
    return session_unfinished(session) || session->inflight.by_word;
}
/* Returns whether the device may have kernels of the session, whatever its tenant has written. */
bool session_has_kernels(const struct session *session);
/* Returns the streams (bits) of which the device may have kernels, whatever the tenant has written,
 * or other work according to the completion words. */
uint64_t session_busy_streams(const struct session *session);
/* Returns whether no copy, memset or graph is unfinished, according to the completion words. */
bool session_transferred(const struct session *session);
/* Returns whether all work that is run again after a takeover is complete, according to the
 * completion words. */
bool session_caught_up(const struct session *session);
/* Returns the first busy stream that is not finished according to its completion word; otherwise
 * the last busy stream, or 0. */
uint32_t stream_unfinished(const struct session *session);

/* Returns the event of a slot, with a CUDA event, which is made at the first use and charged to the
 * session's user. *event is NULL if the user may have no more. A wait for the event then waits for
 * its stream; only the event's time is not known. */
CUresult event_slot(struct session *session, uint32_t slot, struct event **event);

/* Restores the streams that the session's journal lists, each where a former worker has left it.
 * Fails the job with GS_ERR_INTERRUPTED if a stream has unfinished work that may not be run again.
 * Called by a service thread. */
gs_status streams_resume(struct job *job);
/* Charges the session's user for the open streams. Called when the session begins. */
void streams_adopt(struct session *session);
/* Destroys the streams, their executable graphs, and the events of a session that has nothing on
 * the device. Called by a service thread. */
void streams_deinit(struct session *session);

#endif
