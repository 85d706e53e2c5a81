/*
 * wire_control.h - messages on the control queue and their answers on reply queues; and the
 * status page, by which a client knows that the server lives.
 */
#ifndef GS_COMMON_WIRE_CONTROL_H
#define GS_COMMON_WIRE_CONTROL_H

#include "common/wire_base.h"

/* ---- Control queue ----------------------------------------------------------------------------
 * Each request is one message of at most CTL_MESSAGE_MAX bytes that begins with a ctl_header. */
#define CTL_MESSAGE_MAX 256u
/* What an admin's reply queue must take; attach replies fit CTL_MESSAGE_MAX. */
#define CTL_REPLY_MAX   4096u
#define CTL_QUEUE_DEPTH 10u /* the kernel's default limit, fs.mqueue.msg_max */

enum ctl_op {
    CTL_ANNOUNCE = 1, /* "I am about to make the reply queue of this token": lets the server remove
                         an orphan */
    CTL_ATTACH = 2,   /* -> ctl_attach_reply */
    CTL_CONFIRM = 3,  /* "my segment is mapped": the server now asks the kernel for my pid */
    CTL_DETACH = 4,   /* the session's work is done, close it */
    CTL_STATUS = 5,   /* -> ctl_status_reply */
    CTL_PS = 6,       /* -> ctl_ps_reply, page by page */
    CTL_QUIT = 7,     /* -> ctl_quit_reply when accepted; the status page shows the end itself */
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
    uint32_t patience_ms; /* that the asker has with the answer; 0: any amount */
    uint32_t reserved;
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
    uint32_t ending; /* of the tenants: those in CTL_TENANT_ENDING */
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
    uint32_t state; /* enum ctl_tenant_state */
    uint32_t reserved;
    char name[32];
};
#define CTL_PS_ROWS 27u

enum ctl_tenant_state {
    CTL_TENANT_ATTACHED = 0,
    CTL_TENANT_ATTACHING = 1, /* its gs_attach has no answer yet */
    CTL_TENANT_ENDING = 2,    /* it has detached or died: the device finishes what it has of it */
    CTL_TENANT_LOST = 3       /* its device's worker was lost; its process is still there */
};

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
    uint32_t unfit;       /* fields of `set` that do not fit the server's devices, or one of them */
    uint32_t state;       /* of a session: enum ctl_tenant_state; of a reservation: below */
    char name[32];        /* of a session or a reservation */
    char reservation[32]; /* that a session lives in */
};
#define CTL_GET_ROWS 12u

enum ctl_reservation_state {
    CTL_RESERVED = 0,
    CTL_NOT_RESERVED = 1, /* there were not such SMs on the device when it was placed */
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
    uint64_t next_cursor; /* 0: that was the last page */
    uint32_t provision;   /* enum ctl_provision_mode */
    uint32_t reserved;
    char message[128];
    struct ctl_row row[CTL_GET_ROWS];
};

static_assert(sizeof(struct ctl_header) == 24, "ctl_header");
static_assert(sizeof(struct ctl_attach) == 224 && sizeof(struct ctl_attach) <= CTL_MESSAGE_MAX,
              "ctl_attach");
static_assert(sizeof(struct ctl_attach_reply) == 192 &&
                  sizeof(struct ctl_attach_reply) <= CTL_MESSAGE_MAX,
              "ctl_attach_reply");
static_assert(sizeof(struct ctl_set_qos) == 136, "ctl_set_qos");
static_assert(sizeof(struct ctl_done_reply) == 160, "ctl_done_reply");
static_assert(sizeof(struct ctl_admin) == 40, "ctl_admin");
static_assert(sizeof(struct ctl_device) == 144, "ctl_device");
static_assert(sizeof(struct ctl_status_reply) == 1344, "ctl_status_reply");
static_assert(sizeof(struct ctl_tenant) == 144, "ctl_tenant");
static_assert(sizeof(struct ctl_ps_reply) == 4056, "ctl_ps_reply");
static_assert(sizeof(struct ctl_quit_reply) == 160, "ctl_quit_reply");
static_assert(sizeof(struct ctl_settings) == 120, "ctl_settings");
static_assert(sizeof(struct ctl_set) == 160, "ctl_set");
static_assert(sizeof(struct ctl_reserve) == 128, "ctl_reserve");
static_assert(sizeof(struct ctl_provision) == 32, "ctl_provision");
static_assert(sizeof(struct ctl_row) == 312, "ctl_row");
static_assert(sizeof(struct ctl_get_reply) == 3920, "ctl_get_reply");
static_assert(sizeof(struct ctl_ps_reply) <= CTL_REPLY_MAX &&
                  sizeof(struct ctl_get_reply) <= CTL_REPLY_MAX,
              "answers fit");

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

#endif
