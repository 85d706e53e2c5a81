/*
 * submit.h - giving records to a stream: into its ring, or into a graph that is being recorded.
 *
 *     stream_lock  ->  check what the record names  ->  stream_reserve  ->  fill in the record
 *                  ->  stream_commit  ->  stream_unlock
 *
 * The record is filled in where it stays. Under the stream's lock; any thread.
 */
#ifndef GS_CLIENT_SUBMIT_H
#define GS_CLIENT_SUBMIT_H

#include "client/session/session.h"
#include "common/ring.h"

/* Finds the stream of a handle without locking it; NULL is the default stream. It may be destroyed
 * at any time, but its number and its positions stay what they are.
 * GS_ERR_INVALID_HANDLE, GS_ERR_FORKED. */
gs_status stream_find(struct session *session, gs_stream handle, struct stream **stream);
/* Finds and locks it. */
gs_status stream_lock(struct session *session, gs_stream handle, struct stream **stream);
/* Unlocks, and returns status; a failure while a graph is recorded fails the recording. */
gs_status stream_unlock(struct stream *stream, gs_status status);
/* GS_ERR_RECORDING if a graph is recorded on the stream; what: the call that may not be. */
gs_status stream_not_recording(const struct stream *stream, const char *what);

/* Room for a record of size bytes, a multiple of REC_ALIGN and at most REC_SIZE_MAX. Nothing
 * happens if no commit follows. Waits while the ring is full.
 * GS_ERR_NO_MEMORY, GS_ERR_LIMIT (recording); the session's trouble. */
gs_status stream_reserve(struct session *session, struct stream *stream, uint32_t size,
                         void **record);
/* Gives the record of that size to the server, or keeps it in the graph. Cannot fail. */
void stream_commit(struct session *session, struct stream *stream, uint32_t size);

/* Tells the dispatcher that a bit of seg_client.activity is due. What it announces was stored
 * before, with memory_order_seq_cst. */
void activity_signal(struct session *session, unsigned bit);

#endif
