/*
 * process.h - a device's worker processes: start, end, and the next start.
 *
 *   NONE --> STARTING --> READY --> ENDING --> NONE, then after a pause STARTING again
 *
 * A worker that needs recycling is replaced when it has no sessions; an operator can have a worker
 * replaced at any time (restart.h). While the server starts, a worker's failure ends the server.
 * Later a device whose worker fails over and over counts as failed, and is tried again every ten
 * seconds.
 */
#ifndef GS_SERVER_PROCESS_H
#define GS_SERVER_PROCESS_H

#include "server/state/device.h"

/* Starts a worker. A failure is handled like a worker's loss. */
void worker_start(struct device *device);
/* Continues with the process that a former supervisor has started, if there is one. A ready worker
 * is asked for the state of its sessions (resync.h). */
void worker_restore(struct device *device);
/* Replaces a stopped worker by the standby. Called in each round. */
void worker_keep(struct device *device);
/* Kills the worker and reaps it, whatever its state. */
void worker_kill(struct device *device);

#endif
