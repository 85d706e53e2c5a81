/* Functions: signature, directives, and the statements of the body with their nested scopes, which
 * are flattened. */
#include <stdlib.h>

#include "ptx/parse.h"

/* ---- small directives ---- */

bool parse_pragma(struct parser *p, const char **text)
{
    struct token at;
    char *joined = NULL, *more;
    size_t len = 0;

    if (!parser_next(p))
        return false;
    do {
        at = p->tok;
        if (!parser_need(p, TOK_STRING, "a string"))
            return false;
        /* Several strings are kept as one, the way they are written: "a", "b". */
        more = parser_alloc(p, len + at.len + 5);
        if (!more)
            return false;
        if (joined)
            memcpy(more, joined, len);
        len += (size_t)sprintf(more + len, "%s\"", joined ? ", " : "");
        memcpy(more + len, at.text, at.len);
        len += at.len;
        more[len++] = '"';
        joined = more;
    } while (parser_accept(p, ','));
    *text = joined;
    return parser_need(p, ';', "';'");
}

/* .loc file line column [, function_name label [+ n] [, inlined_at file line column]] */
bool parse_loc(struct parser *p)
{
    unsigned i;

    if (!parser_next(p))
        return false;
    for (i = 0; i < 3; i++)
        if (!parser_need(p, TOK_INT, "a number"))
            return false;
    while (parser_accept(p, ',')) {
        while (p->tok.kind == TOK_IDENT || p->tok.kind == TOK_INT || p->tok.kind == '+') {
            /* inlined_at's three numbers end it: what follows may be a label or an instruction. */
            if (p->tok.kind == TOK_IDENT && token_is(&p->tok, "inlined_at")) {
                if (!parser_next(p))
                    return false;
                for (i = 0; i < 3; i++)
                    if (!parser_need(p, TOK_INT, "a number"))
                        return false;
                break;
            }
            if (!token_is(&p->tok, "function_name"))
                return parser_expected(p, "function_name or inlined_at");
            if (!parser_next(p) || !parser_need(p, TOK_IDENT, "a label"))
                return false;
            if (p->tok.kind == '+' && (!parser_next(p) || !parser_need(p, TOK_INT, "a number")))
                return false;
            break;
        }
    }
    return p->status == 0;
}

bool parse_skip_braces(struct parser *p)
{
    unsigned depth = 0;

    do {
        if (p->tok.kind == '{')
            depth++;
        else if (p->tok.kind == '}')
            depth--;
        else if (p->tok.kind == TOK_EOF)
            return parser_expected(p, "'}'");
        if (!parser_next(p))
            return false;
    } while (depth);
    return true;
}

/* ---- registers ---- */

static bool add_registers(struct parser *p, struct ptx_reg_decl *decl)
{
    struct ptx_reg_decl *kept;
    struct ptx_reg *regs;
    uint32_t i;

    if (decl->count > PTX_MAX_REGS - p->regs.n ||
        decl->count > PTX_MAX_MODULE_REGS - p->module_regs)
        return parser_fail_as(p, -E2BIG, &p->tok,
                              "more than %u registers in a function or %u in a module",
                              PTX_MAX_REGS, PTX_MAX_MODULE_REGS);
    decl->first = p->regs.n;
    p->module_regs += decl->count;
    kept = list_add(p, &p->decls, sizeof(*kept), 1);
    regs = kept ? list_add(p, &p->regs, sizeof(*regs), decl->count) : NULL;
    if (!regs)
        return false;
    *kept = *decl;
    for (i = 0; i < decl->count; i++)
        regs[i] = (struct ptx_reg){decl->type, p->decls.n - 1};
    return true;
}

