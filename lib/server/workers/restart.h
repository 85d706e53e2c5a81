/*
 * restart.h - a device gets another worker because the operator wants it to (gsctl restart-worker),
 * or because the worker has asked for it (LINK_NEEDS_RECYCLING) and has no sessions; that is called
 * off where one comes before the worker is asked to retire. The standby is
 * made ready; the worker comes to rest, so that no session has unfinished work, and ends; the
 * standby takes the sessions up.
 */
#ifndef GS_SERVER_RESTART_H
#define GS_SERVER_RESTART_H

#include "server/base/reply.h"
#include "server/state/device.h"

/* Begins. Takes the reply over, unless it has answered. force: sessions that cannot be taken up end
 * with the worker; else they are a reason to refuse. */
void restart_begin(struct device *device, bool force, struct reply *reply);
/* Goes on with what a former supervisor has begun. */
void restart_restore(struct device *device);
/* Handles LINK_RETIRED. Returns false if no LINK_RETIRE was sent to the worker. */
bool restart_retired(struct device *device, const struct link_message *message);
/* Does what is due. Called in each round. */
void restart_keep(struct device *device);
/* Tells the operator that the server ends. Harmless if no restart is under way. */
void restart_deinit(struct device *device);

#endif
