/* Tensor maps from the kernel's parameters, for rewrite.c: see fence_maps.c. */
#ifndef GS_PTX_REWRITE_FENCE_MAPS_H
#define GS_PTX_REWRITE_FENCE_MAPS_H

#include "ptx/ptx.h"

/* TEXT, of LEN bytes, reads as M. 0: *OUT is the text in which instructions take their tensor maps
 * from parameters, NUL-terminated, the caller's to free(). -ENOENT: none does. -ENOMEM. */
int fence_maps(const char *text, size_t len, const struct ptx_module *m, char **out,
               size_t *out_len);
/* A search for words: whether it is worth reading the text for that. */
bool fence_maps_maybe(const char *text, size_t len);

#endif
