/*
 * worker.h - the worker's parts, and which thread owns which state.
 *
 *   control     (main thread) reads the link to the supervisor; turns LINK_OPEN and LINK_CLOSE
 *               into jobs
 *   dispatcher  polls sessions, drains rings, issues all work on tenants' streams; the only
 *               writer of a session's tables (streams, kernels, allocations, host blocks,
 *               events, graphs)
 *   service     a few threads for slow driver calls (allocate, load, open, close), one job per
 *               session at a time
 *
 * A job's way: the dispatcher makes it and runs `prepare`; a service thread runs `work`; the
 * dispatcher runs `install` and answers the tenant. A session's tables change only in prepare and
 * install, so work may read them. The memory allocator (window, chunks) belongs to `work`.
 */
#ifndef GS_WORKER_WORKER_H
#define GS_WORKER_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "common/sm_mask.h"
#include "common/wire.h"
#include "worker/burst.h"
#include "worker/driver.h"
#include "worker/link_io.h"
#include "worker/lost.h"
#include "worker/reserve.h"
#include "worker/schedule.h"
#include "worker/space.h"

struct chunk;
struct imports;
struct job;
struct flight;
struct lane;
struct launcher;
struct partition;
struct session_graph;
struct user;

struct kernel {
    struct kernel *next; /* of the same module */
    uint32_t id;
    CUfunction function;
    struct module *module;
    uint64_t serial; /* of the session, when it was made */
    uint32_t param_count, param_bytes;
    uint32_t max_threads;      /* a block */
    uint32_t max_dynamic_smem; /* a block */
    uint32_t sm_threads;       /* an SM has room for */
    uint32_t static_smem;      /* a block */
    _Atomic int division;      /* see division.c */
    uint16_t *param_offset;    /* param_count of them */
    double
        wave_ns; /* how long it ran lately, by waves_of its grid; 0: never measured. Dispatcher */
    char name[64];
};

struct module {
    CUmodule cu;
    uint32_t id;
    struct kernel *kernels;
};

struct stream {
    bool open;
    CUstream cu;            /* NULL: not used yet; it costs half a MiB of GPU memory */
    struct partition *home; /* the lane's whose context the CUDA stream is of; NULL: the primary */
    uint64_t head;          /* records before it are consumed */
    uint64_t issued;    /* the device has been given work up to here: what it may be busy with */
    uint64_t signalled; /* a completion write of this position has been issued */
    int cu_priority;    /* of the CUDA stream, since it was made */
    bool own_qos;       /* its tenant gave it a class and a priority: */
    uint32_t own_cls;
    int32_t own_priority; /* gs_qos's scale */
    uint32_t cls;         /* what its launches have: its own or the session's, within the grant */
    int priority;         /* CUDA's: lower runs earlier */
    struct launcher *launcher; /* executable graphs; NULL until the first launch */
    struct flight *flight;     /* what is on the device; there when cu is */
    struct burst burst;        /* what its tenant writes at a time */
};

struct event {
    CUevent cu; /* NULL: never recorded */
    uint32_t stream;
    uint64_t position; /* after its last REC_EVENT */
};

struct host_block {
    unsigned char *memory;
    uint64_t size;
    uint64_t serial; /* of the session, when it was made */
    bool pinned;     /* registered with the driver: the device copies from and to it */
};

/* A launch that wants a report, between its issue and its end. */
struct report {
    CUevent start, end;
    uint32_t id;
    uint64_t queued_ns;
    uint64_t deadline_ns; /* of clock_ns(); 0: none */
    int priority;
    uint32_t partition, sm_count;
};

/* What a session may use, see grant.c. */
struct grant {
    struct link_grant link;
    struct partition *partition; /* held; NULL: the whole device */
    struct sm_mask mask;         /* also of the whole device */
    uint32_t sm_count;
};

/* Where launches with an affinity of their own went lately: the same one is found without a
 * search. Worth nothing once a partition has gone since (partition_losses). */
struct placed {
    struct wire_qos qos; /* its affinity */
    struct partition *partition;
    uint64_t losses;
    uint32_t policy; /* of worker.policy_count ... */
    uint32_t kept;   /* ... less this of what it reserves; NONE: under any policy */
};
#define PLACED_KEPT 8u

/* The grant less what is reserved, or some of it. */
struct spared {
    struct partition *partition; /* held. NULL: the grant itself */
    uint32_t policy;             /* of worker.policy_count, when that was found */
    uint64_t again_ns;           /* when it is asked for again, if it is not there then */
};

