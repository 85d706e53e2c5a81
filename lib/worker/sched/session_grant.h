/*
 * session_grant.h - what a session may use. The session folder writes it (grant.c), the folders
 * below read it. Main lane.
 */
#ifndef GS_WORKER_SCHED_SESSION_GRANT_H
#define GS_WORKER_SCHED_SESSION_GRANT_H

#include "common/link.h"
#include "common/sm_mask.h"

struct partition;

struct grant {
    struct link_grant link;
    struct partition *partition; /* held; NULL: the whole device */
    struct sm_mask mask;         /* the granted SMs, also where they are the whole device */
    uint32_t sm_count;           /* of the mask */
    uint32_t sequence;           /* seg_grant's, of the last grant written; even */
};

#endif
