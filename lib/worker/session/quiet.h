/* quiet.h - jobs that wait for the device, and the quiet moments; see quiet.c. Dispatcher. */
#ifndef GS_WORKER_SESSION_QUIET_H
#define GS_WORKER_SESSION_QUIET_H

#include "worker/jobs/job.h"

/* Keeps a JOB_QUIESCE or JOB_QUIET job until it may start, then hands it to the service threads. */
void quiet_add(struct job *job, uint64_t now);
/* The first of them; NULL: none. The others by ->next. */
const struct job *quiet_first(void);
/* Starts those that may. Cheap to call often. */
void quiet_poll(uint64_t now);
/* Must new work wait, so that a quiet job has its moment? */
bool quiet_hold(uint64_t now);
/* Does a job have the device to itself at this moment? */
bool quiet_under_way(void);
/* Does any job wait for a quiet moment, or have it? Then no lane but the main one may have work. */
bool quiet_any(void);
/* Does somebody wait for a quiet moment? Then little may be on its way to the device. */
bool quiet_pressing(void);
/* Any job is back from the service threads. true: it was one of this file's own, and is freed. */
bool quiet_returned(struct job *job);

/* Has the deferred release run, at the next quiet moment or when there is much in it. */
void deferred_release_poll(uint64_t now);

#endif
