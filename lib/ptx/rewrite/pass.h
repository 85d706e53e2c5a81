/* The interface between rewrite.c and the passes.
 *
 * A pass reads the text or, through rewrite_module, its IR, and records edits (edit.h). Each pass
 * sees only the tenant's text, never what another pass adds: a pass that must change added text
 * adds it in its final form. The edits of two passes never overlap: if a later pass's edits would,
 * or if the text would exceed PTX_MAX_TEXT, all edits of that pass are dropped.
 *
 * The address fence (fence_pass.c) is not one of these passes. It runs after them, on the text with
 * their edits, so that it also fences added code that follows a tenant's pointer. It recognises
 * gshare's own code by reserved names, which a tenant's text must not contain. In functions whose
 * names begin with gshare$ or _ZN12gshare_print, accesses in the .global space go to the server's
 * memory and are not fenced; generic accesses go to the tenant's memory and are fenced. In the
 * tenant's kernels, accesses in the .global space through the registers gshare$w and gshare$a are
 * not fenced. A pass that adds code must follow these rules; the fence treats functions with any
 * other name as the tenant's (heap_pass.c). The fence prints the module anew and can refuse it:
 * ptx_rewrite then returns -EPERM. */
#ifndef GS_PTX_REWRITE_PASS_H
#define GS_PTX_REWRITE_PASS_H

#include "ptx/ptx.h"
#include "ptx/rewrite/edit.h"
#include "ptx/rewrite/rewrite.h"

/* One call of ptx_rewrite. */
struct rewrite {
    const char *text;
    size_t len;
    unsigned passes; /* the passes that are asked for */
    struct edits edits;
    struct ptx_rewrite_report *report;
    bool free_of_prefix; /* the tenant's text has none of the names that passes may add */
    bool read;           /* rewrite_module was called */
    struct ptx_module *module;
    struct ptx_error unread; /* why the module cannot be read */
};

/* The module as the tenant wrote it; NULL: it cannot be read, and rw->unread says why. Lack of
 * memory sets rw->edits.failed. */
const struct ptx_module *rewrite_module(struct rewrite *rw);

/* ---- source_text.c ---- */

/* The offset of the opcode in the text, which follows the guard if there is one. */
size_t rewrite_opcode_at(const struct rewrite *rw, const struct ptx_inst *inst);
/* The name of the predicate that guards the instruction, LEN bytes in the text; NULL: the
 * instruction has no guard. *NEGATED: the guard is @!p. */
const char *rewrite_guard(const char *text, const struct ptx_inst *inst, size_t *len,
                          bool *negated);
/* The offset behind .address_size, which is before the first function or variable. 0: the text has
 * no .address_size. */
size_t rewrite_head_end(const char *text, size_t len);
/* Whether the module's constants leave room for those of the passes; a module has 64 KiB in all. */
bool rewrite_constants_fit(const struct ptx_module *m);

struct pass {
    enum ptx_pass bit;
    /* Whether run() may have something to do. It only searches the text. NULL: always. */
    bool (*maybe)(const char *text, size_t len);
    /* Records edits. False: nothing to do; the edits recorded so far are dropped. */
    bool (*run)(struct rewrite *rw);
    /* Called when the edits were dropped, because they overlap another pass's or the text would
     * exceed PTX_MAX_TEXT. NULL: there is nothing to undo. */
    void (*dropped)(struct rewrite *rw);
};

extern const struct pass printf_pass_rules, heap_pass_rules, trap_pass_rules, completion_pass_rules,
    grid_pass_rules;

/* Whether the pass can end the module's traps and failed assertions, if it has any. */
bool trap_pass_serves(struct rewrite *rw);
/* Whether trap_pass.c makes the instruction one that may end its thread. */
bool trap_pass_ends(const struct ptx_inst *inst);

#endif
