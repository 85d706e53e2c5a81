/* Whether a text goes to global memory by fenced addresses only. Knows nothing of how the pass
 * works: it reads what came out and looks, instruction by instruction, for what must stand there.
 * Who wants to trust the fence reads this file.
 *
 * What it holds for each function with a body:
 *  1. The first two instructions load gshare$mask, gshare$base and gshare$globals from the constant
 *     window. No other instruction writes one of them.
 *  2. An access to .global or to a generic address goes to gshare$at + a small offset, and right
 *     before it, with no label between, stands "gshare$at = {any, any & mask | base}"; or, for
 *     generic ones, the choice between that and the address itself where isspacep says that the
 *     address is of another space. Or it goes to gshare$globals + a constant inside the block. Or
 *     right before it stands "gshare$at = any of 32 bits without sign * at most 4 + gshare$fixedN",
 *     where only two kinds of instructions write gshare$fixedN: such a fence, and in the first ones
 *     of the function a move of an address of the window. The size of a bulk copy is a constant of
 *     at most MOST_BULK, or became at most that right before.
 *  3. A computed call goes to gshare$to, which is one of a list of functions; a brx.idx is bounded.
 *     An alias has the parameters of the function that it stands for.
 *  4. A store to the stack ends in a variable, or the checker says that one may not.
 *  5. A load of a kernel parameter ends inside it, or, by a register, in a bounded place among the
 *     kernel's own; no parameter has a generic address.
 *  6. No instruction ends more than its thread.
 *  7. A texture or surface is what was loaded right before from the texture table, whose address is
 *     a constant, off a number of ten bits, in the column of the instruction's geometry
 *     (fence_check_texture.c).
 *  8. Everything else is on a list of what addresses no memory, or memory of another space.
 *
 * Trusted besides: the reader and the printer (the text is a printed module, so it has one
 * meaning), names that begin with gshare$ or _ZN12gshare_print, which no tenant's text may hold:
 * functions of the house may access .global freely, and the registers gshare$w and gshare$a of a
 * kernel hold addresses of the server's. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "ptx/rewrite/fence_check.h"
#include "ptx/rewrite/rewrite.h"

enum {
    MOST_OFFSET = 1 << 20,
    MOST_BULK = 227 << 10,
    MOST_TEXT = 1024,
    MOST_FIXED = 8,
    MOST_FACTOR = 4
};

struct check {
    const struct ptx_module *m;
    const struct ptx_func *f;
    bool house;     /* f is of the house */
    bool *labelled; /* by instruction: control may come from elsewhere */
    bool stack;     /* a store may hit any byte of it */
    bool indexed;   /* an access may lie MOST_FACTOR times 4 GiB behind the window */
    uint64_t globals_bytes;
    uint32_t mask, base, globals, at, fixed[MOST_FIXED]; /* registers */
    uint32_t begun; /* so many instructions begin the function */
    char *why;
    size_t why_size;
};

static bool fails(struct check *c, uint32_t i, const char *what)
{
    char text[160] = "";

    if (i < c->f->ninsts)
        ptx_inst_format(c->f, &c->f->insts[i], text, sizeof(text));
    snprintf(c->why, c->why_size, "%.60s: \"%.80s\": %s", c->f->name, text, what);
    return false;
}

static bool is_house(const char *name)
{
    return !strncmp(name, "gshare$", 7);
}

static bool is_house_function(const struct ptx_func *f)
{
    return is_house(f->name) || !strncmp(f->name, "_ZN12gshare_print", 17);
}

/* ---- Instructions as text ---- */

/* Names may be of any length: those of C++ templates have thousands of characters. */
static bool is_text(const struct check *c, uint32_t i, const char *format, va_list arguments)
{
    char short_want[MOST_TEXT], short_have[MOST_TEXT], *want = short_want, *have = short_have;
    char *both = NULL;
    va_list again;
    bool same;
    int n;

    va_copy(again, arguments);
    n = vsnprintf(want, MOST_TEXT, format, again);
    va_end(again);
    /* A byte more than the wanted text and its end, so that a longer one differs. */
    const size_t size = (size_t)n + 2;
    if (n >= 0 && size > MOST_TEXT) {
        both = malloc(2 * size);
        if (!both)
            return false;
        want = both;
        have = both + size;
        vsnprintf(want, size, format, arguments);
    }
    ptx_inst_format(c->f, &c->f->insts[i], have, size);
    same = n >= 0 && !strcmp(want, have);
    free(both);
    return same;
}

