/*
 * session_fault.h - ends a session because of its tenant's own mistake; see session_fault.c. Called
 * by the session's lane.
 */
#ifndef GS_WORKER_SUBMIT_SESSION_FAULT_H
#define GS_WORKER_SUBMIT_SESSION_FAULT_H

#include "worker/session_parts.h"

/* What ended the session, as gs_fault reports it. */
struct fault {
    uint32_t kind; /* gs_fault_kind */
    gs_status status;
    uint32_t stream;
    uint64_t launch; /* 0: not known, or none */
    /* the fault is of one of the launches from `launch` to this one; 0: of `launch` */
    uint64_t launch_last;
    uint64_t address;   /* 0: not known, or none */
    const char *kernel; /* NULL: none */
    const char *message;
};

/* Ends the session for a record that its tenant should not have sent, for work that the driver
 * refused, or for what its kernel did. Only the first fault is recorded. */
void session_fault(struct session *session, const struct fault *fault);

#endif
