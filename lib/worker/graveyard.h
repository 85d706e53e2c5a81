/* graveyard.h - host memory that waits for its end; see graveyard.c. */
#ifndef GS_WORKER_GRAVEYARD_H
#define GS_WORKER_GRAVEYARD_H

#include <stdbool.h>
#include <stdint.h>

/* Takes over a System V mapping: `registered` (NULL: none) is the part known to the driver. Any
 * thread. Without memory for the note it is ended at once. */
void grave_dig(void *mapping, void *registered, uint64_t size);

/* Is there something, and is there so much that it cannot wait for a quiet moment? Any thread. */
bool graves_any(void);
bool graves_full(void);

/* Unregisters and unmaps all of it. Stalls the device if it is busy. Service thread. */
void graves_clear(void);

#endif
