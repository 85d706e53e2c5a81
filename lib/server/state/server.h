/*
 * server.h - the supervisor's state, and how its files divide it.
 *
 *   main.c          options, background start         server.c        start, phases, end
 *   leftovers.c     the control queue as the lock;   control.c       requests: parsed, checked,
 *                   what a killed server left                        handed on
 *   reply.c         reply queues, and who is asking  attach.c        admission, the segment
 *   registry.c      slots and cookies                session.c        a session's life
 *   liveness.c      is its client still there?       vault.c         descriptors of its memory
 *   device.c        worker processes: start, loss    worker_link.c   messages to and from them
 *   admin.c         status, ps, quit                 operator*.c     set, get, reserve, provision
 *   settings*.c     what operators have set          state_*.c       kept in a file
 *   qos.c           what a session may have of it    qos_request.c          sessions' own requests
 * for it placer.c        which SMs each session gets      placement.c     asking it about a device
 *   reservations.c  SMs set apart under a name       grants.c        bringing all that to workers
 *   policy.c        what best-effort work leaves     sm_check.c      can these SMs be had?
 *   refusal.c       a status and why
 *
 * One thread runs all of it, from callbacks of the loop, and never blocks once the server is ready.
 * Nothing here knows CUDA. Messages from queues and from workers are checked field by field before
 * they are used; what sessions write into their segments is not read at all.
 */
#ifndef GS_SERVER_SERVER_H
#define GS_SERVER_SERVER_H

#include <mqueue.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/link.h"
#include "common/wire.h"
#include "server/base/loop.h"
#include "server/base/reply.h"
#include "server/base/status_page.h"
#include "server/placer/placer.h"
#include "server/state/registry.h"
#include "server/state/settings.h"
#include "server/state/state_writer.h"

#define DEVICES_MAX      8
#define DEVICES_ALL      0
#define POLICY_USERS_MAX 64
#define ERROR_TEXT_MAX   256

struct server_options {
    const char *instance;
    const char *kind; /* of device: "auto", "cuda", "soft" */
    int devices;      /* how many; DEVICES_ALL: as many as the driver has */
    uint32_t max_tenants;
    uint64_t mem_limit; /* for each session; 0: the device's memory */
    bool all_users;
    unsigned user_count; /* whom else than root and the server's own user it serves */
    uid_t user[POLICY_USERS_MAX];
    const char *state_file;         /* where settings are kept; NULL: nowhere */
    const char *log_file;           /* reopened at SIGHUP; NULL: none */
    bool no_accounting, no_weights; /* see struct link_policy */
    bool background;
};

/* ---- Devices and their workers --------------------------------------------------------------- */

enum worker_state {
    WORKER_NONE = 0,
    WORKER_STARTING = 1,
    WORKER_READY = 2,
    WORKER_ENDING = 3 /* killed or told to quit; waiting to be reaped */
};

struct outbox {
    struct link_message *message;
    uint32_t count, room;
};

struct worker_process {
    enum worker_state state;
    pid_t pid;
    struct watch process; /* pidfd */
    struct watch link;    /* our end of the socketpair */
    struct outbox outbox; /* what the socket has not taken yet */
    struct link_stats *stats;
    uint64_t ready_ns;    /* when it became ready */
    bool needs_recycling; /* another one is to take its place; see device_renew */
};

struct device {
    struct server *server;
    int index;
    struct worker_process worker; /* a standby, a second one, has its place here */
    struct link_device info;      /* of the last worker that was ready */
    char bell[WIRE_NAME_MAX];
    mqd_t bell_queue;
    uint32_t sessions;
    uint32_t faults;              /* workers lost after they were ready */
    uint32_t failures;            /* starts that failed in a row */
    struct timer timer;           /* start deadline, next start, or patience with one that ends */
    char failure[ERROR_TEXT_MAX]; /* of the last worker lost */

    /* Quality of service; see grants.h. */
    struct placer_device sms; /* sm_count 0: no worker has been ready yet */
    /* Where sessions may be placed: outside all reservations, and in each. */
    struct sm_mask space[1 + SETTINGS_RESERVATIONS_MAX];
    uint32_t constrained;    /* sessions that are not simply on the whole device */
    uint32_t blocked;        /* grants that wait for another session's */
    struct session *awaited; /* sessions whose grant somebody waits for; see qos_request.h */
    struct timer place_soon; /* due at once: placing is to be done anew */
    bool early;              /* sessions that came before the worker may have to be placed yet */
    struct timer grant_retry;
    struct link_policy policy; /* that the worker has been told */
    bool policy_sent;
    uint32_t policy_sms; /* in its reserve_mask */
};

/* ---- Sessions ---------------------------------------------------------------------------------
 */

enum session_state {
    SESSION_FREE = 0,
    SESSION_WAITING = 1, /* for a worker to be ready */
    SESSION_OPENING = 2, /* LINK_OPEN sent */
    SESSION_OPEN = 3,
    SESSION_CLOSING = 4, /* LINK_CLOSE sent */
    SESSION_LOST = 5     /* its worker is gone; kept until its client goes */
};

