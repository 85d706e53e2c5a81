/* See write_program.h. Opcodes, modifiers, types and operands come from the reader's own table, so
 * that an instruction added there is tried here. */
#include "write_program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx_table.h"
#include "softcuda/tensor/tensor_map.h"

/* The fuzzer is to follow the interpreter, not this. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif

enum { FUNCTIONS = 3, LONGEST_BODY = 40, LONGEST_FUNCTION = 10 };

struct writer {
    struct program *p;
    const uint8_t *data;
    size_t size, at;
    uint64_t random;
    uint32_t rank; /* of the program's tensor map */
    /* the function being written: */
    uint32_t labels;
    bool entry;
    /* the instruction being written: */
    struct ptx_inst inst;
    char *to;
    size_t room;
    bool first_operand;
};

/* ---- Choices ---- */

static uint32_t next_byte(struct writer *w)
{
    if (w->at < w->size)
        return w->data[w->at++];
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (uint32_t)(w->random >> 32 & 0xff);
}

static uint32_t choose(struct writer *w, uint32_t count)
{
    uint32_t n = next_byte(w);

    return (count > 256 ? n << 8 | next_byte(w) : n) % count;
}

static bool one_in(struct writer *w, uint32_t count)
{
    return choose(w, count) == 0;
}

#define CHOOSE(w, list) (list)[choose(w, sizeof(list) / sizeof((list)[0]))]

/* ---- Text ---- */

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct writer *w, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->to, w->room, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= w->room) {
        w->room = 1; /* too long: the reader will refuse it */
        return;
    }
    w->to += n;
    w->room -= (size_t)n;
}

/* A full program takes what comes into its last line. */
static void begin_line(struct writer *w, bool may_go)
{
    struct program *p = w->p;

    if (p->lines < PROGRAM_LINES)
        p->lines++;
    w->to = p->line[p->lines - 1];
    w->room = PROGRAM_WIDTH;
    p->may_go[p->lines - 1] = may_go;
}

static void frame_line(struct writer *w, const char *text)
{
    begin_line(w, false);
    put(w, "%s", text);
}

/* ---- Operands ---- */

static void comma(struct writer *w)
{
    put(w, w->first_operand ? " " : ", ");
    w->first_operand = false;
}

/* 0 to 7 of each kind are written freely, the others hold addresses and now and then go too. */
static uint32_t number_of(struct writer *w, bool destination, uint32_t count)
{
    return choose(w, destination && !one_in(w, 32) && count > 8 ? 8 : count);
}

static void put_register(struct writer *w, enum ptx_type type, bool destination)
{
    unsigned bits = ptx_type_bits(type);
    bool is_float = (type == PTX_T_F32 || type == PTX_T_F64) && one_in(w, 2);
    bool wider = bits <= 32 && one_in(w, 8);

    if (bits == 0 || (wider && bits > 1))
        bits = one_in(w, 3) ? 32 : 64;
    if (bits == 1)
        put(w, "%%p%u", number_of(w, destination, 8));
    else if (bits <= 16)
        put(w, "%%h%u", number_of(w, destination, 8));
    else if (bits == 32)
        put(w, is_float ? "%%f%u" : "%%r%u", number_of(w, destination, is_float ? 8 : 16));
    else if (bits == 64)
        put(w, is_float ? "%%g%u" : "%%d%u", number_of(w, destination, is_float ? 8 : 16));
    else
        put(w, "%%q%u", number_of(w, destination, 4));
}

static void put_number(struct writer *w, enum ptx_type type)
{
    static const char *const integers[] = {
        "0",          "1",          "-1",         "2",          "4",
        "7",          "8",          "16",         "31",         "32",
        "33",         "63",         "64",         "65",         "128",
        "0x7f",       "0xff",       "0xffff",     "-32768",     "0x3210",
        "0x7fffffff", "0x80000000", "0xffffffff", "0x55555555", "0x7fffffffffffffff",
        "-2147483648"};
    static const uint32_t singles[] = {
        0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
        1, 0x807fffff, 0x7f7fffff, 0x4f000000, 0xcf000000, 0x5f000000, 0x3effffff, 0x4effffff};

    if (type == PTX_T_F32)
        put(w, "0f%08X", one_in(w, 2) ? CHOOSE(w, singles) : (next_byte(w) << 24 | 0x345678));
    else if (type == PTX_T_F64)
        put(w, "0d%016llX",
            (unsigned long long)CHOOSE(w, singles) << 32 | (one_in(w, 2) ? 0u : next_byte(w)));
    else
        put(w, "%s", CHOOSE(w, integers));
}

