/*
 * wire.h - every layout that crosses a process boundary between a tenant and the server.
 *
 * Three kinds: messages on POSIX queues (attach, admin), the session segment (System V shared
 * memory), and the records in the segment's rings. doc/protocol.md draws them; the static_asserts
 * at the end of each part hold them still. A change of any of them changes WIRE_VERSION.
 *
 * Trust: a tenant can write anything anywhere in its segment at any time. The server copies a field
 * once, checks the copy, and uses only the copy. What the client reads back from its own segment
 * can only harm the client.
 */
#ifndef GS_COMMON_WIRE_H
#define GS_COMMON_WIRE_H

#include <assert.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gshare.h"

#define WIRE_VERSION 3u
#define WIRE_MAGIC   0x52485347u /* "GSHR" */

/* ---- Names ------------------------------------------------------------------------------------
 * /gshare.INSTANCE            control queue; the supervisor holds flock(LOCK_EX) on it while alive
 * /gshare.INSTANCE.bell.N     doorbell of device N's dispatcher
 * /gshare.INSTANCE.r.NAME     a client's reply queue, NAME = 16 hex digits made of its token
 */
#define WIRE_INSTANCE_MAX 31u
#define WIRE_NAME_MAX     64u /* any of the queue names above, with its NUL */

/* ---- Control queue ----------------------------------------------------------------------------
 * Each request is one message of at most CTL_MESSAGE_MAX bytes that begins with a ctl_header. */
#define CTL_MESSAGE_MAX 256u
#define CTL_REPLY_MAX                                                                              \
    4096u /* what an admin's reply queue must take; attach replies fit CTL_MESSAGE_MAX */
#define CTL_QUEUE_DEPTH 10u /* the kernel's default limit, fs.mqueue.msg_max */

enum ctl_op {
    CTL_ANNOUNCE = 1, /* "I am about to make the reply queue of this token": lets the server remove
                         an orphan */
    CTL_ATTACH = 2,   /* -> ctl_attach_reply */
    CTL_CONFIRM = 3,  /* "my segment is mapped": the server now asks the kernel for my pid */
    CTL_DETACH = 4,   /* the session's work is done, close it */
    CTL_STATUS = 5,   /* -> ctl_status_reply */
    CTL_PS = 6,       /* -> ctl_ps_reply, page by page */
    CTL_QUIT =
        7, /* -> ctl_quit_reply when it is accepted; the end itself shows on the status page */
    CTL_SET_QOS = 8,  /* a tenant's wish -> ctl_done_reply, when the device's worker has it */
    CTL_SET = 9,      /* ctl_set -> ctl_done_reply, when all workers have it. This and the next ones
                         are for the server's owner and root */
    CTL_GET = 10,     /* ctl_admin -> ctl_get_reply, page by page; for everybody */
    CTL_RESERVE = 11, /* ctl_reserve -> ctl_done_reply */
    CTL_RELEASE = 12, /* ctl_reserve, of which only the name counts -> ctl_done_reply */
    CTL_PROVISION = 13 /* ctl_provision -> ctl_done_reply */
};

struct ctl_header {
    uint32_t magic;
    uint16_t version;
    uint16_t op;
    uint32_t size; /* of the whole message */
    uint32_t reserved;
    uint64_t token; /* of the reply queue, a secret; CONFIRM and DETACH: the session's cookie */
};

/* The part of gs_qos that travels. */
struct wire_qos {
    uint32_t cls;
    int32_t priority;
    uint32_t weight;
    uint32_t affinity_type;
    uint32_t sm_count;
    uint32_t percentage;
    uint32_t exclusive;
    uint32_t reserved;
    uint64_t deadline_ns;
    uint64_t sm_mask[GS_SM_MASK_WORDS];
};

#define QOS_PATIENCE_NS 15000000000u /* CTL_SET_QOS has been answered by then */
#define QOS_WEIGHT_MAX  1000u
#define QOS_DEADLINE_MAX_NS                                                                        \
    3600000000000u /* an hour: what is beyond it is a mistake in the units */

