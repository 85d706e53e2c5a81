/* The PTX reader: what it makes of good text. Bad text is test_ptx_errors.c's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ptx/ptx.h"
#include "ptx/ptx_table.h"
#include "ptx_files.h"

/* Parses BODY inside an entry; the module is the caller's. */
static struct ptx_func *body(const char *text, struct ptx_module **m)
{
    char *whole = ptx_wrap_body(text);

    *m = ptx_parse_good(whole);
    free(whole);
    return ptx_module_func(*m, "k");
}

static void samples_of_every_compiler_are_read(void **state)
{
    size_t len;
    int i;

    (void)state;
    for (i = 0; ptx_samples[i]; i++) {
        char *text = ptx_file_read(ptx_samples[i], &len);
        struct ptx_module *m = ptx_parse_good(text);
        const struct ptx_func *f;
        uint32_t n, inst, op;

        assert_true(m->nfuncs > 0);
        for (n = 0; n < m->nfuncs; n++) {
            f = m->funcs[n];
            assert_int_equal(f->id, n);
            for (inst = 0; inst < f->ninsts; inst++) {
                assert_in_range(f->insts[inst].line, 1, len);
                for (op = 0; op < f->insts[inst].nops; op++)
                    if (f->insts[inst].ops[op].kind == PTX_OPND_REG)
                        assert_in_range(f->insts[inst].ops[op].reg, 0, f->nregs - 1);
            }
        }
        ptx_module_free(m);
        free(text);
    }
}

static void note_forms(const char *name, unsigned char *seen)
{
    size_t len;
    char *text = ptx_file_read(name, &len);
    struct ptx_module *m = ptx_parse_good(text);
    uint32_t f, i;

    for (f = 0; f < m->nfuncs; f++)
        for (i = 0; i < m->funcs[f]->ninsts; i++)
            seen[m->funcs[f]->insts[i].form] = 1;
    ptx_module_free(m);
    free(text);
}

/* What ptxas takes for no device of today: the texture mode that CUDA does not use, and warps in
 * lockstep. */
static bool is_historic(unsigned op, unsigned form)
{
    return op == PTX_OP_ISTYPEP || (op == PTX_OP_TXQ && form == 1) ||
           (op == PTX_OP_SHFL && form == 1) || (op == PTX_OP_VOTE && form >= 2);
}

static void every_form_is_in_the_samples_that_ptxas_has_seen(void **state)
{
    unsigned char seen[1024] = {0};
    unsigned op, i, missing = 0;

    (void)state;
    note_forms("every_form.ptx", seen);
    note_forms("every_form_90a.ptx", seen);
    note_forms("every_form_100a.ptx", seen);
    for (op = PTX_OP_NONE + 1; op < PTX_OP_COUNT; op++)
        for (i = 0; i < ptx_op_form_count(op); i++)
            if (!seen[ptx_ops[op].first + i] && !is_historic(op, i)) {
                print_error("form %u of %s is in no sample\n", i, ptx_op_name(op));
                missing++;
            }
    assert_int_equal(missing, 0);
}

static void header_says_version_target_and_address_size(void **state)
{
    struct ptx_module *m = ptx_parse_good(
        ".version 8.7\n.target sm_90a, debug, texmode_independent\n.address_size 64\n");

    (void)state;
    assert_int_equal(m->version_major, 8);
    assert_int_equal(m->version_minor, 7);
    assert_int_equal(m->sm, 90);
    assert_int_equal(m->sm_suffix, 'a');
    assert_int_equal(m->address_size, 64);
    assert_true(m->debug);
    assert_string_equal(m->target, "sm_90a, texmode_independent");
    ptx_module_free(m);
}

