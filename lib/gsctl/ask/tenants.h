/* tenants.h - asks for the tenants. */
#ifndef GS_GSCTL_ASK_TENANTS_H
#define GS_GSCTL_ASK_TENANTS_H

#include "common/request.h"

/* All tenants that the asker may see, in the order in which they attached. The caller frees
 * *tenants, also on failure. *hidden (may be NULL): how many there are that are not shown; message:
 * on success "", or a remark on these. */
gs_status tenants_read(struct control *control, struct ctl_tenant **tenants, size_t *count,
                       uint32_t *hidden, char message[REQUEST_MESSAGE_MAX]);
uint64_t histogram_sum(const struct ctl_histogram *h); /* of all counts */
/* Name of a session's state (enum ctl_tenant_state), such as "attached" or "ending"; "?" for an
 * unknown state. */
const char *state_name(uint32_t state);

#endif
