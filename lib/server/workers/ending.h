/*
 * ending.h - the end of a worker: it is lost, told to quit, or has retired for the next one. The
 * process itself is reaped in process.c, which also starts the next one.
 */
#ifndef GS_SERVER_ENDING_H
#define GS_SERVER_ENDING_H

#include "server/state/device.h"

/* Ends the worker, which is no longer to be trusted, and tells its sessions. fatal: its own last
 * words about it, or NULL; slot: of the session to blame, or LINK_SLOT_NONE. Harmless on a worker
 * that is ending. */
void worker_fail(struct device *device, const struct link_fatal *fatal, uint32_t slot,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The worker is at rest and ends, so that another takes its sessions up. */
void worker_retired(struct device *device);
/* Tells the device's sessions that its worker is lost. fatal: its last words, or NULL. */
void worker_loss_tell(struct device *device, const struct link_fatal *fatal);
/* Tells the worker to quit, and kills it if it does not. */
void worker_quit(struct device *device);

#endif
