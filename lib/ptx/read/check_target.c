/* The lowest .target and .version that support an instruction. Constants; an instruction that is
 * not listed exists in all targets and versions that the reader accepts. */
#include "ptx/read/parse.h"

struct since {
    uint16_t op;
    uint8_t sm, major, minor;
};

static const struct since since[] = {
    {PTX_OP_ACTIVEMASK, 30, 6, 2},
    {PTX_OP_ALLOCA, 52, 7, 3},
    {PTX_OP_APPLYPRIORITY, 80, 7, 4},
    {PTX_OP_BAR_WARP_SYNC, 30, 6, 0},
    {PTX_OP_BARRIER_ARRIVE, 30, 6, 0},
    {PTX_OP_BARRIER_CLUSTER_ARRIVE, 90, 7, 8},
    {PTX_OP_BARRIER_CLUSTER_WAIT, 90, 7, 8},
    {PTX_OP_BARRIER_RED, 30, 6, 0},
    {PTX_OP_BARRIER_SYNC, 30, 6, 0},
    {PTX_OP_BMSK, 70, 7, 6},
    {PTX_OP_CP_ASYNC, 80, 7, 0},
    {PTX_OP_CP_ASYNC_BULK, 90, 8, 0},
    {PTX_OP_CP_ASYNC_BULK_COMMIT, 90, 8, 0},
    {PTX_OP_CP_ASYNC_BULK_PREFETCH, 90, 8, 0},
    {PTX_OP_CP_ASYNC_BULK_PREFETCH_TENSOR, 90, 8, 0},
    {PTX_OP_CP_ASYNC_BULK_TENSOR, 90, 8, 0},
    {PTX_OP_CP_ASYNC_BULK_WAIT, 90, 8, 0},
    {PTX_OP_CP_ASYNC_COMMIT, 80, 7, 0},
    {PTX_OP_CP_ASYNC_MBARRIER, 80, 7, 0},
    {PTX_OP_CP_ASYNC_WAIT, 80, 7, 0},
    {PTX_OP_CP_ASYNC_WAIT_ALL, 80, 7, 0},
    {PTX_OP_CP_REDUCE_ASYNC_BULK, 90, 8, 0},
    {PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR, 90, 8, 0},
    {PTX_OP_CREATEPOLICY, 80, 7, 4},
    {PTX_OP_CREATEPOLICY_CVT, 80, 7, 4},
    {PTX_OP_CVT_PACK, 72, 6, 5},
    {PTX_OP_DISCARD, 80, 7, 4},
    {PTX_OP_DP2A, 61, 5, 0},
    {PTX_OP_DP4A, 61, 5, 0},
    {PTX_OP_ELECT, 90, 8, 0},
    {PTX_OP_FENCE, 70, 6, 0},
    {PTX_OP_FENCE_MBARRIER_INIT, 90, 8, 0},
    {PTX_OP_FENCE_PROXY_TENSORMAP, 90, 8, 3},
    {PTX_OP_FNS, 30, 6, 0},
    {PTX_OP_GETCTARANK, 90, 7, 8},
    {PTX_OP_GRIDDEPCONTROL, 90, 7, 8},
    {PTX_OP_LDMATRIX, 75, 6, 5},
    {PTX_OP_LOP3, 50, 4, 3},
    {PTX_OP_MAPA, 90, 7, 8},
    {PTX_OP_MATCH, 70, 6, 0},
    {PTX_OP_MBARRIER_ARRIVE, 80, 7, 0},
    {PTX_OP_MBARRIER_ARRIVE_DROP, 80, 7, 0},
    {PTX_OP_MBARRIER_COMPLETE_TX, 90, 8, 0},
    {PTX_OP_MBARRIER_EXPECT_TX, 90, 8, 0},
    {PTX_OP_MBARRIER_INIT, 80, 7, 0},
    {PTX_OP_MBARRIER_INVAL, 80, 7, 0},
    {PTX_OP_MBARRIER_PENDING, 80, 7, 0},
    {PTX_OP_MBARRIER_TEST_WAIT, 80, 7, 0},
    {PTX_OP_MBARRIER_TRY_WAIT, 90, 7, 8},
    {PTX_OP_MMA, 70, 6, 4},
    {PTX_OP_MOVMATRIX, 75, 7, 8},
    {PTX_OP_NANOSLEEP, 70, 6, 2},
    {PTX_OP_REDUX, 80, 7, 0},
    {PTX_OP_SETMAXNREG, 90, 8, 0},
    {PTX_OP_STACKRESTORE, 52, 7, 3},
    {PTX_OP_STACKSAVE, 52, 7, 3},
    {PTX_OP_STMATRIX, 90, 7, 8},
    {PTX_OP_ST_ASYNC, 90, 8, 1},
    {PTX_OP_SZEXT, 70, 7, 6},
    {PTX_OP_TANH, 75, 7, 0},
    {PTX_OP_WGMMA, 90, 8, 0},
    {PTX_OP_WGMMA_COMMIT, 90, 8, 0},
    {PTX_OP_WGMMA_FENCE, 90, 8, 0},
    {PTX_OP_WGMMA_WAIT, 90, 8, 0},
    {PTX_OP_WMMA_LOAD, 70, 6, 3},
    {PTX_OP_WMMA_MMA, 70, 6, 3},
    {PTX_OP_WMMA_STORE, 70, 6, 3},
};