/* Behind ".reg": .v4 .b32 name<count>, name ... ; */
static bool parse_registers(struct parser *p)
{
    struct ptx_reg_decl proto = {0}, decl;
    struct token name;
    struct sym *s;
    uint64_t count;

    if (parser_is_word(p, "v2") || parser_is_word(p, "v4")) {
        proto.vec = (uint8_t)(p->tok.text[1] - '0');
        if (!parser_next(p))
            return false;
    }
    proto.type = p->tok.kind == TOK_DOT ? ptx_type_find(p->tok.text, p->tok.len) : PTX_T_NONE;
    if (ptx_type_bits(proto.type) < 8 && proto.type != PTX_T_PRED)
        return parser_expected(p, "a register type");
    if (!parser_next(p))
        return false;
    do {
        decl = proto;
        decl.count = proto.vec ? proto.vec : 1;
        name = p->tok;
        if (!parser_need(p, TOK_IDENT, "a register name"))
            return false;
        if (parser_accept(p, '<')) {
            if (proto.vec)
                return parser_fail(p, &name, "a range of vector registers is not supported");
            /* No expression: its '>' would be an operator. */
            count = p->tok.value;
            if (!parser_need(p, TOK_INT, "a register count"))
                return false;
            if (count > PTX_MAX_REGS)
                return parser_fail_as(p, -E2BIG, &name, "more than %u registers", PTX_MAX_REGS);
            if (!parser_need(p, '>', "'>'"))
                return false;
            decl.count = (uint32_t)count;
            decl.range = true;
        }
        decl.name = parser_unique_name(p, &name, decl.range);
        if (!decl.name || !add_registers(p, &decl))
            return false;
        s = parser_declare(p, decl.range ? SYM_RANGE : SYM_REG, &name, name.text, name.len);
        if (!s)
            return false;
        s->index = p->regs.n - decl.count;
        s->count = decl.range ? decl.count : decl.vec;
    } while (parser_accept(p, ','));
    return parser_need(p, ';', "',' or ';'");
}

/* ---- labels ---- */

static uint32_t label_new(struct parser *p, const struct token *name, struct sym *s)
{
    struct scratch_label *l = list_add(p, &p->labels, sizeof(*l), 1);

    if (!l)
        return UINT32_MAX;
    *l = (struct scratch_label){.sym = s,
                                .inst = UINT32_MAX,
                                .same_as = UINT32_MAX,
                                .line = name->line,
                                .column = name->column};
    s->index = p->labels.n - 1;
    return s->index;
}

uint32_t parser_label_ref(struct parser *p, const struct token *name)
{
    struct sym *s = symtab_find(&p->syms, SYM_CLASS_NAME, name->text, name->len);
    char text[64];

    if (s && s->kind == SYM_LABEL && s->depth == p->syms.depth)
        return s->index;
    /* A label of an outer scope is taken only when this scope ends without one of that name. */
    if (s && s->kind != SYM_LABEL) {
        token_clip(name, text, sizeof(text));
        parser_fail(p, name, "expected a label, found '%s', which is something else", text);
        return UINT32_MAX;
    }
    s = parser_declare(p, SYM_LABEL, name, name->text, name->len);
    return s ? label_new(p, name, s) : UINT32_MAX;
}

static bool label_define(struct parser *p, const struct token *name)
{
    struct sym *s = symtab_find(&p->syms, SYM_CLASS_NAME, name->text, name->len);
    struct scratch_label *l;
    char text[64];

    if (s && s->depth == p->syms.depth && (s->kind != SYM_LABEL || s->defined)) {
        token_clip(name, text, sizeof(text));
        return parser_fail(p, name, "'%s' is declared twice", text);
    }
    if (!s || s->depth != p->syms.depth) {
        s = parser_declare(p, SYM_LABEL, name, name->text, name->len);
        if (!s || label_new(p, name, s) == UINT32_MAX)
            return false;
    }
    s->defined = true;
    l = (struct scratch_label *)p->labels.data + s->index;
    l->inst = p->insts.n;
    l->final = p->defined_labels++; /* in order of instructions, as the printer wants them */
    l->name = parser_unique_name(p, name, false);
    return l->name != NULL;
}

/* Labels that the closing scope jumped to but did not define are looked for, or waited for, in the
 * scope around it. */
bool label_scope_end(struct parser *p)
{
    struct sym *s, *outer;
    struct scratch_label *l;

    for (s = p->syms.scopes[p->syms.depth]; s; s = s->scope_next) {
        if (s->kind != SYM_LABEL)
            continue;
        l = (struct scratch_label *)p->labels.data + s->index;
        l->sym = NULL;
        if (s->defined)
            continue;
        if (p->syms.depth <= 1) {
            p->tok.line = l->line;
            p->tok.column = l->column;
            return parser_fail(p, &p->tok, "'%.*s' is not declared",
                               (int)(s->len < 64 ? s->len : 64), s->name);
        }
        for (outer = p->syms.buckets[s->hash & (p->syms.nbuckets - 1)]; outer; outer = outer->chain)
            if (outer->hash == s->hash && outer->kind == SYM_LABEL &&
                outer->depth == p->syms.depth - 1 && outer->len == s->len &&
                !memcmp(outer->name, s->name, s->len))
                break;
        if (outer) {
            l->same_as = outer->index;
            continue;
        }
        outer = symtab_add(&p->syms, SYM_LABEL, s->name, s->len, p->syms.depth - 1);
        if (!outer)
            return parser_fail_as(p, -ENOMEM, &p->tok, "no memory");
        outer->index = s->index;
        l->sym = outer;
    }
    return true;
}

