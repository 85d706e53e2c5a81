/*
 * session_memory.h - a session's memory, on the device and on the host. Belongs to the session's
 * job in progress; `allocations`, `hosts` and `generation` belong to the session's lane.
 */
#ifndef GS_WORKER_MEMORY_SESSION_MEMORY_H
#define GS_WORKER_MEMORY_SESSION_MEMORY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/driver/driver.h"
#include "worker/memory/allocations.h"

/* The range in which stray accesses of a session's kernels meet sinks. */
enum cover {
    COVER_NONE,
    COVER_WINDOW, /* the window's open part, and a granule at each end */
    COVER_REACH   /* also as far beyond both ends as indices and strides reach */
};

/* The addresses that are reserved for a window. */
struct window_range {
    uint64_t begin, size;
};

struct chunk;
struct imports;
struct user;

struct host_block {
    struct host_block *next; /* the next resting block */
    unsigned char *memory;
    uint64_t size;
    uint64_t room;    /* size of its place in the window (host_place.h); 0: no place */
    int id;           /* System V's */
    uint64_t serial;  /* the session's serial number when the block was made */
    bool pinned;      /* registered with the driver, so that the device copies from and to it */
    bool joined;      /* the segment is shared with another session's block */
    bool late;        /* after a takeover: not registered yet, before any work */
    uint64_t address; /* where the session's kernels reach it; 0: they do not reach it */
};

/* The most peer windows: one for each of the server's other devices. */
#define PEER_WINDOWS_MAX 7u

struct peer_window {
    uint64_t base, size;
    bool deferred; /* host memory in it waits for its deferred release */
};

struct session_memory {
    /* what copies may name by a device address: live allocations (no tag), module globals (tag: the
     * global's module), and host blocks that kernels reach (tag: the block) */
    struct allocations allocations;
    struct host_block **hosts; /* SEG_HOSTS entries, or NULL */
    /* incremented when something that a record can name is freed, unloaded or forgotten; recorded
     * graphs then check their records again */
    uint64_t generation;
    /* its range: the window's open part; its places: the session's chunks (tag: struct chunk),
     * including chunks in peer windows */
    struct space window;
    _Atomic uint64_t limit, user_limit; /* any thread; see memory_limit_set */
    _Atomic uint32_t user_hosts;        /* limit on the user's host blocks; 0: none; any thread */
    _Atomic uint64_t user_host_mem;     /* limit on the bytes of these; likewise */
    _Atomic uint64_t all_host_mem;      /* limit on the bytes of all users; likewise */
    _Atomic bool host_mem_granted;      /* the operator has set user_host_mem for this user */
    _Atomic uint64_t user_driver_mem;   /* limit on driver memory; likewise */
    _Atomic uint64_t driver_bytes;      /* driver memory charged to this session; any thread */
    uint64_t used;
    struct user *user; /* counts what all sessions of the user hold */
    /* The window's addresses; its margins are reserved beside them (window_range). */
    uint64_t window_base, window_size;
    _Atomic uint64_t window_open; /* size of the open part (window.h); any thread reads it */
    uint64_t opened;              /* bytes of it that the user is charged for (open_part.c) */
    struct peer_window peer[PEER_WINDOWS_MAX]; /* peer windows (peer_window.h) */
    uint32_t peer_count;
    CUdeviceptr *bound; /* addresses of the struct fence_window of each fenced module */
    uint32_t bound_count;
    /* Held while `sinks`, `cover`, `covered_end` or `hole` change, where another job of the session
     * may be in progress (session/chore.c). */
    pthread_mutex_t sinks_lock;
    struct space sinks; /* where sinks are mapped, in the window and its margins (sink.h) */
    enum cover cover;
    uint64_t covered_end;    /* sinks or chunks are mapped from the window's beginning to here */
    bool hole;               /* a sink could not be mapped: no kernel of the session may run */
    struct chunk *spare;     /* the spare chunk, see chunk.c; NULL: none */
    uint32_t exports;        /* how many exports it has (export.c) */
    struct imports *imports; /* NULL: none */
    bool unsharing;          /* a job_unshare was made and has not begun; under physical.c's lock */
    uint64_t host_bytes;
    uint64_t server_bytes; /* server memory charged to it (server_memory.h) */
    bool host_places;      /* a host block has or had a place in the window */
    /* freed blocks at places: they stay registered for the session's next request */
    struct host_block *resting;
    uint32_t resting_count;
};

#endif
