/*
 * link.h - messages between the supervisor and its worker on a SOCK_SEQPACKET socketpair.
 *
 * The messages have no version number, because both ends come from one build. The exception is an
 * upgrade, in which the supervisor executes another program while the workers of the previous
 * program stay until a restart replaces them; an upgrade is refused if a layout differs
 * (server/upgrade.h). The worker runs tenants' code under a driver, so the supervisor trusts its
 * messages no more than a stranger's: a message of a wrong size or about a wrong slot ends the
 * worker, never the supervisor.
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
 * A LINK_OPENED brings the descriptor of the session's journal. When the worker is lost, the
 * supervisor sends the next worker, for each session that was open, the vault's descriptors
 * (LINK_RESUME_PIECE) and then a LINK_OPEN with `resume` and the journal's descriptor. The worker
 * answers by LINK_OPENED: the session is as it was, or, with a status, it could not be taken up.
 *
 * Before the supervisor asks a worker to retire, it sends the worker's standby the same descriptors
 * ahead of time: LINK_PRELOAD for each session, then the LINK_PRELOAD_PIECEs, then
 * LINK_PRELOAD_END, which the standby answers by LINK_PRELOADED. The standby maps memory and
 * registers segments, and uses these mappings for the sessions that it gets after its LINK_BEGIN.
 * The worker goes on meanwhile, with the same memory mapped. LINK_RESUME_PIECE and the journal
 * decide what a session has, so a mapping that has become stale in the meantime does no harm.
 *
 * A session imports memory of a session on another device (a peer) through the supervisor, whose
 * vault has the memory's descriptor. All messages name the importer's slot:
 *   1. LINK_PEER_IMPORT, handle: from the importer's worker;
 *   2. LINK_PEER_EXPORT, handle: to the owner's worker, which looks the export up;
 *   3. LINK_PEER_EXPORTED: what and where it is, or a refusal;
 *   4. LINK_PEER_IMPORTED: to the importer's worker with the descriptor, or the refusal;
 *   5. LINK_VAULT_PEER, address: it has mapped the memory, and the vault keeps it for it too.
 * When the owner revokes or frees the memory, or ends, the supervisor sends LINK_PEER_REVOKE to the
 * worker of each device that has, or had, an import. By LINK_LINGERING it tells the owner's worker
 * how much of the memory other devices still hold.
 *
 * Host memory of a peer needs no descriptor, since its System V segment belongs to the user. The
 * worker asks for the peer's window alone, by LINK_PEER_WINDOW. LINK_PEER_IMPORTED answers it, with
 * a window of 0 bytes if the peer's session belongs to another process.
 *
 * A supervisor that is killed is replaced by another (keeper.h), with the same socket. The new
 * supervisor sends the worker LINK_RESYNC, and the worker reports the state of its sessions,
 * because the killed supervisor may have died between two messages.
 *
 * The worker keeps a closed session's segment mapped, and its completion page registered, for
 * another session that the supervisor opens with the same segment, until LINK_SEGMENT_DROP. The
 * supervisor sends LINK_SEGMENT_DROP for each segment that it will not use again: the segment of a
 * closed session, or of a session whose LINK_OPEN was refused (the worker may or may not have kept
 * that one).
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
/* The most dispatch lanes of a worker. GSHARE_LANES in its environment sets the number. */
#define LINK_LANES_MAX 16u

