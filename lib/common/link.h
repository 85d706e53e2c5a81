/*
 * link.h - messages between the supervisor and its worker on a SOCK_SEQPACKET socketpair.
 *
 * The messages have no version. Both ends are of one build until the supervisor goes on as another
 * program, which is refused where a layout differs (server/upgrade.h): the workers of the program
 * before stay, until a restart replaces them. The worker runs tenants' code under a driver, so the
 * supervisor trusts its messages no more than a stranger's: a message of a wrong size or about a
 * wrong slot ends the worker, never the supervisor.
 *
 * Life of a session slot:
 *   supervisor                         worker
 *   LINK_OPEN {slot, segment, limits}  maps the segment and registers the completion page, unless
 *                                      it keeps both from a former session; reserves a window
 *                                      LINK_OPENED {slot, window}  or  {slot, status, text}
 *   LINK_CLOSE {slot}                  stops taking records, lets the device finish the session's
 *                                      work, frees everything
 *                                      LINK_CLOSED {slot}
 * Another session may take the slot only after LINK_CLOSED (or a refused LINK_OPENED).
 *
 * A LINK_OPENED brings the descriptor of the session's journal. When the worker is lost, the next
 * one gets for each session that was open the vault's descriptors (LINK_RESUME_PIECE), then a
 * LINK_OPEN with `resume` and the journal's descriptor, and answers by LINK_OPENED: the session is
 * as it was, or, with a status, could not be taken up.
 *
 * Before a worker is asked to retire, its standby gets the same beforehand: LINK_PRELOAD for each
 * session, then LINK_PRELOAD_PIECEs, then LINK_PRELOAD_END, which it answers by LINK_PRELOADED. It
 * maps and registers what it can, and uses that for the sessions that it gets after its LINK_BEGIN;
 * the worker goes on meanwhile, and both have the same memory. What LINK_RESUME_PIECE and the
 * journal say counts, so it does no harm where the one before has changed since.
 *
 * Memory of a session on another device, a peer, is imported by way of the supervisor, which has
 * its descriptor in the vault. All messages name the importer's slot:
 *   1. LINK_PEER_IMPORT, handle: from the importer's worker;
 *   2. LINK_PEER_EXPORT, handle: to the owner's worker, which looks the export up;
 *   3. LINK_PEER_EXPORTED: what and where it is, or a refusal;
 *   4. LINK_PEER_IMPORTED: to the importer's worker with the descriptor, or the refusal;
 *   5. LINK_VAULT_PEER, address: it has mapped the memory, and the vault keeps it for it too.
 * When the owner revokes or frees the memory, or ends, the supervisor tells LINK_PEER_REVOKE to the
 * worker of each device that has, or had, an import; and to the owner's by LINK_LINGERING what is
 * not gone by then.
 *
 * Host memory of a peer needs no descriptor, since its segment is the user's. The worker asks for
 * the window alone, by LINK_PEER_WINDOW, which LINK_PEER_IMPORTED answers: of 0 bytes if the other
 * session is not of the same process.
 *
 * A supervisor that is killed is replaced by another (keeper.h), with the same socket. The worker
 * is told by LINK_RESYNC, and says what it has: its predecessor may have died between two messages.
 *
 * The worker keeps a closed session's segment mapped, and its completion page registered, for
 * another session that the supervisor opens with the same segment, until LINK_SEGMENT_DROP. The
 * supervisor sends that for each segment that it will not use again: of a closed session, or of one
 * whose LINK_OPEN was refused, which the worker may keep or not.
 */
#ifndef GS_COMMON_LINK_H
#define GS_COMMON_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/histogram.h"
#include "common/wire.h"

#define LINK_SLOTS_MAX 4096u
/* Dispatch lanes of a worker. GSHARE_LANES in its environment says how many it is to have. */
#define LINK_LANES_MAX 16u

