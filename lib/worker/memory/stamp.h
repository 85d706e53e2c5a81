/*
 * stamp.h - numbers that no worker of the device gives twice. Any thread.
 */
#ifndef GS_WORKER_MEMORY_STAMP_H
#define GS_WORKER_MEMORY_STAMP_H

#include <stdint.h>

/* A number that neither this worker nor one before it has returned. */
uint64_t stamp(void);

#endif