/* Says for what the target or the version is too old, or too new (an exchange of lanes without
 * .sync); NULL: the instruction is supported. */
static const char *newer_or_gone(const struct ptx_module *m, const struct ptx_inst *inst,
                                 unsigned version)
{
    bool exchange = inst->op == PTX_OP_SHFL || inst->op == PTX_OP_VOTE;
    bool three = (inst->op == PTX_OP_MIN || inst->op == PTX_OP_MAX) && inst->nops > 3 &&
                 inst->ops[3].kind != PTX_OPND_NONE;

    if (exchange && !(inst->flags & PTX_F_SYNC) && m->sm >= 70 && version >= 0x64)
        return "expected .sync from sm_70 and PTX 6.4 on";
    if (inst->mode == PTX_MODE_TENSORMAP && (m->sm < 90 || version < 0x80))
        return "expected .target sm_90 and PTX 8.0 for .tensormap";
    if (ptx_sparse_chunk(inst) && (m->sm < 80 || version < 0x71))
        return "expected .target sm_80 and PTX 7.1 for .sp";
    if (inst->mode2 == PTX_MODE_SPARSE_ORDERED && version < 0x85)
        return "expected PTX 8.5 for .sp::ordered_metadata";
    if (m->sm >= 100 && version >= 0x88)
        return NULL;
    if (inst->vec * ptx_type_bits(inst->type[0]) > 128)
        return "expected at most 128 bits before sm_100 and PTX 8.8";
    if (m->sm >= 100)
        return NULL;
    if (inst->op == PTX_OP_REDUX && inst->type[0] == PTX_T_F32)
        return "expected .target sm_100a for .f32";
    return three ? "expected two operands before sm_100" : NULL;
}

bool target_check(struct parser *p, const struct ptx_inst *inst, const struct token *at)
{
    const struct ptx_module *m = p->m;
    unsigned version = m->version_major * 16u + m->version_minor;
    const char *wrong = newer_or_gone(m, inst, version);
    size_t i;

    if (wrong)
        return parser_fail(p, at, "%s: %s", ptx_op_name(inst->op), wrong);
    for (i = 0; i < sizeof(since) / sizeof(since[0]); i++) {
        const struct since *s = &since[i];

        if (s->op != inst->op)
            continue;
        if (m->sm < s->sm)
            return parser_fail(p, at, "%s: expected .target sm_%u or later, found sm_%u",
                               ptx_op_name(inst->op), s->sm, m->sm);
        if (version < s->major * 16u + s->minor)
            return parser_fail(p, at, "%s: expected .version %u.%u or later, found %u.%u",
                               ptx_op_name(inst->op), s->major, s->minor, m->version_major,
                               m->version_minor);
        break;
    }
    /* Later devices do not support it. */
    if (ptx_op_class(inst->op) == PTX_CLASS_WGMMA && (m->sm != 90 || m->sm_suffix != 'a'))
        return parser_fail(p, at, "%s: expected .target sm_90a, found sm_%u", ptx_op_name(inst->op),
                           m->sm);
    if (inst->op == PTX_OP_SETMAXNREG && m->sm_suffix != 'a')
        return parser_fail(p, at, "setmaxnreg: expected .target sm_%ua, found sm_%u", m->sm, m->sm);
    return true;
}
