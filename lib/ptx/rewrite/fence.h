/*
 * fence.h - what the parts of the fence share; see fence_pass.c. Belongs to one call of
 * ptx_rewrite.
 *
 * Terms:
 *   force     to change an address so that it lies in the window
 *   off       an access goes off a register if its address is the register plus a constant
 *   stretch   the text from one label to the next, numbered from 1; control enters it only at its
 *             beginning
 *   low       a register of the fence that holds the lowest address off another register
 *             (fence_register.c)
 *   base      a pointer that is forced once, and to which a loop adds indices (fence_base.c)
 *   stride    a register that is added to a forced pointer (fence_step.c)
 *   walk      the sum of a register that advances in a loop and one that does not (fence_walk.c)
 *   reserved  a name that only gshare's passes use, never a tenant's text
 */
#ifndef GS_PTX_REWRITE_FENCE_H
#define GS_PTX_REWRITE_FENCE_H

#include "ptx/ptx.h"
#include "ptx/read/lex.h"
#include "ptx/rewrite/edit.h"
#include "ptx/rewrite/reach.h"
#include "ptx/rewrite/rewrite.h"

/* The prefix of functions that other passes add; a reserved name. In these functions accesses to
 * .global go to memory of the server, and generic ones to the tenant's (print_device.cu). */
#define FENCE_GSHARE_FUNCTION "_ZN12gshare_print"

/* A constant offset of at most FENCE_OFFSET, in either direction, stays in the instruction: even
 * the widest access at such an offset still lies within FENCE_GUARD. The rows of a matrix reach
 * half as far again. An address computed from a forced one by adding constants (fence_step.c) may
 * lie FENCE_NEAR beyond the window in a module that does not need FENCE_REACH. */
enum { FENCE_OFFSET = 1 << 20, FENCE_NEAR = FENCE_OFFSET / 2 };

/* The most bytes of a bulk copy: the shared memory of a block. */
enum { FENCE_BULK = 227 << 10 };

/* The most addresses among initial values. The worker writes them one by one when it loads the
 * module, and nothing is launched meanwhile. */
enum { FENCE_ADDRESSES = 16384 };

/* The most steps for finding all loops of a module. */
enum { FENCE_LOOP_WORK = 1 << 22 };

enum {
    FENCE_REGS = 57,    /* registers that the fence may add to a function */
    FENCE_BASES = 8,    /* bases in a function */
    FENCE_LOWS = 8,     /* lows in a stretch */
    FENCE_STRIDES = 8,  /* strides in a function */
    FENCE_WALKS = 4,    /* walks in a function */
    FENCE_TARGETS = 256 /* possible targets of an indirect call */
};

/* A low. It serves accesses off a register if some of them have negative offsets. */
struct fence_low {
    uint32_t reg;
    uint32_t stretch; /* the stretch in which the low is forced; 0: none */
    int64_t low;      /* the lowest offset, which is added to the register */
};

/* A walk, whose sum the fence keeps in a register of its own. */
struct fence_walk {
    uint32_t walker, rest; /* the register that advances, and the one that does not */
    uint32_t sum;          /* the program's register that holds the sum, too ... */
    uint32_t holds;        /* ... in this stretch; 0: in no stretch */
    uint32_t forced;       /* the stretch in which the fence's register is forced */
};

struct fence {
    const char *text; /* the tenant's text with what the other passes have added */
    const struct ptx_module *m;
    struct edits edits;
    struct reach reach;
    struct ptx_fence_report *report;
    struct ptx_left_out *left; /* the functions that are left out; NULL: the fence refuses the
                                  module if it refuses a function */
    bool strays;               /* strays are recorded */
    bool variables;            /* only moves variables and fences no access */
    bool window;               /* kernels get the window as a parameter */
    bool constant;             /* some function reads the window from FENCE_VARIABLE */
    /* By state space: the module makes generic addresses of that space, which only cvta does. If it
     * makes none, a generic address in that space is a stray. */
    bool generic[PTX_SPACE_COUNT];
    /* Which functions may hold an address of a caller's local variable: all of them, or some, by
     * ptx_func.id. */
    bool escapes, *gets_locals;
    bool refused;
    uint64_t frames_bytes; /* the size of the module's FENCE_STACK, see fence_frames.c */

