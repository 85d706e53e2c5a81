/*
 * session.h - the client's struct session, and the process's table of sessions.
 *
 * Life. gs_attach publishes a session in a slot of the table. Every public call enters the session
 * by its handle (session_enter) and leaves it. The table counts the callers inside, with several
 * counters per slot on cache lines of their own, so that threads do not contend for one line.
 * gs_detach takes the session out of its slot and waits until the counts are zero. So no part of a
 * session is unmapped or freed between enter and leave. The table itself is static.
 *
 * What keeps an object alive while a thread uses it:
 *   stream         its lock, after stream_lock() has found the stream live
 *   kernel, graph, array   any stream's lock: the remover takes and drops the lock of each stream
 *                  (streams_pass) between handle_retire and handle_release
 *   event, module  object_lock
 *   device ranges, host blocks   the memory's lock for the lookup; the stream's lock from the check
 *                  to the record that uses them (the remover passes the streams as well)
 * Order of locks: a stream's lock first, then any one of the others; the memory's lock may also be
 * taken under object_lock. A thread that waits for a synchronous request holds no lock but
 * request_lock, and for a request about a host block also host_lock; a copy that makes its staging
 * area holds its stream's lock too.
 *
 * Trust: only the server and this process write the segment. The client trusts the server's data,
 * but bounds texts and checks numbers that it uses as an index.
 */
#ifndef GS_CLIENT_SESSION_H
#define GS_CLIENT_SESSION_H

#include <mqueue.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "client/base/env.h"
#include "client/base/handle.h"
#include "client/print/print.h"
#include "client/session/waits.h"
#include "common/request.h"
#include "common/sm_mask.h"
#include "common/wire.h"
#include "gshare.h"

struct memory;    /* memory/memory.h */
struct recording; /* submit/recording.h */

struct stream {
    alignas(64) pthread_mutex_t lock;
    _Atomic uint32_t generation; /* 0: no stream; changed under lock */
    uint32_t number;
    uint64_t tail;     /* under lock: the position of the next record; published in seg_client */
    uint64_t complete; /* under lock: the completion position read last; saves a read of the
                          GPU's word */
    unsigned char *ring;
    struct recording *_Atomic recording; /* changed under lock; not NULL: the stream records a
                                            graph */
    struct sm_mask whole_mask;           /* under lock: a mask known to consist of whole groups */
};

/* A module's handle and the handles of its kernels end together. Under object_lock. */
struct module {
    uint32_t id; /* the server's */
    struct kernel *kernels;
};

struct kernel {
    uint32_t id; /* the server's */
    uint32_t slot, generation;
    struct kernel *next; /* of the same module; under object_lock */
    struct req_kernel info;
    /* the server's last answer (control/occupancy.c); blocks 0: none yet. Under object_lock */
    struct {
        uint32_t threads, dynamic_smem, blocks;
    } occupancy;
    char name[];
};

/* Under object_lock. position 0: never recorded, since a record ends beyond position 0. */
struct event {
    uint32_t stream;
    uint64_t position;
};

struct graph {
    struct graph_changes *changes; /* the current records of its steps: submit/graph_changes.h */
    /* Number of the server's graphs. 0: the recording was empty, so a launch does nothing. */
    uint32_t count;
    uint32_t id[]; /* numbers of the server's graphs, each of the next SEG_GRAPH_NODES records */
};

struct array {
    uint32_t id;        /* the server's */
    uint64_t row;       /* bytes of a row */
    gs_array_desc desc; /* as the program described it */
};

struct report {
    uint64_t id; /* 0: none, or fetched */
    uint64_t asked;
};

/* Kinds of products that the server has prepared or refused, by hash; see submit/product.c. */
#define PRODUCTS_KNOWN 256u
struct products {
    _Atomic uint64_t prepared[PRODUCTS_KNOWN], refused[PRODUCTS_KNOWN];
    _Atomic uint64_t ask_from_ns; /* clock_ns() before which the client asks for no new kind */
};

/* A tensor map that the server has encoded. It depends on `asked` alone. asked.rank 0: none. */
#define TENSOR_MAPS_KEPT 32u
struct tensor_map {
    struct req_tensor_map asked;
    gs_tensor_map map;
};

/* Places in session->mapped beside the host blocks. */
#define MAPPED_SEGMENT SEG_HOSTS
#define MAPPED_PAGE    (SEG_HOSTS + 1)
#define MAPPED_PRINT   (SEG_HOSTS + 2)
#define MAPPED_SLOTS   (SEG_HOSTS + 3)

struct session {
    uint32_t index, generation;

    /* The addresses of all System V segments mapped for this session: host blocks by the server's
     * number, the session segment, the status page, the print block. NULL: none. Under the table's
     * lock, which fork takes. */
    void *mapped[MAPPED_SLOTS];
    /* The sizes of the mappings within the window's addresses, 0 for others. The process reserves
     * these addresses if it can: then a block within kernels' reach has the same address on host
     * and device, and an address shows whether it is the device's. Under the table's lock. */
    uint64_t mapped_bytes[MAPPED_SLOTS];
    bool window_reserved;

