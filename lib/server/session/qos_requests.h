/*
 * qos_request.h - sessions' requests for another quality of service (CTL_SET_QOS), from the request
 * to the answer, which comes when the worker has it. One of a session is under way at a time; the
 * others wait in line.
 */
#ifndef GS_SERVER_QOS_REQUEST_H
#define GS_SERVER_QOS_REQUEST_H

#include "server/base/reply.h"
#include "server/state/server.h"

struct session;

struct qos_request {
    struct reply reply;
    struct wire_qos qos;
    uint64_t due_ns; /* it is answered by then, also when it has to wait for others in line */
    struct qos_request *next;
};

/* Of a session. */
struct session_requests {
    struct qos_request *first; /* the one under way, or NULL */
    struct wire_qos former;    /* what held before it */
    struct timer patience;     /* with the worker, or with those whose SMs it waits for */
    struct session *next;      /* of those of the device that somebody waits for */
    bool listed;
};

/* Takes the reply over, unless it has answered. */
void qos_request_handle(struct server *server, const struct ctl_set_qos *request,
                        struct reply *reply);
/* Has the session just asked for what it requests? Then it gets that or a refusal, not a part. */
bool qos_request_new(const struct session *session);
/* The session cannot have its SMs yet: it is given some time. */
void qos_request_wait(struct session *session);
/* Answers what can be answered, and goes on to the next requests. */
void qos_requests_settle(struct device *device);
/* The session ends, or its worker is gone: all that are in line are refused. */
void qos_requests_end(struct session *session, gs_status status, const char *text);

#endif
