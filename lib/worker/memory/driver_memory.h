/*
 * driver_memory.h - driver memory: device memory that the driver takes for a session's objects,
 * beside the session's own allocations: for CUDA streams, executable graphs, machine code and a
 * texture table. It does not count against the session's limit of memory, though it leaves less for
 * everybody, so it has a limit for all sessions of a user together.
 *
 * The driver does not tell how much it takes; the figures are those of an H200. Any thread.
 */
#ifndef GS_WORKER_MEMORY_DRIVER_MEMORY_H
#define GS_WORKER_MEMORY_DRIVER_MEMORY_H

#include "worker/session_parts.h"

struct job;

#define DRIVER_STREAM (UINT64_C(512) << 10)
/* An executable graph of up to 64 kernels or of one product; and each node of a recorded graph,
 * whose parameters have up to 4 KiB. */
#define DRIVER_GRAPH  (UINT64_C(112) << 10)
#define DRIVER_NODE   (UINT64_C(1) << 10)
/* A module's constants and driver's tables, beside the bytes of its code. */
#define DRIVER_MODULE (UINT64_C(64) << 10)

/* Charges for an executable graph of launches, which is optional: launches without one are only
 * slower. Such graphs take half of the limit at most, so that streams and modules find room. False:
 * the limit would be exceeded, and nothing is charged. */
bool driver_memory_charge_graph(struct session *session);
/* Charges for the job's session. On failure the job has failed. */
gs_status driver_memory_charge_job(struct job *job, uint64_t bytes);
/* Charges regardless of the limit: for objects that every session needs, and for those that a
 * former worker had charged. */
void driver_memory_adopt(struct session *session, uint64_t bytes);
void driver_memory_discharge(struct session *session, uint64_t bytes);
/* Discharges all that the session is charged for. Called before the session releases its user;
 * after that release, driver_memory_discharge does nothing. */
void driver_memory_deinit(struct session *session);

#endif
