/* session_jobs.h - the jobs in progress for a session; see job.h. Belongs to the main lane, except
 * where a member says otherwise. */
#ifndef GS_WORKER_JOBS_SESSION_JOBS_H
#define GS_WORKER_JOBS_SESSION_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct job;

struct session_jobs {
    struct job *current; /* the request or close in progress */
    /* the chore that is done beside `current`, which compiles (session/chore.c); NULL: none */
    struct job *aside;
    struct job *back; /* `current`, if it is back and waits for `aside`; else NULL */
    /* the close job, if LINK_CLOSE came while another job was in progress */
    struct job *close;
    /* how many chores wait, and for how many of these the session is paused (session/chore.c) */
    uint32_t chores, pausing;
    /* new work of the session waits: a job needs the session idle, or changes what such work
     * uses */
    bool paused;
    /* streams (bits) with long kernels, whose new work waits until the quiet moment
     * (session/quiet.c) */
    uint64_t paused_streams;
    /* Until this time (clock_ns) the session is a suspect: nothing is compiled for it beside
     * another suspect's compilation (service.c). Constant. */
    uint64_t suspect_ns;
    /* for any thread; see service_compile_limit and service_closing */
    _Atomic uint32_t compile_percent;
    _Atomic bool closing;
};

#endif
