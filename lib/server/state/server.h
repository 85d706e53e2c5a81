/*
 * server.h - what the supervisor knows, in one object: its options, its phase, the sessions, what
 * operators have set, the devices. The folders above change it; see server/supervisor.h.
 */
#ifndef GS_SERVER_SERVER_H
#define GS_SERVER_SERVER_H

#include <mqueue.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire.h"
#include "server/base/announcements.h"
#include "server/base/loop.h"
#include "server/base/reaper.h"
#include "server/base/refusal.h"
#include "server/base/reply.h"
#include "server/base/status_page.h"
#include "server/state/accounts.h"
#include "server/state/device.h"
#include "server/state/loans.h"
#include "server/state/registry.h"
#include "server/state/settings.h"
#include "server/state/settings_read.h"
#include "server/state/state_writer.h"

/* Descriptors kept free of what tenants ask for, so that operators are always answered. */
#define DESCRIPTORS_RESERVE 64u

#define DEVICES_MAX     8
#define DEVICES_ALL     0
#define TENANTS_DEFAULT 2048u

/* Whether kernels are kept to their session's window where the session has not asked for it. */
enum fence_policy { FENCE_AUTO, FENCE_ALWAYS, FENCE_NEVER };

struct server_options {
    bool no_standby;
    bool no_takeover;        /* sessions end with their worker */
    uint32_t grace_ms;       /* how long work of a tenant that has gone may run on; 0: no limit */
    const char *instance;    /* without its user, who is this process's */
    const char *kind;        /* of device: "auto", "cuda", "soft" */
    int devices;             /* how many; DEVICES_ALL: as many as the driver has */
    uint32_t max_tenants;    /* 0: the policy file's, or TENANTS_DEFAULT */
    uint64_t mem_limit;      /* for each session; 0: the device's memory */
    struct ctl_settings mps; /* for everybody, by MPS's variables; files and gsctl go before it */
    struct user_list served; /* besides root and the server's own user */
    struct user_list observers;     /* who may see what other users have; root and that user may */
    const char *policy_file;        /* read at the start and at SIGHUP; NULL: none */
    const char *state_file;         /* where settings are kept; NULL: nowhere */
    const char *log_file;           /* reopened at SIGHUP; NULL: none */
    bool no_accounting, no_weights; /* see struct link_policy */
    enum fence_policy fence;
    /* The directory where workers keep machine code; "none": nowhere, "": not said. Once the
     * options are whole, "": nowhere. */
    char cache[CACHE_PATH_MAX];
    char metrics[METRICS_ADDRESS_MAX]; /* where metrics are served; "" or "none": nowhere */
    bool background;
};

enum server_phase {
    PHASE_STARTING = 0, /* a failure now ends the server with an error */
    PHASE_SERVING = 1,
    PHASE_DRAINING = 2, /* no new sessions; ends when the last is gone or the time is over */
    PHASE_STOPPING = 3, /* workers are told to quit */
    PHASE_ENDED = 4
};

/* The settings in force, in two copies. A supervisor that is killed while it changes one leaves the
 * other, at `index`, whole for the next supervisor. */
struct committed {
    _Atomic uint32_t index;
    struct {
        struct settings settings, policy;
        struct server_options options;
        uint64_t token; /* of the operator's request by which it came to be; 0: of none */
    } at[2];
};

/* The last request to end sessions, and how many it has ended. */
struct killing {
    uint64_t token;
    uint32_t count;
};

/* Operators' changes that the workers, or the state file, do not have yet; see changes.h. */
#define OPERATORS_MAX     16u
#define OPERATOR_NOTE_MAX 112
struct changes {
    struct reply reply[OPERATORS_MAX];
    char note[OPERATORS_MAX][OPERATOR_NOTE_MAX]; /* remarks for the answers; "": none */
    uint32_t count;
    struct timer patience;
};

