/* Labels, and the directives that may follow one: lists of branch and call targets, prototypes.
 * Labels have provisional numbers until the function is complete; then they have those of
 * ptx_func.labels. */
#include <stdlib.h>

#include "ptx/read/parse.h"

/* ---- labels ---- */

static uint32_t label_new(struct parser *p, const struct token *name, struct sym *s)
{
    struct scratch_label *l = list_add(p, &p->labels, sizeof(*l), 1);

    if (!l)
        return UINT32_MAX;
    *l = (struct scratch_label){
        .inst = UINT32_MAX, .same_as = UINT32_MAX, .line = name->line, .column = name->column};
    s->index = p->labels.n - 1;
    return s->index;
}

uint32_t parser_label_ref(struct parser *p, const struct token *name)
{
    struct sym *s = symtab_find(&p->syms, SYM_CLASS_NAME, name->text, name->len);
    char text[64];

    if (s && s->kind == SYM_LABEL && s->depth == p->syms.depth)
        return s->index;
    /* A label of an outer scope is only used if this scope ends without one of that name. */
    if (s && s->kind != SYM_LABEL) {
        token_clip(name, text, sizeof(text));
        parser_fail(p, name, "expected a label, found '%s', which is something else", text);
        return UINT32_MAX;
    }
    s = parser_declare(p, SYM_LABEL, name, name->text, name->len);
    return s ? label_new(p, name, s) : UINT32_MAX;
}

bool label_define(struct parser *p, const struct token *name)
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
    l->final = p->defined_labels++; /* in order of instructions, as the printer
                                       wants them */
    l->name = parser_unique_name(p, name, false);
    return l->name != NULL;
}

/* Labels to which the closing scope jumped, but that it did not define, are looked up, or awaited,
 * in the scope around it. */
bool label_scope_end(struct parser *p)
{
    struct sym *s, *outer;
    struct scratch_label *l;

    for (s = p->syms.scopes[p->syms.depth]; s; s = s->scope_next) {
        if (s->kind != SYM_LABEL)
            continue;
        l = (struct scratch_label *)p->labels.data + s->index;
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
            return parser_no_memory(p, &p->tok);
        outer->index = s->index;
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

bool labels_finish(struct parser *p)
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

/* ---- what may stand behind a label: .branchtargets, .calltargets,
 * .callprototype ---- */

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

bool parse_table(struct parser *p, const struct token *name)
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

bool parse_prototype(struct parser *p, const struct token *name)
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
    if (p->tok.kind == '(' && !parse_param_list(p, NULL, &proto->rets, &proto->nrets, NULL))
        return false;
    proto->first = (uint32_t)(p->tok.text + p->tok.len - p->text);
    if (!parser_need(p, TOK_IDENT, "'_'"))
        return false;
    proto->list = p->tok.kind == '(';
    if (proto->list)
        proto->first = parser_offset(p) + 1;
    if (proto->list && !parse_param_list(p, NULL, &proto->params, &proto->nparams, NULL))
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
