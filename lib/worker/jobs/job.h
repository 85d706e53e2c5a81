/*
 * job.h - a job: a piece of slow work for a session, and its way from the main lane to a service
 * thread and back.
 */
#ifndef GS_WORKER_JOBS_JOB_H
#define GS_WORKER_JOBS_JOB_H

#include "worker/journal/journal.h"
#include "worker/session_parts.h"

struct job;
struct partition;

enum job_flags {
    JOB_QUICK = 0,
    /* The job waits until the device has finished all that the session has issued; the session's
     * new work waits until the job is done. */
    JOB_SESSION_IDLE = 1,
    /* The driver may let this job wait for every kernel on the device, also other tenants', or the
     * job compiles; so it goes to threads of its own. */
    JOB_PATIENT = 2,
    /* The job makes a driver call during which no launch goes through until every kernel has ended
     * (measured: loading a module, unregistering host memory). So it waits for a quiet moment, in
     * which the device has nothing of any session, and has a thread of its own. */
    JOB_QUIET = 4,
    /* A chore: the session's tenant did not ask for the job and gets no answer. It is made without
     * a session, for the session in slot `index` with the id arg[0]. It waits as chore.c says, and
     * is dropped if that session has gone. */
    JOB_CHORE = 8,
    /* With JOB_QUIET: launches wait for the job, so new work is held back for it at once. */
    JOB_PROMPT = 16,
    /* With JOB_QUIET: nothing waits for the job. */
    JOB_UNHURRIED = 32,
    /* With JOB_CHORE: the same as JOB_SESSION_IDLE, but the session's new work is held back for a
     * while at a time only, until the device has finished (chore.c). */
    JOB_HOLD = 64,
    /* The job concerns memory that other sessions hold too, so it starts when no session is still
     * being taken up. */
    JOB_TAKEN_UP = 128,
    /* With JOB_PATIENT: the job compiles what a tenant sends, and waits until its user may have
     * that done (pace.h). The work of a session that is closing begins at once, and is not to
     * compile. */
    JOB_COMPILES = 256
};

/* The steps of a job. Each sets job->status and, on failure, job->message. prepare and install run
 * on the main lane, work on a service thread. Any may be NULL; a job without work never leaves the
 * main lane. install runs only when work left GS_OK. */
struct job_kind {
    const char *name;
    unsigned flags;
    void (*prepare)(struct job *job);
    void (*work)(struct job *job);
    void (*install)(struct job *job);
    const struct job_kind
        *then; /* the next stage of the same job, after install; NULL: there is none */
};

struct job {
    struct job *next;
    struct session *session;
    const struct job_kind *kind;

    /* the request, copied out of the segment */
    uint32_t serial; /* of the request */
    uint64_t arg[4];
    char name[sizeof(((struct seg_request *)0)->name)];
    struct req_texture texture; /* of REQ_TEXTURE_CREATE */
    struct rec_gemm gemm;       /* of REQ_GEMM_PREPARE, or the product that a chore prepares */

    /* objects that prepare or work found or made */
    void *object;
    void *made;
    uint32_t index;
    bool session_idle; /* prepare found that this job must wait as with JOB_SESSION_IDLE */
    bool at_once;      /* it fails with GS_NOT_READY where it would have to wait so */

    /* the reply */
    gs_status status;
    uint64_t ret[4];
    char message[sizeof(((struct seg_request *)0)->message)];
    struct req_kernel *kernel; /* the payload of the reply, freed with the job; NULL: none */
    struct {
        uint64_t asked, used, limit;
    } refused; /* in bytes, where a limit of memory has refused the job; else 0 */

    struct link_open open;       /* of job_open */
    struct link_grant grant;     /* of job_open and job_grant */
    struct partition *partition; /* the partition that the grant waits for; held */
    /* partitions that the job destroys before it makes its own (partition.c) */
    struct partition *doomed;
    uint64_t waiting_ns; /* main lane: since when the job waits for the device */
    struct {
        bool on;
        uint64_t ns, change_ns;
    } hold; /* a chore holds its session's new work back; see chore.c */
};

