/*
 * gshare.h - many processes share one NVIDIA GPU.
 *
 * A process attaches to a server (`gshared`), gets a session, and launches kernels that run beside
 * other tenants' kernels in the one CUDA context that the server owns.
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
 * GS_OK the call did nothing and wrote no out-parameter, and gs_last_error_message() has one line
 * that names the wrong value and its limit. Each function may return, besides the statuses listed
 * with it, GS_ERR_INVALID_HANDLE (destroyed, of another session, detached), GS_ERR_INVALID_VALUE (a
 * NULL out-parameter, a size of a parameter struct that no version had), GS_ERR_FORKED,
 * GS_ERR_SERVER_LOST and, after a fault, the session's sticky GS_ERR_FAULT, GS_ERR_ILLEGAL_ADDRESS
 * or GS_ERR_INTERRUPTED (gs_last_fault has the details). One that blocks for the server or for the
 * device may also return GS_ERR_NO_MEMORY, GS_ERR_SYSTEM, GS_ERR_DRIVER and GS_ERR_PROTOCOL.
 *
 * HANDLES are values, not pointers to memory: the use of a handle after its object is gone gives an
 * error status, never undefined behaviour. A handle belongs to the session that it was made in.
 *
 * STREAMS. The work of one stream runs in the order in which it was given; the work of two streams
 * may overlap. NULL for a stream is the session's default stream, an ordinary stream that does not
 * synchronise with the others (as CUDA's "per-thread default stream", not its legacy one).
 *
 * THREADS. Any thread may call any function at any time. Calls on one stream from several threads
 * take effect in some order. Destroying an object while another thread uses it gives that thread
 * GS_ERR_INVALID_HANDLE. After fork() a child must attach anew: its parent's handles give
 * GS_ERR_FORKED. No function is async-signal-safe.
 *
 * BLOCKING. "Does not block" means that the call waits neither for the server nor for the device.
 * "Blocks for the server" means that the call waits for the server's answer and not for work on
 * the device; "blocks for the device" means that it waits for such work, too.
 *
 * LIMITS. Counts and sizes that end in GS_ERR_LIMIT, and the times after which a call gives up,
 * belong to this version and not to the interface. gs_session_info tells those that depend on the
 * device; doc/limits.md lists all with their figures.
 *
 * PARAMETER STRUCTS begin with their own size, so that they can grow: the macros of "Initial
 * values" set it. An answer is filled as far as its size reaches.
 *
 * Units: sizes are in bytes, and times in nanoseconds unless the name says otherwise.
 *
 * GROUPS, in this order: statuses, handles; execution affinity, quality of service, attaching,
 * session properties, faults; streams, events; device memory, shared device memory, host memory,
 * copies and memsets; arrays, copies of boxes, textures and surfaces, tensor maps; modules,
 * kernels, launching, products of matrices, graphs; initial values.
 *
 * gshare(7) has what concerns a program as a whole: the environment, kernels that print, allocate
 * and recurse, kinds of launches, memory that is freed later or taken back, fences and faults.
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
    GS_NOT_READY = 1,            /* of a query: the work is unfinished; not an error */
    GS_ERR_INVALID_VALUE = 2,    /* an argument is out of its range */
    GS_ERR_INVALID_HANDLE = 3,   /* destroyed, never made, or of another session */
    GS_ERR_INVALID_POINTER = 4,  /* device memory outside the session's allocations, or freed */
    GS_ERR_NO_MEMORY = 5,        /* host memory, or another resource of the host, ran out */
    GS_ERR_NO_DEVICE_MEMORY = 6, /* the device has less memory free than the call needs */
    GS_ERR_QUOTA = 7,            /* beyond the memory limit of the session or of its user */
    GS_ERR_LIMIT = 8,            /* a count or size is at its maximum: see doc/limits.md */
    GS_ERR_NO_SERVER = 9,        /* no server with that instance name runs */
    GS_ERR_SERVER_LOST = 10,     /* the server ended; the session is gone */
    GS_ERR_VERSION = 11,         /* library and server speak different versions */
    GS_ERR_NO_DEVICE = 12,       /* the server has no such device */
    GS_ERR_REFUSED = 13,         /* the server's policy does not admit this tenant */
    GS_ERR_BAD_IMAGE = 14,       /* not a module, or not for this device; the message has the log */
    GS_ERR_NOT_FOUND = 15,       /* no kernel, variable, file or exported memory of that name */
    GS_ERR_PARAMS = 16,          /* the parameters' count or sizes do not fit the kernel */
    GS_ERR_LAUNCH_CONFIG = 17,   /* grid, block or shared memory beyond the device's limits */
    GS_ERR_NOT_SUPPORTED = 18,   /* not on this device, driver or version of gshare */
    GS_ERR_INTERRUPTED = 19,     /* another tenant's fault, or the operator, ended the session */
    GS_ERR_FAULT = 20,           /* this session's own kernel faulted; the session has ended */
    GS_ERR_FORKED = 21,          /* the handle is of the parent process, before fork() */
    GS_ERR_TIMEOUT = 22,         /* the server or the device did not answer in time */
    GS_ERR_PERMISSION = 23,      /* the caller has no right to do this */
    GS_ERR_RECORDING = 24,       /* the call and the stream's recording exclude each other */
    GS_ERR_SYSTEM = 25,          /* a system call failed; the message names it */
    GS_ERR_DRIVER = 26,          /* a CUDA driver call failed; the message names it */
    GS_ERR_PROTOCOL = 27,        /* the server sent an invalid message */
    GS_ERR_ILLEGAL_ADDRESS = 28  /* GS_FENCE_STRICT: a kernel left the session's memory; the session
                                    has ended */
} gs_status;

/* One line of text for a status; never NULL. The text is static. Does not block. */
GS_API const char *gs_strerror(gs_status status);
/* The name of a status, such as "GS_ERR_QUOTA"; "GS_STATUS_?" for an unknown value. The text is
 * static. Does not block. */
GS_API const char *gs_status_name(gs_status status);
/* The message of this thread's last failed call: one line, or several for a module's log; "" if
 * none failed. The text is valid until this thread's next gshare call. Does not block. */
GS_API const char *gs_last_error_message(void);
/* The library's GS_VERSION. Does not block. GS_ERR_INVALID_VALUE: version is NULL. */
GS_API gs_status gs_version(unsigned *version);

/* ---- Handles --------------------------------------------------------------------------------- */

typedef struct gs_session_handle *gs_session;
typedef struct gs_stream_handle *gs_stream;
typedef struct gs_event_handle *gs_event;
typedef struct gs_module_handle *gs_module;
typedef struct gs_kernel_handle *gs_kernel;
typedef struct gs_graph_handle *gs_graph;
typedef struct gs_array_handle *gs_array;

/* An address in device memory, inside the session's own window. The caller may add to it. */
typedef uint64_t gs_devptr;

typedef struct gs_dim3 {
    unsigned x, y, z;
} gs_dim3;

/* ---- Execution affinity -----------------------------------------------------------------------
 *
 * An affinity keeps kernels on a set of SMs, exactly: no block of them runs elsewhere. SMs are
 * granted in groups of gs_session_desc.sm_granularity:
 *   - sm_count n means n SMs, rounded up to whole groups;
 *   - a percentage p means ceil(p/100 of the device's SMs), rounded up to whole groups;
 *   - a mask is granted as it is, and must consist of whole groups.
 * A session without affinity has the whole device, except the SMs that are reserved or that others
 * have exclusively. A count or percentage is an upper limit: where those exceptions leave fewer
 * SMs, the session gets fewer. Copies and memsets are not affected. A device or driver without
 * partitions gives GS_ERR_NOT_SUPPORTED.
 *
 * A set of SMs that nobody had lately has to be made, which waits for a moment without running
 * kernels. A device holds a limited number of different sets. Sessions with counts and percentages
 * share sets, so that they always get one; a session with a mask or with exclusive SMs gets
 * GS_ERR_LIMIT when there is none left.
 */

typedef enum gs_exec_affinity_type {
    GS_EXEC_AFFINITY_NONE = 0, /* as the operator allows: by default the whole device */
    GS_EXEC_AFFINITY_SM_COUNT = 1,
    GS_EXEC_AFFINITY_SM_MASK = 2,
    GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE = 3
} gs_exec_affinity_type;

#define GS_SM_MASK_WORDS 8 /* room for 512 SMs; SM n is bit n%64 of word n/64 */

/* In a request only `exclusive` and the field that the type names count; in an answer all fields
 * are set. */
typedef struct gs_exec_affinity {
    gs_exec_affinity_type type;
    unsigned sm_count;   /* 1 to the device's count */
    unsigned percentage; /* of the device's SMs, 1 to 100 */
    unsigned exclusive;  /* not 0: no other tenant runs on these SMs, until the operator forbids it;
                            needs a type, unless the operator or the environment limits the SMs */
    uint64_t sm_mask[GS_SM_MASK_WORDS];
} gs_exec_affinity;

