/* session_inflight.h - what the inflight tracker knows of a session; see inflight.c. The session's
 * lane. */
#ifndef GS_WORKER_SCHED_SESSION_INFLIGHT_H
#define GS_WORKER_SCHED_SESSION_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct session;

struct session_inflight {
    uint64_t busy;    /* streams of which the device may have unfinished work */
    uint64_t streams; /* streams whose fences are waited for */
    bool listed;      /* see inflight.c */
    struct session *next;
};

#endif
