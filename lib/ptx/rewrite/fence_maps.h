/* Takes tensor maps from the kernel's parameters, for rewrite.c; see fence_maps.c. */
#ifndef GS_PTX_REWRITE_FENCE_MAPS_H
#define GS_PTX_REWRITE_FENCE_MAPS_H

#include "ptx/ptx.h"

/* TEXT, of LEN bytes, is the source of M. 0: *OUT is the text in which instructions take their
 * tensor maps from parameters, NUL-terminated, which the caller frees. -ENOENT: no instruction can.
 * -ENOMEM. */
int fence_maps(const char *text, size_t len, const struct ptx_module *m, char **out,
               size_t *out_len);
/* Whether the text may use tensor maps; it is only searched for words. */
bool fence_maps_maybe(const char *text, size_t len);

#endif
