/* The typed form of a PTX module: what the reader makes of the text, and what the printer, the
 * fence pass and the interpreter work on. Nothing in it is a string that must be looked at again:
 * registers are dense indices, labels are instruction indices, symbols are pointers, modifiers are
 * small enums.
 *
 * Owns: the declarations only. Any thread may use a module that no other thread changes; the
 * library has no globals. Trusts nothing of the text: whatever bytes it is given, the reader
 * returns a module or an error with line and column.
 *
 * Every object lives in the module's arena and goes with ptx_module_free. */
#ifndef GS_PTX_PTX_H
#define GS_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ptx/ptx_enums.h"

/* Bounds that hold for every module the reader returns. */
#define PTX_MAX_TEXT        (64u << 20)
/* A name or a string of the text. The compiler in driver 580 writes each message, which may hold
 * several of them, into a buffer of 100,000 bytes without looking (doc/isolation.md, fact 49). */
#define PTX_MAX_NAME        (16u << 10)
#define PTX_MAX_REGS        (1u << 20) /* registers of one function */
#define PTX_MAX_MODULE_REGS (1u << 22)
#define PTX_MAX_TARGETS     (1u << 20) /* of all brx.idx of a module: the ways that control may go */
#define PTX_MAX_FUNCS       (1u << 16)
#define PTX_MAX_PARAMS      1024
#define PTX_MAX_PARAM_BYTES 32764u       /* of one kernel: ptx_param_bytes_max */
#define PTX_MAX_DEPTH       64           /* nested scopes, nested braces of an initialiser */
#define PTX_MAX_VAR_BYTES   (1ull << 38) /* one variable; addresses in a module never overflow */
#define PTX_MAX_OPERANDS    12
#define PTX_MAX_VECTOR      128 /* elements of a brace list: wgmma's sums are the longest */

struct ptx_module;
struct ptx_func;
struct ptx_var;
struct ptx_proto;

/* ---- Operands ---- */

enum ptx_operand_kind {
    PTX_OPND_NONE,  /* an optional operand that is not there */
    PTX_OPND_REG,   /* .reg; .neg for a predicate source written !p */
    PTX_OPND_IMM,   /* .imm: bits, already converted to .type (sign-extended for integers,
                       zero-extended for floats) */
    PTX_OPND_SREG,  /* .sreg: enum ptx_sreg; .index for %envreg<N>, %pm<N> */
    PTX_OPND_SYM,   /* address of .sym.var plus .sym.offset, as a value: in its own state space, not
                       generic */
    PTX_OPND_FUNC,  /* .func: its address as a value, or the callee of a direct call */
    PTX_OPND_MEM,   /* [base+offset]: see struct ptx_mem */
    PTX_OPND_VEC,   /* .list: {a,b,c,d}; elements are REG, IMM, SINK or SYM */
    PTX_OPND_LIST,  /* .list: the (…) lists of a call; elements are REG, IMM, or MEM with base
                       PTX_BASE_VAR for .param */
    PTX_OPND_LABEL, /* .label: index into ptx_func.labels */
    PTX_OPND_TABLE, /* .table: index into ptx_func.tables (brx.idx, call with .calltargets) */
    PTX_OPND_PROTO, /* .proto: prototype of an indirect call */
    PTX_OPND_SINK,  /* _ */
    PTX_OPND_STRING /* .string: text of a .pragma */
};

enum ptx_base_kind {
    PTX_BASE_ABS, /* offset alone is the address */
    PTX_BASE_REG, /* .reg: its register (32 or 64 bits; extended without sign) */
    PTX_BASE_VAR  /* .var: a variable or a parameter */
};

struct ptx_mem {
    uint8_t base; /* enum ptx_base_kind */
    uint32_t reg;
    struct ptx_var *var;
    int64_t offset;
};

struct ptx_operand {
    uint8_t kind; /* enum ptx_operand_kind */
    uint8_t type; /* enum ptx_type: how the instruction reads or writes it; PTX_T_NONE where it says
                     nothing */
    bool neg;     /* predicate source written !p */
    uint8_t index;
    uint32_t count; /* of .list */
    union {
        uint32_t reg; /* index into ptx_func.regs */
        uint64_t imm;
        uint32_t sreg;
        uint32_t label;
        uint32_t table;
        struct {
            struct ptx_var *var;
            int64_t offset;
        } sym;
        struct ptx_func *func;
        struct ptx_mem mem;
        struct ptx_operand *list;
        const struct ptx_proto *proto;
        const char *string;
    };
};

