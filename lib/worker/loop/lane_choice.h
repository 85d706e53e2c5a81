/* lane_choice.h - which session goes from the main lane to a side lane, and to which one; see
 * lanes.c for why. Main lane, but for lane_keeps and session_runs_on, which side lanes call. */
#ifndef GS_WORKER_LOOP_LANE_CHOICE_H
#define GS_WORKER_LOOP_LANE_CHOICE_H

#include "worker/session_parts.h"

#define LIGHT_LEAST 32u /* light launches in a row, before a session is given away */
#define LANE_NONE   UINT32_MAX

/* Returns the side lane that gets the next session; LANE_NONE: the main lane keeps what it has.
 * Side lane i of `count` has members[i] sessions, and the main lane has `active` active ones. */
uint32_t lane_choose(const uint32_t *members, uint32_t count, uint32_t active, uint32_t cpus);

/* Whether a side lane keeps a session that has been silent for so long. While other sessions of the
 * lane are active the lane is awake anyway. With many tenants each of them is silent for a while
 * between two launches; were they returned then, the main lane would serve most of them alone. */
bool lane_keeps(const struct lane *lane, uint64_t silent_ns);

/* Whether a kernel of the session runs on and on. Its time is the main lane's to watch (evict.h),
 * so a side lane returns the session. */
bool session_runs_on(const struct session *session);

/* Whether a side lane could have the session, by the session's state and its last launches. */
bool session_light(const struct session *session);

#endif
