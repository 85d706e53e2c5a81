/*
 * wire_control.h - messages on the control queue and their answers on reply queues; and the status
 * page, by which a client learns that the server has ended.
 */
#ifndef GS_COMMON_WIRE_CONTROL_H
#define GS_COMMON_WIRE_CONTROL_H

#include <limits.h>

#include "common/histogram.h"
#include "common/wire_base.h"

/* ---- Control queue ----------------------------------------------------------------------------
 * Each request is one message of at most CTL_MESSAGE_MAX bytes that begins with a ctl_header. */
#define CTL_MESSAGE_MAX    256u
/* Requests have the highest priority that there is: anybody who may write to the queue could
 * otherwise fill it with messages of a higher priority, which would be served before all others. */
#define CTL_QUEUE_PRIORITY (MQ_PRIO_MAX - 1u)
/* Message size of a reply queue for administrators' requests: the kernel's default limit
 * (fs.mqueue.msgsize_max). The answer to an attach fits CTL_MESSAGE_MAX. */
#define CTL_REPLY_MAX      8192u
#define CTL_QUEUE_DEPTH    10u /* the kernel's default limit, fs.mqueue.msg_max */

enum ctl_op {
    CTL_ANNOUNCE = 1, /* the client is about to make the reply queue of this token; lets the server
                         remove the queue if the client dies */
    CTL_ATTACH = 2,   /* -> ctl_attach_reply */
    CTL_CONFIRM = 3, /* the client has mapped its segment; the server asks the kernel for its pid */
    CTL_DETACH = 4,  /* the session's work is complete; the server closes the session */
    CTL_STATUS = 5,  /* -> ctl_status_reply */
    CTL_PS = 6,      /* -> ctl_ps_reply, page by page */
    CTL_QUIT = 7,    /* -> ctl_quit_reply when accepted; the status page shows the end */
    CTL_SET_QOS = 8, /* a tenant's QoS request -> ctl_done_reply, once the device's worker applies
                        it */
    CTL_SET = 9,  /* ctl_set -> ctl_done_reply, once all workers apply it. Only the server's owner
                     and root may send this and the requests below, except CTL_GET */
    CTL_GET = 10, /* ctl_admin -> ctl_get_reply, page by page; any user may send it, and sees
                     only their own rows */
    CTL_RESERVE = 11,   /* ctl_reserve -> ctl_done_reply */
    CTL_RELEASE = 12,   /* ctl_reserve, only the name counts -> ctl_done_reply */
    CTL_PROVISION = 13, /* ctl_provision -> ctl_done_reply */
    CTL_KILL = 14,      /* ctl_kill -> ctl_kill_reply, at once */
    CTL_RESTART = 15,   /* ctl_restart -> ctl_done_reply, once the next worker has the sessions */
    CTL_EXPLAIN = 16, /* ctl_admin, cursor: a session -> ctl_explain_reply; any user may send it */
    CTL_AGAIN = 17,   /* an answer to any request, which was lost with a killed supervisor: ask
                         again */
    CTL_TRACE = 18,   /* ctl_trace -> ctl_trace_reply; any user may send it */
    CTL_LOG = 19,     /* ctl_admin -> ctl_log_reply */
    CTL_DRAIN = 20    /* ctl_drain -> ctl_done_reply */
};

struct ctl_header {
    uint32_t magic;
    uint16_t version;
    uint16_t op;
    uint32_t size; /* of the whole message */
    uint32_t reserved;
    uint64_t token; /* of the reply queue, a secret; CONFIRM and DETACH: the session's cookie */
};

struct ctl_attach {
    struct ctl_header h;
    uint32_t client_version; /* GS_VERSION of the library */
    int32_t device;
    uint32_t on_fault;
    uint32_t local_rank; /* rank on this machine in an MPI job, counted from 1; 0: in no job */
    uint64_t mem_limit;
    struct wire_qos qos;
    char name[32];
    char reservation[32]; /* the reservation whose SMs the session wants; "": none */
    uint32_t patience_ms; /* how long the client waits for the answer; 0: without limit */
    uint32_t fence;       /* gs_fence */
    uint64_t kernel_heap; /* bytes; 0: the server's default */
};

