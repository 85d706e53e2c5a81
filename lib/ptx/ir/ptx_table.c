/* The instruction table as C data. Constants and look-ups without state; any thread. */
#include "ptx/ptx_table.h"

#include <string.h>

/* ---- modifiers ---- */
#define W(word, value)                                                                             \
    {                                                                                              \
        word, value                                                                                \
    }
#define F(word, flag)                                                                              \
    {                                                                                              \
        word, PTX_F_##flag                                                                         \
    }
#define SLOT(id, field, what, ...)                                                                 \
    static const struct ptx_word words_##id[] = {__VA_ARGS__, {NULL, 0}};
#include "ptx/ir/ptx_slots.def"
#undef SLOT
#undef W
#undef F

const struct ptx_slot_info ptx_slots[PTX_SLOT_COUNT] = {
    [PTX_SLOT_TYPE] = {"a type", NULL, 0, false},
#define SLOT(id, field, what, ...)                                                                 \
    [PTX_SLOT_##id] = {what, words_##id, offsetof(struct ptx_inst, field),                         \
                       offsetof(struct ptx_inst, field) == offsetof(struct ptx_inst, flags)},
#include "ptx/ir/ptx_slots.def"
#undef SLOT
};

/* ---- type sets: a bit per type ---- */
_Static_assert(PTX_T_COUNT <= 64, "a type set is 64 bits");
/* clang-format off */
#define BIT(t)                                                       | 1ull << PTX_T_##t
#define EACH1(a)                                                     BIT(a)
#define EACH2(a, ...)                                                BIT(a) EACH1(__VA_ARGS__)
#define EACH3(a, ...)                                                BIT(a) EACH2(__VA_ARGS__)
#define EACH4(a, ...)                                                BIT(a) EACH3(__VA_ARGS__)
#define EACH5(a, ...)                                                BIT(a) EACH4(__VA_ARGS__)
#define EACH6(a, ...)                                                BIT(a) EACH5(__VA_ARGS__)
#define EACH7(a, ...)                                                BIT(a) EACH6(__VA_ARGS__)
#define EACH8(a, ...)                                                BIT(a) EACH7(__VA_ARGS__)
#define EACH9(a, ...)                                                BIT(a) EACH8(__VA_ARGS__)
#define EACH10(a, ...)                                               BIT(a) EACH9(__VA_ARGS__)
#define EACH11(a, ...)                                               BIT(a) EACH10(__VA_ARGS__)
#define EACH12(a, ...)                                               BIT(a) EACH11(__VA_ARGS__)
#define EACH13(a, ...)                                               BIT(a) EACH12(__VA_ARGS__)
#define EACH14(a, ...)                                               BIT(a) EACH13(__VA_ARGS__)
#define EACH15(a, ...)                                               BIT(a) EACH14(__VA_ARGS__)
#define PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, name, ...) name
#define EACH(...)                                                                                  \
    PICK(__VA_ARGS__, EACH15, EACH14, EACH13, EACH12, EACH11, EACH10, EACH9, EACH8, EACH7, EACH6,  \
         EACH5, EACH4, EACH3, EACH2, EACH1, 0)                                                     \
    (__VA_ARGS__)
/* clang-format on */

static const uint64_t ptx_sets[PTX_SET_COUNT] = {
#define TYPESET(id, ...) [PTX_SET_##id] = 0 EACH(__VA_ARGS__),
#include "ptx/ir/ptx_typesets.def"
#undef TYPESET
};

/* ---- forms ---- */
enum {
    RULE_T0 = PTX_RULE_T0,
    RULE_T1 = PTX_RULE_T1,
    RULE_T2 = PTX_RULE_T2,
    RULE_W0 = PTX_RULE_W0,
    RULE_ANY = PTX_RULE_ANY,
    RULE_U32 = PTX_T_U32,
    RULE_S32 = PTX_T_S32,
    RULE_B16 = PTX_T_B16,
    RULE_B32 = PTX_T_B32,
    RULE_B64 = PTX_T_B64,
    RULE_F32 = PTX_T_F32,
};

/* clang-format off */
#define SLOTS(...) {__VA_ARGS__}
#define OPT(x)     {PTX_SLOT_##x, 0, true}
#define REQ(x)     {PTX_SLOT_##x, 0, false}
#define T(set)     {PTX_SLOT_TYPE, PTX_SET_##set, false}