/* Whom it may have to wait for, see lines.c. */
struct line_member {
    struct session *next;
    uint32_t line; /* of lines.line; also while it has no work */
    uint32_t set;  /* while lines are found */
    bool entered;
};

enum session_phase { SESSION_LIVE, SESSION_CLOSING };

struct session {
    /* Set by the open job, constant then. */
    uint32_t slot;
    uint32_t uid;
    uint64_t id;
    char name[32]; /* its tenant's, for people */
    unsigned char *segment;
    struct seg_client *client;
    struct seg_server *server;
    struct seg_request *request;
    CUdeviceptr complete; /* seg_complete.position[0], as the device sees it */
    bool complete_registered;
    struct link_stats *stats;

    /* The lane's that the session belongs to. */
    struct lane *lane;
    enum session_phase phase;
    struct grant grant;
    uint32_t grant_sequence;
    struct placed placed[PLACED_KEPT];
    uint32_t placed_next;
    struct spared spared[RESERVE_MOST]; /* by what is kept, from RESERVE_FEW on */
    bool hot;                           /* polled; else its client must ring */
    bool faulted;                       /* takes no more records */
    bool paused; /* a job waits for the device to finish the session's work */
    uint32_t hot_index;
    uint64_t active_ns;        /* when it last had something to do */
    uint64_t given_ns;         /* when the device was last given something of it */
    uint64_t pending;          /* streams that may have records */
    bool awaits;               /* the rest of what is being written into one of them */
    uint64_t busy;             /* streams of which the device may have unfinished work */
    uint64_t flying;           /* streams whose marks are waited for */
    uint32_t light;            /* records one after the other that any lane could have taken */
    _Atomic bool recalled;     /* the main lane wants the session back */
    struct session *lane_next; /* of those on the way to a lane, or back */
    bool flying_listed;        /* see flight.c */
    struct session *flying_next;
    uint64_t tried;        /* the turn in which it was served last */
    uint64_t budget_turn;  /* the turn that this is for: */
    uint32_t budget;       /* records that it still may hand over */
    uint32_t stream_first; /* the next turn begins with it */
    struct sched_entity sched;
    struct line_member member;
    struct reserve_entity reserve; /* its latency work */
    struct job *job;               /* the request or close in progress */
    struct job *close;            /* LINK_CLOSE came while a job was in progress: what to do then */
    struct session *next_leaving; /* of roster.leaving */
    struct stream streams[SEG_STREAMS];
    struct module **modules;
    uint32_t module_room;
    struct kernel **kernels;
    uint32_t kernel_room;
    struct host_block **hosts;     /* SEG_HOSTS, or NULL */
    struct event *events;          /* SEG_EVENTS, or NULL */
    struct session_graph **graphs; /* SEG_GRAPHS, or NULL */
    uint64_t table_generation; /* grows when something is freed or unloaded: graphs check themselves
                                  again */
    uint64_t requests_from_ns; /* a graph checks itself: requests wait until then; 0: they do not */
    uint64_t serial;           /* counts kernels and host blocks ever made */
    struct space allocations;  /* live allocations and module globals (tag: their module) */
    struct report *reports;    /* SEG_REPORTS, or NULL */
    uint32_t reports_open;

    /* The job's (service thread), see memory.c. */
    struct space window;                        /* spans: chunks (tag: struct chunk) */
    _Atomic uint64_t mem_limit, user_mem_limit; /* any thread; see memory_limit_set */
    uint64_t mem_used;
    struct user *user; /* what all its user's sessions hold */
    uint64_t window_reserved;
    struct chunk *spare;     /* see chunk.c; NULL: none */
    uint32_t exports;        /* see share.c */
    struct imports *imports; /* NULL: none */
    uint64_t host_bytes;
    struct host_block *print; /* what its kernels print goes there; NULL: none prints */
    int print_id;             /* System V's */
};

/* What the whole worker has one of. */
struct worker {
    CUdevice device;
    CUcontext context;
    struct link_device info;
    uint64_t granularity; /* of cuMemCreate */
    /* Device memory of a green context that the driver keeps when it is destroyed; 0: none. */
    uint64_t partition_lost;
    const char *bell_name;
    struct link_stats *stats;  /* LINK_SLOTS_MAX of them */
    struct link_policy policy; /* the dispatcher's */
    uint32_t policy_count;     /* of policies so far; at least 1 */
};
extern struct worker worker;

#endif