static bool is(const struct check *c, uint32_t i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool is(const struct check *c, uint32_t i, const char *format, ...)
{
    va_list arguments;
    bool same;

    if (i >= c->f->ninsts)
        return false;
    va_start(arguments, format);
    same = is_text(c, i, format, arguments);
    va_end(arguments);
    return same;
}

bool fence_check_reads(const struct ptx_func *f, uint32_t i, const char *format, ...)
{
    const struct check c = {.f = f};
    va_list arguments;
    bool same;

    va_start(arguments, format);
    same = is_text(&c, i, format, arguments);
    va_end(arguments);
    return same;
}

/* Instruction *I is the one that always runs right before, and reads so: *I becomes its index. */
static bool precedes(const struct check *c, uint32_t *i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool precedes(const struct check *c, uint32_t *i, const char *format, ...)
{
    va_list arguments;
    bool same;

    if (!*i || c->labelled[*i])
        return false;
    va_start(arguments, format);
    same = is_text(c, *i - 1, format, arguments);
    va_end(arguments);
    *i -= same;
    return same;
}

static bool mentions(const struct ptx_operand *o, uint32_t reg)
{
    switch (o->kind) {
    case PTX_OPND_REG:
        return o->reg == reg;
    case PTX_OPND_MEM:
        return o->mem.base == PTX_BASE_REG && o->mem.reg == reg;
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
        for (uint32_t i = 0; i < o->count; i++)
            if (mentions(&o->list[i], reg))
                return true;
        return false;
    default:
        return false;
    }
}

static uint32_t find_register(const struct ptx_func *f, const char *name)
{
    for (uint32_t i = 0; i < f->ndecls; i++)
        if (!f->decls[i].range && !f->decls[i].vec && !strcmp(f->decls[i].name, name))
            return f->decls[i].first;
    return PTX_NO_REG;
}

static bool is_copy(const struct check *c, uint32_t i, const char *to)
{
    const struct ptx_inst *inst = &c->f->insts[i];

    return inst->op == PTX_OP_MOV && inst->guard == PTX_NO_REG && !c->labelled[i + 1] &&
           inst->ops[0].kind == PTX_OPND_REG && inst->ops[0].reg == find_register(c->f, to);
}

/* ---- 1. The registers with the window ---- */

/* An address of the window, which begins at a multiple of 4 GiB. */
static bool is_first_address(const struct check *c, uint32_t i, unsigned k)
{
    return is(c, i, "mov.b64 gshare$fixed%u, {gshare$base, gshare$base};", k);
}

static bool check_prologue(struct check *c)
{
    c->mask = find_register(c->f, "gshare$mask");
    c->base = find_register(c->f, "gshare$base");
    c->globals = find_register(c->f, "gshare$globals");
    c->at = find_register(c->f, "gshare$at");
    if (c->mask == PTX_NO_REG || c->base == PTX_NO_REG || c->globals == PTX_NO_REG ||
        c->at == PTX_NO_REG ||
        !is(c, 0, "ld.const.v2.b32 {gshare$mask, gshare$base}, [gshare$window];") ||
        !is(c, 1, "ld.const.b64 gshare$globals, [gshare$window+8];"))
        return fails(c, 0, "the function does not begin with the window");
    c->begun = 2;
    for (unsigned k = 0; k < MOST_FIXED; k++) {
        char name[32];

        snprintf(name, sizeof(name), "gshare$fixed%u", k);
        c->fixed[k] = find_register(c->f, name);
        /* Whatever jumps follow, control comes by here first. */
        if (c->fixed[k] != PTX_NO_REG && !is_first_address(c, c->begun++, k))
            return fails(c, c->begun - 1, "a fixed base does not begin in the window");
    }
    return true;
}

/* Instruction I leaves in a fixed base what a fence made, or only reads it. */
static bool check_fixed(struct check *c, uint32_t i, unsigned k)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    uint32_t before = i;

    if (is(c, i, "mov.b64 gshare$fixed%u, {gshare$lo, gshare$hi};", k))
        return precedes(c, &before,
                        "lop3.b32 gshare$hi, gshare$hi, gshare$mask, gshare$base, 234;") ||
               fails(c, i, "a fixed base is not fenced");
    return (inst->op == PTX_OP_MAD && inst->guard == PTX_NO_REG &&
            inst->ops[0].kind == PTX_OPND_REG && inst->ops[0].reg == c->at) ||
           fails(c, i, "a fixed base is used otherwise");
}

static bool check_window(struct check *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    bool window = false, globals = false;

    for (unsigned k = 0; k < inst->nops; k++) {
        window |= mentions(&inst->ops[k], c->mask) || mentions(&inst->ops[k], c->base);
        globals |= inst->ops[k].kind != PTX_OPND_MEM && mentions(&inst->ops[k], c->globals);
    }
    if (window && !is(c, i, "lop3.b32 gshare$hi, gshare$hi, gshare$mask, gshare$base, 234;") &&
        !is(c, i, "lop3.b32 gshare$x, gshare$hi, gshare$mask, gshare$base, 234;"))
        return fails(c, i, "the window is used otherwise");
    for (unsigned k = 0; k < MOST_FIXED; k++)
        for (unsigned o = 0; c->fixed[k] != PTX_NO_REG && o < inst->nops; o++)
            if (mentions(&inst->ops[o], c->fixed[k]) && !check_fixed(c, i, k))
                return false;
    if (globals && (inst->op != PTX_OP_ADD || mentions(&inst->ops[0], c->globals)))
        return fails(c, i, "the block of variables is used otherwise");
    return true;
}

/* ---- 2. Accesses ---- */

/* Behind instruction I the predicate gshare$p says that address FROM is of another space. *LOCAL:
 * which may be the local one. */
static bool is_told_apart(const struct check *c, uint32_t i, const char *from, bool load,
                          bool *local)
{
    static const char *const spaces[] = {"shared", "local", "const"};

    for (;;) {
        bool more = precedes(c, &i, "or.pred gshare$p, gshare$p, gshare$q;");
        unsigned k, count = load ? 3 : 2;

        for (k = 0; k < count; k++)
            if (precedes(c, &i, "isspacep.%s gshare$%c, %s;", spaces[k], more ? 'q' : 'p', from))
                break;
        if (k == count)
            return false;
        *local |= !strcmp(spaces[k], "local");
        if (!more)
            return true;
    }
}

/* What runs right before instruction I puts an address in gshare$at that may be accessed. EXACT:
 * only without an offset. */
static bool is_fenced(const struct check *c, uint32_t i, bool generic, bool load, bool *exact,
                      bool *local)
{
    char from[256] = "";

    *exact = *local = false;
    if (!precedes(c, &i, "mov.b64 gshare$at, {gshare$lo, gshare$hi};"))
        return false;
    if (precedes(c, &i, "lop3.b32 gshare$hi, gshare$hi, gshare$mask, gshare$base, 234;"))
        return true;
    *exact = true;
    if (!generic || !precedes(c, &i, "selp.b32 gshare$hi, gshare$hi, gshare$x, gshare$p;") ||
        !precedes(c, &i, "lop3.b32 gshare$x, gshare$hi, gshare$mask, gshare$base, 234;") || !i ||
        c->f->insts[i - 1].op != PTX_OP_MOV || c->f->insts[i - 1].ops[1].kind != PTX_OPND_REG)
        return false;
    ptx_reg_name(c->f, c->f->insts[i - 1].ops[1].reg, from, sizeof(from));
    return precedes(c, &i, "mov.b64 {gshare$lo, gshare$hi}, %s;", from) &&
           is_told_apart(c, i, from, load, local);
}

/* Bytes from the first to the last row of a matrix for each unit of its stride, or more. */
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

/* Rows that begin in shared or local memory end there too. */
static bool is_bounded_elsewhere(const struct check *c, uint32_t *i)
{
    return precedes(c, i, "selp.b32 gshare$x, gshare$y, gshare$x, gshare$p;") &&
           precedes(c, i, "min.u32 gshare$y, gshare$s, 65536;") &&
           precedes(c, i, "mov.b64 gshare$at, {gshare$lo, gshare$hi};") &&
           precedes(c, i, "selp.b32 gshare$lo, gshare$y, gshare$lo, gshare$p;") &&
           precedes(c, i, "and.b32 gshare$y, gshare$lo, 268435455;") &&
           precedes(c, i, "or.pred gshare$p, gshare$p, gshare$q;") &&
           precedes(c, i, "isspacep.local gshare$q, gshare$at;") &&
           precedes(c, i, "isspacep.shared gshare$p, gshare$at;") &&
           precedes(c, i, "mov.b64 {gshare$lo, gshare$hi}, gshare$at;");
}

/* The stride is a small constant, or gshare$x, chosen right before. *I: what runs before all that.
 * *ELSEWHERE: the rows may lie in another space. */
static bool is_stride_bounded(const struct check *c, uint32_t *i, const struct ptx_inst *inst,
                              bool *elsewhere)
{
    const struct ptx_operand *stride = &inst->ops[2];
    uint64_t span = rows_span(inst);
    uint32_t start = *i;

    *elsewhere = false;
    if (stride->kind == PTX_OPND_NONE || (stride->kind == PTX_OPND_IMM && stride->imm < 1u << 31 &&
                                          stride->imm * span <= MOST_OFFSET / 2))
        return true;
    if (stride->kind != PTX_OPND_REG || stride->reg != find_register(c->f, "gshare$x"))
        return false;
    *elsewhere = is_bounded_elsewhere(c, i);
    *i = *elsewhere ? *i : start;
    return precedes(c, i, "selp.b32 gshare$x, gshare$s, 0, gshare$p;") &&
           precedes(c, i, "setp.ge.and.s32 gshare$p, gshare$s, 0, gshare$p;") &&
           precedes(c, i, "setp.eq.u32 gshare$p, gshare$x, gshare$hi;") &&
           precedes(c, i, "lop3.b32 gshare$x, gshare$hi, gshare$mask, gshare$base, 234;") &&
           precedes(c, i, "mov.b64 {gshare$lo, gshare$hi}, gshare$far;") &&
           precedes(c, i, "add.s64 gshare$far, gshare$far, gshare$at;") &&
           precedes(c, i, "mul.wide.u32 gshare$far, gshare$s, %llu;", (unsigned long long)span) &&
           *i && is_copy(c, --*i, "gshare$s");
}

/* Counted anew, though the pass counts the same: what the pass has wrong is found here. */
static uint64_t access_bytes(const struct ptx_inst *inst)
{
    uint64_t bytes = (ptx_type_bits(inst->type[0]) + 7) / 8 * (inst->vec ? inst->vec : 1);

    switch (inst->op) {
    case PTX_OP_APPLYPRIORITY:
        return 128;
    case PTX_OP_CP_ASYNC:
        return 16;
    case PTX_OP_CP_ASYNC_BULK:
        return inst->ops[2].kind == PTX_OPND_IMM ? inst->ops[2].imm : MOST_BULK;
    default:
        return bytes ? bytes : 1;
    }
}

static bool is_store(const struct check *c, const struct ptx_inst *inst)
{
    enum ptx_class class = ptx_op_class(inst->op);

    return !c->house &&
           (class == PTX_CLASS_STORE || class == PTX_CLASS_ATOM || class == PTX_CLASS_MATRIX_STORE);
}

/* Registers of the epilogue of completion_exits.c, which hold addresses from gshare$done. A kernel
 * may have several epilogues, each in a scope of its own: the reader names the later ones'
 * gshare$w$1_, gshare$w$2_ and so on. */
static bool is_of_epilogue(const struct check *c, uint32_t reg)
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

/* What always runs right before instruction I puts a fixed base and an index in gshare$at. */
static bool is_indexed(const struct check *c, uint32_t i)
{
    const struct ptx_inst *mad = i && !c->labelled[i] ? &c->f->insts[i - 1] : NULL;
    char index[256];

    if (!mad || mad->op != PTX_OP_MAD || mad->ops[1].kind != PTX_OPND_REG ||
        mad->ops[2].kind != PTX_OPND_IMM || mad->ops[2].imm > MOST_FACTOR)
        return false;
    ptx_reg_name(c->f, mad->ops[1].reg, index, sizeof(index));
    for (unsigned k = 0; k < MOST_FIXED; k++)
        if (is(c, i - 1, "mad.wide.u32 gshare$at, %s, %llu, gshare$fixed%u;", index,
               (unsigned long long)mad->ops[2].imm, k))
            return true;
    return false;
}

/* A bulk copy's size is a constant, or gshare$s, bounded right before. *I: what runs before that.
 */
static bool is_bulk_bounded(const struct check *c, uint32_t *i, const struct ptx_inst *inst)
{
    const struct ptx_operand *size = &inst->ops[2], *o;

    if (size->kind == PTX_OPND_IMM)
        return size->imm <= MOST_BULK;
    if (size->kind != PTX_OPND_REG || size->reg != find_register(c->f, "gshare$s") || !*i ||
        c->labelled[*i])
        return false;
    o = c->f->insts[--*i].ops;
    return c->f->insts[*i].op == PTX_OP_MIN && c->f->insts[*i].type[0] == PTX_T_U32 &&
           c->f->insts[*i].guard == PTX_NO_REG && o[0].kind == PTX_OPND_REG &&
           o[0].reg == size->reg && o[2].kind == PTX_OPND_IMM && o[2].imm <= MOST_BULK;
}

static bool check_register_access(struct check *c, uint32_t i, const struct ptx_mem *mem,
                                  bool generic)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    bool matrix = inst->op == PTX_OP_WMMA_LOAD || inst->op == PTX_OP_WMMA_STORE;
    bool exact, local, elsewhere = true;
    bool bulk = inst->op == PTX_OP_CP_ASYNC_BULK;
    uint32_t before = i;

    if (bulk && !is_bulk_bounded(c, &before, inst))
        return fails(c, i, "the size is not bounded");
    if (mem->reg == c->globals) {
        if (matrix || mem->offset < 0 || (uint64_t)mem->offset > c->globals_bytes ||
            access_bytes(inst) > c->globals_bytes - (uint64_t)mem->offset)
            return fails(c, i, "outside of the block of variables");
        return true;
    }
    if (mem->reg != c->at)
        return (!generic && is_of_epilogue(c, mem->reg)) ||
               fails(c, i, "the address is not fenced");
    if (!generic && fence_check_is_table_load(c->f, c->labelled, i))
        return true;
    if (!matrix && !bulk && mem->offset >= 0 && mem->offset <= MOST_OFFSET && is_indexed(c, i)) {
        c->indexed = true;
        return true;
    }
    if (matrix && !is_stride_bounded(c, &before, inst, &elsewhere))
        return fails(c, i, "the stride is not bounded");
    if (!is_fenced(c, before, generic, inst->op == PTX_OP_LD, &exact, &local))
        return fails(c, i, "the fence is not whole");
    c->stack |= local && is_store(c, inst);
    if (exact && !elsewhere)
        return fails(c, i, "rows in another space are not bounded");
    if (mem->offset > (exact ? 0 : MOST_OFFSET) || mem->offset < 0)
        return fails(c, i, "the offset leads too far");
    return true;
}

