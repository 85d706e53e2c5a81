/*
 * fence.h - what the parts of the fence share; see fence_pass.c. Belongs to one call of
 * ptx_rewrite.
 *
 * Terms:
 *   force     to change an address so that it lies in the window
 *   off       an access goes off a register if its address is the register plus a constant
 *   stretch   the text from one label to the next, numbered from 1 on; it runs from its beginning
 *   low       a register of the fence's with the lowest address off a register (fence_register.c)
 *   base      a pointer that is forced once, and to which a loop adds indices (fence_base.c)
 *   stride    what is added to a forced pointer (fence_step.c)
 *   walk      a sum of a register that moves through a loop and of one that does not (fence_walk.c)
 *   reserved  a name that only gshare's passes use, never a tenant's text
 */
#ifndef GS_PTX_REWRITE_FENCE_H
#define GS_PTX_REWRITE_FENCE_H

#include "ptx/ptx.h"
#include "ptx/read/lex.h"
#include "ptx/rewrite/edit.h"
#include "ptx/rewrite/reach.h"
#include "ptx/rewrite/rewrite.h"

/* How the names of functions begin that other passes add. No name of a tenant's begins so. In these
 * functions accesses to .global go to memory of the server, and generic ones to the tenant's
 * (print_device.cu). */
#define FENCE_GSHARE_FUNCTION "_ZN12gshare_print"

/* A constant offset of at most FENCE_OFFSET, in either direction, stays in the instruction: with
 * the widest access behind it, it still lies within FENCE_GUARD. The rows of a matrix reach half as
 * far again. An address that is made of a forced one by constants (fence_step.c) may lie FENCE_NEAR
 * beyond the window in a module that does not need FENCE_REACH. */
enum { FENCE_OFFSET = 1 << 20, FENCE_NEAR = FENCE_OFFSET / 2 };

/* The most bytes of a bulk copy: the shared memory that a block can have. */
enum { FENCE_BULK = 227 << 10 };

/* The most addresses among initial values: the worker writes them one by one when it loads the
 * module, and nobody launches meanwhile. */
enum { FENCE_ADDRESSES = 16384 };

/* The most steps for finding the loops of a module. */
enum { FENCE_LOOP_WORK = 1 << 22 };

enum {
    FENCE_REGS = 57,    /* registers that a function may get from the fence */
    FENCE_BASES = 8,    /* bases of a function */
    FENCE_LOWS = 8,     /* lows of a stretch */
    FENCE_STRIDES = 8,  /* strides of a function */
    FENCE_WALKS = 4,    /* walks of a function */
    FENCE_TARGETS = 256 /* functions that an indirect call may go to */
};

/* A low, for accesses off a register some of which have negative offsets. */
struct fence_low {
    uint32_t reg;
    uint32_t stretch; /* the stretch in which the low is forced; 0: none */
    int64_t low;      /* the lowest offset, which is added to the register */
};

/* A walk, whose sum is in a register of the fence's. */
struct fence_walk {
    uint32_t walker, rest; /* the register that moves, and the one that does not */
    uint32_t sum;          /* a register of the program's that has the sum, too ... */
    uint32_t holds;        /* ... in this stretch; 0: in none */
    uint32_t forced;       /* the stretch in which the fence's register is forced */
};

struct fence {
    const char *text; /* the tenant's text with what the other passes have added */
    const struct ptx_module *m;
    struct edits edits;
    struct reach reach;
    struct ptx_fence_report *report;
    struct ptx_left_out *left; /* the functions that are left out; NULL: one that is refused
                                  refuses the module */
    bool strays;               /* strays are recorded */
    bool variables;            /* only variables are moved, and no access is fenced */
    bool window;               /* kernels have the window as a parameter */
    bool constant;             /* some function has the window from FENCE_VARIABLE */
    /* By space: the module makes generic addresses of the space, which only cvta does. Where it
     * makes none, a generic address that lies there is a stray. */
    bool generic[PTX_SPACE_COUNT];
    /* All functions may have an address of a caller's local variable; or, by ptx_func.id, some. */
    bool escapes, *gets_locals;
    bool refused;
    uint64_t frames_bytes; /* the size of the module's FENCE_STACK, see fence_frames.c */