struct ctl_attach {
    struct ctl_header h;
    uint32_t client_version; /* GS_VERSION of the library */
    int32_t device;
    uint32_t on_fault;
    uint32_t local_rank; /* of its MPI job on this machine, counted from 1; 0: it is in none */
    uint64_t mem_limit;
    struct wire_qos qos;
    char name[32];
    char reservation[32]; /* the named partition to attach to; "": none */
};

struct ctl_set_qos {
    struct ctl_header h; /* token: of the reply queue, whose owner must be the session's user */
    uint64_t cookie;     /* of the session */
    struct wire_qos qos;
};

/* The answer where there is nothing to tell but how it went. */
struct ctl_done_reply {
    struct ctl_header h;
    int32_t status;
    uint32_t reserved;
    char message[128];
};

struct ctl_attach_reply {
    struct ctl_header h;    /* version: the server's, also in a refusal for VERSION */
    int32_t status;         /* gs_status */
    int32_t segment_id;     /* System V id, owned by the asker's uid; already marked for removal */
    int32_t status_page_id; /* System V id of the server's status page, mapped read-only */
    int32_t reserved;
    uint64_t session_id;
    uint64_t cookie; /* for CONFIRM and DETACH */
    uint64_t segment_size;
    char message[128]; /* why it was refused */
};

/* CTL_DETACH and CTL_CONFIRM are a bare ctl_header. */

struct ctl_admin { /* CTL_STATUS, CTL_PS, CTL_QUIT */
    struct ctl_header h;
    uint64_t cursor;    /* PS: first session id wanted */
    uint32_t timeout_s; /* QUIT: tenants have this long to detach */
    uint32_t reserved;
};

struct ctl_device {
    char name[64];
    char driver[32]; /* "libcuda.so.1 13.0" or "libgshare-softcuda.so 13.0" */
    uint64_t memory_total;
    uint64_t memory_used; /* by tenants */
    uint32_t sm_count;
    uint32_t compute_major, compute_minor;
    uint32_t tenants;
    int32_t worker_pid;
    uint32_t state;  /* enum ctl_device_state */
    uint32_t faults; /* workers lost so far */
    uint32_t reserved;
};
enum ctl_device_state { CTL_DEVICE_STARTING = 0, CTL_DEVICE_READY = 1, CTL_DEVICE_FAILED = 2 };

struct ctl_status_reply {
    struct ctl_header h;
    int32_t status;
    int32_t server_pid;
    uint32_t server_version; /* GS_VERSION */
    uint32_t device_count;
    uint64_t uptime_ns;
    uint64_t sessions_total; /* ever attached */
    uint32_t tenants;
    uint32_t tenants_max;
    char message[128];
    struct ctl_device device[8];
};

struct ctl_tenant {
    uint64_t session_id;
    int32_t pid; /* 0: in another PID namespace */
    uint32_t uid;
    int32_t device;
    int32_t priority;
    uint64_t memory_used;
    uint64_t memory_limit;
    uint64_t launches;
    uint64_t copies;
    uint64_t copied_bytes;
    uint64_t attached_ns; /* ago */
    uint64_t gpu_ns;      /* time on the device */
    uint64_t deadlines_missed;
    uint32_t sm_count; /* granted; 0: not yet */
    uint32_t exclusive;
    uint32_t cls; /* enum gs_class */
    uint32_t weight;
    char name[32];
};
#define CTL_PS_ROWS 28u

struct ctl_ps_reply {
    struct ctl_header h;
    int32_t status;
    uint32_t count;
    uint64_t next_cursor; /* 0: that was the last page */
    char message[128];
    struct ctl_tenant tenant[CTL_PS_ROWS];
};

struct ctl_quit_reply {
    struct ctl_header h;
    int32_t status;
    int32_t server_pid;
    char message[128];
};