struct ctl_set_qos {
    struct ctl_header h; /* token: of the reply queue, whose owner must be the session's user */
    uint64_t cookie;     /* of the session */
    struct wire_qos qos;
};

/* The answer to a request that returns only a status. */
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
    char message[128]; /* why the attach was refused */
};

/* CTL_DETACH and CTL_CONFIRM are a bare ctl_header. */

struct ctl_admin { /* CTL_STATUS, CTL_PS, CTL_QUIT */
    struct ctl_header h;
    uint64_t cursor;    /* PS: the first session id wanted; GET: the first key */
    uint32_t timeout_s; /* QUIT: tenants have this long to detach */
    uint32_t reserved;
};
#define CTL_QUIT_PATIENT UINT32_MAX /* timeout_s without a limit */

/* Reasons why another worker took a device's work over. */
enum ctl_takeover {
    CTL_TAKEOVER_FAULT = 0,    /* a fault lost the context */
    CTL_TAKEOVER_EVICTION = 1, /* the work of one session did not end, and was evicted */
    CTL_TAKEOVER_WORKER = 2,   /* the worker was killed, did not answer, or sent an invalid
                                  message */
    CTL_TAKEOVER_RESTART = 3,  /* CTL_RESTART */
    /* the worker's driver kept memory for partitions or for a raised stack, and it had no
     * session */
    CTL_TAKEOVER_RECYCLING = 4,
    CTL_TAKEOVERS = 5
};

/* The faults and evictions that sessions of one user caused. */
struct ctl_blamed {
    uint32_t uid; /* the last entry: CTL_OTHERS, for all users that did not fit */
    uint32_t count;
};
#define CTL_BLAMED 8u

struct ctl_device {
    char name[64];
    char driver[32]; /* "libcuda.so.1 13.0" or "libgshare-softcuda.so 13.0" */
    uint64_t memory_total;
    uint64_t memory_used; /* by tenants */
    uint32_t sm_count;
    uint32_t compute_major, compute_minor;
    uint32_t tenants;
    int32_t worker_pid;
    uint32_t state;                       /* enum ctl_device_state */
    uint32_t faults;                      /* workers lost so far */
    uint32_t ending;                      /* tenants in CTL_TENANT_ENDING, part of `tenants` */
    char uuid[48];                        /* "GPU-8c5f...", as nvidia-smi has it; "": not known */
    char pci[24];                         /* "00000000:65:00.0" */
    uint32_t takeovers[CTL_TAKEOVERS];    /* by enum ctl_takeover */
    uint32_t drained;                     /* 1: it takes no new sessions */
    struct ctl_blamed blamed[CTL_BLAMED]; /* users whose kernels lost workers; count 0: none */
    int32_t standby_pid;                  /* of the worker that is ready to take over; 0: none */
    uint32_t reserved;
};
enum ctl_device_state {
    CTL_DEVICE_STARTING = 0,
    CTL_DEVICE_READY = 1,
    CTL_DEVICE_FAILED = 2,
    CTL_DEVICE_SILENT = 3, /* its worker does not answer */
    CTL_DEVICE_STUCK = 4   /* a lane of its worker is stuck in a driver call */
};

#define CTL_STATUSES 32u /* more than there are values of gs_status */

struct ctl_status_reply {
    struct ctl_header h;
    int32_t status;
    int32_t server_pid;
    uint32_t server_version; /* GS_VERSION */
    uint32_t device_count;
    uint64_t uptime_ns;
    uint64_t sessions_total; /* attached since the start */
    uint32_t tenants;
    uint32_t tenants_max;
    char message[128]; /* why the request was refused; else a notice if the server is about to
                          end */
    uint64_t refusals[CTL_STATUSES]; /* attaches that were refused, by gs_status */
    struct ctl_device device[8];
};

