/* What the parts of the PTX reader share: one struct parser per ptx_parse, on its caller's
 * thread. Functions return false after parser_fail has said what was wrong; nothing continues
 * after that. Scratch lists are freed at the end of the parse, what the module keeps lives in
 * its arena. */
#ifndef GS_PTX_PARSE_H
#define GS_PTX_PARSE_H

#include <errno.h>
#include <string.h>

#include "ptx/ir/arena.h"
#include "ptx/ptx_table.h"
#include "ptx/read/lex.h"
#include "ptx/read/symtab.h"

/* A list is a growing array of scratch memory. */
struct list {
    void *data;
    uint32_t n, cap;
};

/* An operand as written, before it is known which form of the instruction it belongs to. */
enum raw_kind {
    RAW_NUMBER, /* tok: TOK_INT, TOK_F32 or TOK_F64 with its value */
    RAW_REG,
    RAW_VECREG, /* a register declared .v2 or .v4, whole */
    RAW_SREG,
    RAW_SYM,
    RAW_FUNC,
    RAW_TABLE,
    RAW_PROTO,
    RAW_NAME, /* known nowhere yet: a label further on */
    RAW_SINK,
    RAW_VEC, /* children first .. first+count-1 */
    RAW_MEM,
    RAW_TEX /* [a, b, c]: two or three children */
};

struct raw {
    uint8_t kind; /* enum raw_kind */
    bool piped;   /* stood behind '|' */
    bool bang, minus;
    uint16_t sel;
    uint32_t first, count; /* RAW_VEC: children */
    uint32_t part[3];      /* RAW_TEX: .count of them */
    struct token tok;
    struct ptx_operand o;
};

struct scratch_label {
    const char *name;
    uint32_t inst;    /* UINT32_MAX: not defined yet */
    uint32_t same_as; /* UINT32_MAX, or the label of an outer scope that this one
                         turned out to be */
    uint32_t final;   /* index in ptx_func.labels */
    uint32_t line, column;
};

struct parser {
    const char *text; /* the module's first byte */
    struct lexer lx;
    struct token tok; /* the current one */
    struct ptx_module *m;
    struct arena *arena;
    struct symtab syms;
    struct ptx_error *err;
    int status;     /* 0, or the first error */
    uint32_t depth; /* of recursion: braces of initialisers, parentheses of
                       constants */
    uint32_t module_regs;
    uint64_t const_bytes; /* of the module's .const variables, each with its alignment's padding */

    struct list vars, funcs, pragmas; /* of the module: struct ptx_var *, struct
                                         ptx_func *, const char * */

    bool parts;         /* see ptx_parse_parts */
    uint32_t statement; /* where the module's statement begins in the text */

    /* The function being read. */
    struct ptx_func *f;
    struct list decls, regs, fvars, labels, tables, protos, insts;
    uint32_t defined_labels;
    uint32_t targets; /* of the module's brx.idx so far */

    /* The statement being read. */
    struct list raws;          /* struct raw: all of a statement's operands, children
                                  behind their parents */
    struct list tops;          /* uint32_t: which of them stand at the top */
    bool lenient;              /* a register of the wrong width counts as fitting: to say so
                                  later */
    uint16_t *op_names;        /* hash of opcode names: see parse_opcode.c */
    struct list bytes, relocs; /* the initialiser being read */
};

static inline struct raw *parser_raw(const struct parser *p, uint32_t index)
{
    return (struct raw *)p->raws.data + index;
}

static inline enum ptx_type parser_reg_type(const struct parser *p, uint32_t reg)
{
    return ((const struct ptx_reg *)p->regs.data)[reg].type;
}

