/* Bases: pointers that stay the same while a loop adds indices of 32 bits to them.
 *
 * `p[i]` with an unsigned i is an address of its own in each round of a loop: base + i * 4. A fence
 * for each took 28% of a naive SGEMM on an H200, whose loop has eight instructions an access. Here
 * the base is fenced once, where it is loaded, and the access goes to
 *
 *     mad.wide.u32 gshare$at, i, 4, gshare$fixed0;
 *
 * which is what the compiler makes of the program's own two instructions. The index cannot be
 * negative, so that no access lies before the window; with a factor of at most FENCE_FACTOR it ends
 * within FENCE_REACH behind it, and the module's report says that it needs that much.
 *
 * The fenced base is in a register of its own, which holds an address of the window from the
 * function's first instruction on: so nothing has to be known of the order in which blocks run.
 *
 * It pays where the access runs more often than the base is loaded: in a loop that the load is not
 * in, or several times. A base is what is loaded, not what is computed: a sum may lie outside of
 * the window though the addresses that come of it do not. */
#include <stdlib.h>
#include <string.h>

#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

enum {
    MOST_STEPS = 64,     /* back from an access to what its address is made of */
    MOST_ROOT_STEPS = 4, /* back from a base to the load */
    MANY_USES = 4,       /* of a base outside of loops, that make it pay */
    MOST_NAME = 200,
    MOST_LOOP_WORK = 1 << 22 /* marks of all loops of the module together */
};

/* An address that is BASE + INDEX * FACTOR. */
struct sum {
    uint32_t base, index; /* registers */
    unsigned factor;
};

/* ---- What an address is made of -------------------------------------------------------------- */

/* Looks back from an access, over MOST_STEPS instructions in all. */
struct search {
    const struct fence *fence;
    uint32_t end;
};

/* The last instruction before AT that writes the register, where it always runs before; ninsts:
 * none is known. */
static uint32_t last_write(const struct search *search, uint32_t at, uint32_t reg)
{
    const struct ptx_func *f = search->fence->f;

    while (at > search->end && !search->fence->labelled[at]) {
        at--;
        if (definitions_writes(&f->insts[at], reg))
            return f->insts[at].guard == PTX_NO_REG ? at : f->ninsts;
    }
    return f->ninsts;
}

static bool is_reg(const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_REG;
}

static bool is_factor(const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_IMM && o->imm >= 1 && o->imm <= FENCE_FACTOR;
}

static bool is_64(const struct ptx_inst *inst)
{
    return ptx_type_bits(inst->type[0]) == 64 && !inst->flags;
}

/* The instruction that gives the register the value that instruction AT reads, from a register;
 * NULL: not known. */
static const struct ptx_inst *writer(const struct search *search, uint32_t at, uint32_t reg)
{
    const struct ptx_func *f = search->fence->f;
    const uint32_t by = last_write(search, at, reg);

    return by < f->ninsts && is_reg(&f->insts[by].ops[1]) ? &f->insts[by] : NULL;
}

static bool is_extended(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_CVT && inst->type[0] == PTX_T_U64 && inst->type[1] == PTX_T_U32;
}

static bool is_shifted(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_SHL && is_64(inst) && inst->ops[2].kind == PTX_OPND_IMM &&
           inst->ops[2].imm <= 2;
}

/* The register, read by instruction AT, is SUM->index * SUM->factor. *WHERE: the instruction that
 * reads the index. */
static bool is_scaled(const struct search *search, uint32_t at, uint32_t reg, struct sum *sum,
                      uint32_t *where)
{
    const struct ptx_inst *const first = search->fence->f->insts;
    const struct ptx_inst *inst = writer(search, at, reg);

    sum->factor = 1;
    if (inst && is_shifted(inst)) {
        sum->factor = 1u << inst->ops[2].imm;
        inst = writer(search, (uint32_t)(inst - first), inst->ops[1].reg);
        if (inst && !is_extended(inst))
            return false;
    }
    if (!inst)
        return false;
    *where = (uint32_t)(inst - first);
    sum->index = inst->ops[1].reg;
    if (is_extended(inst))
        return true;
    sum->factor = (unsigned)inst->ops[2].imm;
    return inst->op == PTX_OP_MUL && inst->mode == PTX_MODE_WIDE && inst->type[0] == PTX_T_U32 &&
           is_factor(&inst->ops[2]);
}

/* The address that instruction AT reads from the register. */
static bool is_sum(const struct fence *fence, uint32_t at, uint32_t reg, struct sum *sum)
{
    const struct search search = {fence, at > MOST_STEPS ? at - MOST_STEPS : 0};
    const struct ptx_func *f = fence->f;
    const struct ptx_inst *inst = writer(&search, at, reg);
    const uint32_t by = inst ? (uint32_t)(inst - f->insts) : 0;
    uint32_t where = by;

    if (!inst)
        return false;
    if (inst->op == PTX_OP_MAD && inst->mode == PTX_MODE_WIDE && inst->type[0] == PTX_T_U32 &&
        is_factor(&inst->ops[2]) && is_reg(&inst->ops[3])) {
        *sum = (struct sum){inst->ops[3].reg, inst->ops[1].reg, (unsigned)inst->ops[2].imm};
    } else if (inst->op == PTX_OP_ADD && is_64(inst) && is_reg(&inst->ops[2])) {
        unsigned scaled = 2;

        if (!is_scaled(&search, by, inst->ops[2].reg, sum, &where)) {
            scaled = 1;
            if (!is_scaled(&search, by, inst->ops[1].reg, sum, &where))
                return false;
        }
        sum->base = inst->ops[3 - scaled].reg;
    } else {
        return false;
    }
    /* A conversion may read a wider register. */
    if (ptx_type_bits(f->regs[sum->index].type) != 32)
        return false;
    /* The sum is made anew at the access: nothing of it may have changed. */
    for (uint32_t i = where; i < at; i++)
        if (definitions_writes(&f->insts[i], sum->index) ||
            definitions_writes(&f->insts[i], sum->base))
            return false;
    return true;
}

