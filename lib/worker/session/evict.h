/*
 * evict.h - ends work that does not end by itself: the worker gives the context up and blames the
 * session, and the next worker takes the other sessions up. Main lane.
 */
#ifndef GS_WORKER_SESSION_EVICT_H
#define GS_WORKER_SESSION_EVICT_H

#include "worker/jobs/job.h"

/* The supervisor wants a closing session evicted, for the reason in the job's message. */
extern const struct job_kind job_evict;
/* Evicts the session in the job's slot if it is closing and the device still has work of it. Else
 * returns. */
void evict_request(const struct job *job);
/* Evicts the session whose kernel has run longer than its grant permits, if there is one. */
void evict_overdue(uint64_t now);

#endif
