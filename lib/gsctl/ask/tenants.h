/* tenants.h - asks for the tenants (CTL_PS). */
#ifndef GS_GSCTL_ASK_TENANTS_H
#define GS_GSCTL_ASK_TENANTS_H

#include "common/request.h"

/* Reads all tenants that this user may see, in the order in which they attached. The caller frees
 * *tenants, also on failure. Sets *hidden (may be NULL) to the number of tenants that are not
 * shown. On success `message` is "" or a remark on these. */
gs_status tenants_read(struct control *control, struct ctl_tenant **tenants, size_t *count,
                       uint32_t *hidden, char message[REQUEST_MESSAGE_MAX]);
uint64_t histogram_sum(const struct ctl_histogram *h); /* returns the sum of all counts */
/* Returns the name of a session's state (enum ctl_tenant_state), such as "attached" or "ending";
 * "?" for an unknown state. */
const char *state_name(uint32_t state);

#endif
