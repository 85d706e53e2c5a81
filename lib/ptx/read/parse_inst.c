/* One instruction: the guard, the opcode, and the form in ptx_ops.def that fits its modifiers and
 * operands. */
#include "ptx/read/parse.h"

/* ---- modifiers ---- */

/* How far the best form matched, for the message if none fits. */
struct attempt {
    const char *at;   /* position in the mnemonic */
    const char *what; /* expected there; NULL: the mnemonic should end */
    int operand;      /* -1: the modifiers did not fit; otherwise, how many operands did */
    const char *operand_what;
};

static size_t word_length(const char *text, const char *end)
{
    const char *dot = memchr(text, '.', (size_t)(end - text));

    return (size_t)((dot ? dot : end) - text);
}

/* Length of WORD if TEXT begins with it and it ends there at a dot or the end. */
static size_t match_word(const char *text, const char *end, const char *word)
{
    size_t len = strlen(word);

    if ((size_t)(end - text) < len || memcmp(text, word, len))
        return 0;
    return text + len == end || text[len] == '.' ? len : 0;
}

/* Sets the field of SLOT from the text behind a dot. Returns the number of characters used; 0: the
 * word is none of the slot's. */
static size_t match_slot(const struct ptx_slot *slot, const char *text, const char *end,
                         struct ptx_inst *inst, unsigned *types)
{
    const struct ptx_slot_info *info = &ptx_slots[slot->kind];
    const struct ptx_word *w, *found = NULL;
    size_t len, best = 0;
    enum ptx_type type;

    if (slot->kind == PTX_SLOT_TYPE) {
        len = word_length(text, end);
        type = len ? ptx_type_find(text, len) : PTX_T_NONE;
        if (!type || !ptx_set_has(slot->set, type) || *types >= 4)
            return 0;
        inst->type[(*types)++] = (uint8_t)type;
        return len;
    }
    for (w = info->words; w->word; w++) {
        len = match_word(text, end, w->word);
        if (len > best) {
            best = len;
            found = w;
        }
    }
    if (!found)
        return 0;
    if (info->flags)
        inst->flags |= found->value;
    else
        *((uint8_t *)inst + info->field) = (uint8_t)found->value;
    return best;
}

static void note(struct attempt *best, const char *at, const char *what)
{
    if (best->operand < 0 && (!best->at || at > best->at)) {
        best->at = at;
        best->what = what;
    }
}

static bool match_slots(const struct ptx_form *form, const char *rest, const char *end,
                        struct ptx_inst *inst, struct attempt *best)
{
    const struct ptx_slot *slot;
    unsigned types = 0;
    size_t used;

    for (slot = form->slots; slot < form->slots + PTX_MAX_SLOTS && slot->kind; slot++) {
        used = rest < end ? match_slot(slot, rest + 1, end, inst, &types) : 0;
        if (!used && !slot->optional) {
            note(best, rest, ptx_slots[slot->kind].what);
            return false;
        }
        if (used)
            rest += 1 + used;
    }
    if (rest < end) {
        note(best, rest, NULL);
        return false;
    }
    return true;
}

/* ptxas accepts modifiers in any order, and hand-written code relies on that: each word goes to the
 * first unused slot that knows it. Types keep their order. */
static bool match_slots_unordered(const struct ptx_form *form, const char *rest, const char *end,
                                  struct ptx_inst *inst)
{
    unsigned types = 0, used = 0, i;
    size_t len;

    while (rest < end) {
        len = 0;
        for (i = 0; i < PTX_MAX_SLOTS && form->slots[i].kind && !len; i++) {
            if (used >> i & 1)
                continue;
            len = match_slot(&form->slots[i], rest + 1, end, inst, &types);
            if (len)
                used |= 1u << i;
            else if (form->slots[i].kind == PTX_SLOT_TYPE &&
                     ptx_type_find(rest + 1, word_length(rest + 1, end)))
                return false;
        }
        if (!len)
            return false;
        rest += 1 + len;
    }
    for (i = 0; i < PTX_MAX_SLOTS && form->slots[i].kind; i++)
        if (!form->slots[i].optional && !(used >> i & 1))
            return false;
    return true;
}

