/*
 * session.h - the supervisor's struct session.
 *
 *   WAITING --> OPENING --> OPEN --> CLOSING --> (free)
 *      ^                    |  \--> LOST -------> (free)      when the worker is gone
 *      \--------------------/                                and the next one can take it up
 *
 * `state` is the session's state in its worker. `client`, independently, is what the supervisor
 * knows of the client's process. The functions that change the state are in server/session.
 */
#ifndef GS_SERVER_SESSION_H
#define GS_SERVER_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/setting_text.h"
#include "common/wire.h"
#include "server/base/loop.h"
#include "server/base/reply.h"
#include "server/base/vault.h"
#include "server/state/grants.h"

struct device;
struct server;
struct qos_request;

enum session_state {
    SESSION_FREE = 0,
    SESSION_WAITING = 1, /* waits for a worker to be ready, or for SMs */
    SESSION_OPENING = 2, /* LINK_OPEN sent */
    SESSION_OPEN = 3,
    SESSION_CLOSING = 4, /* LINK_CLOSE sent */
    SESSION_LOST = 5     /* its worker is gone or an operator ended it; kept until its client
                            goes */
};

enum session_client {
    CLIENT_UNCONFIRMED = 0, /* the client has not confirmed that it mapped its segment */
    CLIENT_WATCHED = 1,     /* it has mapped its segment; a pidfd shows its end */
    CLIENT_POLLED = 2,      /* it has mapped its segment; the segment's count of attachments
                               shows its end */
    CLIENT_GONE = 3
};

/* What the worker still has of a segment once its session has ended. */
enum segment_kept {
    SEGMENT_NOT_KEPT = 0, /* nothing: the worker was never told of the segment, or is gone */
    SEGMENT_KEPT = 1,     /* the mapping, with the completion page registered, for a next session */
    SEGMENT_IN_DOUBT = 2  /* perhaps the mapping, since the worker refused to open the session */
};

/* A session's requests for another quality of service, and its wait for SMs; see qos_requests.h. */
struct session_requests {
    struct qos_request *first; /* the request in progress, or NULL */
    struct wire_qos former;    /* the request in force before it */
    struct timer patience;     /* the time limit of the wait for the worker, or for other
                                  sessions' SMs */
    struct session *next;      /* in the device's list of sessions whose grant a client waits for */
    bool listed;
};

/* A session's import of another device's memory; see peer_memory.h. */
struct peer_import {
    struct link_peer_ask ask; /* its worker's request; ask.ask 0: none */
    /* The import that its worker was given and has not confirmed: a loan, counted as held and as
     * one of its user's pieces, with a descriptor for the vault. loan.number 0: none. */
    struct vault_loan loan;
    uint64_t size;
    int fd;
};

struct session {
    struct server *server;
    struct device *device;
    uint32_t slot;
    enum session_state state;
    enum session_client client;
    bool close_wanted; /* the session is to be closed as soon as it is open */
    /* The session was open, its worker is gone, and the next worker takes the session up. True
     * until it is open again. */
    bool resuming;
    uint32_t attempts;       /* workers lost while opening or taking up this session */
    bool replays;            /* its unfinished work is to run again with the next worker */
    enum link_replay replay; /* how the worker that takes it up treats unfinished work */
    uint32_t losses;         /* workers lost with nobody to blame since losses_ns */
    uint64_t losses_ns;
    bool attached;       /* its attach was answered */
    bool by_operator;    /* an operator ended it */
    bool killed;         /* an operator ended it, and its client has not gone yet */
    uint64_t kill_token; /* token of the last request to end it; 0: none */
    uint32_t grace_ms;   /* how long its work may continue while it is closing; 0: no limit */
    bool vault_short;    /* the vault lacks some of its memory, which would not outlive the
                            worker */
    int journal;         /* descriptor of its journal, for a next worker (journal.h); -1: none */
    uint64_t id;
    uint64_t cookie;
    uint64_t mem_asked;   /* the limit that the client asked for; 0: none */
    uint64_t kernel_heap; /* the heap that the client asked for; 0: the worker's default */
    uint64_t mem_limit;   /* the limit in force */
    uint64_t window_base; /* the session's range of device addresses */
    uint64_t window_size;
    uint32_t fenced; /* gs_fence: its kernels are fenced into the window; 0: not */
    uint64_t attached_ns;
    uid_t uid;
    pid_t pid;               /* 0: not known */
    struct wire_qos qos;     /* its last request */
    struct ctl_settings set; /* the operator's settings for this session alone */
    uint32_t space;          /* 0, or 1 + the index of the reservation that it lives in */
    struct session_grant grant;
    struct session_requests requests;
    char name[32];
    int segment_id;
    unsigned char *segment; /* NULL: none */
    enum segment_kept segment_kept;
    uint64_t attached_base;  /* number of attachments of the segment besides the client's */
    uint64_t missing_ns;     /* when the client's attachment was first found missing; 0: it was
                                found */
    struct watch process;    /* pidfd of the client */
    struct timer answer_by;  /* when the attach must be answered, somewhat before the client
                                gives up */
    uint64_t give_up_ns;     /* when the worker must give up opening it; 0: never */
    struct timer confirm_by; /* when the client must have mapped its segment */
    struct timer evict_by;   /* when the worker is asked to evict the closing session */
    struct reply reply;      /* open until the attach is answered */
    struct vault vault;
    struct peer_import peer;
};

/* Returns whether the worker may hold memory for the session in this state. */
static inline bool session_has_memory(const struct session *session)
{
    return session->state == SESSION_OPENING || session->state == SESSION_OPEN ||
           session->state == SESSION_CLOSING;
}

/* Returns how much memory the session may hold: its own limit, or its user's if that is lower; 0:
 * no limit. */
static inline uint64_t session_memory_limit(const struct session *session)
{
    return limit_lower(session->mem_limit, session->grant.target.user_mem_limit);
}

#endif
