/*
 * look.h - decides how often the main lane looks at all waiting jobs. A user may have hundreds of
 * jobs that wait for long kernels, and all tenants' launches wait during each look. So the more
 * jobs wait, the less often the lane looks: looks stay a small part of its time. Called by the main
 * lane.
 */
#ifndef GS_WORKER_SESSION_LOOK_H
#define GS_WORKER_SESSION_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#define LOOK_NS     20000u /* the least time between two looks */
#define LOOK_JOB_NS 3000u  /* the same per waiting job; a look at one takes some 0.4 us */

struct look {
    /* when the next look is due; the earliest time for it if a job comes meanwhile */
    uint64_t next, earliest;
};

static inline bool look_due(const struct look *look, uint64_t now)
{
    return now >= look->next;
}

/* Notes that a look at this many jobs is over. */
static inline void look_over(struct look *look, uint64_t now, uint32_t jobs)
{
    look->earliest = now + (uint64_t)jobs * LOOK_JOB_NS;
    look->next = look->earliest > now + LOOK_NS ? look->earliest : now + LOOK_NS;
}

/* Notes that a job has come, which mostly may begin at once. alone: no other job waits. */
static inline void look_soon(struct look *look, bool alone)
{
    if (alone)
        look->earliest = 0;
    look->next = look->earliest;
}

#endif
