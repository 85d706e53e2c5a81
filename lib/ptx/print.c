/* Writes a module as PTX. What is printed reads back to the same module: functions are declared
 * first, in their order, then variables, then bodies. No state; any thread; trusts that the module
 * is one that the reader or a pass made. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ptx/ptx_table.h"

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
    else
        fputs(ptx_reg_name(f, reg, name, sizeof(name)), out);
}

static void print_offset(FILE *out, int64_t offset)
{
    if (offset)
        fprintf(out, "+%" PRId64, offset); /* "+-4" is what ptxas takes */
}

static void print_constant(FILE *out, uint64_t bits, enum ptx_type type)
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

static void print_inst(FILE *out, const struct ptx_func *f, const struct ptx_inst *inst)
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

/* ---- variables ---- */

static const char *linkage_word(unsigned linkage)
{
    static const char *const words[] = {"", ".extern ", ".visible ", ".weak ", ".common "};

    return words[linkage];
}

static unsigned element_bytes(const struct ptx_var *var)
{
    unsigned bits = ptx_type_bits(var->type);

    return bits < 8 ? 8 : bits / 8;
}

static void print_reloc(FILE *out, const struct ptx_reloc *r)
{
    if (r->size == 1)
        fprintf(out, "0x%" PRIX64 "(", (uint64_t)0xFF << r->shift);
    if (r->generic)
        fputs("generic(", out);
    fputs(r->var ? r->var->name : r->func->name, out);
    if (r->generic)
        fputc(')', out);
    print_offset(out, r->addend);
    if (r->size == 1)
        fputc(')', out);
}

struct init_cursor {
    const struct ptx_var *var;
    uint32_t reloc; /* the next one */
};

