/*
 * placer.h - which SMs each session of a device gets. Pure: no clock, no allocation, no I/O.
 *
 * A device's SMs come in groups that can only be granted together. Some are set apart as
 * reservations; the rest and each reservation are the *spaces* in which sessions are placed. Within
 * a space an exclusive session has SMs that no other has; a session with a cap has so many of those
 * that the fewest other capped ones have; one without a request has all that is left. Nobody moves
 * without need, and nobody is left without SMs: what would do so is refused. Sessions with caps
 * share sets of SMs, so that all of a device's sessions have LINK_SETS_MAX different ones at most.
 *
 * Grants travel to a worker and take time: `held` is what a session's kernels may still be given,
 * by a grant that is on its way out. A session may be placed on SMs that another is giving up (the
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
    uint64_t id;           /* for refusals */
    uint32_t space;        /* index of the space that it lives in */
    uint32_t sms;          /* the most SMs, rounded up to whole groups; 0: no cap */
    struct sm_mask within; /* the SMs that it may have: whole groups; all of the device: no bound */
    bool bounded;          /* `within` is less than the device */
    bool whole;            /* all of `within`, or a refusal: it has been asked for just now */
    bool exclusive;
    bool leaving;                  /* exclusive, and only until its end: never refused */
    bool was_exclusive;            /* when `mask` was decided */
    struct sm_mask mask;           /* where it is; empty: not placed yet */
    struct sm_mask held;           /* where its kernels may still run */
    struct sm_mask sure;           /* the part of it that they keep until they are given another:
                                      what becomes of a grant that is on its way is not known */
    struct sm_mask held_exclusive; /* the part of it that is its alone */
    struct sm_mask next;           /* the answer */
};

/* Fills in every session's `next`. The sessions are to be in the order in which they came; `asker`
 * is the index of the one whose request is new, or `count` for none: it is spoken of in the
 * refusal. GS_OK, or GS_ERR_LIMIT and why; then `next` means nothing. */
gs_status placer_place(const struct placer_device *device, const struct sm_mask *space,
                       struct placer_session *session, uint32_t count, uint32_t asker,
                       char text[REFUSAL_TEXT_MAX]);

#endif
