/* share.h - memory that one session lets another use; see share.c. Service threads. */
#ifndef GS_WORKER_SHARE_H
#define GS_WORKER_SHARE_H

#include "worker/chunk.h"

/* The chunk is about to be freed: its exports are void from now on. Its importers keep what they
 * have. */
void share_forget(struct chunk *chunk);
/* The import of that number has been freed. */
void import_end(struct session *session, uint32_t number);

#endif
