// Tensor copies: a map, coordinates, and a box in shared memory.
#include "softcuda/lower/lower.h"

static enum tensor_copy copy_of(const struct ptx_inst *i)
{
    if (i->op == PTX_OP_CP_ASYNC_BULK_PREFETCH_TENSOR)
        return TENSOR_PREFETCH;
    return i->space == PTX_SPACE_GLOBAL ? TENSOR_STORE : TENSOR_LOAD;
}

void lower_tensor(struct lower *L)
{
    const struct ptx_inst *i = L->inst;
    const enum tensor_copy copy = copy_of(i);
    const struct ptx_operand *map = &i->ops[copy == TENSOR_LOAD ? 1 : 0], *coordinates = map + 1;
    uint32_t words[TENSOR_AUX] = {0}, address = lower_src(L, map, 64);

    for (uint32_t k = 0; k < coordinates->count; k++)
        words[k] = lower_src(L, &coordinates->list[k], 32);
    if (copy != TENSOR_PREFETCH) {
        struct lower_mem box =
            lower_mem(L, copy == TENSOR_LOAD ? &i->ops[0] : coordinates + 1, PTX_SPACE_SHARED);
        lower_put_mem(words + TENSOR_BOX_AT, &box);
    }
    words[TENSOR_MASK_AT] = i->flags & PTX_F_MULTICAST ? lower_src(L, &i->ops[4], 32) : NO_OPERAND;
    if (copy == TENSOR_LOAD) {
        struct lower_mem object = lower_mem(L, coordinates + 1, PTX_SPACE_SHARED);
        lower_put_mem(words + TENSOR_OBJECT_AT, &object);
    }
    uint32_t aux = lower_aux(L, words, TENSOR_AUX);
    struct insn *in = lower_emit(L, op_tensor);
    in->aux = aux;
    in->a = address;
    in->b = i->num;
    in->target = copy;
    in->mode = i->aop;
}