    const struct ptx_func *f;    /* the current function; the fields below describe it */
    unsigned locals;             /* the number of its .local variables (fence_stack.c) */
    const struct ptx_var *stack; /* the only one of them; NULL: there is none, or several */
    const char *stack_name;      /* stores are bounded to the memory that begins here ... */
    uint64_t stack_bytes;        /* ... and has this size; 0: no store is bounded */
    bool owns_locals;            /* each local address in the function lies in that memory */
    uint32_t *definitions;       /* see definitions_find */
    bool *labelled;              /* for each instruction: control may come from elsewhere */
    bool plain;                  /* no scope in the function reuses the name of a register */
    uint32_t *forced; /* for each register: in which stretch its address lies in the window ... */
    uint64_t *beyond; /* ... or at most this many bytes beyond the window's ends */
    bool *compared;   /* for each register: a comparison depends on it */
    uint32_t stretch; /* the number of the current stretch */
    struct fence_low lows[FENCE_LOWS];
    unsigned nlows, next_low;    /* how many registers are declared for them; the next to use */
    uint32_t bases[FENCE_BASES]; /* the registers of the bases */
    unsigned nbases;
    uint32_t strides[FENCE_STRIDES]; /* the registers of the strides */
    unsigned nstrides;
    struct fence_walk walks[FENCE_WALKS];
    unsigned nwalks;
    uint32_t *loop, *loop_end;   /* see fence_loops_begin */
    uint32_t loop_work;          /* steps taken so far, in the module, to find loops ... */
    uint64_t call_work;          /* ... targets of indirect calls ... */
    uint64_t live_work;          /* ... and live registers (fence_size.c) */
    const struct ptx_inst *inst; /* the current instruction */
    uint8_t *waits; /* for each instruction (fence_products.c); NULL: there are no products */
    uint32_t map;   /* the function's register FENCE_MAP, or PTX_NO_REG */
};

/* ---- fence_instruction.c ---- */

/* Fences, drops or refuses the current instruction. */
bool fence_instruction(struct fence *fence);
/* Whether the pragma leaves intact what the fence relies on. */
bool fence_pragma_is_harmless(const char *text);

/* ---- fence_size.c ---- */

/* Whether the current function is small enough for the compiler. If not, it is refused. */
bool fence_size(struct fence *fence);
/* Whether all functions of the module, with their fences, are small enough together. */
bool fence_size_of_all(struct fence *fence, const struct ptx_module *m);

/* ---- fence_globals.c ---- */

/* Gives each variable of the module its offset in the block of variables, and fills the report. */
bool fence_globals(struct fence *fence);
/* Whether the variable is in .const and its initial values contain addresses of other variables.
 * The caller of ptx_rewrite writes these addresses. */
bool fence_is_bound(const struct ptx_var *v);
/* Whether the variable lies in the block, and its offset there. */
bool fence_is_moved(const struct ptx_var *v);
uint64_t fence_block_offset(const struct ptx_var *v);

/* ---- fence_window.c ---- */

/* Makes the current function, which has a body, load the window into registers at its beginning. A
 * kernel loads it from a hidden parameter, which is added behind its own and named in the report. A
 * kernel without room for the parameter, and any other function, loads it from FENCE_VARIABLE.
 * False: no memory. */
bool fence_window_begin(struct fence *fence);

/* ---- fence_access.c ---- */

/* Fences an operand of the current instruction that is an address in brackets, generic or global.
 */
bool fence_access(struct fence *fence, unsigned operand, bool generic, uint64_t bytes);