/* A histogram of times (histogram.h): each time counts in one bucket; sum_ns is the sum of all
 * times. */
struct ctl_histogram {
    uint64_t count[HISTOGRAM_BUCKETS];
    uint64_t sum_ns;
};

struct ctl_tenant {
    uint64_t session_id;
    int32_t pid; /* 0: in another PID namespace */
    uint32_t uid;
    int32_t device;
    int32_t priority;
    uint64_t memory_used;
    uint64_t memory_limit; /* the session's limit, or its user's if that is lower; 0: none */
    uint64_t launches;
    uint64_t copies;
    uint64_t copied_bytes;
    uint64_t attached_ns; /* time since attaching */
    uint64_t gpu_ns;      /* time on the device */
    uint64_t deadlines_missed;
    uint32_t sm_count; /* granted; 0: not yet */
    uint32_t exclusive;
    uint32_t cls; /* enum gs_class */
    uint32_t weight;
    uint32_t state;  /* enum ctl_tenant_state */
    uint32_t fenced; /* gs_fence, 0: not */
    char name[32];
    uint64_t sm_ns;  /* gpu_ns, each moment times the number of SMs in use */
    uint64_t strays; /* accesses outside of its memory, if the session's fence reports them */
    uint64_t depth;  /* launches and recorded graphs issued to the device and not finished */
    uint64_t driver_memory; /* device memory that the driver itself takes for the session, beside
                               memory_used */
    /* Times of launches and recorded graphs since the worker saw their records. */
    struct ctl_histogram wait, /* until their issue to the device */
        latency;               /* until their end */
};
#define CTL_PS_ROWS 17u

enum ctl_tenant_state {
    CTL_TENANT_ATTACHED = 0,
    CTL_TENANT_ATTACHING = 1, /* its gs_attach has no answer yet */
    CTL_TENANT_ENDING = 2,    /* it has detached or died, and the device finishes its work */
    CTL_TENANT_LOST = 3,      /* its device's worker was lost; its process still lives */
    CTL_TENANT_RESUMING = 4   /* its device's worker was lost, and the next worker is taking the
                                 session up */
};

struct ctl_ps_reply {
    struct ctl_header h;
    int32_t status;
    uint32_t count;
    uint64_t next_cursor; /* 0: this is the last page */
    uint32_t hidden;      /* sessions of other users, on all pages together */
    uint32_t reserved;
    char message[128];
    struct ctl_tenant tenant[CTL_PS_ROWS];
};

struct ctl_quit_reply {
    struct ctl_header h;
    int32_t status;
    int32_t server_pid;
    char message[128];
};

/* The operator's settings. They limit a session: it gets the tightest of the settings of the
 * default, of its user and of the session, and of its own request. The exception is a class or
 * priority set for the session itself, which replaces the request's. */
enum ctl_field {
    CTL_PERCENTAGE = 1u << 0,   /* of the device's SMs: 0.01 to 100 */
    CTL_SMS = 1u << 1,          /* number of SMs, rounded up to whole groups */
    CTL_MASK = 1u << 2,         /* the SMs themselves, whole groups */
    CTL_EXCLUSIVE = 1u << 3,    /* 1: a session has its SMs alone; 0: it may not ask for that */
    CTL_PRIORITY = 1u << 4,     /* the highest allowed */
    CTL_CLASS = 1u << 5,        /* enum gs_class; the highest allowed */
    CTL_WEIGHT = 1u << 6,       /* 1 to QOS_WEIGHT_MAX */
    CTL_MEM = 1u << 7,          /* bytes that a session may hold */
    CTL_USER_MEM = 1u << 8,     /* bytes that all sessions of a user may hold */
    CTL_LAUNCHES_MAX = 1u << 9, /* kernels issued and not finished */
    CTL_LATENCY_SMS = 1u << 10, /* of a device: SMs that best-effort work leaves to latency work */
    CTL_USER_SESSIONS = 1u << 11, /* sessions that a user may have */
    CTL_USER_HOSTS = 1u << 12,    /* host blocks that all sessions of a user may have */
    CTL_USER_PIECES = 1u << 13,   /* pieces of a user's device memory that the vault keeps */
    CTL_TRUST = 1u << 14,         /* of a user: 1: the fence policy auto does not fence the
                                     user's sessions */
    CTL_KERNEL_LIMIT = 1u << 15,  /* how long a kernel may run */
    CTL_USER_HOST_MEM = 1u << 16, /* bytes of host memory that all sessions of a user may have */
    CTL_USER_SETS = 1u << 17,     /* sets of SMs that the sessions of a user may ask for */
    /* bytes of device memory that the driver itself takes for the sessions of a user, beside what
     * they allocate */
    CTL_USER_DRIVER_MEM = 1u << 18,
    CTL_USER_COMPILE = 1u << 19, /* percent of a CPU that compiling for a user's sessions takes */
    CTL_USER_FIELDS = CTL_USER_MEM | CTL_USER_SESSIONS | CTL_USER_HOSTS | CTL_USER_PIECES |
                      CTL_USER_HOST_MEM | CTL_USER_SETS | CTL_USER_DRIVER_MEM | CTL_USER_COMPILE,
    CTL_FIELDS = (1u << 20) - 1
};

