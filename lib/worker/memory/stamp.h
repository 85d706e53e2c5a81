/*
 * stamp.h - stamps: numbers that grow, and that no two calls return, also in different workers of
 * the device. Any thread.
 */
#ifndef GS_WORKER_MEMORY_STAMP_H
#define GS_WORKER_MEMORY_STAMP_H

#include <stdint.h>

/* Returns a number greater than any that this worker, or one before it, has returned. */
uint64_t stamp(void);

#endif
