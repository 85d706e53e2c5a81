/*
 * look.h - how often the main lane looks at all jobs that wait. A user may have hundreds that wait
 * for long kernels, and everybody's launches wait for each look, so a look at many is taken less
 * often: looks are a small part of the lane's time, however many wait. Main lane.
 */
#ifndef GS_WORKER_SESSION_LOOK_H
#define GS_WORKER_SESSION_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#define LOOK_NS     20000u /* between two looks, where few wait */
#define LOOK_JOB_NS 3000u  /* the same for each job that waits; a look at it takes some 0.4 us */

struct look {
    uint64_t next, earliest; /* the next one; the same for a job that comes meanwhile */
};

static inline bool look_due(const struct look *look, uint64_t now)
{
    return now >= look->next;
}

/* A look at so many jobs is over. */
static inline void look_over(struct look *look, uint64_t now, uint32_t jobs)
{
    look->earliest = now + (uint64_t)jobs * LOOK_JOB_NS;
    look->next = look->earliest > now + LOOK_NS ? look->earliest : now + LOOK_NS;
}

/* A job has come, which mostly may begin. alone: no other one waits. */
static inline void look_soon(struct look *look, bool alone)
{
    if (alone)
        look->earliest = 0;
    look->next = look->earliest;
}

#endif
