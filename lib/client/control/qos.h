/*
 * qos.h - quality of service as callers ask for it: checked here for what needs no server, so that
 * the message can name the field and its limit. Server and worker check again.
 */
#ifndef GS_CLIENT_QOS_H
#define GS_CLIENT_QOS_H

#include "client/session/session.h"

/* Reads and checks a caller's gs_qos; NULL leaves *qos as it is. GS_ERR_INVALID_VALUE. */
gs_status qos_read(gs_qos *qos, const gs_qos *given);
/* Lowers a wish to what the environment allows, as far as that can be said of any device. */
void qos_lower(gs_qos *qos, const struct env_limits *env);
/* Lowers it to what the session's environment allows on its device. true: it was more. */
bool qos_hold(const struct session *session, gs_qos *qos);
/* As it travels. */
struct wire_qos qos_wire(const gs_qos *qos);

/* What the session has been granted, as the worker applies it. GS_ERR_PROTOCOL. */
gs_status qos_granted(const struct session *session, struct seg_grant *grant);
/* A grant as a caller's gs_qos, and its SMs. */
void qos_describe(const struct session *session, const struct seg_grant *grant, gs_qos *qos);

/* Asks the server for it, and waits until it holds. The server gives up before this does. */
gs_status qos_ask(struct session *session, const gs_qos *qos);

/* Reads a stream's own: a class and a priority within the grant, nothing else. */
gs_status qos_for_stream(const struct session *session, const gs_qos *given, gs_qos *qos);
/* The same for one launch, whose affinity may be any within the grant. Under the stream's lock. */
gs_status qos_for_launch(const struct session *session, struct stream *stream, const gs_qos *given,
                         struct wire_qos *wire);

#endif
