/* Moves local variables to a place where functions may store, for rewrite.c; see fence_frames.c. */
#ifndef GS_PTX_REWRITE_FENCE_FRAMES_H
#define GS_PTX_REWRITE_FENCE_FRAMES_H

#include "ptx/ptx.h"

/* TEXT, of LEN bytes, is the source of M. 0: *OUT is the text with frames, NUL-terminated, which
 * the caller frees. -ENOENT: no function needs them, or it cannot be done. -ENOMEM. */
int fence_frames(const char *text, size_t len, const struct ptx_module *m, char **out,
                 size_t *out_len);
/* Whether the text may need frames; it is only searched for words. */
bool fence_frames_maybe(const char *text, size_t len);

#endif
