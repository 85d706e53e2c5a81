/*
 * wish.h - sessions' requests for another quality of service (CTL_SET_QOS), from the request to the
 * answer, which comes when the worker has it. One of a session is under way at a time; the others
 * wait in line.
 */
#ifndef GS_SERVER_WISH_H
#define GS_SERVER_WISH_H

#include "server/reply.h"
#include "server/server.h"

struct tenant;

struct wish {
    struct reply reply;
    struct wire_qos qos;
    uint64_t due_ns; /* it is answered by then, also when it has to wait for others in line */
    struct wish *next;
};

/* Of a tenant. */
struct tenant_wish {
    struct wish *first;     /* the one under way, or NULL */
    struct wire_qos former; /* what held before it */
    struct timer patience;  /* with the worker, or with those whose SMs it waits for */
    struct tenant *next;    /* of those of the device that somebody waits for */
    bool listed;
};

/* Takes the reply over, unless it has answered. */
void wish_handle(struct server *server, const struct ctl_set_qos *request, struct reply *reply);
/* Has the session just asked for what it wishes? Then it gets that or a refusal, not a part. */
bool wish_new(const struct tenant *tenant);
/* The tenant cannot have its SMs yet: it is given some time. */
void wish_wait(struct tenant *tenant);
/* Answers what can be answered, and goes on to the next wishes. */
void wishes_settle(struct device *device);
/* The session ends, or its worker is gone: all that are in line are refused. */
void wishes_end(struct tenant *tenant, gs_status status, const char *text);

#endif
