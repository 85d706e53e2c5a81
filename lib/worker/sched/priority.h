/* priority.h - translates gs_qos's classes and priorities into the device's. Any thread. */
#ifndef GS_WORKER_SCHED_PRIORITY_H
#define GS_WORKER_SCHED_PRIORITY_H

#include <stdint.h>

/* The CUDA stream priority of this device for gs_qos's class and priority. */
int stream_priority(uint32_t cls, int64_t priority);

/* The lower of two classes. From the highest: latency, normal, best effort. */
uint32_t class_lower(uint32_t a, uint32_t b);

#endif