/* ---- 4. The stack ---- */

/* A store to .local off a register: right before it the address was bounded to a variable. */
static bool is_bounded_to_variable(const struct check *c, uint32_t i, const struct ptx_mem *mem)
{
    const struct ptx_inst *inst = &c->f->insts[i], *min;
    const struct ptx_operand *o;
    uint32_t x = find_register(c->f, "gshare$x");

    if (mem->base != PTX_BASE_REG || mem->reg != x || mem->offset ||
        !precedes(c, &i, "add.s32 gshare$x, gshare$x, gshare$y;") || !i || c->labelled[i])
        return false;
    min = &c->f->insts[--i];
    if (min->op != PTX_OP_MIN || min->ops[2].kind != PTX_OPND_IMM || min->ops[2].imm >= 1u << 31 ||
        !is(c, i, "min.u32 gshare$x, gshare$x, %llu;", (unsigned long long)min->ops[2].imm) || !i ||
        c->labelled[i])
        return false;
    if (c->f->insts[i - 1].op == PTX_OP_ADD && mentions(&c->f->insts[i - 1].ops[0], x))
        i--;
    if (i < 2 || c->labelled[i] || c->labelled[i - 1] ||
        !is(c, i - 1, "sub.s32 gshare$x, gshare$x, gshare$y;"))
        return false;
    o = c->f->insts[i - 2].ops;
    return c->f->insts[i - 2].op == PTX_OP_MOV && o[1].kind == PTX_OPND_SYM && !o[1].sym.offset &&
           o[1].sym.var->space == PTX_SPACE_LOCAL && o[1].sym.var->func == c->f &&
           is(c, i - 2, "mov.u32 gshare$y, %s;", o[1].sym.var->name) &&
           min->ops[2].imm <= o[1].sym.var->size &&
           access_bytes(inst) <= o[1].sym.var->size - min->ops[2].imm;
}

