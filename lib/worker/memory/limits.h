/* limits.h - how much memory a session, and all sessions of its user, may hold. */
#ifndef GS_WORKER_MEMORY_LIMITS_H
#define GS_WORKER_MEMORY_LIMITS_H

#include "common/link.h"
#include "worker/memory/user.h"
#include "worker/session_parts.h"

/* How much device memory a session may have, in bytes. */
struct limits {
    uint64_t session;
    uint64_t user;   /* for all sessions of the user together; 0: no limit */
    uint64_t driver; /* driver memory (driver_memory.h) of these sessions; 0: no limit */
};
/* Sets the limits in bytes; 0: none. A limit below the amount in use only stops further
 * allocations. Returns the session's effective limit, since the device, or the window once it is
 * reserved, may be smaller. Any thread; does not wait. */
uint64_t memory_limit_set(struct session *session, uint64_t mem_limit, uint64_t user_mem_limit);
/* Sets the user's other limits, which hold for all sessions of the user together: the number of
 * host blocks, their bytes, and driver memory. */
void user_limits_set(struct session *session, const struct link_grant *grant);
/* Returns how many bytes of host memory a session may have pinned, which is also how many the
 * server may keep for it: both are taken from everyone. The limit is a multiple of the page size,
 * as blocks are, so that rounding a block up does not carry the sum over the limit. */
uint64_t host_limit(void);
/* Returns the limits on host memory of the session's user and of all users together. */
struct host_limits host_limits(const struct session_memory *memory);
struct limits memory_limits(const struct session *session);

#endif
