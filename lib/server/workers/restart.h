/*
 * restart.h - replaces a device's worker because an operator wants it (gsctl restart-worker), or
 * because the worker has asked for it (LINK_NEEDS_RECYCLING) and has no sessions. Such a recycling
 * is called off if a session comes before the worker is asked to retire. The standby is made ready;
 * the worker comes to rest, so that no session has unfinished work, and ends; the standby takes the
 * sessions up.
 */
#ifndef GS_SERVER_RESTART_H
#define GS_SERVER_RESTART_H

#include "server/base/reply.h"
#include "server/state/device.h"

/* Begins a restart for an operator. Takes the reply over, unless it answers at once. `force`:
 * sessions that cannot be taken up end with the worker; without it they are a reason to refuse. */
void restart_begin(struct device *device, bool force, struct reply *reply);
/* Continues a restart that a former supervisor has begun. */
void restart_restore(struct device *device);
/* Handles LINK_RETIRED. Returns false if no LINK_RETIRE was sent to the worker. */
bool restart_retired(struct device *device, const struct link_message *message);
/* Takes the steps that are due. Called in each round. */
void restart_keep(struct device *device);
/* Tells the operator that the server ends. Does nothing if no restart is in progress. */
void restart_deinit(struct device *device);

#endif