enum link_op {
    LINK_READY = 1,      /* worker: the device is ready; text: why "auto" is not CUDA, or "" */
    LINK_OPEN = 2,       /* supervisor */
    LINK_OPENED = 3,     /* worker */
    LINK_CLOSE = 4,      /* supervisor */
    LINK_CLOSED = 5,     /* worker */
    LINK_VAULT_PUT = 6,  /* worker, with one descriptor: keep it for {slot, address, size} */
    LINK_VAULT_DROP = 7, /* worker: close the descriptor of {slot, address} */
    LINK_FATAL = 8,      /* worker: the context is lost or the device cannot be used, and the worker
                            exits now. slot: the session to blame, or LINK_SLOT_NONE */
    LINK_QUIT = 9,       /* supervisor: exit, without waiting for the device */
    LINK_GRANT = 10,     /* supervisor: {slot} has this grant from its next launch on */
    LINK_GRANTED = 11,   /* worker: the grant of {slot, sequence} is in force; with {status, text}:
                            it failed, and the grant before it is still in force */
    LINK_POLICY = 12,    /* supervisor: how the device is scheduled from now on */
    LINK_NEEDS_RECYCLING = 13, /* worker: it has made half of the sets of SMs that the driver allows
                                  one process, or has raised the stack of kernels; a new worker is
                                  to replace it when it has no sessions */
    LINK_SEGMENT_DROP = 14,    /* supervisor: no session will be opened with this segment again; it
                                  names no slot */
    LINK_PING = 15,            /* supervisor: to be answered at once; one at a time */
    LINK_PONG = 16,            /* worker: with the number of the LINK_PING */
    LINK_RESUME_PIECE = 17,    /* supervisor, with one descriptor: memory of {slot, address, size},
                                  whose LINK_OPEN comes next */
    LINK_EVICT = 18,           /* supervisor: {slot, text}: if the device still has work of the
                                  closing session, the worker ends, and blames the session */
    LINK_BEGIN = 19,   /* supervisor: the worker that is ready is the device's from now on */
    LINK_RESUMED = 20, /* supervisor: all sessions are taken up, or never will be */
    LINK_RETIRE = 21,  /* supervisor: come to rest, and exit, so that another worker takes the
                          sessions up */
    LINK_RETIRED = 22, /* worker: it is at rest, to be ended; with {status, text}: it stays */
    LINK_TRIED = 23,  /* worker: the session's unfinished work has run again, while no other session
                         had work */
    LINK_RESYNC = 24, /* supervisor: another supervisor has taken its predecessor's place; the
                         worker tells the state of each session */
    LINK_SESSION = 25,  /* worker: the state of {slot}; one for each slot that is not empty */
    LINK_RESYNCED = 26, /* worker: after the LINK_SESSIONs */
    LINK_TRACE = 27,    /* supervisor: the worker writes its trace into this segment from now on */
    LINK_VAULT_SHARE = 28, /* worker: the memory of {slot, address, size} is one that the vault has
                              for another slot */
    LINK_PRELOAD = 29, /* supervisor, to a standby, with the journal's descriptor: a session that
                          it may have to take up */
    LINK_PRELOAD_PIECE = 30, /* supervisor, to a standby, with one descriptor: memory of {slot} */
    LINK_PRELOAD_DROP = 31,  /* supervisor, to a standby: let go of the piece {slot, number}, with
                                number 0 of all of {slot}, or of all of LINK_SLOT_NONE's */
    LINK_PRELOAD_END = 32,   /* supervisor, to a standby: to be answered after all before it */
    LINK_PRELOADED = 33,     /* standby */
    LINK_SUSPECT = 34, /* worker, before a LINK_FATAL that blames nobody: the session had unfinished
                          kernels, or other work where nobody had any */
    LINK_REVOKE = 35,  /* worker: what other devices have imported of {slot, address} is to be taken
                          back */
    LINK_PEER_IMPORT = 36,   /* worker: {slot} wants to import an export of another device */
    LINK_PEER_EXPORT = 37,   /* supervisor: is there that export of yours for a session of another
                                device? One at a time for each slot, which is that session's */
    LINK_PEER_EXPORTED = 38, /* worker: the answer; with {status, text}: there is none for it */
    LINK_PEER_IMPORTED = 39, /* supervisor, with one descriptor: the answer to LINK_PEER_IMPORT;
                                with {status, text} and no descriptor: a refusal */
    LINK_VAULT_PEER = 40,    /* worker: {slot, address, size, number} is what the last
                                LINK_PEER_IMPORTED has brought; with size 0: it could not be mapped
                                */
    LINK_PEER_REVOKE = 41, /* supervisor: the imports {number} of all slots are to be taken back */
    LINK_LINGERING = 42,   /* supervisor: what other devices still have of a user's memory of this
                              device after it was taken back; it counts as the user's */
    LINK_TAKEN_UP = 43,    /* worker: a session whose LINK_OPENED was late has its modules again */
    LINK_PEER_WINDOW = 44  /* worker: which window has the session of another device that
                              link_peer_ask.session_id names? Answered by LINK_PEER_IMPORTED */
};
#define LINK_SLOT_NONE UINT32_MAX

