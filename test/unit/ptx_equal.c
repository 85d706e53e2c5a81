/* ptx_equal.c - see ptx_equal.h. */
#include "ptx_equal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx_files.h"

static void same_var(const struct ptx_var *a, const struct ptx_var *b)
{
    uint32_t i;

    assert_string_equal(a->name, b->name);
    if (a->space != b->space || a->type != b->type || a->vec != b->vec ||
        a->linkage != b->linkage || a->managed != b->managed || a->unsized != b->unsized ||
        a->ndims != b->ndims || a->ptr_space != b->ptr_space || a->ptr_align != b->ptr_align ||
        a->is_ptr != b->is_ptr || a->align != b->align || a->id != b->id || a->size != b->size ||
        a->offset != b->offset || a->ninit != b->ninit || a->nrelocs != b->nrelocs ||
        !a->func != !b->func)
        fail_msg("variable %s differs", a->name);
    for (i = 0; i < a->ndims; i++)
        assert_int_equal(a->dims[i], b->dims[i]);
    if (a->ninit)
        assert_memory_equal(a->init, b->init, a->ninit);
    for (i = 0; i < a->nrelocs; i++) {
        const struct ptx_reloc *r = &a->relocs[i], *s = &b->relocs[i];

        assert_true(r->offset == s->offset && r->size == s->size && r->shift == s->shift &&
                    r->generic == s->generic && r->addend == s->addend);
        assert_string_equal(r->var ? r->var->name : r->func->name,
                            s->var ? s->var->name : s->func->name);
    }
}

static void same_vars(struct ptx_var *const *a, uint32_t na, struct ptx_var *const *b, uint32_t nb)
{
    uint32_t i;

    assert_int_equal(na, nb);
    for (i = 0; i < na; i++)
        same_var(a[i], b[i]);
}

static void same_operand(const struct ptx_operand *a, const struct ptx_operand *b)
{
    uint32_t i;

    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->neg, b->neg);
    assert_int_equal(a->index, b->index);
    switch ((enum ptx_operand_kind)a->kind) {
    case PTX_OPND_NONE:
    case PTX_OPND_SINK:
        break;
    case PTX_OPND_REG:
        assert_int_equal(a->reg, b->reg);
        break;
    case PTX_OPND_IMM:
        assert_true(a->imm == b->imm);
        break;
    case PTX_OPND_SREG:
        assert_int_equal(a->sreg, b->sreg);
        break;
    case PTX_OPND_SYM:
        assert_string_equal(a->sym.var->name, b->sym.var->name);
        assert_true(a->sym.offset == b->sym.offset);
        break;
    case PTX_OPND_FUNC:
        assert_string_equal(a->func->name, b->func->name);
        break;
    case PTX_OPND_MEM:
        assert_int_equal(a->mem.base, b->mem.base);
        assert_true(a->mem.offset == b->mem.offset);
        if (a->mem.base == PTX_BASE_REG)
            assert_int_equal(a->mem.reg, b->mem.reg);
        if (a->mem.base == PTX_BASE_VAR)
            assert_string_equal(a->mem.var->name, b->mem.var->name);
        break;
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
        assert_int_equal(a->count, b->count);
        for (i = 0; i < a->count; i++)
            same_operand(&a->list[i], &b->list[i]);
        break;
    case PTX_OPND_LABEL:
        assert_int_equal(a->label, b->label);
        break;
    case PTX_OPND_TABLE:
        assert_int_equal(a->table, b->table);
        break;
    case PTX_OPND_PROTO:
        assert_string_equal(a->proto->name, b->proto->name);
        break;
    case PTX_OPND_STRING:
        assert_string_equal(a->string, b->string);
        break;
    }
}

static void same_inst(const struct ptx_inst *a, const struct ptx_inst *b)
{
    unsigned i;

    assert_int_equal(a->op, b->op);
    assert_int_equal(a->guard, b->guard);
    assert_int_equal(a->guard_neg, b->guard_neg);
    assert_int_equal(a->flags, b->flags);
    /* All that lies between the types and the operands is modifiers, a byte or two each. */
    assert_memory_equal(a->type, b->type,
                        offsetof(struct ptx_inst, nops) - offsetof(struct ptx_inst, type));
    assert_int_equal(a->nops, b->nops);
    for (i = 0; i < a->nops; i++)
        same_operand(&a->ops[i], &b->ops[i]);
}