/* Modifiers that the reader knows but does not support, for the message. */
static const char *left_out(const char *text, size_t len)
{
    static const struct {
        const char *word, *what;
    } words[] = {{"kind::", "block-scaled matrices are"},
                 {"im2col", "im2col copies are"},
                 {"tile::", "copies of gathered and scattered rows are"},
                 {"cta_group", "copies for pairs of blocks are"},
                 {"multicast", "copies to several blocks of a cluster are"}};
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (memmem(text, len, words[i].word, strlen(words[i].word)))
            return words[i].what;
    return NULL;
}

static bool fail_modifiers(struct parser *p, const struct token *mnemonic,
                           const struct attempt *best)
{
    const char *end = mnemonic->text + mnemonic->len, *missing;
    struct token at = *mnemonic;
    char whole[64], found[40];

    token_clip(mnemonic, whole, sizeof(whole));
    missing = left_out(mnemonic->text, mnemonic->len);
    if (missing)
        return parser_fail_as(p, -ENOTSUP, mnemonic, "'%s': %s not supported", whole, missing);
    at.column += (uint32_t)(best->at - mnemonic->text);
    at.text = best->at;
    at.len = best->at < end ? (uint32_t)(1 + word_length(best->at + 1, end)) : 0;
    token_clip(&at, found, sizeof(found));
    if (!best->what)
        return parser_fail(p, &at, "expected no further modifier in '%s', found '%s'", whole,
                           found);
    return parser_fail(p, &at, "expected %s in '%s', found %s%s%s", best->what, whole,
                       at.len ? "'" : "", at.len ? found : "its end", at.len ? "'" : "");
}

/* ---- operands ---- */

static const char *desc_what(const struct ptx_desc *desc)
{
    switch ((enum ptx_desc_kind)desc->kind) {
    case PTX_DESC_DST:
        return "a register";
    case PTX_DESC_DSTVEC:
        return "a register, or a list of them with .v2, .v4, .v8";
    case PTX_DESC_SRC:
        return "a register or constant";
    case PTX_DESC_SRCVEC:
        return "a register or constant, or a list of them with .v2, .v4, .v8";
    case PTX_DESC_VEC:
        return "a list in braces, a register or a constant";
    case PTX_DESC_VECDST:
        return "a list in braces or a register";
    case PTX_DESC_PRED:
    case PTX_DESC_DSTPRED:
        return "a predicate";
    case PTX_DESC_PIPE:
        return "'|' and a predicate";
    case PTX_DESC_MEM:
        return "an address in brackets";
    case PTX_DESC_INT:
        return "an integer constant";
    case PTX_DESC_LABEL:
        return "a label";
    case PTX_DESC_TABLE:
        return "a list of .branchtargets";
    case PTX_DESC_TEX:
        return "a texture or surface in brackets";
    case PTX_DESC_COORD:
        return "coordinates";
    case PTX_DESC_SAMPLER:
    case PTX_DESC_CALL:
    case PTX_DESC_STRING:
    case PTX_DESC_NOTHING:
    case PTX_DESC_END:
        break;
    }
    return "no further operand";
}

/* Assigns operands to descriptors: PLACE[d] is the operand at descriptor d, or -1. Optional ones
 * are filled from the left, as long as the rest can still be satisfied; there are at most three, so
 * the search is short. */
static bool match(const struct parser *p, const struct ptx_form *form, const struct ptx_inst *inst,
                  unsigned d, uint32_t top, int *matched, struct attempt *best)
{
    const struct ptx_desc *desc = &form->opnds[d];
    const uint32_t *tops = p->tops.data;
    const struct raw *r = top < p->tops.n ? (const struct raw *)p->raws.data + tops[top] : NULL;
    unsigned next = d + 1;

    if (d == PTX_MAX_OPERANDS || !desc->kind) {
        if (!r)
            return true;
        if ((int)top > best->operand) {
            best->operand = (int)top;
            best->operand_what = "';'";
        }
        return false;
    }
    if (r && raw_fits(p, r, desc, inst)) {
        matched[d] = (int)top;
        if (desc->kind == PTX_DESC_TEX) { /* sampler and coordinates come with it */
            matched[next] = -1;
            if (form->opnds[next].kind == PTX_DESC_SAMPLER)
                matched[++next] = -1;
            next++;
        }
        if (match(p, form, inst, next, top + 1, matched, best))
            return true;
    }
    matched[d] = -1;
    if (desc->optional)
        return match(p, form, inst, d + 1, top, matched, best);
    if ((int)top > best->operand) {
        best->operand = (int)top;
        best->operand_what = desc_what(desc);
    }
    return false;
}

