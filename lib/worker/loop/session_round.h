/* session_round.h - a session in a scheduling round; see rings.c, round.c. The session's lane. */
#ifndef GS_WORKER_LOOP_SESSION_ROUND_H
#define GS_WORKER_LOOP_SESSION_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire_segment.h"

/* of the activity word, and of `pending`: the tenant has posted a request */
#define REQUEST_BIT (UINT64_C(1) << SEG_REQUEST_BIT)

struct session_round {
    uint64_t pending; /* bits of streams that may have records, and the request bit */
    uint64_t fresh;   /* those that have come since the streams were last read */
    bool awaits;      /* the rest of an arrival in one of the streams is awaited */
    /* the last drain issued nothing, because the next records wait for something other than space
     * on the device */
    bool stalled;
    uint64_t tried;        /* the last round in which it issued nothing or used up its budget */
    uint64_t budget_round; /* the round that `budget` is for */
    uint32_t budget;       /* records that the session may still hand over in that round */
    uint64_t pass;         /* the last one of its user in which it was served: user_round.c */
    uint64_t request_pass; /* the same of its request */
    uint32_t stream_first; /* the stream that the next round begins with */
    bool yield_soon;       /* the value of seg_server.yield_soon */
};

#endif
