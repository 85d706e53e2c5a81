/*
 * session_inflight.h - the inflight tracker's state of a session: what it has on the device; see
 * inflight.c. Belongs to the session's lane.
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
    /* streams that have kernels without a fence, whose end only their completion word tells */
    uint64_t by_word;
    /* not after the issue of the first of these; valid while there are any */
    uint64_t by_word_ns;
    bool listed; /* the session is in its lane's list (inflight_lane.first) */
    struct session *next;
    struct inflight *stream[SEG_STREAMS]; /* the streams' trackers; NULL: none */
};

#endif
