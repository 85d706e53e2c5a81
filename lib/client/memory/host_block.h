/*
 * host_block.h - host memory shared with the server: System V segments that the worker makes and
 * that are mapped here by id. Any thread.
 */
#ifndef GS_CLIENT_HOST_BLOCK_H
#define GS_CLIENT_HOST_BLOCK_H

#include "client/session/session.h"

enum host_block_use {
    HOST_BLOCK_PLAIN = 0, /* read by the server's processor: images, graph records */
    HOST_BLOCK_PINNED = 1 /* the device copies from and to it */
};

struct host_block {
    uint32_t id; /* the server's */
    void *address;
    uint64_t size;
};

/* Zeroed. GS_ERR_LIMIT, GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. */
gs_status host_block_new(struct session *session, uint64_t size, enum host_block_use use,
                         struct host_block *block);
/* Unmaps it here, and has the server free it. No work may use it any more. */
gs_status host_block_free(struct session *session, const struct host_block *block);

#endif
