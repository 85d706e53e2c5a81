/*
 * headroom.h - latency headroom: how many of the SMs reserved for latency work best-effort work
 * leaves free at each moment. It is arithmetic on numbers, without a device, a clock or a thread of
 * its own, so that tests can play hours of it in a moment.
 *
 * Times are nanoseconds of any one clock. The caller says which latency sessions have work
 * (headroom_note) and how far best-effort work is ahead of the device (headroom_ahead).
 */
#ifndef GS_WORKER_SCHED_HEADROOM_H
#define GS_WORKER_SCHED_HEADROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"

enum headroom_level {
    HEADROOM_NONE,
    HEADROOM_PARTIAL, /* a part of the headroom: link_policy's partial_mask */
    HEADROOM_FULL     /* a share of it; the levels above mean two shares, and so on */
};
#define HEADROOM_LEVEL_MAX (HEADROOM_FULL + LINK_SHARES - 1)

/* A session's latency work. All zero: it never had any. */
struct headroom_entity {
    /* the next in the list of sessions with work within HEADROOM_FORGET_NS */
    struct headroom_entity *next;
    bool listed, at_work;
    uint64_t work_ns;   /* when it was last seen with work */
    uint64_t idle_ns;   /* mean time without work, over those longer than HEADROOM_LINGER_NS */
    uint64_t start_ns;  /* when its last request began */
    uint64_t next_ns;   /* when the next one is expected */
    uint64_t period_ns; /* mean time between the starts of requests; 0: not known */
    uint64_t error_ns;  /* mean distance between a start and the expected time */
    /* the number of consecutive requests that came about when they were expected */
    uint32_t met;
    uint32_t odd;        /* the number of consecutive requests that did not */
    uint32_t blocks;     /* the most blocks of a kernel in the last request; 0: not known */
    uint32_t blocks_now; /* the same of this request */
    bool counted;        /* the session counts in `wanted` */
};

struct headroom {
    struct headroom_entity *first;
    enum headroom_level level; /* up to HEADROOM_FULL */
    uint32_t share_sms;        /* SMs of one share; 0: not known, each session wants one share */
    uint32_t wanted;           /* SMs, or shares, that the sessions with full headroom want now */
    /* how far best effort was ahead at most, in this interval and the one before */
    uint64_t ahead_ns, ahead_before_ns;
    uint64_t interval_ns; /* when this interval began */
};

#define HEADROOM_LINGER_NS     300000u  /* how long all of the headroom is kept after work */
#define HEADROOM_LINGER_MAX_NS 2000000u /* how long, where the idle times are shorter than this */
#define HEADROOM_SLACK_NS      100000u  /* how exactly it is known how far best effort is ahead */
#define HEADROOM_MARGIN_NS     50000u /* how exactly requests come at the expected time, at best */
#define HEADROOM_MET           4u     /* requests that must have come when they were expected */
#define HEADROOM_PARTIAL_COST  4u     /* how many times less the partial headroom costs */
#define HEADROOM_INTERVAL_NS   50000000u
/* After this time without work, no request of a session is expected. */
#define HEADROOM_FORGET_NS     1000000000u

/* Notes the blocks of a kernel of the session: each block would have an SM of its own. */
static inline void headroom_blocks(struct headroom_entity *entity, const uint32_t grid[3])
{
    const uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];

    if (blocks > entity->blocks_now)
        entity->blocks_now = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

/* Notes whether the session has latency work now. Called whenever the session is looked at, and
 * when it gets work. */
void headroom_note(struct headroom *headroom, struct headroom_entity *entity, bool at_work,
                   uint64_t now);
/* Notes that the device has best-effort work for `ns`. */
void headroom_ahead(struct headroom *headroom, uint64_t ns, uint64_t now);
/* Returns the level that best effort must keep free now. `level` has the same until a session gets
 * work. */
enum headroom_level headroom_update(struct headroom *headroom, uint64_t now);
/* The same with the number of shares: up to HEADROOM_LEVEL_MAX. */
uint32_t headroom_now(const struct headroom *headroom);
/* Forgets a session that is going. */
void headroom_remove(struct headroom *headroom, struct headroom_entity *entity);

#endif