/* Whether an access that is not told apart at run time may write any byte of the thread's stack. */
static bool may_hit_stack(const struct check *c, uint32_t i, const struct ptx_mem *mem)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    uint64_t bytes = access_bytes(inst);

    if (!is_store(c, inst))
        return false;
    if (mem->base == PTX_BASE_VAR)
        return mem->var->space != PTX_SPACE_SHARED && mem->var->space != PTX_SPACE_GLOBAL &&
               (mem->offset < 0 || (uint64_t)mem->offset > mem->var->size ||
                bytes > mem->var->size - (uint64_t)mem->offset);
    return inst->space != PTX_SPACE_GLOBAL && inst->space != PTX_SPACE_SHARED &&
           inst->space != PTX_SPACE_GENERIC && !is_bounded_to_variable(c, i, mem);
}

/* ---- 5. Kernel parameters ---- */

static bool is_write_of(const struct ptx_inst *inst, uint32_t reg)
{
    return inst->ops[0].kind == PTX_OPND_REG && inst->ops[0].reg == reg;
}

/* Right before instruction I gshare$far becomes the address of the first parameter plus at most
 * LIMIT. */
static bool is_bounded_to_parameters(const struct check *c, uint32_t i, uint64_t limit)
{
    uint32_t sym = find_register(c->f, "gshare$sym");
    const struct ptx_inst *min;

    if (!precedes(c, &i, "add.s64 gshare$far, gshare$far, gshare$sym;") || !i || c->labelled[i])
        return false;
    min = &c->f->insts[i - 1];
    if (min->op != PTX_OP_MIN || min->ops[2].kind != PTX_OPND_IMM || min->ops[2].imm > limit ||
        !precedes(c, &i, "min.u64 gshare$sym, gshare$sym, %llu;",
                  (unsigned long long)min->ops[2].imm))
        return false;
    /* What the offset is before its bound does not matter, if the base stays. */
    while (i && !c->labelled[i] &&
           (c->f->insts[i - 1].op == PTX_OP_ADD || c->f->insts[i - 1].op == PTX_OP_SUB) &&
           is_write_of(&c->f->insts[i - 1], sym))
        i--;
    return i && c->f->insts[i - 1].ops[1].kind == PTX_OPND_SYM &&
           c->f->insts[i - 1].ops[1].sym.var == c->f->params[0] &&
           precedes(c, &i, "mov.b64 gshare$far, %s;", c->f->params[0]->name);
}

