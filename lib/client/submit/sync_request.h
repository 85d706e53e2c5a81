/*
 * sync_request.h - synchronous requests to the session's worker, through the segment's one request
 * slot. Any thread; a session has one request at a time, and further ones wait for their turn.
 */
#ifndef GS_CLIENT_SYNC_REQUEST_H
#define GS_CLIENT_SYNC_REQUEST_H

#include "client/session/session.h"

struct sync_request {
    enum req_op op;
    uint64_t arg[4];
    const char *name;                        /* NULL: none; shorter than seg_request.name */
    const struct req_texture *texture;       /* of REQ_TEXTURE_CREATE */
    const struct rec_gemm *gemm;             /* of REQ_GEMM_PREPARE */
    const struct req_tensor_map *tensor_map; /* of REQ_TENSOR_MAP */
    /* reply */
    uint64_t ret[4];
    struct req_kernel *kernel; /* receives the payload of REQ_KERNEL_GET */
    void *map;                 /* receives the payload of REQ_TENSOR_MAP */
    char *text;                /* receives the message, cut to text_size; NULL: not wanted */
    size_t text_size;
};

/* Makes the request and waits for the answer. Returns the server's status and sets its message;
 * statuses as session_trouble if the session ends meanwhile. The wait has no time limit, because a
 * compilation may take long, and the client notices the server's death. */
gs_status sync_request(struct session *session, struct sync_request *request);

/* Refuses a name that is empty or too long for a request. `what` names the thing that is asked for.
 * GS_ERR_INVALID_VALUE. */
gs_status request_name_check(const char *name, const char *what);

#endif
