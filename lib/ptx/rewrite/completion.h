/* What the parts of the completion pass share: see completion_pass.c. */
#ifndef GS_PTX_REWRITE_COMPLETION_H
#define GS_PTX_REWRITE_COMPLETION_H

#include "ptx/rewrite/pass.h"

/* The hidden parameter, as it is declared. */
#define COMPLETION_PARAMETER ".param .align 8 .b8 gshare$done[48]"

enum {
    COMPLETION_MAX_EPILOGUES = 16, /* epilogues of a kernel; some 40 machine instructions each */
    COMPLETION_EPILOGUE_REGS = 7   /* that one declares */
};

/* ---- completion_check.c ---- */

/* An instruction for which no kernel that reaches the function can signal its own end. */
struct obstacle {
    const char *what; /* NULL: nothing */
    uint32_t line;
};

/* Why the pass does not apply to the module at all; NULL: it does. */
const char *completion_module_obstacle(const struct ptx_module *m);
/* TRAPPED: the module's traps and failed assertions end threads (trap_pass.c). */
struct obstacle completion_obstacle(const struct ptx_func *f, bool trapped);
/* Whether threads wait at the instruction for others of their block or warp, wherever these are. */
bool completion_waits(const struct ptx_inst *inst);
/* Whether the instruction is one of kernels that may begin before those that they depend on have
 * ended. */
bool completion_depends(const struct ptx_inst *inst);

/* ---- completion_exits.c ---- */

/* Leads every end of the kernel to text that signals it. WAITS: by instruction, whether threads
 * wait in it for one another; NULL where they do in none. DEPENDS: threads wait there first for the
 * kernels that this one depends on. False, without edits: it cannot be done, *OBSTACLE says why. */
bool completion_exits(struct rewrite *rw, const struct ptx_func *f, const bool *waits, bool depends,
                      struct obstacle *obstacle);

#endif