/* ---- Quality of service -----------------------------------------------------------------------
 *
 * A session has a quality of service from gs_attach on. gs_set_qos changes it at any time, and a
 * stream or a single launch may ask for less. The operator can limit and change it too (gsctl);
 * gs_get_qos tells the present one. A change counts from the next launch on, also for the session's
 * recorded graphs. It stops, reorders and loses nothing: kernels that run keep their SMs until they
 * end.
 */

typedef enum gs_class {
    GS_CLASS_NORMAL = 0,
    GS_CLASS_LATENCY = 1,    /* goes first; best-effort kernels leave some SMs free for it, and the
                                server polls for its next work for a while if CPUs suffice */
    GS_CLASS_BEST_EFFORT = 2 /* goes last, and has less work queued on the device */
} gs_class;

/* What a session, a stream or one launch asks of the scheduler. A value out of its range gives
 * GS_ERR_INVALID_VALUE and a message that names the range.
 *
 * A stream (gs_stream_create) can have a class and a priority of its own; any other field that is
 * set gives GS_ERR_NOT_SUPPORTED. A launch can have all fields of its own except weight and
 * affinity.exclusive, which are the session's. A stream or launch may have
 *   - the session's class or a lower one (GS_CLASS_NORMAL, the default, never raises it),
 *   - a priority up to the session's highest,
 *   - SMs among those granted to the session.
 * To change one field, start from gs_get_qos. */
typedef struct gs_qos {
    size_t size;
    gs_class cls;         /* counts before priority, deadline and weight */
    int priority;         /* 0: normal; higher runs earlier within its class. A device has two
                             levels: all values above 0 count as 1 */
    unsigned weight;      /* 1 to 1,000: share of GPU time under saturation; 0: the default, which
                             the operator sets (gsctl) and which is 1 otherwise */
    uint64_t deadline_ns; /* from submission, at most an hour; 0: none */
    gs_exec_affinity affinity;
} gs_qos;

/* Asks the server for another quality of service. All fields count; *qos is not kept. Blocks until
 * the change is in force for the next launch, or until the server refuses it or gives up; then
 * everything is as before. Calls of several threads take effect one after the other. A priority,
 * class, weight or share of SMs above the operator's limit is granted as that limit: gs_get_qos
 * tells. GS_ERR_INVALID_VALUE, GS_ERR_NO_DEVICE_MEMORY. GS_ERR_LIMIT: exclusive SMs, or those of a
 * mask, are not free (the message says which), or too many different sets are in use, or too many
 * such calls of the session are under way. GS_ERR_NOT_SUPPORTED: an affinity, on a device or driver
 * without partitions. GS_ERR_PERMISSION: exclusive SMs, which the operator forbids. GS_ERR_TIMEOUT:
 * the SMs are a new set, and no moment without running kernels came (the message says whose kernels
 * run). */
GS_API gs_status gs_set_qos(gs_session session, const gs_qos *qos);
/* The session's present quality of service, as granted. The affinity is GS_EXEC_AFFINITY_NONE if
 * the session has the whole device, else GS_EXEC_AFFINITY_SM_MASK; given to gs_set_qos, that mask
 * keeps the same SMs even if the operator later allows more. Does not block. */
GS_API gs_status gs_get_qos(gs_session session, gs_qos *qos);
/* The SMs that the session's kernels may run on, as cuCtxGetExecAffinity tells them: the type is
 * GS_EXEC_AFFINITY_SM_COUNT, and sm_count, percentage (the lowest that means as many SMs) and
 * sm_mask are set. Does not block. */
GS_API gs_status gs_get_exec_affinity(gs_session session, gs_exec_affinity *affinity);

/* ---- Attaching ------------------------------------------------------------------------------- */

/* The server chooses the device: in a job of MPI or Slurm that of the process's rank on its machine
 * (gshare(7) has the variables), elsewhere the one with the fewest sessions. */
#define GS_DEVICE_AUTO (-1)

/* What becomes of a session that has unfinished work when another tenant's fault ends the worker.
 */
typedef enum gs_on_fault {
    GS_ON_FAULT_INTERRUPT = 0, /* it ends: GS_ERR_INTERRUPTED */
    /* Its work runs again, from the first call of each stream that is not known to be complete: its
     * kernels and copies may run twice, whole or in part, which must not change their results. What
     * kernels print may come twice, or be lost. */
    GS_ON_FAULT_REPLAY = 1
} gs_on_fault;

/* Whether a session's kernels are kept to the session's own memory. Whatever address a fenced
 * kernel uses, it reaches no memory of another session except what its session has imported; an
 * access to any other place reads and writes memory that has no meaning. The modules of a fenced
 * session must come as PTX, alone or in a fatbin; a module that cannot be fenced is refused. */
typedef enum gs_fence {
    GS_FENCE_AUTO = 0, /* as the server's policy says; gs_session_info tells */
    GS_FENCE_ON = 1,   /* the session is fenced */
    /* Fenced, and kernels record their strays: accesses to global memory at an address outside of
     * the session's range (gs_session_desc.window_base). Each load and store takes longer. */
    GS_FENCE_REPORT = 2, /* the session goes on; gs_stray_report tells */
    GS_FENCE_STRICT = 3  /* such a kernel ends the session as a trap does, with GS_FAULT_STRAY and
                            GS_ERR_ILLEGAL_ADDRESS */
} gs_fence;

typedef struct gs_attach_params {
    size_t size;
    /* The server: "NAME" is the caller's own of that name, else root's; "USER:NAME" that user's
     * (a name or a number). NULL: $GSHARE_INSTANCE, else "default". */
    const char *instance;
    const char *name; /* shown by `gsctl ps`, cut if long; NULL: the program's name */
    int device;       /* the server's device, or GS_DEVICE_AUTO */
    gs_on_fault on_fault;
    uint64_t mem_limit;  /* device memory that the session may hold, at least one piece (see
                            gs_malloc); 0: the server's limit */
    unsigned timeout_ms; /* how long gs_attach waits for the server's answer; 0: a default. The
                            server gives up a little earlier, so that its answer tells why */
    const gs_qos *qos;   /* NULL: the server's default */
    /* The operator's reservation whose SMs the session runs on; NULL or "": none. A reservation
     * decides the device. */
    const char *reservation;
    gs_fence fence;
    uint64_t kernel_heap; /* what the session's kernels can malloc from; 0: a default */
} gs_attach_params;

/* Opens a session with the server. params may be NULL: all defaults. Variables of the environment
 * (gshare(7)) stand for what params does not name, and can only lower what params and the operator
 * allow. Blocks for the server; makes no CUDA context. The caller owns *session and ends it with
 * gs_detach; a process may hold several. GS_ERR_INVALID_VALUE: also a variable whose value has no
 * meaning. GS_ERR_NO_SERVER, GS_ERR_VERSION, GS_ERR_REFUSED, GS_ERR_NO_DEVICE,
 * GS_ERR_NO_DEVICE_MEMORY. GS_ERR_LIMIT: too many tenants or sessions, or the SMs asked for are not
 * free (the message says which are). GS_ERR_NOT_FOUND: no such reservation. GS_ERR_NOT_SUPPORTED:
 * as gs_set_qos. GS_ERR_PERMISSION: exclusive SMs, which the operator forbids. GS_ERR_TIMEOUT: no
 * answer in time, or the SMs are a new set and no moment without running kernels came (the message
 * says whose kernels run). */
GS_API gs_status gs_attach(const gs_attach_params *params, gs_session *session);
/* Waits for the session's work, frees everything that the session holds, and ends the session and
 * all handles made in it. The server does the same for a process that exits or dies without
 * gs_detach. Blocks for the device. The session has ended whatever the call returns, with one
 * exception, GS_ERR_INVALID_VALUE: a host function (gs_launch_host) made the call. GS_ERR_TIMEOUT:
 * the server did not confirm the end in time. GS_ERR_SERVER_LOST or a fault's status: some of the
 * session's work was lost. */
GS_API gs_status gs_detach(gs_session session);

/* ---- Session properties ---------------------------------------------------------------------- */

/* Whose kernels can reach a session's memory: besides its own kernels, and those of sessions that
 * import from it, the kernels of sessions on the same device that are not fenced (gs_fence). This
 * says whose sessions these are. */
typedef enum gs_trust {
    GS_TRUST_NOBODY = 1, /* the server fences every session */
    GS_TRUST_OWNER = 2,  /* root's and those of the server's user */
    GS_TRUST_USERS = 3,  /* these, and those of users whom the operator trusts or has trusted */
    GS_TRUST_ALL = 4     /* anybody's: the server fences only sessions that ask for it */
} gs_trust;

