/* session_round.h - the state of a session in scheduling rounds; see rings.c and round.c. Belongs
 * to the session's lane. */
#ifndef GS_WORKER_LOOP_SESSION_ROUND_H
#define GS_WORKER_LOOP_SESSION_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire_segment.h"

/* the bit of the activity word, and of `pending`, which says that the tenant has posted a
 * request */
#define REQUEST_BIT (UINT64_C(1) << SEG_REQUEST_BIT)

struct session_round {
    uint64_t pending; /* bits of streams that may have records, and the request bit */
    uint64_t fresh;   /* the bits of `pending` that were set since the streams were last read */
    /* the lane waits for the rest of a batch arrival in one of the streams (arrival.h) */
    bool awaits;
    /* the last drain issued nothing, because the next records wait for something other than room on
     * the device */
    bool stalled;
    /* the last round in which the session issued nothing or used up its budget */
    uint64_t tried;
    uint64_t budget_round; /* the round that `budget` is for */
    uint32_t budget;       /* records that the session may still issue in that round */
    /* the last pass of its user in which its records were served; see user_round.c */
    uint64_t pass;
    uint64_t request_pass; /* the same for its request */
    uint32_t stream_first; /* the stream with which the next drain begins */
    bool yield_soon;       /* the value last written to seg_server.yield_soon */
};

#endif