/* ---- Instructions ---- */

#define PTX_NO_REG UINT32_MAX

/* One instruction. Each modifier has one field, zero where it is not written; ptx_ops.def lists per
 * opcode which modifiers may stand, in which order, and what stands at ops[0], ops[1]... The
 * position of an operand never depends on whether optional ones before it are there: those have
 * kind PTX_OPND_NONE. */
struct ptx_inst {
    uint16_t op;       /* enum ptx_op */
    uint16_t form;     /* row of ptx_ops.def, for the printer */
    uint32_t line;     /* of the PTX text, from 1 */
    uint32_t begin;    /* bytes of the PTX text before its guard or opcode ... */
    uint32_t end;      /* ... and up to behind its ';' */
    uint32_t guard;    /* predicate register, or PTX_NO_REG */
    uint32_t flags;    /* PTX_F_* */
    bool guard_neg;    /* @!p */
    uint8_t type[4];   /* enum ptx_type, in the order written */
    uint8_t rnd;       /* enum ptx_rnd */
    uint8_t cmp;       /* enum ptx_cmp */
    uint8_t bop;       /* enum ptx_bop: combines with predicate c in set/setp; bar.red */
    uint8_t aop;       /* enum ptx_aop: operation of atom, red, redux */
    uint8_t mode;      /* enum ptx_mode: .wide, .bfly, .ballot, .f4e ... */
    uint8_t mode2;     /* enum ptx_mode: a second one: .clamp/.wrap of shf, .b of vote ... */
    uint8_t space;     /* enum ptx_space; PTX_SPACE_GENERIC (0) where none is written */
    uint8_t space2;    /* the source of cp.async and of tensor copies */
    uint8_t sem;       /* enum ptx_sem */
    uint8_t scope;     /* enum ptx_scope */
    uint8_t cop;       /* enum ptx_cop */
    uint8_t evict;     /* enum ptx_evict: L1:: hint */
    uint8_t evict2;    /* enum ptx_evict: L2:: hint */
    uint8_t prefetch;  /* enum ptx_prefetch: L2::64B ... */
    uint8_t vec;       /* 0 (scalar), 2, 4, 8 */
    uint8_t geom;      /* enum ptx_geom: textures and surfaces */
    uint8_t shape;     /* enum ptx_shape: matrix instructions */
    uint8_t layout[2]; /* enum ptx_layout: a and b of mma; wmma.load/store use layout[0] */
    uint8_t num;       /* ldmatrix, stmatrix: 1, 2 or 4 matrices; dimensions of a tensor */
    uint16_t sel[4];   /* video instructions: PTX_SEL_* of d, a, b, c */
    uint8_t nops;
    struct ptx_operand *ops;
};

/* ---- Functions ---- */

struct ptx_reg {
    uint8_t type;  /* enum ptx_type */
    uint32_t decl; /* ptx_func.decls: the name comes from there */
};

/* .reg .b32 %r<100>; or .reg .pred p; registers first .. first+count-1. */
struct ptx_reg_decl {
    const char *name; /* unique in the function */
    uint8_t type;
    uint8_t vec; /* 0, 2, 4: .v2/.v4; the components are count = vec consecutive registers */
    bool range;  /* written name<count> */
    bool nested; /* declared in a scope within the body */
    uint32_t first, count;
};

struct ptx_label {
    const char *name; /* unique in the function */
    uint32_t inst;    /* index of the instruction it stands before; ninsts at the end */
};

/* .branchtargets and .calltargets */
struct ptx_table {
    const char *name;
    bool calls;
    uint32_t count;
    uint32_t *labels;        /* .branchtargets */
    struct ptx_func **funcs; /* .calltargets */
};

/* A parameter of a function, a prototype. */
struct ptx_proto {
    const char *name;
    uint32_t nrets, nparams;
    struct ptx_var **rets, **params; /* space PTX_SPACE_PARAM or PTX_SPACE_REG; names may be "_" */
    bool noreturn;
    uint32_t line;
    uint32_t first; /* as in struct ptx_header, behind the '_' */
    bool list;
};

