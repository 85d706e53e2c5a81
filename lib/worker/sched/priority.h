/* priority.h - translates gs_qos's classes and priorities into the device's. Any thread. */
#ifndef GS_WORKER_SCHED_PRIORITY_H
#define GS_WORKER_SCHED_PRIORITY_H

#include <stdint.h>

/* The CUDA stream priority of this device for gs_qos's class and priority. */
int stream_priority(uint32_t cls, int64_t priority);

#endif
