/* What a rewriting pass is, for rewrite.c and the passes.
 *
 * A pass looks at the text or, by rewrite_module, at the IR of it, and records edits (edit.h). Each
 * pass sees the tenant's text alone, never what another pass adds: a pass that must touch added
 * text too adds it in its final form. The edits of two passes never overlap: where the edits of a
 * later pass would, all of that pass are dropped.
 *
 * How the fence fits in: its run() takes rewrite_module; a module that cannot be read is refused
 * with rw->unread, as is one with an instruction that the pass does not know. For each ld, st,
 * atom, red ... of struct ptx_func.insts it replaces the text from ptx_inst.begin to .end by a
 * block
 * "{ .reg .b64 gshare$a; and ...; or ...; ld.global.u32 %r1, [gshare$a]; }" of one line. A block of
 * its own scope declares the new registers; guards are kept inside it. Where the window's base and
 * mask stand in module constants, one edit behind the module's first lines declares those. The
 * texts that the other passes add need no fence: those address the server's own memory. The fence
 * then needs one result more: a refusal, which ptx_rewrite returns as -EPERM. */
#ifndef GS_PTX_REWRITE_PASS_H
#define GS_PTX_REWRITE_PASS_H

#include "ptx/ptx.h"
#include "ptx/rewrite/edit.h"
#include "ptx/rewrite/rewrite.h"

/* One call of ptx_rewrite. */
struct rewrite {
    const char *text;
    size_t len;
    struct edits edits;
    struct ptx_rewrite_report *report;
    bool read; /* rewrite_module was called */
    struct ptx_module *module;
    struct ptx_error unread; /* why there is none */
};

/* The module as the tenant wrote it, NULL where it cannot be read: rw->unread says why. A lack of
 * memory is in rw->edits.failed. */
const struct ptx_module *rewrite_module(struct rewrite *rw);

struct pass {
    enum ptx_pass bit;
    /* Whether it is worth calling run(): a search of the text, no more. NULL: always. */
    bool (*maybe)(const char *text, size_t len);
    /* Records edits. False: nothing to do; edits recorded so far are dropped. */
    bool (*run)(struct rewrite *rw);
    /* The edits were dropped since they overlap another pass's. NULL: nothing to take back. */
    void (*dropped)(struct rewrite *rw);
};

extern const struct pass printf_pass_rules, completion_pass_rules;

#endif
