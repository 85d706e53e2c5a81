/*
 * session_grant.h - the grant of a session: what it may use. The session folder writes it
 * (grant.c), and the folders below read it. Belongs to the main lane.
 */
#ifndef GS_WORKER_SCHED_SESSION_GRANT_H
#define GS_WORKER_SCHED_SESSION_GRANT_H

#include "common/link.h"
#include "common/sm_mask.h"

struct partition;

struct grant {
    struct link_grant link;
    struct partition *partition; /* held by this grant; NULL: the whole device */
    struct sm_mask mask;         /* the granted SMs, also if they are the whole device */
    uint32_t sm_count;           /* the number of SMs in `mask` */
    uint32_t sequence;           /* the sequence number last written to seg_grant; even */
};

#endif