static void modifiers_fill_their_fields(void **state)
{
    struct ptx_module *m;
    const struct ptx_func *k =
        body("ld.relaxed.gpu.global.L1::no_allocate.L2::128B.v2.u32 {%r1, %r2}, [%q1+-16];\n"
             "@!%p3 fma.rz.ftz.sat.f32 %f1, %f2, %f3, 0fBF800000;\n"
             "setp.geu.and.f64 %p1|%p2, %d1, %d2, !%p3;\n"
             "atom.acq_rel.sys.global.cas.b64 %q1, [%q2], %q3, 5;\n"
             "cvt.rzi.sat.s8.f32 %r1, %f1;\n"
             "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;\n",
             &m);
    const struct ptx_inst *i = k->insts;

    (void)state;
    assert_int_equal(i[0].op, PTX_OP_LD);
    assert_true(i[0].sem == PTX_SEM_RELAXED && i[0].scope == PTX_SCOPE_GPU &&
                i[0].space == PTX_SPACE_GLOBAL);
    assert_true(i[0].evict == PTX_EVICT_NO_ALLOCATE && i[0].prefetch == PTX_PREFETCH_128B &&
                i[0].vec == 2);
    assert_int_equal(i[0].type[0], PTX_T_U32);
    assert_int_equal(i[0].ops[0].kind, PTX_OPND_VEC);
    assert_int_equal(i[0].ops[0].count, 2);
    assert_int_equal(i[0].ops[1].mem.base, PTX_BASE_REG);
    assert_int_equal(i[0].ops[1].mem.offset, -16);
    assert_true(i[1].guard != PTX_NO_REG && i[1].guard_neg);
    assert_int_equal(k->regs[i[1].guard].type, PTX_T_PRED);
    assert_true(i[1].rnd == PTX_RND_RZ && i[1].flags == (PTX_F_FTZ | PTX_F_SAT));
    assert_true(i[1].ops[3].kind == PTX_OPND_IMM && i[1].ops[3].imm == 0xBF800000u);
    assert_true(i[2].cmp == PTX_CMP_GEU && i[2].bop == PTX_BOP_AND &&
                i[2].ops[1].kind == PTX_OPND_REG);
    assert_true(i[2].ops[4].neg && i[2].ops[4].type == PTX_T_PRED);
    assert_true(i[3].aop == PTX_AOP_CAS && i[3].sem == PTX_SEM_ACQ_REL &&
                i[3].scope == PTX_SCOPE_SYS);
    assert_true(i[3].ops[3].kind == PTX_OPND_IMM && i[3].ops[4].kind == PTX_OPND_NONE);
    assert_true(i[4].rnd == PTX_RND_RZI && i[4].type[0] == PTX_T_S8 && i[4].type[1] == PTX_T_F32);
    assert_true(i[5].mode == PTX_MODE_BFLY && i[5].flags == PTX_F_SYNC && i[5].nops == 6);
    ptx_module_free(m);
}

static void places_of_operands_do_not_shift_when_optional_ones_are_missing(void **state)
{
    struct ptx_module *m;
    const struct ptx_func *k =
        body("setp.eq.s32 %p1, %r1, %r2;\n"
             "bar.red.popc.u32 %r1, 0, %p1;\n"
             "bar.red.popc.u32 %r1, 0, 64, %p1;\n"
             "atom.global.add.u32 %r1, [%q1], %r2;\n"
             "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%q1, {%f5, %f6}];\n"
             "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%q1, %q2, {%f5, %f6}], %f7;\n",
             &m);
    const struct ptx_inst *i = k->insts;

    (void)state;
    assert_true(i[0].ops[1].kind == PTX_OPND_NONE && i[0].ops[2].kind == PTX_OPND_REG);
    assert_true(i[1].ops[2].kind == PTX_OPND_NONE && i[1].ops[3].type == PTX_T_PRED);
    assert_true(i[2].ops[2].kind == PTX_OPND_IMM && i[2].ops[3].type == PTX_T_PRED);
    assert_true(i[3].nops == 5 && i[3].ops[3].kind == PTX_OPND_NONE &&
                i[3].ops[4].kind == PTX_OPND_NONE);
    assert_true(i[4].ops[3].kind == PTX_OPND_NONE && i[4].ops[4].kind == PTX_OPND_VEC);
    assert_true(i[5].ops[3].kind == PTX_OPND_REG && i[5].ops[4].kind == PTX_OPND_VEC);
    assert_true(i[5].ops[6].kind == PTX_OPND_REG || i[5].ops[7].kind == PTX_OPND_REG);
    ptx_module_free(m);
}

static void modifiers_in_another_order_mean_the_same(void **state)
{
    struct ptx_module *m;
    const struct ptx_func *k =
        body("atom.add.release.gpu.u32 %r1, [%q1], 1; atom.release.gpu.add.u32 %r1, [%q1], 1;", &m);

    (void)state;
    assert_memory_equal(&k->insts[0].type, &k->insts[1].type,
                        offsetof(struct ptx_inst, nops) - offsetof(struct ptx_inst, type));
    ptx_module_free(m);
}

