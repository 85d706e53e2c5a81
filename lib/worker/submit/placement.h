/* placement.h - on which SMs a session's launches run; see placement.c. The session's lane; what
 * makes room for partitions: the main lane. */
#ifndef GS_WORKER_SUBMIT_PLACEMENT_H
#define GS_WORKER_SUBMIT_PLACEMENT_H

#include "worker/partition/partition.h"

/* What of the SMs for latency work must launches of the class keep off now? */
uint32_t placement_headroom_level(const struct session *session, uint32_t cls);
/* The SMs that this means. */
struct sm_mask placement_headroom_mask(uint32_t level);
/* Where the session's launches of a class run now: in its grant; while it must keep off, in the
 * grant less the latency headroom. The whole grant where nothing is left; while that is being made,
 * less some of it or nothing. */
struct partition *placement_of(struct session *session, uint32_t cls);
/* Has it made where best-effort sessions run beside latency sessions, if there are both: that takes
 * a moment without running kernels, which there may not be once these work. When a session has
 * another grant, or the device another policy. */
void placements_prepare(void);
/* The session gives up where it runs beside latency work: its grant changes, or it is going. */
void placement_deinit(struct session *session);

/* As partition_get and partition_get_in_turn; where the table is full, the one that was asked for
 * least lately of those that nobody holds goes. */
struct partition *placement_get(const struct sm_mask *mask, gs_status *status);
struct partition *placement_get_in_turn(const struct sm_mask *mask, gs_status *status);
/* All that nobody holds are to be destroyed, for there is no memory for another. false: none is. */
bool placement_free_idle(void);

#endif