/* Fences the current instruction, which is a bulk copy or reduction. */
bool fence_bulk(struct fence *fence);

/* The number of bytes that the instruction accesses, from its address on. */
uint64_t fence_access_bytes(const struct ptx_inst *inst);

/* The text that forces an address: it puts the forced value of a register, which is a %s, into the
 * register TO. */
#define FENCE_FORCE(to)                                                                            \
    "and.b64 gshare$far, %s, gshare$inside; or.b64 " to ", gshare$far, gshare$start; "

/* ---- fence_generic.c ---- */

/* Finds the state spaces of which the module makes generic addresses. */
void fence_find_generic(struct fence *fence);
/* Whether the module may have generic addresses of state spaces other than global memory. */
bool fence_knows_other_spaces(const struct fence *fence);

/* The address of a load, store or atomic that goes off a register and reaches global memory
 * whatever the register holds; NULL: the instruction is no such access. */
const struct ptx_mem *fence_register_access(const struct fence *fence, const struct ptx_inst *inst);

/* ---- fence_variables.c ---- */

/* Makes a function that is not fenced use the module's variables at their new places. */
bool fence_variables(struct fence *fence, const struct ptx_func *f);

/* ---- fence_sum.c ---- */

/* BASE + INDEX * FACTOR, with a 32-bit index. */
struct fence_sum {
    uint32_t base, index; /* registers */
    uint32_t product;     /* the register of INDEX * FACTOR; PTX_NO_REG: it has none */
    unsigned factor;
    bool is_signed; /* the index */
};

/* The largest distance between the sum and its base. */
uint64_t fence_sum_bound(const struct fence_sum *sum);
/* Whether the operand is a register as wide as an address. */
bool fence_is_address(const struct fence *fence, const struct ptx_operand *o);
/* Whether the instruction adds 64-bit integers. */
bool fence_adds_addresses(const struct ptx_inst *inst);
/* Whether a mul or mad multiplies 32 bits by a constant and its bound is at most FENCE_REACH. If
 * so, sets SUM's factor. */
bool fence_is_product(const struct ptx_inst *inst, struct fence_sum *sum);
/* Whether the value that instruction AT reads from the register is such a sum, with an unsigned
 * index and a bound of at most FENCE_REACH, and its base and index still have the same values at
 * AT. */
bool fence_sum(const struct fence *fence, uint32_t at, uint32_t reg, struct fence_sum *sum);
/* Whether, besides the sum off which instruction AT goes, another sum near it has its product. */
bool fence_sum_shares_product(const struct fence *fence, uint32_t at, const struct fence_sum *sum);
/* The only instruction that writes the register, if the register is a stride: INDEX * FACTOR with a
 * bound of at most FENCE_REACH, and the instruction does not overwrite the index. NULL: the
 * register is no stride. */
const struct ptx_inst *fence_stride(const struct fence *fence, uint32_t reg, struct fence_sum *sum);

/* ---- fence_loop.c ---- */

/* Finds the loops of the current function. loop, for each instruction: 1 + the first instruction,
 * in the order of the text, of the innermost loop around it; 0: it is in no loop. loop_end, by that
 * number: the instruction behind the loop. Both are NULL if there is no memory or loops are nested
 * too deeply. */
void fence_loops_begin(struct fence *fence);

/* ---- fence_base.c ---- */

/* Chooses the bases of the current function and fences them. False: no memory. */
bool fence_bases_begin(struct fence *fence);
/* Makes the current instruction's access go off a base: to the sum in gshare$at, which lies within
 * FENCE_REACH of the window. False: the address has no base. */
bool fence_off_base(struct fence *fence, const struct ptx_mem *mem);

/* ---- fence_symbol.c ---- */

/* Replaces addresses of variables that the current instruction uses as values. */
bool fence_symbols(struct fence *fence);

/* ---- fence_matrix.c ---- */

/* Fences wmma.load and wmma.store, whose row stride is only known at run time. */
bool fence_matrix(struct fence *fence, bool generic);

