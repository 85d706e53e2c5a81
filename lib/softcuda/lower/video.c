// Video instructions. They are rare, so one handler reads their modifiers from the PTX instruction
// itself, which lives as long as the program.
#include "softcuda/lower/lower.h"

bool lower_video(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    if (i->op < PTX_OP_VADD || i->op > PTX_OP_VSET4)
        return false;
    uint32_t a = lower_src(L, &i->ops[1], 32), b = lower_src(L, &i->ops[2], 32);
    uint32_t c =
        i->ops[3].kind == PTX_OPND_NONE ? lower_const32(L, 0) : lower_src(L, &i->ops[3], 32);
    struct insn *in = lower_emit(L, op_video);
    in->a = a;
    in->b = b;
    in->c = c;
    in->d = lower_dst(L, &i->ops[0], 32);
    in->imm = (uint64_t)(uintptr_t)i;
    return true;
}
