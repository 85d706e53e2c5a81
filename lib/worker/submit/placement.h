/*
 * placement.h - on which SMs a session's launches run; see placement.c. The session's lane; the
 * functions that make room for partitions: the main lane.
 */
#ifndef GS_WORKER_SUBMIT_PLACEMENT_H
#define GS_WORKER_SUBMIT_PLACEMENT_H

#include "worker/partition/partition.h"

/* The level of the latency headroom that launches of the class must keep off now; 0 except for best
 * effort. */
uint32_t placement_headroom_level(const struct session *session, uint32_t cls);
/* The SMs that are kept free at that level. */
struct sm_mask placement_headroom_mask(uint32_t level);
/* The partition in which the session's launches of a class run now: that of its grant or, while
 * they must keep off the latency headroom, the trimmed partition. It is the whole grant where
 * trimming leaves nothing. While the trimmed partition is being made, it is one trimmed by less, or
 * the grant's. */
struct partition *placement_of(struct session *session, uint32_t cls);
/* Asks for the trimmed partitions of best-effort sessions, if there are latency sessions too.
 * Making them takes a quiet moment, which may not come once both work. Called when a session gets
 * another grant, or the device another policy. */
void placements_prepare(void);
/* Gives up the session's trimmed partitions: its grant changes, or it is going. */
void placement_deinit(struct session *session);

/* As partition_get and partition_get_in_turn. In a full table, the partition without holders that
 * was asked for least recently goes. */
struct partition *placement_get(const struct sm_mask *mask, const struct session *asker,
                                gs_status *status);
struct partition *placement_get_in_turn(const struct sm_mask *mask, const struct session *asker,
                                        gs_status *status);
/* Dismisses all partitions that nobody holds, because there is no memory for another. Returns false
 * when there are none. */
bool placement_free_idle(void);

#endif
