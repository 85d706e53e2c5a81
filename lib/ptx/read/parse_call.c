/* call: results, callee, arguments and, for an indirect call, its prototype or list of targets. The
 * arguments are checked against the callee's signature here, so whoever runs the call need not do
 * that. */
#include <stdlib.h>

#include "ptx/read/parse.h"

struct signature {
    uint32_t nrets, nparams;
    struct ptx_var *const *rets, *const *params;
};

static struct signature of_func(const struct ptx_func *f)
{
    return (struct signature){f->nrets, f->nparams, f->rets, f->params};
}

static bool same_sizes(struct ptx_var *const *a, struct ptx_var *const *b, uint32_t n)
{
    uint32_t i;

    for (i = 0; i < n; i++)
        if (a[i]->size != b[i]->size)
            return false;
    return true;
}

/* Reads each element of (…) as a struct raw into the list. */
static bool parse_actuals(struct parser *p, struct list *tops)
{
    uint32_t index, *slot;

    tops->n = 0;
    if (!parser_next(p))
        return false;
    while (p->tok.kind != ')') {
        if (tops->n >= PTX_MAX_PARAMS)
            return parser_fail_as(p, -E2BIG, &p->tok, "more than %d arguments", PTX_MAX_PARAMS);
        if (!parse_raw(p, &index))
            return false;
        slot = list_add(p, tops, sizeof(*slot), 1);
        if (!slot)
            return false;
        *slot = index;
        if (p->tok.kind != ')' && !parser_need(p, ',', "',' or ')'"))
            return false;
    }
    return parser_next(p);
}

static bool build_actual(struct parser *p, const struct raw *r, const struct ptx_var *formal,
                         struct ptx_operand *out)
{
    const struct ptx_reg *regs = p->regs.data;
    bool array = formal->ndims || formal->vec;
    char name[48];

    token_clip(&r->tok, name, sizeof(name));
    out->type = formal->type;
    switch (r->kind) {
    case RAW_SYM:
        out->kind = PTX_OPND_MEM;
        out->mem.base = PTX_BASE_VAR;
        out->mem.var = r->o.sym.var;
        if (r->o.sym.var->space != PTX_SPACE_PARAM || r->o.sym.offset)
            return parser_fail(p, &r->tok, "expected a .param variable, found '%s'", name);
        if (!formal->ndims != !r->o.sym.var->ndims)
            return parser_fail(p, &r->tok, "'%s' and the parameter are not both arrays", name);
        if (formal->space != PTX_SPACE_PARAM ||
            (r->o.sym.var->size != formal->size && !formal->unsized))
            return parser_fail(p, &r->tok, "'%s' has %llu bytes, the parameter %llu", name,
                               (unsigned long long)r->o.sym.var->size,
                               (unsigned long long)formal->size);
        return true;
    case RAW_REG:
        out->kind = PTX_OPND_REG;
        out->reg = r->o.reg;
        if (array || r->bang || r->minus ||
            ptx_type_bits(regs[out->reg].type) != ptx_type_bits(formal->type))
            return parser_fail(p, &r->tok, "'%s' of type .%s does not fit a parameter of type .%s",
                               name, ptx_type_name(regs[out->reg].type),
                               ptx_type_name(formal->type));
        return true;
    case RAW_NUMBER:
        out->kind = PTX_OPND_IMM;
        if (array)
            return parser_fail(p, &r->tok, "a constant does not fit an array parameter");
        return const_to_type(p, &r->tok, formal->type, &out->imm);
    case RAW_SINK:
        out->kind = PTX_OPND_SINK;
        return true;
    default:
        return parser_fail(
            p, &r->tok, "expected a .param variable, a register or a constant, found '%s'", name);
    }
}

static bool build_actuals(struct parser *p, const struct list *tops, struct ptx_var *const *formals,
                          uint32_t count, const char *what, const struct token *at,
                          struct ptx_operand *out)
{
    const uint32_t *top = tops->data;
    const struct raw *r;
    uint32_t i;

    /* There may be no variable arguments. */
    if (count && tops->n == count - 1 && formals[count - 1]->unsized)
        count--;
    if (tops->n != count)
        return parser_fail(p, at, "the call has %u %s, its callee %u", tops->n, what, count);
    if (!count)
        return true;
    out->kind = PTX_OPND_LIST;
    out->count = count;
    out->list = parser_alloc(p, count * sizeof(*out->list));
    if (!out->list)
        return false;
    for (i = 0; i < count; i++) {
        r = (const struct raw *)p->raws.data + top[i];
        if (!build_actual(p, r, formals[i], &out->list[i]))
            return false;
        if (!strcmp(what, "results") && out->list[i].kind == PTX_OPND_IMM)
            return parser_fail(p, &r->tok, "a result cannot go to a constant");
        if (!strcmp(what, "arguments") && out->list[i].kind == PTX_OPND_SINK)
            return parser_fail(p, &r->tok, "an argument cannot be '_'");
    }
    return true;
}

