// Instructions in which all lanes of a group take part: which lanes these are, and access to their
// operands, whatever path each lane is in.
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

// Does the work for all lanes of G. Returns STEP_NEXT or STEP_FAULT.
typedef int group_fn(const struct group *g);

// Called in the handler of IN. If all members (the lanes named in slot in->imm) are in the current
// path, does the work at once; otherwise waits for them.
int group_take_part(struct warp *w, const struct insn *in, uint32_t mask);

// Each returns the function for a matrix instruction; NULL: it is none. matrix_function asks
// wgmma_function for wgmma's.
group_fn *matrix_function(const struct insn *in);
group_fn *wgmma_function(const struct insn *in);

#define PART_SLOT(T, p, operand)                                                                   \
    ((T *)(void *)(((operand)&1 ? (p)->frame->code->pool : (p)->frame->regs) + ((operand) & ~1u)))

#endif
