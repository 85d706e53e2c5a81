/*
 * host_call.h - host functions, which the library calls in a stream's order. One thread of the
 * process calls them, one after the other. Any thread may add one.
 */
#ifndef GS_CLIENT_HOST_CALL_H
#define GS_CLIENT_HOST_CALL_H

#include "client/session/session.h"

/* Schedules the function to be called when the stream is complete up to the REC_HOST record at
 * `position`, or the session has ended. The caller holds the stream's lock, and commits the record
 * afterwards. GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. */
gs_status host_call_add(struct session *session, uint32_t stream, uint64_t position, gs_host_fn fn,
                        void *data);
/* Waits until all of the session's functions have returned. No thread adds more. */
void host_calls_finish(const struct session *session);
/* Returns whether the caller runs in such a function. */
bool host_call_inside(void);

#endif
