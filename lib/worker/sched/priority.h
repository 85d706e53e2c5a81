/* priority.h - gs_qos's classes and priorities as the device knows them. Any thread. */
#ifndef GS_WORKER_SCHED_PRIORITY_H
#define GS_WORKER_SCHED_PRIORITY_H

#include <stdint.h>

/* gs_qos's class and priority as a CUDA stream priority of this device. */
int stream_priority(uint32_t cls, int64_t priority);

/* The lower of two classes: latency, normal, best effort. */
uint32_t class_lower(uint32_t a, uint32_t b);

#endif
