/*
 * qos.h - reads and checks the quality of service that callers request. The client checks all that
 * needs no server, so that messages can name the field and its limit; server and worker check
 * again.
 */
#ifndef GS_CLIENT_QOS_H
#define GS_CLIENT_QOS_H

#include "client/session/session.h"

/* Reads and checks a caller's gs_qos; `given` NULL leaves *qos unchanged. GS_ERR_INVALID_VALUE. */
gs_status qos_read(gs_qos *qos, const gs_qos *given);
/* Lowers a request to the environment's limits, except limits that depend on the device. */
void qos_lower(gs_qos *qos, const struct env_limits *env);
/* Lowers a request to the environment's limits on the session's device. Returns true if the request
 * exceeded them. */
bool qos_lower_on_device(const struct session *session, gs_qos *qos);
/* Returns the wire form of a gs_qos. */
struct wire_qos qos_wire(const gs_qos *qos);
/* Returns, as bits of enum ctl_field and for `gsctl explain`, the fields of a request that were
 * lowered to the environment's limits. `sms` is the environment's percentage of the device in SMs;
 * 0: not known yet. */
uint32_t qos_environment(const struct wire_qos *qos, const struct env_limits *env, uint32_t sms);

/* Copies the session's grant, as the worker applies it. May block for a second. GS_ERR_PROTOCOL. */
gs_status qos_granted(const struct session *session, struct seg_grant *grant);
/* Describes a grant as a gs_qos, with all fields of the affinity. */
void qos_describe(const struct session *session, const struct seg_grant *grant, gs_qos *qos);

/* Asks the server for a quality of service and waits until it is in force or refused. */
gs_status qos_ask(struct session *session, const gs_qos *qos);

/* Reads the quality of service of a stream: a class and a priority within the grant. */
gs_status qos_for_stream(const struct session *session, const gs_qos *given, gs_qos *qos);
/* Reads the quality of service of a launch, which may have any affinity within the grant. Under the
 * stream's lock. */
gs_status qos_for_launch(const struct session *session, struct stream *stream, const gs_qos *given,
                         struct wire_qos *wire);

#endif