static void put_special(struct writer *w)
{
    enum ptx_sreg s = (enum ptx_sreg)choose(w, PTX_SREG_COUNT);

    put(w, "%s", ptx_sreg_name(s));
    if (s == PTX_SREG_ENVREG || s == PTX_SREG_PM || s == PTX_SREG_PM64)
        put(w, "%u", choose(w, 33));
}

static void put_source(struct writer *w, enum ptx_type type)
{
    static const char *const symbols[] = {"gbuf", "cbuf", "sbuf", "dyn", "pointers", "f0", "fmt"};

    if ((w->inst.op == PTX_OP_MOV || w->inst.op == PTX_OP_CVT) && one_in(w, 4))
        put_special(w);
    else if (w->inst.op == PTX_OP_MOV && one_in(w, 6))
        put(w, "%s", CHOOSE(w, symbols));
    else if (one_in(w, 4))
        put_number(w, type);
    else
        put_register(w, type, false);
}

/* Which lanes take part; sources of barriers. */
static void put_members(struct writer *w)
{
    static const char *const members[] = {"0xffffffff", "0xffffffff", "0xffffffff", "0xffff",
                                          "%r10",       "%r11",       "0",          "0x80000001"};

    put(w, "%s", CHOOSE(w, members));
}

static void put_barrier(struct writer *w, bool threads)
{
    static const char *const barriers[] = {"0", "0", "1", "2", "15", "16", "%r3"};
    static const char *const counts[] = {"32", "64", "96", "32", "33", "0", "%r4"};

    put(w, "%s", threads ? CHOOSE(w, counts) : CHOOSE(w, barriers));
}

/* Mostly where there is memory: a fault ends the program. */
static void put_address(struct writer *w, enum ptx_space space)
{
    static const char *const offsets[] = {"", "", "+4", "+8", "+16", "+32", "+64"};
    static const char *const odd_offsets[] = {"+1",    "-1",    "-16",    "+240",
                                              "+4088", "+4095", "+65536", "+2147483632"};
    static const char *const of_shared[] = {"%r13", "sbuf", "dyn", "%r5"};
    static const char *const of_global[] = {"%d8", "%d8", "%d9", "%d14", "gbuf", "pointers"};
    static const char *const of_generic[] = {"%d8", "%d8", "%d9", "%d10", "%d11", "%d14"};
    static const char *const of_local[] = {"lbuf", "%r9", "%r5", "lbuf"};
    static const char *const of_const[] = {"cbuf", "%d15", "cbuf"};
    static const char *const of_param[] = {"ka", "kb", "kc", "ke", "fa", "fb", "fr"};
    const char *base;

    switch (space) {
    case PTX_SPACE_SHARED:
        base = CHOOSE(w, of_shared);
        break;
    case PTX_SPACE_GLOBAL:
        base = CHOOSE(w, of_global);
        break;
    case PTX_SPACE_LOCAL:
        base = CHOOSE(w, of_local);
        break;
    case PTX_SPACE_CONST:
        base = CHOOSE(w, of_const);
        break;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_PARAM_ENTRY:
    case PTX_SPACE_PARAM_FUNC:
        base = CHOOSE(w, of_param);
        break;
    default:
        base = CHOOSE(w, of_generic);
        break;
    }
    if (one_in(w, 16))
        put(w, "[%%%c%u", one_in(w, 3) ? 'r' : 'd', choose(w, 16));
    else
        put(w, "[%s", base);
    put(w, "%s]", one_in(w, 12) ? CHOOSE(w, odd_offsets) : CHOOSE(w, offsets));
}

static void put_list(struct writer *w, enum ptx_type type, unsigned count, bool destination)
{
    put(w, "{");
    for (unsigned i = 0; i < count; i++) {
        put(w, i ? ", " : "");
        if (destination && one_in(w, 16))
            put(w, "_");
        else
            put_register(w, type, destination);
    }
    put(w, "}");
}

