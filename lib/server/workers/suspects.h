/*
 * suspects.h - a worker is lost and does not say whose fault it was: sessions that may have lost
 * it, so that the next loss finds who it is (worker/session/turn.h, worker/jobs/service.c).
 */
#ifndef GS_SERVER_SUSPECTS_H
#define GS_SERVER_SUSPECTS_H

#include "server/state/device.h"

/* Notes that the session may have lost its worker, which is being lost. */
void suspect_add(const struct session *session);
/* Ends a worker that has crashed; how: for people. What its threads make of tenants' bytes is
 * compiling, so the session for which it did that is to blame. Of several each is a suspect. */
void worker_crashed(struct device *device, const char *how);
/* Ends a worker that the kernel has killed for want of memory, of which compiling may have taken
 * most, or all that others do. So each session for which it compiled is a suspect, and one that is
 * a suspect already, and was the only one, is to blame. */
void worker_starved(struct device *device, const char *how);

#endif
