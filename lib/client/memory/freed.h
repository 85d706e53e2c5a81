/*
 * freed.h - device memory, modules, graphs, arrays, textures and surfaces that the program has
 * freed while the session's work may still use them. The client returns them to the server once all
 * work submitted before is complete: in the next call that asks for memory or such an object, frees
 * one, or waits. Any thread.
 */
#ifndef GS_CLIENT_FREED_H
#define GS_CLIENT_FREED_H

#include <stdatomic.h>

#include "client/session/session.h"

/* Bounds of what may wait to be returned. Other tenants cannot get it meanwhile. */
#define FREED_BYTES_MAX (UINT64_C(256) << 20)
#define FREED_COUNT_MAX 256u

struct freed;
struct sync_request;

struct freed_list {
    pthread_mutex_t lock;
    struct freed *first, **end; /* oldest first */
    uint64_t bytes;
    _Atomic uint32_t count; /* changed under the lock */
};

void freed_init(struct freed_list *list);
void freed_deinit(struct freed_list *list);

/* Frees an allocation that has been removed from the map (REQ_FREE, its address and size), or an
 * object whose handle is retired (REQ_MODULE_UNLOAD, REQ_GRAPH_DESTROY ..., its number, 0). Blocks
 * only if the list is full. */
gs_status freed_give(struct session *session, enum req_op op, uint64_t what, uint64_t size);
/* Frees an object as freed_give does, but one for which the client has no handle, so that the
 * server is asked first whether there is such an object. */
gs_status freed_give_known(struct session *session, enum req_op op, uint64_t what);
/* Returns to the server all that no work can use any more. Preserves the thread's error message. */
void freed_settle(struct session *session);
/* Makes a synchronous request that needs device memory or one of the session's numbers. If there is
 * none left, it returns to the server all that was freed and all that stream_memory.h keeps, which
 * waits for the session's work, and tries once more. */
gs_status freed_request(struct session *session, struct sync_request *request);

#endif
