/* Functions that a module has to do without: those that the reader cannot read or that the fence
 * refuses, and all that can call one of them. They are taken out of the text whole, so that nothing
 * of them is loaded, and the report says which kernels and why. Belongs to one pass over one text.
 */
#ifndef GS_PTX_REWRITE_LEAVE_OUT_H
#define GS_PTX_REWRITE_LEAVE_OUT_H

#include "ptx/ptx.h"
#include "ptx/rewrite/edit.h"
#include "ptx/rewrite/reach.h"
#include "ptx/rewrite/rewrite.h"

struct leave_out {
    const struct ptx_module *m;
    struct ptx_left_out *left; /* of the report */
    uint32_t *cause;           /* by ptx_func.id: whose fault it is, or REACH_NONE */
    const char **reasons;      /* by ptx_func.id, of those at fault */
    uint32_t count;            /* of them */
};

/* False: no memory. */
bool leave_out_init(struct leave_out *out, const struct ptx_module *m, struct ptx_left_out *left);
void leave_out_deinit(struct leave_out *out);
/* The function is at fault. REASON: "line 12: ...". False: no memory. */
bool leave_out_add(struct leave_out *out, const struct ptx_func *f, const char *reason);

enum leave_out_result {
    LEAVE_OUT_DONE,
    LEAVE_OUT_IMPOSSIBLE, /* no kernel would be left, or the module uses the address of one */
    LEAVE_OUT_NO_MEMORY
};

/* Finds who else goes. Afterwards leave_out_has holds for all of them, and the report has the
 * kernels. Where it is impossible nothing changes. */
enum leave_out_result leave_out_settle(struct leave_out *out, struct reach *reach);
static inline bool leave_out_has(const struct leave_out *out, const struct ptx_func *f)
{
    return out->cause[f->id] != REACH_NONE;
}
/* Takes them out of the text: all their declarations and definitions. No other edit may stand
 * there. */
void leave_out_edit(const struct leave_out *out, struct edits *edits);

#endif
