/* The instruction table as C data, made from ptx_ops.def: what parser and printer walk. Constants
 * only. */
#ifndef GS_PTX_TABLE_H
#define GS_PTX_TABLE_H

#include "ptx/ptx.h"

#define PTX_MAX_SLOTS 13

/* Word lists of modifiers, and the field that each fills. */
enum ptx_slot_kind {
    PTX_SLOT_END,
    PTX_SLOT_TYPE,
#define SLOT(id, field, what, ...) PTX_SLOT_##id,
#include "ptx/ir/ptx_slots.def"
#undef SLOT
    PTX_SLOT_COUNT
};

enum ptx_set {
#define TYPESET(id, ...) PTX_SET_##id,
#include "ptx/ir/ptx_typesets.def"
#undef TYPESET
    PTX_SET_COUNT
};

struct ptx_slot {
    uint8_t kind; /* enum ptx_slot_kind */
    uint8_t set;  /* enum ptx_set, for PTX_SLOT_TYPE */
    bool optional;
};

enum ptx_desc_kind {
    PTX_DESC_END,
    PTX_DESC_DST,
    PTX_DESC_DSTVEC,
    PTX_DESC_SRC,
    PTX_DESC_SRCVEC,
    PTX_DESC_VEC,
    PTX_DESC_VECDST,
    PTX_DESC_PRED,
    PTX_DESC_DSTPRED,
    PTX_DESC_PIPE,
    PTX_DESC_MEM,
    PTX_DESC_INT,
    PTX_DESC_LABEL,
    PTX_DESC_TABLE,
    PTX_DESC_TEX,
    PTX_DESC_SAMPLER,
    PTX_DESC_COORD,
    PTX_DESC_CALL,
    PTX_DESC_STRING,
    PTX_DESC_NOTHING
};

/* Type rule of an operand: a type's number, or one of these. */
enum {
    PTX_RULE_T0 = 0x80,
    PTX_RULE_T1,
    PTX_RULE_T2,
    PTX_RULE_T3,
    PTX_RULE_W0,
    PTX_RULE_ANY = PTX_T_NONE
};

struct ptx_desc {
    uint8_t kind; /* enum ptx_desc_kind */
    uint8_t rule;
    bool optional;
};

struct ptx_form {
    uint16_t op;
    struct ptx_slot slots[PTX_MAX_SLOTS];    /* ends with PTX_SLOT_END unless full */
    struct ptx_desc opnds[PTX_MAX_OPERANDS]; /* ends with PTX_DESC_END */
};

struct ptx_word {
    const char *word; /* without its leading dot; NULL ends a list */
    uint32_t value;
};

struct ptx_slot_info {
    const char *what; /* "a rounding mode", for messages */
    const struct ptx_word *words;
    uint16_t field; /* offset in struct ptx_inst */
    bool flags;     /* the field is inst->flags, values are bits */
};

struct ptx_op_info {
    const char *name;
    uint8_t class;
    uint16_t first; /* of its forms */
};

extern const struct ptx_form ptx_forms[];
extern const struct ptx_op_info ptx_ops[PTX_OP_COUNT];
extern const struct ptx_slot_info ptx_slots[PTX_SLOT_COUNT];

unsigned ptx_op_form_count(enum ptx_op op);

/* The word of SLOT that stands in INST, NULL where none does. */
const char *ptx_slot_word(const struct ptx_inst *inst, enum ptx_slot_kind slot);
bool ptx_set_has(enum ptx_set set, enum ptx_type t);
/* Whether INST writes what is, or stands in, that operand. */
bool ptx_operand_written(const struct ptx_inst *inst, unsigned operand);
/* Type of an operand under RULE in INST. */
enum ptx_type ptx_rule_type(const struct ptx_inst *inst, unsigned rule);
/* "u32" to its type, PTX_T_NONE where it is none. */
enum ptx_type ptx_type_find(const char *word, size_t len);

#endif
