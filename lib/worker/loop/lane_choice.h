/* lane_choice.h - decides which session the main lane gives to a side lane, and to which one;
 * lanes.c says why. A light launch is known to be short and fills little of the device
 * (launch_light in batch.c); a light session has issued only such launches lately. Called by the
 * main lane, except for lane_keeps and session_runs_on, which side lanes call. */
#ifndef GS_WORKER_LOOP_LANE_CHOICE_H
#define GS_WORKER_LOOP_LANE_CHOICE_H

#include "worker/session_parts.h"

#define LIGHT_LEAST 32u /* the light launches in a row after which a session may be given away */
#define LANE_NONE   UINT32_MAX

/* Returns the side lane that gets the next session; LANE_NONE: none does, and the main lane keeps
 * its sessions. members[i]: how many sessions side lane i of `count` has. active: how many active
 * sessions the main lane has. cpus: how many CPUs the worker may use. */
uint32_t lane_choose(const uint32_t *members, uint32_t count, uint32_t active, uint32_t cpus);

/* Returns whether a side lane keeps a session that has been silent for silent_ns. A lane with other
 * active sessions is awake anyway, so it keeps silent ones for longer: with many tenants, each is
 * silent for a while between two launches, and if they were all returned then, the main lane would
 * serve most of them alone. */
bool lane_keeps(const struct lane *lane, uint64_t silent_ns);

/* Returns whether a kernel of the session has run for very long. Only the main lane watches such
 * kernels (evict.h), so a side lane returns the session. */
bool session_runs_on(const struct session *session);

/* Returns whether the session may be given to a side lane, judged by its state and its last
 * launches. */
bool session_light(const struct session *session);

#endif