    unsigned char *segment;
    const struct status_page *page;
    struct seg_client *client;
    struct seg_complete *complete;
    struct seg_server *server_page;
    struct seg_request *request;
    struct seg_info info; /* a copy: the original never changes */
    mqd_t bell;
    struct control control;
    uint64_t cookie;
    uint64_t timeout_ns;   /* of attaching and detaching */
    uint32_t device_count; /* the server's devices that a session of this process may ask for */
    uint32_t local_rank;   /* the process's rank in a job, with GS_DEVICE_AUTO; else 0 */
    struct env_limits env; /* the upper limits that gs_attach found in the environment */

    struct stream stream[SEG_STREAMS];
    struct waits waits;

    pthread_mutex_t request_lock; /* held while seg_request is not idle */

    struct memory *memory; /* owned by control/session_make.c */

    pthread_mutex_t object_lock;
    struct handle_table events, modules, kernels, graphs, arrays;
    _Atomic uint64_t event_records;                  /* number of events recorded so far */
    struct tensor_map tensor_maps[TENSOR_MAPS_KEPT]; /* under object_lock; indexed by a hash of
                                                        `asked` */

    struct printing printing;
    _Atomic uint64_t fault_seen_ns; /* clock_ns() at which a call first saw a kernel's fault
                                       note; 0: never */

    struct products products;

    pthread_mutex_t report_lock;
    uint64_t report_last; /* id of the newest report */
    struct report report[SEG_REPORTS];
};

/* ---- The table ---- */

/* Takes a slot for a session, which no handle finds until session_publish. From then on the fork
 * handlers know the session's mappings. GS_ERR_LIMIT, GS_ERR_NO_MEMORY. */
gs_status session_slot_take(struct session *session);
/* Gives the session's slot back. The session is not published, or has been withdrawn. */
void session_slot_give(const struct session *session);
/* Makes the session's handles find it. */
void session_publish(struct session *session);
/* Finds the session of a handle of this kind and counts the caller in; session_leave counts the
 * caller out. For HANDLE_SESSION the generation is checked as well; for other kinds the caller
 * looks slot and generation up. GS_ERR_INVALID_HANDLE, GS_ERR_FORKED. */
gs_status session_enter(struct handle handle, enum handle_kind kind, struct session **session);
void session_leave(const struct session *session);
/* Takes the session of this handle out of the table and waits until no other thread is inside; the
 * session then belongs to the caller. */
gs_status session_withdraw(struct handle handle, struct session **session);
/* Sets the message for a handle that names nothing. Returns GS_ERR_FORKED or
 * GS_ERR_INVALID_HANDLE. */
gs_status handle_unknown(struct handle handle, const char *what) __attribute__((cold));

/* ---- One session ---- */

/* Reserves the window's addresses, if the process has nothing there. Uses no memory. */
void session_reserve_window(struct session *session);
/* Maps a System V segment and notes it in a free slot of session->mapped. The mapping is at the
 * address `at` if that is free; 0: anywhere. On failure sets a message that begins with `what`. */
gs_status session_map(struct session *session, unsigned slot, int id, uint64_t at, int flags,
                      const char *what, void **address);
/* Ends the mapping at the address, and clears the slot unless another mapping has taken it
 * since. */
void session_unmap(struct session *session, unsigned slot, void *address);

/* Sets the message and returns the status that say why the session has ended. Only for a session of
 * which session_alive() is false. */
gs_status session_trouble(const struct session *session) __attribute__((cold));

static inline bool session_alive(const struct session *session)
{
    uint32_t owner = atomic_load_explicit(&session->page->owner, memory_order_relaxed);
    /* acquire: pairs with the server's release of the state after the fault's text. */
    uint32_t state = atomic_load_explicit(&session->server_page->state, memory_order_acquire);

    return owner && !(owner & STATUS_OWNER_DIED) && state == SEG_OPEN;
}

/* Enters the session as session_enter does, and fails with session_trouble's status if it has
 * ended. */
gs_status session_use(struct handle handle, enum handle_kind kind, struct session **session);

/* ---- Objects ---- */

/* Gives an event, module, graph or array a handle, and sets *handle to its value. GS_ERR_LIMIT,
 * GS_ERR_NO_MEMORY. */
gs_status object_publish(struct session *session, enum handle_kind kind, void *object,
                         uint64_t *handle);
/* Returns the object of that kind that the handle names in this session; NULL: none. The caller
 * holds the lock that keeps the object alive (see the top of this file). */
void *object_find(struct session *session, enum handle_kind kind, const void *handle);
/* Makes the handle name nothing, and returns the object that it named; NULL: none. Other threads
 * may still use the object (see the top of this file for each kind). */
void *object_retire(struct session *session, struct handle handle);
/* Frees the slot of a retired handle for another object. No thread uses the retired object any
 * more. */
void object_release(struct session *session, struct handle handle);
/* Sets *id to the server's number of the module of this handle. Fails as handle_unknown does. */
gs_status session_module(struct session *session, struct handle handle, uint32_t *id);

#endif
