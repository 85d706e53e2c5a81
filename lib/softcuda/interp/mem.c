// Memory instructions that are not plain loads and stores: kernel parameters, fences, cp.async,
// isspacep.
#include "softcuda/interp/address.h"

// ---- Parameters of the kernel: the same for every lane, at an offset checked when lowered

static uint64_t read_scalar(const uint8_t *from, enum ptx_type t)
{
    uint64_t v = 0;
    unsigned bytes = ptx_type_bits(t) / 8;
    memcpy(&v, from, bytes > 8 ? 8 : bytes);
    if (ptx_type_is_signed(t) && bytes < 8 && v >> (8 * bytes - 1) & 1)
        v |= UINT64_MAX << (8 * bytes);
    return v;
}

int op_ld_param(struct warp *w, const struct insn *in, uint32_t mask)
{
    uint64_t v = read_scalar(w->block->grid->params + in->imm, (enum ptx_type)in->type);
    if (in->b == 64) {
        u64 *d = SLOT(u64, w, in->d);
        for (unsigned l = 0; l < LANES; l++)
            d[l] = mask >> l & 1 ? v : d[l];
    } else {
        u32 *d = SLOT(u32, w, in->d);
        for (unsigned l = 0; l < LANES; l++)
            d[l] = mask >> l & 1 ? (uint32_t)v : d[l];
    }
    return STEP_NEXT;
}

int op_fence(struct warp *w, const struct insn *in, uint32_t mask)
{
    (void)w, (void)in, (void)mask;
    atomic_thread_fence(memory_order_seq_cst);
    return STEP_NEXT;
}

// Whether the address is in constant memory of this module: another module's counts as global.
static bool is_constant(const struct exec_program *p, uint64_t address)
{
    for (size_t i = 0; i < p->nconsts; i++)
        if (address - p->consts[i].address < p->consts[i].size)
            return true;
    return false;
}

int op_isspacep(struct warp *w, const struct insn *in, uint32_t mask)
{
    const u64 *pa = SLOT(u64, w, in->a);
    u32 *d = SLOT(u32, w, in->d);
    uint32_t bits = 0;
    for (unsigned l = 0; l < LANES; l++) {
        uint64_t window = pa[l] & ~0xffffffffull;
        bool shared = window == MEM_SHARED_WINDOW, local = window == MEM_LOCAL_WINDOW,
             param = window == MEM_PARAM_WINDOW, yes = false;
        switch (in->mode) {
        case PTX_SPACE_SHARED:
            yes = shared && !((uint32_t)pa[l] >> CLUSTER_SHIFT);
            break;
        case PTX_SPACE_SHARED_CLUSTER:
            yes = shared;
            break;
        case PTX_SPACE_LOCAL:
            yes = local;
            break;
        case PTX_SPACE_PARAM:
        case PTX_SPACE_PARAM_ENTRY:
            yes = param;
            break;
        case PTX_SPACE_GLOBAL:
            yes = !shared && !local && !param && !is_constant(w->block->program, pa[l]);
            break;
        default:
            yes = is_constant(w->block->program, pa[l]);
            break;
        }
        bits |= (uint32_t)yes << l;
    }
    *d = (*d & ~mask) | (bits & mask);
    return STEP_NEXT;
}

// ---- Shared memory of other blocks of the cluster

static uint32_t rank_of(const struct exec_block *b, uint64_t address)
{
    uint32_t block = (uint32_t)address >> CLUSTER_SHIFT;
    return block ? block - 1 : b->rank;
}

int op_mapa(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct exec_block *b = w->block;
    bool wide = ptx_type_bits((enum ptx_type)in->type) == 64;
    const u32 *rank = SLOT(u32, w, in->b);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t a = wide ? SLOT(u64, w, in->a)[l] : SLOT(u32, w, in->a)[l];
        uint32_t offset = (uint32_t)a & ((1u << CLUSTER_SHIFT) - 1);
        if (rank[l] >= b->cluster_size)
            return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_INSTRUCTION, rank[l]);
        if (rank[l] != b->rank)
            offset |= (rank[l] + 1) << CLUSTER_SHIFT;
        if (wide)
            SLOT(u64, w, in->d)[l] = in->imm + offset;
        else
            SLOT(u32, w, in->d)[l] = offset;
    }
    return STEP_NEXT;
}

int op_getctarank(struct warp *w, const struct insn *in, uint32_t mask)
{
    bool wide = ptx_type_bits((enum ptx_type)in->type) == 64;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t a = wide ? SLOT(u64, w, in->a)[l] : SLOT(u32, w, in->a)[l];
        SLOT(u32, w, in->d)[l] = rank_of(w->block, a);
    }
    return STEP_NEXT;
}

// ---- cp.async: the copy is done at once

int op_cp_async(struct warp *w, const struct insn *in, uint32_t mask)
{
    const uint32_t *aux = w->frame->code->aux + in->aux;
    const struct insn target = {
        .a = aux[0], .mode = (uint8_t)aux[1], .imm = aux[2] | (uint64_t)aux[3] << 32};
    uint32_t bytes = in->target;
    const u32 *limit = in->b == NO_OPERAND ? NULL : SLOT(u32, w, in->b);
    uint32_t ignored = in->c == NO_OPERAND ? 0 : *SLOT(u32, w, in->c);
    _Alignas(SLOT_ALIGN) uint64_t to[LANES], from[LANES];
    struct insn at_target = target;
    int step = lanes_address(w, &at_target, mask, bytes, MEM_WRITE, to);
    if (step) {
        w->block->fault.line = w->frame->code->lines[in - w->frame->code->insns];
        return step;
    }
    uint32_t reads = 0;
    for (unsigned l = 0; l < LANES; l++) {
        uint32_t some = limit ? limit[l] : bytes;
        reads |= (uint32_t)(some && !(ignored >> l & 1)) << l;
    }
    reads &= mask;
    if (reads && (step = lanes_address(w, in, reads, bytes, MEM_READ, from)))
        return step;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint32_t some = !(reads >> l & 1) ? 0 : limit && limit[l] < bytes ? limit[l] : bytes;
        if (some) // a copy of no bytes has no source
            memcpy(mem_pointer(to[l]), mem_pointer(from[l]), some);
        memset((uint8_t *)mem_pointer(to[l]) + some, 0, bytes - some);
    }
    return STEP_NEXT;
}
