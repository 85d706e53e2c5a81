/* What callers of ptx_rewrite need to know of PTX_PASS_PRINTF: see ptx/rewrite/rewrite.h. */
#ifndef GS_PTX_PRINTF_PASS_H
#define GS_PTX_PRINTF_PASS_H

#include <stdbool.h>
#include <stddef.h>

/* True where the text could print: it has one of the two names, be it in a comment. */
bool printf_pass_maybe(const char *ptx, size_t len);

#endif
