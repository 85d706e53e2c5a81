/*
 * kept.h - host memory that the server keeps for a session beside its host blocks: images of
 * modules, records of kernels and allocations, recorded graphs, events. It is the worker's, which
 * serves everybody, so it is bounded: for the session as pinned memory is, and for its user
 * together with host blocks. Service threads: the session's account belongs to its job in progress.
 */
#ifndef GS_WORKER_MEMORY_KEPT_H
#define GS_WORKER_MEMORY_KEPT_H

#include "worker/session_parts.h"

struct job;

/* Charges for `bytes` more. On failure the job has failed. */
gs_status kept_charge(struct job *job, uint64_t bytes);
/* The same for what a former worker has been charged for. */
void kept_adopt(struct session *session, uint64_t bytes);
void kept_discharge(struct session *session, uint64_t bytes);
/* Charges the user alone, as the session's lane may. False: the user has no room. */
bool kept_user_charge(struct session *session, uint64_t bytes);
void kept_user_discharge(struct session *session, uint64_t bytes);
/* Discharges all of the session, before the session lets go of its user; what is discharged
 * afterwards is not counted again. */
void kept_deinit(struct session *session);

#endif