#define OPNDS(...) {__VA_ARGS__}
#define D(t)       {PTX_DESC_DST, RULE_##t, false}
#define DV(t)      {PTX_DESC_DSTVEC, RULE_##t, false}
#define S(t)       {PTX_DESC_SRC, RULE_##t, false}
#define oS(t)      {PTX_DESC_SRC, RULE_##t, true}
#define SV(t)      {PTX_DESC_SRCVEC, RULE_##t, false}
#define V(t)       {PTX_DESC_VEC, RULE_##t, false}
#define VD(t)      {PTX_DESC_VECDST, RULE_##t, false}
#define oV(t)      {PTX_DESC_VEC, RULE_##t, true}
#define COORD(t)   {PTX_DESC_COORD, RULE_##t, false}
#define P          {PTX_DESC_PRED, PTX_T_PRED, false}
#define PD         {PTX_DESC_DSTPRED, PTX_T_PRED, false}
#define PIPE       {PTX_DESC_PIPE, PTX_T_PRED, true}
#define M          {PTX_DESC_MEM, 0, false}
#define I          {PTX_DESC_INT, PTX_T_S64, false}
#define oI         {PTX_DESC_INT, PTX_T_S64, true}
#define L          {PTX_DESC_LABEL, 0, false}
#define B          {PTX_DESC_TABLE, 0, false}
#define TEX        {PTX_DESC_TEX, PTX_T_B64, false}
#define SAMP       {PTX_DESC_SAMPLER, PTX_T_B64, true}
#define CALL       {PTX_DESC_CALL, 0, false}
#define NOTHING    {PTX_DESC_NOTHING, 0, true}
#define STRING     {PTX_DESC_STRING, 0, false}
/* clang-format on */

const struct ptx_form ptx_forms[] = {
#define PTX_OP(id, name, class)
#define PTX_FORM(id, slots, opnds) {PTX_OP_##id, slots, opnds},
#include "ptx/ir/ptx_ops.def"
#undef PTX_OP
#undef PTX_FORM
};

/* ---- opcodes: their forms follow them in the table, so that counting gives the indices ---- */
#define PASTE(a, b)  a##b
#define PASTE2(a, b) PASTE(a, b)
enum {
#define PTX_OP(id, name, class)    FIRST_##id, AFTER_##id = FIRST_##id - 1,
#define PTX_FORM(id, slots, opnds) PASTE2(FORM_AT_, __LINE__),
#include "ptx/ir/ptx_ops.def"
#undef PTX_OP
#undef PTX_FORM
    FORM_COUNT
};
_Static_assert(FORM_COUNT == sizeof(ptx_forms) / sizeof(ptx_forms[0]), "forms counted alike");

const struct ptx_op_info ptx_ops[PTX_OP_COUNT] = {
#define PTX_OP(id, name, class) [PTX_OP_##id] = {name, PTX_CLASS_##class, FIRST_##id},
#define PTX_FORM(id, slots, opnds)
#include "ptx/ir/ptx_ops.def"
#undef PTX_OP
#undef PTX_FORM
};

unsigned ptx_op_form_count(enum ptx_op op)
{
    unsigned last = op + 1u < PTX_OP_COUNT ? ptx_ops[op + 1].first : FORM_COUNT;

    return op == PTX_OP_NONE ? 0 : last - ptx_ops[op].first;
}

const char *ptx_slot_word(const struct ptx_inst *inst, enum ptx_slot_kind slot)
{
    const struct ptx_slot_info *info = &ptx_slots[slot];
    const struct ptx_word *w;
    unsigned value;

    if (!info->words)
        return NULL;
    value = *((const uint8_t *)inst + info->field);
    for (w = info->words; w->word; w++)
        if (info->flags ? (inst->flags & w->value) != 0 : value == w->value)
            return w->word;
    return NULL;
}

bool ptx_set_has(enum ptx_set set, enum ptx_type t)
{
    return ptx_sets[set] >> t & 1;
}

static enum ptx_type widened(enum ptx_type t)
{
    switch (t) {
    case PTX_T_U16:
        return PTX_T_U32;
    case PTX_T_S16:
        return PTX_T_S32;
    case PTX_T_U32:
        return PTX_T_U64;
    case PTX_T_S32:
        return PTX_T_S64;
    default:
        return t;
    }
}

enum ptx_type ptx_rule_type(const struct ptx_inst *inst, unsigned rule)
{
    if (rule == PTX_RULE_W0)
        return widened(inst->type[0]);
    if (rule >= PTX_RULE_T0)
        return inst->type[rule - PTX_RULE_T0];
    return rule;
}

const char *ptx_op_name(enum ptx_op op)
{
    return op > PTX_OP_NONE && op < PTX_OP_COUNT ? ptx_ops[op].name : "?";
}

enum ptx_class ptx_op_class(enum ptx_op op)
{
    return op > PTX_OP_NONE && op < PTX_OP_COUNT ? ptx_ops[op].class : PTX_CLASS_REFUSED;
}

bool ptx_operand_written(const struct ptx_inst *inst, unsigned operand)
{
    switch (ptx_forms[inst->form].opnds[operand].kind) {
    case PTX_DESC_DST:
    case PTX_DESC_DSTVEC:
    case PTX_DESC_VECDST:
    case PTX_DESC_DSTPRED:
    case PTX_DESC_PIPE:
        return true;
    default:
        return inst->op == PTX_OP_CALL && operand == 0;
    }
}
