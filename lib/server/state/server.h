/*
 * server.h - struct server, the supervisor's whole state: its options, its phase, the sessions, the
 * operators' settings, the devices. The folders above state/ change it; see server/supervisor.h.
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

/* Descriptors that requests of tenants may not use up, so that operators are always answered. */
#define DESCRIPTORS_RESERVE 64u

#define DEVICES_MAX     8
#define DEVICES_ALL     0
#define TENANTS_DEFAULT 2048u

/* Whether the server fences the kernels of sessions that have not asked for the address fence. */
enum fence_policy { FENCE_AUTO, FENCE_ALWAYS, FENCE_NEVER };

struct server_options {
    bool no_standby;
    bool no_takeover;        /* sessions end with their worker instead of being taken up */
    uint32_t grace_ms;       /* how long work of a tenant that has gone may continue; 0: no limit */
    const char *instance;    /* the name without its user, who is this process's user */
    const char *kind;        /* of device: "auto", "cuda", "soft" */
    int devices;             /* number of devices; DEVICES_ALL: all that the driver has */
    uint32_t max_tenants;    /* 0: the policy file's, or TENANTS_DEFAULT */
    uint64_t mem_limit;      /* for each session; 0: the device's memory */
    struct ctl_settings mps; /* for all sessions, from MPS's variables; settings of files and
                                gsctl take precedence */
    struct user_list served; /* users served besides root and the server's own user */
    struct user_list observers;     /* users who may see other users' sessions, besides root and
                                       the server's own user */
    const char *policy_file;        /* read at the start and at SIGHUP; NULL: none */
    const char *state_file;         /* the file that keeps the settings; NULL: none */
    const char *log_file;           /* reopened at SIGHUP; NULL: none */
    bool no_accounting, no_weights; /* see struct link_policy */
    enum fence_policy fence;
    /* The directory in which workers keep machine code; "none": nowhere, "": not given. Once the
     * options are complete, "" means nowhere. */
    char cache[CACHE_PATH_MAX];
    char metrics[METRICS_ADDRESS_MAX]; /* the address at which metrics are served; "" or "none":
                                          nowhere */
    bool background;
};

enum server_phase {
    PHASE_STARTING = 0, /* a failure now ends the server with an error */
    PHASE_SERVING = 1,
    PHASE_DRAINING = 2, /* takes no new sessions; ends when the last session is gone or the time
                           is over */
    PHASE_STOPPING = 3, /* workers are told to quit */
    PHASE_ENDED = 4
};

/* The settings in force, in two copies. A supervisor that is killed while it writes one copy leaves
 * the other, at `index`, complete for the next supervisor. */
struct committed {
    _Atomic uint32_t index;
    struct {
        struct settings settings, policy;
        struct server_options options;
        uint64_t token; /* of the operator's request that made this copy; 0: none */
    } at[2];
};

/* The last request to end sessions, and the number of sessions that it has ended. */
struct killing {
    uint64_t token;
    uint32_t count;
};

/* Operators' changes that have not reached all workers and the state file yet; see changes.h. */
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
    char failure[ERROR_TEXT_MAX]; /* the error with which the server ends; "": none */
    bool end_wanted;              /* the server is to end, ... */
    uint64_t end_by_ns;           /* ... at this time at the latest; UINT64_MAX: no limit */
    uint64_t started_ns;
    uint64_t sessions_total;         /* also the last session id */
    uint64_t refusals[CTL_STATUSES]; /* attaches, by status */
    char lock_name[WIRE_NAME_MAX];
    char control_name[WIRE_NAME_MAX];
    mqd_t lock;           /* -1: this process does not hold the instance's lock */
    struct watch control; /* the control queue */
    /* The request being handled (control.c); all zero: none. */
    _Alignas(8) unsigned char asked[CTL_MESSAGE_MAX];
    struct watch signals;
    bool terminal; /* the server belongs to a terminal, whose hangup ends it */
    struct status_map status;
    struct registry registry;
    struct announcements announcements;
    struct accounts accounts;
    struct settings policy;         /* of the policy file; `settings` takes precedence */
    struct policy_reading *reading; /* a reading in progress (policy_file.c); NULL: none */
    bool reading_again;             /* the file is to be read once more after `reading` */
    struct settings settings;
    struct committed *committed; /* NULL: nothing is kept */
    struct state_writer state;
    struct changes changes;
    struct killing killing;
    struct reaper reaper;
    struct timer sweep;    /* liveness.c */
    struct timer drain;    /* wakes the loop at end_by_ns */
    uint64_t swept_all_ns; /* when the attachments of all sessions were last checked */
    bool restoring;        /* this supervisor is taking over from a killed one (restore.h) */
    struct loans loans;
    struct timer peers_soon;  /* set to fire at once while workers have still to be told of loans
                                 (peer_memory.h) */
    uint32_t sessions_polled; /* sessions whose client's pid is not known */
    uint32_t descriptors_max; /* RLIMIT_NOFILE */
    uint64_t host_memory;     /* machine_memory() */
    uint32_t cpus;            /* the number of CPUs online */
    uint32_t segments_max;    /* kernel.shmmni */
    int device_count;
    struct device device[DEVICES_MAX];
};

/* Returns whether the server serves users besides root and its own. */
bool server_serves_others(const struct server_options *options);
/* Returns whether the user may see all users' sessions: root, the server's own user and observers
 * may. */
bool server_shows_all(const struct server *server, uid_t uid);
/* Returns whether the user may see the sessions of the user `of`. */
bool server_shows(const struct server *server, uid_t uid, uid_t of);
/* Returns whether the user is neither root nor the server's own. Such users have bounds on all
 * finite resources, and a part of each resource is reserved for others. */
bool server_other(const struct server *server, uid_t uid);
/* Returns GS_OK if the server has a device of that number; else a status, with a text. */
gs_status server_device_check(const struct server *server, int64_t index,
                              char text[REFUSAL_TEXT_MAX]);
/* Returns whether the descriptor is in the reserve that tenants' requests may not use up. The
 * kernel gives the lowest free number, so kept descriptors fill the numbers from below. */
bool server_descriptor_reserved(const struct server *server, int fd);
#define DESCRIPTORS_NONE_LEFT "the server has no descriptor left (RLIMIT_NOFILE %u)"

/* Ends the server at once: kills the processes of all devices, and removes the names that would
 * stay behind. These are the names of the queues, if this process holds the instance's lock (no
 * other server can have them then), and segments that no client knows yet. */
void server_kill_all(const struct server *server);
/* Commits settings, policy and options as they are now, for a next supervisor. `token` is that of
 * the request that changed them, or 0. */
void server_commit(struct server *server, uint64_t token);
/* Restores the settings, policy and options that were committed last. */
void server_rollback(struct server *server);
/* Returns whether the last commit was made for that request. */
bool server_committed_by(const struct server *server, uint64_t token);
/* Ends the server at the end of this round with this failure. Only the first failure counts. */
void server_fail(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Begins to end the server: sessions have timeout_ns to detach; 0: no time; UINT64_MAX: no limit. A
 * second call can shorten that time, never lengthen it. */
void server_drain(struct server *server, uint64_t timeout_ns);

#endif
