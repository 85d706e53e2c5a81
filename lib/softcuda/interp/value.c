// Values that come from the machine rather than from registers: special registers, addresses in the
// frame, the carry; and the choice of handlers for this host.
#include "common/util.h"
#include "softcuda/device/device.h"
#include "softcuda/interp/path.h"

static void put32(struct warp *w, const struct insn *in, uint32_t mask, uint64_t value)
{
    if (ptx_type_bits((enum ptx_type)in->type) == 64) {
        u64 *d = SLOT(u64, w, in->d);
        for (unsigned l = 0; l < LANES; l++)
            d[l] = mask >> l & 1 ? value : d[l];
    } else {
        u32 *d = SLOT(u32, w, in->d);
        for (unsigned l = 0; l < LANES; l++)
            d[l] = mask >> l & 1 ? (uint32_t)value : d[l];
    }
}

static uint64_t device_clock(const struct warp *w)
{
    uint64_t khz = w->block->grid->device->clock_khz;
    return (uint64_t)((unsigned __int128)clock_ns() * khz / 1000000u);
}

static uint64_t envreg(const struct warp *w, uint64_t n)
{
    uint64_t workspace = w->block->grid->workspace;
    return n == 1 ? workspace >> 32 : n == 2 ? workspace & 0xffffffffu : 0;
}

// Registers that are the same for all lanes.
static uint64_t uniform_sreg(const struct warp *w, uint32_t sreg, uint64_t index)
{
    const struct exec_block *b = w->block;
    const struct exec_grid *g = b->grid;
    switch (sreg) {
    case PTX_SREG_NTID_X:
    case PTX_SREG_NTID_Y:
    case PTX_SREG_NTID_Z:
        return g->block_dim[sreg - PTX_SREG_NTID_X];
    case PTX_SREG_CTAID_X:
    case PTX_SREG_CTAID_Y:
    case PTX_SREG_CTAID_Z:
        return b->index[sreg - PTX_SREG_CTAID_X];
    case PTX_SREG_CLUSTERID_X:
    case PTX_SREG_CLUSTERID_Y:
    case PTX_SREG_CLUSTERID_Z:
        sreg -= PTX_SREG_CLUSTERID_X;
        return b->index[sreg] / exec_cluster_dim(g, sreg);
    case PTX_SREG_CLUSTER_CTAID_X:
    case PTX_SREG_CLUSTER_CTAID_Y:
    case PTX_SREG_CLUSTER_CTAID_Z:
        sreg -= PTX_SREG_CLUSTER_CTAID_X;
        return b->index[sreg] % exec_cluster_dim(g, sreg);
    case PTX_SREG_CLUSTER_CTARANK:
        return b->rank;
    case PTX_SREG_NCTAID_X:
    case PTX_SREG_NCTAID_Y:
    case PTX_SREG_NCTAID_Z:
        return g->grid_dim[sreg - PTX_SREG_NCTAID_X];
    case PTX_SREG_NCLUSTERID_X:
    case PTX_SREG_NCLUSTERID_Y:
    case PTX_SREG_NCLUSTERID_Z:
        sreg -= PTX_SREG_NCLUSTERID_X;
        return g->grid_dim[sreg] / exec_cluster_dim(g, sreg);
    case PTX_SREG_CLUSTER_NCTAID_X:
    case PTX_SREG_CLUSTER_NCTAID_Y:
    case PTX_SREG_CLUSTER_NCTAID_Z:
        return exec_cluster_dim(g, sreg - PTX_SREG_CLUSTER_NCTAID_X);
    case PTX_SREG_CLUSTER_NCTARANK:
        return b->cluster_size;
    case PTX_SREG_WARPID:
        return w->index;
    case PTX_SREG_NWARPID:
        return 64;
    case PTX_SREG_SMID:
        return b->smid;
    case PTX_SREG_NSMID:
        return g->device->sm_count;
    case PTX_SREG_GRIDID:
        return g->id;
    case PTX_SREG_CLOCK:
    case PTX_SREG_CLOCK64:
        return device_clock(w);
    case PTX_SREG_CLOCK_HI:
        return device_clock(w) >> 32;
    case PTX_SREG_GLOBALTIMER:
    case PTX_SREG_GLOBALTIMER_LO:
        return clock_ns();
    case PTX_SREG_GLOBALTIMER_HI:
        return clock_ns() >> 32;
    case PTX_SREG_ENVREG:
        return envreg(w, index);
    case PTX_SREG_TOTAL_SMEM_SIZE:
        return b->shared_bytes - BLOCK_SHARED_RESERVED;
    case PTX_SREG_AGGR_SMEM_SIZE:
        return b->shared_bytes;
    case PTX_SREG_RESERVED_SMEM_END: // it begins at 0
    case PTX_SREG_RESERVED_SMEM_CAP:
        return BLOCK_SHARED_RESERVED;
    case PTX_SREG_RESERVED_SMEM_1: // cooperative groups take 288 bytes from here on
        return BLOCK_SHARED_RESERVED / 2;
    case PTX_SREG_DYNAMIC_SMEM_SIZE:
        return g->dynamic_shared;
    default:
        return 0;
    }
}