/* What the operator sets. Limits: what holds for a session is the tightest of the default's, its
 * user's and its own, and of its own wish. */
enum ctl_field {
    CTL_PERCENTAGE = 1u << 0,   /* of the device's SMs: 1 to 100 */
    CTL_SMS = 1u << 1,          /* so many SMs, rounded up to whole groups */
    CTL_MASK = 1u << 2,         /* these SMs, whole groups */
    CTL_EXCLUSIVE = 1u << 3,    /* 1: they are a session's alone; 0: it may not ask for that */
    CTL_PRIORITY = 1u << 4,     /* at most */
    CTL_CLASS = 1u << 5,        /* enum gs_class; at best */
    CTL_WEIGHT = 1u << 6,       /* 1 to QOS_WEIGHT_MAX */
    CTL_MEM = 1u << 7,          /* bytes that a session may hold */
    CTL_USER_MEM = 1u << 8,     /* bytes that all sessions of a user may hold */
    CTL_INFLIGHT = 1u << 9,     /* kernels issued and not finished */
    CTL_LATENCY_SMS = 1u << 10, /* of a device: best-effort work leaves so many to latency work */
    CTL_FIELDS = (1u << 11) - 1
};

struct ctl_settings {
    uint32_t fields; /* which of the others count: bits of enum ctl_field */
    uint32_t percentage;
    uint32_t sms;
    uint32_t exclusive;
    int32_t priority;
    uint32_t cls;
    uint32_t weight;
    uint32_t inflight;
    uint32_t latency_sms;
    uint32_t reserved;
    uint64_t mem;
    uint64_t user_mem;
    uint64_t sm_mask[GS_SM_MASK_WORDS];
};

enum ctl_target {
    CTL_DEFAULT = 0,     /* all sessions */
    CTL_USER = 1,        /* id: uid */
    CTL_DEVICE = 2,      /* id: index */
    CTL_RESERVATION = 3, /* of CTL_GET only */
    CTL_TENANT = 4       /* id: session id */
};

struct ctl_set {
    struct ctl_header h;
    uint32_t target; /* enum ctl_target */
    uint32_t unset;  /* fields that are no longer set; the settings' are set then */
    uint64_t id;
    struct ctl_settings settings;
};

struct ctl_reserve {
    struct ctl_header h;
    char name[32];
    int32_t device;
    uint32_t sms; /* 0: those of the mask */
    uint64_t sm_mask[GS_SM_MASK_WORDS];
};

enum ctl_provision_mode {
    CTL_PROVISION_EXACT = 0,    /* nobody's share follows from how many there are */
    CTL_PROVISION_UNIFORM = 1,  /* of n tenants each has 1/n of the SMs */
    CTL_PROVISION_HALF = 2,     /* 2/n */
    CTL_PROVISION_WEIGHTED = 3, /* as its weight is to the sum */
    CTL_PROVISION_MODES = 4
};

struct ctl_provision {
    struct ctl_header h;
    uint32_t mode;
    uint32_t reserved;
};

/* A row of CTL_GET: the default's, then users', devices', reservations' and sessions'. */
struct ctl_row {
    uint64_t key; /* ctl_row_key() */
    uint32_t uid; /* of a session */
    int32_t device;
    uint32_t sm_count; /* of a session: granted; of a reservation: its own */
    uint32_t exclusive;
    int32_t priority;
    uint32_t cls;
    uint32_t weight;
    uint32_t inflight;
    uint64_t mem_limit;
    uint64_t user_mem_limit;
    uint64_t sm_mask[GS_SM_MASK_WORDS];
    struct ctl_settings set; /* by the operator, for just this */
    char name[32];           /* of a session or a reservation */
    char reservation[32];    /* that a session lives in */
};
#define CTL_GET_ROWS 12u

static inline uint64_t ctl_row_key(enum ctl_target target, uint64_t id)
{
    return (uint64_t)target << 56 | (id & ((UINT64_C(1) << 56) - 1));
}

