/* open_part.h - the open part of a window, as window.c uses it; its functions for others are in
 * window.h. Service threads, in the session's job in progress. */
#ifndef GS_WORKER_MEMORY_OPEN_PART_H
#define GS_WORKER_MEMORY_OPEN_PART_H

#include "ptx/rewrite/rewrite.h"
#include "worker/session_parts.h"

#define WINDOW_MIN (UINT64_C(4) << 30) /* the least size of a window, and of its open part */

/* Returns how far the kernels of a fenced session may reach before and behind its window: a
 * granule, since the fence limits where an access begins and the instruction may add an offset, and
 * as far as indices and strides lead. Kernels of unfenced sessions are not confined, so their
 * windows need no margin. */
static inline uint64_t window_margin(bool fenced)
{
    return fenced ? worker->granularity + FENCE_REACH : 0;
}

/* Sets the size of the session's open part and charges the user for it. The caller has mapped its
 * sinks. */
void window_open(struct session *session, uint64_t size);

#endif
