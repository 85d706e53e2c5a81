/*
 * gshare.h - many processes share one NVIDIA GPU.
 *
 * A process attaches to a server (`gshared`), is given a session, and launches kernels that run
 * beside other tenants' kernels in the one CUDA context that the server owns.
 *
 *     gs_session s;  gs_module m;  gs_kernel k;  gs_devptr x;
 *     gs_attach(NULL, &s);
 *     gs_module_load_file(s, "scale.ptx", &m);
 *     gs_kernel_get(m, "scale", &k);
 *     gs_malloc(s, n * sizeof(float), &x);
 *     gs_memcpy_htod(s, x, host, n * sizeof(float));
 *     gs_launch(NULL, k, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(n / 256, 256), (void *[]){&x, &a});
 *     gs_memcpy_dtoh(s, host, x, n * sizeof(float));
 *     gs_detach(s);
 *
 * STATUS. Every function returns a gs_status unless its comment says otherwise. On any status but
 * GS_OK nothing was done and no out-parameter was written; gs_last_error_message() then has one
 * line that names the value that was wrong and its limit. Besides the statuses listed with a
 * function, each may return GS_ERR_INVALID_HANDLE (destroyed, of another session, detached),
 * GS_ERR_INVALID_VALUE (a NULL out-parameter, a size of a parameter struct that no version had),
 * GS_ERR_FORKED, GS_ERR_SERVER_LOST and, after a fault, the session's sticky GS_ERR_FAULT or
 * GS_ERR_INTERRUPTED (gs_last_fault tells more).
 *
 * HANDLES are values, not pointers to memory: using one after its object is gone is an error
 * status, never undefined behaviour. A handle belongs to the session it was made in.
 *
 * STREAMS. Work of one stream runs in the order given; work of two streams may overlap. NULL for a
 * stream is the session's default stream, which is an ordinary stream that does not synchronise
 * with the others (CUDA's "per-thread default stream" behaviour, not its legacy one).
 *
 * THREADS. Any function may be called from any thread at any time. Calls on one stream from several
 * threads are put in some order. Destroying an object while another thread uses it gives that
 * thread GS_ERR_INVALID_HANDLE. After fork() a child must attach anew: its parent's handles give
 * GS_ERR_FORKED. No function is async-signal-safe.
 *
 * ENVIRONMENT, read by gs_attach: GSHARE_INSTANCE, GSHARE_ACTIVE_THREAD_PERCENTAGE,
 * GSHARE_MEM_LIMIT, GSHARE_PRIORITY, GSHARE_LOG; where one is unset,
 * CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, CUDA_MPS_PINNED_DEVICE_MEM_LIMIT and CUDA_MPS_CLIENT_PRIORITY
 * count (the last one's 1, "below normal", is GS_CLASS_BEST_EFFORT here). A memory limit is a size
 * (512M), or one for each device (0=1G,1=512M), of which with GS_DEVICE_AUTO the least counts. A
 * limit that cannot be understood, such as "", is refused. A variable can only lower what the
 * operator and gs_attach_params allow, for as long as the session lives: gs_set_qos, streams and
 * launches do not get beyond it.
 *
 * Units: sizes in bytes, times in nanoseconds unless the name says otherwise.
 */
#ifndef GSHARE_H
#define GSHARE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GS_VERSION_MAJOR 0
#define GS_VERSION_MINOR 1
#define GS_VERSION_PATCH 0
#define GS_VERSION       (GS_VERSION_MAJOR * 10000 + GS_VERSION_MINOR * 100 + GS_VERSION_PATCH)

#if defined(__GNUC__)
#define GS_API __attribute__((visibility("default")))
#else
#define GS_API
#endif

/* ---- Statuses -------------------------------------------------------------------------------- */

