/* The checker's part for addresses: rule 2 of fence_check.c. */
#include <string.h>

#include "ptx/ptx.h"
#include "ptx/rewrite/fence_check.h"

enum { MOST_OFFSET = 1 << 20 };
/* The distance to memory of others, from a window and a guard of twice MOST_OFFSET at each of its
 * ends. */
static const uint64_t MOST_REACH = (uint64_t)24 << 30;

/* Whether instruction I always moves a value to the register, and no label follows it. */
static bool is_copy(const struct checker *c, uint32_t i, const char *to)
{
    const struct ptx_inst *inst = &c->f->insts[i];

    return inst->op == PTX_OP_MOV && inst->guard == PTX_NO_REG && !c->labelled[i + 1] &&
           inst->ops[0].kind == PTX_OPND_REG && inst->ops[0].reg == checker_register(c, to);
}

/* Whether the code right before instruction *I sets the predicate gshare$p if address FROM is in
 * another space. *I: the beginning of that code. *LOCAL: the other space may be local memory. */
static bool is_space_tested(const struct checker *c, uint32_t *i, const char *from, bool load,
                            bool *local)
{
    static const char *const spaces[] = {"shared::cluster", "shared", "local", "const"};
    const unsigned count = load ? 4 : 3;

    /* Backwards: (or p, p, q; isspacep q)*, isspacep p. */
    for (;;) {
        const bool more = checker_precedes(c, i, "or.pred gshare$p, gshare$p, gshare$q;");
        unsigned k = 0;

        while (k < count && !checker_precedes(c, i, "isspacep.%s gshare$%c, %s;", spaces[k],
                                              more ? 'q' : 'p', from))
            k++;
        if (k == count)
            return false;
        *local |= !strcmp(spaces[k], "local");
        if (!more)
            return true;
    }
}

bool checker_combines(const struct checker *c, uint32_t i, enum ptx_op op, uint32_t last)
{
    const struct ptx_inst *inst = &c->f->insts[i];

    return inst->op == op && inst->type[0] == PTX_T_B64 && inst->guard == PTX_NO_REG &&
           !inst->flags && inst->nops == 3 && inst->ops[0].kind == PTX_OPND_REG &&
           inst->ops[1].kind == PTX_OPND_REG && inst->ops[2].kind == PTX_OPND_REG &&
           inst->ops[2].reg == last;
}

bool checker_goes_inside(const struct checker *c, uint32_t i)
{
    return checker_combines(c, i, PTX_OP_AND, c->inside) && c->f->insts[i].ops[0].reg == c->far &&
           c->f->insts[i].ops[1].reg != c->inside;
}

bool checker_is_inside(const struct checker *c, uint32_t i)
{
    return i && !c->labelled[i] && checker_goes_inside(c, i - 1);
}

/* Whether the code right before instruction I puts an address in gshare$at that may be accessed.
 * *EXACT: only without an offset. *LOCAL: it may be any address of the thread's stack. */
static bool is_fenced(const struct checker *c, uint32_t i, const struct ptx_inst *inst,
                      bool generic, bool *exact, bool *local)
{
    const struct ptx_inst *mov;
    char from[256];

    *exact = *local = false;
    if (checker_precedes(c, &i, "or.b64 gshare$at, gshare$far, gshare$start;"))
        return checker_is_inside(c, i);
    *exact = true;
    if (!generic || i < 4)
        return false;
    mov = &c->f->insts[i - 4];
    if (mov->op != PTX_OP_MOV || mov->ops[1].kind != PTX_OPND_REG)
        return false;
    ptx_reg_name(c->f, mov->ops[1].reg, from, sizeof(from));
    if (!checker_precedes(c, &i,
                          "mov.b64 {gshare$lo, gshare$hi}, %s;\n"
                          "lop3.b32 gshare$x, gshare$hi, gshare$mask, gshare$base, 234;\n"
                          "selp.b32 gshare$hi, gshare$hi, gshare$x, gshare$p;\n"
                          "mov.b64 gshare$at, {gshare$lo, gshare$hi};",
                          from) ||
        !is_space_tested(c, &i, from, inst->op == PTX_OP_LD, local))
        return false;
    if (*local && inst->op == PTX_OP_ST && !strcmp(from, "gshare$at") &&
        checker_is_bounded_if_local(c, i, checker_access_bytes(inst)))
        *local = false;
    return true;
}

