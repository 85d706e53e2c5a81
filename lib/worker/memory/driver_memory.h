/*
 * driver_memory.h - device memory that the driver takes for a session beside what the session
 * allocates: CUDA streams, executable graphs, machine code, and a texture table. It is taken from
 * everybody and counts against no session's limit of memory, so it is bounded for all sessions of a
 * user together.
 *
 * The driver does not tell what it takes; the figures are those of an H200. Any thread.
 */
#ifndef GS_WORKER_MEMORY_DRIVER_MEMORY_H
#define GS_WORKER_MEMORY_DRIVER_MEMORY_H

#include "worker/session_parts.h"

struct job;

#define DRIVER_STREAM (UINT64_C(512) << 10)
/* An executable graph of up to 64 kernels, or of a product, and each node of a recorded one, whose
 * parameters have up to 4 KiB. */
#define DRIVER_GRAPH  (UINT64_C(112) << 10)
#define DRIVER_NODE   (UINT64_C(1) << 10)
/* A module beside the bytes of its code: constants, tables of the driver's. */
#define DRIVER_MODULE (UINT64_C(64) << 10)

/* Charges for an executable graph of launches, without which they are only slower. Such graphs take
 * half of the limit at most, so that streams and modules find room. False: the user has no room,
 * and nothing is charged. */
bool driver_memory_charge_graph(struct session *session);
/* On failure the job has failed. */
gs_status driver_memory_charge_job(struct job *job, uint64_t bytes);
/* Charges without regard to the limit: for what a session cannot be without, and what it had with a
 * former worker. */
void driver_memory_adopt(struct session *session, uint64_t bytes);
void driver_memory_discharge(struct session *session, uint64_t bytes);
/* Discharges all of the session, before the session lets go of its user; what is discharged
 * afterwards is not counted again. */
void driver_memory_deinit(struct session *session);

#endif
