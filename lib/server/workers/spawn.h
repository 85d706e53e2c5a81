/* spawn.h - starts worker processes, with the descriptors that connect them to the supervisor. */
#ifndef GS_SERVER_SPAWN_H
#define GS_SERVER_SPAWN_H

#include "server/state/device.h"

/* Starts a worker process for the device. The descriptors in `child` are not watched yet. Returns
 * 0, or -errno with nothing left behind. */
int worker_spawn(struct device *device, struct child *child);
/* Maps the figures that a former supervisor's workers fill, if there are any. Returns 0 or
 * -errno. */
int worker_stats_restore(struct device *device);
/* Frees the memory that the device's workers share. */
void worker_memory_free(struct device *device);

#endif
