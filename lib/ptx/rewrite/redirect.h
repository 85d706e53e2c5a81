/* Sends calls of functions that the driver provides to functions of gshare's own, whose text
 * comes behind the module's last line. In
 *
 *     .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
 *     ...
 *     call.uni (r), vprintf, (f, a);
 *
 * the declaration's .extern becomes .visible, and the name is replaced wherever it stands.
 *
 * It works on tokens, not on the IR: it need not understand a module to rename some of its
 * functions, so it also serves modules that the reader cannot read. */
#ifndef GS_PTX_REWRITE_REDIRECT_H
#define GS_PTX_REWRITE_REDIRECT_H

#include "ptx/rewrite/pass.h"

#define REDIRECTS_MAX 4u

struct redirect {
    const char *from, *to;
};

/* Whether the text has one of the names, be it in a comment. */
bool redirect_maybe(const char *text, size_t len, const struct redirect *redirects, unsigned count);
/* Records the edits. DEVICE_PTX: a module with the functions that calls go to. False: the module
 * does not use the names, or has functions of its own that are called so, or cannot be cut into
 * tokens; the edits are of no use then. */
bool redirect_run(struct rewrite *rw, const struct redirect *redirects, unsigned count,
                  const char *device_ptx);

#endif
