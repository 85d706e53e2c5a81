/*
 * device.h - one device as the supervisor has it: its worker process, what is due on it, and which
 * of its SMs are set apart. (The worker's end of all this is lib/worker.)
 */
#ifndef GS_SERVER_DEVICE_H
#define GS_SERVER_DEVICE_H

#include <mqueue.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/link.h"
#include "common/trace.h"
#include "common/wire.h"
#include "server/base/loop.h"
#include "server/base/reply.h"
#include "server/base/segment_pool.h"
#include "server/placer/placer.h"
#include "server/state/settings.h"

#define ERROR_TEXT_MAX      256
/* A device whose worker has failed so often in a row counts as failed. */
#define DEVICE_FAILURES_MAX 5u

/* A worker answers a ping at once. After this time it is silent: it is what others wait for. */
#define SILENT_NS 500000000u
/* After this time without an answer it is ended where somebody waits for what it was told to do. */
#define HUNG_NS   1000000000u

struct server;
struct session;

enum worker_state {
    WORKER_NONE = 0,
    WORKER_STARTING = 1,
    WORKER_READY = 2,
    WORKER_ENDING = 3 /* killed or told to quit; waiting to be reaped */
};

/* The session whose kernel lost a device. */
struct culprit {
    uint64_t session_id;
    uid_t uid;
    pid_t pid;
    char name[32];
};

/* Sessions with unfinished work, told by a worker that is being lost with nobody to blame. */
#define SUSPECTS_NAMED 32u
struct suspects {
    uint64_t session_id[SUSPECTS_NAMED]; /* the first ones */
    uint32_t count;                      /* of all */
};

struct outbox_message {
    struct link_message message;
    int descriptor; /* a descriptor to send along; -1: none */
};

struct outbox {
    struct outbox_message *waiting;
    uint32_t first, count; /* the messages from `first` up to `count` wait */
    uint32_t room;         /* messages that the array can hold */
    uint32_t pieces;       /* LINK_RESUME_PIECEs that wait, which the vault bounds */
};

struct worker_process {
    enum worker_state state;
    pid_t pid;
    struct watch process;              /* pidfd */
    struct watch link;                 /* our end of the socketpair */
    struct outbox outbox;              /* messages that the socket has not taken yet */
    struct link_message inbox;         /* the message being dealt with; op 0: none */
    struct link_control inbox_control; /* tells of the descriptor that came with `inbox` */
    struct resync *resync;             /* see workers/resync.h; NULL: none is under way */
    bool said_ready;                   /* it has sent a LINK_READY */
    struct link_device said;           /* the content of its LINK_READY */
    bool begun;                        /* a LINK_BEGIN was sent, and what follows from it done */
    uint64_t ready_ns;                 /* when it became ready */
    uint64_t pinged_ns;                /* when the ping was sent that it has to answer; 0: none */
    uint64_t answered_ns;              /* when the last ping was sent that it has answered */
    uint64_t stuck_ns;                 /* how long a lane of it has been in one round, as its last
                                          answer said; the lane waits for nobody but the driver */
    uint32_t missed;                   /* beats in a row without an answer */
    bool silence_told;                 /* the log has it */
    uint64_t overdue; /* a session whose end is due, while the worker does not answer; 0: none */
    bool needs_recycling; /* another one takes its place when it has no sessions */
    bool stopped;         /* it is ending, and need not end before the standby begins */
};

/* A worker whose place the standby has taken before its process has ended; see former.h. */
struct former {
    pid_t pid;            /* 0: none */
    struct watch process; /* pidfd */
    struct timer kill_by;
};

/* How much a standby has been told of the sessions that it will take up; see link/preload.h. */
enum preload_phase {
    PRELOAD_NONE = 0,
    PRELOAD_CLEAR = 1, /* the standby is to forget earlier sessions */
    PRELOAD_SENDING = 2,
    PRELOAD_SENT = 3,
    PRELOAD_DONE = 4 /* the standby has answered */
};
struct preload_progress {
    enum preload_phase phase;
    uint32_t slot;    /* the session's that is being sent */
    uint64_t address; /* the memory below this address has been sent */
};

/* A worker that waits to take the other's place; see standby.h. */
struct standby {
    pid_t pid; /* 0: none */
    bool ready;
    bool lost;                  /* the process was killed, and is to be reaped */
    struct link_device info;    /* once it is ready */
    struct watch process, link; /* of this process, as in worker_process */
    struct timer timer;         /* starts the standby */
    uint64_t next_ns;           /* the standby is not started before this time */
    struct preload_progress preload;
};