/* An upper bound of the bytes between the first and the last row of a matrix, per unit of its
 * stride. */
static uint64_t rows_span(const struct ptx_inst *inst)
{
    unsigned m, n, k, rows, bits = ptx_type_bits(inst->type[0]);
    bool by_rows = inst->layout[0] == PTX_LAYOUT_ROW;

    ptx_shape_size(inst->shape, &m, &n, &k);
    rows = inst->mode == PTX_MODE_WMMA_A   ? (by_rows ? m : k)
           : inst->mode == PTX_MODE_WMMA_B ? (by_rows ? k : n)
                                           : (by_rows ? m : n);
    return (uint64_t)(rows - 1) * ((bits + 7) / 8);
}

/* Whether rows that begin in shared or local memory also end there. */
static bool is_bounded_elsewhere(const struct checker *c, uint32_t *i)
{
    return checker_precedes(c, i,
                            "mov.b64 {gshare$lo, gshare$hi}, gshare$at;\n"
                            "isspacep.shared gshare$p, gshare$at;\n"
                            "isspacep.local gshare$q, gshare$at;\n"
                            "or.pred gshare$p, gshare$p, gshare$q;\n"
                            "and.b32 gshare$y, gshare$lo, 268435455;\n"
                            "selp.b32 gshare$lo, gshare$y, gshare$lo, gshare$p;\n"
                            "mov.b64 gshare$at, {gshare$lo, gshare$hi};\n"
                            "min.u32 gshare$y, gshare$s, 65536;\n"
                            "selp.b32 gshare$x, gshare$y, gshare$x, gshare$p;");
}

/* Whether the stride is a small constant, or gshare$x, chosen right before. *I: the beginning of
 * that code. *ELSEWHERE: the rows may lie in another space. */
static bool is_stride_bounded(const struct checker *c, uint32_t *i, const struct ptx_inst *inst,
                              bool *elsewhere)
{
    const struct ptx_operand *stride = &inst->ops[2];
    uint64_t span = rows_span(inst);

    *elsewhere = false;
    if (stride->kind == PTX_OPND_NONE || (stride->kind == PTX_OPND_IMM && stride->imm < 1u << 31 &&
                                          stride->imm * span <= MOST_OFFSET / 2))
        return true;
    if (stride->kind != PTX_OPND_REG || stride->reg != checker_register(c, "gshare$x"))
        return false;
    *elsewhere = is_bounded_elsewhere(c, i);
    return checker_precedes(c, i,
                            "mul.wide.u32 gshare$far, gshare$s, %llu;\n"
                            "add.s64 gshare$far, gshare$far, gshare$at;\n"
                            "mov.b64 {gshare$lo, gshare$hi}, gshare$far;\n"
                            "lop3.b32 gshare$x, gshare$hi, gshare$mask, gshare$base, 234;\n"
                            "setp.eq.u32 gshare$p, gshare$x, gshare$hi;\n"
                            "setp.ge.and.s32 gshare$p, gshare$s, 0, gshare$p;\n"
                            "selp.b32 gshare$x, gshare$s, 0, gshare$p;",
                            (unsigned long long)span) &&
           *i && is_copy(c, --*i, "gshare$s");
}

/* Registers of the epilogue (completion_exits.c) that hold addresses from gshare$done. A kernel may
 * have several epilogues, each in a scope of its own: the reader calls the registers of later ones
 * gshare$w$1_, gshare$w$2_ and so on. */
static bool is_of_epilogue(const struct checker *c, uint32_t reg)
{
    char name[256];
    size_t digits;

    ptx_reg_name(c->f, reg, name, sizeof(name));
    if (!c->f->entry || (strncmp(name, "gshare$w", 8) && strncmp(name, "gshare$a", 8)))
        return false;
    if (!name[8])
        return true;
    digits = strspn(name + 9, "0123456789");
    return name[8] == '$' && digits && !strcmp(name + 9 + digits, "_");
}

uint64_t checker_product_bound(const struct ptx_inst *inst)
{
    const struct ptx_operand *factor = &inst->ops[2];

    if (inst->mode != PTX_MODE_WIDE || factor->kind != PTX_OPND_IMM || factor->imm > UINT8_MAX)
        return UINT64_MAX;
    return inst->type[0] == PTX_T_S32   ? factor->imm << 31
           : inst->type[0] == PTX_T_U32 ? factor->imm << 32
                                        : UINT64_MAX;
}