static bool fail_operands(struct parser *p, const struct token *mnemonic,
                          const struct attempt *best)
{
    const uint32_t *tops = p->tops.data;
    const struct raw *r;
    char whole[64], found[40];

    token_clip(mnemonic, whole, sizeof(whole));
    if ((uint32_t)best->operand >= p->tops.n)
        return parser_fail(p, &p->tok, "%s: expected %s as operand %d, found ';'", whole,
                           best->operand_what, best->operand + 1);
    r = (const struct raw *)p->raws.data + tops[best->operand];
    token_clip(&r->tok, found, sizeof(found));
    if (r->kind == RAW_NAME)
        return parser_fail(p, &r->tok,
                           "%s: expected %s as operand %d, found '%s', which is not declared",
                           whole, best->operand_what, best->operand + 1, found);
    return parser_fail(p, &r->tok, "%s: expected %s as operand %d, found '%s'", whole,
                       best->operand_what, best->operand + 1, found);
}

/* Puts the parts of [texture, sampler, coordinates] into three operands, of [surface, coordinates]
 * into two. */
static bool build_texture(struct parser *p, const struct ptx_form *form,
                          const struct ptx_inst *inst, const struct raw *r, unsigned d,
                          struct ptx_operand *ops)
{
    const struct raw *raws = p->raws.data;
    bool sampler = form->opnds[d + 1].kind == PTX_DESC_SAMPLER;
    unsigned coord = d + (sampler ? 2 : 1), last = r->count - 1;

    if (r->count < 2 || (r->count == 3 && !sampler))
        return parser_fail(p, &r->tok, "expected [%s, coordinates]",
                           sampler ? "texture" : "surface");
    if (!raw_fits(p, &raws[r->part[0]], &(struct ptx_desc){PTX_DESC_SRC, PTX_T_B64, false}, inst) ||
        !raw_fits(p, &raws[r->part[last]], &form->opnds[coord], inst))
        return parser_fail(p, &r->tok, "expected [%s, coordinates]",
                           sampler ? "texture" : "surface");
    if (!raw_build(p, &raws[r->part[0]], &form->opnds[d], inst, &ops[d]))
        return false;
    if (r->count == 3 && !raw_build(p, &raws[r->part[1]], &form->opnds[d + 1], inst, &ops[d + 1]))
        return false;
    return raw_build(p, &raws[r->part[last]], &form->opnds[coord], inst, &ops[coord]);
}

static bool build_operands(struct parser *p, const struct ptx_form *form, const int *matched,
                           struct ptx_inst *inst)
{
    const uint32_t *tops = p->tops.data;
    const struct raw *r;
    unsigned d, n = 0;

    while (n < PTX_MAX_OPERANDS && form->opnds[n].kind)
        n++;
    inst->nops = (uint8_t)n;
    inst->ops = parser_alloc(p, n * sizeof(*inst->ops));
    if (!inst->ops)
        return false;
    for (d = 0; d < n; d++) {
        if (matched[d] < 0)
            continue;
        r = (const struct raw *)p->raws.data + tops[matched[d]];
        if (form->opnds[d].kind == PTX_DESC_TEX) {
            if (!build_texture(p, form, inst, r, d, inst->ops))
                return false;
            continue;
        }
        if (r->sel && d < 4)
            inst->sel[d] = r->sel;
        if (r->minus)
            inst->flags |= d == 1 ? PTX_F_NEG_A : d == 2 ? PTX_F_NEG_B : PTX_F_NEG_C;
        if (r->minus && inst->op != PTX_OP_VMAD)
            return parser_fail(p, &r->tok, "only vmad takes a register with a sign");
        if (r->sel && ptx_op_name(inst->op)[0] != 'v')
            return parser_fail(p, &r->tok, "only video instructions take a part of a register");
        if (!raw_build(p, r, &form->opnds[d], inst, &inst->ops[d]))
            return false;
    }
    return true;
}

