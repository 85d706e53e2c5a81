/*
 * wait.h - waiting for streams: the client polls the completion words that the GPU writes. Any
 * thread.
 */
#ifndef GS_CLIENT_WAIT_H
#define GS_CLIENT_WAIT_H

#include "client/print/print.h"
#include "client/session/session.h"
#include "common/fault_note.h"

/* Byte position up to which a stream is complete. */
static inline uint64_t position_complete(const struct session *session, uint32_t stream)
{
    /* acquire: pairs with the device's write after its work; results are visible after it. */
    return atomic_load_explicit(&session->complete->position[stream], memory_order_acquire);
}

/* Byte position up to which records were given to a stream. */
static inline uint64_t position_tail(const struct session *session, uint32_t stream)
{
    /* acquire: pairs with the store in stream_commit by whichever thread gave the record. */
    return atomic_load_explicit(&session->client->tail[stream], memory_order_acquire);
}

static inline bool position_passed(uint64_t complete, uint64_t position)
{
    return (int64_t)(complete - position) >= 0;
}

/* Blocks until the stream is complete up to position. A completed position gives GS_OK even if the
 * session has ended meanwhile; otherwise the end of the session gives session_trouble's status. */
gs_status wait_position(struct session *session, uint32_t stream, uint64_t position);
/* The same, up to a moment of clock_ns: GS_NOT_READY. */
gs_status wait_position_until(struct session *session, uint32_t stream, uint64_t position,
                              uint64_t deadline_ns);
/* The moment at which a wait of `timeout_ns` from now ends. */
uint64_t wait_deadline(uint64_t timeout_ns);

/* Has the server end the session for what a kernel has noted. Returns session_trouble's status.
 * The caller may hold a stream's lock. */
gs_status fault_tell(struct session *session);

/* Whether a kernel has noted what ends the session. One load where none can. */
static inline bool fault_seen(struct session *session)
{
    /* acquire: pairs with print_adopt, which has mapped the block before */
    unsigned char *block = atomic_load_explicit(&session->printing.block, memory_order_acquire);
    struct fault_notes *notes;

    if (__builtin_expect(!block, 1))
        return false;
    notes = fault_notes_of(block);
    return atomic_load_explicit(&notes->end.where, memory_order_relaxed) ||
           (session->info.fenced == GS_FENCE_STRICT &&
            atomic_load_explicit(&notes->stray.where, memory_order_relaxed));
}

/* Threads of a kernel may wait for ever for one that has trapped, where CUDA ends them with it. So
 * the session is ended when calls have seen the note, and unfinished work, for FAULT_LATE_NS; the
 * server ends the kernel when the session's grace is over. */
#define FAULT_LATE_NS UINT64_C(100000000)
/* Called where fault_seen is true: whether the first such call was FAULT_LATE_NS ago. */
bool fault_is_late(struct session *session);

/* The status of a call that was to see the end of work with GS_OK, or work that goes on with
 * GS_NOT_READY: the session's fault where a kernel has noted one. The caller holds no lock. */
static inline gs_status fault_check(struct session *session, gs_status status)
{
    if ((status != GS_OK && status != GS_NOT_READY) || !fault_seen(session))
        return status;
    if (status == GS_NOT_READY && !fault_is_late(session))
        return status;
    print_deliver(&session->printing); /* an assertion's message tells the cause */
    return fault_tell(session);
}

/* At the end of a call that waited, with the wait's status. */
static inline gs_status wait_end(struct session *session, gs_status status)
{
    print_deliver(&session->printing);
    return fault_check(session, status);
}

/* Blocks until every stream is complete up to what the stream was given before the call. */
gs_status wait_all(struct session *session);

/* Takes and drops every stream's lock once, so that no thread is between looking an object up and
 * queueing a record that uses it. */
void streams_pass(struct session *session);

#endif
