/*
 * standby.h - a device's standby: a second worker that has a context and serves no session. Before
 * the worker retires, the standby maps what the sessions have (link/preload.h). When the worker is
 * lost, the standby takes its place at once, whereas a new worker would first have to make a
 * context. It is started once a device with sessions has had its worker for a while.
 */
#ifndef GS_SERVER_STANDBY_H
#define GS_SERVER_STANDBY_H

#include "server/state/device.h"

/* Starts the device's standby if one is due. Called in each round. */
void standby_keep(struct device *device);
/* Returns the pid of a standby that is ready to take over, and not silent; 0: there is none. */
pid_t standby_ready(const struct device *device);
/* Pings a standby that is ready, and kills it after BEATS_MAX calls without an answer. */
void standby_beat(struct device *device);
/* Makes the standby, which is ready or still starting, the worker, watched as by child_move.
 * Returns false if there is none, or if it was silent and has been killed, since a new worker is
 * ready sooner. */
bool standby_take(struct device *device, struct worker_process *to, watch_ready *on_link,
                  watch_ready *on_process);
/* Continues with the standby that a former supervisor has started if that is ready, else ends
 * it. */
void standby_restore(struct device *device);
/* Kills the standby and reaps it. Does nothing if there is none. */
void standby_kill(struct device *device);

#endif