static bool check_parameter(struct check *c, uint32_t i, const struct ptx_mem *mem)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    uint64_t bytes = access_bytes(inst), end = 0;

    if (mem->base == PTX_BASE_VAR) {
        for (uint32_t k = 0; c->f->entry && k < c->f->nparams; k++)
            if (mem->var == c->f->params[k] &&
                (mem->offset < 0 || (uint64_t)mem->offset > mem->var->size ||
                 bytes > mem->var->size - (uint64_t)mem->offset))
                return fails(c, i, "not inside the parameter");
        return true;
    }
    if (!c->f->entry)
        return (mem->base == PTX_BASE_REG && inst->space != PTX_SPACE_PARAM_ENTRY) ||
               fails(c, i, "a parameter of an unknown kernel");
    for (uint32_t k = 0; k < c->f->nparams && !is_house(c->f->params[k]->name); k++)
        end = c->f->params[k]->offset + c->f->params[k]->size;
    return (inst->op == PTX_OP_LD && inst->space != PTX_SPACE_PARAM_FUNC &&
            mem->base == PTX_BASE_REG && mem->reg == find_register(c->f, "gshare$far") &&
            !mem->offset && bytes <= end && is_bounded_to_parameters(c, i, end - bytes)) ||
           fails(c, i, "not inside the kernel's parameters");
}

