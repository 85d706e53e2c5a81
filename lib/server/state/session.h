/*
 * session.h - one session as the supervisor has it.
 *
 *   WAITING --> OPENING --> OPEN --> CLOSING --> (free)
 *      ^                    |  \--> LOST -------> (free)      when the worker is gone
 *      \--------------------/                                and the next one can take it up
 *
 * The state says how far the session is with its worker; `client`, apart from that, what is known
 * of the process that asked for it. The functions that move a session on are in server/session.
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
    SESSION_WAITING = 1, /* for a worker to be ready, or for SMs */
    SESSION_OPENING = 2, /* LINK_OPEN sent */
    SESSION_OPEN = 3,
    SESSION_CLOSING = 4, /* LINK_CLOSE sent */
    SESSION_LOST = 5     /* its worker is gone; kept until its client goes */
};

enum session_client {
    CLIENT_UNCONFIRMED = 0, /* the client has not said that it mapped its segment */
    CLIENT_WATCHED = 1,     /* it has mapped its segment; a pidfd tells its end */
    CLIENT_POLLED = 2,      /* it has mapped its segment; the count of attachments tells its end */
    CLIENT_GONE = 3
};

/* What the worker has of a session's segment once the session ends. */
enum segment_kept {
    SEGMENT_NOT_KEPT = 0, /* nothing: the worker was never told of the segment, or is gone */
    SEGMENT_KEPT = 1,     /* the mapping, with the completion page registered, for a next session */
    SEGMENT_IN_DOUBT = 2  /* perhaps the mapping: the worker refused to open the session */
};

/* A session's requests for another quality of service, and its wait for SMs; see qos_requests.h. */
struct session_requests {
    struct qos_request *first; /* the one under way, or NULL */
    struct wire_qos former;    /* what was in force before it */
    struct timer patience;     /* with the worker, or with those whose SMs it waits for */
    struct session *next;      /* in the device's list of those whose grant somebody waits for */
    bool listed;
};

/* A session's import of another device's memory; see peer_memory.h. */
struct peer_import {
    struct link_peer_ask ask; /* what its worker wants; ask.ask 0: nothing */
    /* What its worker was given and has not confirmed: a loan, counted as held, one of its user's
     * pieces, and a descriptor for the vault. loan.number 0: nothing. */
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
    bool close_wanted; /* close it as soon as it is open */
    /* The session was open, its worker is gone, and the next worker takes it up: true until it is
     * open again. */
    bool resuming;
    uint32_t attempts;       /* workers lost since it began to be opened or taken up */
    bool replays;            /* its unfinished work is to run again with the next worker */
    enum link_replay replay; /* with the worker that takes it up */
    uint32_t losses;         /* workers lost with nobody to blame, since losses_ns */
    uint64_t losses_ns;
    bool attached;       /* its attach was answered */
    bool by_operator;    /* an operator ended it */
    bool killed;         /* an operator ended it, and its client has not gone yet */
    uint64_t kill_token; /* of the last request to end it; 0: none */
    uint32_t grace_ms;   /* while it is closing: how long its work may run on; 0: no limit */
    bool vault_short;    /* some of its memory would not outlive the worker */
    int journal;         /* descriptor of what a next worker needs to know (journal.h); -1: none */
    uint64_t id;
    uint64_t cookie;
    uint64_t mem_asked;   /* the limit that the client asked for; 0: none */
    uint64_t kernel_heap; /* the heap that the client asked for; 0: the worker's default */
    uint64_t mem_limit;   /* the limit in force */
    uint64_t window_base; /* the session's range of device addresses */
    uint64_t window_size;
    uint32_t fenced; /* gs_fence: its kernels are kept to the window; 0: not */
    uint64_t attached_ns;
    uid_t uid;
    pid_t pid;               /* 0: not known */
    struct wire_qos qos;     /* its last request */
    struct ctl_settings set; /* by the operator, for just this session */
    uint32_t space;          /* 0, or 1 + the index of the reservation that it lives in */
    struct session_grant grant;
    struct session_requests requests;
    char name[32];
    int segment_id;
    unsigned char *segment; /* NULL: none */
    enum segment_kept segment_kept;
    uint64_t attached_base; /* attachments of the segment without the client's */
    uint64_t missing_ns;  /* since when the client's attachment seems to be gone; 0: it seems to be
                             there */
    struct watch process; /* pidfd of the client */
    struct timer answer_by;  /* its client waits for the attach until then, with time to spare */
    uint64_t give_up_ns;     /* when the worker should give up opening it; 0: never */
    struct timer confirm_by; /* the client must have mapped its segment by then */
    struct timer evict_by;   /* the device must have finished the closing session's work by then */
    struct reply reply;      /* open until the attach is answered */
    struct vault vault;
    struct peer_import peer;
};

/* Whether the worker may hold memory for the session in this state. */
static inline bool session_has_memory(const struct session *session)
{
    return session->state == SESSION_OPENING || session->state == SESSION_OPEN ||
           session->state == SESSION_CLOSING;
}

/* What the session may hold: its own limit, or its user's where that is less; 0: no limit. */
static inline uint64_t session_memory_limit(const struct session *session)
{
    return limit_lower(session->mem_limit, session->grant.target.user_mem_limit);
}

#endif