/* The handle of an export is random, but for the device of the export. */
#define LINK_HANDLE_WORDS 4u
static inline uint32_t link_handle_device(const uint64_t handle[LINK_HANDLE_WORDS])
{
    return handle[LINK_HANDLE_WORDS - 1] & 0xffu;
}
static inline void link_handle_set_device(uint64_t handle[LINK_HANDLE_WORDS], uint32_t device)
{
    handle[LINK_HANDLE_WORDS - 1] = (handle[LINK_HANDLE_WORDS - 1] & ~UINT64_C(0xff)) | device;
}

/* SMs in a mask, as in gs_exec_affinity's. */
#define LINK_SMS_MAX  (GS_SM_MASK_WORDS * 64u)
/* The number of different masks, the whole device not counted, that can be granted at a time. On an
 * H200 that is enough for each of its 66 groups, 33 pairs of them, and 29 more. */
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
    uint32_t sm_groups;      /* groups of SMs, which are granted whole; 0: no partitions */
    uint32_t sm_granularity; /* SMs of the smallest group; 0: no partitions */
    uint32_t device_count;   /* all devices of the driver */
    int32_t numa_node;       /* of the host, next to the device (numa.h); negative: unknown */
    char name[64];
    char driver[32];
    char uuid[48];                      /* "GPU-8c5f...", "MIG-8c5f..."; "": not known */
    char pci[24];                       /* "00000000:65:00.0"; "": not known */
    uint8_t sm_group[LINK_SMS_MAX];     /* the group of each SM below sm_count */
    int32_t attribute[WIRE_ATTRIBUTES]; /* 0: the driver does not know it */
};

/* What a session may use. The supervisor decides it from the session's request, the operator's
 * settings and the SMs that are free; the worker applies it. */
struct link_grant {
    uint64_t sequence;    /* grows with each grant of a session */
    uint32_t cls;         /* gs_class; a launch may have a lower class, not a higher one */
    int32_t priority;     /* in gs_qos's scale */
    int32_t priority_max; /* the highest that streams and launches may have */
    uint32_t weight;      /* at least 1 */
    uint32_t queue_depth; /* the most kernels issued and not finished; 0: no cap */
    uint32_t exclusive;
    uint32_t user_hosts;     /* host blocks of all sessions of its user; 0: no limit */
    uint32_t kernel_limit;   /* ms that a kernel may run; 0: no limit */
    uint64_t deadline_ns;    /* for launches without one of their own; 0: none */
    uint64_t mem_limit;      /* of the session; 0: the device's memory */
    uint64_t user_mem_limit; /* of all sessions of its user; 0: none */
    uint64_t user_host_mem;  /* the same of host memory */
    uint64_t all_host_mem;   /* of all sessions of all users, which bounds this session; 0: not */
    /* of device memory that the driver takes for them beside that; 0: no limit */
    uint64_t user_driver_mem;
    uint32_t user_sets;    /* sets of SMs that its user may ask for; 0: any */
    uint32_t user_compile; /* percent of a CPU that compiling for its user takes; 0: any */
    /* 1: user_host_mem is set for this user or session by name, so they may have more of
     * all_host_mem than is left for all */
    uint32_t host_mem_granted;
    uint32_t reserved;
    uint64_t sm_mask[GS_SM_MASK_WORDS]; /* whole groups; all zero: the whole device */
};