static uint32_t label_final(const struct parser *p, uint32_t label)
{
    const struct scratch_label *all = p->labels.data;

    while (all[label].same_as != UINT32_MAX)
        label = all[label].same_as;
    return all[label].final;
}

static bool labels_finish(struct parser *p)
{
    struct scratch_label *all = p->labels.data;
    struct ptx_inst *insts = p->insts.data;
    struct ptx_table *tables = p->tables.data;
    uint32_t i, j, n = p->defined_labels;

    p->f->nlabels = n;
    p->f->labels = parser_alloc(p, n * sizeof(*p->f->labels));
    if (!p->f->labels)
        return false;
    for (i = 0; i < p->labels.n; i++)
        if (all[i].inst != UINT32_MAX)
            p->f->labels[all[i].final] = (struct ptx_label){all[i].name, all[i].inst};
    for (i = 0; i < p->insts.n; i++)
        for (j = 0; j < insts[i].nops; j++)
            if (insts[i].ops[j].kind == PTX_OPND_LABEL)
                insts[i].ops[j].label = label_final(p, insts[i].ops[j].label);
    for (i = 0; i < p->tables.n; i++)
        for (j = 0; !tables[i].calls && j < tables[i].count; j++)
            tables[i].labels[j] = label_final(p, tables[i].labels[j]);
    return true;
}

/* ---- what may stand behind a label: .branchtargets, .calltargets, .callprototype ---- */

static bool parse_branch_targets(struct parser *p, struct ptx_table *t)
{
    struct list all = {0};
    uint32_t *slot;
    bool ok = false;

    do {
        slot = list_add(p, &all, sizeof(*slot), 1);
        if (!slot)
            goto out;
        if (p->tok.kind != TOK_IDENT) {
            parser_expected(p, "a label");
            goto out;
        }
        *slot = parser_label_ref(p, &p->tok);
        if (*slot == UINT32_MAX || !parser_next(p))
            goto out;
    } while (parser_accept(p, ','));
    t->count = all.n;
    ok = list_keep(p, &all, sizeof(*slot), &t->labels);
out:
    free(all.data);
    return ok;
}

static bool parse_call_targets(struct parser *p, struct ptx_table *t)
{
    struct list all = {0};
    struct ptx_func **slot;
    struct sym *s;
    bool ok = false;

    t->calls = true;
    do {
        s = p->tok.kind == TOK_IDENT
                ? symtab_find(&p->syms, SYM_CLASS_NAME, p->tok.text, p->tok.len)
                : NULL;
        if (!s || s->kind != SYM_FUNC) {
            parser_expected(p, "a function");
            goto out;
        }
        slot = list_add(p, &all, sizeof(*slot), 1);
        if (!slot || !parser_next(p))
            goto out;
        *slot = s->ptr;
    } while (parser_accept(p, ','));
    t->count = all.n;
    ok = list_keep(p, &all, sizeof(*slot), &t->funcs);
out:
    free(all.data);
    return ok;
}

static bool parse_table(struct parser *p, const struct token *name)
{
    struct ptx_table *slot, t = {0};
    struct sym *s;
    bool calls = parser_is_word(p, "calltargets");

    t.name = parser_unique_name(p, name, false);
    s = t.name ? parser_declare(p, SYM_TABLE, name, name->text, name->len) : NULL;
    if (!s || !parser_next(p) || !(calls ? parse_call_targets(p, &t) : parse_branch_targets(p, &t)))
        return false;
    slot = list_add(p, &p->tables, sizeof(*slot), 1);
    if (!slot)
        return false;
    *slot = t;
    s->index = p->tables.n - 1;
    return parser_need(p, ';', "',' or ';'");
}