struct ctl_get_reply {
    struct ctl_header h;
    int32_t status;
    uint32_t count;
    uint64_t next_cursor; /* 0: that was the last page */
    uint32_t provision;   /* enum ctl_provision_mode */
    uint32_t reserved;
    char message[128];
    struct ctl_row row[CTL_GET_ROWS];
};

static_assert(sizeof(struct ctl_header) == 24, "ctl_header");
static_assert(sizeof(struct wire_qos) == 104, "wire_qos");
static_assert(sizeof(struct ctl_attach) == 216 && sizeof(struct ctl_attach) <= CTL_MESSAGE_MAX,
              "ctl_attach");
static_assert(sizeof(struct ctl_attach_reply) == 192 &&
                  sizeof(struct ctl_attach_reply) <= CTL_MESSAGE_MAX,
              "ctl_attach_reply");
static_assert(sizeof(struct ctl_set_qos) == 136, "ctl_set_qos");
static_assert(sizeof(struct ctl_done_reply) == 160, "ctl_done_reply");
static_assert(sizeof(struct ctl_admin) == 40, "ctl_admin");
static_assert(sizeof(struct ctl_device) == 144, "ctl_device");
static_assert(sizeof(struct ctl_status_reply) <= CTL_REPLY_MAX, "ctl_status_reply");
static_assert(sizeof(struct ctl_tenant) == 136, "ctl_tenant");
static_assert(sizeof(struct ctl_ps_reply) <= CTL_REPLY_MAX, "ctl_ps_reply");
static_assert(sizeof(struct ctl_settings) == 120, "ctl_settings");
static_assert(sizeof(struct ctl_set) == 160, "ctl_set");
static_assert(sizeof(struct ctl_reserve) == 128, "ctl_reserve");
static_assert(sizeof(struct ctl_provision) == 32, "ctl_provision");
static_assert(sizeof(struct ctl_row) == 304, "ctl_row");
static_assert(sizeof(struct ctl_get_reply) <= CTL_REPLY_MAX, "ctl_get_reply");

/* ---- Status page -------------------------------------------------------------------------------
 * One System V page per server, mapped read-only by every client. `owner` is a robust futex of the
 * supervisor's main thread: it holds that thread's id while it lives, and the kernel itself sets
 * FUTEX_OWNER_DIED in it at the supervisor's death, however it died. So a client learns of the
 * server's end by one load, without a system call. */
#define STATUS_OWNER_DIED 0x40000000u /* FUTEX_OWNER_DIED */

struct status_page {
    uint32_t magic;
    uint32_t version;
    _Atomic uint32_t owner;
    int32_t server_pid;
};
static_assert(sizeof(struct status_page) == 16, "status_page");

/* ---- Session segment ---------------------------------------------------------------------------
 *   0x00000  seg_info     written by the server before the client knows the segment
 *   0x01000  seg_client   written by the client: activity, ring tails
 *   0x02000  seg_complete written by the GPU: completion words (the only page the driver registers)
 *   0x03000  seg_server   written by the server: state, doorbell flag, fault, reports
 *   0x05000  seg_request  the slot for synchronous requests
 *   0x10000  ring 0 .. ring 62, SEG_RING_BYTES each
 */
#define SEG_STREAMS     63u /* stream 0 is the default stream */
#define SEG_RING_BYTES  65536u
#define SEG_REQUEST_BIT 63u
#define SEG_EVENTS      4096u
#define SEG_REPORTS     64u
#define SEG_HOSTS       1024u /* host blocks: gs_host_alloc, staging, images */
#define SEG_KERNELS     65536u
#define SEG_MODULES     4096u
#define SEG_GRAPHS      1024u
#define SEG_IMPORTS     1024u

#define SEG_OFF_INFO     0x00000u
#define SEG_OFF_CLIENT   0x01000u
#define SEG_OFF_COMPLETE 0x02000u
#define SEG_OFF_SERVER   0x03000u
#define SEG_OFF_REQUEST  0x05000u
#define SEG_OFF_RINGS    0x10000u
#define SEG_SIZE         (SEG_OFF_RINGS + SEG_STREAMS * SEG_RING_BYTES)

