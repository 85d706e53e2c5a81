/* What the parts of the fence share: see fence_pass.c. Belongs to one call of ptx_rewrite. */
#ifndef GS_PTX_REWRITE_FENCE_H
#define GS_PTX_REWRITE_FENCE_H

#include "ptx/ptx.h"
#include "ptx/read/lex.h"
#include "ptx/rewrite/edit.h"
#include "ptx/rewrite/reach.h"
#include "ptx/rewrite/rewrite.h"

/* Functions that other passes add: no name of a tenant's begins so. Their accesses in the .global
 * space go to memory of the server, the generic ones to the tenant's (print_device.cu). */
#define FENCE_HOUSE_FUNCTION "_ZN12gshare_print"
#define FENCE_HOUSE_NAME     "gshare$"

/* Constant offsets to this, in either direction, stay in the instruction: with the widest access
 * behind it, still within FENCE_GUARD. The rows of a matrix reach half as far again. So far does an
 * address lead without FENCE_REACH that is made of a fenced one by constants (fence_step.c). */
enum { FENCE_OFFSET = 1 << 20, FENCE_NEAR = FENCE_OFFSET / 2 };

/* Bytes of a bulk copy: what a block can have of shared memory. */
enum { FENCE_BULK = 227 << 10 };

/* Addresses among initial values: whoever loads the module writes them one by one, while nobody
 * launches. */
enum { FENCE_ADDRESSES = 16384 };

/* Steps to find loops, in a module. */
enum { FENCE_LOOP_WORK = 1 << 22 };

enum {
    FENCE_REGS = 57,    /* that a function may get: for its window, strays, bases, strides, walks,
                         * maps */
    FENCE_BASES = 8,    /* of a function, see fence_base.c */
    FENCE_LOWS = 8,     /* of a stretch, see fence_register.c */
    FENCE_STRIDES = 8,  /* of a function, see fence_step.c */
    FENCE_WALKS = 4,    /* of a function, see fence_walk.c */
    FENCE_TARGETS = 256 /* functions that an indirect call may go to */
};

/* What is forced for accesses off a register with negative offsets: fence_register.c. */
struct fence_low {
    uint32_t reg;
    uint32_t stretch; /* where it is forced; 0: nowhere */
    int64_t low;      /* what was added */
};

/* A sum of what moves through a loop and of what stays, in a register of the fence's:
 * fence_walk.c. */
struct fence_walk {
    uint32_t walker, rest; /* registers */
    uint32_t sum;          /* the program's register that has the sum, too ... */
    uint32_t holds;        /* ... in this stretch; 0: in none */
    uint32_t forced;       /* the stretch in which the fence's register leads into the window */
};

struct fence {
    const char *text; /* what the other passes made of the tenant's */
    const struct ptx_module *m;
    struct edits edits;
    struct reach reach;
    struct ptx_fence_report *report;
    struct ptx_left_out *left; /* NULL: what is refused refuses the module */
    bool strays;               /* they are recorded */
    bool variables;            /* they are moved, and no access is fenced */
    bool window;               /* kernels have it as a parameter */
    bool constant;             /* a function has it from FENCE_VARIABLE */
    /* The module makes generic addresses of the space: by cvta, by nothing else. Where it makes
     * none, a generic address that lies there is a stray. */
    bool generic[PTX_SPACE_COUNT];
    /* Functions that may have an address of a caller's local variable: all, or by ptx_func.id. */
    bool escapes, *gets_locals;
    bool refused;
    const struct ptx_func *f; /* at work on it */
    /* Of the function, see fence_stack.c. */
    unsigned locals;             /* its .local variables */
    const struct ptx_var *stack; /* the only one; NULL: there is none, or several */
    const char *stack_name;      /* what a store is bounded to: from here on ... */
    uint64_t stack_bytes;        /* ... so many; 0: to nothing */
    bool owns_locals;            /* a local address in it lies there */
    uint64_t frames_bytes;       /* of the module's FENCE_STACK, see fence_frames.c */
    uint32_t *definitions;       /* see definitions_find */
    bool *labelled;              /* by instruction: control may come from elsewhere */
    bool plain;                  /* no scope in it gives a register the name of another one */
    uint32_t *forced; /* by register: the stretch in which it leads into the window ... */
    uint64_t *beyond; /* ... or so many bytes at most beyond its ends */
    bool *compared;   /* by register: a comparison depends on it */
    uint32_t stretch; /* of text that runs from its beginning on, from 1 on */
    struct fence_low lows[FENCE_LOWS];
    unsigned nlows, next_low; /* how many of their registers are declared; the next one's number */
    uint32_t bases[FENCE_BASES]; /* registers of its pointers that are fenced once */
    unsigned nbases;
    uint32_t strides[FENCE_STRIDES]; /* registers of what is added to fenced pointers */
    unsigned nstrides;
    struct fence_walk walks[FENCE_WALKS];
    unsigned nwalks;
    uint32_t *loop, *loop_end; /* see fence_loops_begin */
    uint32_t loop_work;        /* to find loops so far, in the module */
    uint64_t call_work;        /* of calls by an address so far, in the module */
    uint64_t live_work;        /* to find what lives at once (fence_size.c) so far, in the module */
    const struct ptx_inst *inst;
    uint8_t *waits; /* by instruction, see fence_products.c; NULL: the function has no products */
    uint32_t map;   /* FENCE_MAP of the function, or PTX_NO_REG */
};