struct ctl_settings {
    uint32_t fields;     /* the members that are set: bits of enum ctl_field */
    uint32_t hundredths; /* of a percent of the device's SMs: up to SM_HUNDREDTHS */
    uint32_t sms;
    uint32_t exclusive;
    int32_t priority;
    uint32_t cls;
    uint32_t weight;
    uint32_t launches_max;
    uint32_t latency_sms;
    uint32_t user_sessions;
    uint32_t user_hosts;
    uint32_t user_pieces;
    uint32_t trust;
    uint32_t kernel_limit; /* milliseconds */
    uint32_t user_sets;
    uint32_t user_compile; /* percent of a CPU */
    uint64_t mem;
    uint64_t user_mem;
    uint64_t user_host_mem;
    uint64_t user_driver_mem;
    uint64_t sm_mask[GS_SM_MASK_WORDS];
};

enum ctl_target {
    CTL_DEFAULT = 0,     /* all sessions */
    CTL_USER = 1,        /* id: uid, or CTL_OTHERS */
    CTL_DEVICE = 2,      /* id: index */
    CTL_RESERVATION = 3, /* in answers to CTL_GET only */
    CTL_TENANT = 4,      /* id: session id */
    CTL_SESSIONS_OF = 5  /* id: gs_class; from the policy file only */
};

/* Stands for a uid: all users except root and the server's own who have no settings of their
 * own. */
#define CTL_OTHERS UINT32_MAX

struct ctl_set {
    struct ctl_header h;
    uint32_t target; /* enum ctl_target */
    uint32_t unset;  /* fields to clear, before the fields of `settings` are set */
    uint64_t id;
    struct ctl_settings settings;
};

struct ctl_reserve {
    struct ctl_header h;
    char name[32];
    int32_t device;
    uint32_t sms; /* 0: the mask counts */
    uint64_t sm_mask[GS_SM_MASK_WORDS];
};

enum ctl_kill_target {
    CTL_KILL_SESSION = 0, /* id: of the session */
    CTL_KILL_PROCESS = 1, /* id: pid; all of its sessions */
    CTL_KILL_USER = 2     /* id: uid; all of the user's sessions */
};

struct ctl_kill {
    struct ctl_header h;
    uint32_t target;   /* enum ctl_kill_target */
    uint32_t grace_ms; /* running work may end within this time */
    uint64_t id;
};

/* The server has begun to end the sessions; CTL_PS shows when they are gone. */
struct ctl_kill_reply {
    struct ctl_header h;
    int32_t status;
    uint32_t count; /* of sessions */
    char message[128];
};

/* Asks for another worker for a device. */
struct ctl_restart {
    struct ctl_header h;
    int32_t device;
    uint32_t force; /* 1: even if sessions end because the next worker cannot take them up */
};