struct seg_info {
    uint32_t magic;
    uint32_t version;
    uint64_t session_id;
    int32_t server_pid;
    int32_t device;
    uint64_t device_memory;
    uint64_t mem_limit;
    uint64_t window_base;
    uint64_t window_size;
    uint32_t compute_major, compute_minor;
    uint32_t sm_count;
    uint32_t max_threads_per_block;
    uint32_t max_block_dim[3];
    uint32_t max_grid_dim[3];
    uint32_t max_dynamic_smem;
    uint32_t sm_granularity; /* a partition has a multiple of so many SMs; 0: no partitions */
    uint32_t slot;           /* the session's slot in the server: what a doorbell message holds */
    char device_name[64];
    char bell[WIRE_NAME_MAX];
    uint8_t sm_group[GS_SM_MASK_WORDS * 64]; /* of each SM, where there are partitions */
};

struct seg_client {
    /* Bit s: stream s may have new records. Bit 63: a request is posted. Set by the client after
     * the tail store; taken by the dispatcher with an exchange. */
    alignas(64) _Atomic uint64_t activity;
    /* Free-running byte position up to which stream s's records are written. */
    alignas(64) _Atomic uint64_t tail[SEG_STREAMS];
};

struct seg_complete {
    /* Byte position up to which stream s's records are complete. A record may be overwritten once
     * this has passed it. The GPU writes it; a take-over starts from it. */
    _Atomic uint64_t position[SEG_STREAMS];
};

enum seg_state {
    SEG_OPEN = 1,
    SEG_CLOSED = 2, /* detached */
    SEG_LOST = 3,   /* the worker is gone and nothing took its place */
    SEG_FAULTED = 4 /* see seg_fault */
};

struct seg_fault {
    uint32_t kind;  /* gs_fault_kind */
    int32_t status; /* gs_status */
    uint32_t stream;
    uint32_t reserved;
    uint64_t position;
    char kernel[64];
    char message[192];
};

struct seg_report {
    _Atomic uint64_t id; /* the launch's gs_report_id once the rest is valid, else 0 */
    uint64_t queued_ns;
    uint64_t run_ns;
    uint32_t sm_count;
    int32_t priority;
    uint32_t partition; /* 0: the whole device */
    uint32_t late;      /* 1: it ended after its deadline */
};

/* What the session has been granted, as the worker applies it. Written by the worker under an odd
 * `sequence`, which is even when the rest is whole; the client copies it out between two equal even
 * ones. */
struct seg_grant {
    _Atomic uint32_t sequence;
    uint32_t cls;
    int32_t priority;
    uint32_t weight;
    uint32_t sm_count;
    uint32_t exclusive;
    uint32_t inflight_max; /* kernels issued and not finished; 0: no cap */
    uint32_t partition;    /* 0: the whole device */
    uint64_t deadline_ns;
    uint64_t mem_limit;
    uint64_t sm_mask[GS_SM_MASK_WORDS]; /* also of the whole device */
    int32_t priority_max;               /* what streams and launches may ask for */
    uint32_t reserved;
};

struct seg_server {
    /* Non-zero: the dispatcher does not poll this session; a client that has set activity must take
     * this to 0 and send a doorbell message. */
    alignas(64) _Atomic uint32_t need_bell;
    alignas(
        64) _Atomic uint32_t state; /* enum seg_state; the rest of the fault is written before it */
    uint32_t reserved;
    struct seg_fault fault;
    alignas(64) struct seg_grant grant;
    alignas(64) struct seg_report report[SEG_REPORTS];
    /* Bit n: import n was taken back by its owner. */
    alignas(64) _Atomic uint64_t revoked[SEG_IMPORTS / 64];
};

