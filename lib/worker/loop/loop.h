/*
 * loop.h - the main lane's loop, and what the other files of this folder do.
 *
 *   loop.c            the loop: sleeping, waking, watching the device
 *   round.c           a scheduling round: what each polled session does in it
 *   rings.c           what a session's rings give to the device in a round, on any lane
 *   lanes.c           the side lanes
 *   lane_choice.c     which session goes to which side lane
 *   route.c           sends jobs on their way
 *   request.c         takes and answers tenants' synchronous requests
 *   memory_refused.c  logs the requests that a limit of memory has refused
 *   blame.c           the end of the context
 *   control.c         the control thread: the supervisor's messages
 *   main.c            the worker's start
 */
#ifndef GS_WORKER_LOOP_LOOP_H
#define GS_WORKER_LOOP_LOOP_H

#include "worker/session_parts.h"

/* Starts the main lane and the other lanes; called once the doorbell is open, and before any job is
 * pushed. Returns false when a thread or descriptor is missing. */
bool loop_start(void);
/* Sets how the device is scheduled from the main lane's next round on. Control thread. */
void loop_policy(const struct link_policy *policy);
/* Has a trace begin or end soon, once no side lane has a session. Control thread. */
void loop_trace(const struct link_trace *link);
#endif