/* Sets whether devices take new sessions. */
struct ctl_drain {
    struct ctl_header h;
    int32_t device; /* -1: all */
    uint32_t on;    /* 1: they take none; 0: they take them again */
};

enum ctl_trace_action {
    CTL_TRACE_BEGIN = 0,
    CTL_TRACE_KEEP = 1, /* sent about once a second; without it the trace ends by itself */
    CTL_TRACE_END = 2
};

/* A trace of one device (trace.h). */
struct ctl_trace {
    struct ctl_header h;
    int32_t device;
    uint32_t action;    /* enum ctl_trace_action */
    int32_t segment_id; /* KEEP, END: of the trace */
    uint32_t reserved;
};

struct ctl_trace_reply {
    struct ctl_header h;
    int32_t status;
    int32_t segment_id; /* System V id of a struct trace_segment; the asker owns it */
    char message[128];
};

enum ctl_log_destination {
    CTL_LOG_FILE = 0,
    CTL_LOG_JOURNAL = 1,   /* systemd's */
    CTL_LOG_ELSEWHERE = 2, /* a terminal or pipe, which `path` names */
    CTL_LOG_NOWHERE = 3
};
#define CTL_PATH_MAX 1024u

struct ctl_log_reply {
    struct ctl_header h;
    int32_t status;
    uint32_t destination; /* enum ctl_log_destination */
    char message[128];
    char path[CTL_PATH_MAX]; /* in the server's file system */
};

enum ctl_provision_mode {
    CTL_PROVISION_EXACT = 0,    /* the number of tenants limits no tenant's SMs */
    CTL_PROVISION_UNIFORM = 1,  /* each of n tenants has at most 1/n of the SMs */
    CTL_PROVISION_HALF = 2,     /* each of n tenants has at most 2/n of the SMs */
    CTL_PROVISION_WEIGHTED = 3, /* each has at most its weight's part of the sum of weights */
    CTL_PROVISION_MODES = 4
};

struct ctl_provision {
    struct ctl_header h;
    uint32_t mode;
    uint32_t reserved;
};

/* A row of CTL_GET. The first row is the default's; users, devices, reservations and sessions
 * follow. */
struct ctl_row {
    uint64_t key; /* ctl_row_key() */
    uint32_t uid; /* of a session */
    int32_t device;
    uint32_t sm_count; /* of a session: granted; of a reservation: its own */
    uint32_t exclusive;
    int32_t priority;
    uint32_t cls;
    uint32_t weight;
    uint32_t launches_max;
    uint64_t mem_limit;
    uint64_t user_mem_limit;
    uint64_t sm_mask[GS_SM_MASK_WORDS];
    struct ctl_settings set; /* the operator's settings of this row itself */
    uint32_t unfit;          /* fields of `set` that do not fit one of the server's devices */
    uint32_t state;       /* session: enum ctl_tenant_state; reservation: ctl_reservation_state */
    char name[32];        /* of a session or a reservation */
    char reservation[32]; /* the reservation whose SMs the session runs on */
};
#define CTL_GET_ROWS 11u

enum ctl_reservation_state {
    CTL_RESERVED = 0,
    CTL_NOT_RESERVED = 1, /* the device did not have the SMs when the reservation was placed */
    CTL_NO_SUCH_DEVICE = 2
};

static inline uint64_t ctl_row_key(enum ctl_target target, uint64_t id)
{
    return (uint64_t)target << 56 | (id & ((UINT64_C(1) << 56) - 1));
}

struct ctl_get_reply {
    struct ctl_header h;
    int32_t status;
    uint32_t count;
    uint64_t next_cursor; /* 0: this is the last page */
    uint32_t provision;   /* enum ctl_provision_mode */
    uint32_t reserved;
    char message[128];
    struct ctl_row row[CTL_GET_ROWS];
};

