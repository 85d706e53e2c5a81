/* What the files of the checker share: see fence_check.c. */
#ifndef GS_PTX_REWRITE_FENCE_CHECK_H
#define GS_PTX_REWRITE_FENCE_CHECK_H

#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"

enum { MOST_FIXED = 8, MOST_STRIDES = 8 };

struct checker {
    const struct ptx_module *m;
    const struct ptx_func *f;
    bool own;       /* f is gshare's own */
    bool *labelled; /* by instruction: control may come from elsewhere */
    /* By register: the last stretch of text, without labels, in which its address lies in the
     * window or `beyond` bytes at most outside of its ends. */
    uint32_t *forced;
    uint64_t *beyond;
    uint32_t stretch; /* the number of the stretch that is being checked */
    bool stack;       /* a store may hit any byte of it */
    bool indexed;     /* an access may lie beyond the window and its guard */
    const struct ptx_fence_report *report;
    uint64_t stack_bytes; /* of gshare$stack in every kernel that has it */
    uint32_t bottom;      /* register with its address; PTX_NO_REG: the function has none */
    uint32_t mask, base, inside, start, far, globals, at, fixed[MOST_FIXED]; /* registers */
    uint32_t map, other;   /* registers with a tensor map's address */
    uint64_t product_work; /* of fence_check_products.c so far, in the module */
    uint32_t strides[MOST_STRIDES];
    uint64_t stride_bound[MOST_STRIDES]; /* the most that the register holds */
    uint32_t begun;                      /* the number of instructions that the pass begins with */
    char *why;
    size_t why_size;
};

/* ---- fence_check_text.c ---- */

/* Says what is wrong with instruction I, or, beyond the last one, with the function. False. */
bool checker_fails(struct checker *c, uint32_t i, const char *what);
/* Whether the name is one that no tenant's text may hold. */
bool checker_is_reserved(const char *name);
/* Whether instruction I reads as FORMAT says. */
bool checker_reads(const struct checker *c, uint32_t i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether the instructions that always run right before *I read so: as many as FORMAT has lines, in
 * the order in which they run. If so, *I becomes the index of the first. */
bool checker_precedes(const struct checker *c, uint32_t *i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether the operand is, or has in it, the register. */
bool checker_mentions(const struct ptx_operand *o, uint32_t reg);
/* The function's register of that name, or PTX_NO_REG. */
uint32_t checker_register(const struct checker *c, const char *name);

/* ---- fence_check_access.c ---- */

/* Whether instruction I always is "OP.b64 a register, another one, LAST". (By numbers, since a
 * tenant's names may be longer than what checker_reads compares.) */
bool checker_combines(const struct checker *c, uint32_t i, enum ptx_op op, uint32_t last);
/* Whether instruction I leaves in gshare$far the bits of a register that gshare$inside has. */
bool checker_goes_inside(const struct checker *c, uint32_t i);
/* Whether what always runs right before instruction I does. */
bool checker_is_inside(const struct checker *c, uint32_t i);

/* Whether instruction I may use the address in that state space; if not, it has said why. */
bool checker_address(struct checker *c, uint32_t i, const struct ptx_mem *mem, unsigned space);
/* How far a product of 32 bits and a constant, by a mul or mad, leads from where it is added. */
uint64_t checker_product_bound(const struct ptx_inst *inst);
/* Whether instruction I adds a constant, a stride, or a product of 32 bits and a constant, to a
 * register whose address lies in the window or not far beyond. *distance: how far beyond the sum
 * lies at most. */
bool checker_is_step(const struct checker *c, uint32_t i, uint64_t *distance);
/* Whether an access that is not told apart at run time may write any byte of the thread's stack. */
bool checker_may_hit_stack(const struct checker *c, uint32_t i, const struct ptx_mem *mem);

/* ---- fence_check_texture.c ---- */

/* Whether instruction I loads from the texture table: a row that a number of ten bits names. */
bool checker_is_table_load(const struct checker *c, uint32_t i);
/* NULL, or what is wrong with an instruction of textures or surfaces. */
const char *checker_texture(const struct checker *c, uint32_t i);

/* ---- fence_check_maps.c ---- */

/* NULL, or what is wrong with instruction I, if it reads a tensor map or mentions an address of
 * one. */
const char *checker_map(const struct checker *c, uint32_t i);

/* ---- fence_check_products.c ---- */

/* 0; -EPERM: a product may be under way where it must not, which the checker has said; -ENOMEM. */
int checker_products(struct checker *c);

#endif
