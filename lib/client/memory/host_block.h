/*
 * host_block.h - host blocks: host memory shared with the server. The worker makes System V
 * segments, and the client maps them by id. Any thread.
 */
#ifndef GS_CLIENT_HOST_BLOCK_H
#define GS_CLIENT_HOST_BLOCK_H

#include "client/session/session.h"

enum host_block_use {
    HOST_BLOCK_PLAIN = SEG_HOST_PLAIN,   /* only the worker's CPU reads it: images, graph records */
    HOST_BLOCK_PINNED = SEG_HOST_COPIED, /* pinned: the device copies from and to it */
    HOST_BLOCK_REACHED = SEG_HOST_REACHED /* pinned, and mapped for kernels too */
};

struct host_block {
    uint32_t id; /* the server's */
    void *address;
    uint64_t size;
    uint64_t device; /* its address for kernels; 0: none */
    int segment;     /* System V's id; HOST_BLOCK_JOINED: another session has mapped it */
};
#define HOST_BLOCK_JOINED (-1)

/* Makes and maps a zeroed block. GS_ERR_LIMIT, GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. */
gs_status host_block_new(struct session *session, uint64_t size, enum host_block_use use,
                         struct host_block *block);
/* Joins the session to a block that the other session has made and mapped (gs_host_join). The
 * caller holds the session's host_lock. GS_ERR_INVALID_VALUE: the block is gone. */
gs_status host_block_join(struct session *session, const struct session *other,
                          const struct host_block *theirs, struct host_block *block);
/* Makes the server free the block, then unmaps it. No unfinished work may use the block. */
gs_status host_block_free(struct session *session, const struct host_block *block);

#endif
