/* Writes one instruction as PTX, in its form in ptx_ops.def. No state; any thread. */
#include <inttypes.h>
#include <string.h>

#include "ptx/ptx_table.h"
#include "ptx/write/print.h"

const char *ptx_reg_name(const struct ptx_func *f, uint32_t reg, char *buf, size_t size)
{
    static const char xyzw[] = "xyzw";
    const struct ptx_reg_decl *d;

    if (reg >= f->nregs) {
        snprintf(buf, size, "%%?%u", reg);
        return buf;
    }
    d = &f->decls[f->regs[reg].decl];
    if (d->range)
        snprintf(buf, size, "%s%u", d->name, reg - d->first);
    else if (d->vec)
        snprintf(buf, size, "%s.%c", d->name, xyzw[(reg - d->first) & 3]);
    else
        snprintf(buf, size, "%s", d->name);
    return buf;
}

/* ---- operands ---- */

static void print_reg(FILE *out, const struct ptx_func *f, uint32_t reg)
{
    const struct ptx_reg_decl *d = reg < f->nregs ? &f->decls[f->regs[reg].decl] : NULL;
    char name[256];

    if (d && d->range)
        fprintf(out, "%s%u", d->name, reg - d->first);
    else if (d && !d->vec)
        fputs(d->name, out);
    else if (d)
        fprintf(out, "%s.%c", d->name, "xyzw"[(reg - d->first) & 3]);
    else
        fputs(ptx_reg_name(f, reg, name, sizeof(name)), out);
}

void print_offset(FILE *out, int64_t offset)
{
    if (offset)
        fprintf(out, "+%" PRId64, offset); /* ptxas accepts "+-4" */
}

void print_constant(FILE *out, uint64_t bits, enum ptx_type type)
{
    if (type == PTX_T_F32)
        fprintf(out, "0f%08" PRIX32, (uint32_t)bits);
    else if (type == PTX_T_F64)
        fprintf(out, "0d%016" PRIX64, bits);
    else
        fprintf(out, "%" PRId64, (int64_t)bits);
}

static void print_mem(FILE *out, const struct ptx_func *f, const struct ptx_mem *mem)
{
    switch ((enum ptx_base_kind)mem->base) {
    case PTX_BASE_ABS:
        fprintf(out, "%" PRId64, mem->offset);
        return;
    case PTX_BASE_REG:
        print_reg(out, f, mem->reg);
        break;
    case PTX_BASE_VAR:
        fputs(mem->var->name, out);
        break;
    }
    print_offset(out, mem->offset);
}

static void print_operand(FILE *out, const struct ptx_func *f, const struct ptx_operand *o,
                          bool brackets);

static void print_list(FILE *out, const struct ptx_func *f, const struct ptx_operand *o,
                       const char *open, const char *close)
{
    uint32_t i;

    fputs(open, out);
    for (i = 0; i < o->count; i++) {
        if (i)
            fputs(", ", out);
        print_operand(out, f, &o->list[i], false);
    }
    fputs(close, out);
}

static void print_sreg(FILE *out, const struct ptx_operand *o)
{
    if (o->sreg == PTX_SREG_PM64)
        fprintf(out, "%%pm%u_64", o->index);
    else if (o->sreg == PTX_SREG_PM || o->sreg == PTX_SREG_ENVREG)
        fprintf(out, "%s%u", ptx_sreg_name(o->sreg), o->index);
    else
        fputs(ptx_sreg_name(o->sreg), out);
}

static void print_operand(FILE *out, const struct ptx_func *f, const struct ptx_operand *o,
                          bool brackets)
{
    switch ((enum ptx_operand_kind)o->kind) {
    case PTX_OPND_NONE:
        break;
    case PTX_OPND_REG:
        if (o->neg)
            fputc('!', out);
        print_reg(out, f, o->reg);
        break;
    case PTX_OPND_IMM:
        print_constant(out, o->imm, o->type);
        break;
    case PTX_OPND_SREG:
        print_sreg(out, o);
        break;
    case PTX_OPND_SYM:
        fputs(o->sym.var->name, out);
        print_offset(out, o->sym.offset);
        break;
    case PTX_OPND_FUNC:
        fputs(o->func->name, out);
        break;
    case PTX_OPND_MEM:
        if (brackets)
            fputc('[', out);
        print_mem(out, f, &o->mem);
        if (brackets)
            fputc(']', out);
        break;
    case PTX_OPND_VEC:
        print_list(out, f, o, "{", "}");
        break;
    case PTX_OPND_LIST:
        print_list(out, f, o, "(", ")");
        break;
    case PTX_OPND_LABEL:
        fputs(f->labels[o->label].name, out);
        break;
    case PTX_OPND_TABLE:
        fputs(f->tables[o->table].name, out);
        break;
    case PTX_OPND_PROTO:
        fputs(o->proto->name, out);
        break;
    case PTX_OPND_SINK:
        fputc('_', out);
        break;
    case PTX_OPND_STRING:
        fputs(o->string, out);
        break;
    }
}