/* ---- Synchronous requests ----------------------------------------------------------------------
 * The client owns the slot while state is IDLE; it fills the request and stores POSTED (release),
 * sets SEG_REQUEST_BIT and rings if needed. The server copies the request out, works, writes the
 * reply, stores DONE (release) and wakes the futex. The client reads the reply and stores IDLE. */
enum req_state { REQ_IDLE = 0, REQ_POSTED = 1, REQ_DONE = 2 };

enum req_op {
    REQ_MALLOC = 1,   /* arg0 size                          -> ret0 address */
    REQ_FREE = 2,     /* arg0 address */
    REQ_MEM_INFO = 3, /*                                    -> ret0 free, ret1 total */
    REQ_HOST_ALLOC =
        4,             /* arg0 size, arg1 1: device copies   -> ret0 host block, ret1 System V id */
    REQ_HOST_FREE = 5, /* arg0 host block */
    REQ_MODULE_LOAD = 6,   /* arg0 host block, arg1 size         -> ret0 module; message: the log.
                              ret2 not 0: its kernels print to the session's print_ring.h block,
                              System V id ret1, ret2 bytes */
    REQ_MODULE_UNLOAD = 7, /* arg0 module */
    REQ_KERNEL_GET =
        8, /* arg0 module, name                  -> ret0 kernel, struct req_kernel in payload */
    REQ_GLOBAL_GET = 9,      /* arg0 module, name                  -> ret0 address, ret1 size */
    REQ_STREAM_CREATE = 10,  /* arg2 1: with gs_qos's priority arg0 and class arg1 of its own; 0:
                                the session's -> ret0 stream */
    REQ_STREAM_DESTROY = 11, /* arg0 stream */
    REQ_EVENT_ELAPSED = 12,  /* arg0 start event, arg1 end event   -> ret0 nanoseconds */
    REQ_GRAPH_CREATE = 13,   /* arg0 host block of ring records, arg1 bytes -> ret0 graph */
    REQ_GRAPH_DESTROY = 14,  /* arg0 graph */
    REQ_MEM_EXPORT = 15,     /* arg0 address, arg1 session it is for or 0 -> ret0..3 the handle */
    REQ_MEM_IMPORT = 16,     /* arg0..3 the handle -> ret0 address, ret1 size, ret2 import */
    REQ_MEM_REVOKE = 17      /* arg0 address */
};

#define REQ_PARAMS_MAX      1024u /* kernel parameters that a kernel may have */
#define REQ_PARAM_BYTES_MAX 4096u

struct req_kernel {
    uint32_t param_count;
    uint32_t param_bytes;
    uint32_t max_threads_per_block;
    uint32_t registers;
    uint32_t static_smem;
    uint32_t local_bytes;
    uint32_t max_dynamic_smem;
    uint32_t reserved;
    struct {
        uint16_t offset, size;
    } param[REQ_PARAMS_MAX];
};

struct seg_request {
    _Atomic uint32_t state; /* enum req_state; a futex */
    uint32_t op;            /* enum req_op */
    uint64_t arg[4];
    char name[2048]; /* NUL-terminated; a mangled kernel name can be long */
    /* reply */
    int32_t status; /* gs_status */
    uint32_t reserved;
    uint64_t ret[4];
    char message[4096];
    union {
        struct req_kernel kernel;
        unsigned char bytes[8192];
    } payload;
};

static_assert(sizeof(struct seg_info) <= 0x1000, "seg_info");
static_assert(sizeof(struct seg_client) <= 0x1000, "seg_client");
static_assert(sizeof(struct seg_complete) <= 0x1000, "seg_complete");
static_assert(sizeof(struct seg_server) <= SEG_OFF_REQUEST - SEG_OFF_SERVER, "seg_server");
static_assert(sizeof(struct seg_request) <= SEG_OFF_RINGS - SEG_OFF_REQUEST, "seg_request");
static_assert(offsetof(struct seg_client, tail) == 64, "seg_client.tail");
static_assert(sizeof(struct seg_fault) == 280, "seg_fault");
static_assert(sizeof(struct seg_report) == 40, "seg_report");
static_assert(sizeof(struct seg_grant) == 120, "seg_grant");