static void constants_take_the_type_of_their_operand(void **state)
{
    static const struct {
        const char *text;
        uint64_t imm;
    } cases[] = {
        {"mov.u32 %r1, 0xffffffff;", UINT64_MAX},
        {"mov.u16 %h1, 65535;", UINT64_MAX},
        {"mov.s32 %r1, -2147483648;", (uint64_t)INT32_MIN},
        {"mov.u64 %q1, 18446744073709551615;", UINT64_MAX},
        {"mov.s64 %q1, -9223372036854775808;", (uint64_t)INT64_MIN},
        {"mov.u32 %r1, 0b1011U;", 11},
        {"mov.u32 %r1, 017;", 15},
        {"mov.u32 %r1, WARP_SZ;", 32},
        {"mov.b32 %r1, (1 << 4) + 3*2 - ~0 ;", 23},
        {"mov.b32 %r1, (7 > 3) ? 10 : 20;", 10},
        {"mov.b64 %q1, -1 >> 1;", UINT64_MAX},
        {"mov.b64 %q1, (.u64)-1 >> 1;", INT64_MAX},
        {"mov.b64 %q1, (-9223372036854775807 - 1) / -1;", (uint64_t)INT64_MIN},
        {"mov.b64 %q1, -7 % 3;", (uint64_t)-1},
        {"mov.b32 %r1, !5 || (3 == 3 && 2 != 1);", 1},
        {"mov.f32 %f1, 0f3f800000;", 0x3f800000},
        {"mov.f32 %f1, -1.5;", 0xbfc00000},
        {"mov.f32 %f1, 0f7fc12345;", 0x7fc12345},
        {"mov.f64 %d1, 0d7FF4000000000001;", 0x7ff4000000000001},
        {"mov.f64 %d1, 1e3;", 0x408f400000000000},
        {"mov.f64 %d1, 0.1;", 0x3fb999999999999a},
        {"mov.b32 %r1, 0fBF800000;", (uint64_t)(int64_t)(int32_t)0xbf800000},
        {"mov.b64 %q1, 0d3FF0000000000000;", 0x3ff0000000000000},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ptx_module *m;
        const struct ptx_operand *o = &body(cases[i].text, &m)->insts[0].ops[1];

        if (o->kind != PTX_OPND_IMM || o->imm != cases[i].imm)
            fail_msg("%s gives 0x%llx", cases[i].text, (unsigned long long)o->imm);
        ptx_module_free(m);
    }
}

static void registers_are_dense_and_typed(void **state)
{
    struct ptx_module *m;
    struct ptx_func *k =
        body(".reg .v2 .f32 pair; .reg .b64 %r1x, y; .reg .b16 %r1<9>;\n"
             "mov.f32 pair.y, 0f00000000; mov.b64 y, %r1x; mov.b16 %r17, 1; mov.b32 %r15, 2;",
             &m);
    char name[32];

    (void)state;
    assert_int_equal(k->nregs, 6 * 16 + 2 + 2 + 9);
    assert_int_equal(k->regs[k->insts[0].ops[0].reg].type, PTX_T_F32);
    assert_string_equal(ptx_reg_name(k, k->insts[0].ops[0].reg, name, sizeof(name)), "pair.y");
    assert_int_equal(k->insts[1].ops[0].reg, k->insts[1].ops[1].reg + 1);
    assert_int_equal(k->regs[k->insts[2].ops[0].reg].type, PTX_T_B16); /* %r<16> has no %r17 */
    assert_int_equal(k->regs[k->insts[3].ops[0].reg].type, PTX_T_B32);
    ptx_module_free(m);
}

static void targets_of_branches_are_found(void **state)
{
    struct ptx_module *m;
    const struct ptx_func *k = body("T: .branchtargets OUT, LATE, IN;\n"
                                    "bra OUT;\n"                                   /* 0 */
                                    "{ bra IN; bra OUT; { bra IN; } IN: trap; }\n" /* 1 2 3 4 */
                                    "{ bra IN; IN: exit; bra LATE; }\n"            /* 5 6 7 */
                                    "OUT: bra IN;\n"                               /* 8 */
                                    "IN: brx.idx %r1, T;\n"                        /* 9 */
                                    "LATE:",
                                    &m);
    static const struct {
        unsigned from, to;
    } jumps[] = {{0, 8}, {1, 4}, {2, 8}, {3, 4}, {5, 6}, {7, 10}, {8, 9}};
    const struct ptx_table *t = &k->tables[0];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++)
        assert_int_equal(k->labels[k->insts[jumps[i].from].ops[0].label].inst, jumps[i].to);
    assert_int_equal(k->insts[9].ops[1].kind, PTX_OPND_TABLE);
    assert_int_equal(t->count, 3);
    assert_int_equal(k->labels[t->labels[0]].inst, 8);
    assert_int_equal(k->labels[t->labels[1]].inst, 10);
    assert_int_equal(k->labels[t->labels[2]].inst, 9);
    for (i = 1; i < k->nlabels; i++)
        assert_true(k->labels[i - 1].inst <= k->labels[i].inst);
    ptx_module_free(m);
}

