/*
 * former.h - the former worker: a worker that the standby has replaced before its process has
 * ended.
 *
 * The driver takes 85 to 310 ms to end a process that has a context, and the tenants would wait for
 * that. A worker at rest has no work on the device that could conflict with the next worker's, and
 * none of its threads runs. So the supervisor stops it, and kills it when the next worker has its
 * sessions: to end it before would delay the next worker's driver calls. Until it has ended, the
 * device memory of a session that was ended with it is not free.
 */
#ifndef GS_SERVER_FORMER_H
#define GS_SERVER_FORMER_H

#include "server/state/device.h"

/* Makes a stopped worker, whose socket is closed, the device's former worker. The device has none
 * yet. */
void former_take(struct device *device, struct child *worker);
/* Kills the former worker once the next worker has its sessions. Called in each round. */
void former_keep(struct device *device);
/* Continues with the former worker of a killed supervisor. Does nothing if there is none. */
void former_restore(struct device *device);
/* Kills and reaps the former worker. Does nothing if there is none. */
void former_kill(struct device *device);

#endif
