/* Verifies that a text reaches global memory only by fenced addresses. The checker does not know
 * how the pass works: it reads the result and looks, instruction by instruction, for what the rules
 * below demand. To trust the fence, one has to read this file and its other parts:
 * fence_check_access.c (rule 2), fence_check_jump.c (3), fence_check_stack.c (4),
 * fence_check_param.c (5), fence_check_maps.c (6), fence_check_texture.c (7),
 * fence_check_products.c (9), and fence_check_inst.c.
 *
 * The rules, for each function with a body:
 *  1. The first two instructions load gshare$mask, gshare$base and gshare$globals from the constant
 *     FENCE_VARIABLE or, in a kernel, from its parameter gshare$fenced; a function of gshare may
 *     have zeros there. The next two compute gshare$inside = {all bits, mask} and gshare$start =
 *     {0, base}. No other instruction writes one of these registers.
 *  2. An access to .global or to a generic address goes to gshare$at plus a small offset, and right
 *     before it, without a label in between, stands "gshare$at = any & inside | start". Or the same
 *     computation stands somewhere before it for the register that the access uses; no instruction
 *     in between writes the register, and no label is in between. Or, for a generic address, right
 *     before it stands a choice between the forced address and the original one, where isspacep
 *     says that the original is in another space. Or the access goes to gshare$globals plus a
 *     constant inside the block. The size of a bulk copy is a constant of at most CHECKER_BULK, or
 * was limited to that right before. Two kinds of sums may reach up to MOST_REACH beyond the window.
 * One stands right before the access: "gshare$at = 32 bits * a constant + gshare$fixedN", where
 * gshare$fixedN is only written by a fence and, at the function's beginning, by a move of an
 * address of the window. The other adds to a register that leads into the window, or to such a sum:
 * a constant, 32 bits * a constant, or gshare$strideN, which is only written by such products and,
 * at the function's beginning, by 0.
 *  3. An indirect call goes to gshare$to, which is one of a list of functions; the index of brx.idx
 *     is bounded. An alias has the parameters of the function that it stands for.
 *  4. A store to the stack ends in a variable, or in gshare$stack, which each kernel has that has
 *     gshare$bottom; if not, the checker reports it. gshare$bottom is the address of gshare$stack:
 *     a kernel sets it once, before any jump; a function gets it as its first parameter, and each
 *     caller passes its own.
 *  5. A load of a kernel parameter ends inside the parameter or, through a register, within bounds
 *     among the kernel's own parameters. No parameter has a generic address, except for rule 6.
 *  6. No instruction ends more than its own thread. An instruction that uses a tensor map takes it
 *     from gshare$map, which is the address of a kernel's parameter plus a constant that the report
 *     lists, or a choice between several of these, made right before. No other register holds such
 *     an address.
 *  7. A texture or surface was loaded right before from the texture table, whose address is a
 *     constant, at the row of a ten-bit number and in the column of the instruction's geometry.
 *  8. Every other instruction is on a list of those that address no memory, or memory of another
 *     space.
 *  9. No path through a function leads from a product of a warpgroup (wgmma) to an instruction that
 *     mentions one of its registers, or to an end, a call, an indirect jump or setmaxnreg, unless
 *     its group was waited for; except to another product with exactly the same sums.
 *
 * What the checker trusts: the reader and the printer (the text is a printed module, so it has one
 * meaning); reserved names, which begin with gshare$ or _ZN12gshare_print and which no tenant's
 * text may contain: functions with such names may access .global freely, and a kernel's registers
 * gshare$w and gshare$a hold addresses of the server's; and ptx_ops.def, as the pass does: each
 * opcode's class, which says whether it can address memory at all, and the operands that it writes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "ptx/ptx_table.h"
#include "ptx/rewrite/fence_check.h"
#include "ptx/rewrite/rewrite.h"

/* ---- 1. The registers with the window ---- */

static bool writes(const struct ptx_inst *inst, uint32_t reg)
{
    for (unsigned k = 0; k < inst->nops; k++)
        if (ptx_operand_written(inst, k) && checker_mentions(&inst->ops[k], reg))
            return true;
    return false;
}