/* ---- fence_maps.c ---- */

/* The registers that hold addresses of tensor maps, and nothing else. */
#define FENCE_MAP       "gshare$map"
#define FENCE_OTHER_MAP "gshare$other"

/* The register that holds the generic address of the tensor map that the instruction uses;
 * PTX_NO_REG: it uses none. */
uint32_t fence_map_register(const struct ptx_inst *inst);

/* ---- fence_products.c ---- */

/* Finds where the current function must wait for its products. False: no memory, or refused. */
bool fence_products_begin(struct fence *fence);
/* Adds the waits that instruction I, or the function's end, needs before it. False: the function is
 * refused. */
bool fence_products(struct fence *fence, uint32_t i);

/* ---- fence_param.c ---- */

/* Fences a load of parameters: it must lie inside one parameter, or is bounded to the kernel's
 * parameters. */
bool fence_param(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes);
/* Whether the instruction makes a generic address of a parameter for the tenant; whether the kernel
 * has such an instruction; whether the kernel's parameters can be copied. */
bool fence_makes_parameter_address(const struct ptx_func *f, const struct ptx_inst *inst);
bool fence_copies_parameters(const struct ptx_func *f);
bool fence_can_copy_parameters(const struct ptx_func *f);
/* Makes the kernel copy the parameters whose address it takes to FENCE_STACK, from offset TO on. */
void fence_copy_parameters(struct fence *fence, const struct ptx_func *f, uint64_t to);
/* Makes the current instruction yield the address of the copy, which lies AT bytes into the frame.
 */
void fence_parameter_address(struct fence *fence, uint64_t at);

/* ---- fence_stack.c ---- */

/* Finds the memory to which the stores of the current function are bounded. */
void fence_stack_begin(struct fence *fence);
/* Whether the current instruction's store may hit any byte of the thread's stack. */
bool fence_stack_reports(const struct fence *fence, const struct ptx_mem *mem, uint64_t bytes);
/* Bounds a store to local memory to its variable, or records the store in the report. */
void fence_stack(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes);
/* What the current instruction may do to local memory through a generic address. */
enum fence_local {
    FENCE_LOCAL_ANY,     /* it loads; or it stores anywhere, which fence_stack records */
    FENCE_LOCAL_NEVER,   /* it does not reach local memory: a local address is a stray */
    FENCE_LOCAL_BOUNDED, /* its address is bounded to the function's variable first */
};
enum fence_local fence_local(const struct fence *fence, uint64_t bytes);
/* Puts the address FROM into gshare$at, bounded to the function's variable if it is local. */
void fence_bound_generic(struct fence *fence, const char *from, uint64_t bytes);

/* ---- fence_escape.c ---- */

/* Finds the functions that may hold an address of a caller's local variable. False: no memory. */
bool fence_escapes(struct fence *fence);

/* ---- fence_frames.c ---- */

/* FENCE_STACK is the variable of a kernel that holds the local variables to which called functions
 * may store. A function with a frame in it gets FENCE_BOTTOM and FENCE_FRAME as parameters. */
#define FENCE_STACK  "gshare$stack"
#define FENCE_BOTTOM "gshare$bottom"
#define FENCE_FRAME  "gshare$frame"
#define FENCE_TOP    "gshare$top"
enum { FENCE_FRAME_PARAMS = 2, FENCE_FRAME_ALIGN = 16 };

/* The size of FENCE_STACK, the same in each kernel that has it; 0: no kernel has it. */
uint64_t fence_frames_bytes(const struct ptx_module *m);
/* Whether the function has a frame in FENCE_STACK. */
bool fence_has_frame(const struct ptx_func *f);
/* The function's register of that name, or PTX_NO_REG. */
uint32_t fence_register_named(const struct ptx_func *f, const char *name);

/* ---- fence_texture.c ---- */

/* Makes a texture or surface instruction take its object from the session's table. */
bool fence_texture(struct fence *fence);

