/*
 * host_charge.h - charges host memory to a session's user, within the limits of the user and of all
 * users together. Memory that the server pins or keeps is taken from everyone, and where the system
 * runs out of memory it kills the worker, which serves everyone. Any thread.
 */
#ifndef GS_WORKER_MEMORY_HOST_CHARGE_H
#define GS_WORKER_MEMORY_HOST_CHARGE_H

#include "worker/session_parts.h"

struct job;

/* Charges `bytes`. False: a limit would be exceeded, and nothing is charged. */
bool host_charge(struct session *session, uint64_t bytes);
/* Charges without regard to the limits, for memory that a former worker had charged. */
void host_charge_adopt(struct session *session, uint64_t bytes);
void host_discharge(struct session *session, uint64_t bytes);
/* Charges for a job. `what` names the memory in the message for people. On failure the job has
 * failed. */
gs_status host_charge_job(struct job *job, uint64_t bytes, const char *what);

#endif
