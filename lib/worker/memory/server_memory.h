/*
 * server_memory.h - server memory: host memory of the worker's that a session's objects take beside
 * its host blocks, for images of modules, records of kernels and allocations, recorded graphs and
 * events. The worker serves everybody, so this memory is bounded: for the session as pinned memory
 * is, and for its user together with host blocks. Service threads: the session's account belongs to
 * its job in progress.
 */
#ifndef GS_WORKER_MEMORY_SERVER_MEMORY_H
#define GS_WORKER_MEMORY_SERVER_MEMORY_H

#include "worker/session_parts.h"

struct job;

/* Charges for `bytes` more. On failure the job has failed. */
gs_status server_memory_charge(struct job *job, uint64_t bytes);
/* The same for what a former worker has been charged for. */
void server_memory_adopt(struct session *session, uint64_t bytes);
void server_memory_discharge(struct session *session, uint64_t bytes);
/* Charges the user alone, as the session's lane may. False: the user has no room. */
bool server_memory_charge_user(struct session *session, uint64_t bytes);
void server_memory_discharge_user(struct session *session, uint64_t bytes);
/* Discharges all of the session, before the session lets go of its user; what is discharged
 * afterwards is not counted again. */
void server_memory_deinit(struct session *session);

#endif
