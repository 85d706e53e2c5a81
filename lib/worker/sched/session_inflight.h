/*
 * session_inflight.h - what the inflight tracker, which knows what is on the device, keeps of a
 * session; see inflight.c. The session's lane.
 */
#ifndef GS_WORKER_SCHED_SESSION_INFLIGHT_H
#define GS_WORKER_SCHED_SESSION_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire_segment.h"

struct inflight;
struct session;

struct session_inflight {
    uint64_t busy;           /* streams for which the device may have unfinished work */
    uint64_t awaiting_fence; /* streams with a fence that the device has not written yet */
    uint64_t by_word;        /* streams with kernels whose end only their completion word tells */
    uint64_t by_word_ns;     /* no later than the first of these; valid while there are any */
    bool listed;             /* the session is in its lane's list, see inflight.c */
    struct session *next;
    struct inflight *stream[SEG_STREAMS]; /* the streams' trackers; NULL: none */
};

#endif
