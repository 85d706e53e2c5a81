/* priority.h - translates the classes and priorities of gs_qos into CUDA stream priorities. Called
 * by any thread. */
#ifndef GS_WORKER_SCHED_PRIORITY_H
#define GS_WORKER_SCHED_PRIORITY_H

#include <stdint.h>

/* Returns the CUDA stream priority for a class and priority of gs_qos, within the device's
 * range. */
int stream_priority(uint32_t cls, int64_t priority);

#endif