/* Whether the instruction adds integers; a sum of floating-point numbers is no address. */
static bool is_sum_of_addresses(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_ADD && (inst->type[0] == PTX_T_S64 || inst->type[0] == PTX_T_U64);
}

static bool is_register(const struct ptx_operand *o, uint32_t reg)
{
    return o->kind == PTX_OPND_REG && o->reg == reg;
}

static bool is_fixed_base(const struct checker *c, const struct ptx_operand *o)
{
    for (unsigned k = 0; k < MOST_FIXED; k++)
        if (c->fixed[k] != PTX_NO_REG && is_register(o, c->fixed[k]))
            return true;
    return false;
}

/* Returns the instruction that always runs right before instruction I, if it is OP and writes
 * gshare$at; NULL: it is not. */
static const struct ptx_inst *sets_at(const struct checker *c, uint32_t i, enum ptx_op op)
{
    const struct ptx_inst *inst = i && !c->labelled[i] ? &c->f->insts[i - 1] : NULL;

    return inst && inst->op == op && inst->guard == PTX_NO_REG && is_register(&inst->ops[0], c->at)
               ? inst
               : NULL;
}

/* Whether what always runs right before instruction I adds an index to a fixed base and leaves the
 * sum in gshare$at: a mad, or a mul and an add. */
static bool is_indexed(const struct checker *c, uint32_t i)
{
    const struct ptx_inst *mad = sets_at(c, i, PTX_OP_MAD), *add = sets_at(c, i, PTX_OP_ADD);
    const struct ptx_inst *mul = add ? sets_at(c, i - 1, PTX_OP_MUL) : NULL;

    if (mad)
        return checker_product_bound(mad) <= MOST_REACH && is_fixed_base(c, &mad->ops[3]);
    return mul && checker_product_bound(mul) <= MOST_REACH && is_sum_of_addresses(add) &&
           !add->flags && is_register(&add->ops[1], c->at) && is_fixed_base(c, &add->ops[2]);
}

/* The most that the operand adds to an address or subtracts from it; UINT64_MAX: unknown. */
static uint64_t operand_bound(const struct checker *c, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_IMM)
        return (int64_t)o->imm < 0 ? -o->imm : o->imm;
    for (unsigned k = 0; k < MOST_STRIDES; k++)
        if (o->kind == PTX_OPND_REG && o->reg == c->strides[k])
            return c->stride_bound[k];
    return UINT64_MAX;
}

/* How far beyond the window the operand's register may lie, plus BOUND; UINT64_MAX: it may lie
 * anywhere. */
static uint64_t beyond(const struct checker *c, const struct ptx_operand *o, uint64_t bound)
{
    const bool forced = o->kind == PTX_OPND_REG && c->forced[o->reg] == c->stretch;

    return forced && bound <= MOST_REACH ? c->beyond[o->reg] + bound : UINT64_MAX;
}

bool checker_is_step(const struct checker *c, uint32_t i, uint64_t *distance)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    const struct ptx_operand *o = inst->ops;
    uint64_t other;

    if (inst->guard != PTX_NO_REG || inst->flags || o[0].kind != PTX_OPND_REG ||
        o[0].reg == c->at || ptx_type_bits(c->f->regs[o[0].reg].type) != 64)
        return false;
    if (inst->op == PTX_OP_MAD) {
        *distance = beyond(c, &o[3], checker_product_bound(inst));
    } else if (is_sum_of_addresses(inst)) {
        *distance = beyond(c, &o[1], operand_bound(c, &o[2]));
        other = beyond(c, &o[2], operand_bound(c, &o[1]));
        *distance = other < *distance ? other : *distance;
    } else {
        return false;
    }
    return *distance <= MOST_REACH;
}

/* Whether a bulk copy's size is a constant, or gshare$s, bounded right before. *I: the beginning of
 * that code. */
static bool is_bulk_bounded(const struct checker *c, uint32_t *i, const struct ptx_inst *inst)
{
    const struct ptx_operand *size = &inst->ops[2], *o;

    if (size->kind == PTX_OPND_IMM)
        return size->imm <= CHECKER_BULK;
    if (size->kind != PTX_OPND_REG || size->reg != checker_register(c, "gshare$s") || !*i ||
        c->labelled[*i])
        return false;
    o = c->f->insts[--*i].ops;
    return c->f->insts[*i].op == PTX_OP_MIN && c->f->insts[*i].type[0] == PTX_T_U32 &&
           c->f->insts[*i].guard == PTX_NO_REG && o[0].kind == PTX_OPND_REG &&
           o[0].reg == size->reg && o[2].kind == PTX_OPND_IMM && o[2].imm <= CHECKER_BULK;
}