typedef struct gs_session_desc {
    size_t size;
    uint64_t session_id; /* as `gsctl ps` shows it; unique during the server's life */
    int device;
    int server_pid;
    char instance[32];
    char device_name[64];
    unsigned compute_major, compute_minor;
    unsigned sm_count;
    unsigned max_threads_per_block;
    unsigned max_block_dim[3];
    unsigned max_grid_dim[3];
    unsigned max_dynamic_smem; /* bytes a block; a kernel's static memory is part of them */
    unsigned max_streams;      /* of a session, with the default stream */
    uint64_t device_memory;    /* bytes of the whole device */
    uint64_t mem_limit;        /* bytes, as granted by gs_attach; gs_mem_info: at present */
    gs_devptr window_base;     /* the session's range of device addresses */
    uint64_t window_size;
    unsigned sm_granularity; /* SMs of a group, in which SMs are granted; 0: no partitions here */
    unsigned fenced;         /* gs_fence: its kernels are kept to its own memory; 0: they are not */
    char device_uuid[48];    /* "GPU-8c5f...", as nvidia-smi prints it; "": not known */
    gs_trust trusts;         /* at present; it may grow, and never falls while the server lives */
    /* 1: the library keeps the window's addresses free of this process's other memory; 0: there was
     * some when it attached */
    unsigned window_reserved;
    unsigned device_count; /* how many devices gs_attach_params.device can name: the server's; 1
                              with a reservation, which is of one */
    unsigned local_rank;   /* what GS_DEVICE_AUTO has read as the process's rank; 0: no job */
} gs_session_desc;

/* Tells the properties of the session and its device. Does not block. */
GS_API gs_status gs_session_info(gs_session session, gs_session_desc *desc);
/* Sets *value to what cuDeviceGetAttribute tells of the whole device. attribute is a number of
 * CUdevice_attribute, for example 38 (the size of the L2 cache). *value is 0 if the server's driver
 * does not know the attribute, or if the device does not have the feature. Does not block.
 * GS_ERR_INVALID_VALUE: no such number, or value is NULL. */
GS_API gs_status gs_device_attribute(gs_session session, unsigned attribute, int *value);

/* ---- Faults -----------------------------------------------------------------------------------
 *
 * A fault ends the session. A trap or a failed assertion of a kernel that comes as PTX ends its own
 * session alone, fenced or not: a wait, a query or a call that prints (see gs_module_load) gives
 * GS_ERR_FAULT once the kernel has ended.
 */

typedef enum gs_fault_kind {
    GS_FAULT_NONE = 0,
    GS_FAULT_REJECTED = 1, /* the server refused a record; only a damaged client sends such one */
    GS_FAULT_KERNEL = 2,   /* a kernel faulted, and the device was lost: an illegal address, in
                              machine code also a trap or an assertion */
    GS_FAULT_DEVICE = 3,   /* the device or its worker was lost */
    GS_FAULT_LAUNCH = 4,   /* the driver refused a launch or a copy */
    GS_FAULT_EVICTED = 5,  /* a kernel ran longer than it may, or the operator ended the session */
    GS_FAULT_TRAP = 6,     /* a kernel trapped; nothing was lost but the session's work */
    GS_FAULT_ASSERT = 7,   /* the same, by a failed assertion */
    GS_FAULT_STRAY = 8     /* the same, by an access outside of the session's memory, which
                              GS_FENCE_STRICT does not allow */
} gs_fault_kind;

typedef struct gs_fault {
    size_t size;
    gs_fault_kind kind;
    gs_status status;  /* the status that calls return because of the fault */
    unsigned stream;   /* the stream's number; 0: the default one, or not known */
    uint64_t position; /* of the first unfinished operation in that stream */
    /* The kernel's name; "" if no kernel faulted, or its module is unloaded. If a trap, an
     * assertion or a stray is in a function that several kernels call, the function's name. */
    char kernel[64];
    /* For a trap, an assertion or a stray it has the line of the module's PTX; for a stray also the
     * address. */
    char message[192];
    /* The kernel's number among the stream's launches, from 1; 0: not known. Of a trap, a failed
     * assertion or a stray only a range is known: the launch is one of launch to launch_last. The
     * range is a single launch if the program waited for each, and not known if several streams, or
     * graphs, may have made the launch. For other kinds launch_last is launch. */
    uint64_t launch;
    gs_devptr address; /* of a stray; 0: not known, as for all that the device reports */
    /* Work of the session that is not known to be complete: it was dropped, or it may have been
     * done in part. lost_launches counts launches of kernels, graphs and products, lost_copies
     * copies and memsets, and lost_bytes the bytes of these. Of very many calls a limited number is
     * counted. */
    uint64_t lost_launches, lost_copies, lost_bytes;
    uint64_t launch_last;
} gs_fault;

/* Tells the session's first fault; its kind is GS_FAULT_NONE if there was none. If another tenant
 * lost the device, message says so, and names the session if it is of the same user. Works on a
 * session that a fault has ended. Does not block. */
GS_API gs_status gs_last_fault(gs_session session, gs_fault *fault);

typedef struct gs_stray {
    size_t size;
    uint64_t count;    /* strays of the session's kernels so far; 0: none, and no further field is
                          set. Each access of a thread counts. */
    gs_devptr address; /* of the first stray, as are all fields below */
    unsigned line;     /* of the module's PTX */
    char kernel[64];   /* this and the fields below: as in gs_fault */
    unsigned stream;
    uint64_t launch, launch_last;
} gs_stray;

/* Tells the strays of a session with GS_FENCE_REPORT: how many there were, and the first one. It
 * may miss strays of kernels that still run. Prefetches, and rows of wmma that a stride leads
 * outside, are not recorded. Blocks for the server. GS_ERR_NOT_SUPPORTED: the session records no
 * strays. */
GS_API gs_status gs_stray_report(gs_session session, gs_stray *stray);

/* ---- Streams --------------------------------------------------------------------------------- */

/* Makes a stream. With qos NULL it has the session's qos, with its later changes. Blocks for the
 * server. GS_ERR_LIMIT: more than gs_session_desc.max_streams. GS_ERR_NOT_SUPPORTED: see gs_qos. */
GS_API gs_status gs_stream_create(gs_session session, const gs_qos *qos, gs_stream *stream);
/* Waits for the stream's work, then destroys the stream. Blocks for the device.
 * GS_ERR_INVALID_VALUE: the default stream. GS_ERR_RECORDING. */
GS_API gs_status gs_stream_destroy(gs_stream stream);
/* Blocks until everything that the stream was given before the call is complete. Polls a word that
 * the GPU writes, without a call to the server; a long wait sleeps. Returns the session's fault if
 * one ended the work. GS_ERR_RECORDING. */
GS_API gs_status gs_stream_sync(gs_session session, gs_stream stream);
/* As gs_stream_sync, but waits for timeout_ns at most; 0 looks once. GS_NOT_READY: the time has
 * passed. */
GS_API gs_status gs_stream_sync_for(gs_session session, gs_stream stream, uint64_t timeout_ns);
/* GS_OK if everything that the stream was given is complete, else GS_NOT_READY. Does not block.
 * GS_ERR_RECORDING. */
GS_API gs_status gs_stream_query(gs_session session, gs_stream stream);
/* Makes the stream's later work wait, on the device, for what the event captured last. An event
 * that was never recorded counts as complete. Blocks as gs_launch does. GS_ERR_RECORDING. */
GS_API gs_status gs_stream_wait_event(gs_stream stream, gs_event event);
/* Blocks until everything that the session's streams were given before the call is complete. */
GS_API gs_status gs_sync(gs_session session);

typedef void (*gs_host_fn)(void *data, gs_status status);
/* Has the library call fn(data, status) when the stream's earlier work is complete; the stream's
 * later work waits until the function has returned. One thread of the library calls all host
 * functions, one after the other, each exactly once. Its status is GS_OK, or the session's if the
 * session ends before. The function must not wait for work, or for another host function, that is
 * not ordered before it. gs_detach waits for the functions; a host function cannot call it. Blocks
 * as gs_launch does.
 * GS_ERR_INVALID_VALUE: fn is NULL. GS_ERR_RECORDING. GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. */
GS_API gs_status gs_launch_host(gs_session session, gs_stream stream, gs_host_fn fn, void *data);

/* ---- Events ---------------------------------------------------------------------------------- */

/* Makes an event. Does not block. GS_ERR_LIMIT: too many events. GS_ERR_NO_MEMORY. */
GS_API gs_status gs_event_create(gs_session session, gs_event *event);
/* Destroys an event at once, also while work waits for it. Does not block. */
GS_API gs_status gs_event_destroy(gs_event event);
/* Captures the work that the stream was given so far, in place of what the event captured before.
 * Blocks as gs_launch does. GS_ERR_RECORDING. */
GS_API gs_status gs_event_record(gs_event event, gs_stream stream);
/* Blocks until the work that the event captured is complete; returns at once if the event was never
 * recorded. */
GS_API gs_status gs_event_sync(gs_event event);
/* As gs_event_sync, but waits for timeout_ns at most; 0 looks once. GS_NOT_READY: the time has
 * passed. */
GS_API gs_status gs_event_sync_for(gs_event event, uint64_t timeout_ns);
/* GS_OK if the captured work is complete or the event was never recorded, else GS_NOT_READY. Does
 * not block. */
