/* The address fence, for rewrite.c: see fence_pass.c. */
#ifndef GS_PTX_REWRITE_FENCE_PASS_H
#define GS_PTX_REWRITE_FENCE_PASS_H

#include "ptx/rewrite/rewrite.h"

/* TEXT, NUL-terminated, contains what the other passes added. PASSES: PTX_PASS_FENCE, perhaps with
 * PTX_PASS_STRAYS and with PTX_PASS_LEAVE_OUT, which fills LEFT; or PTX_PASS_VARIABLES. 0: *OUT is
 * the new text, which the caller frees; -EPERM or, if TEXT cannot be read, -EINVAL: the report says
 * why; -ENOMEM. Fills REPORT in each case. */
int fence_pass(const char *text, size_t len, unsigned passes, struct ptx_fence_report *report,
               struct ptx_left_out *left, char **out, size_t *out_len);
/* The reason if the tenant's text has names that the fence could mistake for reserved ones; NULL:
 * it has none. */
const char *fence_obstacle_in_names(const char *text, size_t len);

#endif