struct ptx_error;

/* Where a function and its parameters stand in the text: once for each of its declarations. */
struct ptx_header {
    struct ptx_header *next;
    uint32_t begin, end; /* bytes of the text: from the linkage to behind the ';' or '}' */
    uint32_t first, at;  /* behind the list's '(', of its ')'; else both behind the name */
    bool list;
};

enum ptx_linkage {
    PTX_LINK_NONE,
    PTX_LINK_EXTERN,
    PTX_LINK_VISIBLE,
    PTX_LINK_WEAK,
    PTX_LINK_COMMON
};

struct ptx_func {
    const char *name;
    bool entry;
    bool has_body;
    bool noreturn;
    uint8_t linkage;     /* enum ptx_linkage */
    uint32_t id;         /* its index in ptx_module.funcs */
    uint32_t line;       /* of its definition, else of its declaration */
    uint32_t body_begin; /* bytes of the text up to behind the '{' of its body ... */
    uint32_t body_end;   /* ... and before its '}' */
    struct ptx_header *headers;
    struct ptx_func *alias; /* .alias: the function meant */

    /* Of ptx_parse_parts: why the function cannot be read, and then it has no body. */
    const struct ptx_error *unread;

    uint32_t nrets, nparams;
    struct ptx_var **rets, **params;
    uint32_t
        param_bytes; /* an entry's parameter block; each parameter's offset is ptx_var.offset */

    uint32_t ndecls, nregs, nvars, nlabels, ntables, nprotos, ninsts;
    struct ptx_reg_decl *decls;
    struct ptx_reg *regs;
    struct ptx_var **
        vars; /* .local, .shared, .param ... declared in the body, in order; scopes are flattened */
    struct ptx_label *labels;
    struct ptx_table *tables;
    struct ptx_proto **protos;
    struct ptx_inst *insts;

    uint32_t maxntid[3], reqntid[3]; /* zeros where not given */
    uint32_t minnctapersm, maxnctapersm, maxnreg;
    bool explicit_cluster;         /* .explicitcluster: a launch of it has clusters */
    uint32_t reqnctapercluster[3]; /* zeros where not given */
    uint32_t maxclusterrank;
    uint32_t npragmas;
    const char **pragmas; /* before the body */
    void *user;           /* for whoever lowers it */
};

/* ---- Variables ---- */

/* An address among the initial bytes of a variable. */
struct ptx_reloc {
    uint64_t offset;     /* in bytes from the start of the variable */
    uint8_t size;        /* bytes written there: 8 or 4, or 1 for the form 0xFF00(symbol) */
    uint8_t shift;       /* the address is shifted right by this first */
    bool generic;        /* generic(symbol) */
    struct ptx_var *var; /* one of the two */
    struct ptx_func *func;
    int64_t addend;
};

struct ptx_var {
    const char *name;
    uint8_t space; /* enum ptx_space */
    uint8_t type;  /* of an element */
    uint8_t vec;   /* 0, 2, 4, 8 */
    uint8_t linkage;
    bool managed;       /* .attribute(.managed) */
    bool unsized;       /* extern .shared x[]: dynamic shared memory */
    bool returned;      /* a .param of a body: a call that has been read returns it */
    uint8_t ndims;      /* 0 for a scalar */
    uint8_t ptr_space;  /* .ptr .global of a parameter: enum ptx_space, 0 where not given */
    uint32_t ptr_align; /* .align behind .ptr */
    bool is_ptr;
    uint32_t align; /* never 0 */
    uint32_t id;    /* index in ptx_module.vars, or in ptx_func.vars / params / rets */
    uint32_t line;
    uint64_t size;   /* in bytes; 0 when unsized */
    uint64_t offset; /* parameters: offset in the parameter block */
    uint64_t *dims;
    struct ptx_func *func; /* the function it belongs to, NULL for the module's */
    uint64_t ninit;        /* bytes of init; what follows up to size is zero */
    uint8_t *init;         /* NULL where there is no initialiser */
    uint32_t nrelocs;
    struct ptx_reloc *relocs;
    void *user;
};

/* ---- The module ---- */

