/* session_fault.h - the end of a session by its tenant's own mistake; see session_fault.c. The lane
 * of the session. */
#ifndef GS_WORKER_JOBS_SESSION_FAULT_H
#define GS_WORKER_JOBS_SESSION_FAULT_H

#include "worker/session_parts.h"

/* Ends the session for a record that it should not have sent, or that the driver refused. The first
 * fault counts. */
void session_fault(struct session *session, uint32_t stream, uint32_t kind, gs_status status,
                   const char *kernel, const char *message);

#endif