/* LINK_GRANTED */
struct link_granted {
    uint64_t sequence;
    int32_t status; /* gs_status */
    uint32_t reserved;
};

/* Best-effort work leaves SMs to latency work: one share of them for each latency session that has
 * work, up to this number of shares. */
#define LINK_SHARES 4u

/* One per device. */
struct link_policy {
    /* The SMs of one share, of two, ... each a superset of the one before. */
    uint64_t headroom_mask[LINK_SHARES][GS_SM_MASK_WORDS];
    /* A part of the first share, left free while latency work may come at any time. */
    uint64_t partial_mask[GS_SM_MASK_WORDS];
    uint32_t accounting; /* 1: the worker measures each session's GPU time */
    uint32_t weights;    /* 1: GPU time is shared by weight */
};

enum link_replay {
    LINK_REPLAY_NOT = 0,  /* a session with such work is refused */
    LINK_REPLAY = 1,      /* it runs again */
    LINK_REPLAY_ALONE = 2 /* it runs again while the others wait: it is suspect */
};

struct link_open {
    int32_t segment_id;
    uint32_t uid;
    uint64_t session_id;
    uint64_t give_up_ns; /* clock_ns() by which an open that still waits is refused with its reason;
                            0: never */
    char name[32];       /* for people */
    uint32_t fenced;     /* gs_fence: the session's kernels are kept to its window; 0: not */
    uint32_t resume;     /* 1: a former worker had it, with the window that follows */
    uint32_t replay;     /* enum link_replay: what becomes of work that is not finished */
    int32_t pid;         /* of its tenant, for people */
    uint64_t window_base, window_size;
    uint64_t kernel_heap; /* bytes that its kernels can malloc from; 0: the default */
    uint32_t unkept;      /* 1: it ends with its worker, for which nothing of it is kept */
    uint32_t reserved;
    uint64_t suspect_ns; /* a suspect, whose work takes turns with other suspects', until clock_ns()
                            is this; 0: none */
    struct link_grant grant;
};

struct link_opened {
    int32_t status; /* gs_status */
    uint32_t late;  /* 1: it is taken up but for its modules; a LINK_TAKEN_UP follows */
    uint64_t window_base, window_size;
    uint64_t mem_limit; /* as granted */
};

enum link_session_state {
    LINK_SESSION_OPENING = 1, /* a LINK_OPENED will come */
    LINK_SESSION_OPEN = 2,
    LINK_SESSION_CLOSING = 3 /* a LINK_CLOSED will come */
};

/* LINK_SESSION. What was sent before it counts already: messages are read in order. */
struct link_session {
    uint64_t resync; /* the number of the LINK_RESYNC */
    uint64_t session_id;
    uint32_t state;            /* enum link_session_state */
    uint32_t status;           /* gs_status of the answer to `answered` */
    uint64_t asked, answered;  /* sequences of the last LINK_GRANT that came, and the last one that
                                  was answered; 0: none */
    struct link_opened opened; /* of an open one */
};

struct link_vault {
    uint64_t address;
    uint64_t size;
    uint64_t number; /* the supervisor's: no other piece has, had, or will have it. PEER, REVOKE:
                        the loan's, as LINK_PEER_IMPORTED told */
};

