// Assigns each PTX register a slot in the register window.
#include <errno.h>

#include "softcuda/lower/lower.h"

static uint32_t slot_bytes(unsigned bits)
{
    return bits == 1 ? 4 : bits / 8 * LANES;
}

// Predicates come first, one word each; then the wide registers, aligned for the host's vectors.
int lower_assign_slots(struct lower *L)
{
    const struct ptx_func *f = L->func;
    uint64_t at = 4;
    L->carry = 0;
    for (uint32_t r = 0; r < f->nregs; r++)
        if (lower_reg_bits(L, r) == 1) {
            L->slot[r] = (uint32_t)at;
            at += 4;
        }
    at = (at + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
    for (uint32_t r = 0; r < f->nregs; r++) {
        unsigned bits = lower_reg_bits(L, r);
        if (bits == 1)
            continue;
        if (bits != 32 && bits != 64 && bits != 128) {
            lower_fail(L, -ENOTSUP, "registers of type %s",
                       ptx_type_name((enum ptx_type)f->regs[r].type));
            return L->error;
        }
        L->slot[r] = (uint32_t)at;
        at += slot_bytes(bits);
        if (at > LOWER_MAX_FRAME) {
            lower_fail(L, -E2BIG, "more than %u registers of 32 bits",
                       LOWER_MAX_FRAME / (LANES * 4));
            return L->error;
        }
    }
    L->frame_bytes = (uint32_t)at;
    return 0;
}