GS_API gs_status gs_event_query(gs_event event);
/* Makes a descriptor for poll, epoll and the like. It becomes readable when the work that the event
 * has captured by now is complete, or when the session has ended or is detached; gs_event_query
 * tells which. The caller closes it, at any time. Does not block. GS_ERR_NO_MEMORY, GS_ERR_SYSTEM.
 */
GS_API gs_status gs_event_fd(gs_event event, int *fd);
/* Milliseconds of device time between two completed events, as cuEventElapsedTime measures them.
 * Blocks for the server. GS_ERR_INVALID_VALUE: one of them was never recorded. GS_NOT_READY: one is
 * not complete. GS_ERR_LIMIT: one has no time, because the user's sessions had as much of the
 * server's memory as they may have when it was recorded. */
GS_API gs_status gs_event_elapsed(gs_event start, gs_event end, float *milliseconds);

/* ---- Device memory --------------------------------------------------------------------------- */

/* Allocates size bytes of zeroed device memory, aligned to 256 bytes. The session owns it until
 * gs_free. The device gives memory in pieces, and whole pieces count against the limit. Blocks for
 * the server; in a fenced session also for the session's work, if a new piece is needed.
 * GS_ERR_INVALID_VALUE: size is 0. GS_ERR_QUOTA, GS_ERR_NO_DEVICE_MEMORY. GS_ERR_LIMIT: the server
 * keeps no records of further allocations. */
GS_API gs_status gs_malloc(gs_session session, size_t size, gs_devptr *ptr);
/* Frees memory that gs_malloc or gs_mem_import returned; 0 does nothing. Work that the session was
 * given before may use the memory to its end: if there is such work, the call does not wait for it,
 * and the memory is freed, and stops to count, later (gshare(7)). Blocks for the server; when too
 * much memory would wait, for the device. GS_ERR_INVALID_POINTER: not the start of a live
 * allocation. */
GS_API gs_status gs_free(gs_session session, gs_devptr ptr);
/* Allocates memory for the work of a stream. Memory that gs_free_async has given back is given out
 * again without asking the server (gshare(7)); its contents are what the session last had there. If
 * no such memory is there, the call blocks as gs_malloc does. Statuses as gs_malloc, and
 * GS_ERR_RECORDING: the stream records a graph. gs_free frees such memory too. */
GS_API gs_status gs_malloc_async(gs_session session, size_t size, gs_stream stream, gs_devptr *ptr);
/* Gives memory of gs_malloc_async or gs_malloc back, once the work is done that the stream was
 * given before; 0 does nothing. Work of other streams that uses the memory must be done by then
 * (for example by gs_stream_wait_event). A limited amount of such memory stays with the session
 * (gshare(7)). Does not block for that; more is freed, and blocks, as by gs_free.
 * GS_ERR_INVALID_POINTER, GS_ERR_RECORDING. */
GS_API gs_status gs_free_async(gs_session session, gs_devptr ptr, gs_stream stream);
/* Tells the bytes of device memory that this session may hold in all, and those that it may still
 * allocate: within its own limit, its user's limit and the memory that the device has free. Either
 * pointer may be NULL. Blocks for the server. */
GS_API gs_status gs_mem_info(gs_session session, size_t *free_bytes, size_t *total_bytes);
/* Sets the size in bytes of the heap that the session's kernels malloc from; 0: a default. The heap
 * is made when the first module is loaded whose kernels allocate (gs_module_load), and keeps its
 * size from then on. Blocks for the server. GS_ERR_INVALID_VALUE: the heap has been made. */
GS_API gs_status gs_kernel_heap(gs_session session, uint64_t bytes);
/* Sets the least number of bytes of stack that each thread of the session's kernels has, from the
 * next launch on: for recursion, and for functions called by address (gshare(7)). The stack cannot
 * shrink. Blocks for the server, and for a moment without running kernels. GS_ERR_INVALID_VALUE:
 * more than the driver gives a thread. GS_ERR_LIMIT: more than the user may have.
 * GS_ERR_NO_DEVICE_MEMORY. GS_ERR_TIMEOUT: no such moment came. */
GS_API gs_status gs_kernel_stack(gs_session session, uint64_t bytes);

/* ---- Shared device memory ---------------------------------------------------------------------
 *
 * A session can share an allocation with other sessions of the same server: it exports the
 * allocation, passes the handle on by any means (a message, a file, MPI), and the others import it.
 * All then use the same memory, each at an address of its own. Work that starts later sees what
 * another session's finished work has written; kernels that run at the same time must not signal
 * each other through shared memory. Sessions of other devices can import it too, if their device
 * reaches the memory's (GPUs with NVLink, and some without).
 */

typedef struct gs_mem_handle {
    unsigned char bytes[32]; /* opaque; cannot be guessed */
} gs_mem_handle;
#define GS_EXPORT_TO_USER 0 /* as receiver: any session of the same user */

/* Makes a handle of the allocation at ptr for `receiver`: a session's session_id, or
 * GS_EXPORT_TO_USER. No other session can import it. The same ptr and receiver give the same handle
 * again. Blocks for the server. GS_ERR_INVALID_POINTER: not the start of a live allocation.
 * GS_ERR_INVALID_VALUE: the allocation is so small that it shares a piece of device memory with
 * others. GS_ERR_PERMISSION: ptr is imported. GS_ERR_LIMIT: too many exports. */
GS_API gs_status gs_mem_export(gs_session session, gs_devptr ptr, uint64_t receiver,
                               gs_mem_handle *handle);
/* Maps exported memory into this session: sets *ptr to its address here and *size to the
 * allocation's size; size may be NULL. The session uses the memory as its own and gives it up with
 * gs_free. The memory and its contents stay when the exporter frees it or ends. An import counts
 * against this session's limit as an allocation of that size, further ones of the same memory do
 * not. Blocks for the server, in a fenced session also for the session's work.
 *
 * Memory of another device counts against no limit here, and is taken back, as by gs_mem_revoke,
 * when its exporter frees it or ends. Where both sessions are of one process and this one is not
 * fenced, *ptr is the exporter's address, unless that is taken here.
 *
 * GS_ERR_NOT_FOUND: no such export, because it was revoked or freed, its owner has ended, or it is
 * of another server. GS_ERR_PERMISSION: it is for another receiver. GS_ERR_NOT_SUPPORTED: this
 * session's device does not reach the memory's. GS_ERR_LIMIT: too many imports, of this session or
 * of the memory, or the server has no descriptor for another device's memory. GS_ERR_QUOTA, of this
 * device. GS_ERR_NO_DEVICE_MEMORY.
 */
GS_API gs_status gs_mem_import(gs_session session, const gs_mem_handle *handle, gs_devptr *ptr,
                               size_t *size);
/* Takes an allocation back from all its importers. When the call returns the handles are void. An
 * importer loses the memory once the device has none of its work, for which the server pauses it
 * (gshare(7)). Then its calls give GS_ERR_INVALID_POINTER, and its kernels and graphs find other
 * memory at the address: zeros, and what kernels of the same user that strayed have written.
 * gs_free still gives the address up. Blocks for the server, not for the importers.
 * GS_ERR_INVALID_POINTER, GS_ERR_INVALID_VALUE: as gs_mem_export. GS_ERR_PERMISSION: ptr is
 * imported. */
GS_API gs_status gs_mem_revoke(gs_session session, gs_devptr ptr);

/* ---- Host memory ----------------------------------------------------------------------------- */

/* Allocates zeroed host memory that the device reads and writes directly: by copies, and from
 * kernels at the address that gs_host_device_ptr tells. It is pinned and shared with the server.
 * The session owns it until gs_host_free; a freed block stays pinned, and counts, until another
 * block of the session takes its place. Blocks for the server, the longer the larger the block is;
 * in a fenced session also for the session's work, as gs_malloc does, and, if freed blocks are in
 * the way, for a moment at which the device is idle (GS_ERR_TIMEOUT). GS_ERR_INVALID_VALUE: size is
 * 0. GS_ERR_LIMIT: too many blocks, or too many bytes of them. */
GS_API gs_status gs_host_alloc(gs_session session, size_t size, void **ptr);
/* Sets *device to the address at which kernels reach the memory at ptr, which lies in a block of
 * gs_host_alloc, and by which copies and memsets may name it as device memory. It is ptr itself,
 * unless this process had something of its own among the window's addresses when it attached. Host
 * and running kernels see each other's stores, as CUDA has it for mapped memory. Does not block.
 * GS_ERR_INVALID_POINTER: ptr is in no such block. GS_ERR_NOT_SUPPORTED: kernels do not reach the
 * block, since the session's window or its limit of host memory had no room for whole pieces. */