enum link_op {
    LINK_READY = 1,      /* worker: the device is ready; text: why kind "auto" did not choose
                            CUDA, or "" */
    LINK_OPEN = 2,       /* supervisor */
    LINK_OPENED = 3,     /* worker */
    LINK_CLOSE = 4,      /* supervisor */
    LINK_CLOSED = 5,     /* worker */
    LINK_VAULT_PUT = 6,  /* worker, with one descriptor: keep it for {slot, address, size} */
    LINK_VAULT_DROP = 7, /* worker: close the descriptor of {slot, address} */
    LINK_FATAL = 8,      /* worker: the context is lost or the device cannot be used, and the worker
                            exits now. slot: the session to blame, or LINK_SLOT_NONE */
    LINK_QUIT = 9,       /* supervisor: exit, without waiting for the device */
    LINK_GRANT = 10,     /* supervisor: the grant of {slot} from its next launch on */
    LINK_GRANTED = 11,   /* worker: the grant of {slot, sequence} is in force; with {status, text}:
                            it failed, and the grant before it is still in force */
    LINK_POLICY = 12,    /* supervisor: how the device is scheduled from now on */
    LINK_NEEDS_RECYCLING = 13, /* worker: it has made half of the sets of SMs that the driver allows
                                  one process, or has raised the stack of kernels; a new worker is
                                  to replace it when it has no sessions */
    LINK_SEGMENT_DROP = 14,    /* supervisor: no session will be opened with this segment again;
                                  the message names no slot */
    LINK_PING = 15,            /* supervisor: the worker answers it at once; one at a time */
    LINK_PONG = 16,            /* worker: with the number of the LINK_PING */
    LINK_RESUME_PIECE = 17,    /* supervisor, with one descriptor: memory of {slot, address,
                                  size}; the slot's LINK_OPEN follows */
    LINK_EVICT = 18,           /* supervisor: {slot, text}: if the device still has work of the
                                  closing session, the worker ends, and blames the session */
    LINK_BEGIN = 19,   /* supervisor: this worker, which is ready, serves the device from now on */
    LINK_RESUMED = 20, /* supervisor: each session has been taken up, or has failed to be */
    LINK_RETIRE = 21,  /* supervisor: stop at a quiet moment and exit, so that another worker
                          takes the sessions up */
    LINK_RETIRED = 22, /* worker: it is at rest and may be ended; with {status, text}: it stays */
    LINK_TRIED = 23,  /* worker: the session's unfinished work has run again, while no other session
                         had work */
    LINK_RESYNC = 24, /* supervisor: a new supervisor has replaced a killed one; the worker
                         reports the state of each session */
    LINK_SESSION = 25,  /* worker: the state of {slot}; one for each slot that is not empty */
    LINK_RESYNCED = 26, /* worker: after the LINK_SESSIONs */
    LINK_TRACE = 27,    /* supervisor: the worker writes its trace into this segment from now on */
    LINK_VAULT_SHARE = 28, /* worker: the memory of {slot, address, size} is memory that the
                              vault already has for another slot */
    LINK_PRELOAD = 29, /* supervisor, to a standby, with the journal's descriptor: a session that
                          the standby may have to take up */
    LINK_PRELOAD_PIECE = 30, /* supervisor, to a standby, with one descriptor: memory of {slot} */
    LINK_PRELOAD_DROP = 31,  /* supervisor, to a standby: unmap the piece {slot, number}; with
                                number 0, all pieces of {slot}; with LINK_SLOT_NONE, all pieces
                                of all slots */
    LINK_PRELOAD_END = 32,   /* supervisor, to a standby: answer this after all messages before
                                it are done */
    LINK_PRELOADED = 33,     /* standby: the answer to LINK_PRELOAD_END */
    LINK_SUSPECT = 34,       /* worker, before a LINK_FATAL that blames nobody: the session had
                                unfinished kernels, or, if no session had any, other unfinished
                                work */
    LINK_REVOKE = 35,      /* worker: revoke what other devices have imported of {slot, address} */
    LINK_PEER_IMPORT = 36, /* worker: {slot} wants to import an export of another device */
    LINK_PEER_EXPORT = 37, /* supervisor: asks the owner's worker whether it has the export for a
                              session of another device; slot: that session's, with one question
                              at a time */
    LINK_PEER_EXPORTED = 38, /* worker: the answer; with {status, text}: that session may not
                                import it, or it does not exist */
    LINK_PEER_IMPORTED = 39, /* supervisor, with one descriptor: the answer to LINK_PEER_IMPORT;
                                with {status, text} and no descriptor: a refusal */
    LINK_VAULT_PEER = 40,    /* worker: {slot, address, size, number} is the memory of the last
                                LINK_PEER_IMPORTED; with size 0: it could not be mapped */
    LINK_PEER_REVOKE = 41,   /* supervisor: revoke the imports {number} of all slots */
    LINK_LINGERING = 42,     /* supervisor: bytes of a user's memory on this device that other
                                devices still hold after it was revoked; they count as the user's */
    LINK_TAKEN_UP = 43,   /* worker: a session whose LINK_OPENED was late has its modules again */
    LINK_PEER_WINDOW = 44 /* worker: asks for the window of link_peer_ask.session_id, a session
                             of another device; LINK_PEER_IMPORTED answers */
};
#define LINK_SLOT_NONE UINT32_MAX

/* An export's handle is random, except for the byte that names the export's device. */
#define LINK_HANDLE_WORDS 4u
static inline uint32_t link_handle_device(const uint64_t handle[LINK_HANDLE_WORDS])
{
    return handle[LINK_HANDLE_WORDS - 1] & 0xffu;
}
static inline void link_handle_set_device(uint64_t handle[LINK_HANDLE_WORDS], uint32_t device)
{
    handle[LINK_HANDLE_WORDS - 1] = (handle[LINK_HANDLE_WORDS - 1] & ~UINT64_C(0xff)) | device;
}

/* The SMs that a mask has room for, as in gs_exec_affinity. */
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
    uint32_t device_count;   /* the number of the driver's devices */
    int32_t numa_node;       /* the host's node nearest to the device (numa.h); negative: unknown */
    char name[64];
    char driver[32];
    char uuid[48];                      /* "GPU-8c5f...", "MIG-8c5f..."; "": not known */
    char pci[24];                       /* "00000000:65:00.0"; "": not known */
    uint8_t sm_group[LINK_SMS_MAX];     /* the group of each SM below sm_count */
    int32_t attribute[WIRE_ATTRIBUTES]; /* 0: the driver does not know the attribute */
};

