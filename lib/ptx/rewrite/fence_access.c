/* Accesses to memory. The window is in gshare$mask and gshare$base, the halves of struct
 * fence_window. An address A becomes ((A >> 32 & mask) | base) << 32 | (A & 0xffffffff), which is
 * one LOP3 on the upper register of the pair. It is written as two 64-bit operations: if the
 * address is split, the compiler does not unroll loops whose pointers advance, which cost 36% of a
 * naive SGEMM with signed indices on an H200. The instruction keeps its state space: on an H200 the
 * same fence through generic addresses costs 5.6% of a naive SGEMM and 40% of a histogram with
 * atomics; in .global it costs neither anything.
 *
 * fence_register.c handles accesses off one register, and offsets; fence_base.c, accesses off a
 * base that a loop does not change; fence_walk.c, accesses off a sum that advances in a loop. Other
 * addresses are fenced one by one; the compiler finds the common subexpressions of a whole
 * function.
 *
 * The access itself stays inside the window or its guard. An aligned access of up to 128 bytes
 * crosses no boundary of 4 GiB, and an unaligned one faults before it reaches memory. An offset of
 * at most FENCE_OFFSET, which stays in the instruction, leads no further than the guard. A negative
 * offset is added before the fence, so that no access lies before the window.
 *
 * A bulk copy has at most FENCE_BULK bytes: no block has more shared memory, so a larger one would
 * have faulted.
 *
 * If strays are recorded, the address with its offset is compared with its fenced value, and
 * gshare$stray (fault_text.c) is called if they differ. The fence itself is the same. */
#include "ptx/rewrite/fault_text.h"
#include "ptx/rewrite/fence.h"
#include "ptx/rewrite/pass.h"

/* Replaces an address that is a variable's, if the access lies inside the variable. Otherwise
 * returns true, with the address in gshare$at. */
static bool variable(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes,
                     struct fence_span brackets)
{
    uint64_t at = fence_block_offset(mem->var) + (uint64_t)mem->offset;
    bool inside = mem->offset >= 0 && (uint64_t)mem->offset <= mem->var->size &&
                  bytes <= mem->var->size - (uint64_t)mem->offset;

    if (inside)
        fence_replace(fence, brackets,
                      edits_text(&fence->edits, "[gshare$globals+%llu]", (unsigned long long)at));
    else
        fence_before(fence, "add.s64 gshare$at, gshare$globals, %lld; ", (long long)at);
    return !inside;
}

static void force(struct fence *fence, const char *from)
{
    fence_before(fence, FENCE_FORCE("gshare$at"), from);
}

/* Leaves addresses of shared and local memory, and for loads those of constant memory, as they are.
 * The hardware itself tells which they are (isspacep), so no global address passes. LOCAL: a local
 * address is possible. */
static void keep_other_spaces(struct fence *fence, const char *from, bool local)
{
    static const struct {
        enum ptx_space space;
        const char *name;
        bool loads_only;
    } all[] = {
        {PTX_SPACE_SHARED_CLUSTER, "shared::cluster", false},
        {PTX_SPACE_SHARED, "shared", false},
        {PTX_SPACE_LOCAL, "local", false},
        {PTX_SPACE_CONST, "const", true},
    };
    bool load = fence->inst->op == PTX_OP_LD, any = false;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (!fence->generic[all[i].space] || (all[i].loads_only && !load) ||
            (all[i].space == PTX_SPACE_LOCAL && !local))
            continue;
        /* The shared memory of the cluster includes the block's own. */
        if (all[i].space == PTX_SPACE_SHARED && fence->generic[PTX_SPACE_SHARED_CLUSTER])
            continue;
        fence_before(fence, "isspacep.%s %s, %s; ", all[i].name, any ? "gshare$q" : "gshare$p",
                     from);
        if (any)
            fence_before(fence, "or.pred gshare$p, gshare$p, gshare$q; ");
        any = true;
    }
    if (!any) {
        force(fence, from);
        return;
    }
    fence_before(fence, "mov.b64 {gshare$lo, gshare$hi}, %s; ", from);
    fence_before(fence, "lop3.b32 gshare$x, gshare$hi, gshare$mask, gshare$base, 0xEA; ");
    fence_before(fence, "selp.b32 gshare$hi, gshare$hi, gshare$x, gshare$p; "
                        "mov.b64 gshare$at, {gshare$lo, gshare$hi}; ");
}

static void fence_register(struct fence *fence, const char *from, bool generic,
                           enum fence_local local)
{
    if (generic)
        keep_other_spaces(fence, from, local != FENCE_LOCAL_NEVER);
    else
        force(fence, from);
}

/* A prefetch elsewhere changes nothing that the program can see. */
static bool is_recorded(const struct fence *fence)
{
    return fence->strays && !fence_is_gshare_function(fence->f) &&
           ptx_op_class(fence->inst->op) != PTX_CLASS_CACHE &&
           fence->inst->op != PTX_OP_CREATEPOLICY;
}

/* Records a stray if the instruction runs and the fence changes its address, which is in FROM. The
 * fence itself follows, off gshare$old. */
static void record_stray(struct fence *fence, const char *from, bool generic,
                         enum fence_local local)
{
    bool negated = false;
    size_t len = 0;
    const char *guard = rewrite_guard(fence->text, fence->inst, &len, &negated);

