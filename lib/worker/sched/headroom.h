/*
 * headroom.h - how much of the SMs that are reserved for latency work best-effort work keeps off at
 * each moment: arithmetic on numbers, without a device, a clock or a thread of its own, so that
 * tests can play hours of it in a moment.
 *
 * Times are nanoseconds of any one clock. The caller says which latency sessions have work
 * (headroom_note) and how much best effort is ahead of the device (headroom_ahead).
 */
#ifndef GS_WORKER_SCHED_HEADROOM_H
#define GS_WORKER_SCHED_HEADROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"

enum headroom_level {
    HEADROOM_NONE,
    HEADROOM_PARTIAL, /* a part of it: link_policy's few_mask */
    HEADROOM_FULL     /* a share; two where it is one more, and so on */
};
#define HEADROOM_LEVEL_MAX (HEADROOM_FULL + LINK_SHARES - 1)

/* One per session. Zeroed: never had latency work. */
struct headroom_entity {
    struct headroom_entity *next; /* of those with work within HEADROOM_FORGET_NS */
    bool listed, at_work;
    uint64_t work_ns;    /* when it was last seen with work */
    uint64_t pause_ns;   /* mean time between work, of what was longer than HEADROOM_LINGER_NS */
    uint64_t start_ns;   /* of its last request */
    uint64_t next_ns;    /* when the next one is expected */
    uint64_t period_ns;  /* mean time between starts; 0: not known */
    uint64_t error_ns;   /* mean distance between a start and what was expected */
    uint32_t met;        /* requests that came about when they were expected, one after the other */
    uint32_t odd;        /* requests that did not */
    uint32_t blocks;     /* most that a kernel of the last request had; 0: not known */
    uint32_t blocks_now; /* ... of this one */
    bool counted;        /* in what is wanted */
};

struct headroom {
    struct headroom_entity *first;
    enum headroom_level level; /* HEADROOM_FULL at most */
    uint32_t share_sms;        /* SMs of one share; 0: not known, and each session wants one */
    uint32_t wanted;           /* SMs, or shares, by all that want all now */
    uint64_t ahead_ns, ahead_before_ns; /* most ahead in this interval and the one before */
    uint64_t interval_ns;               /* when this one began */
};

#define HEADROOM_LINGER_NS     300000u  /* all of it is kept so long after work */
#define HEADROOM_LINGER_MAX_NS 2000000u /* where the pauses are shorter than this: so long */
#define HEADROOM_SLACK_NS      100000u  /* what is ahead is known no better */
#define HEADROOM_MARGIN_NS     50000u   /* and requests come no more exactly than this */
#define HEADROOM_MET           4u       /* so many must have come when they were expected */
#define HEADROOM_PARTIAL_COST  4u       /* a few are so much cheaper than all */
#define HEADROOM_INTERVAL_NS   50000000u
#define HEADROOM_FORGET_NS     1000000000u /* who has had no work for so long is not expected */

/* The session has a kernel of so many blocks for the device: each would have an SM of its own. */
static inline void headroom_blocks(struct headroom_entity *entity, const uint32_t grid[3])
{
    const uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];

    if (blocks > entity->blocks_now)
        entity->blocks_now = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

/* Has the session latency work now? Whenever it is looked at, and when it gets some. */
void headroom_note(struct headroom *headroom, struct headroom_entity *entity, bool at_work,
                   uint64_t now);
/* Best effort has so much on the device, and ends no sooner. */
void headroom_ahead(struct headroom *headroom, uint64_t ns, uint64_t now);
/* What is to be kept free now; also in `level`, until a session gets work. */
enum headroom_level headroom_update(struct headroom *headroom, uint64_t now);
/* The same with the shares that are kept: HEADROOM_LEVEL_MAX at most. */
uint32_t headroom_now(const struct headroom *headroom);
/* The session is going. */
void headroom_remove(struct headroom *headroom, struct headroom_entity *entity);

#endif
