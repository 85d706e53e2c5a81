/*
 * headroom.h - latency headroom: computes how many of the SMs set apart for latency work
 * best-effort work must leave free at each moment. It is arithmetic on numbers, without a device, a
 * clock or a thread of its own, so that tests can simulate hours in a moment.
 *
 * A share is the number of SMs that one latency session with work gets at most
 * (link_policy.headroom_mask). The full headroom is a share for each such session; the partial
 * headroom is a part of one share.
 *
 * Times are nanoseconds of any one clock. The caller reports which latency sessions have work
 * (headroom_note), and how far best-effort work is ahead of the device (headroom_ahead).
 */
#ifndef GS_WORKER_SCHED_HEADROOM_H
#define GS_WORKER_SCHED_HEADROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"

enum headroom_level {
    HEADROOM_NONE,
    HEADROOM_PARTIAL, /* a part of the headroom (link_policy's partial_mask) */
    HEADROOM_FULL     /* one share; each level above means one share more */
};
#define HEADROOM_LEVEL_MAX (HEADROOM_FULL + LINK_SHARES - 1)

/* What is known of a session's latency work. All zero: it never had any. */
struct headroom_entity {
    /* the next in the list of sessions with work within HEADROOM_FORGET_NS */
    struct headroom_entity *next;
    bool listed, at_work;
    uint64_t work_ns;   /* when the session was last seen with work */
    uint64_t idle_ns;   /* the mean of its idle times longer than HEADROOM_LINGER_NS */
    uint64_t start_ns;  /* when its last request began */
    uint64_t next_ns;   /* when its next request is expected */
    uint64_t period_ns; /* the mean time between the starts of requests; 0: not known */
    uint64_t error_ns;  /* the mean distance between a start and its expected time */
    /* how many of the last requests in a row came at about the expected time */
    uint32_t met;
    uint32_t odd;        /* how many periods in a row were far from the mean */
    uint32_t blocks;     /* the most blocks of a kernel in the last request; 0: not known */
    uint32_t blocks_now; /* the same for the present request */
    bool counted;        /* the session counts in `wanted` */
};

struct headroom {
    struct headroom_entity *first;
    enum headroom_level level; /* at most HEADROOM_FULL */
    uint32_t share_sms;        /* SMs of one share; 0: not known, each session wants one share */
    /* SMs (or shares, if share_sms is 0) that the sessions with full headroom want now */
    uint32_t wanted;
    /* the farthest that best-effort work was ahead of the device, in this interval and the one
     * before */
    uint64_t ahead_ns, ahead_before_ns;
    uint64_t interval_ns; /* when this interval began */
};

#define HEADROOM_LINGER_NS     300000u /* how long all of the headroom is kept after work */
/* the same for a session whose mean idle time is shorter than this */
#define HEADROOM_LINGER_MAX_NS 2000000u
#define HEADROOM_SLACK_NS      100000u /* the error of the time that best effort is ahead */
#define HEADROOM_MARGIN_NS     50000u  /* the least error of the expected time of a request */
/* requests that must have come at the expected time before the forecast is used */
#define HEADROOM_MET           4u
/* by what factor the partial headroom costs less than the full one */
#define HEADROOM_PARTIAL_COST  4u
#define HEADROOM_INTERVAL_NS   50000000u
/* After this time without work, no request of a session is expected. */
#define HEADROOM_FORGET_NS     1000000000u

/* Notes the number of blocks of the session's kernel. The session wants one SM for each block. */
static inline void headroom_blocks(struct headroom_entity *entity, const uint32_t grid[3])
{
    const uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];

    if (blocks > entity->blocks_now)
        entity->blocks_now = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

/* Notes whether the session has latency work now. Called each time the session is served, and when
 * it gets work. */
void headroom_note(struct headroom *headroom, struct headroom_entity *entity, bool at_work,
                   uint64_t now);
/* Notes that the device has best-effort work for `ns`. */
void headroom_ahead(struct headroom *headroom, uint64_t ns, uint64_t now);
/* Returns the level that best-effort work must leave free now, and stores it in `level`. */
enum headroom_level headroom_update(struct headroom *headroom, uint64_t now);
/* Returns the present level including the number of shares, at most HEADROOM_LEVEL_MAX. */
uint32_t headroom_now(const struct headroom *headroom);
/* Removes a session that is being closed. */
void headroom_remove(struct headroom *headroom, struct headroom_entity *entity);

#endif