/* ---- fence_instruction.c ---- */

/* Fences the current instruction, drops or refuses it. */
bool fence_instruction(struct fence *fence);
/* Whether a pragma changes nothing that the fence relies on. */
bool fence_pragma_is_harmless(const char *text);

/* ---- fence_size.c ---- */

/* Whether the compiler may be given the current function. */
bool fence_size(struct fence *fence);
/* Whether it may be given all functions of the module, which have their fences. */
bool fence_size_of_all(struct fence *fence, const struct ptx_module *m);

/* ---- fence_globals.c ---- */

/* Gives each variable its place in the block, fills the report. */
bool fence_globals(struct fence *fence);
/* The variable is in .const and begins with addresses of others: the caller writes them all. */
bool fence_is_bound(const struct ptx_var *v);
/* The variable lies in the block: its place. */
bool fence_is_moved(const struct ptx_var *v);
uint64_t fence_place(const struct ptx_var *v);

/* ---- fence_window.c ---- */

/* Begins the current function, which has a body, with the window in registers: a kernel's from a
 * parameter behind its own, which is added and named in the report, where there is room for one.
 * False: no memory. */
bool fence_window_begin(struct fence *fence);

/* ---- fence_access.c ---- */

/* The operand of the current instruction that is an address in brackets, GENERIC or global. */
bool fence_access(struct fence *fence, unsigned operand, bool generic, uint64_t bytes);

/* The same for a bulk copy or reduction, which is the current instruction. */
bool fence_bulk(struct fence *fence);

/* The bytes that the instruction accesses from its address on. */
uint64_t fence_access_bytes(const struct ptx_inst *inst);

/* Forces an address into the window: the register TO becomes what it is of FROM, a %s. */
#define FENCE_FORCE(to)                                                                            \
    "and.b64 gshare$far, %s, gshare$inside; or.b64 " to ", gshare$far, gshare$start; "

/* ---- fence_generic.c ---- */

/* Looks over the module for what makes generic addresses. */
void fence_find_generic(struct fence *fence);
/* Generic addresses of other spaces may come up in the module. */
bool fence_knows_other_spaces(const struct fence *fence);

/* The address of a load, store or atomic that goes to global memory, whatever the register holds
 * that it goes off; NULL: the instruction is none. */
const struct ptx_mem *fence_register_access(const struct fence *fence, const struct ptx_inst *inst);

/* ---- fence_variables.c ---- */

/* Instead of the fence, for one function: finds its variables at their new places. */
bool fence_variables(struct fence *fence, const struct ptx_func *f);

/* ---- fence_sum.c ---- */

/* BASE + INDEX * FACTOR, with an index of 32 bits. */
struct fence_sum {
    uint32_t base, index; /* registers */
    unsigned factor;
    bool is_signed; /* the index */
};

/* So far the sum leads from its base at most. */
uint64_t fence_sum_bound(const struct fence_sum *sum);
/* Whether the operand is a register as wide as an address. */
bool fence_is_address(const struct fence *fence, const struct ptx_operand *o);
/* Whether the instruction is a sum of integers of 64 bits. */
bool fence_adds_addresses(const struct ptx_inst *inst);
/* Whether a mul or mad multiplies 32 bits so that the bound is FENCE_REACH at most: SUM's factor.
 */
bool fence_is_product(const struct ptx_inst *inst, struct fence_sum *sum);
/* Whether what instruction AT reads from the register is such a sum, of an index without sign,
 * whose bound is FENCE_REACH at most; base and index have the same values at AT. */
