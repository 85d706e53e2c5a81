/*
 * placement.h - decides on which SMs a session's launches run; see placement.c. Called by the
 * session's lane; the functions that make room for partitions, by the main lane.
 */
#ifndef GS_WORKER_SUBMIT_PLACEMENT_H
#define GS_WORKER_SUBMIT_PLACEMENT_H

#include "worker/partition/partition.h"

/* Returns the level of latency headroom that launches of the class must leave free now; 0 except
 * for best effort. */
uint32_t placement_headroom_level(const struct session *session, uint32_t cls);
/* Returns the SMs that are left free at this level. */
struct sm_mask placement_headroom_mask(uint32_t level);
/* Returns the partition in which the session's launches of a class run now: that of its grant or,
 * while they must leave the latency headroom free, the trimmed partition. It is the whole grant if
 * trimming leaves nothing. While the trimmed partition is being made, it is one trimmed by less, or
 * the grant's. */
struct partition *placement_of(struct session *session, uint32_t cls);
/* Requests the trimmed partitions of best-effort sessions, if there are latency sessions too.
 * Making them takes a quiet moment, which may not come once both work. Called when a session gets
 * another grant, or the device another policy. */
void placements_prepare(void);
/* Releases the session's trimmed partitions. Called when its grant changes or the session is
 * closed. */
void placement_deinit(struct session *session);

/* As partition_get and partition_get_in_turn, but if the table is full, the partition without
 * holders that was requested least recently is dismissed. */
struct partition *placement_get(const struct sm_mask *mask, const struct session *asker,
                                gs_status *status);
struct partition *placement_get_in_turn(const struct sm_mask *mask, const struct session *asker,
                                        gs_status *status);
/* Dismisses all partitions that nobody holds, because memory for another one is lacking. Returns
 * false if there are none. */
bool placement_free_idle(void);

#endif
