/*
 * charge.h - charges device memory to a session and to its user, within the limits of both. Service
 * threads, in the session's job in progress.
 */
#ifndef GS_WORKER_MEMORY_CHARGE_H
#define GS_WORKER_MEMORY_CHARGE_H

#include "worker/jobs/job.h"

/* An amount to charge: the bytes that a tenant asked for, and the size that they count as, which is
 * a multiple of `granularity`. */
struct amount {
    uint64_t asked, size, granularity;
};

/* Charges the amount to the session and, with `user_too`, to its user; without it the user is
 * charged for this memory already. On failure the job has failed. */
gs_status charge(struct job *job, const struct amount *amount, bool user_too);
void discharge(struct session *session, uint64_t size, bool user_too);

/* Charges the session and its user for memory that is not a piece (physical.h), an array's, and
 * adds it to the device's memory in use. On failure the job has failed. */
gs_status charge_shown(struct job *job, uint64_t asked, uint64_t size, uint64_t granularity);
void discharge_shown(struct session *session, uint64_t size);
/* Discharges the session alone; its user stays charged. */
void discharge_shown_session(struct session *session, uint64_t size);

#endif
