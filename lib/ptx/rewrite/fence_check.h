/* What the parts of the checker share: see fence_check.c. */
#ifndef GS_PTX_REWRITE_FENCE_CHECK_H
#define GS_PTX_REWRITE_FENCE_CHECK_H

#include "ptx/ptx.h"

/* Whether instruction I of a function reads as FORMAT says. */
bool fence_check_reads(const struct ptx_func *f, uint32_t i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- fence_check_texture.c ----
 * LABELLED: by instruction, whether control may come to it from elsewhere. */

/* The instruction loads from the texture table: a row that a number of ten bits names. */
bool fence_check_is_table_load(const struct ptx_func *f, const bool *labelled, uint32_t i);
/* NULL, or what is wrong with an instruction of textures or surfaces. */
const char *fence_check_texture(const struct ptx_module *m, const struct ptx_func *f,
                                const bool *labelled, uint32_t i);

#endif