/* What a session may use. The supervisor decides it from the session's request, the operator's
 * settings and the SMs that are free; the worker applies it. */
struct link_grant {
    uint64_t sequence;     /* grows with each grant of a session */
    uint32_t cls;          /* gs_class; a launch may have a lower class, not a higher one */
    int32_t priority;      /* in gs_qos's scale */
    int32_t priority_max;  /* the highest that streams and launches may have */
    uint32_t weight;       /* at least 1 */
    uint32_t launches_max; /* the most kernels issued and not finished; 0: no cap */
    uint32_t exclusive;
    uint32_t user_hosts;     /* host blocks of all sessions of its user; 0: no limit */
    uint32_t kernel_limit;   /* ms that a kernel may run; 0: no limit */
    uint64_t deadline_ns;    /* for launches without one of their own; 0: none */
    uint64_t mem_limit;      /* of the session; 0: the device's memory */
    uint64_t user_mem_limit; /* of all sessions of its user; 0: none */
    uint64_t user_host_mem;  /* bytes of host memory of all sessions of its user; 0: none */
    uint64_t all_host_mem;   /* bytes of host memory of all users' sessions, if that limit bounds
                                this session; 0: it does not */
    /* bytes of device memory that the driver itself takes for the sessions of its user, beside what
     * they allocate; 0: no limit */
    uint64_t user_driver_mem;
    uint32_t user_sets;    /* sets of SMs that its user may ask for; 0: any */
    uint32_t user_compile; /* percent of a CPU that compiling for its user takes; 0: any */
    /* 1: an operator has set user_host_mem for this user or session by name, so it may exceed the
     * part of all_host_mem that is left for all users */
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

/* How the worker schedules its device. Each device has one policy. */
struct link_policy {
    /* The SMs of one share, of two, ... each a superset of the one before. */
    uint64_t headroom_mask[LINK_SHARES][GS_SM_MASK_WORDS];
    /* A part of the first share, left free while latency work may come at any time. */
    uint64_t partial_mask[GS_SM_MASK_WORDS];
    uint32_t accounting; /* 1: the worker measures each session's GPU time */
    uint32_t weights;    /* 1: GPU time is shared by weight */
};

enum link_replay {
    LINK_REPLAY_NOT = 0,  /* a session with unfinished work is refused */
    LINK_REPLAY = 1,      /* it runs again */
    LINK_REPLAY_ALONE = 2 /* it runs again while the other sessions wait, since it is suspect */
};

struct link_open {
    int32_t segment_id;
    uint32_t uid;
    uint64_t session_id;
    uint64_t give_up_ns; /* clock_ns() by which an open that still waits is refused with its reason;
                            0: never */
    char name[32];       /* for people */
    uint32_t fenced;     /* gs_fence: the session's kernels are kept to its window; 0: not */
    uint32_t resume;     /* 1: a former worker had the session, with the window below */
    uint32_t replay;     /* enum link_replay: how unfinished work is treated */
    int32_t pid;         /* of its tenant, for people */
    uint64_t window_base, window_size;
    uint64_t kernel_heap; /* bytes that its kernels can malloc from; 0: the default */
    uint32_t unkept;      /* 1: the session ends with its worker, and nothing is kept to resume
                             it */
    uint32_t reserved;
    uint64_t suspect_ns; /* clock_ns() until which the session is a suspect, whose work takes
                            turns with the other suspects' work; 0: no suspect */
    struct link_grant grant;
};

struct link_opened {
    int32_t status; /* gs_status */
    uint32_t late;  /* 1: the session is taken up except for its modules; a LINK_TAKEN_UP follows */
    uint64_t window_base, window_size;
    uint64_t mem_limit; /* as granted */
};

enum link_session_state {
    LINK_SESSION_OPENING = 1, /* a LINK_OPENED will come */
    LINK_SESSION_OPEN = 2,
    LINK_SESSION_CLOSING = 3 /* a LINK_CLOSED will come */
};

/* LINK_SESSION. It includes the effect of all messages that the worker sent before it, since the
 * supervisor reads messages in order. */
struct link_session {
    uint64_t resync; /* the number of the LINK_RESYNC */
    uint64_t session_id;
    uint32_t state;            /* enum link_session_state */
    uint32_t status;           /* gs_status of the answer to `answered` */
    uint64_t asked, answered;  /* sequences of the last LINK_GRANT received and of the last one
                                  answered; 0: none */
    struct link_opened opened; /* valid if state is LINK_SESSION_OPEN */
};

struct link_vault {
    uint64_t address;
    uint64_t size;
    uint64_t number; /* the supervisor's number of the piece, never used for another one; PEER,
                        REVOKE: the number of the loan, from LINK_PEER_IMPORTED */
};

/* LINK_PRELOAD: members as in the LINK_OPEN that may follow. segment_id -1: the standby does not
 * attach the segment. */
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
    uint64_t ask; /* a number that the importer's worker chose, never 0; the answer repeats it */
    uint64_t handle[LINK_HANDLE_WORDS];
    uint64_t session_id; /* WINDOW: the session whose window is wanted; EXPORT: the importing
                            session, ... */
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
    uint64_t number;     /* IMPORTED: the supervisor's number of this loan */
    /* IMPORTED: the owner's window, if owner and importer are one process; else 0 bytes */
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
    /* 1: no lane or service thread runs, and the device has no work of this worker, except, after
     * an eviction, work of the session in `slot`. The next worker may begin at once. */
    uint32_t at_rest;
    uint64_t position;
    uint64_t launch; /* as seg_fault's, of the session in `slot` */
    char kernel[64];
};

