/* session_poll.h - whether a session is polled; see polling.c. The session's lane. */
#ifndef GS_WORKER_SESSION_SESSION_POLL_H
#define GS_WORKER_SESSION_SESSION_POLL_H

#include <stdbool.h>
#include <stdint.h>

struct session_poll {
    uint32_t index;      /* the session's, in lane->polled */
    uint64_t active_ns;  /* when the session last had something to do */
    bool trial;          /* the session is to have a trial, or has it (trial.h) */
    uint64_t suspect_ns; /* it takes turns with other suspects until then (turn.h) */
    uint64_t held_ns;    /* for so long other suspects have waited for the end of its turns */
    uint64_t given_ns;   /* when the device was last given work of the session */
};

#endif
