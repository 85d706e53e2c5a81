/* Functions that a module has to do without: those that the reader cannot read or the fence
 * refuses, and all functions that can call one of them. They are removed from the text whole, so
 * that nothing of them is loaded, and the report lists the kernels with the reasons. Belongs to one
 * pass over one text. */
#ifndef GS_PTX_REWRITE_LEAVE_OUT_H
#define GS_PTX_REWRITE_LEAVE_OUT_H

#include "ptx/ptx.h"
#include "ptx/rewrite/edit.h"
#include "ptx/rewrite/reach.h"
#include "ptx/rewrite/rewrite.h"

struct leave_out {
    const struct ptx_module *m;
    struct ptx_left_out *left; /* in the report */
    /* By ptx_func.id: the function because of which it is left out, or REACH_NONE; and the reason
     * of each function that was added itself. */
    uint32_t *cause;
    const char **reasons;
    uint32_t count; /* functions that were added */
};

/* False: no memory. */
bool leave_out_init(struct leave_out *out, const struct ptx_module *m, struct ptx_left_out *left);
void leave_out_deinit(struct leave_out *out);
/* Adds a function that has to go. REASON: "line 12: ...". False: no memory. */
bool leave_out_add(struct leave_out *out, const struct ptx_func *f, const char *reason);

enum leave_out_result {
    LEAVE_OUT_DONE,
    LEAVE_OUT_IMPOSSIBLE, /* no kernel would be left, or the module takes the address of one of the
                             functions */
    LEAVE_OUT_NO_MEMORY
};

/* Finds the functions that have to go because of those added. Afterwards leave_out_has holds for
 * all of them, and the report has the kernels. If it is impossible nothing changes. */
enum leave_out_result leave_out_settle(struct leave_out *out, struct reach *reach);
static inline bool leave_out_has(const struct leave_out *out, const struct ptx_func *f)
{
    return out->cause[f->id] != REACH_NONE;
}
/* Removes all their declarations and definitions from the text. No other edit may touch these. */
void leave_out_edit(const struct leave_out *out, struct edits *edits);

#endif