bool fence_sum(const struct fence *fence, uint32_t at, uint32_t reg, struct fence_sum *sum);
/* The only instruction that writes the register, where that is INDEX * FACTOR, whose bound is
 * FENCE_REACH at most; the index is the same behind it. NULL: the register is none. */
const struct ptx_inst *fence_stride(const struct fence *fence, uint32_t reg, struct fence_sum *sum);

/* ---- fence_loop.c ---- */

/* Finds the loops of the current function. By instruction: 1 + where the innermost loop that
 * contains it begins, in the order of the text; 0: in none; and by that number, behind the last
 * instruction that it is of. NULL: no memory, or too many loops in one another. */
void fence_loops_begin(struct fence *fence);

/* ---- fence_base.c ---- */

/* Chooses the bases of the current function and fences them. False: no memory. */
bool fence_bases_begin(struct fence *fence);
/* Where the current instruction's address is off a base: true with the sum in gshare$at, within
 * FENCE_REACH of the window. */
bool fence_off_base(struct fence *fence, const struct ptx_mem *mem);

/* ---- fence_symbol.c ---- */

/* Wherever the current instruction takes the address of a variable as a value. */
bool fence_symbols(struct fence *fence);

/* ---- fence_matrix.c ---- */

/* wmma.load, wmma.store: their rows lie a stride apart, which only the kernel knows. */
bool fence_matrix(struct fence *fence, bool generic);

/* ---- fence_maps.c ---- */

/* The registers that have a tensor map's address, which nothing else uses. */
#define FENCE_MAP       "gshare$map"
#define FENCE_OTHER_MAP "gshare$other"

/* The operand of an instruction that is a tensor map's generic address; NULL: it has none. */
const struct ptx_operand *fence_map_operand(const struct ptx_inst *inst);
/* The register that has the address; PTX_NO_REG: there is none. */
uint32_t fence_map_register(const struct ptx_inst *inst);

/* ---- fence_products.c ---- */

/* Finds where products of the current function must be waited for. False: no memory, or refused. */
bool fence_products_begin(struct fence *fence);
/* Waits for them before instruction I, or behind all. False: it is refused. */
bool fence_products(struct fence *fence, uint32_t i);

/* ---- fence_param.c ---- */

/* A place among parameters: inside one, or bounded to those of the kernel. */
bool fence_param(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes);
/* The instruction makes a generic address of a parameter, for the tenant; the kernel has such an
 * instruction. */
bool fence_makes_parameter_address(const struct ptx_func *f, const struct ptx_inst *inst);
bool fence_copies_parameters(const struct ptx_func *f);
bool fence_can_copy_parameters(const struct ptx_func *f);
/* Copies what has an address to FENCE_STACK, from the place TO on, as the kernel begins. */
void fence_copy_parameters(struct fence *fence, const struct ptx_func *f, uint64_t to);
/* The current instruction makes the address of the copy, which lies AT bytes from the frame on. */
void fence_parameter_address(struct fence *fence, uint64_t at);

/* ---- fence_stack.c ---- */

/* Looks at the current function, before its instructions. */
void fence_stack_begin(struct fence *fence);
/* Whether the current instruction's store may hit any byte of the thread's stack. */
bool fence_stack_reports(const struct fence *fence, const struct ptx_mem *mem, uint64_t bytes);
/* A store to local memory is bounded to its variable, or noted in the report. */
void fence_stack(struct fence *fence, const struct ptx_mem *mem, uint64_t bytes);
/* What the current instruction may do to local memory by a generic address. */
enum fence_local {
    FENCE_LOCAL_ANY,     /* a load; or a store anywhere, which fence_stack tells */
    FENCE_LOCAL_NEVER,   /* there it is a stray as any other */
    FENCE_LOCAL_BOUNDED, /* the address is bounded to the function's variable first */
};
enum fence_local fence_local(const struct fence *fence, uint64_t bytes);
/* Puts the address FROM into gshare$at, bounded to the function's variable if it is local. */
void fence_bound_generic(struct fence *fence, const char *from, uint64_t bytes);

/* ---- fence_escape.c ---- */

/* Finds the functions that may have an address of a caller's local variable. False: no memory. */
bool fence_escapes(struct fence *fence);

/* ---- fence_frames.c ---- */

/* The variables of callers to which functions store lie in one variable of their kernel, of these
 * names; and what a function with a frame there is given behind its own parameters. */