static void initialisers_are_bytes_and_addresses(void **state)
{
    struct ptx_module *m = ptx_parse_good(".version 8.7\n.target sm_90\n.address_size 64\n"
                                          ".func (.param .b32 r) f(.param .b32 a);\n"
                                          ".global .align 4 .b8 target[32];\n"
                                          ".global .u64 p[4] = {7, target+8, generic(target), f};\n"
                                          ".global .u8 b[] = {1, 0xFF00(target), 255};\n"
                                          ".const .s16 rows[2][3] = {{-1, 2}, {3}};\n"
                                          ".global .v2 .f32 v[2] = {{1.0, 2.0}, {3.0, 4.0}};\n"
                                          ".global .f64 d = 0d3FF0000000000000;\n"
                                          ".extern .shared .align 16 .b8 dynamic[];\n");
    static const unsigned char rows[] = {0xff, 0xff, 2, 0, 3, 0}; /* not padded, as ptxas has it */
    const struct ptx_var *p = ptx_module_var(m, "p"), *b = ptx_module_var(m, "b");
    float v[4];

    (void)state;
    assert_int_equal(p->size, 32);
    assert_int_equal(p->align, 8);
    assert_int_equal(p->nrelocs, 3);
    assert_int_equal(p->init[0], 7);
    assert_true(p->relocs[0].offset == 8 && p->relocs[0].addend == 8 && p->relocs[0].size == 8 &&
                !p->relocs[0].generic);
    assert_ptr_equal(p->relocs[0].var, ptx_module_var(m, "target"));
    assert_true(p->relocs[1].generic);
    assert_ptr_equal(p->relocs[2].func, ptx_module_func(m, "f"));
    assert_int_equal(b->size, 3);
    assert_true(b->relocs[0].offset == 1 && b->relocs[0].shift == 8 && b->relocs[0].size == 1);
    assert_int_equal(ptx_module_var(m, "rows")->size, 12);
    assert_int_equal(ptx_module_var(m, "rows")->ninit, sizeof(rows));
    assert_memory_equal(ptx_module_var(m, "rows")->init, rows, sizeof(rows));
    memcpy(v, ptx_module_var(m, "v")->init, sizeof(v));
    assert_true(v[0] == 1.0f && v[1] == 2.0f && v[2] == 3.0f && v[3] == 4.0f);
    assert_true(ptx_module_var(m, "dynamic")->unsized && ptx_module_var(m, "dynamic")->align == 16);
    ptx_module_free(m);
}

static void parameters_are_laid_out_as_the_driver_does(void **state)
{
    struct ptx_module *m = ptx_parse_good(
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .f32 c,\n"
        "  .param .align 16 .b8 d[20], .param .u16 e) .maxntid 64, 2 .minnctapersm 3\n"
        ".maxnreg 40 { ret; }\n");
    const struct ptx_func *k = ptx_module_func(m, "k");
    static const unsigned offsets[] = {0, 8, 16, 32, 52};
    unsigned i;

    (void)state;
    assert_int_equal(k->nparams, 5);
    for (i = 0; i < 5; i++)
        assert_int_equal(k->params[i]->offset, offsets[i]);
    assert_int_equal(k->param_bytes, 54);
    assert_true(k->params[1]->is_ptr && k->params[1]->ptr_space == PTX_SPACE_GLOBAL &&
                k->params[1]->ptr_align == 16);
    assert_true(k->maxntid[0] == 64 && k->maxntid[1] == 2 && k->maxntid[2] == 1);
    assert_true(k->minnctapersm == 3 && k->maxnreg == 40 && k->entry);
    ptx_module_free(m);
}

static void calls_know_what_they_call(void **state)
{
    size_t len;
    char *text = ptx_file_read("every_form.ptx", &len);
    struct ptx_module *m = ptx_parse_good(text);
    const struct ptx_func *f = ptx_module_func(m, "forms");
    unsigned direct = 0, by_proto = 0, by_table = 0;
    uint32_t i;

    (void)state;
    for (i = 0; i < f->ninsts; i++) {
        const struct ptx_operand *ops = f->insts[i].ops;

        if (f->insts[i].op != PTX_OP_CALL)
            continue;
        direct += ops[1].kind == PTX_OPND_FUNC;
        by_proto += ops[1].kind == PTX_OPND_REG && ops[3].kind == PTX_OPND_PROTO &&
                    ops[3].proto->nparams == 2;
        by_table += ops[1].kind == PTX_OPND_REG && ops[3].kind == PTX_OPND_TABLE;
    }
    assert_int_equal(direct, 3);
    assert_int_equal(by_proto, 1);
    assert_int_equal(by_table, 1);
    assert_ptr_equal(ptx_module_func(m, "alias_of_same")->alias, ptx_module_func(m, "same"));
    ptx_module_free(m);
    free(text);
}

