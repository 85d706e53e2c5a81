/*
 * session_sched.h - the scheduler's state of a session; see schedule.h, domain.c and headroom.h.
 * Belongs to the session's lane.
 */
#ifndef GS_WORKER_SCHED_SESSION_SCHED_H
#define GS_WORKER_SCHED_SESSION_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "worker/sched/headroom.h"
#include "worker/sched/schedule.h"

struct session;

/* The session as a member of a scheduling domain; see domain.c. */
struct domain_member {
    struct session *next;
    struct sched *sched; /* its domain; valid even while the session has no work */
    uint32_t component;  /* its component while domains are being computed */
    bool entered;
};

struct session_sched {
    struct sched_entity entity;
    struct domain_member domain;
    struct headroom_entity headroom; /* the session's latency work */
    /* The session is polled. Otherwise it is asleep, and its client must ring the doorbell. Only
     * the session folder and lanes.c set this. */
    bool polled;
};

#endif
