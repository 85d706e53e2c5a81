/*
 * grants.h - the state of a session's grant on its way to the worker, by which the reconciler plans
 * and sends.
 *
 * `target` is the grant that a plan decided, `sent` the last one sent, `applied` the last one that
 * the worker confirmed. Until `sent` is confirmed the session's kernels may run on the SMs of both
 * `sent` and `applied`.
 */
#ifndef GS_SERVER_GRANTS_H
#define GS_SERVER_GRANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "common/sm_mask.h"
#include "server/base/refusal.h"

struct device;
struct session;

/* A worker that waits for a quiet moment gives up by itself after ten seconds. */
#define GRANT_PATIENCE_NS QOS_PATIENCE_NS

struct session_grant {
    struct link_grant target, sent, applied;
    struct sm_mask sms; /* target's SMs, spelled out; empty: not placed */
    uint64_t sequence;  /* sequence of the last grant sent */
    bool constrained;   /* the session does not simply have the whole device; counted in its
                           device */
    bool outdated;      /* `target` has changed since `sent` was sent */
    bool awaited;       /* LINK_GRANTED for `sent` has not come */
    bool refused;       /* the worker could not apply `sent`, which is tried again later */
    gs_status refusal_status;
    char refusal[REFUSAL_TEXT_MAX];
};

/* ---- Changes: each notes what is due on the device ------------------------------------------- */

/* Handles LINK_GRANTED, the worker's answer. Returns false if the message is invalid. */
bool grants_granted(struct session *session, const struct link_granted *granted, const char *text);
/* Notes that LINK_OPENED has confirmed the first grant. */
void grants_opened(struct session *session);
/* Forgets all grants of a session that has no SMs any more. */
void grants_clear(struct session *session);
/* Schedules the placing of the sessions that waited for the device's worker, which is now ready, in
 * the next rounds and in the order in which they came. */
void grants_ready(struct device *device);

/* ---- Questions ------------------------------------------------------------------------------- */

/* Adds the number of capped sessions of each group to `load`, and removes the SMs that are
 * exclusive to a session from `room`. */
void grants_load(const struct device *device, uint32_t *load, struct sm_mask *room);
/* Returns whether a grant is to be sent to the session's worker. */
bool grants_due(const struct session *session);
/* Returns whether the session's target is in force, which the worker has confirmed. */
bool grants_in_force(const struct session *session);
/* Returns the number of the device's sessions whose target is not in force yet. */
uint32_t grants_pending_count(const struct device *device);
/* Returns the SMs that the session has been granted, spelled out; empty: none yet. */
struct sm_mask grants_sms(const struct session *session);
/* Returns the SMs that the session's kernels keep until it is granted others, whether or not the
 * worker applies a grant that is on its way. */
struct sm_mask grants_sure(const struct session *session);
/* Return the SMs that the session's kernels have or may still get by a grant on its way, and those
 * of them that are exclusive to the session. */
struct sm_mask grants_held(const struct session *session);
struct sm_mask grants_held_alone(const struct session *session);
/* Returns the SMs of the device that are exclusive to some session. */
struct sm_mask grants_alone(const struct device *device);
/* Returns the session whose SMs this one's grant waits for, or NULL. A grant with exclusive SMs
 * waits until no other session may still run on them: the others give them up first, then the owner
 * gets them. The placer's rules keep such waits from forming a circle. `alone` is grants_alone of
 * the device, for a quick first check. */
const struct session *grants_blocker(const struct session *session, const struct sm_mask *alone);
/* Returns whether two grants are the same apart from their sequence. */
bool grant_same(const struct link_grant *a, const struct link_grant *b);

#endif
