/*
 * process.h - a device's worker processes: start, end, and the next start.
 *
 *   NONE --> STARTING --> READY --> ENDING --> NONE, then after a pause STARTING again
 *
 * A worker that says that it needs recycling is replaced when it has no sessions, as the operator
 * can have it done at any time (restart.h). While the server starts, a worker's failure is the
 * server's. Later a device whose worker fails over and over counts as failed, and is tried again
 * every ten seconds.
 */
#ifndef GS_SERVER_PROCESS_H
#define GS_SERVER_PROCESS_H

#include "server/state/device.h"

/* Starts a worker; a failure is dealt with as a worker's loss. */
void worker_start(struct device *device);
/* Goes on with the process that a former supervisor has started, if there is one. A ready one is
 * asked what it has (resync.h). */
void worker_restore(struct device *device);
/* Has the standby take the place of a worker that has stopped. Called in each round. */
void worker_keep(struct device *device);
/* Kills the worker and reaps it, whatever its state. */
void worker_kill(struct device *device);

#endif
