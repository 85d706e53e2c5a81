/* route.h - sends jobs on their way; see route.c. Main lane. */
#ifndef GS_WORKER_LOOP_ROUTE_H
#define GS_WORKER_LOOP_ROUTE_H

#include "worker/jobs/job.h"

struct lane;

/* Prepares a job that its session is to do now, and sends it on its way. */
void job_begin(struct job *job);
/* Sends a job to the service threads, or lets it wait for the device first. */
void job_route(struct job *job);
/* Takes the jobs that waited for sessions of other lanes, to be tried again; linked by ->next. */
struct job *jobs_for_returned(void);
/* Takes a job that has come by job_return. */
void job_returned(struct lane *lane, struct job *job);

#endif
