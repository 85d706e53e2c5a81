/* What the parts of the completion pass share; see completion_pass.c. */
#ifndef GS_PTX_REWRITE_COMPLETION_H
#define GS_PTX_REWRITE_COMPLETION_H

#include "ptx/rewrite/pass.h"

/* The declaration of the hidden parameter. */
#define COMPLETION_PARAMETER ".param .align 8 .b8 gshare$done[48]"

enum {
    /* The most epilogues in a kernel. Each has some 40 machine instructions. */
    COMPLETION_MAX_EPILOGUES = 16,
    COMPLETION_EPILOGUE_REGS = 7 /* registers that an epilogue declares */
};

/* ---- completion_check.c ---- */

/* An instruction that keeps every kernel that reaches the function from signalling its own end. */
struct obstacle {
    const char *what; /* NULL: there is no obstacle */
    uint32_t line;
};

/* Why the pass does not apply to the module at all; NULL: it applies. */
const char *completion_module_obstacle(const struct ptx_module *m);
/* TRAPPED: the module's traps and failed assertions end threads (trap_pass.c). */
struct obstacle completion_obstacle(const struct ptx_func *f, bool trapped);
/* Whether threads wait at the instruction for other threads of their block or warp, wherever those
 * are in the code. */
bool completion_waits(const struct ptx_inst *inst);
/* Whether the instruction shows that its kernel may begin before the kernels that it depends on
 * have ended. */
bool completion_depends(const struct ptx_inst *inst);

/* ---- completion_exits.c ---- */

/* Turns every end of the kernel into a branch to code that signals the end. WAITS: for each
 * instruction, whether threads wait in it for one another; NULL: they wait in none. DEPENDS: at
 * each end threads first wait for the kernels that this one depends on. False: it cannot be done,
 * no edit was made, and *OBSTACLE says why. */
bool completion_exits(struct rewrite *rw, const struct ptx_func *f, const bool *waits, bool depends,
                      struct obstacle *obstacle);

#endif