typedef enum gs_status {
    GS_OK = 0,
    GS_NOT_READY = 1,            /* a query: not finished yet; not an error */
    GS_ERR_INVALID_VALUE = 2,    /* an argument is out of its range */
    GS_ERR_INVALID_HANDLE = 3,   /* destroyed, never made, or of another session */
    GS_ERR_INVALID_POINTER = 4,  /* device memory outside the session's allocations, or freed */
    GS_ERR_NO_MEMORY = 5,        /* host memory, or another resource of the host, ran out */
    GS_ERR_NO_DEVICE_MEMORY = 6, /* the device has not that much memory free */
    GS_ERR_QUOTA = 7,            /* the memory limit of the session, or of its user */
    GS_ERR_LIMIT = 8,            /* a count is at its maximum: tenants, streams, events ... */
    GS_ERR_NO_SERVER = 9,        /* no server of that instance name runs */
    GS_ERR_SERVER_LOST = 10,     /* the server ended; the session is gone */
    GS_ERR_VERSION = 11,         /* library and server speak different versions */
    GS_ERR_NO_DEVICE = 12,       /* the server has no such device */
    GS_ERR_REFUSED = 13,         /* the server's policy does not admit this tenant */
    GS_ERR_BAD_IMAGE = 14,       /* not a module, or not for this device; the message has the log */
    GS_ERR_NOT_FOUND = 15,       /* no kernel, variable, file or exported memory of that name */
    GS_ERR_PARAMS = 16,          /* kernel parameters: their count or sizes do not fit the kernel */
    GS_ERR_LAUNCH_CONFIG = 17,   /* grid, block or shared memory beyond the device's limits */
    GS_ERR_NOT_SUPPORTED = 18,   /* not on this device, driver or version of gshare */
    GS_ERR_INTERRUPTED = 19,     /* another tenant's fault cut this session's work off */
    GS_ERR_FAULT = 20,           /* this session's own kernel faulted; the session has ended */
    GS_ERR_FORKED = 21,          /* a session of the parent process used after fork() */
    GS_ERR_TIMEOUT = 22,         /* the server or the device did not answer in time */
    GS_ERR_PERMISSION = 23,      /* not yours to do */
    GS_ERR_RECORDING = 24, /* not allowed while, or only allowed while, a stream records a graph */
    GS_ERR_SYSTEM = 25,    /* a system call failed; the message names it */
    GS_ERR_DRIVER = 26,    /* a CUDA driver call failed; the message names it */
    GS_ERR_PROTOCOL = 27   /* the server sent something that makes no sense */
} gs_status;

/* One line of text for a status. Never NULL. Static; any thread. */
GS_API const char *gs_strerror(gs_status status);
/* The name, such as "GS_ERR_QUOTA"; "GS_STATUS_?" for a value that is none. Static; any thread. */
GS_API const char *gs_status_name(gs_status status);
/* What went wrong in this thread's last failing call: one line, or several for a module's log.
 * "" when none failed. Valid until this thread's next gshare call. */
GS_API const char *gs_last_error_message(void);
/* The library's GS_VERSION. GS_ERR_INVALID_VALUE: version is NULL. */
GS_API gs_status gs_version(unsigned *version);

/* ---- Types ----------------------------------------------------------------------------------- */

typedef struct gs_session_handle *gs_session;
typedef struct gs_stream_handle *gs_stream;
typedef struct gs_event_handle *gs_event;
typedef struct gs_module_handle *gs_module;
typedef struct gs_kernel_handle *gs_kernel;
typedef struct gs_graph_handle *gs_graph;

/* An address in device memory, inside the session's own window. Arithmetic on it is allowed. */
typedef uint64_t gs_devptr;

typedef struct gs_dim3 {
    unsigned x, y, z;
} gs_dim3;

/* Parameter structs begin with their own size, so that they can grow: set it by the _INIT macro. */

/* ---- Quality of service -----------------------------------------------------------------------
 *
 * A session has one from gs_attach on, may change it at any time (gs_set_qos), and may ask for less
 * in a single gs_launch. The operator can limit and change it too (gsctl); what holds now is told
 * by gs_get_qos. A change holds from the next launch on, for the session's recorded graphs too. It
 * stops, reorders and loses nothing; kernels that run already end where they began.
 *
 * EXECUTION AFFINITY keeps kernels on a set of SMs, exactly: no block of them runs elsewhere. SMs
 * are granted in groups (gs_session_desc.sm_granularity; 2 on an H200):
 *   - sm_count n means n SMs, rounded up to whole groups;
 *   - a percentage p means ceil(p/100 of the device's SMs), rounded up to whole groups;
 *   - a mask is granted as it is, and must be made of whole groups.
 * A session without affinity has the whole device but what is reserved or others have exclusively;
 * a count or percentage is a cap, and where these leave less, less is granted. Copies and memsets
 * are not affected. A device or driver without partitions gives GS_ERR_NOT_SUPPORTED.
 * On an H200, SMs that nobody had in this combination lately take some milliseconds, and a moment
 * without running kernels. Sessions can have 128 different combinations of a device at a time:
 * those with counts and percentages share them, so that there is one for all sessions; those with
 * masks, and exclusive ones, may find that there is none. A device keeps 160 (1 GB of its memory at
 * most).
 */