/* Where the base is loaded, by its only definition; ninsts: it is computed, or changes. */
static uint32_t loaded_at(const struct fence *fence, uint32_t base)
{
    const struct ptx_func *f = fence->f;
    const struct ptx_inst *first = definitions_only(f, fence->definitions, base), *inst = first;

    for (unsigned step = 0; inst && step < MOST_ROOT_STEPS; step++) {
        if (inst->op == PTX_OP_LD)
            return is_reg(&inst->ops[0]) ? (uint32_t)(first - f->insts) : f->ninsts;
        if ((inst->op != PTX_OP_CVTA || !(inst->flags & PTX_F_TO)) && inst->op != PTX_OP_MOV)
            break;
        if (!is_reg(&inst->ops[0]) || !is_reg(&inst->ops[1]))
            break;
        inst = definitions_only(f, fence->definitions, inst->ops[1].reg);
    }
    return f->ninsts;
}

/* ---- Loops ----------------------------------------------------------------------------------- */

/* By instruction: 1 + where the innermost loop that contains it begins, in the order of the text;
 * 0: in none. NULL: no memory, or too many loops in one another. */
static uint32_t *find_loops(struct fence *fence)
{
    const struct ptx_func *f = fence->f;
    uint32_t *loop = calloc((size_t)f->ninsts + 1, sizeof(*loop));

    for (uint32_t i = 0; loop && i < f->ninsts; i++) {
        const struct ptx_inst *inst = &f->insts[i];
        const uint32_t to = inst->op == PTX_OP_BRA && inst->ops[0].kind == PTX_OPND_LABEL
                                ? f->labels[inst->ops[0].label].inst
                                : i + 1;

        for (uint32_t k = to; k <= i; k++) {
            loop[k] = loop[k] > to + 1 ? loop[k] : to + 1;
            if (++fence->loop_work > MOST_LOOP_WORK) {
                free(loop);
                return NULL;
            }
        }
    }
    return loop;
}

/* ---- The bases of a function ----------------------------------------------------------------- */

/* The text calls a register by its name, and means another one where a scope has the name too. */
static bool names_are_plain(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ndecls; i++)
        if ((f->decls[i].nested && !fence_is_house_name(f->decls[i].name)) ||
            strlen(f->decls[i].name) > MOST_NAME)
            return false;
    return true;
}

static void take_base(struct fence *fence, uint32_t base)
{
    for (unsigned k = 0; k < fence->nbases; k++)
        if (fence->bases[k] == base)
            return;
    if (fence->nbases < FENCE_BASES)
        fence->bases[fence->nbases++] = base;
}

/* Chooses the bases that pay. */
static void find_bases(struct fence *fence, const uint32_t *loop, uint32_t *uses)
{
    const struct ptx_func *f = fence->f;
    const struct ptx_mem *mem;
    struct sum sum;

    for (uint32_t i = 0; i < f->ninsts; i++) {
        uint32_t loaded;

        mem = fence_register_access(fence, &f->insts[i]);
        if (!mem || !is_sum(fence, i, mem->reg, &sum))
            continue;
        loaded = loaded_at(fence, sum.base);
        if (loaded < f->ninsts && (loop[i] > loaded + 1 || ++uses[sum.base] == MANY_USES))
            take_base(fence, sum.base);
    }
}

/* Fences the K-th base, behind its definition. */
static void fence_base(struct fence *fence, unsigned k)
{
    const struct ptx_func *f = fence->f;
    const struct ptx_inst *inst = definitions_only(f, fence->definitions, fence->bases[k]);
    char name[256];

    edits_insert(&fence->edits, f->body_begin,
                 edits_text(&fence->edits,
                            " .reg .b64 gshare$fixed%u;"
                            " mov.b64 gshare$fixed%u, {gshare$base, gshare$base};",
                            k, k));
    edits_insert(&fence->edits, inst->end,
                 edits_text(&fence->edits, " " FENCE_FORCE("gshare$fixed%u"),
                            ptx_reg_name(f, fence->bases[k], name, sizeof(name)), k));
}

bool fence_bases_begin(struct fence *fence)
{
    const struct ptx_func *f = fence->f;
    uint32_t *loop, *uses;

    fence->nbases = 0;
    if (fence->strays || fence_is_house_function(f) || !names_are_plain(f))
        return true;
    loop = find_loops(fence);
    uses = calloc((size_t)f->nregs + 1, sizeof(*uses));
    if (loop && uses)
        find_bases(fence, loop, uses);
    free(loop);
    free(uses);
    for (unsigned k = 0; k < fence->nbases; k++)
        fence_base(fence, k);
    fence->report->indexed |= fence->nbases != 0;
    return uses != NULL;
}

bool fence_off_base(struct fence *fence, const struct ptx_mem *mem)
{
    const uint32_t at = (uint32_t)(fence->inst - fence->f->insts);
    struct sum sum;
    char name[256];

    if (!fence->nbases || fence_register_access(fence, fence->inst) != mem ||
        !is_sum(fence, at, mem->reg, &sum))
        return false;
    for (unsigned k = 0; k < fence->nbases; k++) {
        if (fence->bases[k] != sum.base)
            continue;
        fence_before(fence, "mad.wide.u32 gshare$at, %s, %u, gshare$fixed%u; ",
                     ptx_reg_name(fence->f, sum.index, name, sizeof(name)), sum.factor, k);
        return true;
    }
    return false;
}
