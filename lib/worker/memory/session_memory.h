/*
 * session_memory.h - a session's memory, on the device and on the host. Belongs to the session's
 * job in progress; allocations, hosts and generation to the session's lane.
 */
#ifndef GS_WORKER_MEMORY_SESSION_MEMORY_H
#define GS_WORKER_MEMORY_SESSION_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/driver/driver.h"
#include "worker/memory/allocations.h"

/* Where a session's kernels that stray meet sinks. */
enum cover {
    COVER_NONE,
    COVER_WINDOW, /* in the window's open part, and a granule at its ends */
    COVER_REACH   /* there and as far beyond both ends as indices and strides reach */
};

/* Addresses that are reserved for a window. */
struct window_range {
    uint64_t begin, size;
};

struct chunk;
struct imports;
struct user;

struct host_block {
    struct host_block *next; /* of those that rest */
    unsigned char *memory;
    uint64_t size;
    uint64_t room;    /* of its place in the window (host_place.h); 0: it has none */
    int id;           /* System V's */
    uint64_t serial;  /* of the session, when it was made */
    bool pinned;      /* registered with the driver, so that the device copies from and to it */
    bool joined;      /* the segment is that of another session's block */
    bool late;        /* taken up, and to be registered yet, before any work */
    uint64_t address; /* where the session's kernels reach it; 0: they do not */
};

/* As many as a server has other devices. */
#define PEER_WINDOWS_MAX 7u

struct peer_window {
    uint64_t base, size;
    bool deferred; /* host memory in it waits for its deferred release */
};

struct session_memory {
    /* what copies may name by a device address: live allocations, module globals (tag: the global's
     * module), and host blocks that kernels reach (tag: the block) */
    struct allocations allocations;
    struct host_block **hosts; /* SEG_HOSTS entries, or NULL */
    /* grows when something that a record can name is freed, unloaded or forgotten: recorded graphs
     * then check their records again */
    uint64_t generation;
    /* the open part; places: chunks (tag: struct chunk), also those in windows of other devices */
    struct space window;
    _Atomic uint64_t limit, user_limit; /* any thread; see memory_limit_set */
    _Atomic uint32_t user_hosts;        /* host blocks of all sessions of the user; 0: no limit */
    _Atomic uint64_t user_host_mem;     /* their bytes; the same */
    _Atomic uint64_t all_host_mem;      /* those of all users; the same */
    _Atomic bool host_mem_granted;      /* user_host_mem is the operator's word for this user */
    _Atomic uint64_t user_driver_mem;   /* see driver_memory.h; the same */
    _Atomic uint64_t driver_bytes;      /* what this session is charged of it; any thread */
    uint64_t used;
    struct user *user; /* counts what all sessions of the user hold */
    /* The window's addresses. What is behind the window is reserved too. */
    uint64_t window_base, window_size;
    _Atomic uint64_t window_open; /* how much of them is open (window.h); any thread reads it */
    uint64_t opened;              /* how much of them the user is charged for (open_part.c) */
    struct peer_window peer[PEER_WINDOWS_MAX]; /* windows of other devices (peer_window.h) */
    uint32_t peer_count;
    CUdeviceptr *bound; /* struct fence_window of each module that is fenced */
    uint32_t bound_count;
    /* Held by what changes the sinks, `cover`, `covered_end` or `hole` where another job of the
     * session may be in progress (session/chore.c). */
    pthread_mutex_t sinks_lock;
    struct space sinks; /* where in the window, and behind it, sinks are mapped (sink.h) */
    enum cover cover;
    uint64_t covered_end; /* sinks or chunks are mapped from the window's beginning to here */
    bool hole; /* a sink could not be mapped: the session's kernels must not run any more */
    struct chunk *spare;     /* the spare chunk, see chunk.c; NULL: none */
    uint32_t exports;        /* the number of its exports, see export.c */
    struct imports *imports; /* NULL: none */
    bool unsharing;          /* a job_unshare is on its way; under the lock in physical.c */
    uint64_t host_bytes;
    uint64_t server_bytes; /* of the server's memory, see server_memory.h */
    bool host_places;      /* host memory was given a place in the window */
    /* freed blocks that have a place: they stay registered for the session's next need */
    struct host_block *resting;
    uint32_t resting_count;
};

#endif