static void lanes_hold_the_registers_that_the_isa_says(void **state)
{
    static const struct {
        const char *text;
        unsigned d, a, b, c;
    } cases[] = {
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, "
         "%r4}, {%r5, %r6}, "
         "{%f1, %f2, %f3, %f4};",
         4, 4, 2, 4},
        {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1, %d2}, {%d3}, {%d4}, {%d1, %d2};", 2,
         1, 1, 2},
        {"mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5, %r6}, "
         "{%r1, %r2}, %r7, 3;",
         2, 2, 2, 2},
        {"mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};", 2,
         1, 1, 2},
    };
    struct ptx_module *m;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ptx_inst *inst = body(cases[i].text, &m)->insts;

        assert_int_equal(ptx_matrix_regs(inst, 'd'), cases[i].d);
        assert_int_equal(ptx_matrix_regs(inst, 'a'), cases[i].a);
        assert_int_equal(ptx_matrix_regs(inst, 'b'), cases[i].b);
        assert_int_equal(ptx_matrix_regs(inst, 'c'), cases[i].c);
        ptx_module_free(m);
    }
}

static void debug_information_is_read_past(void **state)
{
    size_t len;
    char *text = ptx_file_read("sample_G.ptx", &len);
    struct ptx_module *m;

    (void)state;
    assert_non_null(strstr(text, ".section"));
    m = ptx_parse_good(text);
    assert_true(m->debug);
    ptx_module_free(m);
    free(text);
}

static void lines_of_inlined_functions_are_read_past(void **state)
{
    struct ptx_module *m;
    struct ptx_func *f = body(".loc 1 2 3 "
                              ".loc 1 2 3, function_name $name, inlined_at 4 5 6 "
                              "mov.u32 %r1, 1; "
                              ".loc 1 2 3, function_name $name+8, inlined_at 4 5 6 "
                              "end: mov.u32 %r2, 2;",
                              &m);

    (void)state;
    assert_int_equal(f->ninsts, 3);
    assert_int_equal(f->insts[1].ops[1].imm, 2);
    ptx_module_free(m);
}

static double milliseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void five_thousand_lines_take_less_than_fifty_milliseconds(void **state)
{
    const char *scale = getenv("TIME_SCALE");
    char *lines = malloc(5000 * 80), *at = lines;
    double best = 1e9, start;
    struct ptx_module *m;
    int i;

    (void)state;
    for (i = 0; i < 5000; i++)
        at += sprintf(at, "@%%p%d fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3F800000;\n", i % 16, i % 16,
                      i % 7, i % 13);
    for (i = 0; i < 5; i++) {
        start = milliseconds();
        body(lines, &m);
        if (milliseconds() - start < best)
            best = milliseconds() - start;
        ptx_module_free(m);
    }
    print_message("5,000 instructions: %.1f ms\n", best);
    assert_true(best < 50 * (scale ? atof(scale) : 1));
    free(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_every_compiler_are_read),
        cmocka_unit_test(every_form_is_in_the_samples_that_ptxas_has_seen),
        cmocka_unit_test(header_says_version_target_and_address_size),
        cmocka_unit_test(modifiers_fill_their_fields),
        cmocka_unit_test(places_of_operands_do_not_shift_when_optional_ones_are_missing),
        cmocka_unit_test(modifiers_in_another_order_mean_the_same),
        cmocka_unit_test(constants_take_the_type_of_their_operand),
        cmocka_unit_test(registers_are_dense_and_typed),
        cmocka_unit_test(targets_of_branches_are_found),
        cmocka_unit_test(initialisers_are_bytes_and_addresses),
        cmocka_unit_test(parameters_are_laid_out_as_the_driver_does),
        cmocka_unit_test(calls_know_what_they_call),
        cmocka_unit_test(lanes_hold_the_registers_that_the_isa_says),
        cmocka_unit_test(debug_information_is_read_past),
        cmocka_unit_test(lines_of_inlined_functions_are_read_past),
        cmocka_unit_test(five_thousand_lines_take_less_than_fifty_milliseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