static bool makes_generic_parameter(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_CVTA && !(inst->flags & PTX_F_TO) &&
           (inst->space == PTX_SPACE_PARAM || inst->space == PTX_SPACE_PARAM_ENTRY ||
            inst->space == PTX_SPACE_PARAM_FUNC);
}

/* ---- 2., 4., 5. Any address ---- */

static bool check_address(struct check *c, uint32_t i, const struct ptx_mem *mem, unsigned space)
{
    switch (space) {
    case PTX_SPACE_CONST:
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_SHARED:
        return true;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
    case PTX_SPACE_PARAM_FUNC:
        /* The lists of a call name whole variables. */
        return c->f->insts[i].op == PTX_OP_CALL || check_parameter(c, i, mem);
    case PTX_SPACE_GLOBAL:
        if (c->house)
            return true;
        break;
    case PTX_SPACE_GENERIC:
        break;
    default:
        return fails(c, i, "an unknown state space");
    }
    if (mem->base == PTX_BASE_VAR)
        return mem->var->space == PTX_SPACE_SHARED || mem->var->space == PTX_SPACE_LOCAL ||
               fails(c, i, "a variable that lies outside");
    return mem->base == PTX_BASE_REG ? check_register_access(c, i, mem, space == PTX_SPACE_GENERIC)
                                     : fails(c, i, "a constant address");
}

/* ---- 3. Computed targets ---- */

/* Whether the operand names a function that a computed call may go to. */
static bool is_candidate(const struct ptx_operand *o)
{
    return o->kind == PTX_OPND_FUNC && o->func->has_body && !o->func->entry &&
           !is_house_function(o->func);
}

