/* Links PTX modules into one, as nvlink does with relocatable machine code: what one module
 * declares and another defines becomes one symbol. Works on the text, so the result can be
 * rewritten and compiled like any other. Any thread; no state. The texts are not trusted. */
#ifndef GS_PTX_LINK_H
#define GS_PTX_LINK_H

#include <stddef.h>

/* Links COUNT texts (a NUL ends one early), at least one. A symbol that one module makes visible is
 * the same in all; of several weak or common ones the first, or the largest, stands for all; a
 * module's own symbols get other names where another module has that name too. Functions that no
 * module defines stay declared. A text that is the device runtime is left out if no other text uses
 * it.
 *
 * 0: *OUT is the new text, NUL-terminated, the caller's to free(); *OUT_LEN does not count the NUL.
 * Else WHY says which symbol, or which line of which text (from 1): -EINVAL: a text cannot be read,
 * or they do not fit together; -ENOTSUP: an instruction that the reader leaves out; -E2BIG: over a
 * bound of ptx.h; -ENOMEM. O(n log n). */
int ptx_link(const char *const texts[], const size_t lengths[], unsigned count, char **out,
             size_t *out_len, char why[320]);

#endif
