/*
 * server_memory.h - server memory: the worker's own host memory that a session's objects take
 * beside host blocks: images of modules, records of kernels and allocations, recorded graphs and
 * events. The worker serves everybody, so this memory is bounded: for the session by the limit on
 * pinned memory (host_limit), and for its user together with host blocks. Service threads: the
 * session's account belongs to its job in progress.
 */
#ifndef GS_WORKER_MEMORY_SERVER_MEMORY_H
#define GS_WORKER_MEMORY_SERVER_MEMORY_H

#include "worker/session_parts.h"

struct job;

/* Charges `bytes` to the job's session and its user. On failure the job has failed. */
gs_status server_memory_charge(struct job *job, uint64_t bytes);
/* Charges without regard to the limits, for objects that a former worker had charged. */
void server_memory_adopt(struct session *session, uint64_t bytes);
void server_memory_discharge(struct session *session, uint64_t bytes);
/* Charges the user alone, which the session's lane may do. False: a limit would be exceeded. */
bool server_memory_charge_user(struct session *session, uint64_t bytes);
void server_memory_discharge_user(struct session *session, uint64_t bytes);
/* Discharges all that the session is charged for. Called before the session releases its user;
 * after that release, server_memory_discharge does nothing. */
void server_memory_deinit(struct session *session);

#endif
