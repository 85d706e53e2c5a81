/*
 * resync.h - a supervisor that has taken the place of one that was killed asks the worker what it
 * has (LINK_RESYNC). Its predecessor may have been killed between two messages, or while it dealt
 * with one; what it has noted of a session and what the worker says are brought together.
 */
#ifndef GS_SERVER_RESYNC_H
#define GS_SERVER_RESYNC_H

#include "server/state/device.h"

/* Asks the ready worker what it has. */
void worker_resync_begin(struct device *device);
/* Waits for the answer, and deals with what comes before it. Not from the loop, which does not
 * wait. A worker that has not answered by the deadline is ended. Does nothing where none was asked.
 */
void worker_resync_end(struct device *device, uint64_t deadline);
/* LINK_SESSION, LINK_RESYNCED. false: the message makes no sense. */
bool resync_take(struct device *device, const struct link_message *message);

#endif
