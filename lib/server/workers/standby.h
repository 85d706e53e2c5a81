/*
 * standby.h - a device's standby: a second worker, whose context is made and which serves no
 * session. Before the worker retires it maps what the sessions have (link/preload.h). When the
 * worker is lost the standby takes its place at once, where another would first have to make a
 * context. It is started once a device with sessions has had its worker for a while.
 */
#ifndef GS_SERVER_STANDBY_H
#define GS_SERVER_STANDBY_H

#include "server/state/device.h"

/* Starts the device's standby where one is due. Called in each round. */
void standby_keep(struct device *device);
/* The process of a standby that is ready to take over, and not silent; 0: there is none. */
pid_t standby_ready(const struct device *device);
/* Asks a standby that is ready whether it still answers, and kills it after BEATS_MAX calls without
 * an answer. */
void standby_beat(struct device *device);
/* Makes the standby, which is ready or still starting, the worker, watched as in child_move. false:
 * there is none, or it was silent and is killed, since another one is there sooner. */
bool standby_take(struct device *device, struct worker_process *to, watch_ready *on_link,
                  watch_ready *on_process);
/* Goes on with the standby that a former supervisor has started, if it is ready; else it is ended.
 */
void standby_restore(struct device *device);
/* Kills the standby and reaps it. Harmless if there is none. */
void standby_kill(struct device *device);

#endif