/* One side of mov may be a list that packs or unpacks the other. */
static void put_mov_side(struct writer *w, enum ptx_type type, bool destination)
{
    static const enum ptx_type parts[] = {PTX_T_B8, PTX_T_B16, PTX_T_B32, PTX_T_B64};
    unsigned count = one_in(w, 2) ? 2 : 4, bits = ptx_type_bits(type) / count;

    if (!one_in(w, 6)) {
        if (destination)
            put_register(w, type, true);
        else
            put_source(w, type);
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (ptx_type_bits(parts[i]) == bits)
            put_list(w, parts[i], count, destination);
}

static enum ptx_type element_of(enum ptx_type type)
{
    return type == PTX_T_F64 ? PTX_T_F64 : type == PTX_T_F32 ? PTX_T_F32 : PTX_T_B32;
}

static void put_matrix(struct writer *w, unsigned place, bool destination)
{
    static const char letters[] = "dabc";
    const struct ptx_inst *in = &w->inst;
    char matrix = letters[place];
    enum ptx_type type = in->type[0];

    if (in->op == PTX_OP_LDMATRIX || in->op == PTX_OP_STMATRIX) {
        put_list(w, PTX_T_B32, in->num * (type == PTX_T_B16 || !destination ? 1u : 2u),
                 destination);
        return;
    }
    if (in->op == PTX_OP_WMMA_LOAD || in->op == PTX_OP_WMMA_STORE)
        matrix = (char)('a' + (in->mode - PTX_MODE_WMMA_A));
    else if (in->type[2] && place)
        type = in->type[place];
    else if (place)
        type = matrix == 'c' ? in->type[1] : PTX_T_F16;
    put_list(w, element_of(type), ptx_matrix_regs(in, matrix), destination);
}

static bool is_matrix(enum ptx_op op)
{
    return op == PTX_OP_MMA || op == PTX_OP_WMMA_MMA || op == PTX_OP_WMMA_LOAD ||
           op == PTX_OP_WMMA_STORE || op == PTX_OP_LDMATRIX || op == PTX_OP_STMATRIX ||
           op == PTX_OP_WGMMA;
}

/* Of a matrix at the start of shared memory, or wherever. */
static void put_descriptor(struct writer *w)
{
    static const char *const all[] = {
        "0x40", "0x100040", "0x8000000000000040", "0xc000000100010040", "0x4006000000000041", "-1",
        "%d7",  "%d12"};

    put(w, "%s", CHOOSE(w, all));
}

/* [map, {coordinates}]: of the rank that the map has, or not. */
static void put_tensor(struct writer *w)
{
    static const char *const maps[] = {"tmap", "tmap", "tmap", "tmap",
                                       "tmap", "gbuf", "%d8",  "%d12"};
    static const char *const coordinates[] = {"0", "1", "-1", "2", "5", "0x7fffffff", "%r1", "%r3"};

    put(w, "[%s, {%s", CHOOSE(w, maps), CHOOSE(w, coordinates));
    for (unsigned i = 1; i < w->inst.num; i++)
        put(w, ", %s", CHOOSE(w, coordinates));
    put(w, "}]");
}

/* A box where it may lie, or wherever. */
static void put_box(struct writer *w)
{
    if (one_in(w, 4))
        put_address(w, PTX_SPACE_SHARED);
    else
        put(w, "[sbuf]");
}

static void put_texture(struct writer *w)
{
    static const uint8_t counts[] = {1, 1, 2, 4, 2, 4, 4, 4, 4, 4};
    bool texture = ptx_op_class(w->inst.op) == PTX_CLASS_TEX;

    put(w, "[%%t%u, ", choose(w, 4));
    put_list(w, texture ? w->inst.type[1] : PTX_T_S32, counts[w->inst.geom % sizeof counts], false);
    put(w, "]");
}

static void put_operand(struct writer *w, const struct ptx_desc *desc, unsigned place, bool last)
{
    enum ptx_type type = ptx_rule_type(&w->inst, desc->rule);
    enum ptx_class class = ptx_op_class(w->inst.op);
    bool destination = desc->kind == PTX_DESC_DST || desc->kind == PTX_DESC_DSTVEC ||
                       desc->kind == PTX_DESC_VECDST;

    if (desc->kind == PTX_DESC_PIPE) {
        put(w, "|%%p%u", choose(w, 8));
        return;
    }
    comma(w);
    switch ((enum ptx_desc_kind)desc->kind) {
    case PTX_DESC_DST:
        put_register(w, type, true);
        break;
    case PTX_DESC_SRC:
        if (class == PTX_CLASS_WARP && last)
            put_members(w);
        else if (class == PTX_CLASS_WGMMA)
            put_descriptor(w);
        else if (class == PTX_CLASS_BARRIER)
            put_barrier(w, place > 0 && w->inst.type[0] == 0);
        else
            put_source(w, type);
        break;
    case PTX_DESC_DSTVEC:
    case PTX_DESC_SRCVEC:
        if (w->inst.vec)
            put_list(w, type, w->inst.vec, destination);
        else if (destination)
            put_register(w, type, true);
        else
            put_source(w, type);
        break;
    case PTX_DESC_VEC:
    case PTX_DESC_VECDST:
        if (is_matrix(w->inst.op))
            put_matrix(w, place, destination);
        else if (w->inst.op == PTX_OP_MOV)
            put_mov_side(w, type, destination);
        else
            put_list(w, type, one_in(w, 2) ? 2 : 4, destination);
        break;
    case PTX_DESC_PRED:
        put(w, "%s%%p%u", one_in(w, 4) ? "!" : "", choose(w, 8));
        break;
    case PTX_DESC_DSTPRED:
        put(w, "%%p%u", choose(w, 8));
        break;
    case PTX_DESC_MEM:
        if (w->inst.op == PTX_OP_TXQ || w->inst.op == PTX_OP_SUQ)
            put(w, "[%%t%u]", choose(w, 4));
        else if (class == PTX_CLASS_TENSOR && w->inst.num)
            put_box(w);
        else
            put_address(w, w->inst.op == PTX_OP_CP_ASYNC && place == 1 ? w->inst.space2
                                                                       : w->inst.space);
        break;
    case PTX_DESC_INT: {
        static const char *const numbers[] = {"0", "1", "4", "8", "16", "2", "128", "0xe8", "-1"};
        put(w, "%s", CHOOSE(w, numbers));
        break;
    }
    case PTX_DESC_LABEL:
        put(w, "L%u", choose(w, w->labels));
        break;
    case PTX_DESC_TABLE:
        put(w, "targets");
        break;
    case PTX_DESC_TEX:
        if (class == PTX_CLASS_TENSOR)
            put_tensor(w);
        else
            put_texture(w);
        break;
    default:
        break;
    }
}

/* ---- Modifiers ---- */

static void set_field(struct ptx_inst *in, const struct ptx_slot_info *slot, uint32_t value)
{
    if (slot->flags)
        in->flags |= value;
    else
        *((uint8_t *)in + slot->field) = (uint8_t)value;
}

static void put_type(struct writer *w, enum ptx_set set, unsigned *types)
{
    enum ptx_type type;

    do
        type = (enum ptx_type)(choose(w, PTX_T_COUNT - 1) + 1);
    while (!ptx_set_has(set, type));
    put(w, ".%s", ptx_type_name(type));
    if (*types < 4)
        w->inst.type[(*types)++] = (uint8_t)type;
}

static void put_slot(struct writer *w, const struct ptx_slot *slot, unsigned *types)
{
    const struct ptx_slot_info *info = &ptx_slots[slot->kind];
    uint32_t count = 0, n;

    if (slot->kind == PTX_SLOT_TYPE) {
        put_type(w, (enum ptx_set)slot->set, types);
        return;
    }
    if (slot->optional && !one_in(w, slot->kind == PTX_SLOT_SPACE ? 1 : 3))
        return;
    while (info->words[count].word)
        count++;
    n = slot->kind == PTX_SLOT_RANK && !one_in(w, 8) ? w->rank - 1 : choose(w, count);
    put(w, ".%s", info->words[n].word);
    set_field(&w->inst, info, info->words[n].value);
}

/* The words of SPEC behind the opcode's name; for matrices, whose words seldom fit by chance. */
static void put_words(struct writer *w, const char *spec)
{
    static const uint8_t slots[] = {PTX_SLOT_SHAPE, PTX_SLOT_WGMMA_SHAPE, PTX_SLOT_SPARSE};
    const struct ptx_word *word;
    unsigned types = 0;

    put(w, "%s", spec);
    while (*spec == '.') {
        size_t n = strcspn(++spec, ".");
        enum ptx_type type = ptx_type_find(spec, n);

        for (size_t i = 0; i < sizeof slots; i++)
            for (word = ptx_slots[slots[i]].words; word->word; word++)
                if (strlen(word->word) == n && !memcmp(word->word, spec, n))
                    set_field(&w->inst, &ptx_slots[slots[i]], word->value);
        if (n == 1 && *spec >= 'a' && *spec <= 'd')
            w->inst.mode = (uint8_t)(PTX_MODE_WMMA_A + (*spec - 'a'));
        if (n == 2 && *spec == 'x')
            w->inst.num = (uint8_t)(spec[1] - '0');
        if (!strncmp(spec, "shared", 6))
            w->inst.space = PTX_SPACE_SHARED;
        if (type && types < 4)
            w->inst.type[types++] = (uint8_t)type;
        spec += n;
    }
}

static const struct ptx_form *find_form(enum ptx_op op, unsigned n)
{
    return &ptx_forms[ptx_ops[op].first + n];
}

static void put_matrix_instruction(struct writer *w)
{
    static const struct {
        uint16_t op, form;
        const char *words, *last; /* operands, of those that have to be */
    } all[] = {
        {PTX_OP_MMA, 0, ".sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", NULL},
        {PTX_OP_MMA, 0, ".sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", NULL},
        {PTX_OP_MMA, 1, ".sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", NULL},
        {PTX_OP_MMA, 1, ".sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
         NULL},
        {PTX_OP_MMA, 1, ".sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.u8.s32", NULL},
        {PTX_OP_MMA, 1, ".sp.sync.aligned.m16n8k128.row.col.s32.u4.s4.s32", NULL},
        {PTX_OP_WMMA_LOAD, 0, ".a.sync.aligned.row.m16n16k16.shared.f16", NULL},
        {PTX_OP_WMMA_LOAD, 0, ".b.sync.aligned.col.m8n32k16.u8", NULL},
        {PTX_OP_WMMA_LOAD, 0, ".c.sync.aligned.row.m16n16k16.f32", NULL},
        {PTX_OP_WMMA_LOAD, 0, ".a.sync.aligned.row.m8n8k32.shared.s4", NULL},
        {PTX_OP_WMMA_LOAD, 0, ".b.sync.aligned.col.m8n8k128.b1", NULL},
        {PTX_OP_WMMA_LOAD, 0, ".a.sync.aligned.row.m16n16k8.tf32", NULL},
        {PTX_OP_WMMA_LOAD, 0, ".a.sync.aligned.row.m8n8k4.f64", NULL},
        {PTX_OP_WMMA_STORE, 0, ".d.sync.aligned.row.m16n16k16.shared.f32", NULL},
        {PTX_OP_WMMA_STORE, 0, ".d.sync.aligned.col.m32n8k16.s32", NULL},
        {PTX_OP_WMMA_STORE, 0, ".d.sync.aligned.row.m8n8k4.f64", NULL},
        {PTX_OP_WMMA_MMA, 0, ".sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", NULL},
        {PTX_OP_WMMA_MMA, 0, ".sync.aligned.row.row.m8n32k16.s32.s8.s8.s32.satfinite", NULL},
        {PTX_OP_WMMA_MMA, 0, ".sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn", NULL},
        {PTX_OP_WMMA_MMA, 1, ".sync.aligned.col.row.m16n16k16.f32.f32", NULL},
        {PTX_OP_WMMA_MMA, 1, ".sync.aligned.row.col.m32n8k16.f16.f32", NULL},
        {PTX_OP_LDMATRIX, 0, ".sync.aligned.m8n8.x4.shared.b16", NULL},
        {PTX_OP_LDMATRIX, 0, ".sync.aligned.m8n8.x1.trans.b16", NULL},
        {PTX_OP_STMATRIX, 0, ".sync.aligned.m8n8.x2.shared.b16", NULL},
        {PTX_OP_WGMMA, 0, ".sync.aligned.m64n16k16.f32.f16.f16", ", 1, -1, 0, 1"},
        {PTX_OP_WGMMA, 0, ".sync.aligned.m64n8k16.f32.bf16.bf16", ", -1, -1, 1, 0"},
        {PTX_OP_WGMMA, 1, ".sync.aligned.m64n16k16.f16.f16.f16", ", 1, 1, 1"},
        {PTX_OP_WGMMA, 1, ".sync.aligned.m64n8k8.f32.tf32.tf32", ", 1, -1"},
        {PTX_OP_WGMMA, 0, ".sync.aligned.m64n24k32.f32.e5m2.e4m3", ", 1, 1"},
        {PTX_OP_WGMMA, 0, ".sync.aligned.m64n16k32.satfinite.s32.s8.s8", ""},
        {PTX_OP_WGMMA, 1, ".sync.aligned.m64n8k256.s32.b1.b1.and.popc", ""},
    };
    unsigned n = choose(w, sizeof all / sizeof all[0]);
    const struct ptx_form *form = find_form((enum ptx_op)all[n].op, all[n].form);

    w->inst.op = all[n].op;
    put(w, "%s", ptx_op_name((enum ptx_op)all[n].op));
    put_words(w, all[n].words);
    for (unsigned i = 0; form->opnds[i].kind != PTX_DESC_END; i++)
        if (!form->opnds[i].optional || (!all[n].last && one_in(w, 2)))
            put_operand(w, &form->opnds[i], i, false);
    put(w, "%s;", all[n].last ? all[n].last : "");
}

/* ---- Statements ---- */

static bool stands_for_itself(enum ptx_op op)
{
    enum ptx_class class = ptx_op_class(op);

    return class != PTX_CLASS_REFUSED && class != PTX_CLASS_CALL && class != PTX_CLASS_END &&
           op != PTX_OP_PRAGMA && op != PTX_OP_BRKPT && ptx_op_form_count(op) &&
           !(is_matrix(op) && op != PTX_OP_LDMATRIX && op != PTX_OP_STMATRIX);
}

/* Those where lanes meet each other or memory: fewer opcodes than arithmetic, and more of them are
 * refused. */
static bool is_delicate(enum ptx_op op)
{
    enum ptx_class class = ptx_op_class(op);

    return class == PTX_CLASS_ATOM || class == PTX_CLASS_WARP || class == PTX_CLASS_MBARRIER ||
           class == PTX_CLASS_TEX || class == PTX_CLASS_SURF || class == PTX_CLASS_STACK ||
           class == PTX_CLASS_TENSOR || class == PTX_CLASS_WGMMA;
}

static void put_any_instruction(struct writer *w)
{
    bool delicate = one_in(w, 2);
    const struct ptx_form *form;
    unsigned types = 0;
    enum ptx_op op;

    do
        op = (enum ptx_op)(choose(w, PTX_OP_COUNT - 1) + 1);
    while (!stands_for_itself(op) || (delicate && !is_delicate(op)));
    form = find_form(op, choose(w, ptx_op_form_count(op)));
    w->inst.op = (uint16_t)op;
    put(w, "%s", ptx_op_name(op));
    for (unsigned i = 0; i < PTX_MAX_SLOTS && form->slots[i].kind != PTX_SLOT_END; i++)
        put_slot(w, &form->slots[i], &types);
    for (unsigned i = 0; i < PTX_MAX_OPERANDS && form->opnds[i].kind != PTX_DESC_END; i++) {
        bool last = i + 1 == PTX_MAX_OPERANDS || form->opnds[i + 1].kind == PTX_DESC_END;

        if (form->opnds[i].kind == PTX_DESC_SAMPLER || form->opnds[i].kind == PTX_DESC_COORD ||
            form->opnds[i].kind == PTX_DESC_NOTHING)
            continue;
        if (!form->opnds[i].optional || one_in(w, 3))
            put_operand(w, &form->opnds[i], i, last);
    }
    put(w, ";");
}

static void put_call(struct writer *w)
{
    static const char *const builtins[] = {
        "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %d7; st.param.b64 [y], "
        "%d11; call (z), vprintf, (x, y); ld.param.b32 %r6, [z]; }",
        "{ .param .b64 x; .param .b64 z; st.param.b64 [x], 64; call (z), malloc, (x); "
        "ld.param.b64 %d6, [z]; }",
        "{ .param .b64 x; st.param.b64 [x], %d6; call free, (x); }",
        "{ .param .b64 x; .param .b64 y; .param .b32 n; .param .b64 f; .param .b64 s; "
        "st.param.b64 [x], %d7; st.param.b64 [y], %d8; st.param.b64 [f], %d7; call __assertfail, "
        "(x, y, n, f, s); }",
    };
    uint32_t kind = choose(w, 9);

    if (kind < 2) {
        put(w, "%s", CHOOSE(w, builtins));
        return;
    }
    if (kind == 8) {
        put(w, "call (%%r%u), fregs, (%%r%u, %%d%u);", choose(w, 8), choose(w, 16), choose(w, 16));
        return;
    }
    put(w,
        "{ .param .b32 x; .param .b64 y; .param .b32 z; st.param.b32 [x], %%r%u; "
        "st.param.b64 [y], %%d%u; ",
        choose(w, 16), choose(w, 16));
    if (kind == 2)
        put(w, "call (z), %%d13, (x, y), proto; ");
    else if (kind == 3)
        put(w, "call (z), %%d%u, (x, y), proto; ", choose(w, 16));
    else
        put(w, "call (z), f%u, (x, y); ", choose(w, FUNCTIONS));
    put(w, "ld.param.b32 %%r%u, [z]; }", choose(w, 8));
}

/* Mostly forwards, so that more than a loop is seen. */
static void put_branch(struct writer *w, uint32_t self)
{
    uint32_t rest = w->labels - self - 1;

    if (one_in(w, 5)) {
        put(w, "brx.idx %%r%u, targets;", choose(w, 16));
        return;
    }
    put(w, "bra%s L%u;", one_in(w, 8) ? ".uni" : "",
        one_in(w, 5) || !rest ? choose(w, w->labels) : self + 1 + choose(w, rest));
}

static void put_end(struct writer *w)
{
    static const char *const ends[] = {"ret;", "exit;", "ret;", "trap;"};

    put(w, "%s", CHOOSE(w, ends));
}

static void statement(struct writer *w, uint32_t self)
{
    uint32_t kind = choose(w, 32);

    begin_line(w, false);
    put(w, "L%u:", self);
    begin_line(w, true);
    w->inst = (struct ptx_inst){.guard = PTX_NO_REG};
    w->first_operand = true;
    if (one_in(w, 4) || kind == 0)
        put(w, "@%s%%p%u ", one_in(w, 2) ? "!" : "", choose(w, 8));
    if (kind == 0)
        put_end(w);
    else if (kind < 5)
        put_branch(w, self);
    else if (kind < 8)
        put_call(w);
    else if (kind < 10)
        put_matrix_instruction(w);
    else
        put_any_instruction(w);
}

/* ---- Functions ---- */

static void registers(struct writer *w)
{
    frame_line(w, ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %d<16>; "
                  ".reg .f32 %f<8>; .reg .f64 %g<8>; .reg .b128 %q<4>; "
                  ".reg .b64 %t<4>; "
                  ".local .align 16 .b8 lbuf[64];");
    frame_line(w, "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);");
    begin_line(w, false);
    put(w, "targets: .branchtargets L%u", choose(w, w->labels));
    for (uint32_t i = choose(w, 4); i; i--)
        put(w, ", L%u", choose(w, w->labels));
    put(w, ";");
    frame_line(w, "mov.u32 %r0, %tid.x; mov.u32 %r1, %laneid; mov.u32 %r13, sbuf; "
                  "mov.u64 %d7, fmt; mov.u32 %r11, 0x0f0f0f0f; activemask.b32 %r10;");
    frame_line(w, "cvta.shared.u64 %d10, sbuf; mov.u64 %d11, lbuf; mov.u32 %r9, lbuf; "
                  "cvta.local.u64 %d11, %d11; mov.u64 %d15, cbuf;");
    frame_line(w, "and.b32 %r5, %r1, 15; shl.b32 %r5, %r5, 4; setp.lt.u32 %p0, %r1, 9; "
                  "setp.eq.u32 %p1, %r1, 0; and.b32 %r3, %r1, 3; setp.gt.u32 %p2, %r3, 1;");
    frame_line(w, "mov.u64 %t0, 1; cvt.u64.u32 %t1, %r3; add.u64 %t1, %t1, 1; mov.u64 %t2, 2; "
                  "mov.u64 %t3, 3;");
    frame_line(w, "mov.u64 %d0, f0; mov.u64 %d1, f1; selp.b64 %d13, %d0, %d1, %p2;");
}

static void statements(struct writer *w)
{
    for (uint32_t i = 0; i < w->labels; i++)
        statement(w, i);
}

/* The last one has its parameters in registers. */
static void function(struct writer *w, uint32_t number)
{
    w->entry = false;
    w->labels = 2 + choose(w, LONGEST_FUNCTION - 1);
    begin_line(w, false);
    if (number < FUNCTIONS)
        put(w, ".func (.param .b32 fr) f%u (.param .b32 fa, .param .b64 fb) {", number);
    else
        put(w, ".func (.reg .b32 fr) fregs (.reg .b32 fa, .reg .b64 fb) {");
    registers(w);
    frame_line(w, number < FUNCTIONS ? "ld.param.b32 %r12, [fa]; ld.param.b64 %d8, [fb];"
                                     : "mov.b32 %r12, fa; mov.b64 %d8, fb;");
    frame_line(w, "mov.u64 %d9, %d8; mov.u64 %d14, gbuf; mov.b64 %d12, 0x123456789a0;");
    statements(w);
    frame_line(w,
               number < FUNCTIONS ? "st.param.b32 [fr], %r6; ret; }" : "mov.b32 fr, %r6; ret; }");
}

static void kernel(struct writer *w)
{
    w->entry = true;
    w->labels = 4 + choose(w, LONGEST_BODY - 3);
    frame_line(w, ".visible .entry k (.param .u64 ka, .param .u64 kb, .param .u64 kc, "
                  ".param .align 8 .b8 ke[24]) {");
    registers(w);
    frame_line(w, "ld.param.u64 %d9, [ka]; ld.param.u64 %d8, [kb]; ld.param.u64 %d12, [ke]; "
                  "shl.b32 %r2, %r1, 4; cvt.u64.u32 %d14, %r2; add.u64 %d14, %d14, %d8;");
    statements(w);
    frame_line(w, "st.global.b32 [%d8], %r6; ret; }");
}

/* Mostly a map that a driver makes, of a box that sbuf holds. */
static void tensor_map(struct writer *w)
{
    static const uint64_t strides[] = {16, 32, 48, 64, 0, 16, 4096, (uint64_t)1 << 39};
    struct tensor_map map = {.rank = (uint8_t)(1 + choose(w, 5)),
                             .type = (uint8_t)choose(w, 14),
                             .swizzle = (uint8_t)choose(w, 4),
                             .fill = one_in(w, 4)};
    const uint32_t element = tensor_element_bytes(map.type);
    uint64_t dims[5], words[sizeof(map) / sizeof(uint64_t)], stride[4];
    uint32_t box[5], steps[5];

    for (unsigned i = 0; i < 5; i++) {
        dims[i] = one_in(w, 16) ? 0xffffffff : 1 + choose(w, 9);
        box[i] = one_in(w, 16) ? choose(w, 258) : 1 + choose(w, 3);
        steps[i] = 1 + choose(w, 3);
        if (i)
            stride[i - 1] = CHOOSE(w, strides);
    }
    if (element && !one_in(w, 8))
        box[0] = 16 / element * (1 + choose(w, 2));
    tensor_map_encode(&map, dims, stride, box, steps);
    if (one_in(w, 16))
        map.interleave = (uint8_t)choose(w, 4);
    w->rank = map.rank;
    memcpy(words, &map, sizeof(words));
    begin_line(w, false);
    put(w, ".global .align 64 .u64 tmap[16] = {0x%llx, gbuf", (unsigned long long)words[0]);
    for (unsigned i = 2; i < 16; i++)
        put(w, ", 0x%llx", (unsigned long long)words[i]);
    put(w, "};");
}

static void variables(struct writer *w)
{
    static const char *const versions[] = {".version 8.7", ".version 9.0", ".version 8.0"};
    static const char *const targets[] = {".target sm_90", ".target sm_90a", ".target sm_100a"};

    frame_line(w, CHOOSE(w, versions));
    frame_line(w, CHOOSE(w, targets));
    frame_line(w, ".address_size 64");
    frame_line(w, ".func (.param .b32 r) f0 (.param .b32 a, .param .b64 b); "
                  ".func (.param .b32 r) f1 (.param .b32 a, .param .b64 b); "
                  ".func (.param .b32 r) f2 (.param .b32 a, .param .b64 b);");
    frame_line(w, ".func (.reg .b32 r) fregs (.reg .b32 a, .reg .b64 b);");
    frame_line(w, ".global .align 16 .b8 gbuf[512]; "
                  ".global .align 8 .u64 pointers[4] = {gbuf, gbuf+8, f1, 0}; "
                  ".const .align 16 .b8 cbuf[64] = {1, 2, 3, 255};");
    tensor_map(w);
    frame_line(w, ".shared .align 128 .b8 sbuf[256]; .extern .shared .align 16 .b8 dyn[];");
    /* "%d %s %-5.3f %c %llx %p%%\n" */
    frame_line(w, ".global .b8 fmt[27] = {37, 100, 32, 37, 115, 32, 37, 45, 53, 46, 51, 102, 32, "
                  "37, 99, 32, 37, 108, 108, 120, 32, 37, 112, 37, 37, 10, 0};");
    frame_line(w, ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b); "
                  ".extern .func (.param .b64 r) malloc (.param .b64 a); "
                  ".extern .func free (.param .b64 a); .extern .func __assertfail (.param .b64 a, "
                  ".param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);");
}

void program_write(struct program *p, const uint8_t *data, size_t size)
{
    struct writer w = {.p = p, .data = data, .size = size, .random = 0xcbf29ce484222325u};

    p->lines = 0;
    for (size_t i = 0; i < size; i++)
        w.random = (w.random ^ data[i]) * 0x100000001b3u;
    w.random |= 1;
    variables(&w);
    kernel(&w);
    for (uint32_t i = 0; i <= FUNCTIONS; i++)
        function(&w, i);
}

bool program_drop(struct program *p, uint32_t number)
{
    if (!number || number > p->lines || !p->may_go[number - 1] || !p->line[number - 1][0])
        return false;
    p->line[number - 1][0] = 0;
    return true;
}

char *program_text(const struct program *p, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    if (!out)
        abort();
    for (uint32_t i = 0; i < p->lines; i++)
        fprintf(out, "%s\n", p->line[i]);
    if (fclose(out))
        abort();
    return text;
}

#ifdef __clang__
#pragma clang attribute pop
#endif
