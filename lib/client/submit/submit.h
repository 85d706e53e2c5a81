/*
 * submit.h - giving records to a stream: to its ring, or to the graph that the stream records.
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
/* Begins a call that gives a stream what no graph records: finds the session of a handle of that
 * kind, which must be alive, and locks the stream. what: names the call. As session_use,
 * stream_lock and stream_not_recording; on success stream_call_end ends the call. */
gs_status stream_call_begin(struct handle handle, enum handle_kind kind, gs_stream stream_handle,
                            const char *what, struct session **session, struct stream **stream);
/* Unlocks the stream, leaves the session, and returns status. */
gs_status stream_call_end(const struct session *session, struct stream *stream, gs_status status);
/* Unlocks the stream and returns status. A failure also fails the stream's recording, if any. */
gs_status stream_unlock(struct stream *stream, gs_status status);
/* stream_unlock; with `wait`, on success then waits for all that the stream was given before, and
 * tells what a kernel has noted, as wait_end. */
gs_status stream_finish(struct session *session, struct stream *stream, gs_status status,
                        bool wait);
/* GS_ERR_RECORDING if the stream records a graph; what: the call that is not recorded. */
gs_status stream_not_recording(const struct stream *stream, const char *what);

/* Makes room for a record of size bytes, a multiple of REC_ALIGN and at most REC_SIZE_MAX. Waits
 * while the ring is full. Without a commit the room stays free. GS_ERR_NO_MEMORY, GS_ERR_LIMIT: of
 * a recording. Other statuses as session_trouble. */
gs_status stream_reserve(struct session *session, struct stream *stream, uint32_t size,
                         void **record);
/* Gives the reserved record, of the same size, to the server, or adds it to the recording. */
void stream_commit(struct session *session, struct stream *stream, uint32_t size);

/* Sets a bit of seg_client.activity and wakes the worker if it sleeps. The caller has stored
 * the announced tail or request state before, with memory_order_seq_cst. */
void activity_signal(struct session *session, unsigned bit);

#endif
