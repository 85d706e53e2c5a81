/* deferred_release.h - host memory that waits for its end; see deferred_release.c. */
#ifndef GS_WORKER_MEMORY_DEFERRED_RELEASE_H
#define GS_WORKER_MEMORY_DEFERRED_RELEASE_H

#include <stdbool.h>
#include <stdint.h>

/* Takes over a System V mapping: `registered` (NULL: none) is the part known to the driver. Any
 * thread. Without memory for the note it is ended at once. */
void deferred_release_add(void *mapping, void *registered, uint64_t size);

/* Is there something, and is there so much that it cannot wait for a quiet moment? Any thread. */
bool deferred_release_any(void);
bool deferred_release_full(void);

/* Unregisters and unmaps all of it. Stalls the device if it is busy. Service thread. */
void deferred_release_run(void);

#endif
