/* session_jobs.h - the jobs in progress for a session; see job.h. Main lane, but where a member
 * says otherwise. */
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
    struct job *back; /* `current`, once it is back and `aside` is not; else NULL */
    /* the close job, kept when LINK_CLOSE came while another job was in progress */
    struct job *close;
    /* chores that wait, and for how many of these the session is paused (session/chore.c) */
    uint32_t chores, pausing;
    bool paused; /* its new work waits: a job needs the session idle, or changes what work uses */
    /* streams, as bits, whose kernels are long: their new work waits until the quiet moment
     * (session/quiet.c) */
    uint64_t paused_streams;
    /* Until clock_ns() is this the session is a suspect, for which nothing is compiled beside
     * another one's (service.c). From the beginning on. */
    uint64_t suspect_ns;
    /* any thread: see service_compile_limit and service_closing */
    _Atomic uint32_t compile_percent;
    _Atomic bool closing;
};

#endif