    fence_before(fence, "mov.b64 gshare$old, %s; ", from);
    fence_register(fence, "gshare$old", generic, local);
    if (guard)
        fence_before(fence, "setp.ne.and.s64 gshare$r, gshare$at, gshare$old, %s%.*s; ",
                     negated ? "!" : "", (int)len, guard);
    else
        fence_before(fence, "setp.ne.s64 gshare$r, gshare$at, gshare$old; ");
    fence_before(fence, "@gshare$r call gshare$stray, (%llu, gshare$old); ",
                 (unsigned long long)fault_where(FAULT_STRAY, fence->f, fence->inst->line));
}

static void replace_address(struct fence *fence, struct fence_span brackets, int64_t offset)
{
    fence_replace(fence, brackets,
                  offset ? edits_text(&fence->edits, "[gshare$at+%lld]", (long long)offset)
                         : "[gshare$at]");
}

/* The checker has the same function and shares none of its code, so that a mistake here is not
 * repeated there. */
uint64_t fence_access_bytes(const struct ptx_inst *inst)
{
    uint64_t each = (ptx_type_bits(inst->type[0]) + 7) / 8;

    if (inst->op == PTX_OP_APPLYPRIORITY)
        return 128;
    return inst->op == PTX_OP_PREFETCH || inst->op == PTX_OP_PREFETCHU
               ? 1
               : each * (inst->vec ? inst->vec : 1);
}

/* The number of bracketed operands before OPERAND. */
static unsigned brackets_before(const struct ptx_inst *inst, unsigned operand)
{
    unsigned n = 0;

    for (unsigned i = 0; i < operand; i++)
        n += inst->ops[i].kind == PTX_OPND_MEM;
    return n;
}

/* Whether the offset may stay in the instruction. */
static bool is_small(int64_t offset)
{
    return offset >= -FENCE_OFFSET && offset <= FENCE_OFFSET;
}

bool fence_access(struct fence *fence, unsigned operand, bool generic, uint64_t bytes)
{
    const struct ptx_inst *inst = fence->inst;
    const struct ptx_mem *mem = &inst->ops[operand].mem;
    struct fence_span name, brackets;
    const enum fence_local local = fence_local(fence, bytes);
    const char *from = "gshare$at";
    int64_t offset = 0;

    brackets = fence_brackets(fence, brackets_before(inst, operand), &name);
    if (!brackets.len || !name.len)
        return fence_refuse(fence, inst->line, "%s: an address in an unknown form",
                            ptx_op_name(inst->op));
    if (mem->base == PTX_BASE_VAR) {
        if (!variable(fence, mem, bytes, brackets))
            return true;
        if (fence->variables) {
            replace_address(fence, brackets, 0);
            return true;
        }
    } else {
        from = edits_text(&fence->edits, "%.*s", (int)name.len, name.text);
        offset = mem->offset;
        if (is_small(offset) && fence_off_base(fence, mem)) {
            replace_address(fence, brackets, offset);
            return true;
        }
        if ((is_small(offset) && fence_off_walk(fence, mem, brackets)) ||
            fence_off_register(fence, mem, from, brackets))
            return true;
        if (ptx_type_bits(fence->f->regs[mem->reg].type) == 32) {
            fence_before(fence, "cvt.u64.u32 gshare$at, %s; ", from);
            from = "gshare$at";
        }
        /* The whole address, with the offset, decides the state space of a generic access. */
        if (!is_small(offset) ||
            (offset && (is_recorded(fence) || (generic && fence_knows_other_spaces(fence))))) {
            fence_before(fence, "add.s64 gshare$at, %s, %lld; ", from, (long long)offset);
            from = "gshare$at";
            offset = 0;
        }
    }
    if (is_recorded(fence)) {
        record_stray(fence, from, generic, local);
        from = "gshare$old";
    }
    if (generic && fence->generic[PTX_SPACE_LOCAL] && local == FENCE_LOCAL_BOUNDED) {
        fence_bound_generic(fence, from, bytes);
        from = "gshare$at";
    }
    fence_register(fence, from, generic, local);
    replace_address(fence, brackets, offset);
    return true;
}

bool fence_bulk(struct fence *fence)
{
    const struct ptx_inst *inst = fence->inst;
    const struct ptx_operand *size = &inst->ops[2];
    bool constant = size->kind == PTX_OPND_IMM;
    struct fence_span text;

    if (constant && size->imm > FENCE_BULK)
        return fence_refuse(fence, inst->line, "%s: %llu bytes, and a block has %u",
                            ptx_op_name(inst->op), (unsigned long long)size->imm, FENCE_BULK);
    if (inst->space == PTX_SPACE_SHARED && inst->space2 == PTX_SPACE_SHARED)
        return true;
    if (!fence_access(fence, inst->space == PTX_SPACE_SHARED, false,
                      constant ? size->imm : FENCE_BULK))
        return false;
    if (constant)
        return true;
    text = fence_operand(fence, 2);
    fence_before(fence, "min.u32 gshare$s, %.*s, %u; ", (int)text.len, text.text, FENCE_BULK);
    fence_replace(fence, text, "gshare$s");
    return true;
}
