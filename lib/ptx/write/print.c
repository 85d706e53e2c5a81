/* Writes a module as PTX, which reads back as the same module: first declarations of functions, in
 * their order, then variables, then bodies. No state; any thread; trusts that the reader or a pass
 * made the module. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx_table.h"
#include "ptx/write/print.h"

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

/* The values of one brace level, up to the end of the initial bytes. */
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
    if (f->explicit_cluster)
        fputs("\n.explicitcluster", out);
    print_three(out, "reqnctapercluster", f->reqnctapercluster);
    print_one(out, "maxclusterrank", f->maxclusterrank);
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

static void print_proto(FILE *out, const struct ptx_proto *proto)
{
    fprintf(out, "%s: .callprototype ", proto->name);
    print_params(out, proto->rets, proto->nrets);
    fputs(" _ ", out);
    print_params(out, proto->params, proto->nparams);
    fprintf(out, "%s;\n", proto->noreturn ? " .noreturn" : "");
}

static void print_table(FILE *out, const struct ptx_func *f, const struct ptx_table *t)
{
    uint32_t i;

    fprintf(out, "%s: .%s ", t->name, t->calls ? "calltargets" : "branchtargets");
    for (i = 0; i < t->count; i++)
        fprintf(out, "%s%s", i ? ", " : "",
                t->calls ? t->funcs[i]->name : f->labels[t->labels[i]].name);
    fputs(";\n", out);
}

/* Which of a function's prototypes and tables have been printed. They come right before the
 * instruction that needs them, as compilers write them: their names are labels, too, and to ptxas a
 * label ends a block. */
struct declared {
    uint32_t protos, tables;
};

static void declare_up_to(FILE *out, const struct ptx_func *f, struct declared *d, uint32_t protos,
                          uint32_t tables)
{
    while (d->protos < protos)
        print_proto(out, f->protos[d->protos++]);
    while (d->tables < tables)
        print_table(out, f, &f->tables[d->tables++]);
}

static void declare_for(FILE *out, const struct ptx_func *f, struct declared *d,
                        const struct ptx_inst *inst)
{
    uint32_t i, p;

    for (i = 0; i < inst->nops; i++) {
        if (inst->ops[i].kind == PTX_OPND_TABLE)
            declare_up_to(out, f, d, 0, inst->ops[i].table + 1);
        if (inst->ops[i].kind != PTX_OPND_PROTO)
            continue;
        for (p = d->protos; p < f->nprotos; p++) {
            if (f->protos[p] == inst->ops[i].proto) {
                declare_up_to(out, f, d, p + 1, 0);
                break;
            }
        }
    }
}

static void print_body(FILE *out, const struct ptx_func *f)
{
    struct declared d = {0, 0};
    uint32_t i, label = 0;

    fputs("\n{\n", out);
    print_decls(out, f);
    for (i = 0; i < f->nvars; i++)
        print_var(out, f->vars[i], "\t");
    for (i = 0; i < f->ninsts; i++) {
        for (; label < f->nlabels && f->labels[label].inst == i; label++)
            fprintf(out, "%s:\n", f->labels[label].name);
        declare_for(out, f, &d, &f->insts[i]);
        fputc('\t', out);
        print_inst(out, f, &f->insts[i]);
        fputc('\n', out);
    }
    declare_up_to(out, f, &d, f->nprotos, f->ntables);
    for (; label < f->nlabels; label++)
        fprintf(out, "%s:\n", f->labels[label].name);
    fputs("}\n", out);
}

static int by_line(const void *a, const void *b)
{
    const struct ptx_func *f = *(struct ptx_func *const *)a, *g = *(struct ptx_func *const *)b;

    return f->line != g->line ? (f->line > g->line) - (f->line < g->line)
                              : (f->id > g->id) - (f->id < g->id);
}

/* In the order of their definitions: ptxas lays code out in that order. */
static int print_bodies(FILE *out, const struct ptx_module *m)
{
    struct ptx_func **funcs = calloc(m->nfuncs ? m->nfuncs : 1, sizeof(*funcs));
    uint32_t n = 0, i;

    if (!funcs)
        return -ENOMEM;
    for (i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->has_body)
            funcs[n++] = m->funcs[i];
    qsort(funcs, n, sizeof(*funcs), by_line);
    for (i = 0; i < n; i++) {
        fputc('\n', out);
        print_signature(out, funcs[i]);
        print_directives(out, funcs[i]);
        print_body(out, funcs[i]);
    }
    free(funcs);
    return 0;
}

int ptx_print(const struct ptx_module *m, FILE *out)
{
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
    if (print_bodies(out, m) != 0)
        return -ENOMEM;
    for (i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->alias)
            fprintf(out, ".alias %s, %s;\n", m->funcs[i]->name, m->funcs[i]->alias->name);
    return ferror(out) ? -EIO : 0;
}