struct server {
    struct server_options options;
    struct server_options given; /* the options without what the policy file adds */
    struct loop loop;
    enum server_phase phase;
    void (*on_ready)(struct server *server);
    char failure[ERROR_TEXT_MAX]; /* why it ends with an error; "": it does not */
    bool end_wanted;              /* the server is to end, ... */
    uint64_t end_by_ns;           /* ... at this time at the latest; UINT64_MAX: at none */
    uint64_t started_ns;
    uint64_t sessions_total;         /* also the last session id */
    uint64_t refusals[CTL_STATUSES]; /* attaches, by status */
    char lock_name[WIRE_NAME_MAX];
    char control_name[WIRE_NAME_MAX];
    mqd_t lock;           /* -1: the instance is not ours */
    struct watch control; /* the control queue */
    /* The request being dealt with (control.c); all zero: none. */
    _Alignas(8) unsigned char asked[CTL_MESSAGE_MAX];
    struct watch signals;
    bool terminal; /* the server belongs to a terminal, whose hangup ends it */
    struct status_map status;
    struct registry registry;
    struct announcements announcements;
    struct accounts accounts;
    struct settings policy;         /* of the policy file; `settings` goes before it */
    struct policy_reading *reading; /* policy_file.c; NULL: the file is not being read */
    bool reading_again;             /* the file is to be read once more after `reading` */
    struct settings settings;
    struct committed *committed; /* NULL: nothing is kept */
    struct state_writer state;
    struct changes changes;
    struct killing killing;
    struct reaper reaper;
    struct timer sweep;    /* liveness.c */
    struct timer drain;    /* wakes the loop at end_by_ns */
    uint64_t swept_all_ns; /* when all sessions were last looked at */
    bool restoring;        /* it takes the place of one that was killed (restore.h) */
    struct loans loans;
    struct timer peers_soon;  /* due at once: loans' next words to workers (peer_memory.h) */
    uint32_t sessions_polled; /* sessions whose client's pid is not known */
    uint32_t descriptors_max; /* RLIMIT_NOFILE */
    uint64_t host_memory;     /* machine_memory() */
    uint32_t cpus;            /* that it has online */
    uint32_t segments_max;    /* kernel.shmmni */
    int device_count;
    struct device device[DEVICES_MAX];
};

/* Whether users besides root and the server's own are served. */
bool server_serves_others(const struct server_options *options);
/* Whether the user sees what all users have: root, the server's own user, and observers. */
bool server_shows_all(const struct server *server, uid_t uid);
/* Whether the user sees what that one has. */
bool server_shows(const struct server *server, uid_t uid, uid_t of);
/* Whether the user is neither root nor the server's own. What is finite is bounded for such users,
 * and a part of it kept from them. */
bool server_other(const struct server *server, uid_t uid);
/* GS_OK if the server has a device of that number; else the status and a text. */
gs_status server_device_check(const struct server *server, int64_t index,
                              char text[REFUSAL_TEXT_MAX]);
/* Whether the descriptor is one of those that tenants may not keep. The kernel gives the lowest
 * that is free, so what is kept fills the numbers from below. */
bool server_descriptor_reserved(const struct server *server, int fd);
#define DESCRIPTORS_NONE_LEFT "the server has no descriptor left (RLIMIT_NOFILE %u)"

/* Ends the server at once, without order: kills the processes of all devices, and removes what
 * would stay behind: the names of the queues, if the instance is ours (while its lock is held no
 * other server has them), and segments that no client knows yet. */
void server_kill_all(const struct server *server);
/* Commits settings, policy and options as they are now: the next supervisor goes on with them.
 * token: of the request that wanted it, or 0. */
void server_commit(struct server *server, uint64_t token);
/* Restores the settings, policy and options that were committed last. */
void server_rollback(struct server *server);
/* Whether the last commit was made for that request. */
bool server_committed_by(const struct server *server, uint64_t token);
/* Notes the first failure: the server ends with this round. */
void server_fail(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Ends the server: sessions have timeout_ns to detach; 0: no time; UINT64_MAX: any. A second call
 * makes it shorter, never longer. */
void server_drain(struct server *server, uint64_t timeout_ns);

#endif