/* The sources of a session's settings, in the order of ctl_explain_reply.set. */
enum ctl_source {
    CTL_SOURCE_DEFAULT = 0, /* gsctl set --default */
    CTL_SOURCE_DEFAULT_FILE =
        1,                    /* [default] of the policy file; counts where --default is not set */
    CTL_SOURCE_USER = 2,      /* gsctl set --user */
    CTL_SOURCE_USER_FILE = 3, /* [user] or [group] of the policy file; used for fields that
                                 --user does not set */
    CTL_SOURCE_OTHERS = 4,    /* settings of CTL_OTHERS; used for fields that the user's own do
                                 not set */
    CTL_SOURCE_SESSION = 5,   /* gsctl set SESSION */
    CTL_SOURCE_MPS = 6, /* MPS's variables in gshared's environment; used for fields that nothing
                           else sets for all sessions */
    CTL_SOURCES = 7
};

/* What one session may have, and which sources say so. `set` has only the fields that take
 * effect. */
struct ctl_explain_reply {
    struct ctl_header h;
    int32_t status;
    uint32_t state; /* enum ctl_tenant_state */
    char message[128];
    uint64_t session_id;
    uint64_t waits_for;        /* the session whose SMs this one waits for; 0: none */
    uint64_t mem_asked;        /* 0: no limit asked for */
    uint64_t mem_limit;        /* in force; 0: the device's memory */
    uint64_t server_mem_limit; /* gshared --mem-limit; 0: none */
    uint64_t user_mem_limit;   /* in force; 0: none */
    struct wire_qos asked;     /* by gs_attach or gs_set_qos, and the program's environment */
    uint32_t uid;
    int32_t device;
    uint32_t sm_count; /* granted */
    uint32_t device_sms;
    uint32_t exclusive;
    uint32_t cls;
    int32_t priority;
    uint32_t weight;
    uint32_t launches_max;              /* 0: the class's default */
    uint32_t kernel_limit;              /* milliseconds; 0: none */
    uint32_t provision;                 /* enum ctl_provision_mode */
    uint32_t fenced;                    /* gs_fence; 0: not */
    uint32_t fence_policy;              /* of gshared --fence: 0 auto, 1 always, 2 never */
    uint32_t other;                     /* the user is neither root nor the server's own */
    uint64_t sm_mask[GS_SM_MASK_WORDS]; /* granted */
    char name[32];
    char reservation[32];
    char waits[128]; /* why its latest grant is not in force yet; "": it is */
    struct ctl_settings set[CTL_SOURCES];
};

static_assert(sizeof(struct ctl_header) == 24, "ctl_header");
static_assert(sizeof(struct ctl_attach) == 232 && sizeof(struct ctl_attach) <= CTL_MESSAGE_MAX,
              "ctl_attach");
static_assert(sizeof(struct ctl_attach_reply) == 192 &&
                  sizeof(struct ctl_attach_reply) <= CTL_MESSAGE_MAX,
              "ctl_attach_reply");
static_assert(sizeof(struct ctl_set_qos) == 136, "ctl_set_qos");
static_assert(sizeof(struct ctl_done_reply) == 160, "ctl_done_reply");
static_assert(sizeof(struct ctl_admin) == 40, "ctl_admin");
static_assert(sizeof(struct ctl_device) == 312, "ctl_device");
static_assert(sizeof(struct ctl_status_reply) == 2944, "ctl_status_reply");
static_assert(sizeof(struct ctl_tenant) == 464, "ctl_tenant");
static_assert(sizeof(struct ctl_ps_reply) == 8064, "ctl_ps_reply");
static_assert(sizeof(struct ctl_quit_reply) == 160, "ctl_quit_reply");
static_assert(sizeof(struct ctl_settings) == 160, "ctl_settings");
static_assert(sizeof(struct ctl_set) == 200, "ctl_set");
static_assert(sizeof(struct ctl_reserve) == 128, "ctl_reserve");
static_assert(sizeof(struct ctl_provision) == 32, "ctl_provision");
static_assert(sizeof(struct ctl_kill) == 40, "ctl_kill");
static_assert(sizeof(struct ctl_kill_reply) == 160, "ctl_kill_reply");
static_assert(sizeof(struct ctl_restart) == 32, "ctl_restart");
static_assert(sizeof(struct ctl_drain) == 32, "ctl_drain");
static_assert(sizeof(struct ctl_trace) == 40, "ctl_trace");
static_assert(sizeof(struct ctl_trace_reply) == sizeof(struct ctl_done_reply), "ctl_trace_reply");
static_assert(sizeof(struct ctl_log_reply) == 1184, "ctl_log_reply");
static_assert(sizeof(struct ctl_row) == 352, "ctl_row");
static_assert(sizeof(struct ctl_get_reply) == 4048, "ctl_get_reply");
static_assert(sizeof(struct ctl_explain_reply) == 1744, "ctl_explain_reply");
static_assert(sizeof(struct ctl_ps_reply) <= CTL_REPLY_MAX &&
                  sizeof(struct ctl_status_reply) <= CTL_REPLY_MAX &&
                  sizeof(struct ctl_get_reply) <= CTL_REPLY_MAX,
              "answers fit");