static uint32_t lane_sreg(const struct warp *w, uint32_t sreg, uint32_t l)
{
    switch (sreg) {
    case PTX_SREG_TID_X:
    case PTX_SREG_TID_Y:
    case PTX_SREG_TID_Z:
        return w->tid[sreg - PTX_SREG_TID_X][l];
    case PTX_SREG_LANEID:
        return l;
    case PTX_SREG_LANEMASK_EQ:
        return 1u << l;
    case PTX_SREG_LANEMASK_LE:
        return (2u << l) - 1;
    case PTX_SREG_LANEMASK_LT:
        return (1u << l) - 1;
    case PTX_SREG_LANEMASK_GE:
        return ALL_LANES << l;
    default:
        return ALL_LANES << l & ~(1u << l);
    }
}

int op_sreg(struct warp *w, const struct insn *in, uint32_t mask)
{
    uint32_t sreg = in->target;
    bool by_lane = (sreg >= PTX_SREG_TID_X && sreg <= PTX_SREG_TID_Z) || sreg == PTX_SREG_LANEID ||
                   (sreg >= PTX_SREG_LANEMASK_EQ && sreg <= PTX_SREG_LANEMASK_GT);
    if (!by_lane) {
        put32(w, in, mask, uniform_sreg(w, sreg, in->imm));
        return STEP_NEXT;
    }
    bool wide = ptx_type_bits((enum ptx_type)in->type) == 64;
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t value = lane_sreg(w, sreg, l);
        if (!(mask >> l & 1))
            continue;
        if (wide)
            SLOT(u64, w, in->d)[l] = value;
        else
            SLOT(u32, w, in->d)[l] = value;
    }
    return STEP_NEXT;
}

int op_is_explicit_cluster(struct warp *w, const struct insn *in, uint32_t mask)
{
    u32 *d = SLOT(u32, w, in->d);
    *d = (*d & ~mask) | (w->block->grid->cluster_dim[0] ? mask : 0);
    return STEP_NEXT;
}

int op_local_address(struct warp *w, const struct insn *in, uint32_t mask)
{
    put32(w, in, mask, w->frame->local_base + in->imm);
    return STEP_NEXT;
}

int op_dynamic_shared(struct warp *w, const struct insn *in, uint32_t mask)
{
    put32(w, in, mask, w->block->layout->dynamic_shared + in->imm);
    return STEP_NEXT;
}

// add.cc, addc, sub.cc, subc, mad.cc, madc: imm bit 0 subtracts, bit 1 reads the carry, bit 2
// writes it. mode: the half of a product. A difference is a + ~b + 1, so that its carry is set
// where nothing was borrowed: the compiler's division of 128 bits reads it so by addc.
int op_carry(struct warp *w, const struct insn *in, uint32_t mask)
{
    u32 *cc = SLOT(u32, w, in->target);
    uint32_t carry = *cc, out = 0;
    bool wide = ptx_type_bits((enum ptx_type)in->type) == 64;
    bool is_signed = ptx_type_is_signed((enum ptx_type)in->type);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t a = wide ? SLOT(u64, w, in->a)[l] : SLOT(u32, w, in->a)[l];
        uint64_t b = wide ? SLOT(u64, w, in->b)[l] : SLOT(u32, w, in->b)[l];
        uint32_t c = in->imm & 2 ? carry >> l & 1 : in->imm & 1;
        if (in->mode) {
            if (in->mode == PTX_MODE_LO)
                a = a * b;
            else if (wide)
                a = is_signed ? mulhi_s64((int64_t)a, (int64_t)b) : mulhi_u64(a, b);
            else
                a = is_signed ? (uint64_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32) & UINT32_MAX
                              : (a * b) >> 32;
            a = wide ? a : a & UINT32_MAX;
            b = wide ? SLOT(u64, w, in->c)[l] : SLOT(u32, w, in->c)[l];
        }
        if (in->imm & 1)
            b = wide ? ~b : ~b & UINT32_MAX;
        unsigned __int128 sum = (unsigned __int128)a + b + c;
        if (wide)
            SLOT(u64, w, in->d)[l] = (uint64_t)sum;
        else
            SLOT(u32, w, in->d)[l] = (uint32_t)sum;
        out |= (uint32_t)((sum >> (wide ? 64 : 32)) & 1) << l;
    }
    if (in->imm & 4)
        *cc = (carry & ~mask) | out;
    return STEP_NEXT;
}

int op_bfi_b32(struct warp *w, const struct insn *in, uint32_t mask)
{
    const u32 *pa = SLOT(u32, w, in->a), *pb = SLOT(u32, w, in->b), *pc = SLOT(u32, w, in->c),
              *pl = SLOT(u32, w, in->target);
    u32 *pd = SLOT(u32, w, in->d);
    for (unsigned l = 0; l < LANES; l++) {
        uint32_t value = bfi_b32(pa[l], pb[l], pc[l], pl[l]);
        pd[l] = mask >> l & 1 ? value : pd[l];
    }
    return STEP_NEXT;
}

int op_bfi_b64(struct warp *w, const struct insn *in, uint32_t mask)
{
    const u64 *pa = SLOT(u64, w, in->a), *pb = SLOT(u64, w, in->b);
    const u32 *pc = SLOT(u32, w, in->c), *pl = SLOT(u32, w, in->target);
    u64 *pd = SLOT(u64, w, in->d);
    for (unsigned l = 0; l < LANES; l++) {
        uint64_t value = bfi_b64(pa[l], pb[l], pc[l], pl[l]);
        pd[l] = mask >> l & 1 ? value : pd[l];
    }
    return STEP_NEXT;
}

insn_fn *const *alu_table(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return alu_table_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return alu_table_avx2;
#endif
    return alu_table_base;
}