/* The prototype or list of targets behind an indirect call. */
static bool parse_callee_kind(struct parser *p, struct ptx_operand *out, struct signature *sig)
{
    const struct ptx_table *t;
    struct raw *r;
    uint32_t index, i;

    if (!parser_need(p, ',', "',' and a .callprototype") || !parse_raw(p, &index))
        return false;
    r = (struct raw *)p->raws.data + index;
    if (r->kind == RAW_PROTO) {
        out->kind = PTX_OPND_PROTO;
        out->proto = r->o.proto;
        *sig = (struct signature){out->proto->nrets, out->proto->nparams, out->proto->rets,
                                  out->proto->params};
        return true;
    }
    if (r->kind != RAW_TABLE)
        return parser_fail(p, &r->tok, "expected a .callprototype or .calltargets declared before");
    out->kind = PTX_OPND_TABLE;
    out->table = r->o.table;
    t = (const struct ptx_table *)p->tables.data + out->table;
    if (!t->calls)
        return parser_fail(p, &r->tok, "expected .calltargets, found .branchtargets");
    *sig = of_func(t->funcs[0]);
    for (i = 1; i < t->count; i++)
        if (t->funcs[i]->nrets != sig->nrets || t->funcs[i]->nparams != sig->nparams ||
            !same_sizes(t->funcs[i]->rets, sig->rets, sig->nrets) ||
            !same_sizes(t->funcs[i]->params, sig->params, sig->nparams))
            return parser_fail(p, &r->tok,
                               "the functions of this list do not have the same parameters");
    return true;
}

static bool parse_callee(struct parser *p, struct ptx_operand *out, struct signature *sig,
                         struct token *at)
{
    const struct ptx_reg *regs = p->regs.data;
    struct raw *r;
    uint32_t index;

    *at = p->tok;
    if (!parse_raw(p, &index))
        return false;
    r = (struct raw *)p->raws.data + index;
    if (r->kind == RAW_FUNC) {
        out->kind = PTX_OPND_FUNC;
        out->func = r->o.func;
        if (out->func->entry)
            return parser_fail(p, at, "an .entry cannot be called");
        *sig = of_func(out->func);
        return true;
    }
    if (r->kind == RAW_REG && !r->bang && !r->minus &&
        (ptx_type_bits(regs[r->o.reg].type) == 64 || ptx_type_bits(regs[r->o.reg].type) == 32)) {
        out->kind = PTX_OPND_REG;
        out->type = regs[r->o.reg].type;
        out->reg = r->o.reg;
        return true;
    }
    return parser_fail(p, at, "expected a declared function or a register with its address");
}

bool parse_call(struct parser *p, struct ptx_inst *inst, const struct token *at)
{
    struct list results = {0}, arguments = {0};
    struct signature sig = {0};
    struct ptx_operand *ops;
    struct token callee;
    bool ok = false;

    p->raws.n = 0;
    inst->nops = 4;
    inst->ops = ops = parser_alloc(p, 4 * sizeof(*ops));
    if (!ops)
        return false;
    if (p->tok.kind == '(' && (!parse_actuals(p, &results) || !parser_need(p, ',', "','")))
        goto out;
    if (!parse_callee(p, &ops[1], &sig, &callee))
        goto out;
    /* A ',' is followed by the arguments or, if there are none, directly by the prototype. */
    if (p->tok.kind == ',') {
        struct lexer back = p->lx;
        struct token comma = p->tok;

        if (!parser_next(p))
            goto out;
        if (p->tok.kind == '(') {
            if (!parse_actuals(p, &arguments))
                goto out;
        } else {
            back.c_locale = p->lx.c_locale;
            p->lx = back;
            p->tok = comma;
        }
    }
    if (ops[1].kind == PTX_OPND_REG && !parse_callee_kind(p, &ops[3], &sig))
        goto out;
    ok = build_actuals(p, &results, sig.rets, sig.nrets, "results", at, &ops[0]) &&
         build_actuals(p, &arguments, sig.params, sig.nparams, "arguments", at, &ops[2]);
    for (uint32_t i = 0; ok && i < ops[0].count; i++)
        if (ops[0].list[i].kind == PTX_OPND_MEM)
            ops[0].list[i].mem.var->returned = true;
out:
    free(results.data);
    free(arguments.data);
    return ok;
}