GS_API gs_status gs_host_device_ptr(gs_session session, const void *ptr, gs_devptr *device);
/* Joins the session to the block of host memory that gs_host_alloc of the other session, of this
 * process, returned at ptr. From now on the session has the block as one of its own, for copies and
 * kernels, and is charged for it too, until gs_host_free of this session. Blocks as gs_host_alloc,
 * also for freed blocks at the addresses or in the windows.
 *
 * Kernels of the session reach the block at the address that it has for kernels on the other
 * session's device. They reach it elsewhere, or it is for copies alone, as gs_host_device_ptr
 * tells, if the session is fenced, if both sessions are of one device, or if those addresses are
 * not free: a session has a limited number of windows of others at a time, and a block that it has
 * joined of a session that has ended keeps its addresses.
 *
 * Each of the two sessions may free the block or end first, and the other's kernels and copies
 * still reach it by the address for kernels. But ptr ends with gs_host_free or the end of the other
 * session, whose next gs_host_alloc may give the same memory out again, zeroed. So the session that
 * has joined the block has to free it first.
 *
 * GS_ERR_INVALID_POINTER: not the start of memory that the other session has made.
 * GS_ERR_NOT_SUPPORTED: kernels of the other session do not reach it. GS_ERR_INVALID_VALUE: the
 * session has it already, or the other frees it meanwhile. GS_ERR_LIMIT, GS_ERR_TIMEOUT: as
 * gs_host_alloc. GS_ERR_NO_MEMORY. */
GS_API gs_status gs_host_join(gs_session session, gs_session other, void *ptr);
/* Waits for the session's work, then frees memory that gs_host_alloc returned, or gives up a block
 * that gs_host_join has joined; NULL does nothing. Blocks for the device. GS_ERR_INVALID_POINTER:
 * not the start of such memory. */
GS_API gs_status gs_host_free(gs_session session, void *ptr);

/* ---- Copies and memsets -----------------------------------------------------------------------
 *
 * Host memory may be any memory. The device reads and writes memory of gs_host_alloc directly;
 * other memory passes through a staging area. The plain forms use the default stream and block
 * until they are complete. The _async forms return when the operation is queued, and block as
 * gs_launch does. Memory of gs_host_alloc must then stay untouched until the stream has passed the
 * copy; other memory has been read when the call returns (htod), and the call blocks until the copy
 * is complete (dtoh). A size of 0 does nothing.
 *
 * Statuses of all: GS_ERR_INVALID_POINTER: a device range does not lie inside one live allocation,
 * or host memory runs over an end of a gs_host_alloc block. GS_ERR_RECORDING: the stream records a
 * graph, and the copy waits or uses other host memory.
 */

GS_API gs_status gs_memcpy_htod(gs_session session, gs_devptr dst, const void *src, size_t size);
GS_API gs_status gs_memcpy_dtoh(gs_session session, void *dst, gs_devptr src, size_t size);
GS_API gs_status gs_memcpy_dtod(gs_session session, gs_devptr dst, gs_devptr src, size_t size);
GS_API gs_status gs_memcpy_htod_async(gs_session session, gs_devptr dst, const void *src,
                                      size_t size, gs_stream stream);
GS_API gs_status gs_memcpy_dtoh_async(gs_session session, void *dst, gs_devptr src, size_t size,
                                      gs_stream stream);
GS_API gs_status gs_memcpy_dtod_async(gs_session session, gs_devptr dst, gs_devptr src, size_t size,
                                      gs_stream stream);
/* Sets each of size bytes to the low 8 bits of value. */
GS_API gs_status gs_memset(gs_session session, gs_devptr dst, int value, size_t size);
GS_API gs_status gs_memset_async(gs_session session, gs_devptr dst, int value, size_t size,
                                 gs_stream stream);
/* Sets each of count elements of 16 or 32 bits to value. GS_ERR_INVALID_VALUE: dst is no multiple
 * of their size. */
GS_API gs_status gs_memset_d16(gs_session session, gs_devptr dst, uint16_t value, size_t count);
GS_API gs_status gs_memset_d16_async(gs_session session, gs_devptr dst, uint16_t value,
                                     size_t count, gs_stream stream);
GS_API gs_status gs_memset_d32(gs_session session, gs_devptr dst, uint32_t value, size_t count);
GS_API gs_status gs_memset_d32_async(gs_session session, gs_devptr dst, uint32_t value,
                                     size_t count, gs_stream stream);

/* ---- Arrays -----------------------------------------------------------------------------------
 *
 * An array is device memory of texels in a layout that only the device knows: kernels read it
 * through textures, which filter and bound their coordinates, and read and write it through
 * surfaces. A mipmapped array has levels, each half as large as the one before, rounded down but at
 * least one texel, in each direction but that of layers. Names and constants mean what they mean in
 * CUDA's driver API. There are no sparse and external arrays, and no block-compressed and planar
 * formats.
 *
 * Arrays count against the session's memory limit. The limits of extents are those of the device's
 * compute capability (CUDA's programming guide). A session with arrays or textures cannot be taken
 * up when its worker is lost: it gets GS_ERR_INTERRUPTED.
 */

/* What one channel of a texel is. */
typedef enum gs_format {
    GS_FORMAT_UINT8 = 0x01,
    GS_FORMAT_UINT16 = 0x02,
    GS_FORMAT_UINT32 = 0x03,
    GS_FORMAT_INT8 = 0x08,
    GS_FORMAT_INT16 = 0x09,
    GS_FORMAT_INT32 = 0x0a,
    GS_FORMAT_FLOAT16 = 0x10,
    GS_FORMAT_FLOAT32 = 0x20
} gs_format;

/* Flags of an array. */
#define GS_ARRAY_LAYERED 0x1u /* depth counts layers: each is an image of its own */
#define GS_ARRAY_SURFACE 0x2u /* surfaces will show it */
#define GS_ARRAY_CUBEMAP 0x4u /* six faces, or with GS_ARRAY_LAYERED six for each layer: depth */
#define GS_ARRAY_GATHER  0x8u /* two dimensions, for textures that gather (tld4) */

typedef struct gs_array_desc {
    size_t size;
    size_t width;  /* texels */
    size_t height; /* 0: one dimension */
    size_t depth;  /* 0: one or two dimensions; with GS_ARRAY_LAYERED the layers */
    gs_format format;
    unsigned channels; /* 1, 2 or 4 */
    unsigned flags;    /* GS_ARRAY_ */
    size_t levels;     /* of a mipmapped array: down to the level of one texel at most; 0: none */
} gs_array_desc;

/* Makes an array of zeros. Blocks for the server. GS_ERR_INVALID_VALUE: there is no such array, or
 * it is beyond the device's limits. GS_ERR_LIMIT: too many arrays. GS_ERR_NOT_SUPPORTED: the driver
 * has no such array. GS_ERR_QUOTA, GS_ERR_NO_DEVICE_MEMORY. */
GS_API gs_status gs_array_create(gs_session session, const gs_array_desc *desc, gs_array *array);
/* Gives a level of a mipmapped array as an array of its own, for copies, surfaces and textures. (Of
 * a whole mipmapped array there are textures only.) Each call gives another handle, which counts as
 * an array and must be destroyed like one. The mipmapped array's memory is freed when the array and
 * all such levels are destroyed. Blocks for the server. GS_ERR_INVALID_VALUE: the array has no such
 * level. GS_ERR_LIMIT: too many arrays. */
GS_API gs_status gs_array_level(gs_array array, unsigned level, gs_array *of_level);
/* Destroys the array. Blocks for the server. Work that the session was given before may use the
 * array to its end: if there is such work the call does not wait for it, and the array is freed
 * later, as memory is (gs_free). Textures and surfaces of the array keep working; the array's
 * memory is freed, and stops counting, with the last of them. */
GS_API gs_status gs_array_destroy(gs_array array);
/* Tells how the array was made. Does not block. */
GS_API gs_status gs_array_info(gs_array array, gs_array_desc *desc);

/* ---- Copies of boxes ------------------------------------------------------------------------- */

/* One side of gs_memcpy_3d. Of array, device and host the first one that is not 0 counts. */
typedef struct gs_memcpy_side {
    gs_array array;
    gs_devptr device;
    void *host; /* of the source: only read */
    /* Where the box begins: x bytes into row y of slice or layer z. */
    size_t x;
    size_t y, z;
    /* Of device and host memory: bytes from row to row, and rows from slice to slice; 0: as many as
     * the box has. For an array they have no meaning. */
    size_t pitch;
    size_t rows;
} gs_memcpy_side;

typedef struct gs_memcpy_3d_params {
    size_t size;
    gs_memcpy_side dst, src;
    size_t width;         /* bytes */
    size_t height, depth; /* rows of a slice, slices */
} gs_memcpy_3d_params;

/* Copies a box between arrays, device memory and host memory, but not from host to host. What
 * blocks, what must stay untouched, and the statuses are as for gs_memcpy_htod and its like. A box
 * that is 0 in a direction does nothing. GS_ERR_INVALID_VALUE: the box goes beyond an array or has
 * parts of its texels, or a pitch is shorter than a row or longer than 2^31 - 1. GS_ERR_RECORDING:
 * graphs record no such copy. GS_ERR_NOT_SUPPORTED: the driver has no such copy. */
GS_API gs_status gs_memcpy_3d(gs_session session, const gs_memcpy_3d_params *params);
GS_API gs_status gs_memcpy_3d_async(gs_session session, const gs_memcpy_3d_params *params,
                                    gs_stream stream);

