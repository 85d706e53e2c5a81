/* Which addresses are certain to be in global memory: those of .global accesses, and generic ones
 * if the module makes no generic addresses of other spaces. */
#include "ptx/rewrite/fence.h"

void fence_find_generic(struct fence *fence)
{
    for (uint32_t i = 0; i < fence->m->nfuncs; i++)
        for (uint32_t k = 0; k < fence->m->funcs[i]->ninsts; k++) {
            const struct ptx_inst *inst = &fence->m->funcs[i]->insts[k];

            if (inst->op == PTX_OP_CVTA && !(inst->flags & PTX_F_TO))
                fence->generic[inst->space] = true;
            if (inst->op == PTX_OP_MAPA && inst->space == PTX_SPACE_GENERIC)
                fence->generic[PTX_SPACE_SHARED_CLUSTER] = true;
        }
}

bool fence_knows_other_spaces(const struct fence *fence)
{
    return fence->generic[PTX_SPACE_SHARED] || fence->generic[PTX_SPACE_SHARED_CLUSTER] ||
           fence->generic[PTX_SPACE_LOCAL] || fence->generic[PTX_SPACE_CONST];
}

const struct ptx_mem *fence_register_access(const struct fence *fence, const struct ptx_inst *inst)
{
    const enum ptx_class class = ptx_op_class(inst->op);

    if ((class != PTX_CLASS_LOAD && class != PTX_CLASS_STORE && class != PTX_CLASS_ATOM) ||
        (inst->space != PTX_SPACE_GLOBAL &&
         (inst->space != PTX_SPACE_GENERIC || fence_knows_other_spaces(fence))))
        return NULL;
    for (unsigned k = 0; k < inst->nops; k++)
        if (inst->ops[k].kind == PTX_OPND_MEM)
            return inst->ops[k].mem.base == PTX_BASE_REG ? &inst->ops[k].mem : NULL;
    return NULL;
}
