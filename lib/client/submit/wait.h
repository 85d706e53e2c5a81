/*
 * wait.h - waiting for streams: the client polls the completion words that the GPU writes. Any
 * thread.
 */
#ifndef GS_CLIENT_WAIT_H
#define GS_CLIENT_WAIT_H

#include "client/print/print.h"
#include "client/session/session.h"
#include "common/fault_note.h"

/* Returns the byte position up to which a stream is complete. */
static inline uint64_t position_complete(const struct session *session, uint32_t stream)
{
    /* acquire: pairs with the device's write after its work; results are visible after it. */
    return atomic_load_explicit(&session->complete->position[stream], memory_order_acquire);
}

/* Returns the byte position up to which records have been submitted to a stream. */
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
/* Waits as wait_position does, but returns GS_NOT_READY when clock_ns() reaches deadline_ns; 0:
 * never. */
gs_status wait_position_until(struct session *session, uint32_t stream, uint64_t position,
                              uint64_t deadline_ns);
/* Returns the clock_ns() time at which a wait of `timeout_ns` that begins now ends. */
uint64_t wait_deadline(uint64_t timeout_ns);

/* Makes the server end the session for the fault that a kernel has noted. Returns session_trouble's
 * status. The caller may hold a stream's lock. */
gs_status fault_tell(struct session *session);

/* Returns whether a kernel has noted a fault that ends the session. One load if the session has no
 * print block. */
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

/* After a trap of one thread the kernel's other threads may wait for it for ever, whereas in CUDA a
 * trap ends the whole kernel. So a call ends the session when calls have seen the fault note and
 * unfinished work for FAULT_LATE_NS. The server evicts the kernel when the session's grace is
 * over. */
#define FAULT_LATE_NS UINT64_C(100000000)
/* Returns whether the first call of this function was FAULT_LATE_NS ago. The caller has seen
 * fault_seen() true. */
bool fault_is_late(struct session *session);

/* Returns the status for a call that has found work complete (GS_OK) or still running
 * (GS_NOT_READY): the session's fault if a kernel has noted one, else `status`. The caller holds no
 * lock. */
static inline gs_status fault_check(struct session *session, gs_status status)
{
    if ((status != GS_OK && status != GS_NOT_READY) || !fault_seen(session))
        return status;
    if (status == GS_NOT_READY && !fault_is_late(session))
        return status;
    print_deliver(&session->printing); /* an assertion's message tells the cause */
    return fault_tell(session);
}

/* Ends a call that waited: prints what kernels have printed, and returns fault_check of the wait's
 * status. */
static inline gs_status wait_end(struct session *session, gs_status status)
{
    print_deliver(&session->printing);
    return fault_check(session, status);
}

/* Blocks until every stream has completed all that was submitted to it before the call. */
gs_status wait_all(struct session *session);

/* Takes and drops every stream's lock once, so that no thread is between looking an object up and
 * queueing a record that uses it. */
void streams_pass(struct session *session);

#endif
