/* stream.h - a session's streams and events; see stream.c. */
#ifndef GS_WORKER_SUBMIT_STREAM_H
#define GS_WORKER_SUBMIT_STREAM_H

#include <stdatomic.h>
#include <string.h>

#include "common/ring.h"
#include "worker/session_parts.h"

/* A position of a stream's ring, in the tenant's memory. */
static inline const unsigned char *ring_at(const struct session *session, uint32_t index,
                                           uint64_t position)
{
    return session->segment + SEG_OFF_RINGS + (size_t)index * SEG_RING_BYTES +
           ring_offset(position);
}

/* The header of the record there. Atomic, so that the compiler reads it once: what is checked is
 * what is used. Ordered by the load of the tail. */
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

/* Brings what the stream's launches have in line with the session's grant. Dispatcher, or the job
 * that opens the session. */
void stream_grant(const struct session *session, struct stream *stream);
/* Gives a stream its CUDA stream, at its first use. Dispatcher. */
CUresult stream_make(const struct session *session, struct stream *stream);

/* Has the stream go on in another context, a lane's or NULL: the primary one. false: not now, for
 * the device has work of it (streams_idle has found none since), or there is no CUDA stream at
 * hand there. */
bool stream_move(struct session *session, struct stream *stream, struct partition *home);

/* A driver call has just given the device what the records before `position` ask for. Noted at
 * once: the next call may meet the end of the context, and then whose work was on the device
 * counts. */
static inline void stream_issued(struct session *session, struct stream *stream, uint64_t position)
{
    if (position > stream->issued)
        stream->issued = position;
    session->inflight.busy |= UINT64_C(1) << (stream - session->submit.streams);
}

/* Has the device finished all that was issued on the session's streams? Asks the driver.
 * Dispatcher. */
bool streams_idle(struct session *session);
/* The same by the completion words, which cost nothing and which a tenant can falsify: good for
 * deciding when to ask, or when to do something that only costs time. Dispatcher. */
bool session_seems_idle(const struct session *session);
/* The first stream whose word says that it is not finished. */
uint32_t stream_unfinished(const struct session *session);

/* The event of a slot, whose CUDA event is made at its first use. Dispatcher. */
CUresult event_slot(struct session *session, uint32_t slot, struct event **event);

/* Destroys streams, their executable graphs, and events. Service thread, session quiet. */
void streams_deinit(struct session *session);

#endif
