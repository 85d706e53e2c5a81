/*
 * evict.h - evicts a session whose work does not end: the worker gives the context up and blames
 * the session, and the next worker resumes the others. Called by the main lane.
 */
#ifndef GS_WORKER_SESSION_EVICT_H
#define GS_WORKER_SESSION_EVICT_H

#include "worker/jobs/job.h"

/* The supervisor's order to evict a closing session, for the reason in the job's message. */
extern const struct job_kind job_evict;
/* Evicts the closing session of the job's slot, if the device still has work of it; otherwise
 * returns. */
void evict_request(const struct job *job);
/* Evicts the session whose kernel has run longer than its grant allows, if there is one. */
void evict_overdue(uint64_t now);

#endif