/* ---- Ring records -------------------------------------------------------------------------------
 * Each begins at a multiple of REC_ALIGN with a rec_header and has a size that is a multiple of
 * REC_ALIGN. A record never wraps: where it would, a REC_PAD fills the ring to its end. */
#define REC_ALIGN 64u

enum rec_op {
    REC_PAD = 1,
    REC_LAUNCH = 2,
    REC_COPY = 3,
    REC_MEMSET = 4,
    REC_EVENT = 5, /* record event */
    REC_WAIT = 6,  /* wait for event */
    REC_GRAPH = 7
};

struct rec_header {
    uint16_t op;
    uint16_t flags;
    uint32_t size; /* bytes, header included */
};

struct rec_launch {
    struct rec_header h;
    uint32_t kernel;
    uint32_t param_bytes; /* parameter buffer, right after this struct, laid out as the kernel wants
                             it */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_smem;
    uint32_t report; /* 0: none; else low 32 bits of the report's id, slot = report % SEG_REPORTS */
    /* unsigned char params[param_bytes] */
};
/* Flags of a launch: what follows the parameters, at the next multiple of 8, in this order. */
#define REC_LAUNCH_QOS 1u /* a struct wire_qos: this launch's own */
#define REC_LAUNCH_TIME                                                                            \
    2u /* 8 bytes: CLOCK_MONOTONIC of its submission; with a report or a deadline */

enum rec_copy_kind { REC_HTOD = 1, REC_DTOH = 2, REC_DTOD = 3 };

struct rec_copy {
    struct rec_header h;
    uint32_t kind; /* enum rec_copy_kind */
    uint32_t host; /* host block, for HTOD and DTOH */
    uint64_t dst;  /* device address; DTOH: offset in the host block */
    uint64_t src;  /* device address; HTOD: offset in the host block */
    uint64_t bytes;
    uint64_t reserved[3];
};

struct rec_memset {
    struct rec_header h;
    uint32_t value; /* low 8 bits */
    uint32_t reserved0;
    uint64_t dst;
    uint64_t bytes;
    uint64_t reserved[4];
};

struct rec_event {
    struct rec_header h;
    uint32_t event;
    uint32_t reserved[13];
};

struct rec_wait {
    struct rec_header h;
    uint32_t event;
    uint32_t stream;   /* where the event was recorded */
    uint64_t position; /* of the record after the REC_EVENT there */
    uint64_t reserved[5];
};

struct rec_graph {
    struct rec_header h;
    uint32_t graph;
    uint32_t reserved[13];
};

#define REC_SIZE_MAX                                                                               \
    ((uint32_t)(sizeof(struct rec_launch) + REQ_PARAM_BYTES_MAX + sizeof(struct wire_qos) + 8 +    \
                REC_ALIGN - 1) /                                                                   \
     REC_ALIGN * REC_ALIGN)

static_assert(sizeof(struct rec_header) == 8, "rec_header");
static_assert(sizeof(struct rec_launch) == 48,
              "rec_launch: 16 bytes of parameters still fit the first line");
static_assert(sizeof(struct rec_copy) == 64, "rec_copy");
static_assert(sizeof(struct rec_memset) == 64, "rec_memset");
static_assert(sizeof(struct rec_event) == 64, "rec_event");
static_assert(sizeof(struct rec_wait) == 64, "rec_wait");
static_assert(sizeof(struct rec_graph) == 64, "rec_graph");
static_assert(REC_SIZE_MAX <= SEG_RING_BYTES / 4, "a ring holds several of the largest record");

/* ---- Doorbell -----------------------------------------------------------------------------------
 * A message of 4 bytes: the session's slot, a hint that is not believed. */
#define BELL_MESSAGE_SIZE 4u
#define BELL_QUEUE_DEPTH  10u

#endif
