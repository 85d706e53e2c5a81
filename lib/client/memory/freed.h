/*
 * freed.h - device memory, modules, graphs, arrays, textures and surfaces that the program has
 * freed while the session's work may still use them. The server gets them back once all that was
 * submitted before is complete, in the next call that asks for memory or such an object, frees one,
 * or waits. Any thread.
 */
#ifndef GS_CLIENT_FREED_H
#define GS_CLIENT_FREED_H

#include <stdatomic.h>

#include "client/session/session.h"

/* How much may wait. Other tenants do not get it meanwhile. */
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

/* Frees an allocation that is out of the map (REQ_FREE, its address and size), or an object whose
 * handle is retired (REQ_MODULE_UNLOAD, REQ_GRAPH_DESTROY ..., its number, 0). Waits only where too
 * much would wait for work. */
gs_status freed_give(struct session *session, enum req_op op, uint64_t what, uint64_t size);
/* The same for what has no handle on this side: the server says whether there is such an object. */
gs_status freed_give_known(struct session *session, enum req_op op, uint64_t what);
/* Gives the server what no work can use any more. Leaves the thread's error message. */
void freed_settle(struct session *session);
/* sync_request for a request that takes device memory, or a number of the session's: where there is
 * none left, tries again once all that was freed, and what stream_memory.h keeps, is given back,
 * which waits for the session's work.
 */
gs_status freed_request(struct session *session, struct sync_request *request);

#endif
