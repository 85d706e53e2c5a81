/* The body of a function: registers, statements, and nested scopes, which are flattened. */
#include "ptx/read/parse.h"

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
    decl->nested = p->syms.depth > 1;
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

/* Reads what stands behind ".reg": .v4 .b32 name<count>, name ... ; */
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
    if (!type_is_declarable(proto.type))
        return parser_expected(p, "a register type");
    if (proto.vec * ptx_type_bits(proto.type) > 128)
        return parser_fail(p, &p->tok, "a vector of more than 128 bits");
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
            /* The count is a plain number: in an expression the '>' would be an operator. */
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
        if (!decl.range && parser_in_range(p, &name))
            return parser_fail(p, &name, "'%.*s' is declared twice",
                               (int)(name.len < 48 ? name.len : 48), name.text);
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

/* ---- statements ---- */

static bool parse_inner_pragma(struct parser *p)
{
    struct ptx_inst *inst = list_add(p, &p->insts, sizeof(*inst), 1);

    if (!inst)
        return false;
    inst->op = PTX_OP_PRAGMA;
    inst->form = ptx_ops[PTX_OP_PRAGMA].first;
    inst->line = p->tok.line;
    inst->begin = parser_offset(p) - 1; /* the token begins behind its dot */
    inst->guard = PTX_NO_REG;
    inst->nops = 1;
    inst->ops = parser_alloc(p, sizeof(*inst->ops));
    if (!inst->ops)
        return false;
    inst->ops->kind = PTX_OPND_STRING;
    return parse_pragma(p, &inst->ops->string, &inst->end);
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

/* Reads a label or an instruction: both begin with a name. */
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

/* ---- the body ---- */

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

bool parse_body(struct parser *p, struct ptx_func *f)
{
    bool ok;

    if (f->has_body || f->unread)
        return parser_fail(p, &p->tok, "function '%.64s' is defined twice", f->name);
    f->has_body = true;
    p->decls.n = p->regs.n = p->fvars.n = p->labels.n = p->tables.n = p->protos.n = p->insts.n = 0;
    p->defined_labels = 0;
    p->f = f;
    f->body_begin = parser_offset(p) + 1; /* the token is the '{' */
    symtab_push(&p->syms);
    ok = declare_params(p, f->rets, f->nrets) && declare_params(p, f->params, f->nparams) &&
         parser_next(p);
    while (ok && p->syms.depth > 0) {
        if (p->tok.kind == TOK_EOF)
            ok = parser_expected(p, "'}'");
        else
            ok = parse_statement(p) && p->status == 0;
    }
    f->body_end = parser_offset(p); /* where it is OK, at the '}' that ended the last scope */
    ok = ok && function_keep(p, f);
    p->f = NULL;
    return ok && parser_next(p);
}
