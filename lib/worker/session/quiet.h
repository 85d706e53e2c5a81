/*
 * quiet.h - jobs that wait for the device, and quiet moments, in which the device has no work; see
 * quiet.c. Main lane.
 */
#ifndef GS_WORKER_SESSION_QUIET_H
#define GS_WORKER_SESSION_QUIET_H

#include "worker/jobs/job.h"

/* Whether the job must wait for the device before its work. */
bool quiet_wanted_by(const struct job *job);
/* Keeps a job that must wait for the device until it may start, then hands it to the service
 * threads. */
void quiet_add(struct job *job, uint64_t now);
/* The first waiting job, the others by ->next; NULL: none waits. */
const struct job *quiet_first(void);
/* Starts the jobs that may start. Cheap to call often. */
void quiet_poll(uint64_t now);
/* Whether no session's new work may go to the device, so that a quiet job gets its moment. */
bool quiet_pauses(uint64_t now);
/* Notes whether sessions are being taken up. Until all are, no session has new work, so that quiet
 * moments come. Any thread. */
void quiet_resuming(bool resuming);
/* Whether the device has finished all that the sessions have issued, as the driver says. */
bool sessions_idle(void);
/* Whether a job has the device to itself now. *lately: it has had the device for less than the time
 * that making a set of SMs takes, so it may end soon. */
bool quiet_under_way(uint64_t now, bool *lately);
/* Whether any job waits for a quiet moment or has one. Then no lane except the main one may have
 * work. */
bool quiet_any(void);
/* Whether a job that somebody waits for needs a quiet moment. Then little may be on its way to the
 * device. */
bool quiet_pressing(void);
/* Takes note of a job that is back from the service threads. Returns true for a job of this file's
 * own, which is freed. */
bool quiet_returned(struct job *job, uint64_t now);

/* Starts the deferred release at the next quiet moment, or when much memory waits for it. */
void quiet_release_poll(uint64_t now);

#endif