static bool is_small(int64_t offset)
{
    return offset >= -MOST_OFFSET && offset <= MOST_OFFSET;
}

static bool is_matrix_access(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_WMMA_LOAD || inst->op == PTX_OP_WMMA_STORE;
}

static bool is_bulk_copy(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_CP_ASYNC_BULK || inst->op == PTX_OP_CP_REDUCE_ASYNC_BULK;
}

/* An access off gshare$globals must lie inside the block of variables. */
static bool check_variable_access(struct checker *c, uint32_t i, const struct ptx_mem *mem)
{
    const struct ptx_inst *inst = &c->f->insts[i];

    if (is_matrix_access(inst) || mem->offset < 0 || (uint64_t)mem->offset > c->report->bytes ||
        checker_access_bytes(inst) > c->report->bytes - (uint64_t)mem->offset)
        return checker_fails(c, i, "outside of the block of variables");
    return true;
}

/* An access off gshare$at needs a complete fence right before it, and before the code that bounds
 * the access itself, which begins at instruction BEFORE. */
static bool check_fenced_access(struct checker *c, uint32_t i, uint32_t before,
                                const struct ptx_mem *mem, bool generic)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    bool exact, local, elsewhere = true;

    if (is_matrix_access(inst) && !is_stride_bounded(c, &before, inst, &elsewhere))
        return checker_fails(c, i, "the stride is not bounded");
    if (!is_fenced(c, before, inst, generic, &exact, &local))
        return checker_fails(c, i, "the fence is not whole");
    c->stack |= local && checker_is_store(c, inst);
    if (exact && !elsewhere)
        return checker_fails(c, i, "rows in another space are not bounded");
    if (exact ? mem->offset != 0 : !is_small(mem->offset))
        return checker_fails(c, i, "the offset leads too far");
    return true;
}

/* Whether instruction I may use the register's generic or global address: tries the forms that the
 * pass generates, from the cheapest to the complete fence. */
static bool check_register_access(struct checker *c, uint32_t i, const struct ptx_mem *mem,
                                  bool generic)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    const bool plain = !is_matrix_access(inst) && !is_bulk_copy(inst) && is_small(mem->offset);
    uint32_t before = i;

    if (is_bulk_copy(inst) && !is_bulk_bounded(c, &before, inst))
        return checker_fails(c, i, "the size is not bounded");
    if (mem->reg == c->globals)
        return check_variable_access(c, i, mem);
    if (plain && c->forced[mem->reg] == c->stretch) {
        c->indexed |= c->beyond[mem->reg] > MOST_OFFSET / 2;
        return true;
    }
    if (mem->reg != c->at)
        return (!generic && is_of_epilogue(c, mem->reg)) ||
               checker_fails(c, i, "the address is not fenced");
    if (!generic && checker_is_table_load(c, i))
        return true;
    if (plain && is_indexed(c, i)) {
        c->indexed = true;
        return true;
    }
    return check_fenced_access(c, i, before, mem, generic);
}

/* ---- Any address ---- */

bool checker_address(struct checker *c, uint32_t i, const struct ptx_mem *mem, unsigned space)
{
    switch (space) {
    case PTX_SPACE_CONST:
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER:
        return true;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
    case PTX_SPACE_PARAM_FUNC:
        /* The lists of a call name whole variables. */
        return c->f->insts[i].op == PTX_OP_CALL || checker_parameter(c, i, mem);
    case PTX_SPACE_GLOBAL:
        if (c->own)
            return true;
        break;
    case PTX_SPACE_GENERIC:
        break;
    default:
        return checker_fails(c, i, "an unknown state space");
    }
    if (mem->base == PTX_BASE_VAR)
        return mem->var->space == PTX_SPACE_SHARED || mem->var->space == PTX_SPACE_LOCAL ||
               checker_fails(c, i, "a variable that lies outside");
    return mem->base == PTX_BASE_REG ? check_register_access(c, i, mem, space == PTX_SPACE_GENERIC)
                                     : checker_fails(c, i, "a constant address");
}
