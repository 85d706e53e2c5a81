/*
 * device.h - the supervisor's struct device: its worker processes (worker_process.h), the steps
 * that are due on it, and its reserved SMs. The supervisor's thread. A next supervisor continues
 * with all of it (keeper.h), and makes anew what belongs to a process (restore.h).
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
#include "server/state/loans.h"
#include "server/state/settings.h"
#include "server/state/worker_process.h"

#define ERROR_TEXT_MAX      256
/* After this number of failures in a row of its worker a device counts as failed. */
#define DEVICE_FAILURES_MAX 5u

struct server;
struct session;

/* The session whose kernel lost a device. */
struct culprit {
    uint64_t session_id;
    uid_t uid;
    pid_t pid;
    char name[32];
    bool kept_out;    /* its user was kept out when the session lost the device */
    bool by_operator; /* an operator had ended it */
    struct link_fatal fatal;
};

/* Sessions that may have caused the loss of a worker for which nobody is blamed: they had
 * unfinished kernels, or the worker crashed while it compiled for them. */
#define SUSPECTS_NAMED 32u
struct suspects {
    uint64_t session_id[SUSPECTS_NAMED]; /* the first ones */
    uint32_t count;                      /* number of all suspects */
    uid_t uid;                           /* user of the first suspect */
    bool several_users;
};

/* The reader of the device's trace; see session/trace.h. */
struct device_trace {
    struct trace_segment *segment; /* NULL: no reader */
    int segment_id;
    uid_t uid;          /* the user that reads it */
    uint64_t token;     /* token of the request that began it */
    bool all;           /* all sessions, not only those of that user */
    struct timer lease; /* ends the trace unless it is renewed */
    uint64_t next_ns;   /* the earliest time at which a user other than the operator may begin a
                           trace */
};

/* The steps that reconcile() takes for a device at the end of the round. */
enum device_due {
    DUE_PLAN = 1u << 0,   /* sessions are placed anew, without a request for it */
    DUE_POLICY = 1u << 1, /* the policy may have changed */
    DUE_SEND = 1u << 2,   /* grants may have to be sent */
    DUE_SETTLE = 1u << 3  /* waiting clients may be answered */
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
    struct segment_pool segments;      /* segments of closed sessions, all of which the worker
                                          keeps */
    uint32_t faults;                   /* workers lost after they were ready */
    uint32_t takeovers[CTL_TAKEOVERS]; /* by enum ctl_takeover */
    struct ctl_blamed
        blamed[CTL_BLAMED];       /* users whose kernels lost workers; count 0: an unused entry */
    uint32_t failures;            /* starts that failed in a row */
    struct timer timer;           /* start deadline, next start, or time limit of an ending
                                     worker */
    char failure[ERROR_TEXT_MAX]; /* why the last worker was lost */
    uint64_t lost_ns;             /* when the loss was seen */
    struct culprit culprit;       /* the session that lost the last worker; session_id 0: not
                                     known */
    struct suspects
        suspects;      /* from the worker's last words; none once sessions are told of its loss */
    uint32_t resuming; /* number of sessions that the next worker takes up or is taking up */
    struct link_stats *stats; /* by slot; NULL: not made yet. A next worker continues with them */
    int stats_fd;
    int code_fd; /* the memfd in which its workers keep machine code; -1: not made yet */

    struct placer_device sms; /* sm_count 0: no worker has been ready yet */
    /* The SMs where sessions may be placed: outside all reservations, and in each reservation. */
    struct sm_mask space[1 + SETTINGS_RESERVATIONS_MAX];
    uint32_t due;              /* enum device_due */
    uint32_t constrained;      /* number of sessions that do not simply have the whole device */
    uint32_t blocked;          /* number of grants that wait for another session's */
    struct session *awaited;   /* sessions whose grant a client waits for; see qos_requests.h */
    struct timer heartbeat;    /* of the worker */
    struct timer plan_soon;    /* set to fire at once: DUE_PLAN in a round of its own */
    bool early;                /* sessions that came before the worker was ready may still have
                                  to be placed */
    struct timer grant_retry;  /* when grants that the worker refused are tried again */
    struct link_policy policy; /* the last one that was sent */
    bool policy_sent;
    uint32_t headroom_sms; /* SMs in the headroom_mask of `policy` */
    struct device_trace trace;
    struct loan_news news;
};

void device_init(struct device *device, struct server *server, int index);
/* Cancels the device's timers and removes its doorbell queue. Its worker is gone. */
void device_deinit(struct device *device);
/* Makes the doorbell queue. Returns 0 or -errno. */
int device_bell_open(struct device *device, mode_t mode);
/* Returns the session that lost the last worker; NULL: not known. */
static inline const struct culprit *device_culprit(const struct device *device)
{
    return device->culprit.session_id ? &device->culprit : NULL;
}
/* Returns the device's next session, as registry_next does for the server. */
struct session *device_session_next(const struct device *device, const struct session *session);
/* Returns the session in a slot, or NULL if the slot is empty, another device's, or invalid. */
struct session *device_session(const struct device *device, uint32_t slot);
/* Notes that these steps (enum device_due) are due. */
void device_due(struct device *device, uint32_t due);
/* Schedules a placing of the device's sessions in a round of its own. Several calls before it
 * result in one placing, and other events have their turn before it. */
void device_plan_soon(struct device *device);
/* Returns whether the device serves sessions, now or in a moment. */
bool device_usable(const struct device *device);
/* Returns whether the operator has closed the device to new sessions. */
bool device_drained(const struct device *device);
/* Returns whether the worker is ready, but has left a ping unanswered for at_least_ns, or has a
 * lane that has been stuck for so long. */
bool device_silent(const struct device *device, uint64_t at_least_ns);
/* Returns whether a silent worker answers, but has a lane that is stuck in a driver call. */
bool device_stuck(const struct device *device);
/* Returns the log's text for a silent worker: "does not answer" or "is stuck in a driver call". */
const char *device_silence(const struct device *device);
uint64_t device_memory_used(const struct device *device);

#endif
