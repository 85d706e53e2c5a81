/* What passes have in common: see pass.h. */
#include "ptx/rewrite/pass.h"

#include <errno.h>

const struct ptx_module *rewrite_module(struct rewrite *rw)
{
    if (!rw->read && ptx_parse(rw->text, rw->len, &rw->module, &rw->unread) == -ENOMEM)
        rw->edits.failed = true;
    rw->read = true;
    return rw->module;
}
