/*
 * ending.h - ends a worker: it is lost, told to quit, or has retired for the next one. process.c
 * reaps the process and starts the next one.
 */
#ifndef GS_SERVER_ENDING_H
#define GS_SERVER_ENDING_H

#include "server/state/device.h"

/* Ends the worker after a failure, and tells its sessions. `fatal` is its LINK_FATAL, or NULL;
 * `slot` is that of the session to blame, or LINK_SLOT_NONE. The format gives the reason. Does
 * nothing on a worker that is ending. */
void worker_fail(struct device *device, const struct link_fatal *fatal, uint32_t slot,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Ends a worker that is at rest, so that another one takes its sessions up. */
void worker_retired(struct device *device);
/* Tells the device's sessions that its worker is lost. `fatal`: the worker's LINK_FATAL, or
 * NULL. */
void worker_loss_tell(struct device *device, const struct link_fatal *fatal);
/* Tells the worker to quit, and kills it if it does not. */
void worker_quit(struct device *device);

#endif
