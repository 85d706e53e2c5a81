/*
 * resync.h - a supervisor that has taken the place of a killed one asks the worker for the state of
 * its sessions (LINK_RESYNC). The killed supervisor may have died between two messages, or while it
 * handled one. These functions reconcile its notes of each session with the worker's report.
 */
#ifndef GS_SERVER_RESYNC_H
#define GS_SERVER_RESYNC_H

#include "server/state/device.h"

/* Asks the ready worker for the state of its sessions. */
void worker_resync_begin(struct device *device);
/* Waits for the answer, and handles the messages before it. Not called from the loop, which never
 * waits. A worker that has not answered by the deadline is ended. Does nothing if the worker was
 * not asked. */
void worker_resync_end(struct device *device, uint64_t deadline);
/* Handles LINK_SESSION and LINK_RESYNCED. Returns false if the message is invalid. */
bool resync_take(struct device *device, const struct link_message *message);

#endif
