/*
 * placer.h - chooses the SMs of each session of a device. Pure: no clock, no allocation, no I/O.
 *
 * A device's SMs come in groups that can only be granted together. Some are set apart as
 * reservations; the rest and each reservation are the *spaces* in which sessions are placed. Within
 * a space an exclusive session has SMs that no other session has. A capped session has up to its
 * number of SMs, those that the fewest other capped sessions use. A session without a request has
 * all SMs that are left. No session moves without need, and no session is left without SMs: a
 * request that would cause that is refused. Capped sessions share sets of SMs, so that all sessions
 * of a device have LINK_SETS_MAX different sets at most.
 *
 * Grants take time to reach a worker: `held` has the SMs on which a session's kernels may still run
 * until a new grant is in force. A session may be placed on SMs that another is giving up (the
 * caller waits with its grant), but never so that two could wait for each other: SMs that an
 * exclusive session gives up only once it has got others count as taken.
 */
#ifndef GS_SERVER_PLACER_H
#define GS_SERVER_PLACER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "common/sm_mask.h"
#include "server/base/refusal.h"
#include "server/placer/placer_device.h"

struct placer_session {
    uint64_t id;           /* named in refusals */
    uint32_t space;        /* index of the session's space */
    uint32_t sms;          /* the most SMs, rounded up to whole groups; 0: no cap */
    struct sm_mask within; /* the SMs that it may have, in whole groups; the whole device: no
                              bound */
    bool bounded;          /* `within` is less than the device */
    bool whole;            /* the session has just asked for `within`: it gets all of it, or a
                              refusal */
    bool exclusive;
    bool leaving;                  /* exclusive and closing: never refused */
    bool was_exclusive;            /* when `mask` was decided */
    struct sm_mask mask;           /* its present place; empty: not placed yet */
    struct sm_mask held;           /* where its kernels may still run */
    struct sm_mask sure;           /* the part of `held` that they keep until they are granted
                                      other SMs, whether or not a grant on its way is applied */
    struct sm_mask held_exclusive; /* the part of `held` that is exclusive to the session */
    struct sm_mask next;           /* the answer */
};

/* Sets the `next` of all sessions, which are in the order in which they came. `asker` is the index
 * of the session whose request is new, which refusals name, or `count` for none. Returns GS_OK, or
 * GS_ERR_LIMIT with a text; `next` is then undefined. */
gs_status placer_place(const struct placer_device *device, const struct sm_mask *space,
                       struct placer_session *session, uint32_t count, uint32_t asker,
                       char text[REFUSAL_TEXT_MAX]);

#endif