    const struct ptx_func *f;    /* the current function, and what is known of it */
    unsigned locals;             /* the number of its .local variables (fence_stack.c) */
    const struct ptx_var *stack; /* the only one of them; NULL: there is none, or several */
    const char *stack_name;      /* a store is bounded to the memory that begins here ... */
    uint64_t stack_bytes;        /* ... and has so many bytes; 0: no store is bounded */
    bool owns_locals;            /* each local address in the function lies in that memory */
    uint32_t *definitions;       /* see definitions_find */
    bool *labelled;              /* by instruction: control may come from elsewhere */
    bool plain;                  /* no scope in it gives a register the name of another one */
    uint32_t *forced; /* by register: the stretch in which its address lies in the window ... */
    uint64_t *beyond; /* ... or so many bytes at most beyond the window's ends */
    bool *compared;   /* by register: a comparison depends on it */
    uint32_t stretch; /* the number of the current stretch */
    struct fence_low lows[FENCE_LOWS];
    unsigned nlows, next_low; /* how many registers of lows are declared; the next one's number */
    uint32_t bases[FENCE_BASES]; /* the registers of the bases */
    unsigned nbases;
    uint32_t strides[FENCE_STRIDES]; /* the registers of the strides */
    unsigned nstrides;
    struct fence_walk walks[FENCE_WALKS];
    unsigned nwalks;
    uint32_t *loop, *loop_end;   /* see fence_loops_begin */
    uint32_t loop_work;          /* steps so far, in the module, to find loops ... */
    uint64_t call_work;          /* ... the functions of calls by an address ... */
    uint64_t live_work;          /* ... and the registers that live at once (fence_size.c) */
    const struct ptx_inst *inst; /* the current instruction */
    uint8_t *waits; /* by instruction, see fence_products.c; NULL: the function has no products */
    uint32_t map;   /* FENCE_MAP of the function, or PTX_NO_REG */
};

/* ---- fence_instruction.c ---- */

/* Fences the current instruction, drops or refuses it. */
bool fence_instruction(struct fence *fence);
/* Whether a pragma changes nothing that the fence relies on. */
bool fence_pragma_is_harmless(const char *text);

/* ---- fence_size.c ---- */

/* Whether the current function is small enough for the compiler. Else the function is refused. */
bool fence_size(struct fence *fence);
/* Whether all functions of the module, with their fences, are so together. */
bool fence_size_of_all(struct fence *fence, const struct ptx_module *m);

/* ---- fence_globals.c ---- */

/* Gives each variable of the module its offset in the block of variables, and fills the report. */
bool fence_globals(struct fence *fence);
/* Whether the variable is in .const and has addresses of other variables for initial values: the
 * caller of ptx_rewrite writes all of these addresses. */
bool fence_is_bound(const struct ptx_var *v);
/* Whether the variable lies in the block; and its offset there. */
bool fence_is_moved(const struct ptx_var *v);
uint64_t fence_block_offset(const struct ptx_var *v);

/* ---- fence_window.c ---- */

/* Has the current function, which has a body, begin by loading the window into registers. A kernel
 * loads it from a hidden parameter behind its own, which is added and named in the report; a kernel
 * without room for one, and any other function, from FENCE_VARIABLE. False: no memory. */
bool fence_window_begin(struct fence *fence);

/* ---- fence_access.c ---- */

/* Fences the operand of the current instruction that is an address in brackets, which is generic or
 * global. */
bool fence_access(struct fence *fence, unsigned operand, bool generic, uint64_t bytes);

/* The same for a bulk copy or reduction, which is the current instruction. */
bool fence_bulk(struct fence *fence);

/* The bytes that the instruction accesses from its address on. */
uint64_t fence_access_bytes(const struct ptx_inst *inst);

/* The text that forces an address: the register TO becomes the forced value of a register, a %s. */
#define FENCE_FORCE(to)                                                                            \
    "and.b64 gshare$far, %s, gshare$inside; or.b64 " to ", gshare$far, gshare$start; "

/* ---- fence_generic.c ---- */

/* Finds out of which spaces the module makes generic addresses. */
void fence_find_generic(struct fence *fence);
/* Whether the module may have generic addresses of other spaces than global memory. */
bool fence_knows_other_spaces(const struct fence *fence);

/* The address of a load, store or atomic that goes off a register, and to global memory whatever
 * the register holds; NULL: the instruction is none of these. */
const struct ptx_mem *fence_register_access(const struct fence *fence, const struct ptx_inst *inst);

/* ---- fence_variables.c ---- */

/* Has a function that is not fenced find the module's variables at their new places. */
bool fence_variables(struct fence *fence, const struct ptx_func *f);

/* ---- fence_sum.c ---- */

/* BASE + INDEX * FACTOR, with an index of 32 bits. */
struct fence_sum {
    uint32_t base, index; /* registers */
    unsigned factor;
    bool is_signed; /* the index */
};

/* How far the sum leads from its base at most. */
uint64_t fence_sum_bound(const struct fence_sum *sum);
/* Whether the operand is a register as wide as an address. */
bool fence_is_address(const struct fence *fence, const struct ptx_operand *o);
/* Whether the instruction is a sum of integers of 64 bits. */
bool fence_adds_addresses(const struct ptx_inst *inst);
/* Whether a mul or mad multiplies 32 bits by a constant, so that the bound is FENCE_REACH at most.
 * Sets SUM's factor. */