/* ---- the instruction ---- */

static bool parse_guard(struct parser *p, struct ptx_inst *inst)
{
    inst->guard = PTX_NO_REG;
    if (p->tok.kind != '@')
        return true;
    if (!parser_next(p))
        return false;
    if (parser_accept(p, '!'))
        inst->guard_neg = true;
    return find_predicate(p, &inst->guard) && parser_next(p);
}

/* Tries the forms one after the other; BEST then says how far the best one matched. */
static bool match_forms(struct parser *p, const struct token *mnemonic, const char *rest,
                        struct ptx_inst *inst, bool ordered, struct attempt *best)
{
    const char *end = mnemonic->text + mnemonic->len;
    unsigned first = ptx_ops[inst->op].first, count = ptx_op_form_count(inst->op), i;
    int matched[PTX_MAX_OPERANDS + 1];
    struct ptx_inst candidate;

    for (i = first; i < first + count; i++) {
        candidate = *inst;
        candidate.form = (uint16_t)i;
        if (ordered ? !match_slots(&ptx_forms[i], rest, end, &candidate, best)
                    : !match_slots_unordered(&ptx_forms[i], rest, end, &candidate))
            continue;
        if (ptx_forms[i].opnds[0].kind == PTX_DESC_CALL) {
            *inst = candidate;
            return true;
        }
        if (match(p, &ptx_forms[i], &candidate, 0, 0, matched, best)) {
            *inst = candidate;
            return build_operands(p, &ptx_forms[i], matched, inst);
        }
    }
    return false;
}

static bool match_instruction(struct parser *p, const struct token *mnemonic, const char *rest,
                              struct ptx_inst *inst)
{
    struct attempt best = {.operand = -1};

    /* First in order, then in any order, then so that a form is reported whose operands only differ
     * in width. */
    if (match_forms(p, mnemonic, rest, inst, true, &best) || p->status)
        return !p->status;
    if (best.operand < 0 && (match_forms(p, mnemonic, rest, inst, false, &best) || p->status))
        return !p->status;
    if (best.operand >= 0) {
        p->lenient = true;
        match_forms(p, mnemonic, rest, inst, true, &best);
        p->lenient = false;
    }
    if (p->status)
        return false;
    return best.operand >= 0 ? fail_operands(p, mnemonic, &best)
                             : fail_modifiers(p, mnemonic, &best);
}

bool parse_instruction(struct parser *p)
{
    struct ptx_inst inst = {0}, *slot;
    struct token mnemonic;
    const char *rest = NULL;
    char name[64];

    inst.begin = parser_offset(p);
    if (!parse_guard(p, &inst))
        return false;
    if (p->tok.kind != TOK_IDENT)
        return parser_expected(p, "an instruction");
    lexer_extend_mnemonic(&p->lx, &p->tok);
    mnemonic = p->tok;
    inst.line = mnemonic.line;
    inst.op = parser_find_op(p, &mnemonic, &rest);
    token_clip(&mnemonic, name, sizeof(name));
    if (inst.op == PTX_OP_NONE)
        return parser_fail(p, &mnemonic,
                           "expected an instruction, found '%s', which PTX does not know", name);
    if (ptx_op_class(inst.op) == PTX_CLASS_REFUSED)
        return parser_fail_as(p, -ENOTSUP, &mnemonic, "the instruction '%s' is not supported",
                              name);
    if (!parser_next(p))
        return false;
    if (inst.op != PTX_OP_CALL && !parse_raws(p))
        return false;
    if (!match_instruction(p, &mnemonic, rest, &inst))
        return false;
    if (inst.op == PTX_OP_CALL && !parse_call(p, &inst, &mnemonic))
        return false;
    if (!inst_check(p, &inst, &mnemonic))
        return false;
    slot = list_add(p, &p->insts, sizeof(*slot), 1);
    if (!slot)
        return false;
    *slot = inst;
    slot->end = parser_offset(p) + 1;
    return parser_need(p, ';', "';'");
}
