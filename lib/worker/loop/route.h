/* route.h - moves jobs from step to step; see route.c. Called by the main lane. */
#ifndef GS_WORKER_LOOP_ROUTE_H
#define GS_WORKER_LOOP_ROUTE_H

#include "worker/jobs/job.h"

struct lane;

/* Runs the job's prepare step, and then routes the job or, if it has no work or has failed, ends
 * it. */
void job_begin(struct job *job);
/* Hands a job to the service threads, or to quiet.c if it must first wait for the device. */
void job_route(struct job *job);
/* Returns the jobs that waited for sessions of other lanes, oldest first and linked by ->next. The
 * caller tries them again. */
struct job *jobs_for_returned(void);
/* Takes the next step of a job that has come through job_return. */
void job_returned(struct lane *lane, struct job *job);

#endif