/* ---- Textures and surfaces --------------------------------------------------------------------
 *
 * In a fenced session a kernel reaches the session's own textures and surfaces only, each by
 * instructions of the geometry that it was made with; by others it reads zeros. A place outside of
 * a surface is not written and reads as zero there, also where an instruction says .trap.
 */

/* What kernels take as a parameter of 64 bits: a cudaTextureObject_t, a cudaSurfaceObject_t. It is
 * never 0. A kernel that uses one which is destroyed or was never made has an undefined result. In
 * a fenced session it finds zeros, or another object of the session; in a session that is not
 * fenced it may end the work of all tenants, as a bad address may. */
typedef uint64_t gs_texture;
typedef uint64_t gs_surface;

typedef enum gs_resource_type {
    GS_RESOURCE_ARRAY = 0,
    GS_RESOURCE_MIPMAPPED = 1, /* a mipmapped array */
    GS_RESOURCE_LINEAR = 2,    /* device memory, one dimension, texels by number */
    GS_RESOURCE_PITCHED = 3    /* device memory in rows, two dimensions */
} gs_resource_type;

typedef struct gs_texture_resource {
    size_t size;
    gs_resource_type type;
    gs_array array;
    gs_devptr address; /* of linear and pitched memory: a multiple of 512, in one live allocation */
    gs_format format;  /* of linear and pitched memory */
    unsigned channels;
    size_t width; /* linear: bytes; pitched: texels */
    size_t height;
    size_t pitch; /* bytes, a multiple of 32 */
} gs_texture_resource;

/* What a texture gives beyond its edge. Wrap and mirror need normalized coordinates. */
typedef enum gs_address_mode {
    GS_ADDRESS_WRAP = 0,
    GS_ADDRESS_CLAMP = 1,
    GS_ADDRESS_MIRROR = 2,
    GS_ADDRESS_BORDER = 3
} gs_address_mode;

typedef enum gs_filter_mode { GS_FILTER_POINT = 0, GS_FILTER_LINEAR = 1 } gs_filter_mode;

/* Flags of a texture. */
#define GS_TEXTURE_READ_AS_INTEGER           0x01u /* not as fractions of the largest value */
#define GS_TEXTURE_NORMALIZED_COORDINATES    0x02u /* 1 is the whole extent */
#define GS_TEXTURE_SRGB                      0x10u /* of GS_FORMAT_UINT8: decoded when read */
#define GS_TEXTURE_NO_TRILINEAR_OPTIMIZATION 0x20u
#define GS_TEXTURE_SEAMLESS_CUBEMAP          0x40u

typedef struct gs_texture_desc {
    size_t size;
    gs_address_mode address_mode[3];
    gs_filter_mode filter_mode;
    unsigned flags;          /* GS_TEXTURE_ */
    unsigned max_anisotropy; /* 0 to 16 */
    float border[4];
    /* For a mipmapped array, which needs normalized coordinates. The bias is added to the level
     * that an instruction names, by gradients or by number, and the sum is kept within min and max.
     * An instruction that names none has level 0. */
    gs_filter_mode mipmap_filter; /* between two levels */
    float mipmap_bias, mipmap_min, mipmap_max;
} gs_texture_desc;

/* Makes a texture. With desc NULL it is clamped and unfiltered, and its coordinates count texels.
 * If memory is freed while a texture shows it, the texture reads freed memory. Blocks for the
 * server. GS_ERR_INVALID_VALUE: also if type and array do not agree on whether it is mipmapped.
 * GS_ERR_INVALID_POINTER: the memory does not lie in one live allocation. GS_ERR_LIMIT: too many
 * textures and surfaces. GS_ERR_NOT_SUPPORTED: the driver has no such texture. */
GS_API gs_status gs_texture_create(gs_session session, const gs_texture_resource *resource,
                                   const gs_texture_desc *desc, gs_texture *texture);
/* Destroys the texture, as gs_array_destroy does an array. GS_ERR_INVALID_HANDLE: no texture of
 * this session. */
GS_API gs_status gs_texture_destroy(gs_session session, gs_texture texture);
/* The same for surfaces. A surface shows an array with GS_ARRAY_SURFACE, or a level of one. */
GS_API gs_status gs_surface_create(gs_session session, gs_array array, gs_surface *surface);
GS_API gs_status gs_surface_destroy(gs_session session, gs_surface surface);

/* ---- Tensor maps ----------------------------------------------------------------------------- */

/* What a kernel takes for bulk copies of tensors (cp.async.bulk.tensor): CUDA's CUtensorMap, an
 * argument by value (__grid_constant__) or in memory, aligned to 64 bytes. It names memory and
 * keeps none: what is freed must not be copied by it. */
typedef struct gs_tensor_map {
    uint64_t opaque[16];
} gs_tensor_map;

/* The tensor, and the box of it that one copy takes. All numbers are those of the driver's
 * cuTensorMapEncodeTiled, whose documentation says which go together. */
typedef struct gs_tensor_map_desc {
    size_t size;
    gs_devptr address;
    unsigned rank;         /* 1 to 5; of the arrays, that many count, innermost first */
    unsigned type;         /* CUtensorMapDataType */
    uint64_t dim[5];       /* elements */
    uint64_t stride[4];    /* bytes, of dimension 1 and those behind it */
    unsigned box[5];       /* elements */
    unsigned step[5];      /* the box has each step-th element; 1: all */
    unsigned interleave;   /* CUtensorMapInterleave */
    unsigned swizzle;      /* CUtensorMapSwizzle */
    unsigned l2_promotion; /* CUtensorMapL2promotion */
    unsigned fill;         /* CUtensorMapFloatOOBfill */
} gs_tensor_map_desc;

/* Encodes a tensor map. Blocks for the server. In a fenced session a kernel takes maps by value
 * (__grid_constant__) alone, and only those that its own session has encoded lately or that its
 * launches have used lately: another map is as zeros, whose use is a fault.
 * GS_ERR_INVALID_VALUE: against what the driver asks of the values; or the session is fenced, and
 * the tensor does not lie in its memory. GS_ERR_NOT_SUPPORTED: the device has no such copies; or
 * the session is fenced, and the elements are packed or interleaved. GS_ERR_LIMIT: the server keeps
 * no more host memory for the session. */
GS_API gs_status gs_tensor_map_encode(gs_session session, const gs_tensor_map_desc *desc,
                                      gs_tensor_map *map);

/* ---- Modules --------------------------------------------------------------------------------- */

/* Loads PTX text, a cubin or a fatbin of size bytes; size 0 means NUL-terminated PTX text. The
 * library copies the image. Blocks for the server while the driver compiles (PTX takes far longer
 * than a cubin), and for a moment without running kernels, beside which the driver cannot load.
 *
 * The first module whose kernels call malloc takes the session's heap from its memory
 * (gs_kernel_heap). gshare(7) has the heap, and which calls write what kernels print to this
 * process's stdout.
 *
 * GS_ERR_BAD_IMAGE: the message is the driver's or the parser's log. GS_ERR_TIMEOUT: no such moment
 * came (the message says whose kernels run). GS_ERR_LIMIT: too many modules, no room for the image,
 * or too much PTX. GS_ERR_QUOTA, GS_ERR_NO_DEVICE_MEMORY: for the module's variables, or for the
 * heap. In a fenced session, GS_ERR_PERMISSION: the module cannot be fenced (the message has line
 * and reason), or is machine code without PTX; GS_ERR_NOT_SUPPORTED: for a variable's alignment. */
GS_API gs_status gs_module_load(gs_session session, const void *image, size_t size,
                                gs_module *module);
/* Links `count` images into one module and loads it: what one image declares `.extern` and another
 * defines is one symbol, as between files that nvcc compiles with -rdc=true. Each image is PTX text
 * or a fatbin with PTX, with a size as for gs_module_load; with sizes NULL all are NUL-terminated
 * texts. Blocks as gs_module_load. Statuses as gs_module_load, and GS_ERR_INVALID_VALUE: count is
 * 0, or too large. GS_ERR_BAD_IMAGE: the images do not fit together (the message names the symbol),
 * or one has no PTX. */
GS_API gs_status gs_module_link(gs_session session, const void *const *images, const size_t *sizes,
                                unsigned count, gs_module *module);
/* Loads a whole file as gs_module_load does an image. GS_ERR_NOT_FOUND: no such file. */
GS_API gs_status gs_module_load_file(gs_session session, const char *path, gs_module *module);
/* Unloads the module. The handles of its kernels end at once. Blocks for the server. Work that the
 * session was given before may use the module to its end. If there is such work, the call does not
 * wait for it, and the module is unloaded later, as whole pieces of memory are freed (gs_free);
 * until then its variables count as memory, and module and kernels count as such. What its kernels
 * still print, and their faults, are told by later calls. Do not launch a graph any more that has a
 * kernel of the module. */
