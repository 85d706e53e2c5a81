/*
 * grants.h - what a session may use, as far as the worker has it: the account that the reconciler
 * plans by and sends by.
 *
 * A session's `target` is decided, `sent` is on its way, `applied` is what the worker has
 * confirmed. Until a grant is confirmed the session's kernels may run on what either allows.
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

/* A worker that waits for a moment without kernels gives up after ten seconds by itself. */
#define GRANT_PATIENCE_NS QOS_PATIENCE_NS

struct session_grant {
    struct link_grant target, sent, applied;
    struct sm_mask sms; /* target's SMs, spelled out; empty: not placed */
    uint64_t sequence;  /* of the last one sent */
    bool constrained;   /* not simply on the whole device: counted in its device */
    bool outdated;      /* `target` has changed since `sent` was sent */
    bool awaited;       /* LINK_GRANTED for `sent` has not come */
    bool refused;       /* the worker could not do `sent`: tried again later */
    gs_status refusal_status;
    char refusal[REFUSAL_TEXT_MAX];
};

/* ---- Changes: each notes what is due on the device ------------------------------------------- */

/* Takes LINK_GRANTED, the worker's answer. false: it makes no sense. */
bool grants_granted(struct session *session, const struct link_granted *granted, const char *text);
/* Notes that LINK_OPENED has confirmed the first grant. */
void grants_opened(struct session *session);
/* Forgets all grants of a session that has no SMs any more. */
void grants_clear(struct session *session);
/* Has the sessions that wait for the device's worker, which is ready now, placed in the next
 * rounds, in the order in which they came. */
void grants_ready(struct device *device);

/* ---- Questions ------------------------------------------------------------------------------- */

/* Adds to load the number of capped sessions of each group, and takes the SMs that are a session's
 * alone out of room. */
void grants_load(const struct device *device, uint32_t *load, struct sm_mask *room);
/* Whether a grant is to be sent to the session's worker. */
bool grants_due(const struct session *session);
/* Whether all that was decided for the session is in force: the worker has confirmed it. */
bool grants_in_force(const struct session *session);
/* The number of the device's sessions for which something is not in force yet. */
uint32_t grants_pending_count(const struct device *device);
/* The SMs that the session has been given, spelled out; empty: none yet. */
struct sm_mask grants_sms(const struct session *session);
/* The SMs that its kernels keep until they are given others, whatever becomes of a grant that is on
 * its way. */
struct sm_mask grants_sure(const struct session *session);
/* The SMs that the session's kernels have or may still be given; and those of them that are the
 * session's alone. */
struct sm_mask grants_held(const struct session *session);
struct sm_mask grants_held_alone(const struct session *session);
/* The SMs of the device that are some session's alone. */
struct sm_mask grants_alone(const struct device *device);
/* The session whose SMs this one waits for, or NULL. A grant waits while another session may still
 * run on SMs that are to be one's alone: so others let go first, then the owner is given them. With
 * the placer's rules that keeps waits from forming a circle. alone: grants_alone of the device, as
 * a first look. */
const struct session *grants_blocker(const struct session *session, const struct sm_mask *alone);
/* Whether two grants are the same apart from their sequence. */
bool grant_same(const struct link_grant *a, const struct link_grant *b);

#endif
