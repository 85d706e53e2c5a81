/* session_poll.h - the polling state of a session, and its trials and turns; see polling.c, trial.h
 * and turn.h. Belongs to the session's lane. */
#ifndef GS_WORKER_SESSION_SESSION_POLL_H
#define GS_WORKER_SESSION_SESSION_POLL_H

#include <stdbool.h>
#include <stdint.h>

struct session_poll {
    uint32_t index;     /* the session's index in lane->polled */
    uint64_t active_ns; /* when the session last had something to do */
    bool trial;         /* the session awaits a trial, or has it (trial.h) */
    /* until then (clock_ns), the session is a suspect and takes turns with others (turn.h) */
    uint64_t suspect_ns;
    uint64_t held_ns;  /* how long other suspects have waited for the end of its turns */
    uint64_t given_ns; /* when the lane last issued work of the session */
};

#endif
