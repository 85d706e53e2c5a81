/* override.h - a launch's own quality of service; see override.c. Main lane. */
#ifndef GS_WORKER_SUBMIT_OVERRIDE_H
#define GS_WORKER_SUBMIT_OVERRIDE_H

#include "worker/submit/outcome.h"

/* Checks that the client library can have sent this qos. The check leaves out the grant, which may
 * have changed since. */
record_refusal override_check(const struct wire_qos *qos);

/* Gives the launch at the head of stream `index` the class, priority and partition of a checked
 * qos, within the session's grant: what the grant has lost since the launch was submitted is cut
 * off. The record stalls while its partition is being made. */
enum outcome override_apply(struct session *session, uint32_t index, const struct wire_qos *qos,
                            struct launch *launch);

#endif
