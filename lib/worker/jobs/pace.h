/*
 * pace.h - how fast a user's modules are compiled. Compiling takes a CPU, which the lanes and other
 * users' compilations need too, so each user has a share of one, and may save up PACE_SAVED_NS of
 * it: a program that loads its modules once does not wait, one that compiles without end does.
 *
 * What a user has taken beyond its share is kept beyond its sessions. Whoever calls holds a lock of
 * its own; times are of clock_ns().
 */
#ifndef GS_WORKER_JOBS_PACE_H
#define GS_WORKER_JOBS_PACE_H

#include <stdint.h>

#define PACE_SAVED_NS UINT64_C(30000000000)

/* The accounts of users who have taken anything lately. All zero: none. */
struct pace {
    struct pace_account *first;
};

/* Notes that a CPU has worked for the user for so long. percent: the user's share of a CPU; 0: no
 * limit. */
void pace_take(struct pace *pace, uint32_t uid, uint32_t percent, uint64_t cpu_ns, uint64_t now);
/* When the user's next compilation may begin; `now` or earlier: at once. */
uint64_t pace_due(const struct pace *pace, uint32_t uid, uint32_t percent, uint64_t now);

#endif
