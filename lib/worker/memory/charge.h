/*
 * charge.h - counts device memory against the limits of a session and of its user. Service threads,
 * in the session's job in progress.
 */
#ifndef GS_WORKER_MEMORY_CHARGE_H
#define GS_WORKER_MEMORY_CHARGE_H

#include "worker/jobs/job.h"

/* The bytes that a tenant named, and as what they count: a multiple of `granularity`. */
struct amount {
    uint64_t asked, size, granularity;
};

/* Counts the amount against the session, and against its user unless the user is charged for the
 * memory already. On failure the job has failed. */
gs_status charge(struct job *job, const struct amount *amount, bool user_too);
void discharge(struct session *session, uint64_t size, bool user_too);

/* The same for memory that is no piece (physical.h), an array's: the device's memory in use shows
 * it too. */
gs_status charge_shown(struct job *job, uint64_t asked, uint64_t size, uint64_t granularity);
void discharge_shown(struct session *session, uint64_t size);
/* For the session alone: its user is charged on. */
void discharge_shown_session(struct session *session, uint64_t size);

#endif
