/*
 * session_fault.h - the end of a session by its tenant's own mistake; see session_fault.c. The
 * session's lane.
 */
#ifndef GS_WORKER_SUBMIT_SESSION_FAULT_H
#define GS_WORKER_SUBMIT_SESSION_FAULT_H

#include "worker/session_parts.h"

/* What ended it, as gs_fault tells it. */
struct fault {
    uint32_t kind; /* gs_fault_kind */
    gs_status status;
    uint32_t stream;
    uint64_t launch;      /* 0: not known, or none */
    uint64_t launch_last; /* one of the launches up to this one; 0: `launch` itself */
    uint64_t address;     /* 0: the same */
    const char *kernel;   /* NULL: none */
    const char *message;
};

/* Ends the session for a record that its tenant should not have sent, or that the driver refused,
 * or for what its kernel did. Only the first fault is noted. */
void session_fault(struct session *session, const struct fault *fault);

#endif
