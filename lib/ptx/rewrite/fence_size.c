/* Limits for the size of a function. The driver compiles in the worker, and the memory and time
 * that it needs for a function grow with the square, or the third power, of the following figures.
 * ptxas 13.0 for sm_90 needs, in seconds of CPU time:
 *
 *     live registers                4,000: 0.5 GiB in 15 s      20,000: more than 6.7 GiB
 *     labels                        8,000: 0.5 GiB in 43 s      100,000: more than 8.3 GiB
 *     accesses to memory            32,000: 0.3 to 2.0 GiB      64,000: 2.6 GiB in 100 s
 *                                   in 20 to 60 s
 *     calls                         8,000: 0.4 GiB in 9 s       10,000: 0.6 GiB
 *     targets of brx.idx            100,000: 0.5 GiB in 6 s     800,000: more than a minute
 *     instructions                  200,000: 1.4 GiB in 18 s    500,000: more than 3.4 GiB
 *     selp                          16,000: 1.5 GiB in 10 s     60,000: more than 9 GiB
 *     divisions, roots              2,000: 0.4 GiB in 16 s      6,000: more than 1.4 GiB
 *     ... of 32-bit integers        4,000: 0.5 GiB in 19 s      16,000: more than 1.5 GiB
 *     nested loops                  500: 3 s                    1,000: 23 s
 *     registers and labels          1,000 and 1,000: 0.4 GiB    1,000 and 4,000: 3.4 to more than
 *                                   500 and 2,000: 0.8 GiB      4.7 GiB
 *                                   250 and 4,000: 1.3 GiB      250 and 8,000: more than 4.5 GiB
 *                                   128 and 8,000: 2.4 GiB
 *     registers and instructions    200 and 200,000: 1.4 GiB    1,000 and 100,000: more than
 *                                   in 18 s, 3,800 and 32,000:  2.6 GiB in 60 s
 *                                   0.5 GiB in 8 s
 *     accesses and labels           4,000 and 4,000: 10 s       32,000 and 8,000: more than 3.4 GiB
 *                                   16,000 and 4,000: 1.0 GiB   in 127 s
 *                                   in 30 s
 *
 * Registers and labels need 0.35 GiB for each 2^30 of (registers * labels^2).
 *
 * A module may have many functions, so the sum of their squares is bounded, too. So is the number
 * of functions that kernels call, directly or not: 1,500 need 0.1 GiB and 25 s, which grows with
 * the third power, and 20,000 more than 8.4 GiB. So the compiler needs at most some four minutes
 * for a module, or three times that if it is compiled again (module/compile.c). The time is charged
 * to the module's user (jobs/pace.h).
 *
 * Of the 2,083 functions of test/corpus, test/ptx and lib/cublas, none has more than 293 live
 * registers and 2,100 instructions. */
#include "ptx/rewrite/fence.h"
#include "ptx/rewrite/live.h"

enum kind {
    LABELS,
    ACCESSES,
    ACCESS_LABELS,
    CALLS,
    TARGETS,
    INSTRUCTIONS,
    SELECTS,
    DIVISIONS,
    LOOPS,
    LIVE,
    LIVE_LABELS,
    LIVE_INSTRUCTIONS,
    KINDS
};

static const struct {
    uint32_t most;
    const char *text;
} kinds[KINDS] = {
    [LIVE] = {4096, "live 32-bit registers"},
    [LABELS] = {8192, "labels"},
    [ACCESSES] = {32768, "accesses to memory"},
    [ACCESS_LABELS] = {1 << 10, "times 2^16 of accesses to memory times labels"},
    [CALLS] = {8192, "calls"},
    [TARGETS] = {131072, "targets of brx.idx"},
    [INSTRUCTIONS] = {1 << 18, "instructions"},
    [SELECTS] = {16384, "selp"},
    [DIVISIONS] = {8192, "halves of divisions, reciprocals and roots"},
    [LOOPS] = {2048, "backward branches"},
    [LIVE_INSTRUCTIONS] = {1 << 10, "times 2^33 of live registers times squared instructions"},
    [LIVE_LABELS] = {1 << 13, "times 2^20 of live registers times squared labels"},
};

#define LIVE_STEPS    (UINT64_C(1) << 27) /* for a function: half a second */
#define LIVE_WORK     (16 * LIVE_STEPS)   /* for all functions of a module */
/* Limit for the sum, over all functions and kinds, of (figure / largest allowed figure)^2. */
#define SQUARES_MOST  4
/* Above this sum, functions are compiled one at a time. Below it, four at once need no more memory
 * than one of the largest allowed. */
#define SQUARES_LARGE (SQUARES_UNIT / 16)
#define CALLED_MOST   2048 /* functions in a module, besides its kernels */
#define SQUARES_UNIT  (UINT64_C(1) << 20)

static bool accesses_memory(const struct ptx_inst *inst)
{
    for (unsigned k = 0; k < inst->nops; k++)
        if (inst->ops[k].kind == PTX_OPND_MEM && inst->space != PTX_SPACE_PARAM)
            return true;
    return false;
}

