/*
 * submit.h - submits records to a stream: into its ring, or into the graph that the stream records.
 *
 *     stream_lock  ->  check what the record names  ->  stream_reserve  ->  fill in the record
 *                  ->  stream_commit  ->  stream_unlock
 *
 * The caller fills the record in at its final place. Under the stream's lock; any thread.
 */
#ifndef GS_CLIENT_SUBMIT_H
#define GS_CLIENT_SUBMIT_H

#include "client/session/session.h"
#include "common/ring.h"

/* Finds the stream of a handle without locking it; NULL is the default stream. Another thread may
 * destroy the stream at any time; its number and positions stay valid.
 * GS_ERR_INVALID_HANDLE, GS_ERR_FORKED. */
gs_status stream_find(struct session *session, gs_stream handle, struct stream **stream);
/* Finds the stream of a handle and locks it. Statuses as stream_find. */
gs_status stream_lock(struct session *session, gs_stream handle, struct stream **stream);
/* Begins a call whose work a graph cannot record: finds the live session of a handle of that kind,
 * and locks the stream, which must not be recording. `what` names the call in messages. Statuses as
 * session_use, stream_lock and stream_not_recording; after success, stream_call_end ends the
 * call. */
gs_status stream_call_begin(struct handle handle, enum handle_kind kind, gs_stream stream_handle,
                            const char *what, struct session **session, struct stream **stream);
/* Unlocks the stream, leaves the session, and returns status. */
gs_status stream_call_end(const struct session *session, struct stream *stream, gs_status status);
/* Unlocks the stream and returns status. A failure also fails the stream's recording, if any. */
gs_status stream_unlock(struct stream *stream, gs_status status);
/* Unlocks the stream as stream_unlock does. With `wait`, and if status is GS_OK, it then waits for
 * all work submitted to the stream before, and ends as wait_end. */
gs_status stream_finish(struct session *session, struct stream *stream, gs_status status,
                        bool wait);
/* Returns GS_ERR_RECORDING if the stream records a graph; `what` names the call in the message. */
gs_status stream_not_recording(const struct stream *stream, const char *what);

/* Makes room for a record of size bytes, a multiple of REC_ALIGN and at most REC_SIZE_MAX. Waits
 * while the ring is full. Without a commit the room stays free. A recording may fail with
 * GS_ERR_NO_MEMORY or GS_ERR_LIMIT. Other statuses as session_trouble. */
gs_status stream_reserve(struct session *session, struct stream *stream, uint32_t size,
                         void **record);
/* Submits the reserved record, of the same size, to the server, or adds it to the recording. */
void stream_commit(struct session *session, struct stream *stream, uint32_t size);

/* Sets a bit of seg_client.activity and wakes the worker if it sleeps. The caller has stored
 * the announced tail or request state before, with memory_order_seq_cst. */
void activity_signal(struct session *session, unsigned bit);

#endif
