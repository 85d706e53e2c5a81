/* What the parts of the checker share; see fence_check.c. "Always" means without a guard; "right
 * before", without a label in between. */
#ifndef GS_PTX_REWRITE_FENCE_CHECK_H
#define GS_PTX_REWRITE_FENCE_CHECK_H

#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"

enum { MOST_FIXED = 8, MOST_STRIDES = 8 };
enum { CHECKER_BULK = 227 << 10 }; /* the most bytes of a bulk copy */

struct checker {
    const struct ptx_module *m;
    const struct ptx_func *f;
    bool own;       /* the function is gshare's own */
    bool *labelled; /* for each instruction: control may come from elsewhere */
    /* For each register: the last stretch (the text from one label to the next) in which its
     * address lies in the window or at most `beyond` bytes outside of its ends. */
    uint32_t *forced;
    uint64_t *beyond;
    uint32_t stretch; /* the number of the current stretch */
    bool stack;       /* a store may hit any byte of the thread's stack */
    bool indexed;     /* an access may lie beyond the window and its guard */
    const struct ptx_fence_report *report;
    uint64_t stack_bytes; /* size of gshare$stack in every kernel that has it */
    uint32_t bottom;      /* register with the address of gshare$stack, or PTX_NO_REG */
    uint32_t mask, base, inside, start, far, globals, at, fixed[MOST_FIXED]; /* registers */
    uint32_t map, other;   /* registers with addresses of tensor maps */
    uint64_t product_work; /* steps of fence_check_products.c so far, in the module */
    uint32_t strides[MOST_STRIDES];
    uint64_t stride_bound[MOST_STRIDES]; /* the largest value of each */
    uint32_t begun;                      /* the number of instructions in the pass's prologue */
    char *why;
    size_t why_size;
};

/* ---- fence_check_inst.c ---- */

/* Reports what is wrong with instruction I or, if I is too large, with the function. Returns false.
 */
bool checker_fails(struct checker *c, uint32_t i, const char *what);
/* Whether the name is reserved: no tenant's text may contain it. */
bool checker_is_reserved(const char *name);
/* Whether the function is gshare's own. */
bool checker_is_gshare_function(const struct ptx_func *f);
/* Whether the printed form of instruction I is FORMAT. */
bool checker_reads(const struct checker *c, uint32_t i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether the instructions that always run right before *I are those of FORMAT, one per line, in
 * the order in which they run. If so, *I becomes the index of the first. */
bool checker_precedes(const struct checker *c, uint32_t *i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether the operand is the register, or contains it. */
bool checker_mentions(const struct ptx_operand *o, uint32_t reg);
/* The function's register of that name, or PTX_NO_REG. */
uint32_t checker_register(const struct checker *c, const char *name);

/* The bytes that the instruction accesses from its address on. Computed independently of the pass,
 * so that a mistake there is found here. */
uint64_t checker_access_bytes(const struct ptx_inst *inst);
/* Whether the tenant's instruction writes memory. */
bool checker_is_store(const struct checker *c, const struct ptx_inst *inst);

/* ---- fence_check_access.c ---- */

/* Whether instruction I is always "OP.b64 a register, another one, LAST". It compares register
 * numbers, since a tenant's names may be longer than checker_reads can compare. */
bool checker_combines(const struct checker *c, uint32_t i, enum ptx_op op, uint32_t last);
/* Whether instruction I is "gshare$far = a register & gshare$inside". */
bool checker_goes_inside(const struct checker *c, uint32_t i);
/* Whether the instruction that always runs right before instruction I is that. */
bool checker_is_inside(const struct checker *c, uint32_t i);

/* Whether instruction I may use the address in that state space; if not, it reports why. */
bool checker_address(struct checker *c, uint32_t i, const struct ptx_mem *mem, unsigned space);
/* The largest product that the instruction adds: 32 bits times a constant, by a mul or mad.
 * UINT64_MAX: unknown. */
uint64_t checker_product_bound(const struct ptx_inst *inst);
/* Whether instruction I adds a constant, a stride, or 32 bits times a constant to a register whose
 * address lies in or near the window. *DISTANCE: the most by which the sum lies beyond the window.
 */
bool checker_is_step(const struct checker *c, uint32_t i, uint64_t *distance);

/* ---- fence_check_param.c ---- */

/* Whether instruction I may load from the parameter; if not, it reports why. */
bool checker_parameter(struct checker *c, uint32_t i, const struct ptx_mem *mem);

/* ---- fence_check_stack.c ---- */

/* Checks the function's gshare$bottom: a kernel's first mention of gshare$bottom sets it, and no
 * jump avoids that instruction. */
bool checker_bottom(struct checker *c);
/* Whether a call of a function that has gshare$bottom passes the caller's. */
bool checker_passes_bottom(const struct checker *c, const struct ptx_inst *call,
                           const struct ptx_func *callee);
/* The size of the smallest gshare$stack, which is valid for every kernel that has one. */
uint64_t checker_stack_bytes(const struct ptx_module *m);
/* Whether right before instruction I the address gshare$at, if it is local, was bounded to a
 * variable of the function, so that the next BYTES belong to the variable. */
bool checker_is_bounded_if_local(const struct checker *c, uint32_t i, uint64_t bytes);
/* Whether the instruction is a store whose state space is known from its text and that may write
 * any byte of the thread's stack. */
bool checker_may_hit_stack(const struct checker *c, uint32_t i, const struct ptx_mem *mem);

/* ---- fence_check_jump.c ---- */

/* Whether instruction I, a call, goes to a function of the module; if not, it reports why. */
bool checker_call(struct checker *c, uint32_t i);
/* Whether the index of instruction I, a brx.idx, is bounded; if not, it reports why. */
bool checker_brx(struct checker *c, uint32_t i);
/* Checks the parameters of an alias, which is called as it is declared and runs the function that
 * it stands for. */
bool checker_alias(struct checker *c);

/* ---- fence_check_texture.c ---- */

/* Whether instruction I loads from the texture table, from a row that a ten-bit number selects. */
bool checker_is_table_load(const struct checker *c, uint32_t i);
/* What is wrong with a texture or surface instruction; NULL: nothing. */
const char *checker_texture(const struct checker *c, uint32_t i);

/* ---- fence_check_maps.c ---- */

/* What is wrong with instruction I, if it uses a tensor map or mentions the address of one; NULL:
 * nothing. */
const char *checker_map(const struct checker *c, uint32_t i);

/* ---- fence_check_products.c ---- */

/* 0; -EPERM: a product may be in progress where none may be, which the checker has reported;
 * -ENOMEM. */
int checker_products(struct checker *c);

#endif