/* Whether instruction I sets fixed base K to an address of the window, which begins at a multiple
 * of 4 GiB. */
static bool is_first_address(const struct checker *c, uint32_t i, unsigned k)
{
    return checker_reads(c, i, "mov.b64 gshare$fixed%u, {gshare$base, gshare$base};", k);
}

static bool begins_with_window(const struct checker *c)
{
    return checker_reads(c, 0, "ld.const.v2.b32 {gshare$mask, gshare$base}, [gshare$window];") &&
           checker_reads(c, 1, "ld.const.b64 gshare$globals, [gshare$window+8];");
}

/* As begins_with_window, from the 16-byte parameter that the worker fills. */
static bool begins_with_parameter(const struct checker *c)
{
    const struct ptx_var *window = NULL;

    for (uint32_t i = 0; c->f->entry && i < c->f->nparams; i++)
        if (!strcmp(c->f->params[i]->name, "gshare$fenced"))
            window = c->f->params[i];
    return window && window->size == 16 &&
           checker_reads(c, 0, "ld.param.v2.b32 {gshare$mask, gshare$base}, [gshare$fenced];") &&
           checker_reads(c, 1, "ld.param.b64 gshare$globals, [gshare$fenced+8];");
}

/* Whether the function is gshare's own and has zeros instead of a window. */
static bool begins_with_none(const struct checker *c)
{
    return c->own && checker_reads(c, 0, "mov.b32 gshare$mask, 0;") &&
           checker_reads(c, 1, "mov.b32 gshare$base, 0;") &&
           checker_reads(c, 2, "mov.b64 gshare$globals, 0;");
}

/* Finds the largest value of each register for strides, which is written by products, and by 0 in
 * the function's first instructions. */
static bool check_strides(struct checker *c)
{
    for (unsigned k = 0; k < MOST_STRIDES; k++) {
        char name[32];

        snprintf(name, sizeof(name), "gshare$stride%u", k);
        c->strides[k] = checker_register(c, name);
        c->stride_bound[k] = 0;
        if (c->strides[k] != PTX_NO_REG &&
            !checker_reads(c, c->begun++, "mov.b64 gshare$stride%u, 0;", k))
            return checker_fails(c, c->begun - 1, "a stride does not begin with nothing");
    }
    for (uint32_t i = c->begun; i < c->f->ninsts; i++) {
        const struct ptx_inst *inst = &c->f->insts[i];

        for (unsigned k = 0; k < MOST_STRIDES && c->strides[k] != PTX_NO_REG; k++) {
            const uint64_t bound = checker_product_bound(inst);

            if (!writes(inst, c->strides[k]))
                continue;
            if (inst->op != PTX_OP_MUL || bound == UINT64_MAX)
                return checker_fails(c, i, "a stride is not bounded");
            if (bound > c->stride_bound[k])
                c->stride_bound[k] = bound;
        }
    }
    return true;
}

static bool check_prologue(struct checker *c)
{
    const bool none = begins_with_none(c);

    c->mask = checker_register(c, "gshare$mask");
    c->base = checker_register(c, "gshare$base");
    c->inside = checker_register(c, "gshare$inside");
    c->start = checker_register(c, "gshare$start");
    c->far = checker_register(c, "gshare$far");
    c->globals = checker_register(c, "gshare$globals");
    c->at = checker_register(c, "gshare$at");
    c->map = checker_register(c, "gshare$map");
    c->other = checker_register(c, "gshare$other");
    if (c->mask == PTX_NO_REG || c->base == PTX_NO_REG || c->inside == PTX_NO_REG ||
        c->start == PTX_NO_REG || c->far == PTX_NO_REG || c->globals == PTX_NO_REG ||
        c->at == PTX_NO_REG || (!none && !begins_with_window(c) && !begins_with_parameter(c)))
        return checker_fails(c, 0, "the function does not begin with the window");
    c->begun = none ? 3 : 2;
    if (!checker_reads(c, c->begun++, "mov.b64 gshare$inside, {-1, gshare$mask};") ||
        !checker_reads(c, c->begun++, "mov.b64 gshare$start, {0, gshare$base};"))
        return checker_fails(c, c->begun - 1, "the function does not begin with the window");
    for (unsigned k = 0; k < MOST_FIXED; k++) {
        char name[32];

        snprintf(name, sizeof(name), "gshare$fixed%u", k);
        c->fixed[k] = checker_register(c, name);
        /* Control comes here first, whatever jumps follow. */
        if (c->fixed[k] != PTX_NO_REG && !is_first_address(c, c->begun++, k))
            return checker_fails(c, c->begun - 1, "a fixed base does not begin in the window");
    }
    return check_strides(c);
}