/* Notes a failure. Returns the status, for `return job_fail(...)`. */
gs_status job_fail(struct job *job, gs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Notes the calling thread's failed driver call; ends the worker if the context is lost. */
gs_status job_fail_driver(struct job *job, CUresult result);

/* Notes in the session's journal that the request of a job is done, and which entry the job removes
 * next. Where this worker is lost in between, the next one removes the entry, and does not make the
 * request again. */
void job_removes(const struct job *job, enum journal_kind kind, uint64_t key);
/* Notes there the results of the request, and which entry the job puts next, the last that the
 * request makes. Once that entry is there, a next worker gives the answer, and does not make the
 * request a second time. */
void job_makes(const struct job *job, enum journal_kind kind, uint64_t key);

struct job *job_new(struct session *session, const struct job_kind *kind);
void job_free(struct job *job);

/* ---- The kinds, by room ---------------------------------------------------------------------- */
extern const struct job_kind job_open, job_close, job_unload_all;               /* session.c */
extern const struct job_kind job_grant, job_open_partition;                     /* grant.c */
extern const struct job_kind job_kernel_heap;                                   /* heap.c */
extern const struct job_kind job_kernel_stack;                                  /* local_memory.c */
extern const struct job_kind job_malloc, job_mem_free, job_mem_info;            /* memory.c */
extern const struct job_kind job_mem_export, job_mem_import;                    /* memory_share.c */
extern const struct job_kind job_mem_revoke, job_unshare;                       /* memory_share.c */
extern const struct job_kind job_host_alloc, job_host_free;                     /* host_block.c */
extern const struct job_kind job_array_create, job_array_destroy;               /* array.c */
extern const struct job_kind job_array_level;                                   /* array.c */
extern const struct job_kind job_texture_create, job_texture_destroy;           /* texture.c */
extern const struct job_kind job_surface_create, job_surface_destroy;           /* texture.c */
extern const struct job_kind job_module_load, job_module_unload;                /* module.c */
extern const struct job_kind job_kernel_get, job_global_get, job_module_kernel; /* kernel.c */
extern const struct job_kind job_fault;                                         /* kernel_fault.c */
extern const struct job_kind job_stream_create, job_stream_destroy;             /* stream.c */
extern const struct job_kind job_event_elapsed;                                 /* stream.c */
extern const struct job_kind job_kernel_occupancy;                              /* cooperative.c */
extern const struct job_kind job_graph_create, job_graph_destroy;               /* graph.c */
extern const struct job_kind job_gemm_prepare;                                  /* product.c */

/* ---- service.c ------------------------------------------------------------------------------- */

/* Starts the service threads. Returns false when a thread could not be made. */
bool service_start(void);
/* Hands a job to the service threads. Lock-free; called by the main lane and the control thread. */
void service_push(struct job *job);
/* Sets how much of a CPU, in percent, compiling for the session's user may take; 0: any. */
void service_compile_limit(struct session *session, uint32_t percent);
/* The session is closing: a job of it that waits for its user's turn to compile begins. */
void service_closing(struct session *session);
/* Whether no service thread has a job, or is to get one: but for jobs that compile, which count
 * once they have begun. Main lane; the control thread once the lanes have stopped. */
bool service_idle(void);
/* The calling service thread's stream. */
CUstream service_stream(void);

/* ---- The way back to the main lane ----------------------------------------------------------- */

/* Hands a job to the main lane: a new one (open, close) or one whose work is done. Any thread;
 * lock-free. */
void job_return(struct job *job);
/* Whether any job has come. seq_cst. */
bool jobs_returned(void);
/* Takes all jobs that have come, the oldest first, linked by ->next. Main lane. */
struct job *jobs_take(void);

#endif
