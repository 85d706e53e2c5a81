/* Redirects calls of functions that the driver provides to functions of gshare, whose text is
 * appended to the module. In
 *
 *     .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
 *     ...
 *     call.uni (r), vprintf, (f, a);
 *
 * the declaration's .extern becomes .visible, and the name is replaced at each use.
 *
 * It works on tokens, not on the IR, so it also serves modules that the reader cannot read. */
#ifndef GS_PTX_REWRITE_REDIRECT_H
#define GS_PTX_REWRITE_REDIRECT_H

#include "ptx/rewrite/pass.h"

#define REDIRECTS_MAX 4u

struct redirect {
    const char *from, *to;
};

/* Whether the text contains one of the names, even in a comment. */
bool redirect_maybe(const char *text, size_t len, const struct redirect *redirects, unsigned count);
/* Records the edits. DEVICE_PTX: a module that defines the functions that the calls go to. False:
 * the module does not use the names, defines functions with these names itself, or cannot be cut
 * into tokens; the edits are useless then. */
bool redirect_run(struct rewrite *rw, const struct redirect *redirects, unsigned count,
                  const char *device_ptx);

#endif