typedef enum gs_exec_affinity_type {
    GS_EXEC_AFFINITY_NONE = 0, /* whatever the operator allows: by default the whole device */
    GS_EXEC_AFFINITY_SM_COUNT = 1,
    GS_EXEC_AFFINITY_SM_MASK = 2,
    GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE = 3
} gs_exec_affinity_type;

#define GS_SM_MASK_WORDS 8 /* room for 512 SMs; SM n is bit n%64 of word n/64 */

/* Of a wish only the field that the type names counts, and `exclusive`; of a grant all are set. */
typedef struct gs_exec_affinity {
    gs_exec_affinity_type type;
    unsigned sm_count;   /* 1 to the device's */
    unsigned percentage; /* of the device's SMs, 1 to 100 */
    unsigned exclusive;  /* not 0: no other tenant runs on these SMs, until the operator forbids it.
                            Not without a type, unless the operator or the environment limits the
                            SMs */
    uint64_t sm_mask[GS_SM_MASK_WORDS];
} gs_exec_affinity;

typedef enum gs_class {
    GS_CLASS_NORMAL = 0,
    GS_CLASS_LATENCY = 1, /* before the others; best-effort kernels leave it some SMs meanwhile; the
                             server keeps a CPU for its next work for 20 ms, of eight or more */
    GS_CLASS_BEST_EFFORT = 2 /* after the others, and with less queued on the device */
} gs_class;

/* What a session, a stream or one launch asks of the scheduler. Values out of range give
 * GS_ERR_INVALID_VALUE and name the range.
 *
 * Of a stream (gs_stream_create) class and priority count; the other fields are the session's, and
 * setting one gives GS_ERR_NOT_SUPPORTED. Of one launch weight and affinity.exclusive are the
 * session's. Streams and launches can have a lower class than the session, not a higher one (the
 * default, GS_CLASS_NORMAL, counts as the session's where that is lower), a priority up to what the
 * operator allows the session, and SMs among those that the session has been granted. Start from
 * gs_get_qos to change one field only. */
