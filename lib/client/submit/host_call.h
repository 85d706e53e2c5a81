/*
 * host_call.h - functions of the program that the library calls in a stream's order. One thread of
 * the process calls them, one after the other; any thread adds some.
 */
#ifndef GS_CLIENT_HOST_CALL_H
#define GS_CLIENT_HOST_CALL_H

#include "client/session/session.h"

/* Has the function called when the stream is complete up to the REC_HOST record at `position`, or
 * the session has ended. Under the stream's lock, before the record is given. GS_ERR_NO_MEMORY,
 * GS_ERR_SYSTEM. */
gs_status host_call_add(struct session *session, uint32_t stream, uint64_t position, gs_host_fn fn,
                        void *data);
/* Waits until all of the session's functions have returned. Nobody adds more. */
void host_calls_finish(const struct session *session);
/* Whether the caller is such a function. */
bool host_call_inside(void);

#endif
