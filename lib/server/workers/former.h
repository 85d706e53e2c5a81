/*
 * former.h - a worker whose place the standby has taken before its process has ended.
 *
 * The driver takes 85 to 310 ms to end a process that has a context, and the tenants would wait for
 * that. A worker that is at rest has nothing left on the device that the next one's work could
 * meet, and none of its threads runs. So it is stopped, and killed when the next worker has its
 * sessions: ending it meanwhile would delay the next one's driver calls. Until it has ended, the
 * device memory of a session that was ended with it is not free.
 */
#ifndef GS_SERVER_FORMER_H
#define GS_SERVER_FORMER_H

#include "server/state/device.h"

/* Takes a stopped worker over, whose socket is closed. There is none yet. */
void former_take(struct device *device, struct child *worker);
/* Kills it once it is in nobody's way. Called in each round. */
void former_keep(struct device *device);
/* Goes on with the one that a former supervisor has stopped. Harmless if there is none. */
void former_restore(struct device *device);
/* Kills and reaps it. Harmless if there is none. */
void former_kill(struct device *device);

#endif
