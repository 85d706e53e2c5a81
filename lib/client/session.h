/*
 * session.h - a session as the client sees it, and the process's table of sessions.
 *
 * Life. gs_attach publishes a session in a slot of the table. Every public call enters it by handle
 * (session_enter, a count per slot, spread over cache lines so that threads do not meet) and leaves
 * it; gs_detach takes the session out of the slot and waits for the counts to reach zero. So
 * between enter and leave nothing of the session is unmapped or freed. The table itself is static.
 *
 * What stays alive within a session, and what to hold while using it:
 *   stream         its lock, after stream_lock() has found it live
 *   kernel, graph  any stream's lock: who removes one takes and drops the lock of each stream
 *                  (session_quiesce) between handle_retire and handle_release
 *   event, module  object_lock
 *   device ranges, host blocks   memory_lock to look; the stream's lock from the check to the
 *                  record that uses it (their removal quiesces too)
 * Order of locks: stream, then any one of the others; memory_lock also under object_lock. Requests
 * to the server are made under no lock but request_lock, and a stream's when a copy makes its
 * staging area.
 *
 * Trust: the segment is the server's and this process's; what the server wrote is believed, but
 * text is bounded and numbers that index are checked.
 */
#ifndef GS_CLIENT_SESSION_H
#define GS_CLIENT_SESSION_H

#include <mqueue.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "client/env.h"
#include "client/handle.h"
#include "client/print.h"
#include "client/range_map.h"
#include "client/staging.h"
#include "common/request.h"
#include "common/sm_mask.h"
#include "common/wire.h"
#include "gshare.h"

struct recording;

struct stream {
    alignas(64) pthread_mutex_t lock;
    _Atomic uint32_t generation; /* 0: no stream; changed under lock */
    uint32_t number;
    uint64_t tail;     /* under lock: where the next record goes; published in seg_client */
    uint64_t complete; /* under lock: the completion last seen, to leave the GPU's word alone */
    unsigned char *ring;
    struct recording *_Atomic recording; /* changed under lock; not NULL: a graph is recorded */
    struct sm_mask whole_mask;           /* under lock: known to be made of whole groups of SMs */
};

/* A module's handles die together: its kernels hang on a list. Under object_lock. */
struct module {
    uint32_t id; /* the server's */
    struct kernel *kernels;
};

struct kernel {
    uint32_t id; /* the server's */
    uint32_t slot, generation;
    struct kernel *next; /* of its module; under object_lock */
    char *name;
    struct req_kernel info;
};

/* Under object_lock. position 0: never recorded; a record ends beyond 0. */
struct event {
    uint32_t stream;
    uint64_t position;
};

struct graph {
    uint32_t id; /* the server's */
    bool empty;  /* nothing was recorded: launching it does nothing, the server has none */
};

struct report {
    uint64_t id; /* 0: none, or fetched */
    uint64_t asked;
};

struct session {
    uint32_t index, generation;

    /* Every System V segment mapped for this session: host blocks by the server's number, the
     * session segment, the status page, what kernels print. NULL: none. Under the table's lock, for
     * fork. */
    void *mapped[SEG_HOSTS + 3];

    unsigned char *segment;
    const struct status_page *page;
    struct seg_client *client;
    struct seg_complete *complete;
    struct seg_server *server;
    struct seg_request *request;
    struct seg_info info; /* a copy: it does not change */
    mqd_t bell;
    struct control control;
    uint64_t cookie;
    uint64_t timeout_ns;   /* of attaching; of detaching too */
    struct env_limits env; /* as gs_attach found it: what the session may have at most */

    struct stream stream[SEG_STREAMS];

    pthread_mutex_t request_lock; /* seg_request's idle-posted-done-idle */

    pthread_rwlock_t memory_lock;
    struct range_map device; /* value: MEMORY_ALLOCATION or a module's handle */
    struct range_map host;   /* value: the server's host block */
    struct staging staging_small, staging_large;

    pthread_mutex_t object_lock;
    struct handle_table events, modules, kernels, graphs;

    struct printing printing;

    pthread_mutex_t report_lock;
    uint64_t report_last; /* id of the newest */
    struct report report[SEG_REPORTS];
};

/* ---- The table ---- */

/* Makes a session with nothing attached to it, and takes a slot for it, where no handle finds it
 * yet. GS_ERR_LIMIT, GS_ERR_NO_MEMORY. */
gs_status session_new(struct session **session);
/* Unmaps, closes and frees all that the session has, and its slot. It must not be published, or
 * must have been withdrawn. NULL is fine. */
void session_free(struct session *session);
/* From now on handles of the session find it. */
void session_publish(struct session *session);
/* Finds the session of a handle of this kind and counts the caller in: session_leave after it. The
 * handle's slot and generation are left to the caller, but for HANDLE_SESSION.
 * GS_ERR_INVALID_HANDLE, GS_ERR_FORKED. */
gs_status session_enter(struct handle handle, enum handle_kind kind, struct session **session);
void session_leave(const struct session *session);
/* Takes the session of this handle out of the table and waits until no other thread is in it; it
 * belongs to the caller then. */
gs_status session_withdraw(struct handle handle, struct session **session);
/* Status and message for a handle that names nothing: GS_ERR_FORKED or GS_ERR_INVALID_HANDLE. */
gs_status handle_unknown(struct handle handle, const char *what) __attribute__((cold));

/* ---- One session ---- */

/* Places in session->mapped beside the host blocks. */
#define MAPPED_SEGMENT SEG_HOSTS
#define MAPPED_PAGE    (SEG_HOSTS + 1)
#define MAPPED_PRINT   (SEG_HOSTS + 2)
/* Maps a System V segment in a free place. On failure: a message that begins with what. */
gs_status session_map(struct session *session, unsigned place, int id, int flags, const char *what,
                      void **address);
/* Harmless where nothing is mapped. */
void session_unmap(struct session *session, unsigned place);

/* Why nothing can be done in this session any more; call it when session_alive says no. */
gs_status session_trouble(const struct session *session) __attribute__((cold));

static inline bool session_alive(const struct session *session)
{
    uint32_t owner = atomic_load_explicit(&session->page->owner, memory_order_relaxed);
    /* acquire: pairs with the server's release of the state after the fault's text. */
    uint32_t state = atomic_load_explicit(&session->server->state, memory_order_acquire);

    return owner && !(owner & STATUS_OWNER_DIED) && state == SEG_OPEN;
}

/* Enters a session to work in it: session_enter, and it must be alive. */
gs_status session_use(struct handle handle, enum handle_kind kind, struct session **session);

#endif
