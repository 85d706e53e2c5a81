/*
 * qos_requests.h - sessions' requests for another quality of service (CTL_SET_QOS): a queue for
 * each session, and a list of the device's sessions whose grant a client waits for. One request of
 * a session is in progress at a time; the others wait in the queue. reconcile/settle.c decides
 * them.
 */
#ifndef GS_SERVER_QOS_REQUESTS_H
#define GS_SERVER_QOS_REQUESTS_H

#include "server/state/session.h"

/* The most requests in a queue. A session's threads may ask concurrently, but more requests are of
 * no use. */
#define QOS_REQUESTS_MAX 16u

struct qos_request {
    struct reply reply;
    struct wire_qos qos;
    uint64_t due_ns; /* when the request is answered at the latest, even behind others in the
                        queue */
    struct qos_request *next;
};

/* Puts a request at the end of the queue and takes the reply over. Returns false if there is no
 * memory. */
bool qos_requests_push(struct session *session, const struct wire_qos *qos, struct reply *reply);
/* Returns whether the queue is full. */
bool qos_requests_full(const struct session *session);
/* Answers the request in progress and takes the session out of the list. */
void qos_requests_answer(struct session *session, gs_status status, const char *text);
/* Keeps the requests of a session whose worker is gone for the next worker. */
void qos_requests_keep(struct session *session);
/* Refuses all requests of a session that ends. */
void qos_requests_refuse_all(struct session *session, gs_status status, const char *text);

/* Puts the session, whose grant a client waits for, into the list. `fire` is called at the time of
 * its request, or after GRANT_PATIENCE_NS. Does nothing if the session is in the list. */
void qos_requests_await(struct session *session, void (*fire)(struct timer *patience));
/* Takes the session out of the list; its requests stay in the queue. Does nothing if the session is
 * not in the list. */
void qos_requests_unlist(struct session *session);

#endif
