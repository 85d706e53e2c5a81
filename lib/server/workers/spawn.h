/* spawn.h - the processes of workers: made, with what connects them to the supervisor. */
#ifndef GS_SERVER_SPAWN_H
#define GS_SERVER_SPAWN_H

#include "server/state/device.h"

/* Starts a process for the device; the descriptors in `child` are not watched yet. 0 or -errno;
 * then nothing is left. */
int worker_spawn(struct device *device, struct child *child);
/* Maps the figures that a former supervisor's workers fill, if there are any. 0 or -errno. */
int worker_stats_restore(struct device *device);
/* Frees the memory that the device's workers share. */
void worker_memory_free(struct device *device);

#endif
