/*
 * sync_request.h - asking the session's worker something and waiting for the answer, through the
 * segment's one request slot. Any thread: one request at a time per session, others wait.
 */
#ifndef GS_CLIENT_SYNC_REQUEST_H
#define GS_CLIENT_SYNC_REQUEST_H

#include "client/session/session.h"

struct sync_request {
    enum req_op op;
    uint64_t arg[4];
    const char *name; /* NULL: none; shorter than seg_request.name */
    /* reply */
    uint64_t ret[4];
    struct req_kernel *kernel; /* where REQ_KERNEL_GET's payload goes */
};

/* The server's status with its message, or the session's trouble if it ends meanwhile. There is no
 * time limit: a module's compilation may take its time, and the server's death is noticed. */
gs_status sync_request(struct session *session, struct sync_request *request);

#endif