/* ---- The server ------------------------------------------------------------------------------ */

enum server_phase {
    PHASE_STARTING = 0, /* a failure now ends the server with an error */
    PHASE_SERVING = 1,
    PHASE_DRAINING = 2, /* no new sessions; ends when the last is gone or the time is over */
    PHASE_STOPPING = 3  /* workers are told to quit */
};

struct announcements {
    struct {
        uint64_t token, seen_ns;
    } * entry; /* a ring, oldest first */
    uint32_t first, count;
    struct timer timer;
};

/* Operators whose changes the workers, or the state file, do not have yet. */
#define OPERATORS_MAX 16u
struct operators {
    struct reply reply[OPERATORS_MAX];
    uint32_t count;
    struct timer patience;
};

struct server {
    struct server_options options;
    struct loop loop;
    enum server_phase phase;
    void (*on_ready)(struct server *server);
    char failure[ERROR_TEXT_MAX]; /* why it ends with an error; "": it does not */
    uint64_t started_ns;
    uint64_t sessions_total; /* also the last session id */
    char control_name[WIRE_NAME_MAX];
    struct watch control; /* the control queue */
    struct watch signals;
    struct status_map status;
    struct registry registry;
    struct announcements announcements;
    struct settings settings;
    struct state_writer state;
    struct operators operator;
    struct timer sweep;       /* liveness.c */
    struct timer drain;       /* the end of sessions' time */
    uint64_t swept_all_ns;    /* when all sessions were last looked at */
    uint32_t sessions_polled; /* whose client's pid is not known */
    uint32_t descriptors_max; /* RLIMIT_NOFILE */
    int device_count;
    struct device device[DEVICES_MAX];
};

/* server.c. server_init fills server->failure when it fails; the caller reports it. */
bool server_init(struct server *server, const struct server_options *options,
                 void (*on_ready)(struct server *server));
/* Runs until the end. false: server->failure says why. */
bool server_run(struct server *server);
void server_deinit(struct server *server);
/* Notes the first failure and ends the server. */
void server_fail(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sessions have so long to detach; 0: none. A second call makes it shorter, never longer. */
void server_drain(struct server *server, uint64_t timeout_ns);
/* The first device is ready, and its driver has so many: serves them all if that is wanted. */
void server_devices_found(struct server *server, uint32_t count);
/* To be called when a session or a worker has gone, or a device has become ready. */
void server_progress(struct server *server);

/* leftovers.c. Each returns 0 or -errno; control_queue_take: -EBUSY when another server lives. */
int control_queue_take(const char *name, mode_t mode, mqd_t *queue);
void leftovers_remove(const char *instance);
/* Removes a reply queue unless a living client holds it. */
enum orphan { ORPHAN_REMOVED, ORPHAN_NONE, ORPHAN_HELD };
enum orphan reply_queue_remove_orphan(const char *name);

/* device.c */
void device_init(struct device *device, struct server *server, int index);
void device_deinit(struct device *device);
/* Makes the doorbell queue. 0 or -errno. */
int device_bell_open(struct device *device, mode_t mode);
/* Starts a worker; a failure is dealt with as a worker's loss. */
void device_start(struct device *device);
/* Ends the worker, which is no longer to be trusted, and tells its sessions. fatal: its own last
 * words about it, or NULL; slot: of the session to blame, or LINK_SLOT_NONE. */
void device_fail(struct device *device, const struct link_fatal *fatal, uint32_t slot,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* false: the worker's description of it makes no sense. */
bool device_ready(struct device *device, const struct link_device *info);
/* Tells the worker to quit, and kills it if it does not. */
void device_quit(struct device *device);
/* Has another worker started in the place of one that needs recycling, if nobody uses it. */
void device_renew(struct device *device);
/* Will sessions be served, now or in a moment? */
bool device_usable(const struct device *device);
uint64_t device_memory_used(const struct device *device);

/* worker_link.c */
/* Queues what the socket does not take now. A failure ends the worker. */
void worker_send(struct device *device, const struct link_message *message);
void worker_link_ready(struct watch *watch, uint32_t events);
/* Takes all messages that have arrived. */
void worker_receive(struct device *device);
void outbox_deinit(struct outbox *outbox);

/* reservations.c: finds the SMs of each reservation of the device; nobody is placed yet. */
void reservations_place(struct device *device);
/* The same of one, beside the sessions that are there. GS_OK, or why it does not fit. */
gs_status reservation_place(struct device *device, uint32_t index, char text[REFUSAL_TEXT_MAX]);
/* Gives its SMs back. */
void reservation_drop(struct device *device, uint32_t index);

/* policy.c: tells the worker how to schedule, if it is to be told something new. */
void policy_update(struct device *device);

/* control.c */
void control_ready(struct watch *watch, uint32_t events);

#endif