GS_API gs_status gs_module_unload(gs_module module);
/* Tells address and size of a module's global variable, which lives as long as the module. Either
 * pointer may be NULL. Blocks for the server. GS_ERR_NOT_FOUND. */
GS_API gs_status gs_global_get(gs_module module, const char *name, gs_devptr *ptr, size_t *size);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Looks a kernel up by its (mangled) name. The handle ends with its module. Blocks for the server;
 * a second call for the same name does not. GS_ERR_NOT_FOUND: the message names kernels that the
 * module has, first those whose name is this one mangled by a C++ compiler. GS_ERR_PARAMS: the
 * kernel's parameters are too many or too large. GS_ERR_LIMIT: too many kernels. GS_ERR_BAD_IMAGE
 * or, in a fenced session, GS_ERR_PERMISSION: the module was loaded without this kernel (the
 * message has the reason). */
GS_API gs_status gs_kernel_get(gs_module module, const char *name, gs_kernel *kernel);
/* Tell the number of a module's kernels, and the (mangled) name of each by its index, from 0. A
 * name is cut to `size` bytes with the NUL; 8,192 hold any name. The order never changes. Block for
 * the server. GS_ERR_NOT_FOUND: no kernel has that index. */
GS_API gs_status gs_module_kernel_count(gs_module module, unsigned *count);
GS_API gs_status gs_module_kernel_name(gs_module module, unsigned index, char *name, size_t size);

typedef struct gs_kernel_desc {
    size_t size;
    char name[128]; /* cut if long */
    unsigned param_count;
    unsigned param_bytes;           /* of the parameter buffer */
    unsigned max_threads_per_block; /* for this kernel on this device */
    unsigned registers;             /* a thread */
    unsigned static_smem;           /* bytes a block */
    unsigned local_bytes;           /* bytes a thread */
    unsigned max_dynamic_smem;      /* bytes a block */
    gs_dim3 cluster; /* blocks of its clusters; zeros: it has none, or those that a launch names */
    unsigned in_clusters; /* not 0: it runs in clusters alone; where `cluster` is zeros, a launch
                             has to name their size */
} gs_kernel_desc;

/* Tells the properties of the kernel. Does not block. */
GS_API gs_status gs_kernel_info(gs_kernel kernel, gs_kernel_desc *desc);
/* Tells offset and size in bytes of parameter `index` in the parameter buffer. Either pointer may
 * be NULL. Does not block. GS_ERR_INVALID_VALUE: index is not below param_count. */
GS_API gs_status gs_kernel_param_info(gs_kernel kernel, unsigned index, size_t *offset,
                                      size_t *size);
/* Tells how many blocks of so many threads and so much dynamic shared memory an SM runs at once.
 * Blocks for the server, unless the kernel's last question was the same. GS_ERR_LAUNCH_CONFIG: the
 * kernel cannot have such a block. */
GS_API gs_status gs_kernel_occupancy(gs_kernel kernel, unsigned threads, unsigned dynamic_smem,
                                     unsigned *blocks);
/* Tells how many clusters of such blocks the whole device runs at once: it knows which SMs may be
 * of one cluster. A session that has a part of the SMs runs fewer. Blocks for the server.
 * GS_ERR_LAUNCH_CONFIG: the kernel cannot have such a block or such a cluster. */
GS_API gs_status gs_kernel_clusters(gs_kernel kernel, unsigned threads, unsigned dynamic_smem,
                                    gs_dim3 cluster, unsigned *clusters);

/* ---- Launching ------------------------------------------------------------------------------- */

/* In a cluster at most. Each device of clusters takes 8; gs_kernel_clusters tells whether it takes
 * more. */
#define GS_CLUSTER_BLOCKS 16u

/* Names a launch that was asked to report. */
typedef uint64_t gs_report_id;

typedef struct gs_launch_config {
    size_t size;
    gs_dim3 grid;            /* blocks */
    gs_dim3 block;           /* threads a block */
    unsigned dynamic_smem;   /* bytes a block */
    unsigned arg_count;      /* 0: not checked; else it must equal the kernel's parameter count */
    const size_t *arg_sizes; /* NULL: not checked; else, with arg_count, the parameters' sizes */
    const gs_qos *qos;       /* of this launch, see gs_qos; NULL: the stream's */
    gs_report_id *report;    /* not NULL: the launch is measured, and *report names it */
    unsigned cooperative;  /* not 0: all blocks run at once, so that they may wait for each other */
    unsigned programmatic; /* not 0: a programmatic dependent launch */
    gs_dim3 cluster;       /* blocks of a cluster; zeros: what the kernel says */
} gs_launch_config;

/* Queues a kernel. stream NULL: the default stream of the kernel's session. args[i] points to the
 * value of parameter i, which is copied before the call returns; the sizes come from the module
 * (gs_kernel_param_info). args may be NULL for a kernel without parameters. Makes no system call
 * while the server polls the session; blocks only while the stream's ring is full of unfinished
 * work. A launch on a set of SMs that has yet to be made waits in its stream; if the set cannot be
 * made, the session ends with GS_FAULT_LAUNCH.
 *
 * GS_ERR_PARAMS. GS_ERR_LIMIT: too many reports are open. For a qos of its own:
 * GS_ERR_INVALID_VALUE (beyond the session's grant), GS_ERR_NOT_SUPPORTED (an affinity, for a
 * cooperative launch). GS_ERR_RECORDING: the stream records a graph, and the launch is cooperative,
 * or has a report or a qos of its own. GS_ERR_LAUNCH_CONFIG: also
 *   - a launch that is not cooperative of a kernel that synchronises its grid (grid.sync),
 *   - a cooperative launch of more blocks than the session's SMs hold at once, which is
 *     gs_kernel_occupancy times the affinity's sm_count of gs_get_qos,
 *   - clusters of more than GS_CLUSTER_BLOCKS, or that do not divide the grid in each direction, or
 *     of another size than the kernel's own, or none for a kernel that runs in clusters alone.
 *
 * A cooperative launch asks gs_kernel_occupancy, and blocks as that does. If the session's SMs have
 * no room for a cluster, which the device tells at the launch, the session ends with
 * GS_FAULT_LAUNCH. gshare(7) has cooperative launches, programmatic dependent launches and
 * clusters. */
GS_API gs_status gs_launch(gs_stream stream, gs_kernel kernel, const gs_launch_config *config,
                           void **args);

typedef struct gs_report {
    size_t size;
    unsigned sm_count;  /* SMs that the launch could use */
    int priority;       /* the CUDA priority that the launch ran with */
    uint64_t queued_ns; /* from gs_launch to its hand-over to the device */
    uint64_t run_ns;    /* on the device, by device timestamps */
    unsigned partition; /* number of the partition; 0: the whole device */
    unsigned late;      /* 1: the launch ended after its deadline */
} gs_report;

/* Fetches the report of a launch. Each report can be fetched once. A limited number of reports is
 * kept: newer ones drop one that was not fetched. Does not block. GS_NOT_READY: the launch is
 * unfinished, or finished so recently that the server has not written the report yet.
 * GS_ERR_INVALID_VALUE: the report was not asked for, was fetched before, or was dropped. */
GS_API gs_status gs_launch_report(gs_session session, gs_report_id id, gs_report *report);
/* As gs_launch_report, but waits for timeout_ns at most. GS_NOT_READY: the time has passed. Returns
 * the session's fault if one ended the launch. */
GS_API gs_status gs_launch_report_for(gs_session session, gs_report_id id, gs_report *report,
                                      uint64_t timeout_ns);

/* ---- Products of matrices --------------------------------------------------------------------
 *
 * NVIDIA's cuBLAS computes them in the server, on a machine that has it (gshared --cublas). A
 * product is the stream's work as a launch is: scheduled, limited, counted and kept to the
 * session's memory like it, also in a fenced session.
 */

typedef enum gs_gemm_type {
    GS_GEMM_F16 = 1,
    GS_GEMM_BF16 = 2,
    GS_GEMM_F32 = 3,
    GS_GEMM_F64 = 4,
    GS_GEMM_S8 = 5, /* of A and B, with C of s32 */
    GS_GEMM_S32 = 6
} gs_gemm_type;

/* The type of sums and scalars: f16 and bf16 have GS_GEMM_COMPUTE_F32, s8 has GS_GEMM_COMPUTE_S32.
 */
typedef enum gs_gemm_compute {
    GS_GEMM_COMPUTE_F32 = 1,
    GS_GEMM_COMPUTE_TF32 = 2, /* of f32, whose inputs are rounded to 10 bits behind the point */
    GS_GEMM_COMPUTE_F64 = 3,
    GS_GEMM_COMPUTE_S32 = 4
} gs_gemm_compute;

/* A matrix that lies in columns. */
typedef struct gs_gemm_matrix {
    gs_devptr at;    /* a multiple of its elements' size, in one live allocation with all of it */
    uint64_t ld;     /* elements from column to column */
    uint64_t stride; /* elements from one matrix of the batch to the next */
} gs_gemm_matrix;

