/*
 * job.h - a job: slow work for a session. The main lane prepares it, a service thread (service.c)
 * does it, and it returns to the main lane, which ends it (loop/route.c).
 */
#ifndef GS_WORKER_JOBS_JOB_H
#define GS_WORKER_JOBS_JOB_H

#include "worker/journal/journal.h"
#include "worker/session_parts.h"

struct job;
struct partition;

enum job_flags {
    JOB_QUICK = 0,
    /* The job waits until the device has finished all work of the session. The session's new work
     * waits until the job is done. */
    JOB_SESSION_IDLE = 1,
    /* The driver may make this job wait for every kernel on the device, even other tenants', or the
     * job compiles. So it runs on threads of its own. */
    JOB_PATIENT = 2,
    /* The job makes a driver call during which no launch goes through until every kernel has ended
     * (measured: loading a module, unregistering host memory). So it waits for a quiet moment, when
     * the device has no work of any session, and runs on a thread of its own. */
    JOB_QUIET = 4,
    /* A chore: the session's tenant did not ask for the job and gets no answer. session/chore.c
     * says when it begins. */
    JOB_CHORE = 8,
    /* With JOB_QUIET: launches wait for the job, so the first pause for it begins at once. */
    JOB_PROMPT = 16,
    /* With JOB_QUIET: nothing waits for the job. */
    JOB_UNHURRIED = 32,
    /* With JOB_CHORE: as JOB_SESSION_IDLE, but the session is paused (its new work waits) only for
     * limited times, until the device has finished (session/chore.c). */
    JOB_PAUSE = 64,
    /* The job concerns memory that other sessions hold too, so it starts only when no session is
     * being resumed any more. */
    JOB_TAKEN_UP = 128,
    /* With JOB_PATIENT: the job compiles what a tenant sends. It waits for its user's share of a
     * CPU (pace.h) and for other compilations (service.c). If the session is closing, the job
     * begins at once, and must not compile. A chore may be done beside it (session/chore.c). */
    JOB_COMPILES = 256,
    /* The job's work only sends a question to the supervisor. The control thread returns the job
     * with the answer, and no service thread is held meanwhile. */
    JOB_ASKS = 512,
    /* With JOB_PAUSE: another tenant waits for the job. So after a time the session stays paused
     * until the device has finished, and the job may be done beside one that compiles
     * (session/chore.c). */
    JOB_PAUSE_UNTIL_DONE = 1024
};

/* The steps of a job. Each sets job->status and, on failure, job->message. prepare and install run
 * on the main lane, work on a service thread. Each may be NULL; a job without work never leaves the
 * main lane. install runs only if work succeeded. */
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
    union {
        unsigned char payload[sizeof(struct req_tensor_map)]; /* the request's payload */
        struct req_texture texture;                           /* of REQ_TEXTURE_CREATE */
        struct req_tensor_map tensor_map;                     /* of REQ_TENSOR_MAP */
        struct rec_gemm gemm; /* of REQ_GEMM_PREPARE, or the product that a chore prepares */
        struct {
            struct link_peer_answer answer;
            int descriptor;  /* of the memory */
            enum link_op op; /* of the ask */
        } peer;              /* the answer to an ask (memory/peer_ask.h) */
    };

    /* objects that prepare or work found or made */
    void *object;
    void *made;
    uint32_t index;
    bool session_idle; /* prepare found that this job must wait as if it had JOB_SESSION_IDLE */
    /* not 0: the job waits for the device only for a while; after that, it maps memory of this many
     * bytes where no kernel reaches (window.h) */
    uint64_t beside;
    bool brief;         /* with JOB_COMPILES: the job is expected to be short (job_takes_long) */
    bool one_at_a_time; /* with JOB_COMPILES: runs while no other suspect's compilation does */
    /* the job fails with GS_NOT_READY where it would have to wait for the device */
    bool at_once;

    /* the reply */
    gs_status status;
    uint64_t ret[4];
    struct req_kernel *kernel; /* the payload of the reply, freed with the job; NULL: none */
    uint32_t reply_bytes;      /* how many bytes of `payload` are the reply's payload */
    struct {
        uint64_t asked, used, limit;
    } refused; /* in bytes, if a memory limit has refused the job; else 0 */

    struct link_open open;       /* of job_open */
    struct link_grant grant;     /* of job_open and job_grant */
    struct partition *partition; /* the partition for which the grant waits; held */
    /* partitions that the job destroys before it makes its own (partition.c) */
    struct partition *doomed;
    /* an upper bound of the CPU time that the driver's threads spent to help compile */
    uint64_t helpers_ns;
    uint64_t waiting_ns; /* since when the job waits for the device; belongs to the main lane */
    struct {
        bool on;            /* the session is paused for this chore */
        uint64_t ns;        /* the length of the last pause; 0: there was none */
        uint64_t change_ns; /* when the pause begins or ends next */
        uint64_t since_ns;  /* when the chore was added */
    } pause;                /* the pauses for a chore; see session/chore.c */

    /* The texts of request and reply come last. job_new makes them empty, and clears only what is
     * before them, a twentieth of the whole. */
    char name[sizeof(((struct seg_request *)0)->name)];
    char message[sizeof(((struct seg_request *)0)->message)];
};
static_assert(sizeof(struct req_texture) <= sizeof(((struct job *)0)->payload) &&
                  sizeof(struct rec_gemm) <= sizeof(((struct job *)0)->payload),
              "payload");

