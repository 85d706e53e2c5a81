/* Walks: sums of two registers, one of which advances in a loop by additions.
 *
 * Compilers keep a pointer that advances separate from the part that differs between threads:
 *
 *     loop: add.s64 a, p, row; ld.global [a]; ... add.s64 p, p, 16; bra loop;
 *
 * Here p need not be a pointer into the tenant's memory, so it cannot be forced; and a is computed
 * again in each iteration, so that fencing it also takes moves. A forced register of its own that
 * advances along needs only the one instruction of a simple pointer:
 *
 *     loop: (gshare$walk0 is forced) ld.global [gshare$walk0]; ...
 *           add.s64 p, p, 16; add.s64 gshare$walk0, gshare$walk0, 16; bra loop;
 *
 * A naive SGEMM with signed indices, 6.3% slower without walks on an H200, is as fast as without
 * the fence.
 *
 * Behind each write of p or the row, the walk is computed again, by an addition like the program's.
 * So it is p + row wherever both have a value, and the order in which blocks run does not matter.
 * It is forced only where an access off it always runs, which does not change an address of the
 * tenant's. If one of the terms is written between the sum and the access, the sum is fenced like
 * any other register. */
#include "ptx/rewrite/definitions.h"
#include "ptx/rewrite/fence.h"

enum { MOST_WRITES = 8 }; /* writes of both terms, in a function */

/* The operand that the instruction adds to the walker; NULL: the instruction does something else.
 */
static const struct ptx_operand *distance_of(const struct ptx_inst *inst, uint32_t walker)
{
    const struct ptx_operand *o = inst->ops;
    unsigned by;

    if (!fence_adds_addresses(inst) || inst->guard != PTX_NO_REG || o[0].kind != PTX_OPND_REG ||
        o[0].reg != walker)
        return NULL;
    by = o[1].kind == PTX_OPND_REG && o[1].reg == walker ? 2 : 1;
    if (o[3 - by].kind != PTX_OPND_REG || o[3 - by].reg != walker)
        return NULL;
    if (o[by].kind == PTX_OPND_IMM || (o[by].kind == PTX_OPND_REG && o[by].reg != walker))
        return &o[by];
    return NULL;
}

/* ---- The walks of a function ----------------------------------------------------------------- */

/* Whether in the innermost loop around instruction AT the walker advances and nothing else writes
 * it or the rest, and few instructions outside of the loop do. */
static bool moves(const struct fence *fence, const struct definition_sites *written, uint32_t at,
                  const struct fence_walk *walk)
{
    const uint32_t begin = fence->loop[at] - 1, end = fence->loop_end[fence->loop[at]];
    const uint32_t *const by = written->insts, *const walker = written->first + walk->walker,
                          *const rest = written->first + walk->rest;
    unsigned moved = 0;

    if (walker[1] - walker[0] + rest[1] - rest[0] > MOST_WRITES)
        return false;
    for (uint32_t k = rest[0]; k < rest[1]; k++)
        if (by[k] >= begin && by[k] < end)
            return false;
    for (uint32_t k = walker[0]; k < walker[1]; k++) {
        if (by[k] < begin || by[k] >= end)
            continue;
        if (!distance_of(&fence->f->insts[by[k]], walk->walker))
            return false;
        moved++;
    }
    return moved;
}

/* Whether the instruction always adds two registers into a third one. */
static bool is_sum(const struct fence *fence, const struct ptx_inst *inst)
{
    const struct ptx_operand *o = inst->ops;

    return fence_adds_addresses(inst) && inst->guard == PTX_NO_REG &&
           fence_is_address(fence, &o[0]) && fence_is_address(fence, &o[1]) &&
           fence_is_address(fence, &o[2]) && o[0].reg != o[1].reg && o[0].reg != o[2].reg &&
           o[1].reg != o[2].reg;
}

/* The number of the walk that the instruction, an addition, computes; the number of walks: none. */
static unsigned walk_of(const struct fence *fence, const struct ptx_inst *inst)
{
    const uint32_t a = inst->ops[1].reg, b = inst->ops[2].reg;
    unsigned k = 0;

    while (k < fence->nwalks && (fence->walks[k].walker != a || fence->walks[k].rest != b) &&
           (fence->walks[k].walker != b || fence->walks[k].rest != a))
        k++;
    return k;
}

/* Adds a walk for the sum that instruction AT computes, if accesses go off it. */
static bool find_walk(struct fence *fence, const struct definition_sites *written, uint32_t at,
                      struct fence_walk *walk)
{
    const struct ptx_operand *o = fence->f->insts[at].ops;

