// Shared by the lowerings of integers, bits and comparisons: handlers selected by the instruction's
// type, and operands read as that type. Part of one lowering, see lower.h.
#ifndef GS_SOFTCUDA_LOWER_TYPED_H
#define GS_SOFTCUDA_LOWER_TYPED_H

#include "softcuda/lower/lower.h"

// Columns for types in tables of handlers; NOT_THERE: the type has no handler.
enum { U16, S16, U32, S32, U64, S64, KINDS };
#define NOT_THERE ALU_COUNT

static inline const struct ptx_operand *op(const struct lower *L, unsigned i)
{
    return &L->inst->ops[i];
}

static inline enum ptx_type type(const struct lower *L, unsigned i)
{
    return (enum ptx_type)L->inst->type[i];
}

// Returns the slot width for the first type.
static inline unsigned bits(const struct lower *L)
{
    return lower_type_bits(type(L, 0));
}

int lower_kind(enum ptx_type t); // the type's column; -1: it has none
// Selects the row's handler for the instruction's type; an error if there is none.
enum alu lower_pick(struct lower *L, const enum alu row[KINDS]);
// Emits d = a ALU b or d = ALU a, in the instruction's type; the result of a unary operation has
// RESULT_BITS.
void lower_binary(struct lower *L, enum alu alu);
void lower_unary(struct lower *L, enum alu alu, unsigned result_bits);
// Emits d = ALU(a, b, c) in 32 bits.
void lower_ternary32(struct lower *L, enum alu alu, uint64_t imm, uint16_t flags);
// Emits d = a BOP b, for predicates.
void lower_bool(struct lower *L, enum ptx_bop bop, uint32_t d, uint32_t a, uint32_t b);

#endif