bool fence_is_product(const struct ptx_inst *inst, struct fence_sum *sum);
/* Whether the value that instruction AT reads from the register is such a sum, with an unsigned
 * index and a bound of at most FENCE_REACH, whose base and index still have the same values at AT.
 */
bool fence_sum(const struct fence *fence, uint32_t at, uint32_t reg, struct fence_sum *sum);
/* The only instruction that writes the register, if that makes it a stride: INDEX * FACTOR with a
 * bound of at most FENCE_REACH, where the instruction leaves the index as it is. NULL: the register
 * is no stride. */
const struct ptx_inst *fence_stride(const struct fence *fence, uint32_t reg, struct fence_sum *sum);

/* ---- fence_loop.c ---- */

/* Finds the loops of the current function. loop, by instruction: 1 + the first instruction of the
 * innermost loop around it, in the order of the text; 0: there is none. loop_end, by that number:
 * the instruction behind the loop. Both are NULL without memory, or where too many loops lie in one
 * another. */
void fence_loops_begin(struct fence *fence);

/* ---- fence_base.c ---- */

/* Chooses the bases of the current function and fences them. False: no memory. */
bool fence_bases_begin(struct fence *fence);
/* Has the current instruction's access go off a base, by the sum in gshare$at, which lies within
 * FENCE_REACH of the window. False: its address has no base. */
bool fence_off_base(struct fence *fence, const struct ptx_mem *mem);

/* ---- fence_symbol.c ---- */

/* Replaces addresses of variables that the current instruction takes as values. */
bool fence_symbols(struct fence *fence);

/* ---- fence_matrix.c ---- */

/* Fences wmma.load and wmma.store, whose rows lie as far apart as the kernel says at run time. */
bool fence_matrix(struct fence *fence, bool generic);

/* ---- fence_maps.c ---- */

/* The names of the registers that hold addresses of tensor maps, and nothing else. */
#define FENCE_MAP       "gshare$map"
#define FENCE_OTHER_MAP "gshare$other"

/* The register with the generic address of the tensor map that the instruction takes; PTX_NO_REG:
 * it takes none. */
uint32_t fence_map_register(const struct ptx_inst *inst);

/* ---- fence_products.c ---- */

/* Finds where products of the current function must be waited for. False: no memory, or refused. */
bool fence_products_begin(struct fence *fence);
/* Adds the waits that must stand before instruction I, or at the function's end. False: the
 * function is refused. */
bool fence_products(struct fence *fence, uint32_t i);

/* ---- fence_param.c ---- */

/* Fences a load of parameters: it has to lie inside one parameter, or is bounded to those of the
 * kernel. */
bool fence_param(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes);
/* Whether the instruction makes a generic address of a parameter for the tenant; whether the kernel
 * has such an instruction; and whether its parameters can be copied. */
bool fence_makes_parameter_address(const struct ptx_func *f, const struct ptx_inst *inst);
bool fence_copies_parameters(const struct ptx_func *f);
bool fence_can_copy_parameters(const struct ptx_func *f);
/* Has the kernel begin by copying the parameters whose address it takes to FENCE_STACK, from the
 * place TO on. */
void fence_copy_parameters(struct fence *fence, const struct ptx_func *f, uint64_t to);
/* Has the current instruction make the address of the copy, which lies AT bytes into the frame. */
void fence_parameter_address(struct fence *fence, uint64_t at);

/* ---- fence_stack.c ---- */

/* Finds out to which memory the stores of the current function are bounded. */
void fence_stack_begin(struct fence *fence);
/* Whether the current instruction's store may hit any byte of the thread's stack. */
bool fence_stack_reports(const struct fence *fence, const struct ptx_mem *mem, uint64_t bytes);
/* Bounds a store to local memory to its variable, or notes the store in the report. */
void fence_stack(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes);
/* What the current instruction may do to local memory by a generic address. */
enum fence_local {
    FENCE_LOCAL_ANY,     /* it loads, or stores anywhere, which fence_stack notes */
    FENCE_LOCAL_NEVER,   /* it reaches no local memory: a local address is a stray */
    FENCE_LOCAL_BOUNDED, /* its address is bounded to the function's variable first */
};
enum fence_local fence_local(const struct fence *fence, uint64_t bytes);
/* Puts the address FROM into gshare$at, bounded to the function's variable if it is local. */
void fence_bound_generic(struct fence *fence, const char *from, uint64_t bytes);

/* ---- fence_escape.c ---- */

/* Finds the functions that may have an address of a caller's local variable. False: no memory. */
bool fence_escapes(struct fence *fence);

/* ---- fence_frames.c ---- */

/* The name of the variable of a kernel in which the variables of callers lie that functions store
 * to; and the names of what a function with a frame there gets behind its own parameters. */