static bool parse_prototype(struct parser *p, const struct token *name)
{
    struct ptx_proto *proto = parser_alloc(p, sizeof(*proto)), **slot;
    struct sym *s;

    if (!proto)
        return false;
    proto->line = name->line;
    proto->name = parser_unique_name(p, name, false);
    s = proto->name ? parser_declare(p, SYM_PROTO, name, name->text, name->len) : NULL;
    slot = s ? list_add(p, &p->protos, sizeof(*slot), 1) : NULL;
    if (!slot || !parser_next(p))
        return false;
    *slot = s->ptr = proto;
    if (p->tok.kind == '(' && !parse_param_list(p, NULL, &proto->rets, &proto->nrets))
        return false;
    if (!parser_need(p, TOK_IDENT, "'_'"))
        return false;
    if (p->tok.kind == '(' && !parse_param_list(p, NULL, &proto->params, &proto->nparams))
        return false;
    while (p->tok.kind == TOK_DOT) {
        if (parser_is_word(p, "noreturn"))
            proto->noreturn = true;
        else if (!parser_is_word(p, "abi_preserve") && !parser_is_word(p, "abi_preserve_control"))
            return parser_expected(p, ".noreturn or ';'");
        if (!parser_next(p))
            return false;
        if (p->tok.kind == TOK_INT && !parser_next(p))
            return false;
    }
    return parser_need(p, ';', "';'");
}

/* ---- statements ---- */

static bool parse_inner_pragma(struct parser *p)
{
    struct ptx_inst *inst = list_add(p, &p->insts, sizeof(*inst), 1);

    if (!inst)
        return false;
    inst->op = PTX_OP_PRAGMA;
    inst->form = ptx_ops[PTX_OP_PRAGMA].first;
    inst->line = p->tok.line;
    inst->guard = PTX_NO_REG;
    inst->nops = 1;
    inst->ops = parser_alloc(p, sizeof(*inst->ops));
    if (!inst->ops)
        return false;
    inst->ops->kind = PTX_OPND_STRING;
    return parse_pragma(p, &inst->ops->string);
}

static bool parse_body_directive(struct parser *p)
{
    uint8_t space;

    if (parser_is_word(p, "reg"))
        return parser_next(p) && parse_registers(p);
    if (space_from_word(&p->tok, &space))
        return parse_variable(p, PTX_LINK_NONE);
    if (parser_is_word(p, "loc"))
        return parse_loc(p);
    if (parser_is_word(p, "pragma"))
        return parse_inner_pragma(p);
    return parser_expected(p, "an instruction or a declaration");
}

/* A label, or an instruction: both begin with a name. */
static bool parse_named(struct parser *p)
{
    struct token name = p->tok;
    struct lexer after = p->lx;

    /* Only a label has ':' next, but it may follow at a distance. */
    if (lexer_peek(&after) != '.') {
        if (!parser_next(p))
            return false;
        if (p->tok.kind == ':') {
            if (!parser_next(p))
                return false;
            if (parser_is_word(p, "branchtargets") || parser_is_word(p, "calltargets"))
                return parse_table(p, &name);
            if (parser_is_word(p, "callprototype"))
                return parse_prototype(p, &name);
            return label_define(p, &name);
        }
        after.c_locale = p->lx.c_locale;
        p->lx = after;
        p->tok = name;
    }
    return parse_instruction(p);
}

static bool parse_statement(struct parser *p)
{
    switch (p->tok.kind) {
    case '{':
        if (p->syms.depth >= PTX_MAX_DEPTH || !symtab_push(&p->syms))
            return parser_fail_as(p, -E2BIG, &p->tok, "scopes nested deeper than %d",
                                  PTX_MAX_DEPTH);
        return parser_next(p);
    case '}':
        if (!label_scope_end(p))
            return false;
        symtab_pop(&p->syms);
        return p->syms.depth == 0 || parser_next(p);
    case TOK_DOT:
        return parse_body_directive(p);
    case TOK_IDENT:
        return parse_named(p);
    case '@':
        return parse_instruction(p);
    case ';':
        return parser_next(p);
    default:
        return parser_expected(p, "an instruction, a declaration or '}'");
    }
}

/* ---- the function ---- */

static bool declare_params(struct parser *p, struct ptx_var **all, uint32_t count)
{
    struct ptx_reg_decl decl;
    struct token name = p->tok;
    struct sym *s;
    uint32_t i;

    for (i = 0; i < count; i++) {
        name.text = all[i]->name;
        name.len = (uint32_t)strlen(all[i]->name);
        if (token_is(&name, "_"))
            continue;
        all[i]->name = parser_unique_name(p, &name, false);
        if (!all[i]->name)
            return false;
        s = parser_declare(p, all[i]->space == PTX_SPACE_REG ? SYM_REG : SYM_VAR, &name, name.text,
                           name.len);
        if (!s)
            return false;
        s->ptr = all[i];
        if (all[i]->space != PTX_SPACE_REG)
            continue;
        decl = (struct ptx_reg_decl){.name = all[i]->name, .type = all[i]->type, .count = 1};
        if (!add_registers(p, &decl))
            return false;
        s->index = p->regs.n - 1;
        all[i]->offset = s->index; /* a register parameter is this register */
    }
    return true;
}

