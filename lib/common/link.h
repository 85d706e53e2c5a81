/*
 * link.h - the supervisor and its worker: messages on a SOCK_SEQPACKET socketpair.
 *
 * Both ends are the same executable of the same build, so nothing is versioned; but the worker runs
 * tenants' code under a driver, so the supervisor checks what it says as it would a stranger's: a
 * message of a wrong size or about a wrong slot ends the worker, never the supervisor.
 *
 * Life of a session slot:
 *   supervisor                         worker
 *   LINK_OPEN {slot, segment, limits}  maps the segment, registers the completion page,
 *                                      reserves a window
 *                                      LINK_OPENED {slot, window}  or  {slot, status, text}
 *   LINK_CLOSE {slot}                  stops taking records, lets the device finish what it has,
 *                                      frees everything
 *                                      LINK_CLOSED {slot}
 * The slot is free for another session only after LINK_CLOSED (or a refused LINK_OPENED).
 */
#ifndef GS_COMMON_LINK_H
#define GS_COMMON_LINK_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/wire.h"

#define LINK_SLOTS_MAX 4096u

enum link_op {
    LINK_READY = 1,      /* worker: device ready */
    LINK_OPEN = 2,       /* supervisor */
    LINK_OPENED = 3,     /* worker */
    LINK_CLOSE = 4,      /* supervisor */
    LINK_CLOSED = 5,     /* worker */
    LINK_VAULT_PUT = 6,  /* worker, with one descriptor: keep it for {slot, address, size} */
    LINK_VAULT_DROP = 7, /* worker: close the descriptor of {slot, address} */
    LINK_FATAL = 8,      /* worker: the context is lost or the device cannot be used; it exits now.
                            slot: the session to blame, or LINK_SLOT_NONE */
    LINK_QUIT = 9,       /* supervisor: exit, without waiting for the device */
    LINK_GRANT = 10,     /* supervisor: {slot} has this grant from its next launch on */
    LINK_GRANTED = 11,   /* worker: the grant of {slot, sequence} holds, or {status, text}: the one
                            before it still does */
    LINK_POLICY = 12,    /* supervisor: how the device is scheduled from now on */
    LINK_WORN = 13       /* worker: half of what it can do but so many times is done; another one is
                            to take its place when it has no sessions */
};
#define LINK_SLOT_NONE UINT32_MAX

/* Masks of SMs: as gs_exec_affinity's. */
#define LINK_SMS_MAX  (GS_SM_MASK_WORDS * 64u)
/* So many different masks, of less than the device, can be granted at a time: on an H200 each of
 * its 66 groups, 33 pairs of them, and 29 more. */
#define LINK_SETS_MAX 128u

struct link_device {
    uint64_t memory_total;
    uint32_t compute_major, compute_minor;
    uint32_t sm_count;
    uint32_t max_threads_per_block;
    uint32_t max_block_dim[3];
    uint32_t max_grid_dim[3];
    uint32_t max_dynamic_smem;
    int32_t priority_lowest, priority_highest; /* CUDA's: 0 and, say, -5 */
    uint32_t sm_groups;      /* of SMs that can only be granted together; 0: no partitions */
    uint32_t sm_granularity; /* SMs of the smallest group; 0: no partitions */
    uint32_t device_count;   /* devices that the driver has */
    uint32_t reserved;
    char name[64];
    char driver[32];
    uint8_t sm_group[LINK_SMS_MAX]; /* the group of each SM below sm_count */
};

/* What a session may use. The supervisor decides it (who asked for what, what the operator set,
 * where there is room); the worker applies it. */
struct link_grant {
    uint64_t sequence;     /* grows with each grant of a session */
    uint32_t cls;          /* gs_class; a launch may go down from it, never up */
    int32_t priority;      /* gs_qos's scale */
    int32_t priority_max;  /* what streams and launches may ask for */
    uint32_t weight;       /* at least 1 */
    uint32_t inflight_max; /* kernels issued and not finished; 0: the class's own default */
    uint32_t exclusive;
    uint64_t deadline_ns;               /* for launches without one of their own; 0: none */
    uint64_t mem_limit;                 /* of the session; 0: the device's memory */
    uint64_t user_mem_limit;            /* of all sessions of its user; 0: none */
    uint64_t sm_mask[GS_SM_MASK_WORDS]; /* whole groups; all zero: the whole device */
};

/* LINK_GRANTED */
struct link_granted {
    uint64_t sequence;
    int32_t status; /* gs_status */
    uint32_t reserved;
};

/* Best-effort work leaves SMs to latency work: a share for each session that is at work, up to so
 * many. */
#define LINK_SHARES 4u

/* One per device. */
struct link_policy {
    uint64_t reserve_mask[LINK_SHARES][GS_SM_MASK_WORDS]; /* of one share, of two ... each with the
                                                             one before in it */
    uint64_t few_mask[GS_SM_MASK_WORDS]; /* of the first: what is left when such work may come */
    uint32_t accounting;                 /* 1: GPU time is measured per session */
    uint32_t weights;                    /* 1: GPU time is shared by weight */
};

struct link_open {
    int32_t segment_id;
    uint32_t uid;
    uint64_t session_id;
    uint64_t give_up_ns; /* of clock_ns(): whoever waits for it wants to know why by then; 0: no */
    char name[32];       /* for people */
    struct link_grant grant;
};

struct link_opened {
    int32_t status; /* gs_status */
    uint32_t reserved;
    uint64_t window_base, window_size;
    uint64_t mem_limit; /* what was granted */
};

struct link_vault {
    uint64_t address;
    uint64_t size;
};

struct link_fatal {
    int32_t status; /* gs_status that tenants get */
    uint32_t kind;  /* gs_fault_kind */
    uint32_t stream;
    uint32_t reserved;
    uint64_t position;
    char kernel[64];
};

struct link_message {
    uint32_t op;
    uint32_t slot;
    union {
        struct link_device device;
        struct link_open open;
        struct link_opened opened;
        struct link_vault vault;
        struct link_fatal fatal;
        struct link_grant grant;
        struct link_granted granted;
        struct link_policy policy;
    } u;
    char text[192]; /* for people: why something failed */
};

/* One per slot in a memfd that the supervisor makes and the worker fills: what `gsctl ps` shows,
 * without a message. Relaxed loads and stores: they are figures, nothing hangs on their order. */
struct link_stats {
    _Atomic uint64_t memory_used;
    _Atomic uint64_t launches;
    _Atomic uint64_t copies;
    _Atomic uint64_t copied_bytes;
    _Atomic uint64_t gpu_ns;           /* time on the device, by its own clock */
    _Atomic uint64_t deadlines_missed; /* launches that ended after their deadline */
    uint64_t reserved[2];
};
static_assert(sizeof(struct link_stats) == 64, "link_stats");

/* How the supervisor starts a worker: it execs itself with these descriptors and this command line:
 *   gshared --worker DEVICE KIND BELL
 * DEVICE is an ordinal, KIND is cuda, soft or auto, BELL the name of the doorbell queue, which the
 * supervisor made. LINK_FD is the socketpair, LINK_STATS_FD the statistics. The worker ends when
 * the socket does. */
#define LINK_FD       3
#define LINK_STATS_FD 4

#endif
