/* print_block.h - maps the print block of a session. Any thread. */
#ifndef GS_CLIENT_PRINT_BLOCK_H
#define GS_CLIENT_PRINT_BLOCK_H

#include "client/session/session.h"

/* Maps the block that a module load named, unless the session has the block already.
 * GS_ERR_NO_MEMORY, GS_ERR_SYSTEM, GS_ERR_PROTOCOL. */
gs_status print_adopt(struct session *session, uint64_t id, uint64_t bytes);

#endif