/* C = alpha op(A) op(B) + beta C, where op(A) is m by k and op(B) is k by n; `batch` times. */
typedef struct gs_gemm_params {
    size_t size;
    gs_gemm_type inputs; /* of A and B */
    gs_gemm_type output; /* of C: the inputs', f32, or s32 */
    gs_gemm_compute compute;
    unsigned transpose_a, transpose_b; /* not 0: op transposes */
    unsigned m, n, k;                  /* 1 to 2^31 - 1, and so is batch */
    unsigned batch;
    gs_gemm_matrix a, b, c;
    double alpha, beta;          /* rounded to the compute type; for s32 whole numbers */
    gs_devptr alpha_at, beta_at; /* not 0, both: alpha and beta are read there, when it runs */
} gs_gemm_params;

/* Gives a product to the stream. A kind of product is given by types, sizes and alignment, and by
 * whether alpha is 0 and beta is 0. The first product of a kind blocks for the server, and for a
 * moment without running kernels; later ones block as gs_launch does. If that makes products
 * faster, the server allocates a workspace for the stream, which counts against the session's limit
 * until the stream is destroyed; at the limit it computes without one.
 *
 * GS_ERR_INVALID_VALUE: types that do not go together, a wrong size or leading dimension.
 * GS_ERR_INVALID_POINTER: a matrix is not in one live allocation. GS_ERR_NOT_SUPPORTED: the server
 * has no cuBLAS, or cuBLAS has no such product. GS_ERR_TIMEOUT: no such moment came, or lately none
 * did. GS_ERR_RECORDING: graphs record no products. GS_ERR_NO_MEMORY, GS_ERR_NO_DEVICE_MEMORY: the
 * server has no memory left. */
GS_API gs_status gs_gemm(gs_session session, const gs_gemm_params *params, gs_stream stream);
/* Does what the first such product would block for, and computes nothing. Statuses as gs_gemm. */
GS_API gs_status gs_gemm_prepare(gs_session session, const gs_gemm_params *params);

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* Begins to record a graph: until gs_graph_end the stream keeps launches, copies from and to
 * gs_host_alloc memory or within device memory, and memsets in a graph instead of running them.
 * Other calls on the stream give GS_ERR_RECORDING, and so does a launch with a report or a qos of
 * its own. Other streams are not affected. Does not block. GS_ERR_RECORDING: the stream records
 * already. GS_ERR_NO_MEMORY. */
GS_API gs_status gs_graph_begin(gs_session session, gs_stream stream);
/* Tells how many steps are recorded so far. A call is one step, or several if it is done in several
 * parts. Does not block. GS_ERR_RECORDING: the stream records nothing. */
GS_API gs_status gs_graph_steps(gs_session session, gs_stream stream, unsigned *steps);
/* Has the next recorded call wait for these steps, numbered from 0, and for no others. So a graph
 * can have branches, which the device may run at the same time. No step may be named twice. A graph
 * can have a limited number of such dependencies. A long graph consists of parts, each of which
 * waits for all of the part before. Does not block. GS_ERR_INVALID_VALUE: a step that is not
 * recorded yet. GS_ERR_RECORDING, GS_ERR_NO_MEMORY. */
GS_API gs_status gs_graph_after(gs_session session, gs_stream stream, const unsigned *steps,
                                unsigned count);
/* Ends the recording; the stream then works as before. *graph runs its calls one after the other,
 * except for calls of which gs_graph_after says what they wait for. If a recorded call failed, the
 * recording is dropped, and the status of the first failure is returned. Blocks for the server.
 * GS_ERR_INVALID_VALUE: a gs_graph_after named a step twice, or there are too many dependencies.
 * GS_ERR_LIMIT: the graph is too large, or there are too many. GS_ERR_RECORDING: the stream records
 * nothing. */
GS_API gs_status gs_graph_end(gs_session session, gs_stream stream, gs_graph *graph);
/* Ends the recording as gs_graph_end does, but makes no graph. Its calls replace `count` steps of
 * `graph`: the first call replaces step steps[0], and so on; no step may be named twice. With steps
 * NULL they replace the first steps. Later launches of the graph make the new calls, in the order
 * that the graph has; launches before are not affected. Does not block. On failure the graph stays
 * as it is.
 *
 * A call can replace a call of its kind only: a copy one from and to the same kinds of memory, a
 * launch one of the same kernel, or of a kernel whose parameters take as much room (doc/limits.md).
 * GS_ERR_NOT_SUPPORTED: a call of another kind or size. GS_ERR_LIMIT: the differences since
 * gs_graph_end are too many for a launch. GS_ERR_INVALID_VALUE, GS_ERR_INVALID_HANDLE,
 * GS_ERR_RECORDING, GS_ERR_NO_MEMORY. */
GS_API gs_status gs_graph_change(gs_session session, gs_stream stream, gs_graph graph,
                                 const unsigned *steps, unsigned count);
/* Has later launches of the graph leave these steps out (enabled 0), or make them again. A step
 * that depends on one that is left out depends on what that one depends on. steps, count and
 * statuses are as for gs_graph_change. Does not block. */
GS_API gs_status gs_graph_enable(gs_graph graph, const unsigned *steps, unsigned count,
                                 unsigned enabled);
/* Queues the whole graph. Blocks as gs_launch does. GS_ERR_RECORDING. */
GS_API gs_status gs_graph_launch(gs_graph graph, gs_stream stream);
/* Destroys the graph, as gs_array_destroy does an array: its launches run to their end. */
GS_API gs_status gs_graph_destroy(gs_graph graph);

/* ---- Initial values --------------------------------------------------------------------------
 *
 * Each parameter struct with its size and its defaults, and for answers the size alone:
 *     gs_qos qos = GS_QOS_INIT;
 */

/* clang-format off */
#define GS_QOS_INIT {sizeof(gs_qos), GS_CLASS_NORMAL, 0, 0, 0,                                     \
    {GS_EXEC_AFFINITY_NONE, 0, 0, 0, {0}}}
#define GS_ATTACH_PARAMS_INIT {sizeof(gs_attach_params), NULL, NULL, GS_DEVICE_AUTO,               \
    GS_ON_FAULT_INTERRUPT, 0, 0, NULL, NULL, GS_FENCE_AUTO, 0}
#define GS_SESSION_DESC_INIT {sizeof(gs_session_desc), 0, 0, 0, "", "", 0, 0, 0, 0, {0, 0, 0},     \
    {0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, "", GS_TRUST_ALL, 0, 0, 0}
#define GS_FAULT_INIT {sizeof(gs_fault), GS_FAULT_NONE, GS_OK, 0, 0, "", "", 0, 0, 0, 0, 0, 0}
#define GS_STRAY_INIT {sizeof(gs_stray), 0, 0, 0, "", 0, 0, 0}
#define GS_ARRAY_DESC_INIT {sizeof(gs_array_desc), 0, 0, 0, GS_FORMAT_FLOAT32, 1, 0, 0}
#define GS_MEMCPY_3D_PARAMS_INIT {sizeof(gs_memcpy_3d_params), {NULL, 0, NULL, 0, 0, 0, 0, 0},     \
    {NULL, 0, NULL, 0, 0, 0, 0, 0}, 0, 1, 1}
#define GS_TEXTURE_RESOURCE_INIT {sizeof(gs_texture_resource), GS_RESOURCE_ARRAY, NULL, 0,         \
    GS_FORMAT_FLOAT32, 1, 0, 0, 0}
#define GS_TEXTURE_DESC_INIT {sizeof(gs_texture_desc),                                             \
    {GS_ADDRESS_CLAMP, GS_ADDRESS_CLAMP, GS_ADDRESS_CLAMP}, GS_FILTER_POINT, 0, 0, {0, 0, 0, 0},    \
    GS_FILTER_POINT, 0, 0, 1000}
#define GS_TENSOR_MAP_DESC_INIT {sizeof(gs_tensor_map_desc), 0, 1, 0, {1, 1, 1, 1, 1}, \
                                 {0, 0, 0, 0}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, 0, 0, 0, 0}
#define GS_KERNEL_DESC_INIT {sizeof(gs_kernel_desc), "", 0, 0, 0, 0, 0, 0, 0, {0, 0, 0}, 0}
#define GS_LAUNCH_CONFIG_1D(blocks, threads) {sizeof(gs_launch_config),                            \
    {(unsigned)(blocks), 1, 1}, {(unsigned)(threads), 1, 1}, 0, 0, NULL, NULL, NULL, 0, 0,         \
    {0, 0, 0}}
#define GS_LAUNCH_CONFIG_INIT GS_LAUNCH_CONFIG_1D(1, 1)
#define GS_REPORT_INIT {sizeof(gs_report), 0, 0, 0, 0, 0, 0}
#define GS_GEMM_PARAMS_INIT {sizeof(gs_gemm_params), GS_GEMM_F32, GS_GEMM_F32,                     \
    GS_GEMM_COMPUTE_F32, 0, 0, 0, 0, 0, 1, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 1, 0, 0, 0}
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif /* GSHARE_H */