/* Another worker takes this one's place; see restart.h. */
enum restart_phase {
    RESTART_NONE = 0,
    RESTART_STANDBY = 1, /* waits for the standby */
    RESTART_ASKED = 2,   /* LINK_RETIRE is sent */
    RESTART_NEXT = 3,    /* the worker is gone; the next one takes the sessions up */
    RESTART_PRELOAD = 4  /* the standby gets ready for them: after RESTART_STANDBY */
};
struct restart {
    enum restart_phase phase;
    bool force;
    enum ctl_takeover cause; /* CTL_TAKEOVER_RESTART or CTL_TAKEOVER_RECYCLING */
    pid_t former;
    uint32_t sessions; /* sessions that the worker had when it ended */
    uint64_t retired_ns;
    struct timer patience; /* fires when the worker is looked at again */
    uint64_t give_up_ns;
    struct reply reply; /* closed: no operator has asked */
    uint64_t next_ns;   /* a worker that needs recycling is not replaced before that */
};

/* The reader of the device's trace; see session/trace.h. */
struct device_trace {
    struct trace_segment *segment; /* NULL: nobody */
    int segment_id;
    uid_t uid;          /* the user that reads it */
    bool all;           /* all sessions, not only those of that user */
    struct timer lease; /* the trace ends then, unless it is renewed */
    uint64_t next_ns;   /* a user besides the operator may begin a trace from then on */
};

/* The steps that reconcile() takes for a device at the end of the round. */
enum device_due {
    DUE_PLAN = 1u << 0,   /* sessions are placed anew, though nobody asks for it */
    DUE_POLICY = 1u << 1, /* the policy may have changed */
    DUE_SEND = 1u << 2,   /* grants may have to be sent */
    DUE_SETTLE = 1u << 3  /* somebody who waits may be answered */
};

struct device {
    struct server *server;
    int index;
    struct worker_process worker;
    struct standby standby;
    struct former former;
    struct restart restart;
    struct link_device info; /* of the last worker that was ready */
    char bell[WIRE_BELL_MAX];
    mqd_t bell_queue;
    uint32_t sessions;
    struct segment_pool segments;         /* of closed sessions, all of which the worker keeps */
    uint32_t faults;                      /* workers lost after they were ready */
    uint32_t takeovers[CTL_TAKEOVERS];    /* by enum ctl_takeover */
    struct ctl_blamed blamed[CTL_BLAMED]; /* users whose kernels lost workers; count 0: none */
    uint32_t failures;                    /* starts that failed in a row */
    struct timer timer;           /* start deadline, next start, or patience with one that ends */
    char failure[ERROR_TEXT_MAX]; /* of the last worker lost */
    uint64_t lost_ns;             /* when it was seen to be lost */
    struct culprit culprit;       /* who lost it; session_id 0: not known */
    struct suspects suspects;     /* of the worker's last words; none once its loss is told */
    uint32_t resuming;            /* sessions that the next worker takes up, or does so now */
    struct link_stats *stats;     /* by slot; NULL: not made yet. A next worker goes on with them */
    int stats_fd;
    int code_fd; /* the memfd in which its workers keep machine code; -1: not made yet */

    struct placer_device sms; /* sm_count 0: no worker has been ready yet */
    /* Where sessions may be placed: outside all reservations, and in each. */
    struct sm_mask space[1 + SETTINGS_RESERVATIONS_MAX];
    uint32_t due;              /* enum device_due */
    uint32_t constrained;      /* sessions that are not simply on the whole device */
    uint32_t blocked;          /* grants that wait for another session's */
    struct session *awaited;   /* sessions whose grant somebody waits for; see qos_requests.h */
    struct timer heartbeat;    /* of the worker */
    struct timer plan_soon;    /* due at once: DUE_PLAN in a round of its own */
    bool early;                /* sessions that came before the worker may have to be placed yet */
    struct timer grant_retry;  /* when grants that the worker refused are tried again */
    struct link_policy policy; /* the last one that was sent */
    bool policy_sent;
    uint32_t headroom_sms; /* SMs in the headroom_mask of `policy` */
    struct device_trace trace;
};

void device_init(struct device *device, struct server *server, int index);
/* Cancels its timers and removes its doorbell queue. Its worker is gone. */
void device_deinit(struct device *device);
/* Makes the doorbell queue. 0 or -errno. */
int device_bell_open(struct device *device, mode_t mode);
/* The device's sessions one after the other, as registry_next gives the server's. */
struct session *device_session_next(const struct device *device, const struct session *session);
/* The session in a slot, or NULL: the slot is empty, another device's, or no slot at all. */
struct session *device_session(const struct device *device, uint32_t slot);
/* due: of enum device_due. */
void device_due(struct device *device, uint32_t due);
/* Has sessions placed anew in a round of its own: many such calls in the meantime are one placing,
 * and other events have their turn before it. */
void device_plan_soon(struct device *device);
/* Sessions are served, now or in a moment. */
bool device_usable(const struct device *device);
/* The operator lets no new sessions on it. */
bool device_drained(const struct device *device);
/* The worker is ready, but has left a ping unanswered for at_least_ns, or is stuck for so long. */
bool device_silent(const struct device *device, uint64_t at_least_ns);
/* Of one that is silent: it answers, but a lane of it is stuck in a driver call. */
bool device_stuck(const struct device *device);
/* What is said of its worker: "does not answer", or "is stuck in a driver call". */
const char *device_silence(const struct device *device);
uint64_t device_memory_used(const struct device *device);

#endif