/* LINK_TRACE */
struct link_trace {
    int32_t segment_id; /* System V id of a struct trace_segment; negative: the trace has ended */
    uint32_t uid;       /* whose sessions are traced, ... */
    uint32_t all;       /* ... unless this is 1 */
};

struct link_ping {     /* LINK_PING, LINK_PONG */
    uint64_t number;   /* of the PING */
    uint64_t stuck_ns; /* PONG: the longest time that a lane has spent in its current round; 0:
                          all lanes sleep */
};

/* The members of a message's union; server/upgrade.c compares their sizes. */
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
    BODY(uint32_t, resuming)  /* LINK_BEGIN: sessions to take up before any gets new work */       \
    BODY(int32_t, segment_id) /* LINK_SEGMENT_DROP */                                              \
    BODY(struct link_ping, ping)                                                                   \
    BODY(uint64_t, resync) /* LINK_RESYNC, LINK_RESYNCED: a number */                              \
    BODY(uint32_t, force)  /* LINK_RETIRE: 1: sessions that cannot be taken up end */              \
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
    char text[192]; /* for messages: why something failed */
};

/* The control buffer into which the kernel writes the number of one received descriptor. If a
 * supervisor is killed after a receive, the next one, which shares this memory and the descriptors,
 * still finds the descriptor here. All zero: none. */
struct link_control {
    _Alignas(8) unsigned char bytes[24]; /* a struct cmsghdr and a descriptor */
};

/* Sends a message, with a descriptor unless that is -1; the caller keeps the descriptor. Returns
 * false and sets errno if the socket does not take the message. */
bool link_write(int fd, const struct link_message *message, int descriptor);
/* Takes the next message without waiting. Returns its length, which the caller checks; 0 if the
 * other end is closed; negative, with errno, if there is no message. Sets *descriptor to the
 * descriptor that came along, which the caller closes, or to -1. */
ssize_t link_read(int fd, struct link_message *message, struct link_control *control,
                  int *descriptor);
/* Returns the descriptor whose number the kernel has written into `control`; -1: none. */
int link_descriptor(const struct link_control *control);

/* The figures that `gsctl ps` shows of a session. The supervisor makes a memfd with one struct per
 * slot, and the worker fills it, so that the figures need no messages. Loads and stores are
 * relaxed, because nothing depends on their order. */
struct link_stats {
    _Atomic uint64_t memory_used;
    _Atomic uint64_t launches;
    _Atomic uint64_t copies;
    _Atomic uint64_t copied_bytes;
    _Atomic uint64_t gpu_ns;           /* time on the device, by its own clock */
    _Atomic uint64_t deadlines_missed; /* launches that ended after their deadline */
    _Atomic uint64_t sm_ns;            /* gpu_ns, each moment times the number of SMs in use */
    _Atomic uint64_t strays; /* accesses that the address fence redirected, if the session's
                                fence reports them */
    /* Times of launches and recorded graphs since the lane saw their records. */
    struct link_histogram {
        _Atomic uint64_t count[HISTOGRAM_BUCKETS];
        _Atomic uint64_t sum_ns;
    } wait,                         /* until their issue */
        latency;                    /* until their end */
    _Atomic uint64_t depth;         /* launches and graphs issued and not known to have ended */
    _Atomic uint64_t driver_memory; /* device memory that the driver itself takes for the
                                       session, beside memory_used */
    /* number of threads that read or compile an image of this session's tenant, which is blamed if
     * the worker crashes meanwhile (workers/suspects.h) */
    _Atomic uint64_t compiling;
    uint64_t reserved; /* pads the struct to whole cache lines */
};
static_assert(sizeof(struct link_stats) == 384, "link_stats");

/* Adds to a figure that only the calling thread writes. */
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