static void print_selector(FILE *out, unsigned sel)
{
    unsigned digits, i;

    if (sel & (PTX_SEL_BYTES | PTX_SEL_HALVES)) {
        digits = sel & PTX_SEL_BYTES ? 4 : 2;
        fprintf(out, ".%c", sel & PTX_SEL_BYTES ? 'b' : 'h');
        for (i = digits; i-- > 0;)
            fputc('0' + (int)(sel >> (3 * i) & 7), out);
    } else if (sel & PTX_SEL_MASK) {
        fputs(".b", out);
        for (i = 4; i-- > 0;)
            if (sel >> i & 1)
                fputc('0' + (int)i, out);
    } else if (sel >= PTX_SEL_H0) {
        fprintf(out, ".h%u", sel - PTX_SEL_H0);
    } else if (sel) {
        fprintf(out, ".b%u", sel - PTX_SEL_B0);
    }
}

/* ---- instructions ---- */

static void print_modifiers(FILE *out, const struct ptx_inst *inst, const struct ptx_form *form)
{
    const struct ptx_slot *slot;
    unsigned types = 0;
    const char *word;

    for (slot = form->slots; slot < form->slots + PTX_MAX_SLOTS && slot->kind; slot++) {
        if (slot->kind == PTX_SLOT_TYPE)
            word = ptx_type_name(inst->type[types++]);
        else
            word = ptx_slot_word(inst, slot->kind);
        if (word)
            fprintf(out, ".%s", word);
    }
}

static void print_operands(FILE *out, const struct ptx_func *f, const struct ptx_inst *inst,
                           const struct ptx_form *form)
{
    bool first = true;
    unsigned i;

    for (i = 0; i < inst->nops; i++) {
        const struct ptx_operand *o = &inst->ops[i];
        const struct ptx_desc *desc = &form->opnds[i];

        if (o->kind == PTX_OPND_NONE)
            continue;
        fputs(first ? " " : desc->kind == PTX_DESC_PIPE ? "|" : ", ", out);
        first = false;
        if (desc->kind == PTX_DESC_TEX)
            fputc('[', out);
        if (i > 0 && i < 4 && inst->flags & (PTX_F_NEG_A << (i - 1)))
            fputc('-', out);
        print_operand(out, f, o, true);
        if (i < 4)
            print_selector(out, inst->sel[i]);
        if (desc->kind == PTX_DESC_COORD)
            fputc(']', out);
    }
}

static void print_call(FILE *out, const struct ptx_func *f, const struct ptx_inst *inst)
{
    bool first = true;
    unsigned i;

    for (i = 0; i < inst->nops; i++) {
        if (inst->ops[i].kind == PTX_OPND_NONE)
            continue;
        fputs(first ? " " : ", ", out);
        first = false;
        print_operand(out, f, &inst->ops[i], false);
    }
}

void print_inst(FILE *out, const struct ptx_func *f, const struct ptx_inst *inst)
{
    const struct ptx_form *form = &ptx_forms[inst->form];

    if (inst->guard != PTX_NO_REG) {
        fputs(inst->guard_neg ? "@!" : "@", out);
        print_reg(out, f, inst->guard);
        fputc(' ', out);
    }
    fputs(ptx_op_name(inst->op), out);
    print_modifiers(out, inst, form);
    if (inst->op == PTX_OP_CALL)
        print_call(out, f, inst);
    else
        print_operands(out, f, inst, form);
    fputc(';', out);
}

void ptx_inst_format(const struct ptx_func *f, const struct ptx_inst *inst, char *buf, size_t size)
{
    FILE *out;

    if (!size)
        return;
    buf[0] = 0;
    out = fmemopen(buf, size, "w");
    if (!out)
        return;
    print_inst(out, f, inst);
    fclose(out);
    buf[size - 1] = 0;
}
