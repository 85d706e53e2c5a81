/*
 * suspects.h - notes suspects: the sessions that may have caused the loss of a worker which blamed
 * nobody. They take turns afterwards, so that the next loss shows which one it is
 * (worker/session/turn.h, worker/jobs/service.c).
 */
#ifndef GS_SERVER_SUSPECTS_H
#define GS_SERVER_SUSPECTS_H

#include "server/state/device.h"

/* Notes that the session may have caused the loss of its worker, which is in progress. */
void suspect_add(const struct session *session);
/* Ends a worker that has crashed; `how` describes its end. The worker's threads parse tenants'
 * bytes only when they compile, so the session for which it compiled is to blame. If there are
 * several, each is a suspect. */
void worker_crashed(struct device *device, const char *how);
/* Ends a worker that the kernel has killed for want of memory. Compiling may have taken the memory,
 * or other processes. So each session for which the worker compiled becomes a suspect. A session is
 * to blame only if it was the only one and is a suspect already. */
void worker_starved(struct device *device, const char *how);

#endif