static void print_element(FILE *out, struct init_cursor *c, uint64_t offset)
{
    const struct ptx_var *var = c->var;
    unsigned bytes = element_bytes(var), i;
    uint64_t bits = 0;

    while (c->reloc < var->nrelocs && var->relocs[c->reloc].offset < offset)
        c->reloc++;
    if (c->reloc < var->nrelocs && var->relocs[c->reloc].offset == offset) {
        print_reloc(out, &var->relocs[c->reloc]);
        return;
    }
    for (i = 0; i < bytes && i < 8 && offset + i < var->ninit; i++)
        bits |= (uint64_t)var->init[offset + i] << (8 * i);
    if (ptx_type_is_signed(var->type) && bytes < 8)
        bits = (uint64_t)((int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    print_constant(out, bits, var->type);
}

/* The values at one brace level, as far as there are initial bytes. */
static void print_braces(FILE *out, struct init_cursor *c, unsigned level, uint64_t offset,
                         uint64_t size)
{
    const struct ptx_var *var = c->var;
    unsigned levels = var->ndims + (var->vec ? 1u : 0u);
    uint64_t count = level < var->ndims ? var->dims[level] : var->vec,
             inner = count ? size / count : 0, i;

    fputc('{', out);
    for (i = 0; i < count && offset + i * inner < var->ninit; i++) {
        if (i)
            fputs(", ", out);
        if (level + 1 < levels)
            print_braces(out, c, level + 1, offset + i * inner, inner);
        else
            print_element(out, c, offset + i * inner);
    }
    fputc('}', out);
}

static void print_var(FILE *out, const struct ptx_var *var, const char *indent)
{
    struct init_cursor c = {.var = var};
    unsigned i;

    fprintf(out, "%s%s.%s ", indent, linkage_word(var->linkage), ptx_space_name(var->space));
    if (var->managed)
        fputs(".attribute(.managed) ", out);
    if (ptx_type_bits(var->type))
        fprintf(out, ".align %u ", var->align);
    if (var->vec)
        fprintf(out, ".v%u ", var->vec);
    fprintf(out, ".%s %s", ptx_type_name(var->type), var->name);
    for (i = 0; i < var->ndims; i++) {
        if (i == 0 && var->unsized)
            fputs("[]", out);
        else
            fprintf(out, "[%" PRIu64 "]", var->dims[i]);
    }
    if (var->init) {
        fputs(" = ", out);
        if (var->ndims || var->vec)
            print_braces(out, &c, 0, 0, var->size);
        else
            print_element(out, &c, 0);
    }
    fputs(";\n", out);
}

/* ---- functions ---- */

static void print_param(FILE *out, const struct ptx_var *var)
{
    unsigned i;

    fprintf(out, ".%s ", ptx_space_name(var->space));
    if (var->space == PTX_SPACE_PARAM && !var->is_ptr &&
        var->align != element_bytes(var) * (var->vec ? var->vec : 1u) && ptx_type_bits(var->type))
        fprintf(out, ".align %u ", var->align);
    if (var->vec)
        fprintf(out, ".v%u ", var->vec);
    fprintf(out, ".%s ", ptx_type_name(var->type));
    if (var->is_ptr) {
        fputs(".ptr ", out);
        if (var->ptr_space)
            fprintf(out, ".%s ", ptx_space_name(var->ptr_space));
        if (var->ptr_align)
            fprintf(out, ".align %u ", var->ptr_align);
    }
    fputs(var->name, out);
    for (i = 0; i < var->ndims; i++) {
        if (i == 0 && var->unsized)
            fputs("[]", out);
        else
            fprintf(out, "[%" PRIu64 "]", var->dims[i]);
    }
}

static void print_params(FILE *out, struct ptx_var *const *params, uint32_t count)
{
    uint32_t i;

    fputc('(', out);
    for (i = 0; i < count; i++) {
        if (i)
            fputs(", ", out);
        print_param(out, params[i]);
    }
    fputc(')', out);
}

static void print_three(FILE *out, const char *name, const uint32_t v[3])
{
    if (v[0])
        fprintf(out, "\n.%s %u, %u, %u", name, v[0], v[1], v[2]);
}

static void print_one(FILE *out, const char *name, uint32_t v)
{
    if (v)
        fprintf(out, "\n.%s %u", name, v);
}

static void print_signature(FILE *out, const struct ptx_func *f)
{
    fprintf(out, "%s.%s ", linkage_word(f->linkage), f->entry ? "entry" : "func");
    if (f->nrets) {
        print_params(out, f->rets, f->nrets);
        fputc(' ', out);
    }
    fputs(f->name, out);
    print_params(out, f->params, f->nparams);
    if (f->noreturn)
        fputs("\n.noreturn", out);
}

static void print_directives(FILE *out, const struct ptx_func *f)
{
    uint32_t i;

    print_three(out, "maxntid", f->maxntid);
    print_three(out, "reqntid", f->reqntid);
    print_one(out, "minnctapersm", f->minnctapersm);
    print_one(out, "maxnctapersm", f->maxnctapersm);
    print_one(out, "maxnreg", f->maxnreg);
    for (i = 0; i < f->npragmas; i++)
        fprintf(out, "\n.pragma %s;", f->pragmas[i]);
}

/* Parameters in registers are declared by the signature; their declarations come first. */
static uint32_t register_params(const struct ptx_func *f)
{
    uint32_t n = 0, i;

    for (i = 0; i < f->nrets; i++)
        n += f->rets[i]->space == PTX_SPACE_REG && strcmp(f->rets[i]->name, "_") != 0;
    for (i = 0; i < f->nparams; i++)
        n += f->params[i]->space == PTX_SPACE_REG && strcmp(f->params[i]->name, "_") != 0;
    return n;
}

static void print_decls(FILE *out, const struct ptx_func *f)
{
    const struct ptx_reg_decl *d;
    uint32_t i;

    for (i = register_params(f); i < f->ndecls; i++) {
        d = &f->decls[i];
        fputs("\t.reg ", out);
        if (d->vec)
            fprintf(out, ".v%u ", d->vec);
        fprintf(out, ".%s %s", ptx_type_name(d->type), d->name);
        if (d->range)
            fprintf(out, "<%u>", d->count);
        fputs(";\n", out);
    }
}

static void print_tables(FILE *out, const struct ptx_func *f)
{
    const struct ptx_proto *proto;
    const struct ptx_table *t;
    uint32_t i, j;

    for (i = 0; i < f->nprotos; i++) {
        proto = f->protos[i];
        fprintf(out, "%s: .callprototype ", proto->name);
        print_params(out, proto->rets, proto->nrets);
        fputs(" _ ", out);
        print_params(out, proto->params, proto->nparams);
        fprintf(out, "%s;\n", proto->noreturn ? " .noreturn" : "");
    }
    for (i = 0; i < f->ntables; i++) {
        t = &f->tables[i];
        fprintf(out, "%s: .%s ", t->name, t->calls ? "calltargets" : "branchtargets");
        for (j = 0; j < t->count; j++)
            fprintf(out, "%s%s", j ? ", " : "",
                    t->calls ? t->funcs[j]->name : f->labels[t->labels[j]].name);
        fputs(";\n", out);
    }
}

static void print_body(FILE *out, const struct ptx_func *f)
{
    uint32_t i, label = 0;

    fputs("\n{\n", out);
    print_decls(out, f);
    for (i = 0; i < f->nvars; i++)
        print_var(out, f->vars[i], "\t");
    print_tables(out, f);
    for (i = 0; i <= f->ninsts; i++) {
        for (; label < f->nlabels && f->labels[label].inst == i; label++)
            fprintf(out, "%s:\n", f->labels[label].name);
        if (i == f->ninsts)
            break;
        fputc('\t', out);
        print_inst(out, f, &f->insts[i]);
        fputc('\n', out);
    }
    fputs("}\n", out);
}

int ptx_print(const struct ptx_module *m, FILE *out)
{
    const struct ptx_func *f;
    uint32_t i;

    fprintf(out, ".version %u.%u\n.target %s\n.address_size %u\n\n", m->version_major,
            m->version_minor, m->target, m->address_size);
    for (i = 0; i < m->npragmas; i++)
        fprintf(out, ".pragma %s;\n", m->pragmas[i]);
    for (i = 0; i < m->nfuncs; i++) {
        print_signature(out, m->funcs[i]);
        fputs(";\n", out);
    }
    for (i = 0; i < m->nvars; i++)
        print_var(out, m->vars[i], "");
    for (i = 0; i < m->nfuncs; i++) {
        f = m->funcs[i];
        if (!f->has_body)
            continue;
        fputc('\n', out);
        print_signature(out, f);
        print_directives(out, f);
        print_body(out, f);
    }
    for (i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->alias)
            fprintf(out, ".alias %s, %s;\n", m->funcs[i]->name, m->funcs[i]->alias->name);
    return ferror(out) ? -EIO : 0;
}
