/*
 * tenant.h - one session as the supervisor has it.
 *
 * Its state says how far it is with its worker; `client`, apart from that, what is known of the
 * process that asked for it.
 */
#ifndef GS_SERVER_TENANT_H
#define GS_SERVER_TENANT_H

#include "server/grants.h"
#include "server/reply.h"
#include "server/server.h"
#include "server/vault.h"
#include "server/wish.h"

enum tenant_client {
    CLIENT_UNCONFIRMED = 0, /* it has not said that it mapped its segment */
    CLIENT_WATCHED = 1,     /* it has; its end is known by its pidfd */
    CLIENT_POLLED = 2,      /* it has; by the segment's count of attachments */
    CLIENT_GONE = 3
};

struct tenant {
    struct server *server;
    struct device *device;
    uint32_t slot;
    enum tenant_state state;
    enum tenant_client client;
    bool close_wanted; /* as soon as it is open */
    uint64_t id;
    uint64_t cookie;
    uint64_t mem_wish;    /* what it asked for; 0: no limit of its own */
    uint64_t mem_limit;   /* what holds */
    uint64_t window_size; /* the session's range of device addresses */
    uint64_t attached_ns;
    uid_t uid;
    pid_t pid;               /* 0: not known */
    struct wire_qos qos;     /* its wish */
    struct ctl_settings set; /* by the operator, for just this session */
    uint32_t space;          /* 0, or 1 + the index of the reservation that it lives in */
    uint32_t share;          /* SMs that the provisioning policy leaves it; 0: any number */
    struct tenant_grant grant;
    struct tenant_wish wish;
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

/* tenant.c */
/* The client waits so long for the answer to its attach, from now on; 0: any time. Before that it
 * is told why there is none: by the worker, which knows best, or else by the supervisor. */
void tenant_expect(struct tenant *tenant, uint64_t patience_ns);
/* Sends LINK_OPEN with the grant that is to be sent. */
void tenant_open(struct tenant *tenant);
/* The worker's answers. false: they make no sense in this state. */
bool tenant_opened(struct tenant *tenant, const struct link_opened *opened, const char *text);
bool tenant_closed(struct tenant *tenant);
/* A grant holds: notes the memory limit in it. */
void tenant_limited(struct tenant *tenant);
/* May the worker hold memory for it, in this state? */
bool tenant_has_memory(const struct tenant *tenant);
/* The client is gone, has detached, or never came: the worker frees what the session holds. */
void tenant_close(struct tenant *tenant);
/* The worker is gone. fatal: its last words, or NULL. */
void tenant_worker_lost(struct tenant *tenant, const struct link_fatal *fatal, bool blamed,
                        const char *why);
/* Frees all, at once. */
void tenant_end(struct tenant *tenant);
/* Answers the attach with a refusal and ends the tenant. */
void tenant_refuse(struct tenant *tenant, gs_status status, const char *text);

/* admin.c: what of its state operators are told. */
enum ctl_tenant_state tenant_state_told(const struct tenant *tenant);

/* liveness.c */
/* Watches the process that asks, if it can be seen; the reply queue must be open. false: it has
 * ended. */
bool liveness_begin(struct tenant *tenant);
/* The attach has been answered: starts the time in which the client must map its segment. */
void liveness_expect(struct tenant *tenant);
/* The client says that it has mapped its segment. */
void liveness_confirm(struct tenant *tenant);
void liveness_end(struct tenant *tenant);

#endif
