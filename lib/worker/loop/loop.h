/*
 * loop.h - the main lane's loop. The files of this folder:
 *
 *   loop.c            the loop: sleeps, wakes, and watches the device
 *   round.c           one scheduling round: what each polled session does in it
 *   rings.c           how one session's rings are drained in a round, on any lane
 *   user_round.c      bounds the time that one user's sessions take of a round
 *   lanes.c           the side lanes
 *   lane_choice.c     decides which session goes to which side lane
 *   route.c           moves jobs from step to step
 *   request.c         takes and answers tenants' synchronous requests
 *   memory_refused.c  logs requests that a memory limit has refused
 *   blame.c           ends the worker after the context is lost
 *   control.c         the control thread, which reads the supervisor's messages
 *   main.c            starts the worker
 */
#ifndef GS_WORKER_LOOP_LOOP_H
#define GS_WORKER_LOOP_LOOP_H

#include "worker/session_parts.h"

/* Starts the threads of the main lane and the side lanes. Called once, when the doorbell is open
 * and before any job is pushed. Returns false when a thread or descriptor cannot be made. */
bool loop_start(void);
/* Sets the scheduling policy; it takes effect in a later round of the main lane, once no side lane
 * has a session. Called by the control thread. */
void loop_policy(const struct link_policy *policy);
/* Begins or ends a trace, once no side lane has a session. Called by the control thread. */
void loop_trace(const struct link_trace *link);
#endif