/* LINK_PRELOAD: what LINK_OPEN will say. */
struct link_preload {
    uint64_t session_id;
    uint64_t window_base, window_size;
    int32_t segment_id;
    uint32_t uid;
    uint32_t fenced;
    uint32_t reserved;
};

struct link_vault_share {
    struct link_vault vault; /* of the slot */
    uint64_t from_address;   /* of the same memory, ... */
    uint32_t from_slot;      /* ... in the slot that has it in the vault */
};

/* LINK_PEER_IMPORT, LINK_PEER_EXPORT, LINK_PEER_WINDOW */
struct link_peer_ask {
    uint64_t ask; /* the importer's worker's number, never 0; its answer has it */
    uint64_t handle[LINK_HANDLE_WORDS];
    uint64_t session_id; /* WINDOW: whose; EXPORT: the importer, ... */
    uint32_t uid;        /* ... and its user */
    uint32_t reserved;
};

/* LINK_PEER_EXPORTED, LINK_PEER_IMPORTED */
struct link_peer_answer {
    uint64_t ask;
    int32_t status;      /* gs_status */
    uint32_t from;       /* EXPORTED: the owner's slot; IMPORTED: its device */
    uint64_t address;    /* of the memory in its owner's window */
    uint64_t size;       /* of the exported allocation */
    uint64_t piece_size; /* of the memory */
    uint64_t number;     /* IMPORTED: the supervisor's, for this loan of the memory and no other */
    /* IMPORTED: the owner's window, if the owner is of the same process; else of 0 bytes */
    uint64_t window_base, window_size;
};

/* LINK_LINGERING */
struct link_lingering {
    uint64_t bytes;
    uint32_t uid;
    uint32_t reserved;
};

struct link_fatal {
    int32_t status; /* gs_status that tenants get */
    uint32_t kind;  /* gs_fault_kind */
    uint32_t stream;
    /* No lane or service thread runs, and the device has nothing of the worker but work of the
     * session in `slot` after an eviction: the next worker may begin at once. */
    uint32_t at_rest;
    uint64_t position;
    uint64_t launch; /* as seg_fault's, of the session in `slot` */
    char kernel[64];
};

/* LINK_TRACE */
struct link_trace {
    int32_t segment_id; /* System V id of a struct trace_segment; negative: none any more */
    uint32_t uid;       /* whose sessions are traced, ... */
    uint32_t all;       /* ... unless this is 1 */
};

struct link_ping {     /* LINK_PING, LINK_PONG */
    uint64_t number;   /* of the PING */
    uint64_t stuck_ns; /* PONG: how long a lane has been in one round, the longest; 0: all sleep */
};

/* What messages carry; server/upgrade.c compares the sizes. */
#define LINK_BODIES(BODY)                                                                          \
    BODY(struct link_device, device)                                                               \
    BODY(struct link_open, open)                                                                   \
    BODY(struct link_opened, opened)                                                               \
    BODY(struct link_vault, vault)                                                                 \
    BODY(struct link_vault_share, share)                                                           \
    BODY(struct link_peer_ask, peer_ask)                                                           \
    BODY(struct link_peer_answer, peer_answer)                                                     \
    BODY(struct link_lingering, lingering)                                                         \
    BODY(struct link_fatal, fatal)                                                                 \
    BODY(struct link_grant, grant)                                                                 \
    BODY(struct link_granted, granted)                                                             \
    BODY(struct link_policy, policy)                                                               \
    BODY(uint32_t, resuming)  /* LINK_BEGIN: sessions to be taken up before any has new work */    \
    BODY(int32_t, segment_id) /* LINK_SEGMENT_DROP */                                              \
    BODY(struct link_ping, ping)                                                                   \
    BODY(uint64_t, resync) /* LINK_RESYNC, LINK_RESYNCED: a number */                              \
    BODY(uint32_t, force)  /* LINK_RETIRE: sessions that cannot be taken up end */                 \
    BODY(int32_t, retired) /* LINK_RETIRED: gs_status */                                           \
    BODY(struct link_session, session)                                                             \
    BODY(struct link_trace, trace)                                                                 \
    BODY(struct link_preload, preload)