/* Whether instruction I either leaves a fenced address in a fixed base or only reads the base. */
static bool check_fixed(struct checker *c, uint32_t i, unsigned k)
{
    const struct ptx_inst *inst = &c->f->insts[i];

    if (checker_reads(c, i, "or.b64 gshare$fixed%u, gshare$far, gshare$start;", k))
        return checker_is_inside(c, i) || checker_fails(c, i, "a fixed base is not fenced");
    return ((inst->op == PTX_OP_MAD || inst->op == PTX_OP_ADD) && inst->guard == PTX_NO_REG &&
            inst->ops[0].kind == PTX_OPND_REG && inst->ops[0].reg == c->at) ||
           checker_fails(c, i, "a fixed base is used otherwise");
}

/* Whether instruction I completes a fence: it adds the window's address to gshare$far, and its
 * target is none of the window's registers. */
static bool starts_window(const struct checker *c, uint32_t i)
{
    const struct ptx_operand *o = c->f->insts[i].ops;

    return checker_combines(c, i, PTX_OP_OR, c->start) && o[1].reg == c->far &&
           o[0].reg != c->mask && o[0].reg != c->base && o[0].reg != c->inside &&
           o[0].reg != c->start;
}

/* Whether instruction I is a part of a fence. */
static bool uses_window(const struct checker *c, uint32_t i)
{
    if (checker_reads(c, i, "lop3.b32 gshare$x, gshare$hi, gshare$mask, gshare$base, 234;") ||
        checker_goes_inside(c, i))
        return true;
    return starts_window(c, i);
}

static bool check_window(struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    bool window = false, globals = false;

    for (unsigned k = 0; k < inst->nops; k++) {
        window |=
            checker_mentions(&inst->ops[k], c->mask) || checker_mentions(&inst->ops[k], c->base) ||
            checker_mentions(&inst->ops[k], c->inside) || checker_mentions(&inst->ops[k], c->start);
        globals |= inst->ops[k].kind != PTX_OPND_MEM && checker_mentions(&inst->ops[k], c->globals);
    }
    if (window && !uses_window(c, i))
        return checker_fails(c, i, "the window is used otherwise");
    for (unsigned k = 0; k < MOST_FIXED; k++)
        for (unsigned o = 0; c->fixed[k] != PTX_NO_REG && o < inst->nops; o++)
            if (checker_mentions(&inst->ops[o], c->fixed[k]) && !check_fixed(c, i, k))
                return false;
    if (globals && (inst->op != PTX_OP_ADD || checker_mentions(&inst->ops[0], c->globals)))
        return checker_fails(c, i, "the block of variables is used otherwise");
    return true;
}

/* ---- 8. Any instruction ---- */

/* The pass has another list, on purpose: a mistake in one is not repeated in the other. */
static bool is_known_pragma(const char *text)
{
    unsigned mask;
    int n = 0;

    return !strcmp(text, "\"nounroll\"") ||
           (sscanf(text, "\"used_bytes_mask %x\"%n", &mask, &n) == 1 && n && !text[n]);
}

static bool makes_generic_parameter(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_CVTA && !(inst->flags & PTX_F_TO) &&
           (inst->space == PTX_SPACE_PARAM || inst->space == PTX_SPACE_PARAM_ENTRY ||
            inst->space == PTX_SPACE_PARAM_FUNC);
}

