/*
 * pace.h - limits how much CPU time a user's compilations take, since the lanes and other users'
 * compilations need the CPUs too. Each user has a share of one CPU, and may save up PACE_SAVED_NS
 * of it: a program that loads its modules once does not wait, one that compiles without end does.
 *
 * The account of a user who has taken more than its share outlives the user's sessions. The caller
 * holds a lock of its own. Times are those of clock_ns().
 */
#ifndef GS_WORKER_JOBS_PACE_H
#define GS_WORKER_JOBS_PACE_H

#include <stdint.h>

#define PACE_SAVED_NS UINT64_C(30000000000)

/* The accounts of users who have compiled lately. All zero: no accounts. */
struct pace {
    struct pace_account *first;
};

/* Charges the user with cpu_ns of CPU time. percent: the user's share of a CPU; 0: no limit. */
void pace_take(struct pace *pace, uint32_t uid, uint32_t percent, uint64_t cpu_ns, uint64_t now);
/* Returns when the user's next compilation may begin; `now` or earlier: at once. */
uint64_t pace_due(const struct pace *pace, uint32_t uid, uint32_t percent, uint64_t now);

#endif