/* ---- fence_jump.c ---- */

/* Checks that an alias has the same parameters as the function that it stands for, since it is
 * called as it is declared. */
bool fence_alias(struct fence *fence, const struct ptx_func *f);
bool fence_call(struct fence *fence);
bool fence_brx(struct fence *fence);

/* ---- fence_text.c ---- */

bool fence_is_reserved_name(const char *name);
bool fence_is_gshare_function(const struct ptx_func *f);
/* Whether another pass has added the register to the function. */
bool fence_is_added_register(const struct ptx_func *f, uint32_t reg);

/* Refuses the current function; only the first reason is kept. Returns false. */
bool fence_refuse(struct fence *fence, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct fence_span {
    const char *text;
    size_t len;
};

/* The N-th "[...]" of the current instruction, with the brackets; *NAME: the first name within. */
struct fence_span fence_brackets(const struct fence *fence, unsigned n, struct fence_span *name);
/* The N-th operand, as text. Operands are separated by commas outside of braces, brackets and
 * parentheses. */
struct fence_span fence_operand(const struct fence *fence, unsigned n);
/* Positions LEXER behind the opcode of the current instruction; T becomes the first token of the
 * operands. */
void fence_operands(const struct fence *fence, struct lexer *lexer, struct token *t);
bool fence_token_is_end(const struct token *t);
/* The opcode of the current instruction, with its modifiers. */
struct fence_span fence_opcode(const struct fence *fence);
/* Replaces SPAN by WITH. */
void fence_replace(struct fence *fence, struct fence_span span, const char *with);
/* Removes the current instruction from the text. */
void fence_remove(struct fence *fence);
/* Inserts text before the current instruction, behind earlier insertions there. */
void fence_before(struct fence *fence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- fence_register.c ---- */

/* Fences the current instruction's access off a register, which the text calls NAME. False: this
 * access cannot be fenced by forcing its register. */
bool fence_off_register(struct fence *fence, const struct ptx_mem *mem, const char *name,
                        struct fence_span brackets);
/* Whether the register is a parameter of the function: its first value comes from the caller. */
bool fence_is_parameter(const struct ptx_func *f, uint32_t reg);
/* Prepares a function. False: no memory. */
bool fence_registers_begin(struct fence *fence);
/* Records that the current instruction writes its registers. BEYOND: the most by which the address
 * in the first of them lies beyond the window; NULL: it may lie anywhere. */
void fence_registers_written(struct fence *fence, const uint64_t *beyond);
/* Whether the register is forced, or will be for an access that always follows. */
bool fence_will_be_forced(const struct fence *fence, uint32_t reg);
/* Forces the register, which the text calls NAME, before the current instruction, unless it is
 * forced already. */
void fence_force_now(struct fence *fence, uint32_t reg, const char *name);
/* Whether an access follows that goes off the value that the current instruction writes to the
 * register. */
bool fence_will_be_accessed(const struct fence *fence, uint32_t reg);
/* As above, where one of the accesses always runs and none has a negative offset. */
bool fence_will_always_be_accessed(const struct fence *fence, uint32_t reg);

/* ---- fence_step.c ---- */

/* Whether the current instruction adds a stride to a forced pointer, and an access goes off the
 * sum. *BEYOND: the most by which the sum lies beyond the window. */
bool fence_step(struct fence *fence, uint64_t *beyond);

/* ---- fence_walk.c ---- */

/* Chooses the walks of the current function. False: no memory. */
bool fence_walks_begin(struct fence *fence);
/* Makes the current instruction's access, whose offset may stay in the instruction, go off a walk.
 * False: no walk has the sum here, or the walk is not forced yet and the access does not always
 * run. */
bool fence_off_walk(struct fence *fence, const struct ptx_mem *mem, struct fence_span brackets);
/* Records that the current instruction writes its registers. */
void fence_walks_written(struct fence *fence);

#endif