static bool function_keep(struct parser *p, struct ptx_func *f)
{
    f->ndecls = p->decls.n;
    f->nregs = p->regs.n;
    f->nvars = p->fvars.n;
    f->ntables = p->tables.n;
    f->nprotos = p->protos.n;
    f->ninsts = p->insts.n;
    return labels_finish(p) && list_keep(p, &p->decls, sizeof(struct ptx_reg_decl), &f->decls) &&
           list_keep(p, &p->regs, sizeof(struct ptx_reg), &f->regs) &&
           list_keep(p, &p->fvars, sizeof(struct ptx_var *), &f->vars) &&
           list_keep(p, &p->tables, sizeof(struct ptx_table), &f->tables) &&
           list_keep(p, &p->protos, sizeof(struct ptx_proto *), &f->protos) &&
           list_keep(p, &p->insts, sizeof(struct ptx_inst), &f->insts);
}

static bool parse_body(struct parser *p, struct ptx_func *f)
{
    bool ok;

    if (f->has_body)
        return parser_fail(p, &p->tok, "function '%.64s' is defined twice", f->name);
    f->has_body = true;
    p->decls.n = p->regs.n = p->fvars.n = p->labels.n = p->tables.n = p->protos.n = p->insts.n = 0;
    p->defined_labels = 0;
    p->f = f;
    symtab_push(&p->syms);
    ok = declare_params(p, f->rets, f->nrets) && declare_params(p, f->params, f->nparams) &&
         parser_next(p);
    while (ok && p->syms.depth > 0) {
        if (p->tok.kind == TOK_EOF)
            ok = parser_expected(p, "'}'");
        else
            ok = parse_statement(p) && p->status == 0;
    }
    ok = ok && function_keep(p, f);
    p->f = NULL;
    return ok && parser_next(p);
}

static bool parse_three(struct parser *p, uint32_t out[3])
{
    uint64_t v;
    unsigned i;

    out[0] = out[1] = out[2] = 1;
    if (!parser_next(p))
        return false;
    for (i = 0; i < 3; i++) {
        if (!parse_uint(p, UINT32_MAX, "a dimension", &v))
            return false;
        out[i] = (uint32_t)v;
        if (i < 2 && !parser_accept(p, ','))
            break;
    }
    return p->status == 0;
}

static bool parse_one(struct parser *p, uint32_t *out)
{
    uint64_t v;

    if (!parser_next(p) || !parse_uint(p, UINT32_MAX, "a number", &v))
        return false;
    *out = (uint32_t)v;
    return true;
}

/* What stands between the parameters and the body. */
static bool parse_directives(struct parser *p, struct ptx_func *f)
{
    static const char *const clusters[] = {"explicitcluster", "reqnctapercluster", "maxclusterrank",
                                           "blocksareclusters"};
    struct list pragmas = {0};
    const char **slot;
    uint32_t ignored;
    bool ok = true;
    size_t i;

    while (ok && p->tok.kind == TOK_DOT) {
        for (i = 0; i < sizeof(clusters) / sizeof(clusters[0]); i++)
            if (parser_is_word(p, clusters[i]))
                ok = parser_fail_as(p, -ENOTSUP, &p->tok,
                                    "thread block clusters (.%s) are not supported", clusters[i]);
        if (!ok)
            break;
        if (parser_is_word(p, "maxntid")) {
            ok = parse_three(p, f->maxntid);
        } else if (parser_is_word(p, "reqntid")) {
            ok = parse_three(p, f->reqntid);
        } else if (parser_is_word(p, "minnctapersm")) {
            ok = parse_one(p, &f->minnctapersm);
        } else if (parser_is_word(p, "maxnctapersm")) {
            ok = parse_one(p, &f->maxnctapersm);
        } else if (parser_is_word(p, "maxnreg")) {
            ok = parse_one(p, &f->maxnreg);
        } else if (parser_is_word(p, "noreturn")) {
            f->noreturn = true;
            ok = parser_next(p);
        } else if (parser_is_word(p, "abi_preserve") || parser_is_word(p, "abi_preserve_control")) {
            ok = parse_one(p, &ignored);
        } else if (parser_is_word(p, "attribute")) {
            ok = parse_attribute(p, NULL);
        } else if (parser_is_word(p, "pragma")) {
            slot = list_add(p, &pragmas, sizeof(*slot), 1);
            ok = slot && parse_pragma(p, slot);
        } else {
            ok = parser_expected(p, "a function directive, ';' or '{'");
        }
    }
    if (ok && pragmas.n) {
        f->npragmas = pragmas.n;
        ok = list_keep(p, &pragmas, sizeof(*slot), &f->pragmas);
    }
    free(pragmas.data);
    return ok;
}