#define FENCE_STACK  "gshare$stack"
#define FENCE_BOTTOM "gshare$bottom"
#define FENCE_FRAME  "gshare$frame"
#define FENCE_TOP    "gshare$top"
enum { FENCE_FRAME_PARAMS = 2, FENCE_FRAME_ALIGN = 16 };

/* Bytes that FENCE_STACK has in each kernel that has it; 0: none has. */
uint64_t fence_frames_bytes(const struct ptx_module *m);
/* The function is given a place in it. */
bool fence_has_frame(const struct ptx_func *f);
/* The register of the function that is declared by that name, or PTX_NO_REG. */
uint32_t fence_register_named(const struct ptx_func *f, const char *name);

/* ---- fence_texture.c ---- */

/* An instruction of textures or surfaces takes its object from the session's table. */
bool fence_texture(struct fence *fence);

/* ---- fence_jump.c ---- */

/* An alias is called as it is declared: it must have the parameters of what it stands for. */
bool fence_alias(struct fence *fence, const struct ptx_func *f);
bool fence_call(struct fence *fence);
bool fence_brx(struct fence *fence);

/* ---- fence_text.c ---- */

bool fence_is_house_name(const char *name);
bool fence_is_house_function(const struct ptx_func *f);
/* Another pass has added the register to the function. */
bool fence_is_house_register(const struct ptx_func *f, uint32_t reg);

/* The first reason counts. Returns false. */
bool fence_refuse(struct fence *fence, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct fence_span {
    const char *text;
    size_t len;
};

/* The N-th "[...]" of the instruction, with the brackets; its first name within. */
struct fence_span fence_brackets(const struct fence *fence, unsigned n, struct fence_span *name);
/* What follows N commas outside of braces, brackets and parentheses, up to the next. */
struct fence_span fence_operand(const struct fence *fence, unsigned n);
/* Puts LEXER behind the opcode of the current instruction, the first token of the operands into T.
 */
void fence_operands(const struct fence *fence, struct lexer *lexer, struct token *t);
bool fence_token_is_end(const struct token *t);
/* The opcode of the current instruction, with its modifiers. */
struct fence_span fence_opcode(const struct fence *fence);
/* Puts WITH in the place of SPAN. */
void fence_replace(struct fence *fence, struct fence_span span, const char *with);
/* Takes the current instruction out of the text. */
void fence_drop(struct fence *fence);
/* Text before the instruction, behind what stands there already. */
void fence_before(struct fence *fence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- fence_register.c ---- */

/* Fences the current instruction's access off a register, which the text calls NAME. False: it is
 * none that is fenced so. */
bool fence_off_register(struct fence *fence, const struct ptx_mem *mem, const char *name,
                        struct fence_span brackets);
/* The register is a parameter of the function: perhaps the caller's, and no instruction has written
 * it at first. */
bool fence_is_parameter(const struct ptx_func *f, uint32_t reg);
/* Begins a function. False: no memory. */
bool fence_registers_begin(struct fence *fence);
/* Takes note of what the current instruction writes. BEYOND: how far the first of that leads beyond
 * the window at most; NULL: anywhere. */
void fence_registers_written(struct fence *fence, const uint64_t *beyond);
/* Whether the register is forced already, or will be for an access that always follows. */
bool fence_will_be_forced(const struct fence *fence, uint32_t reg);
/* Forces it, which the text calls NAME, before the current instruction unless it is. */
void fence_force_now(struct fence *fence, uint32_t reg, const char *name);
/* Whether an access follows that goes off what the current instruction writes into the register. */
bool fence_will_be_accessed(const struct fence *fence, uint32_t reg);
/* The same, where one of the accesses always runs and none has a negative offset. */
bool fence_will_always_be_accessed(const struct fence *fence, uint32_t reg);

/* ---- fence_step.c ---- */

/* Where the current instruction adds a stride to a pointer that is fenced, and an access goes off
 * the sum: true, with how far that leads beyond the window at most. */
bool fence_step(struct fence *fence, uint64_t *beyond);

/* ---- fence_walk.c ---- */

/* Chooses the walks of the current function. False: no memory. */
bool fence_walks_begin(struct fence *fence);
/* Has the current instruction's access, whose offset may stay in it, go off a walk. False: there is
 * none of that sum here, or it is not forced yet and the access does not always run. */
bool fence_off_walk(struct fence *fence, const struct ptx_mem *mem, struct fence_span brackets);
/* Takes note of what the current instruction writes. */
void fence_walks_written(struct fence *fence);

#endif