static void same_body(const struct ptx_func *a, const struct ptx_func *b)
{
    uint32_t i, j;

    assert_int_equal(a->ndecls, b->ndecls);
    for (i = 0; i < a->ndecls; i++) {
        assert_string_equal(a->decls[i].name, b->decls[i].name);
        assert_true(a->decls[i].type == b->decls[i].type && a->decls[i].vec == b->decls[i].vec &&
                    a->decls[i].range == b->decls[i].range &&
                    a->decls[i].first == b->decls[i].first &&
                    a->decls[i].count == b->decls[i].count);
    }
    assert_int_equal(a->nregs, b->nregs);
    for (i = 0; i < a->nregs; i++)
        assert_true(a->regs[i].type == b->regs[i].type && a->regs[i].decl == b->regs[i].decl);
    assert_int_equal(a->nlabels, b->nlabels);
    for (i = 0; i < a->nlabels; i++) {
        assert_string_equal(a->labels[i].name, b->labels[i].name);
        assert_int_equal(a->labels[i].inst, b->labels[i].inst);
    }
    assert_int_equal(a->ntables, b->ntables);
    for (i = 0; i < a->ntables; i++) {
        assert_int_equal(a->tables[i].count, b->tables[i].count);
        for (j = 0; j < a->tables[i].count && !a->tables[i].calls; j++)
            assert_int_equal(a->tables[i].labels[j], b->tables[i].labels[j]);
    }
    assert_int_equal(a->nprotos, b->nprotos);
    for (i = 0; i < a->nprotos; i++) {
        same_vars(a->protos[i]->rets, a->protos[i]->nrets, b->protos[i]->rets, b->protos[i]->nrets);
        same_vars(a->protos[i]->params, a->protos[i]->nparams, b->protos[i]->params,
                  b->protos[i]->nparams);
    }
    same_vars(a->vars, a->nvars, b->vars, b->nvars);
    assert_int_equal(a->ninsts, b->ninsts);
    for (i = 0; i < a->ninsts; i++)
        same_inst(&a->insts[i], &b->insts[i]);
}

static void same_func(const struct ptx_func *a, const struct ptx_func *b)
{
    assert_string_equal(a->name, b->name);
    assert_true(a->entry == b->entry && a->has_body == b->has_body && a->noreturn == b->noreturn &&
                a->linkage == b->linkage && a->id == b->id && a->param_bytes == b->param_bytes &&
                a->minnctapersm == b->minnctapersm && a->maxnctapersm == b->maxnctapersm &&
                a->maxnreg == b->maxnreg && a->npragmas == b->npragmas && !a->alias == !b->alias);
    assert_memory_equal(a->maxntid, b->maxntid, sizeof(a->maxntid));
    assert_memory_equal(a->reqntid, b->reqntid, sizeof(a->reqntid));
    same_vars(a->rets, a->nrets, b->rets, b->nrets);
    same_vars(a->params, a->nparams, b->params, b->nparams);
    same_body(a, b);
}

void ptx_assert_equal(const struct ptx_module *a, const struct ptx_module *b)
{
    uint32_t i;

    assert_true(a->version_major == b->version_major && a->version_minor == b->version_minor &&
                a->address_size == b->address_size && a->sm == b->sm &&
                a->sm_suffix == b->sm_suffix);
    assert_string_equal(a->target, b->target);
    same_vars(a->vars, a->nvars, b->vars, b->nvars);
    assert_int_equal(a->nfuncs, b->nfuncs);
    for (i = 0; i < a->nfuncs; i++)
        same_func(a->funcs[i], b->funcs[i]);
}

void ptx_assert_reads_back(const struct ptx_module *m)
{
    char *printed = ptx_print_text(m);
    struct ptx_module *again = ptx_parse_good(printed);

    ptx_assert_equal(m, again);
    ptx_module_free(again);
    free(printed);
}