/* ---- parse_core.c ---- */
bool parser_fail(struct parser *p, const struct token *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool parser_fail_as(struct parser *p, int status, const struct token *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* fails with -ENOMEM, or with -E2BIG over a limit */
bool parser_no_memory(struct parser *p, const struct token *at);
/* Fails with "expected WHAT, found ..." at the current token. */
bool parser_expected(struct parser *p, const char *what);
bool parser_next(struct parser *p);
/* takes the token if it is of KIND */
bool parser_accept(struct parser *p, int kind);
bool parser_need(struct parser *p, int kind, const char *what);
/* bytes of the text before the current token, which is a name or a character */
static inline uint32_t parser_offset(const struct parser *p)
{
    return (uint32_t)(p->tok.text - p->text);
}
/* the current token is .WORD */
bool parser_is_word(const struct parser *p, const char *word);
void *parser_alloc(struct parser *p, size_t bytes);
char *parser_string(struct parser *p, const char *text, size_t len);
/* COUNT zeroed ones; NULL: failed */
void *list_add(struct parser *p, struct list *l, size_t size, size_t count);
/* a copy in the arena, list emptied */
bool list_keep(struct parser *p, struct list *l, size_t size, void *out);
bool token_is(const struct token *tok, const char *text);
struct sym *parser_declare(struct parser *p, enum sym_kind kind, const struct token *name,
                           const char *key, uint32_t len);
/* The name under which something of the function is kept: unique in the function although scopes
 * are flattened. */
const char *parser_unique_name(struct parser *p, const struct token *name, bool range);
/* copies the printable part of a token */
void token_clip(const struct token *tok, char *buf, size_t size);

/* ---- parse_const.c ---- */
bool parse_const_int(struct parser *p, uint64_t *value);
/* Reads a number of any kind: TOK_INT, TOK_F32 or TOK_F64 in OUT->kind, its value in OUT->value. */
bool parse_const(struct parser *p, struct token *out);
bool parse_uint(struct parser *p, uint64_t most, const char *what, uint64_t *value);
/* VALUE as type TYPE wants it, see PTX_OPND_IMM. */
bool const_to_type(struct parser *p, const struct token *value, enum ptx_type type, uint64_t *bits);

/* ---- parse_var.c, parse_init.c ---- */
bool space_from_word(const struct token *tok, uint8_t *space);
/* at ".global", up to and with ';' */
bool parse_variable(struct parser *p, enum ptx_linkage linkage);
/* at '('; END, where not NULL: bytes of the text before the ')' */
bool parse_param_list(struct parser *p, struct ptx_func *f, struct ptx_var ***out, uint32_t *count,
                      uint32_t *end);
/* VAR: NULL for a function's */
bool parse_attribute(struct parser *p, struct ptx_var *var);
/* at '=' */
bool parse_initialiser(struct parser *p, struct ptx_var *var);
bool parser_in_range(struct parser *p, const struct token *name);
bool type_is_declarable(enum ptx_type t); /* of registers and variables */
uint64_t var_element_size(const struct ptx_var *var);

/* ---- parse_func.c, parse_body.c ---- */
/* behind ".func" or ".entry" */
bool parse_function(struct parser *p, enum ptx_linkage linkage, bool entry);
/* at '{' */
bool parse_body(struct parser *p, struct ptx_func *f);

/* ---- parse_label.c ---- */
bool label_define(struct parser *p, const struct token *name);
/* UINT32_MAX: failed */
uint32_t parser_label_ref(struct parser *p, const struct token *name);
bool label_scope_end(struct parser *p);
bool labels_finish(struct parser *p);
/* at .branchtargets or .calltargets */
bool parse_table(struct parser *p, const struct token *name);
/* at .callprototype */
bool parse_prototype(struct parser *p, const struct token *name);

/* ---- parse_directive.c: at the directive ---- */
bool parse_pragma(struct parser *p, const char **text, uint32_t *end);
bool parse_loc(struct parser *p);
bool parse_file(struct parser *p);
bool parse_section(struct parser *p);

/* ---- parse_inst.c: an instruction, from its guard or mnemonic to the ';' ---- */
bool parse_instruction(struct parser *p);
bool op_names_init(struct parser *p);
/* The opcode with the longest name that MNEMONIC begins with; *REST is what follows it. */
enum ptx_op parser_find_op(const struct parser *p, const struct token *mnemonic, const char **rest);

/* ---- parse_operand.c ---- */
/* reads operands up to ';' into p->raws and p->tops */
bool parse_raws(struct parser *p);
bool parse_raw(struct parser *p, uint32_t *index);
/* finds the current token as a predicate register */
bool find_predicate(struct parser *p, uint32_t *reg);

/* ---- build_operand.c ---- */
bool raw_fits(const struct parser *p, const struct raw *r, const struct ptx_desc *desc,
              const struct ptx_inst *inst);
bool raw_build(struct parser *p, const struct raw *r, const struct ptx_desc *desc,
               const struct ptx_inst *inst, struct ptx_operand *out);

/* ---- parse_call.c ---- */
bool parse_call(struct parser *p, struct ptx_inst *inst, const struct token *at);

/* ---- check.c, check_matrix.c: what the form does not say ---- */
bool inst_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool target_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool number_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool address_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool space_check(struct parser *p, const struct ptx_inst *inst, uint32_t allowed,
                 const struct token *at);
bool access_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool cache_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool cvta_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool matrix_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool wgmma_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool texture_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);
bool tensor_check(struct parser *p, const struct ptx_inst *inst, const struct token *at);

#endif
