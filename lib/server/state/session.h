/*
 * session.h - one session as the supervisor has it.
 *
 * Its state says how far it is with its worker; `client`, apart from that, what is known of the
 * process that asked for it.
 */
#ifndef GS_SERVER_SESSION_H
#define GS_SERVER_SESSION_H

#include "server/base/reply.h"
#include "server/base/vault.h"
#include "server/session/qos_requests.h"
#include "server/state/grants.h"
#include "server/state/server.h"

enum session_client {
    CLIENT_UNCONFIRMED = 0, /* it has not said that it mapped its segment */
    CLIENT_WATCHED = 1,     /* it has; its end is known by its pidfd */
    CLIENT_POLLED = 2,      /* it has; by the segment's count of attachments */
    CLIENT_GONE = 3
};

struct session {
    struct server *server;
    struct device *device;
    uint32_t slot;
    enum session_state state;
    enum session_client client;
    bool close_wanted; /* as soon as it is open */
    uint64_t id;
    uint64_t cookie;
    uint64_t mem_asked;   /* what it asked for; 0: no limit of its own */
    uint64_t mem_limit;   /* what holds */
    uint64_t window_size; /* the session's range of device addresses */
    uint64_t attached_ns;
    uid_t uid;
    pid_t pid;               /* 0: not known */
    struct wire_qos qos;     /* its request */
    struct ctl_settings set; /* by the operator, for just this session */
    uint32_t space;          /* 0, or 1 + the index of the reservation that it lives in */
    uint32_t share;          /* SMs that the provisioning policy leaves it; 0: any number */
    struct session_grant grant;
    struct session_requests requests;
    char name[32];
    int segment_id;
    unsigned char *segment;  /* NULL: none */
    uint64_t attached_base;  /* attachments of the segment without the client's */
    struct watch process;    /* pidfd of the client */
    struct timer answer_by;  /* until then its client waits for the attach, and has time to spare */
    uint64_t give_up_ns;     /* when the worker should do so; 0: in its own time */
    struct timer confirm_by; /* until then it must have mapped its segment */
    struct reply reply;      /* open until the attach is answered */
    struct vault vault;
};

/* session.c */
/* The client waits so long for the answer to its attach, from now on; 0: any time. Before that it
 * is told why there is none: by the worker, which knows best, or else by the supervisor. */
void server_session_expect(struct session *session, uint64_t patience_ns);
/* Sends LINK_OPEN with the grant that is to be sent. */
void server_session_open(struct session *session);
/* The worker's answers. false: they make no sense in this state. */
bool server_session_opened(struct session *session, const struct link_opened *opened,
                           const char *text);
bool server_session_closed(struct session *session);
/* A grant holds: notes the memory limit in it. */
void server_session_limited(struct session *session);
/* May the worker hold memory for it, in this state? */
bool server_session_has_memory(const struct session *session);
/* The client is gone, has detached, or never came: the worker frees what the session holds. */
void server_session_close(struct session *session);
/* The worker is gone. fatal: its last words, or NULL. */
void server_session_worker_lost(struct session *session, const struct link_fatal *fatal,
                                bool blamed, const char *why);
/* Frees all, at once. */
void server_session_end(struct session *session);
/* Answers the attach with a refusal and ends the session. */
void server_session_refuse(struct session *session, gs_status status, const char *text);

/* admin.c: what of its state operators are told. */
enum ctl_tenant_state server_session_state_told(const struct session *session);

/* liveness.c */
/* Watches the process that asks, if it can be seen; the reply queue must be open. false: it has
 * ended. */
bool liveness_begin(struct session *session);
/* The attach has been answered: starts the time in which the client must map its segment. */
void liveness_expect(struct session *session);
/* The client says that it has mapped its segment. */
void liveness_confirm(struct session *session);
void liveness_end(struct session *session);

#endif
