/*
 * host_charge.h - counts host memory against the limits of a session's user and of all users: what
 * is pinned or kept by the server is taken from everyone, and where the system has none left it
 * kills the worker, which is everyone's. Any thread.
 */
#ifndef GS_WORKER_MEMORY_HOST_CHARGE_H
#define GS_WORKER_MEMORY_HOST_CHARGE_H

#include "worker/session_parts.h"

struct job;

/* Counts `bytes` more. False: they are beyond a limit, and nothing is counted. */
bool host_charge(struct session *session, uint64_t bytes);
/* The same without limits, for what a former worker has counted. */
void host_charge_adopt(struct session *session, uint64_t bytes);
void host_discharge(struct session *session, uint64_t bytes);
/* Counts for a job; `what`: what the memory is, for people. On failure the job has failed. */
gs_status host_charge_job(struct job *job, uint64_t bytes, const char *what);

#endif
