/* memory_share.h - memory that one session lets another use; see memory_share.c. Service threads.
 */
#ifndef GS_WORKER_MEMORY_MEMORY_SHARE_H
#define GS_WORKER_MEMORY_MEMORY_SHARE_H

#include "worker/memory/chunk.h"

/* The chunk is about to be freed: its exports are void from now on. Its importers keep what they
 * have. */
void memory_share_void(struct chunk *chunk);
/* The import of that number has been freed. */
void import_free(struct session *session, uint32_t number);

#endif