struct link_message {
    uint32_t op;
    uint32_t slot;
    union {
#define LINK_BODY(type, name) type name;
        LINK_BODIES(LINK_BODY)
#undef LINK_BODY
    } u;
    char text[192]; /* for people: why something failed */
};

/* Where the kernel tells of one descriptor. A process that shares this memory with a next one, and
 * its descriptors, loses none when it is killed. All zero: none. */
struct link_control {
    _Alignas(8) unsigned char bytes[24]; /* a struct cmsghdr and a descriptor */
};

/* Sends a message with a descriptor, which stays the caller's; -1: without one. False, and errno:
 * the socket does not take the message. */
bool link_write(int fd, const struct link_message *message, int descriptor);
/* Takes the next message without waiting and returns its length, which may be any; 0: the other end
 * is closed; negative, and errno: there is no message. *descriptor: the one that came along, which
 * the caller closes, or -1. */
ssize_t link_read(int fd, struct link_message *message, struct link_control *control,
                  int *descriptor);
/* Returns the descriptor that the kernel has told in `control`; -1: none. */
int link_descriptor(const struct link_control *control);

/* The figures that `gsctl ps` shows of a session, one struct per slot in a memfd that the
 * supervisor makes and the worker fills, so that they need no messages. Loads and stores are
 * relaxed, because nothing depends on their order. */
struct link_stats {
    _Atomic uint64_t memory_used;
    _Atomic uint64_t launches;
    _Atomic uint64_t copies;
    _Atomic uint64_t copied_bytes;
    _Atomic uint64_t gpu_ns;           /* time on the device, by its own clock */
    _Atomic uint64_t deadlines_missed; /* launches that ended after their deadline */
    _Atomic uint64_t sm_ns;            /* the same time, each moment by the SMs that were taken */
    _Atomic uint64_t strays; /* accesses that the fence kept in the window, where they are told */
    /* Times of launches and recorded graphs since the lane saw their records. */
    struct link_histogram {
        _Atomic uint64_t count[HISTOGRAM_BUCKETS];
        _Atomic uint64_t sum_ns;
    } wait,                 /* until their issue */
        latency;            /* until their end */
    _Atomic uint64_t depth; /* launches and graphs that are issued and not known to have ended */
    _Atomic uint64_t driver_memory; /* of the device: what the driver takes beside memory_used */
    /* threads that read or compile what its tenant has sent: who is to blame where the worker
     * crashes meanwhile (workers/suspects.h) */
    _Atomic uint64_t compiling;
    uint64_t reserved; /* whole cache lines */
};
static_assert(sizeof(struct link_stats) == 384, "link_stats");

/* Counts in a figure that only the calling thread writes. */
static inline void link_stat_add(_Atomic uint64_t *figure, uint64_t by)
{
    atomic_store_explicit(figure, atomic_load_explicit(figure, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/* The supervisor starts a worker by exec of its own executable with these descriptors and this
 * command line:
 *   gshared --worker DEVICE KIND BELL CACHE
 * DEVICE is an ordinal, KIND is cuda, soft or auto, and BELL is the name of the doorbell queue,
 * which the supervisor made. CACHE is the directory for machine code, "": none. LINK_FD is the
 * socketpair, LINK_STATS_FD the memfd of link_stats, LINK_CODE_FD the device's memfd of
 * LINK_CODE_BYTES for machine code (module/code_cache.h). The worker ends when the socket closes.
 */
#define LINK_FD         3
#define LINK_STATS_FD   4
#define LINK_CODE_FD    5
#define LINK_CODE_BYTES (UINT64_C(256) << 20)

#endif
