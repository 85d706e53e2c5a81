/*
 * job.h - a piece of slow work for a session, and its way from the dispatcher to a service thread
 * and back.
 */
#ifndef GS_WORKER_JOBS_JOB_H
#define GS_WORKER_JOBS_JOB_H

#include "worker/session_parts.h"

struct job;
struct partition;

enum job_flags {
    JOB_QUICK = 0,
    /* The device first finishes all that the session has issued. */
    JOB_QUIESCE = 1,
    /* The driver may let this wait for every kernel on the device, other tenants' too, or it
     * compiles: it goes to threads of its own. */
    JOB_PATIENT = 2,
    /* While the driver does this, nobody's launches go through until every kernel has ended
     * (measured: loading a module, unregistering host memory). It starts at a quiet moment, or when
     * none came for a while, and has a thread of its own. */
    JOB_QUIET = 4,
    /* The session's tenant did not ask for it and gets no answer: made without a session, for that
     * in slot `index` with the id arg[0]. It waits as chore.c says, and is dropped if the session
     * has gone. */
    JOB_CHORE = 8,
    /* With JOB_QUIET: launches wait for it, so new work is held back for it at once. */
    JOB_PROMPT = 16,
    /* With JOB_QUIET: nobody waits for it. */
    JOB_UNHURRIED = 32,
    /* With JOB_CHORE: the device first finishes what the session has issued, and the session's new
     * work waits until it is done. */
    JOB_IDLE = 64
};

/* Each step sets job->status and, on failure, job->message. prepare and install run on the
 * dispatcher, work on a service thread. Any may be NULL; without work the job never leaves the
 * dispatcher. install runs only when work left GS_OK. */
struct job_kind {
    const char *name;
    unsigned flags;
    void (*prepare)(struct job *job);
    void (*work)(struct job *job);
    void (*install)(struct job *job);
    const struct job_kind
        *then; /* the next stage of the same job, after install; NULL: that was all */
};

struct job {
    struct job *next;
    struct session *session;
    const struct job_kind *kind;

    /* the request, copied out of the segment */
    uint64_t arg[4];
    char name[sizeof(((struct seg_request *)0)->name)];

    /* what prepare or work found or made */
    void *object;
    void *made;
    uint32_t index;

    /* the reply */
    gs_status status;
    uint64_t ret[4];
    char message[sizeof(((struct seg_request *)0)->message)];
    struct req_kernel *kernel; /* the payload; owned */

    struct link_open open;       /* kind job_open */
    struct link_grant grant;     /* kinds job_open and job_grant */
    struct partition *partition; /* what the grant waits for; held */
    struct partition *doomed;    /* partitions to destroy on the way (partition.c) */
    void (*after)(void);         /* done by the service thread once the job is on its way back */
    uint64_t waiting_ns;         /* dispatcher: since when it waits for the device */
    struct {
        bool on;
        uint64_t ns, change_ns;
    } hold; /* of its session's new work; see chore.c */
};

/* Notes a failure. Returns status, for `return job_fail(...)`. */
gs_status job_fail(struct job *job, gs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Notes the failed driver call of this thread; ends the worker if the context is lost. */
gs_status job_fail_driver(struct job *job, CUresult result);

struct job *job_new(struct session *session, const struct job_kind *kind);
void job_free(struct job *job);

/* ---- The kinds, by room ---------------------------------------------------------------------- */
extern const struct job_kind job_open, job_close, job_unload_all;    /* session.c */
extern const struct job_kind job_grant, job_open_partition;          /* grant.c */
extern const struct job_kind job_malloc, job_mem_free, job_mem_info; /* memory.c */
extern const struct job_kind job_mem_export, job_mem_import;         /* memory_share.c */
extern const struct job_kind job_mem_revoke, job_unshare;            /* memory_share.c */
extern const struct job_kind job_host_alloc, job_host_free;          /* host_block.c */
extern const struct job_kind job_module_load, job_module_unload;     /* module.c */
extern const struct job_kind job_kernel_get, job_global_get;         /* module.c */
extern const struct job_kind job_stream_create, job_stream_destroy;  /* stream.c */
extern const struct job_kind job_event_elapsed;                      /* stream.c */
extern const struct job_kind job_graph_create, job_graph_destroy;    /* graph.c */

/* ---- service.c ------------------------------------------------------------------------------- */

/* Starts the service threads. false: a thread could not be made. */
bool service_start(void);
/* Hands a job to them. Lock-free; called by the dispatcher and the control thread. */
void service_push(struct job *job);
/* The calling service thread's stream. */
CUstream service_stream(void);

/* ---- The way back to the main lane ------------------------------------------------------------
 */

/* Hands a job to the main lane: a new one (open, close) or one whose work is done. Any thread;
 * lock-free. */
void job_return(struct job *job);
/* Has any come? seq_cst. */
bool jobs_returned(void);
/* All that have come, the oldest first, by ->next. Main lane. */
struct job *jobs_take(void);

#endif
