/*
 * deferred_release.h - deferred release: host memory that waits to be unregistered and unmapped,
 * arrays that wait to be destroyed; see deferred_release.c.
 */
#ifndef GS_WORKER_MEMORY_DEFERRED_RELEASE_H
#define GS_WORKER_MEMORY_DEFERRED_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"

/* Takes over a System V mapping, of which the driver knows the part `registered` (NULL: none). Any
 * thread. Without memory for the note, the mapping is released at once. */
void deferred_release_add(void *mapping, void *registered, uint64_t size);

/* The same for an array of about `size` bytes, with which the device has finished. */
void deferred_release_array(CUarray array, uint64_t size);

/* Whether any memory waits, and whether so much waits that it must be released without a quiet
 * moment. Any thread. */
bool deferred_release_any(void);
bool deferred_release_full(void);

/* Unregisters, unmaps and destroys all that waits; when it returns, what another thread was
 * releasing is gone too, so that who found no device memory can try again. Stalls all launches
 * while the device is busy. Service thread. */
void deferred_release_run(void);

#endif
