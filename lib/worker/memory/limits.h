/* limits.h - how much memory a session, and all sessions of its user, may hold. */
#ifndef GS_WORKER_MEMORY_LIMITS_H
#define GS_WORKER_MEMORY_LIMITS_H

#include "common/link.h"
#include "worker/memory/user.h"
#include "worker/session_parts.h"

/* What a session may hold, in bytes. */
struct limits {
    uint64_t session;
    uint64_t user;   /* of all sessions of the user together; 0: no limit */
    uint64_t driver; /* what the driver may take for these sessions beside that; 0: no limit */
};
/* Sets the limits; 0: none. Limits below what is in use only stop further allocations. Returns the
 * session's limit as it holds, since the device, or the window once it is open, may be smaller. Any
 * thread; does not wait. */
uint64_t memory_limit_set(struct session *session, uint64_t mem_limit, uint64_t user_mem_limit);
/* Sets what all sessions of the user together may have besides: host blocks, their bytes, and what
 * the driver takes of the device's memory. */
void user_limits_set(struct session *session, const struct link_grant *grant);
/* The most host memory that a session may have pinned, and the most that the server keeps for it:
 * either is taken from everyone. Whole pages, as blocks are: rounding one up does not carry the sum
 * over the limit. */
uint64_t host_limit(void);
/* What of it the session's user, and all users together, may have. */
struct host_limits host_limits(const struct session_memory *memory);
struct limits memory_limits(const struct session *session);

#endif