static bool layout_params(struct parser *p, const struct token *name, struct ptx_func *f)
{
    uint64_t at = 0;
    uint32_t i;

    for (i = 0; i < f->nparams; i++) {
        if (f->params[i]->space != PTX_SPACE_PARAM)
            continue;
        at = (at + f->params[i]->align - 1) & ~((uint64_t)f->params[i]->align - 1);
        f->params[i]->offset = at;
        at += f->params[i]->size;
        if (at > (1u << 24))
            return parser_fail_as(p, -E2BIG, name, "parameters of more than %u bytes", 1u << 24);
    }
    f->param_bytes = (uint32_t)at;
    return true;
}

static bool same_params(struct ptx_var *const *a, uint32_t na, struct ptx_var *const *b,
                        uint32_t nb)
{
    uint32_t i;

    if (na != nb)
        return false;
    for (i = 0; i < na; i++)
        if (a[i]->size != b[i]->size || a[i]->space != b[i]->space ||
            a[i]->unsized != b[i]->unsized)
            return false;
    return true;
}

/* The function of that name, new or declared before. */
static struct ptx_func *find_or_add(struct parser *p, const struct token *name, bool entry)
{
    struct sym *s = symtab_find(&p->syms, SYM_CLASS_NAME, name->text, name->len);
    struct ptx_func *f, **slot;
    char text[64];

    token_clip(name, text, sizeof(text));
    if (s) {
        f = s->ptr;
        if (s->kind != SYM_FUNC || f->entry != entry) {
            parser_fail(p, name, "'%s' was declared as something else before", text);
            return NULL;
        }
        return f;
    }
    if (p->funcs.n >= PTX_MAX_FUNCS) {
        parser_fail_as(p, -E2BIG, name, "more than %u functions", PTX_MAX_FUNCS);
        return NULL;
    }
    f = parser_alloc(p, sizeof(*f));
    s = f ? parser_declare(p, SYM_FUNC, name, name->text, name->len) : NULL;
    slot = s ? list_add(p, &p->funcs, sizeof(*slot), 1) : NULL;
    if (!slot)
        return NULL;
    f->name = parser_string(p, name->text, name->len);
    f->entry = entry;
    f->id = p->funcs.n - 1;
    f->line = 0;
    *slot = s->ptr = f;
    return f->name ? f : NULL;
}

bool parse_function(struct parser *p, enum ptx_linkage linkage, bool entry)
{
    struct ptx_func *f, sig = {0};
    struct token name;
    uint32_t i;

    while (parser_is_word(p, "attribute"))
        if (!parse_attribute(p, NULL))
            return false;
    if (!entry && p->tok.kind == '(' && !parse_param_list(p, NULL, &sig.rets, &sig.nrets))
        return false;
    name = p->tok;
    if (!parser_need(p, TOK_IDENT, "a function name"))
        return false;
    f = find_or_add(p, &name, entry);
    if (!f)
        return false;
    if (p->tok.kind == '(' && !parse_param_list(p, f, &sig.params, &sig.nparams))
        return false;
    if (f->line && (!same_params(f->params, f->nparams, sig.params, sig.nparams) ||
                    !same_params(f->rets, f->nrets, sig.rets, sig.nrets)))
        return parser_fail(p, &name, "function '%.64s' was declared with other parameters before",
                           f->name);
    for (i = 0; i < sig.nrets; i++)
        sig.rets[i]->func = f;
    if (!f->has_body) {
        f->rets = sig.rets;
        f->nrets = sig.nrets;
        f->params = sig.params;
        f->nparams = sig.nparams;
        if (!layout_params(p, &name, f))
            return false;
    }
    if (!f->line || linkage != PTX_LINK_EXTERN)
        f->linkage = (uint8_t)(linkage != PTX_LINK_NONE || !f->line ? linkage : f->linkage);
    f->line = name.line;
    if (!parse_directives(p, f))
        return false;
    if (p->tok.kind == ';')
        return parser_next(p);
    if (p->tok.kind != '{')
        return parser_expected(p, "a function directive, ';' or '{'");
    return parse_body(p, f);
}
