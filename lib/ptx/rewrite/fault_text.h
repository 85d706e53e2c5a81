/* The code that passes add to a module so that its kernels can report faults to the host; see
 * fault_text.c. */
#ifndef GS_PTX_REWRITE_FAULT_TEXT_H
#define GS_PTX_REWRITE_FAULT_TEXT_H

#include "common/fault_note.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"

/* Texts for the module's head (rewrite_head_end): the variable; gshare$trapped(where), which ends
 * its thread; and gshare$stray(where, address), which returns. */
extern const char fault_variable_text[], fault_trapped_text[], fault_stray_text[];

/* The value of fault_note.where for a line of a function. */
static inline uint64_t fault_where(enum fault_what what, const struct ptx_func *f, uint32_t line)
{
    return (uint64_t)what << 56 | (uint64_t)f->id << 32 | line;
}

/* Copies the names of the module's functions, which fault_where refers to by id. False: no memory.
 */
bool fault_names_init(struct ptx_fault_names *names, const struct ptx_module *m);
void fault_names_deinit(struct ptx_fault_names *names);

#endif