static bool check_call(struct check *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    const struct ptx_operand *callee = &inst->ops[1], *o;

    if (callee->kind == PTX_OPND_FUNC) {
        const struct ptx_func *f = callee->func->alias ? callee->func->alias : callee->func;

        return (f->has_body && !f->entry) || fails(c, i, "a function that is not in the module");
    }
    if (callee->kind != PTX_OPND_REG || callee->reg != find_register(c->f, "gshare$to"))
        return fails(c, i, "a computed target");
    /* Backwards: (mov sym, f; setp p; selp to)*, mov to, f. */
    for (;;) {
        if (!i || c->labelled[i])
            return fails(c, i, "a target from elsewhere");
        o = c->f->insts[i - 1].ops;
        if (c->f->insts[i - 1].op == PTX_OP_MOV && o[0].kind == PTX_OPND_REG &&
            o[0].reg == callee->reg && is_candidate(&o[1]) &&
            c->f->insts[i - 1].guard == PTX_NO_REG)
            return true;
        if (!precedes(c, &i, "selp.b64 gshare$to, gshare$sym, gshare$to, gshare$p;") || i < 2 ||
            c->labelled[i] || c->labelled[i - 1] || c->f->insts[i - 1].op != PTX_OP_SETP)
            return fails(c, i, "a target that is not chosen from a list");
        i -= 2;
        o = c->f->insts[i].ops;
        if (c->f->insts[i].op != PTX_OP_MOV || !is_candidate(&o[1]) ||
            !is(c, i, "mov.b64 gshare$sym, %s;", o[1].func->name))
            return fails(c, i, "a target that is no function");
    }
}

static bool check_brx(struct check *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    uint32_t count = c->f->tables[inst->ops[1].table].count;
    const struct ptx_inst *min = i && !c->labelled[i] ? &c->f->insts[i - 1] : NULL;

    return (count && min && min->op == PTX_OP_MIN && min->type[0] == PTX_T_U32 &&
            min->guard == PTX_NO_REG && inst->ops[0].kind == PTX_OPND_REG &&
            mentions(&min->ops[0], inst->ops[0].reg) && min->ops[2].kind == PTX_OPND_IMM &&
            min->ops[2].imm == count - 1) ||
           fails(c, i, "an index that is not bounded");
}

/* ---- 6., 7., 8. The rest ---- */

/* A list of its own beside that of the pass, on purpose. */
static bool is_known_pragma(const char *text)
{
    unsigned mask;
    int n = 0;

    return !strcmp(text, "\"nounroll\"") ||
           (sscanf(text, "\"used_bytes_mask %x\"%n", &mask, &n) == 1 && n && !text[n]);
}

static bool check_class(struct check *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];
    const char *wrong;

    if (inst->op == PTX_OP_DISCARD)
        return fails(c, i, "shows what memory held before");
    if (inst->op == PTX_OP_TRAP || inst->op == PTX_OP_BRKPT)
        return fails(c, i, "ends the work of others too");
    if (makes_generic_parameter(inst))
        return fails(c, i, "a generic address of a parameter");
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
        return true;
    case PTX_CLASS_MATRIX_LOAD:
    case PTX_CLASS_MATRIX_STORE:
        return inst->op == PTX_OP_WMMA_LOAD || inst->op == PTX_OP_WMMA_STORE ||
               inst->space == PTX_SPACE_SHARED || fails(c, i, "not in .shared");
    case PTX_CLASS_MBARRIER:
        return inst->space == PTX_SPACE_SHARED || fails(c, i, "not in .shared");
    case PTX_CLASS_TEX:
    case PTX_CLASS_SURF:
        wrong = fence_check_texture(c->m, c->f, c->labelled, i);
        return !wrong || fails(c, i, wrong);
    case PTX_CLASS_MISC:
        return inst->op != PTX_OP_PRAGMA || is_known_pragma(inst->ops[0].string) ||
               fails(c, i, "a pragma");
    default:
        return fails(c, i, "not on the list");
    }
}

static bool names_outside(const struct check *c, const struct ptx_operand *o)
{
    const struct ptx_var *v = o->kind == PTX_OPND_SYM ? o->sym.var : NULL;

    if (o->kind == PTX_OPND_VEC || o->kind == PTX_OPND_LIST)
        for (uint32_t i = 0; i < o->count; i++)
            if (names_outside(c, &o->list[i]))
                return true;
    return v && v->space == PTX_SPACE_GLOBAL && !c->house;
}

/* What stands in brackets is an object there, and no address. */
static bool is_query(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_TXQ || inst->op == PTX_OP_SUQ;
}

