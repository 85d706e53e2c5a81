/* parked.h - jobs that wait for the device, and the quiet moments; see parked.c. Dispatcher. */
#ifndef GS_WORKER_PARKED_H
#define GS_WORKER_PARKED_H

#include "worker/job.h"

/* Keeps a JOB_QUIESCE or JOB_QUIET job until it may start, then hands it to the service threads. */
void parked_add(struct job *job, uint64_t now);
/* The first of them; NULL: none. The others by ->next. */
const struct job *parked_first(void);
/* Starts those that may. Cheap to call often. */
void parked_poll(uint64_t now);
/* Must new work wait, so that a quiet job has its moment? */
bool parked_hold(uint64_t now);
/* Does a job have the device to itself at this moment? */
bool parked_under_way(void);
/* Does any job wait for a quiet moment, or have it? Then no lane but the main one may have work. */
bool parked_wants_quiet(void);
/* Does somebody wait for a quiet moment? Then little may be on its way to the device. */
bool parked_pressing(void);
/* Any job is back from the service threads. true: it was one of this file's own, and is freed. */
bool parked_returned(struct job *job);

/* Has the graveyard cleared, at the next quiet moment or when there is much in it. */
void graves_look(uint64_t now);

#endif