struct ptx_module {
    uint8_t version_major, version_minor;
    uint8_t address_size; /* 32 or 64 */
    uint32_t sm;          /* 90 of sm_90a */
    char sm_suffix;       /* 'a', 'f' or 0 */
    const char *target;   /* "sm_90, texmode_independent" */
    bool debug;           /* the source said debug; its debug information is not kept */
    uint32_t nvars, nfuncs, npragmas;
    struct ptx_var **vars;   /* .global, .const, .shared, .tex at module level, in order */
    struct ptx_func **funcs; /* in order of their first appearance */
    const char **pragmas;
    void *arena;
};

struct ptx_error {
    uint32_t line, column; /* from 1; 0 where none applies */
    char text[224];        /* "expected ..., found ..." */
};

/* Reads LEN bytes of TEXT (a NUL ends it early). Returns 0 and sets *OUT, or -EINVAL with ERR
 * filled, -ENOTSUP for a known instruction that is left out (also in ERR), -E2BIG over a bound,
 * -ENOMEM. O(LEN); recursion is bounded. */
int ptx_parse(const char *text, size_t len, struct ptx_module **out, struct ptx_error *err);
/* The same, but a function whose directives or body cannot be read is no error: it is in the module
 * without a body, and its `unread` says why. Such a module is not to be printed. */
int ptx_parse_parts(const char *text, size_t len, struct ptx_module **out, struct ptx_error *err);
void ptx_module_free(struct ptx_module *m); /* NULL is fine */

/* Prints the module as PTX that reads back to the same module. Returns 0, -EIO or -ENOMEM. */
int ptx_print(const struct ptx_module *m, FILE *out);
/* One instruction, without newline, into BUF (always ended with NUL); for messages and traces. */
void ptx_inst_format(const struct ptx_func *f, const struct ptx_inst *inst, char *buf, size_t size);

/* NULL: the module has none of that name. */
struct ptx_func *ptx_module_func(const struct ptx_module *m, const char *name);
struct ptx_var *ptx_module_var(const struct ptx_module *m, const char *name);
/* Zeroed memory that is freed with the module; NULL: there is no memory. */
void *ptx_alloc(struct ptx_module *m, size_t bytes);

/* ---- Facts ---- */

/* The most bytes that the parameters of one of the module's kernels take: PTX_MAX_PARAM_BYTES from
 * sm_70 and PTX 8.1 on, else 4,352. */
uint32_t ptx_param_bytes_max(const struct ptx_module *m);
unsigned ptx_type_bits(enum ptx_type t); /* 1 for .pred; 0 for PTX_T_NONE and opaque types */
bool ptx_type_is_signed(enum ptx_type t);
bool ptx_type_is_float(enum ptx_type t);    /* f16, bf16, f32, f64, tf32 and the packed ones */
const char *ptx_type_name(enum ptx_type t); /* "u32" */
const char *ptx_op_name(enum ptx_op op);    /* "cp.async" */
enum ptx_class ptx_op_class(enum ptx_op op);
const char *ptx_sreg_name(enum ptx_sreg s); /* "%tid.x" */
enum ptx_type ptx_sreg_type(enum ptx_sreg s);
const char *ptx_space_name(enum ptx_space s);
/* Rows, columns and depth of a matrix shape; depth 0 where it has none. */
void ptx_shape_size(enum ptx_shape s, unsigned *m, unsigned *n, unsigned *k);
/* Registers that a lane holds of matrix 'a', 'b', 'c' or 'd' of mma, wmma.mma, wmma.load,
 * wmma.store, wgmma.mma_async. The reader has checked that types, shape and layouts go together and
 * that the operands have these counts. */
unsigned ptx_matrix_regs(const struct ptx_inst *inst, char matrix);
/* mma.sp: a lane holds half of each chunk of so many columns of a's rows, and four bits of metadata
 * say which half. 0: a is dense. */
unsigned ptx_sparse_chunk(const struct ptx_inst *inst);
/* How many of each four lanes hold the metadata of mma.sp: the selector says which of them. */
unsigned ptx_sparse_lanes(const struct ptx_inst *inst);
/* Name of register R into BUF. */
const char *ptx_reg_name(const struct ptx_func *f, uint32_t reg, char *buf, size_t size);

#endif