static bool check_instruction(struct check *c, uint32_t i)
{
    const struct ptx_inst *inst = &c->f->insts[i];

    if ((i >= c->begun && !check_window(c, i)) || !check_class(c, i))
        return false;
    for (unsigned k = 0; k < inst->nops; k++) {
        bool source = ptx_op_class(inst->op) == PTX_CLASS_ASYNC && k == 1;

        if (names_outside(c, &inst->ops[k]))
            return fails(c, i, "the address of a variable that lies outside");
        c->stack |= inst->ops[k].kind == PTX_OPND_MEM && may_hit_stack(c, i, &inst->ops[k].mem);
        if (inst->ops[k].kind == PTX_OPND_MEM && !is_query(inst) &&
            !check_address(c, i, &inst->ops[k].mem, source ? inst->space2 : inst->space))
            return false;
    }
    if (inst->op == PTX_OP_CP_ASYNC && inst->space != PTX_SPACE_SHARED)
        return fails(c, i, "not to .shared");
    return inst->op == PTX_OP_CALL      ? check_call(c, i)
           : inst->op == PTX_OP_BRX_IDX ? check_brx(c, i)
                                        : true;
}

static bool same_variables(struct ptx_var *const *a, uint32_t na, struct ptx_var *const *b,
                           uint32_t nb)
{
    bool same = na == nb;

    for (uint32_t i = 0; same && i < na; i++)
        same = a[i]->size == b[i]->size && a[i]->align == b[i]->align && a[i]->space == b[i]->space;
    return same;
}

/* An alias is called as it is declared and runs as the function that it stands for. */
static bool check_alias(struct check *c)
{
    const struct ptx_func *f = c->f, *of = f->alias;

    return (same_variables(f->params, f->nparams, of->params, of->nparams) &&
            same_variables(f->rets, f->nrets, of->rets, of->nrets)) ||
           fails(c, UINT32_MAX, "an alias with other parameters");
}

static bool check_function(struct check *c)
{
    for (uint32_t i = 0; i < c->f->nvars; i++)
        if (c->f->vars[i]->space != PTX_SPACE_LOCAL && c->f->vars[i]->space != PTX_SPACE_SHARED &&
            c->f->vars[i]->space != PTX_SPACE_PARAM)
            return fails(c, UINT32_MAX, "a variable that does not belong into a function");
    for (uint32_t i = 0; i < c->f->npragmas; i++)
        if (!is_known_pragma(c->f->pragmas[i]))
            return fails(c, UINT32_MAX, "a pragma");
    for (uint32_t i = 0; i < c->f->nlabels; i++)
        c->labelled[c->f->labels[i].inst] = true;
    if (!check_prologue(c))
        return false;
    for (uint32_t i = 0; i < c->f->ninsts; i++)
        if (!check_instruction(c, i))
            return false;
    return true;
}

static bool check_variables(struct check *c)
{
    for (uint32_t i = 0; i < c->m->nvars; i++) {
        const struct ptx_var *v = c->m->vars[i];
        bool plain = v->space == PTX_SPACE_CONST || v->space == PTX_SPACE_SHARED;

        if ((!plain && !(v->space == PTX_SPACE_GLOBAL && is_house(v->name))) ||
            !ptx_type_bits(v->type) || v->managed) {
            snprintf(c->why, c->why_size, "%s lies outside", v->name);
            return false;
        }
    }
    return true;
}

int fence_check(const char *text, size_t len, uint64_t globals_bytes, bool *stack, bool *indexed,
                char *why, size_t why_size)
{
    struct check c = {.globals_bytes = globals_bytes, .why = why, .why_size = why_size};
    struct ptx_module *m = NULL;
    struct ptx_error error = {0};
    int result = ptx_parse(text, len, &m, &error);
    bool fine = !result;

    if (result && result != -ENOMEM)
        snprintf(why, why_size, "line %u: %s", error.line, error.text);
    c.m = m;
    fine = fine && check_variables(&c);
    for (uint32_t i = 0; fine && i < m->nfuncs; i++) {
        c.f = m->funcs[i];
        if (c.f->alias)
            fine = check_alias(&c);
        if (!c.f->has_body)
            continue;
        c.house = is_house_function(c.f);
        c.labelled = calloc((size_t)c.f->ninsts + 1, sizeof(*c.labelled));
        if (!c.labelled) {
            result = -ENOMEM;
            break;
        }
        fine = check_function(&c);
        free(c.labelled);
    }
    ptx_module_free(m);
    *stack = c.stack;
    *indexed = c.indexed;
    return result == -ENOMEM ? result : fine ? 0 : -EPERM;
}
