/*
 * session_fault.h - the end of a session by its tenant's own mistake; see session_fault.c. The
 * session's lane.
 */
#ifndef GS_WORKER_SUBMIT_SESSION_FAULT_H
#define GS_WORKER_SUBMIT_SESSION_FAULT_H

#include "worker/session_parts.h"

/* Ends the session for a record that its tenant should not have sent, or that the driver refused.
 * Only the first fault is noted. */
void session_fault(struct session *session, uint32_t stream, uint32_t kind, gs_status status,
                   const char *kernel, const char *message);

#endif
