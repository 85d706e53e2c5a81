/* open_part.h - the open part of a window, for window.c; what else the open part offers is in
 * window.h. Service threads, in the session's job in progress. */
#ifndef GS_WORKER_MEMORY_OPEN_PART_H
#define GS_WORKER_MEMORY_OPEN_PART_H

#include "ptx/rewrite/rewrite.h"
#include "worker/session_parts.h"

#define WINDOW_MIN (UINT64_C(4) << 30) /* the least size of a window, and of its open part */

/* How far the kernels of a fenced session reach before and behind its window: a granule, since the
 * fence limits where an access begins and the instruction may add an offset, and as far as indices
 * and strides lead. Nothing keeps the kernels of other sessions to a window. */
static inline uint64_t window_margin(bool fenced)
{
    return fenced ? worker->granularity + FENCE_REACH : 0;
}

/* Makes the open part of the session's window as large as that, and charges the user for it. Its
 * sinks are mapped already. */
void window_open(struct session *session, uint64_t size);

#endif
