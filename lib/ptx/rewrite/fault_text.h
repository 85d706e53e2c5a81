/* What passes put into a module by which its kernels tell their owner what went wrong in them: see
 * fault_text.c. */
#ifndef GS_PTX_REWRITE_FAULT_TEXT_H
#define GS_PTX_REWRITE_FAULT_TEXT_H

#include "common/fault_note.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"

/* Texts for the module's head (rewrite_head_end): the constant; the function that ends the thread,
 * gshare$trapped(where); the one that returns, gshare$stray(where, address). */
extern const char fault_variable_text[], fault_trapped_text[], fault_stray_text[];

/* fault_note.where of a line in a function. */
static inline uint64_t fault_where(enum fault_what what, const struct ptx_func *f, uint32_t line)
{
    return (uint64_t)what << 56 | (uint64_t)f->id << 32 | line;
}

/* Names the functions of the module that stand in fault_where. False: no memory. */
bool fault_names_init(struct ptx_fault_names *names, const struct ptx_module *m);
void fault_names_deinit(struct ptx_fault_names *names);

#endif