static bool check_class(struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    const char *wrong;

    if (inst->op == PTX_OP_DISCARD)
        return checker_fails(c, i, "shows what memory held before");
    if (inst->op == PTX_OP_CP_ASYNC_BULK_PREFETCH)
        return checker_fails(c, i, "reaches as far as its size");
    if ((wrong = checker_map(c, i)))
        return checker_fails(c, i, wrong);
    if (inst->op == PTX_OP_TRAP || inst->op == PTX_OP_BRKPT)
        return checker_fails(c, i, "ends the work of others too");
    if (makes_generic_parameter(inst) && !checker_mentions(&inst->ops[0], c->map) &&
        !checker_mentions(&inst->ops[0], c->other))
        return checker_fails(c, i, "a generic address of a parameter");
    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_LOAD:
    case PTX_CLASS_STORE:
    case PTX_CLASS_ATOM:
    case PTX_CLASS_CACHE:
    case PTX_CLASS_ARITH:
    case PTX_CLASS_BRANCH:
    case PTX_CLASS_CALL:
    case PTX_CLASS_END:
    case PTX_CLASS_BARRIER:
    case PTX_CLASS_WARP:
    case PTX_CLASS_FENCE:
    case PTX_CLASS_MATRIX:
    case PTX_CLASS_ASYNC:
    case PTX_CLASS_TENSOR:
    case PTX_CLASS_WGMMA:
        return true;
    case PTX_CLASS_MATRIX_LOAD:
    case PTX_CLASS_MATRIX_STORE:
        return inst->op == PTX_OP_WMMA_LOAD || inst->op == PTX_OP_WMMA_STORE ||
               inst->space == PTX_SPACE_SHARED || checker_fails(c, i, "not in .shared");
    case PTX_CLASS_MBARRIER:
        return inst->space == PTX_SPACE_SHARED || inst->space == PTX_SPACE_SHARED_CLUSTER ||
               checker_fails(c, i, "not in .shared");
    case PTX_CLASS_TEX:
    case PTX_CLASS_SURF:
        wrong = checker_texture(c, i);
        return !wrong || checker_fails(c, i, wrong);
    case PTX_CLASS_MISC:
        return inst->op != PTX_OP_PRAGMA || is_known_pragma(inst->ops[0].string) ||
               checker_fails(c, i, "a pragma");
    default:
        return checker_fails(c, i, "not on the list");
    }
}

static bool names_outside(const struct checker *c, const struct ptx_operand *o)
{
    const struct ptx_var *v = o->kind == PTX_OPND_SYM ? o->sym.var : NULL;

    if (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST)
        for (uint32_t i = 0; i < o->count; i++)
            if (names_outside(c, &o->list[i]))
                return true;
    return v && v->space == PTX_SPACE_GLOBAL && !c->own;
}

/* Whether the bracketed operand is an object or a tensor map, which other rules cover. */
static bool is_object(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_TXQ || inst->op == PTX_OP_SUQ ||
           (inst->op == PTX_OP_PREFETCH && inst->mode == PTX_MODE_TENSORMAP);
}

/* The state space of the address in operand K. */
static unsigned space_of(const struct ptx_inst *inst, unsigned k)
{
    const enum ptx_class class = ptx_op_class(inst->op);

    if (class == PTX_CLASS_TENSOR) /* the tensor's box, or the barrier */
        return PTX_SPACE_SHARED;
    return class == PTX_CLASS_ASYNC && k == 1 ? inst->space2 : inst->space;
}

static bool check_instruction(struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];

    if ((i >= c->begun && !check_window(c, i)) || !check_class(c, i))
        return false;
    for (unsigned k = 0; k < inst->nops; k++) {
        if (names_outside(c, &inst->ops[k]))
            return checker_fails(c, i, "the address of a variable that lies outside");
        c->stack |=
            inst->ops[k].kind == PTX_OPND_MEM && checker_may_hit_stack(c, i, &inst->ops[k].mem);
        if (inst->ops[k].kind == PTX_OPND_MEM && !is_object(inst) &&
            !checker_address(c, i, &inst->ops[k].mem, space_of(inst, k)))
            return false;
    }
    if (inst->op == PTX_OP_CP_ASYNC && inst->space != PTX_SPACE_SHARED)
        return checker_fails(c, i, "not to .shared");
    return inst->op == PTX_OP_CALL      ? checker_call(c, i)
           : inst->op == PTX_OP_BRX_IDX ? checker_brx(c, i)
                                        : true;
}