/* Calls that the fence has added do not count: their functions are short. */
static bool is_tenants_call(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_CALL &&
           !(inst->ops[1].kind == PTX_OPND_FUNC && fence_is_gshare_function(inst->ops[1].func));
}

/* The relative size of the code that the compiler generates for a division, reciprocal or root:
 * half as much for 32-bit integers, or without a rounding mode, as for others. */
static uint32_t division_weight(const struct ptx_inst *inst)
{
    const bool divides = inst->op == PTX_OP_DIV || inst->op == PTX_OP_REM;

    if (inst->flags & PTX_F_APPROX)
        return 0;
    if ((divides || inst->op == PTX_OP_SQRT || inst->op == PTX_OP_RCP) &&
        (inst->rnd || ptx_type_bits(inst->type[0]) == 64))
        return 2;
    return divides;
}

/* The number of backward branches in the instruction. */
static uint32_t backward_branches(const struct ptx_func *f, uint32_t at)
{
    const struct ptx_inst *inst = &f->insts[at];
    uint32_t count = 0;

    if (inst->op == PTX_OP_BRA)
        return f->labels[inst->ops[0].label].inst <= at;
    if (inst->op == PTX_OP_BRX_IDX) {
        const struct ptx_table *table = &f->tables[inst->ops[1].table];
        for (uint32_t i = 0; i < table->count; i++)
            count += f->labels[table->labels[i]].inst <= at;
    }
    return count;
}

/* Fills all figures that do not depend on live registers. */
static void count(const struct ptx_func *f, uint32_t has[KINDS])
{
    has[LABELS] = f->nlabels;
    has[INSTRUCTIONS] = f->ninsts;
    has[ACCESSES] = has[CALLS] = has[TARGETS] = has[SELECTS] = has[DIVISIONS] = 0;
    has[LOOPS] = 0;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_inst *inst = &f->insts[i];
        has[ACCESSES] += accesses_memory(inst);
        has[CALLS] += is_tenants_call(inst);
        has[SELECTS] += inst->op == PTX_OP_SELP;
        has[DIVISIONS] += division_weight(inst);
        has[LOOPS] += backward_branches(f, i);
        if (inst->op == PTX_OP_BRX_IDX)
            has[TARGETS] += f->tables[inst->ops[1].table].count;
    }
    has[ACCESS_LABELS] = (uint32_t)((uint64_t)has[ACCESSES] * has[LABELS] >> 16);
}

/* False: no memory, or the function is refused because this takes too long. */
static bool count_live(struct fence *fence, const struct ptx_func *f, uint32_t *live)
{
    const uint64_t rest = LIVE_WORK - fence->live_work;
    const uint64_t most = rest < LIVE_STEPS ? rest : LIVE_STEPS;
    uint64_t left = most;

    if (!live_most(f, &left, live))
        return false;
    fence->live_work += most - left;
    return *live != UINT32_MAX ||
           fence_refuse(fence, f->line, "a function of too many registers and branches");
}

static bool function_fits(struct fence *fence, const struct ptx_func *f, uint64_t *squares)
{
    uint32_t has[KINDS];

    count(f, has);
    /* Live registers come last, since finding them takes longest. */
    for (enum kind kind = 0; kind < KINDS; kind++) {
        const uint64_t most = kinds[kind].most;
        if (kind == LIVE && !count_live(fence, f, &has[LIVE]))
            return false;
        if (kind == LIVE_INSTRUCTIONS)
            has[kind] =
                (uint32_t)((uint64_t)has[LIVE] * has[INSTRUCTIONS] * has[INSTRUCTIONS] >> 33);
        if (kind == LIVE_LABELS)
            has[kind] = (uint32_t)((uint64_t)has[LIVE] * has[LABELS] * has[LABELS] >> 20);
        if (has[kind] > most)
            return fence_refuse(fence, f->line, "a function of %u %s, of at most %u", has[kind],
                                kinds[kind].text, kinds[kind].most);
        if (kind != INSTRUCTIONS)
            *squares += SQUARES_UNIT * has[kind] * has[kind] / (most * most);
    }
    return true;
}

bool fence_size(struct fence *fence)
{
    uint64_t squares = 0;

    return fence_is_gshare_function(fence->f) || function_fits(fence, fence->f, &squares);
}

bool fence_size_of_all(struct fence *fence, const struct ptx_module *m)
{
    uint64_t squares = 0;
    uint32_t called = 0;

    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];

        if (!f->has_body || fence_is_gshare_function(f))
            continue;
        called += !f->entry;
        if (!function_fits(fence, f, &squares))
            return false;
    }
    fence->report->large = squares > SQUARES_LARGE;
    if (called > CALLED_MOST)
        return fence_refuse(fence, 0, "%u functions besides kernels, of at most %u", called,
                            CALLED_MOST);
    return squares <= SQUARES_MOST * SQUARES_UNIT ||
           fence_refuse(fence, 0, "the module has too many large functions");
}
