/* The printing pass alone, for callers that ask for no other: see ptx/rewrite/rewrite.h. */
#ifndef GS_PTX_PRINTF_PASS_H
#define GS_PTX_PRINTF_PASS_H

#include "ptx/rewrite/rewrite.h"

#define PRINTF_PASS_VARIABLE PTX_PRINT_VARIABLE

/* True where the text could print: it has one of the two names, be it in a comment. */
bool printf_pass_maybe(const char *ptx, size_t len);

/* As ptx_rewrite with PTX_PASS_PRINTF. */
static inline int printf_pass(const char *ptx, size_t len, char **out, size_t *out_len)
{
    return ptx_rewrite(ptx, len, PTX_PASS_PRINTF, out, out_len, NULL);
}

#endif
