/*
 * qos_requests.h - sessions' requests for another quality of service (CTL_SET_QOS): the queue of
 * each session, and the list of a device's sessions whose grant somebody waits for. One request of
 * a session is under way at a time; the others wait in the queue. What becomes of them is decided
 * in reconcile/settle.c.
 */
#ifndef GS_SERVER_QOS_REQUESTS_H
#define GS_SERVER_QOS_REQUESTS_H

#include "server/state/session.h"

/* A session's threads may ask side by side; more requests at once are of no use. */
#define QOS_REQUESTS_MAX 16u

struct qos_request {
    struct reply reply;
    struct wire_qos qos;
    uint64_t due_ns; /* when it is answered at the latest, also behind others in the queue */
    struct qos_request *next;
};

/* Puts a request at the end of the queue and takes the reply over. false: there is no memory. */
bool qos_requests_push(struct session *session, const struct wire_qos *qos, struct reply *reply);
/* Whether the queue is full. */
bool qos_requests_full(const struct session *session);
/* Answers the request under way and takes the session out of the list. */
void qos_requests_answer(struct session *session, gs_status status, const char *text);
/* Keeps the requests of a session whose worker is gone for the next one. */
void qos_requests_keep(struct session *session);
/* Refuses all requests of a session that ends. */
void qos_requests_refuse_all(struct session *session, gs_status status, const char *text);

/* Puts the session, whose grant somebody waits for, into the list, until the time of its request,
 * or for GRANT_PATIENCE_NS; then `fire` is called. Harmless on a session that is in the list. */
void qos_requests_await(struct session *session, void (*fire)(struct timer *patience));
/* Takes the session out of the list; its requests stay in the queue. Harmless on a session that is
 * not in the list. */
void qos_requests_unlist(struct session *session);

#endif