typedef struct gs_qos {
    size_t size;          /* of this struct, as the caller was compiled: see GS_QOS_INIT */
    gs_class cls;         /* whose turn it is, before priority, deadline and weight */
    int priority;         /* 0 normal; higher runs earlier, within its class: a device has two, so
                             all above 0 count as 1 */
    unsigned weight;      /* 1 to 1,000: share of GPU time under saturation; 0: the default, which
                             is what the operator set (gsctl), else 1 */
    uint64_t deadline_ns; /* from submission, at most an hour; 0: none */
    gs_exec_affinity affinity;
} gs_qos;
#define GS_QOS_INIT                                                                                \
    {                                                                                              \
        sizeof(gs_qos), GS_CLASS_NORMAL, 0, 0, 0,                                                  \
        {                                                                                          \
            GS_EXEC_AFFINITY_NONE, 0, 0, 0,                                                        \
            {                                                                                      \
                0                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

/* ---- Sessions -------------------------------------------------------------------------------- */

/* The device of the process's rank on the machine, modulo the server's devices, if it is in a job
 * of Open MPI, MPICH, MVAPICH2 or Slurm (OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID,
 * PMI_LOCAL_RANK, MV2_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID: the first one set counts); else the
 * device with the fewest sessions. */
#define GS_DEVICE_AUTO (-1)

typedef enum gs_on_fault {
    GS_ON_FAULT_INTERRUPT = 0, /* unfinished work is lost: GS_ERR_INTERRUPTED */
    GS_ON_FAULT_REPLAY = 1     /* unfinished work is run again from the first unfinished call; this
                                  version has none: GS_ERR_NOT_SUPPORTED */
} gs_on_fault;

typedef struct gs_attach_params {
    size_t size;
    const char *instance; /* NULL: $GSHARE_INSTANCE, else "default" */
    const char *name;     /* shown by `gsctl ps`; NULL: the program's name; 31 bytes count */
    int device;           /* the server's device, or GS_DEVICE_AUTO */
    gs_on_fault on_fault;
    uint64_t mem_limit;  /* device memory it may hold, 2 MiB or more; 0: the server's limit */
    unsigned timeout_ms; /* waiting for the server's answer; 0: 10,000. The server gives up before,
                            by a quarter of it, 2 s at most, to say what it waited for */
    const gs_qos *qos;   /* NULL: the server's default */
    /* SMs that the operator has reserved by this name, for the session to run on; NULL or "": none.
     * They decide the device. */
    const char *reservation;
} gs_attach_params;
#define GS_ATTACH_PARAMS_INIT                                                                      \
    {                                                                                              \
        sizeof(gs_attach_params), NULL, NULL, GS_DEVICE_AUTO, GS_ON_FAULT_INTERRUPT, 0, 0, NULL,   \
            NULL                                                                                   \
    }

/* Opens a session with the server. params may be NULL: all defaults. Blocks for the server's
 * answer, usually well under a millisecond; no CUDA context is made. *session is the caller's,
 * ended by gs_detach; a process may hold several. GS_ERR_NO_SERVER, GS_ERR_VERSION, GS_ERR_REFUSED,
 * GS_ERR_NO_DEVICE, GS_ERR_LIMIT (too many tenants, or not the SMs asked for; the message says what
 * is free), GS_ERR_NO_DEVICE_MEMORY, GS_ERR_NOT_FOUND (reservation), GS_ERR_NOT_SUPPORTED (qos),
 * GS_ERR_PERMISSION (exclusive SMs, against the operator's word), GS_ERR_TIMEOUT (also, after 10
 * seconds or when timeout_ms is nearly over: SMs that nobody had in this combination take a moment
 * without running kernels; the message says whose run on), GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. */
GS_API gs_status gs_attach(const gs_attach_params *params, gs_session *session);

/* Waits for the session's work, frees everything it holds, ends it and all handles made in it. A
 * process that exits or dies without it is cleaned up by the server. The session ends whatever is
 * returned: GS_ERR_SERVER_LOST or a fault's status says that some of its work was lost. */
GS_API gs_status gs_detach(gs_session session);

typedef struct gs_session_desc {
    size_t size;
    uint64_t session_id; /* as `gsctl ps` shows it; unique in the server's life */
    int device;
    int server_pid;
    char instance[32];
    char device_name[64];
    unsigned compute_major, compute_minor;
    unsigned sm_count;
    unsigned max_threads_per_block;
    unsigned max_block_dim[3];
    unsigned max_grid_dim[3];
    unsigned max_dynamic_smem; /* bytes a block, with the kernel's static memory on top of it */
    unsigned max_streams;      /* a session, the default stream counted */
    uint64_t device_memory;    /* bytes of the whole device */
    uint64_t mem_limit;        /* bytes it may hold, when it attached; now: gs_mem_info */
    gs_devptr window_base;     /* the session's range of device addresses */
    uint64_t window_size;
    unsigned sm_granularity; /* a partition has a multiple of so many SMs; 0: no partitions here */
} gs_session_desc;
#define GS_SESSION_DESC_INIT                                                                       \
    {                                                                                              \
        sizeof(gs_session_desc), 0, 0, 0, "", "", 0, 0, 0, 0, {0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0, 0, \
            0, 0                                                                                   \
    }

/* Fills *desc, as far as its size goes. Does not block. */
GS_API gs_status gs_session_info(gs_session session, gs_session_desc *desc);

/* Asks the server for another quality of service; all fields count, and *qos is not kept. Blocks
 * until it holds, 15 seconds at most: the next launch runs under it, and on any other status all is
 * as before. Where several threads ask at once, each waits for the one before it. A priority,
 * class, weight or share of SMs above the operator's limit is granted as that limit: gs_get_qos
 * tells. GS_ERR_LIMIT: exclusive SMs, or those of a mask, are not free (the message says how many
 * are, or which are not); 128 other combinations are in use; or 16 such calls are under way.
 * GS_ERR_INVALID_VALUE, GS_ERR_NOT_SUPPORTED (affinity), GS_ERR_PERMISSION (exclusive SMs, against
 * the operator's word), GS_ERR_NO_DEVICE_MEMORY, GS_ERR_NO_MEMORY, GS_ERR_TIMEOUT: in 10 seconds no
 * moment came without running kernels; the message says whose. */
GS_API gs_status gs_set_qos(gs_session session, const gs_qos *qos);
/* The session's present quality of service, as granted, as far as qos->size goes: affinity
 * GS_EXEC_AFFINITY_NONE when it has the whole device, else GS_EXEC_AFFINITY_SM_MASK. (So what it
 * gives to gs_set_qos keeps those SMs, also when the operator would allow more again.) Does not
 * block. */
GS_API gs_status gs_get_qos(gs_session session, gs_qos *qos);
/* The SMs that the session's kernels may run on: type GS_EXEC_AFFINITY_SM_COUNT with sm_count,
 * percentage (the least that means so many) and sm_mask set, as cuCtxGetExecAffinity tells. Does
 * not block. */
GS_API gs_status gs_get_exec_affinity(gs_session session, gs_exec_affinity *affinity);

typedef enum gs_fault_kind {
    GS_FAULT_NONE = 0,
    GS_FAULT_REJECTED = 1, /* the server refused a record: only a damaged client sends one */
    GS_FAULT_KERNEL = 2,   /* a kernel faulted: illegal address, trap, assert ... */
    GS_FAULT_DEVICE = 3,   /* the device or its worker was lost */
    GS_FAULT_LAUNCH = 4    /* the driver refused a launch or a copy */
} gs_fault_kind;

typedef struct gs_fault {
    size_t size;
    gs_fault_kind kind;
    gs_status status;  /* what calls return because of it */
    unsigned stream;   /* number of the stream */
    uint64_t position; /* of the first unfinished operation in that stream */
    char kernel[64];   /* "" when it was none */
    char message[192];
} gs_fault;
#define GS_FAULT_INIT                                                                              \
    {                                                                                              \
        sizeof(gs_fault), GS_FAULT_NONE, GS_OK, 0, 0, "", ""                                       \
    }

/* The session's first fault; kind GS_FAULT_NONE and GS_OK when there was none. Works on a session
 * that a fault has ended. Does not block. */
GS_API gs_status gs_last_fault(gs_session session, gs_fault *fault);

/* ---- Streams and events ---------------------------------------------------------------------- */

/* Makes a stream. qos may be NULL: the session's, also when that changes. Blocks for the server
 * (some microseconds). GS_ERR_LIMIT: more than max_streams. GS_ERR_NOT_SUPPORTED: see gs_qos. */
GS_API gs_status gs_stream_create(gs_session session, const gs_qos *qos, gs_stream *stream);
/* Waits for the stream's work, then destroys it. The default stream cannot be destroyed. */
GS_API gs_status gs_stream_destroy(gs_stream stream);
/* Blocks until all that the stream was given before the call is complete. Polls a word that the GPU
 * writes, first spinning, then sleeping; makes no call to the server. Returns the session's fault.
 */
GS_API gs_status gs_stream_sync(gs_session session, gs_stream stream);
/* GS_OK when all is complete, GS_NOT_READY when not. Does not block. */
GS_API gs_status gs_stream_query(gs_session session, gs_stream stream);
/* Later work of stream waits, on the device, for what event captured when it was last recorded.
 * An event that was never recorded counts as complete. Does not block. */
GS_API gs_status gs_stream_wait_event(gs_stream stream, gs_event event);
/* Blocks until all streams of the session are complete. */
GS_API gs_status gs_sync(gs_session session);

/* GS_ERR_LIMIT: more than 4,096 events. Does not block. */
GS_API gs_status gs_event_create(gs_session session, gs_event *event);
/* At once, also while work waits for it. Does not block. */
GS_API gs_status gs_event_destroy(gs_event event);
/* Captures what stream has been given so far. Does not block unless the stream's ring is full. */
GS_API gs_status gs_event_record(gs_event event, gs_stream stream);
/* Blocks until what the event captured is complete; at once if it was never recorded. */
GS_API gs_status gs_event_sync(gs_event event);
/* GS_OK when complete or never recorded, else GS_NOT_READY. */
GS_API gs_status gs_event_query(gs_event event);
/* Milliseconds of device time between two completed events; about half a microsecond fine.
 * GS_ERR_INVALID_VALUE: one was never recorded. GS_NOT_READY: one is not complete. Blocks for the
 * server. Source: cuEventElapsedTime. */
GS_API gs_status gs_event_elapsed(gs_event start, gs_event end, float *milliseconds);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Allocates size bytes of zeroed device memory, aligned to 256 bytes. Blocks for the server.
 * Memory comes from the device, and counts against the limit, in pieces of 2 MiB.
 * GS_ERR_INVALID_VALUE: size is 0. GS_ERR_QUOTA, GS_ERR_NO_DEVICE_MEMORY. */
GS_API gs_status gs_malloc(gs_session session, size_t size, gs_devptr *ptr);
/* Waits for the session's work, then frees. ptr must come from gs_malloc or gs_mem_import; 0 does
 * nothing.
 * GS_ERR_INVALID_POINTER: not the start of a live allocation. */
GS_API gs_status gs_free(gs_session session, gs_devptr ptr);
/* Bytes of device memory that this session may hold in all, and may still allocate: under its own
 * limit, under that of its user's sessions together, and with what the device has left. Either may
 * be NULL. Blocks for the server. */
GS_API gs_status gs_mem_info(gs_session session, size_t *free_bytes, size_t *total_bytes);

/* Sharing. A session lets others of the same server and device use an allocation of its own: it
 * exports it, hands the handle over by any means (a message, a file, MPI), and they import it. Both
 * then use the same memory, each at an address of its own. What one's finished work has written,
 * work of the other that starts later sees; kernels that run at the same time must not signal each
 * other through it. */
typedef struct gs_mem_handle {
    unsigned char bytes[32]; /* opaque; cannot be guessed */
} gs_mem_handle;
#define GS_EXPORT_TO_USER 0 /* a receiver: any session of the same user */

/* Makes a handle of the allocation at ptr for `receiver`: a session's session_id, or
 * GS_EXPORT_TO_USER. Nobody else can import it. The same ptr and receiver give the same handle
 * again. Blocks for the server. GS_ERR_INVALID_POINTER: not the start of a live allocation.
 * GS_ERR_INVALID_VALUE: an allocation under 1 MiB, which shares its memory with others.
 * GS_ERR_PERMISSION: ptr is imported. GS_ERR_LIMIT: more than 1,024 exports. */
GS_API gs_status gs_mem_export(gs_session session, gs_devptr ptr, uint64_t receiver,
                               gs_mem_handle *handle);
/* Maps exported memory into this session: *ptr is its address here, *size (may be NULL) that of the
 * allocation. It is used like the session's own, and given up by gs_free. It stays, with all that
 * is in it, when its owner frees it or ends. It counts against this session's limit as an
 * allocation would, and the first import against it with 2 MiB more; on the device it takes nothing
 * twice. Blocks for the server. GS_ERR_NOT_FOUND: no such export: revoked, freed, its owner has
 * ended, or of another server or device. GS_ERR_PERMISSION: it is for somebody else. GS_ERR_QUOTA,
 * GS_ERR_LIMIT (over 1,024 imports), GS_ERR_NO_DEVICE_MEMORY. */
GS_API gs_status gs_mem_import(gs_session session, const gs_mem_handle *handle, gs_devptr *ptr,
                               size_t *size);
/* Takes an allocation back from all that it was exported to. When the call returns its handles are
 * void; who has imported it loses it as soon as the device has finished what that session had
 * launched: then its calls give GS_ERR_INVALID_POINTER, and kernels and graphs that still have the
 * address find zeroed memory there that nobody else sees. Such memory is given up by gs_free.
 * Blocks for the server, not for the importers. GS_ERR_INVALID_POINTER and GS_ERR_INVALID_VALUE as
 * gs_mem_export. GS_ERR_PERMISSION: ptr is imported. */
GS_API gs_status gs_mem_revoke(gs_session session, gs_devptr ptr);

/* Allocates zeroed host memory that the device copies from and to directly. It is shared with the
 * server and freed by gs_host_free or with the session. Blocks (some 50 us a MiB).
 * GS_ERR_LIMIT: more than 1,023 such blocks. GS_ERR_NO_MEMORY. */
GS_API gs_status gs_host_alloc(gs_session session, size_t size, void **ptr);
/* Waits for the session's work, then frees. GS_ERR_INVALID_POINTER: not from gs_host_alloc. */
GS_API gs_status gs_host_free(gs_session session, void *ptr);

/* Copies. Host memory may be any memory; inside a gs_host_alloc block the device reads or writes it
 * directly, other memory passes through a staging area.
 * The plain forms use the default stream and return when the copy is complete. The _async forms
 * return when the copy is queued; then memory from gs_host_alloc must stay untouched until the
 * stream has passed it, while other memory has already been read (htod), or the call has waited
 * (dtoh). size 0 does nothing. GS_ERR_INVALID_POINTER: a device range is not wholly inside one live
 * allocation. */
GS_API gs_status gs_memcpy_htod(gs_session session, gs_devptr dst, const void *src, size_t size);
GS_API gs_status gs_memcpy_dtoh(gs_session session, void *dst, gs_devptr src, size_t size);
GS_API gs_status gs_memcpy_dtod(gs_session session, gs_devptr dst, gs_devptr src, size_t size);
GS_API gs_status gs_memcpy_htod_async(gs_session session, gs_devptr dst, const void *src,
                                      size_t size, gs_stream stream);
GS_API gs_status gs_memcpy_dtoh_async(gs_session session, void *dst, gs_devptr src, size_t size,
                                      gs_stream stream);
GS_API gs_status gs_memcpy_dtod_async(gs_session session, gs_devptr dst, gs_devptr src, size_t size,
                                      gs_stream stream);
/* Sets size bytes to the low 8 bits of value. */
GS_API gs_status gs_memset(gs_session session, gs_devptr dst, int value, size_t size);
GS_API gs_status gs_memset_async(gs_session session, gs_devptr dst, int value, size_t size,
                                 gs_stream stream);

/* ---- Modules and kernels --------------------------------------------------------------------- */

/* Loads PTX text, a cubin or a fatbin of size bytes; size 0 means NUL-terminated PTX text. The
 * image is copied. Blocks: PTX is compiled by the driver (tens of milliseconds), a cubin loads in
 * far less. The driver cannot load beside running kernels: it also waits for a moment without any.
 * GS_ERR_BAD_IMAGE: the message is the driver's or the parser's log. GS_ERR_TIMEOUT: in
 * 10 seconds no such moment came; the message says whose kernels run on.
 *
 * PRINTF. What kernels print comes out at this process's stdout, and failed assertions at its
 * stderr, in gs_sync, gs_stream_sync, gs_event_sync, copies and memsets that wait, gs_module_unload
 * and gs_detach, and in any call after a fault. Formats are CUDA's: 32 arguments, texts of 16 KiB.
 * More than 1 MiB between two such calls is lost; printf returns -1 to the kernel then, and stderr
 * tells how many messages there were. A fatbin is compiled from its PTX if that prints; a cubin
 * alone prints to the server's output. */
GS_API gs_status gs_module_load(gs_session session, const void *image, size_t size,
                                gs_module *module);
/* The same from a file. GS_ERR_NOT_FOUND, GS_ERR_SYSTEM. */
GS_API gs_status gs_module_load_file(gs_session session, const char *path, gs_module *module);
/* Waits for the session's work, then unloads. Its kernels' handles end with it. */
GS_API gs_status gs_module_unload(gs_module module);
/* Looks a kernel up by its (mangled) name, and learns its parameters. Blocks for the server. The
 * handle ends with its module. GS_ERR_NOT_FOUND; GS_ERR_PARAMS: over 4 KiB of parameters. */
GS_API gs_status gs_kernel_get(gs_module module, const char *name, gs_kernel *kernel);

typedef struct gs_kernel_desc {
    size_t size;
    char name[128]; /* cut if longer */
    unsigned param_count;
    unsigned param_bytes;           /* of the parameter buffer */
    unsigned max_threads_per_block; /* for this kernel on this device */
    unsigned registers;             /* a thread */
    unsigned static_smem;           /* bytes a block */
    unsigned local_bytes;           /* bytes a thread */
    unsigned max_dynamic_smem;      /* bytes a block */
} gs_kernel_desc;
#define GS_KERNEL_DESC_INIT                                                                        \
    {                                                                                              \
        sizeof(gs_kernel_desc), "", 0, 0, 0, 0, 0, 0, 0                                            \
    }

/* Fills *desc, as far as its size goes. Does not block. */
GS_API gs_status gs_kernel_info(gs_kernel kernel, gs_kernel_desc *desc);
/* Offset and size in bytes of parameter `index` in the parameter buffer. Either may be NULL.
 * GS_ERR_INVALID_VALUE: index beyond param_count. */
GS_API gs_status gs_kernel_param_info(gs_kernel kernel, unsigned index, size_t *offset,
                                      size_t *size);
/* Address and size of a module's global variable. Either may be NULL. Blocks for the server.
 * GS_ERR_NOT_FOUND. */
GS_API gs_status gs_global_get(gs_module module, const char *name, gs_devptr *ptr, size_t *size);

/* ---- Launching ------------------------------------------------------------------------------- */

/* Names a launch whose report was asked for. */
typedef uint64_t gs_report_id;

typedef struct gs_launch_config {
    size_t size;
    gs_dim3 grid;            /* blocks */
    gs_dim3 block;           /* threads a block */
    unsigned dynamic_smem;   /* bytes a block */
    unsigned arg_count;      /* if not 0: must equal the kernel's parameter count */
    const size_t *arg_sizes; /* if not NULL (with arg_count): must equal the parameters' sizes */
    const gs_qos *qos;       /* this launch's own, see gs_qos; NULL: the stream's */
    gs_report_id *report;    /* not NULL: measure this launch, and name it here */
} gs_launch_config;
#define GS_LAUNCH_CONFIG_INIT                                                                      \
    {                                                                                              \
        sizeof(gs_launch_config), {1, 1, 1}, {1, 1, 1}, 0, 0, NULL, NULL, NULL                     \
    }
#define GS_LAUNCH_CONFIG_1D(blocks, threads)                                                       \
    {                                                                                              \
        sizeof(gs_launch_config), {(unsigned)(blocks), 1, 1}, {(unsigned)(threads), 1, 1}, 0, 0,   \
            NULL, NULL, NULL                                                                       \
    }

/* Queues a kernel. stream NULL: the default stream of the kernel's session. args[i] points to the
 * i-th parameter's value, copied before return; sizes come from the module (gs_kernel_param_info);
 * args may be NULL for a kernel without parameters. Returns in some 100 ns; blocks only while the
 * stream's ring (64 KiB of unfinished work) is full. A launch on SMs for which no partition is kept
 * waits in its stream until there is one; if none can be made, the session ends
 * (GS_FAULT_LAUNCH). GS_ERR_LAUNCH_CONFIG, GS_ERR_PARAMS, GS_ERR_LIMIT (over 64 reports open);
 * for its qos GS_ERR_INVALID_VALUE (beyond the session's grant), GS_ERR_NOT_SUPPORTED,
 * GS_ERR_RECORDING. */
GS_API gs_status gs_launch(gs_stream stream, gs_kernel kernel, const gs_launch_config *config,
                           void **args);

typedef struct gs_report {
    size_t size;
    unsigned sm_count;  /* SMs the launch could use */
    int priority;       /* CUDA priority it ran with */
    uint64_t queued_ns; /* from gs_launch to its hand-over to the device */
    uint64_t run_ns;    /* on the device, by device timestamps */
    unsigned partition; /* which partition; 0: the whole device */
    unsigned late;      /* 1: it ended after its deadline */
} gs_report;
#define GS_REPORT_INIT                                                                             \
    {                                                                                              \
        sizeof(gs_report), 0, 0, 0, 0, 0, 0                                                        \
    }

/* The report of a launch. Each can be fetched once; an unfetched one is dropped when the session
 * has asked for 64 newer ones. Does not block. GS_NOT_READY: still running,
 * or complete only some microseconds ago: the server writes the report after it, so ask again.
 * GS_ERR_INVALID_VALUE: not asked for, fetched before, or dropped. */
GS_API gs_status gs_launch_report(gs_session session, gs_report_id id, gs_report *report);

/* Records: from gs_graph_begin to gs_graph_end, launches, copies from or to gs_host_alloc memory or
 * between device memory, and memsets given to this stream are kept in a graph instead of run. Other
 * calls on the stream give GS_ERR_RECORDING, and so does a launch with a report or a quality of
 * service of its own. Other streams are not affected. */
GS_API gs_status gs_graph_begin(gs_session session, gs_stream stream);
/* Ends recording; the stream is as before. *graph runs its calls one after the other. If the
 * recording failed it is dropped and the status of the first failure returned. Blocks for the
 * server. GS_ERR_LIMIT: over 64 MiB of records, or 1,024 graphs. */
GS_API gs_status gs_graph_end(gs_session session, gs_stream stream, gs_graph *graph);
/* Queues the whole graph as one message. Blocks as gs_launch does. */
GS_API gs_status gs_graph_launch(gs_graph graph, gs_stream stream);
/* Waits for the session's work, then destroys the graph. */
GS_API gs_status gs_graph_destroy(gs_graph graph);

#ifdef __cplusplus
}
#endif
#endif /* GSHARE_H */