#define JOB_NOBODY UINT32_MAX

/* Returns the user of the job's session; JOB_NOBODY: the job has no session. */
static inline uint32_t job_uid(const struct job *job)
{
    return job->session ? job->session->uid : JOB_NOBODY;
}

/* Sets the job's status and message. Returns the status, for `return job_fail(...)`. */
gs_status job_fail(struct job *job, gs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails the job with the calling thread's failed driver call. Ends the worker if the context is
 * lost. */
gs_status job_fail_driver(struct job *job, CUresult result);

/* Fails the job if its session is being closed; otherwise returns GS_OK. Called by service threads
 * before work that takes long. */
gs_status job_go_on(struct job *job);
/* Note that the calling thread begins, and ends, to read or compile what the session has sent. If
 * the worker crashes in between, that session is to blame (link_stats). */
void job_compile_begin(const struct job *job);
void job_compile_end(const struct job *job);

/* Fails a brief job that turns out to take long. service.c then runs its work again among the
 * patient jobs. Called by service threads. */
gs_status job_takes_long(struct job *job);

/* Returns whether the job no longer waits for the device and runs beside the session's kernels. */
static inline bool job_beside(const struct job *job)
{
    return job->beside && !job->session_idle;
}

/* Records in the session's journal that the job's request is done, and which journal entry the job
 * removes next. If this worker is lost in between, the next one removes the entry, and does not
 * carry the request out again. */
void job_removes(const struct job *job, enum journal_kind kind, uint64_t key);
/* Records in the journal the results of the request, and which entry the job adds next, the last
 * that the request makes. Once that entry is there, a next worker gives the answer, and does not
 * carry the request out again. */
void job_makes(const struct job *job, enum journal_kind kind, uint64_t key);

struct job *job_new(struct session *session, const struct job_kind *kind);
/* Makes a chore for `session`, whose slot and id it stores in `index` and arg[0]. The chore has no
 * session until the main lane takes it, and is dropped if the session has gone by then. */
struct job *job_new_chore(const struct session *session, const struct job_kind *kind);
void job_free(struct job *job);

/* ---- The kinds ------------------------------------------------------------------------------- */

/* The only list of the requests that a tenant can make, each with its job kind and the file that
 * defines that. */
#define REQUESTS(REQUEST)                                                                          \
    REQUEST(REQ_MALLOC, job_malloc) /* memory.c */                                                 \
    REQUEST(REQ_FREE, job_mem_free)                                                                \
    REQUEST(REQ_MEM_INFO, job_mem_info)                                                            \
    REQUEST(REQ_MEM_EXPORT, job_mem_export) /* export.c */                                         \
    REQUEST(REQ_MEM_REVOKE, job_mem_revoke)                                                        \
    REQUEST(REQ_MEM_IMPORT, job_mem_import) /* import.c */                                         \
    REQUEST(REQ_HOST_ALLOC, job_host_alloc) /* host_request.c */                                   \
    REQUEST(REQ_HOST_JOIN, job_host_join)                                                          \
    REQUEST(REQ_HOST_FREE, job_host_free)                                                          \
    REQUEST(REQ_MODULE_LOAD, job_module_load) /* module.c */                                       \
    REQUEST(REQ_MODULE_UNLOAD, job_module_unload)                                                  \
    REQUEST(REQ_KERNEL_GET, job_kernel_get) /* kernel.c */                                         \
    REQUEST(REQ_GLOBAL_GET, job_global_get)                                                        \
    REQUEST(REQ_MODULE_KERNEL, job_module_kernel)                                                  \
    REQUEST(REQ_KERNEL_OCCUPANCY, job_kernel_occupancy) /* cooperative.c */                        \
    REQUEST(REQ_KERNEL_HEAP, job_kernel_heap)           /* heap.c */                               \
    REQUEST(REQ_KERNEL_STACK, job_kernel_stack)         /* local_memory.c */                       \
    REQUEST(REQ_FAULT, job_fault)                       /* kernel_fault.c */                       \
    REQUEST(REQ_STREAM_CREATE, job_stream_create)       /* stream.c */                             \
    REQUEST(REQ_STREAM_DESTROY, job_stream_destroy)                                                \
    REQUEST(REQ_EVENT_ELAPSED, job_event_elapsed)                                                  \
    REQUEST(REQ_GRAPH_CREATE, job_graph_create) /* graph.c */                                      \
    REQUEST(REQ_GRAPH_DESTROY, job_graph_destroy)                                                  \
    REQUEST(REQ_GEMM_PREPARE, job_gemm_prepare) /* product.c */                                    \
    REQUEST(REQ_ARRAY_CREATE, job_array_create) /* array.c */                                      \
    REQUEST(REQ_ARRAY_LEVEL, job_array_level)                                                      \
    REQUEST(REQ_ARRAY_DESTROY, job_array_destroy)                                                  \
    REQUEST(REQ_TEXTURE_CREATE, job_texture_create) /* texture.c */                                \
    REQUEST(REQ_TEXTURE_DESTROY, job_texture_destroy)                                              \
    REQUEST(REQ_SURFACE_CREATE, job_surface_create)                                                \
    REQUEST(REQ_SURFACE_DESTROY, job_surface_destroy)                                              \
    REQUEST(REQ_TENSOR_MAP, job_tensor_map) /* tensor_map.c */

#define REQUEST_KIND(op, kind) extern const struct job_kind kind;
REQUESTS(REQUEST_KIND)
#undef REQUEST_KIND

/* Job kinds that no request names but other folders do. */
extern const struct job_kind job_open, job_close, job_unload_all; /* session.c */
extern const struct job_kind job_grant, job_open_partition;       /* grant.c */
extern const struct job_kind job_unshare;                         /* import.c */

/* ---- service.c ------------------------------------------------------------------------------- */

/* Starts the service threads. Returns false if a thread cannot be made. */
bool service_start(void);
/* Hands a job to the service threads. Lock-free. Called by the main lane, the control thread and
 * service threads. */
void service_push(struct job *job);
/* Sets how much of a CPU, in percent, compiling for the session's user may take; 0: any. */
void service_compile_limit(struct session *session, uint32_t percent);
/* Notes that the session is closing: its job that waits to compile begins at once. */
void service_closing(struct session *session);
/* Returns whether no service thread has or gets a job. Jobs that compile count only once they have
 * begun. Called by the main lane, and by the control thread once the lanes have stopped. */
bool service_idle(void);
/* Returns the calling service thread's CUDA stream. */
CUstream service_stream(void);

/* ---- The way back to the main lane ----------------------------------------------------------- */

/* Hands a job to the main lane: a new one (such as a close), or one whose work is done. Lock-free.
 * Called by any thread. */
void job_return(struct job *job);
/* Returns whether any job has come. The load is seq_cst. */
bool jobs_returned(void);
/* Takes all jobs that have come, oldest first, linked by ->next. Called by the main lane. */
struct job *jobs_take(void);

#endif