#define FENCE_STACK  "gshare$stack"
#define FENCE_BOTTOM "gshare$bottom"
#define FENCE_FRAME  "gshare$frame"
#define FENCE_TOP    "gshare$top"
enum { FENCE_FRAME_PARAMS = 2, FENCE_FRAME_ALIGN = 16 };

/* The size of FENCE_STACK in each kernel that has it; 0: no kernel has it. */
uint64_t fence_frames_bytes(const struct ptx_module *m);
/* Whether the function has a frame in it. */
bool fence_has_frame(const struct ptx_func *f);
/* The register of the function that is declared by that name, or PTX_NO_REG. */
uint32_t fence_register_named(const struct ptx_func *f, const char *name);

/* ---- fence_texture.c ---- */

/* Has an instruction of textures or surfaces take its object from the session's table. */
bool fence_texture(struct fence *fence);

/* ---- fence_jump.c ---- */

/* Checks that an alias, which is called as it is declared, has the parameters of the function that
 * it stands for. */
bool fence_alias(struct fence *fence, const struct ptx_func *f);
bool fence_call(struct fence *fence);
bool fence_brx(struct fence *fence);

/* ---- fence_text.c ---- */

bool fence_is_reserved_name(const char *name);
bool fence_is_gshare_function(const struct ptx_func *f);
/* Whether another pass has added the register to the function. */
bool fence_is_added_register(const struct ptx_func *f, uint32_t reg);

/* Refuses the current function, for the first reason that is given. Returns false. */
bool fence_refuse(struct fence *fence, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct fence_span {
    const char *text;
    size_t len;
};

/* The N-th "[...]" of the current instruction, with the brackets; *name: the first name within. */
struct fence_span fence_brackets(const struct fence *fence, unsigned n, struct fence_span *name);
/* The N-th operand, as text: what lies between commas outside of braces, brackets and parentheses.
 */
struct fence_span fence_operand(const struct fence *fence, unsigned n);
/* Has LEXER go on behind the opcode of the current instruction; T becomes the first token of its
 * operands. */
void fence_operands(const struct fence *fence, struct lexer *lexer, struct token *t);
bool fence_token_is_end(const struct token *t);
/* The opcode of the current instruction, with its modifiers. */
struct fence_span fence_opcode(const struct fence *fence);
/* Puts WITH in the place of SPAN. */
void fence_replace(struct fence *fence, struct fence_span span, const char *with);
/* Takes the current instruction out of the text. */
void fence_remove(struct fence *fence);
/* Inserts text before the current instruction, behind what has been inserted there already. */
void fence_before(struct fence *fence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- fence_register.c ---- */

/* Fences the current instruction's access off a register, which the text calls NAME. False: such an
 * access is not fenced by its register. */
bool fence_off_register(struct fence *fence, const struct ptx_mem *mem, const char *name,
                        struct fence_span brackets);
/* Whether the register is a parameter of the function: its first value is the caller's, and no
 * instruction of the function has written it. */
bool fence_is_parameter(const struct ptx_func *f, uint32_t reg);
/* Begins a function. False: no memory. */
bool fence_registers_begin(struct fence *fence);
/* Takes note of the registers that the current instruction writes. BEYOND: how far the address in
 * the first of them lies beyond the window at most; NULL: it may lie anywhere. */
void fence_registers_written(struct fence *fence, const uint64_t *beyond);
/* Whether the register is forced already, or will be for an access that always follows. */
bool fence_will_be_forced(const struct fence *fence, uint32_t reg);
/* Forces the register, which the text calls NAME, before the current instruction, unless it is
 * forced already. */
void fence_force_now(struct fence *fence, uint32_t reg, const char *name);
/* Whether an access follows that goes off the value that the current instruction writes into the
 * register. */
bool fence_will_be_accessed(const struct fence *fence, uint32_t reg);
/* The same, where one of the accesses always runs and none has a negative offset. */
bool fence_will_always_be_accessed(const struct fence *fence, uint32_t reg);

/* ---- fence_step.c ---- */

/* Whether the current instruction adds a stride to a forced pointer, and an access goes off the
 * sum. *beyond: how far the sum lies beyond the window at most. */
bool fence_step(struct fence *fence, uint64_t *beyond);

/* ---- fence_walk.c ---- */

/* Chooses the walks of the current function. False: no memory. */
bool fence_walks_begin(struct fence *fence);
/* Has the current instruction's access, whose offset may stay in it, go off a walk. False: no walk
 * has that sum here, or the walk is not forced yet and the access does not always run. */
bool fence_off_walk(struct fence *fence, const struct ptx_mem *mem, struct fence_span brackets);
/* Takes note of the registers that the current instruction writes. */
void fence_walks_written(struct fence *fence);

#endif