    fence->inst = &fence->f->insts[at];
    if (!fence->loop[at] || !is_sum(fence, fence->inst) ||
        walk_of(fence, fence->inst) < fence->nwalks || fence_is_parameter(fence->f, o[1].reg) ||
        fence_is_parameter(fence->f, o[2].reg) || !fence_will_always_be_accessed(fence, o[0].reg))
        return false;
    for (unsigned k = 1; k <= 2; k++) {
        *walk = (struct fence_walk){.walker = o[k].reg, .rest = o[3 - k].reg};
        if (moves(fence, written, at, walk))
            return true;
    }
    return false;
}

/* Updates the walk's register behind every write of its terms. */
static void follow(struct fence *fence, unsigned k, const struct fence_walk *walk)
{
    const struct ptx_func *f = fence->f;
    char walker[256], rest[256], by[256];

    ptx_reg_name(f, walk->walker, walker, sizeof(walker));
    ptx_reg_name(f, walk->rest, rest, sizeof(rest));
    edits_insert(&fence->edits, f->body_begin,
                 edits_text(&fence->edits, " .reg .b64 gshare$walk%u;", k));
    for (uint32_t i = 0; i < f->ninsts; i++) {
        const struct ptx_operand *distance = distance_of(&f->insts[i], walk->walker);
        const char *text;

        if (distance && distance->kind == PTX_OPND_IMM)
            text = edits_text(&fence->edits, " add.s64 gshare$walk%u, gshare$walk%u, %lld;", k, k,
                              (long long)distance->imm);
        else if (distance)
            text = edits_text(&fence->edits, " add.s64 gshare$walk%u, gshare$walk%u, %s;", k, k,
                              ptx_reg_name(f, distance->reg, by, sizeof(by)));
        else if (definitions_writes(&f->insts[i], walk->walker) ||
                 definitions_writes(&f->insts[i], walk->rest))
            text = edits_text(&fence->edits, " add.s64 gshare$walk%u, %s, %s;", k, walker, rest);
        else
            continue;
        edits_insert(&fence->edits, f->insts[i].end, text);
    }
}

bool fence_walks_begin(struct fence *fence)
{
    struct definition_sites written;
    struct fence_walk walk;

    fence->nwalks = 0;
    if (fence->strays || fence_is_gshare_function(fence->f) || !fence->plain || !fence->loop)
        return true;
    if (!definition_sites_init(&written, fence->f))
        return false;
    for (uint32_t i = 0; i < fence->f->ninsts && fence->nwalks < FENCE_WALKS; i++) {
        if (!find_walk(fence, &written, i, &walk))
            continue;
        follow(fence, fence->nwalks, &walk);
        fence->walks[fence->nwalks++] = walk;
    }
    definition_sites_deinit(&written);
    return true;
}

/* ---- The access ------------------------------------------------------------------------------ */

bool fence_off_walk(struct fence *fence, const struct ptx_mem *mem, struct fence_span brackets)
{
    const char *name;
    unsigned k = 0;

    while (k < fence->nwalks &&
           (fence->walks[k].sum != mem->reg || fence->walks[k].holds != fence->stretch))
        k++;
    if (k == fence->nwalks || fence_register_access(fence, fence->inst) != mem ||
        fence->forced[mem->reg] == fence->stretch)
        return false;
    name = edits_text(&fence->edits, "gshare$walk%u", k);
    if (fence->walks[k].forced != fence->stretch) {
        if (fence->inst->guard != PTX_NO_REG)
            return false;
        fence_before(fence, FENCE_FORCE("%s"), name, name);
        fence->walks[k].forced = fence->stretch;
    }
    fence_replace(fence, brackets,
                  edits_text(&fence->edits, "[%s+%lld]", name, (long long)mem->offset));
    return true;
}

void fence_walks_written(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    unsigned made;

    for (unsigned k = 0; k < fence->nwalks; k++) {
        struct fence_walk *walk = &fence->walks[k];

        if (definitions_writes(inst, walk->walker) || definitions_writes(inst, walk->rest))
            walk->holds = walk->forced = 0;
        if (definitions_writes(inst, walk->sum))
            walk->holds = 0;
    }
    if (is_sum(fence, inst) && (made = walk_of(fence, inst)) < fence->nwalks) {
        fence->walks[made].sum = inst->ops[0].reg;
        fence->walks[made].holds = fence->stretch;
    }
}