static void forget_forced(struct checker *c, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_REG)
        c->forced[o->reg] = 0;
    for (uint32_t i = 0; (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST) && i < o->count; i++)
        forget_forced(c, &o->list[i]);
}

/* Records which registers hold addresses in or near the window behind instruction I. */
static void note_forced(struct checker *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    uint64_t distance = 0;
    const bool step = checker_is_step(c, i, &distance);

    for (unsigned k = 0; k < inst->nops; k++)
        if (ptx_operand_written(inst, k))
            forget_forced(c, &inst->ops[k]);
    if (step || (starts_window(c, i) && checker_is_inside(c, i) && inst->ops[0].reg != c->at &&
                 ptx_type_bits(c->f->regs[inst->ops[0].reg].type) == 64)) {
        c->forced[inst->ops[0].reg] = c->stretch;
        c->beyond[inst->ops[0].reg] = distance;
    }
}

static bool check_function(struct checker *c)
{
    for (uint32_t i = 0; i < c->f->nvars; i++)
        if (c->f->vars[i]->space != PTX_SPACE_LOCAL && c->f->vars[i]->space != PTX_SPACE_SHARED &&
            c->f->vars[i]->space != PTX_SPACE_PARAM)
            return checker_fails(c, UINT32_MAX, "a variable that does not belong into a function");
    for (uint32_t i = 0; i < c->f->npragmas; i++)
        if (!is_known_pragma(c->f->pragmas[i]))
            return checker_fails(c, UINT32_MAX, "a pragma");
    for (uint32_t i = 0; i < c->f->nlabels; i++)
        c->labelled[c->f->labels[i].inst] = true;
    if (!check_prologue(c) || !checker_bottom(c))
        return false;
    for (uint32_t i = 0; i < c->f->ninsts; i++) {
        c->stretch += c->labelled[i];
        if (!check_instruction(c, i))
            return false;
        note_forced(c, i);
    }
    return true;
}

static bool check_variables(struct checker *c)
{
    for (uint32_t i = 0; i < c->m->nvars; i++) {
        const struct ptx_var *v = c->m->vars[i];
        bool plain = v->space == PTX_SPACE_CONST || v->space == PTX_SPACE_SHARED;

        if ((!plain && !(v->space == PTX_SPACE_GLOBAL && checker_is_reserved(v->name))) ||
            !ptx_type_bits(v->type) || v->managed) {
            snprintf(c->why, c->why_size, "%s lies outside", v->name);
            return false;
        }
    }
    return true;
}

int fence_check(const char *text, size_t len, const struct ptx_fence_report *report, bool *stack,
                bool *indexed, char *why, size_t why_size)
{
    struct checker c = {.report = report, .why = why, .why_size = why_size};
    struct ptx_module *m = NULL;
    struct ptx_error error = {0};
    int result = ptx_parse(text, len, &m, &error);
    bool fine = !result;

    if (result && result != -ENOMEM)
        snprintf(why, why_size, "line %u: %s", error.line, error.text);
    c.m = m;
    fine = fine && check_variables(&c);
    c.stack_bytes = fine ? checker_stack_bytes(m) : 0;
    for (uint32_t i = 0; fine && i < m->nfuncs; i++) {
        c.f = m->funcs[i];
        if (c.f->alias)
            fine = checker_alias(&c);
        if (!c.f->has_body)
            continue;
        c.own = checker_is_gshare_function(c.f);
        c.labelled = calloc((size_t)c.f->ninsts + 1, sizeof(*c.labelled));
        c.forced = calloc((size_t)c.f->nregs + 1, sizeof(*c.forced));
        c.beyond = calloc((size_t)c.f->nregs + 1, sizeof(*c.beyond));
        c.stretch = 1;
        result = c.labelled && c.forced && c.beyond ? 0 : -ENOMEM;
        fine = !result && check_function(&c);
        if (fine)
            result = checker_products(&c);
        fine &= !result;
        free(c.labelled);
        free(c.forced);
        free(c.beyond);
    }
    ptx_module_free(m);
    *stack = c.stack;
    *indexed = c.indexed;
    return result == -ENOMEM ? result : fine ? 0 : -EPERM;
}