/* ---- Refusals ---------------------------------------------------------------------------------
 * Every answer begins with a ctl_answer, and has a `message`. */
struct ctl_answer {
    struct ctl_header h;
    int32_t status;
};
#define CTL_TEXT_MAX 128u

/* The size of a request's refusal and the offset of its message. */
struct ctl_refusal {
    size_t size, message;
};

static inline struct ctl_refusal ctl_refusal_of(uint16_t op)
{
#define CTL_REFUSAL(type)                                                                          \
    ((struct ctl_refusal){sizeof(struct type), offsetof(struct type, message)})
    switch (op) {
    case CTL_ATTACH:
        return CTL_REFUSAL(ctl_attach_reply);
    case CTL_STATUS:
        return CTL_REFUSAL(ctl_status_reply);
    case CTL_PS:
        return CTL_REFUSAL(ctl_ps_reply);
    case CTL_GET:
        return CTL_REFUSAL(ctl_get_reply);
    default:
        return CTL_REFUSAL(ctl_done_reply);
    }
#undef CTL_REFUSAL
}

#define CTL_CHECK(type, shape)                                                                     \
    static_assert(offsetof(struct type, status) == offsetof(struct ctl_answer, status) &&          \
                      offsetof(struct type, message) == offsetof(struct shape, message) &&         \
                      sizeof(((struct type *)0)->message) == CTL_TEXT_MAX,                         \
                  #type)
CTL_CHECK(ctl_attach_reply, ctl_attach_reply);
CTL_CHECK(ctl_status_reply, ctl_status_reply);
CTL_CHECK(ctl_ps_reply, ctl_ps_reply);
CTL_CHECK(ctl_get_reply, ctl_get_reply);
CTL_CHECK(ctl_quit_reply, ctl_done_reply);
CTL_CHECK(ctl_kill_reply, ctl_done_reply);
CTL_CHECK(ctl_trace_reply, ctl_done_reply);
CTL_CHECK(ctl_log_reply, ctl_done_reply);
CTL_CHECK(ctl_explain_reply, ctl_done_reply);
#undef CTL_CHECK

/* ---- Status page -------------------------------------------------------------------------------
 * One System V page per server, which every client maps read-only. `owner` is a robust futex of the
 * keeper's main thread (server/keeper.h): it holds the thread's id while the thread lives, and the
 * kernel sets FUTEX_OWNER_DIED in it when the keeper dies for any reason. A client therefore learns
 * of the server's end by one load, without a system call. */
#define STATUS_OWNER_DIED 0x40000000u /* FUTEX_OWNER_DIED */

struct status_page {
    uint32_t magic;
    uint32_t version;
    _Atomic uint32_t owner;
    int32_t server_pid;
    _Atomic uint32_t trusts; /* gs_trust */
    uint32_t reserved;
    char instance[WIRE_INSTANCE_MAX + 1]; /* the name by which `gsctl servers` asks the server */
};
static_assert(sizeof(struct status_page) == 56, "status_page");

#endif
