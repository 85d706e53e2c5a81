/* override.h - the QoS for which a single launch asks; see override.c. Called by the main lane. */
#ifndef GS_WORKER_SUBMIT_OVERRIDE_H
#define GS_WORKER_SUBMIT_OVERRIDE_H

#include "worker/submit/outcome.h"

/* Checks whether the client library can have sent this QoS. Ignores the grant, which may have
 * changed since. */
record_refusal override_check(const struct wire_qos *qos);

/* Sets the class, priority and partition of the launch at the head of stream `index` by a checked
 * QoS, limited to the session's present grant. The record stalls while its partition is being
 * made. */
enum outcome override_apply(struct session *session, uint32_t index, const struct wire_qos *qos,
                            struct launch *launch);

#endif
