// Instructions in which all lanes of a group take part: who they are, and how their operands are
// read and written whichever path each is in.
#ifndef GS_SOFTCUDA_INTERP_GROUP_H
#define GS_SOFTCUDA_INTERP_GROUP_H

#include <stddef.h>

#include "softcuda/interp/path.h"

// A group is one path in nearly all cases.
struct group {
    struct warp *w;
    uint32_t n;
    uint32_t lanes;
    struct part {
        const struct insn *in;
        const struct frame *frame;
        uint32_t mask;
    } part[LANES];
};

// Does the work for all lanes of G. STEP_NEXT or STEP_FAULT.
typedef int group_fn(const struct group *g);

// Runs in the handler of IN: does WORK at once where all members (the lanes named in slot in->imm)
// are in the current path, else waits for them.
int group_take_part(struct warp *w, const struct insn *in, uint32_t mask);

// Each returns the function that does the work of a matrix instruction; NULL: the instruction is
// none. matrix_function asks wgmma_function for wgmma's.
group_fn *matrix_function(const struct insn *in);
group_fn *wgmma_function(const struct insn *in);

#define PART_SLOT(T, p, operand)                                                                   \
    ((T *)(void *)(((operand)&1 ? (p)->frame->code->pool : (p)->frame->regs) + ((operand) & ~1u)))

#endif
