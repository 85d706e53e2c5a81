/* attach.h - opening a session with the server and closing it. Any thread. */
#ifndef GS_CLIENT_ATTACH_H
#define GS_CLIENT_ATTACH_H

#include "client/session/session.h"

/* The arguments of gs_attach, with the environment and the defaults applied. */
struct attach_request {
    const char *instance;
    const char *name;
    int device;
    uint32_t local_rank; /* used with GS_DEVICE_AUTO; see env_local_rank */
    gs_on_fault on_fault;
    gs_fence fence;
    uint64_t mem_limit;
    uint64_t kernel_heap;
    uint64_t timeout_ns;
    gs_qos qos;
    struct env_limits env;   /* limits to which qos and mem_limit have been lowered */
    const char *reservation; /* "": none */
};

gs_status attach_request_read(const gs_attach_params *params, struct attach_request *request);

/* Opens and maps a session, which is not published yet. Statuses as gs_attach. */
gs_status attach_session(const struct attach_request *request, struct session **session);

/* Tells the server that the session's work is complete, and waits until the server has freed
 * everything. The session has been withdrawn; the caller frees it with session_free.
 * GS_ERR_SERVER_LOST, GS_ERR_TIMEOUT, GS_ERR_SYSTEM. */
gs_status detach_session(struct session *session);

#endif
