/* session_memory.h - a session's memory, on the device and on the host. A job of the session;
 * allocations and hosts: the session's lane. */
#ifndef GS_WORKER_MEMORY_SESSION_MEMORY_H
#define GS_WORKER_MEMORY_SESSION_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/memory/space.h"

struct chunk;
struct imports;
struct user;

struct host_block {
    unsigned char *memory;
    uint64_t size;
    uint64_t serial; /* of the session, when it was made */
    bool pinned;     /* registered with the driver: the device copies from and to it */
};

struct session_memory {
    struct space allocations;  /* live allocations and module globals (tag: their module) */
    struct host_block **hosts; /* SEG_HOSTS, or NULL */
    struct space window;       /* spans: chunks (tag: struct chunk) */
    _Atomic uint64_t limit, user_limit; /* any thread; see memory_limit_set */
    uint64_t used;
    struct user *user; /* what all its user's sessions hold */
    uint64_t window_reserved;
    struct chunk *spare;     /* see chunk.c; NULL: none */
    uint32_t exports;        /* see memory_share.c */
    struct imports *imports; /* NULL: none */
    uint64_t host_bytes;
};

#endif
