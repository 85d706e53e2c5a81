/* session_round.h - what a session has in a scheduling round; see round.c. The session's lane. */
#ifndef GS_WORKER_LOOP_SESSION_ROUND_H
#define GS_WORKER_LOOP_SESSION_ROUND_H

#include <stdbool.h>
#include <stdint.h>

struct session_round {
    uint64_t pending;      /* streams that may have records */
    bool awaits;           /* the rest of what is being written into one of them */
    uint64_t tried;        /* the round in which it was served last */
    uint64_t budget_round; /* the round that this is for: */
    uint32_t budget;       /* records that it still may hand over */
    uint32_t stream_first; /* the next round begins with it */
    uint32_t light;        /* records one after the other that any lane could have taken */
    bool yield_soon;       /* what the session's client has been told (seg_server) */
};

#endif
