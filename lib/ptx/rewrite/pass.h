/* What a rewriting pass is, for rewrite.c and the passes.
 *
 * A pass looks at the text or, by rewrite_module, at the IR of it, and records edits (edit.h). Each
 * pass sees the tenant's text alone, never what another pass adds: a pass that must touch added
 * text too adds it in its final form. The edits of two passes never overlap: where the edits of a
 * later pass would, all of that pass are dropped; so they are where the text would exceed
 * PTX_MAX_TEXT.
 *
 * The address fence (fence_pass.c) is none of these passes: it runs behind them, over the text with
 * their edits, so that what they add is fenced too where it follows a tenant's pointer. It tells
 * gshare's own text by names that a tenant's may not have: in functions that begin with gshare$
 * or _ZN12gshare_print, accesses in the .global space go to the server's memory and stay, generic
 * ones go to the tenant's and are fenced; in the tenant's functions, accesses in the .global space
 * off the registers gshare$w and gshare$a of a kernel stay. A pass that adds text keeps to that;
 * functions with other names are the tenant's to the fence (heap_pass.c).
 * The fence prints the module anew and can refuse it: ptx_rewrite then returns -EPERM. */
#ifndef GS_PTX_REWRITE_PASS_H
#define GS_PTX_REWRITE_PASS_H

#include "ptx/ptx.h"
#include "ptx/rewrite/edit.h"
#include "ptx/rewrite/rewrite.h"

/* One call of ptx_rewrite. */
struct rewrite {
    const char *text;
    size_t len;
    unsigned passes; /* all that are asked for */
    struct edits edits;
    struct ptx_rewrite_report *report;
    bool free_of_prefix; /* no name of the tenant's is one that passes may add */
    bool read;           /* rewrite_module was called */
    struct ptx_module *module;
    struct ptx_error unread; /* why there is none */
};

/* The module as the tenant wrote it, NULL where it cannot be read: rw->unread says why. A lack of
 * memory is in rw->edits.failed. */
const struct ptx_module *rewrite_module(struct rewrite *rw);

/* ---- source_text.c ---- */

/* Where the opcode begins in the text: behind the guard, if there is one. */
size_t rewrite_opcode_at(const struct rewrite *rw, const struct ptx_inst *inst);
/* The name of the predicate that guards the instruction, of LEN bytes in the text; NULL: none.
 * *NEGATED: it must be false. */
const char *rewrite_guard(const char *text, const struct ptx_inst *inst, size_t *len,
                          bool *negated);
/* Behind .address_size: before the first function or variable. 0: the text does not say it. */
size_t rewrite_head_end(const char *text, size_t len);
/* Whether the module's constants, which have 64 KiB together, leave room for those of the passes.
 */
bool rewrite_constants_fit(const struct ptx_module *m);

struct pass {
    enum ptx_pass bit;
    /* Whether it is worth calling run(): a search of the text, no more. NULL: always. */
    bool (*maybe)(const char *text, size_t len);
    /* Records edits. False: nothing to do; edits recorded so far are dropped. */
    bool (*run)(struct rewrite *rw);
    /* The edits were dropped: they overlap another pass's, or the text would exceed PTX_MAX_TEXT.
     * NULL: nothing to take back. */
    void (*dropped)(struct rewrite *rw);
};

extern const struct pass printf_pass_rules, heap_pass_rules, trap_pass_rules, completion_pass_rules,
    grid_pass_rules;

/* Whether the pass can end the module's traps and failed assertions, if it has any. */
bool trap_pass_serves(struct rewrite *rw);
/* Whether a thread may end at the instruction once trap_pass.c has been over it. */
bool trap_pass_ends(const struct ptx_inst *inst);

#endif
