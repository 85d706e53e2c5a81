/* override.h - a launch's own quality of service; see override.c. Main lane. */
#ifndef GS_WORKER_SUBMIT_OVERRIDE_H
#define GS_WORKER_SUBMIT_OVERRIDE_H

#include "worker/submit/record.h"

/* Checks that the client library can have sent this qos. The check leaves out the grant, which may
 * have changed since. */
record_refusal override_check(const struct wire_qos *qos);

enum override_outcome {
    OVERRIDE_PLACED,
    OVERRIDE_WAITS, /* its partition is being made: ask again later */
    OVERRIDE_FAILED /* its partition cannot be made: *status and *text say why */
};

/* Gives the launch the class, priority and partition of a checked qos, within the session's grant:
 * what the grant has lost since the launch was submitted is cut off. */
enum override_outcome override_apply(struct session *session, const struct wire_qos *qos,
                                     struct launch *launch, gs_status *status, const char **text);

#endif
