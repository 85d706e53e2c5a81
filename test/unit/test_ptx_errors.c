/* The PTX reader on bad text: the place and what was expected, bounds, cuts and flips, and no
 * memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_alloc.h"
#include "ptx/ptx.h"
#include "ptx_files.h"

#define HEADER ".version 8.7\n.target sm_90\n.address_size 64\n"

static int parse(const char *text, struct ptx_error *err)
{
    struct ptx_module *m = NULL;
    int status = ptx_parse(text, strlen(text), &m, err);

    if (status)
        assert_null(m);
    ptx_module_free(m);
    return status;
}

static void mistakes_in_instructions_are_placed_and_explained(void **state)
{
    /* BODY stands on line 7 of what ptx_wrap_body makes. */
    static const struct {
        const char *body;
        unsigned column;
        const char *says[2];
    } cases[] = {
        {"add.s32 %r1, %r2;", 17, {"expected a register or constant as operand 3", "found ';'"}},
        {"add.s32 %r1, %r2, %r3, %r4;", 24, {"expected ';' as operand 4", "found '%r4'"}},
        {"add.s32 %r1, %r2, %q3;", 19, {"expected a register of type .s32", "'%q3' of type .b64"}},
        {"add.s32 5, %r2, %r3;", 9, {"expected a register as operand 1", "found '5'"}},
        {"add.s33 %r1, %r2, %r3;", 4, {"expected a type in 'add.s33'", "found '.s33'"}},
        {"add.s32.ftz %r1, %r2, %r3;", 8, {"expected no further modifier", "found '.ftz'"}},
        {"mul.s32 %r1, %r2, %r3;", 4, {"expected", "'mul.s32'"}},
        {"addd.s32 %r1, %r2, %r3;", 1, {"expected an instruction", "'addd.s32'"}},
        {"add.f32 %f1, %f2, 1;", 19, {"expected a .f32 constant", "integer"}},
        {"add.s32 %r1, %r2, 0f3F800000;", 19, {"expected a .s32 constant", "floating-point"}},
        {"ld.global.u32 %r1, %q1;", 20, {"expected an address in brackets", "found '%q1'"}},
        {"ld.global.u32 %r1, [%h1];", 20, {"32-bit or 64-bit register", ".b16"}},
        {"ld.global.v2.u32 {%r1, %r2, %r3}, [%q1];", 1, {"expected a list of 2", "found 3"}},
        {"ld.global.v2.u32 %r1, [%q1];", 18, {"list of them", "found '%r1'"}},
        {"ld.shared.u32 %r1, [p0];", 1, {"'p0' lies in .param", ".shared"}},
        {"ld.global.u32 {5}, [%q1];", 15, {"expected a register", "found '{'"}},
        {"@%r1 bra A;", 2, {"expected a predicate register", "'%r1'"}},
        {"bra NOWHERE;", 5, {"'NOWHERE' is not declared", ""}},
        {"mov.u32 %r1, nothing;", 14, {"'nothing', which is not declared", ""}},
        {"mov.u32 %r16, 0;", 9, {"'%r16', which is not declared", ""}},
        {"mov.u32 %r1, %tid.w;", 14, {"%tid", ""}},
        {"call f, (%r1);", 6, {"expected a declared function", ""}},
        {"A: ret; A: ret;", 9, {"'A' is declared twice", ""}},
        {"{ mov.u32 %r1, 0;", 0, {"expected", "end of the text"}},
        {"mov.u32 %r1, 0", 0, {"expected ',' or ';'", "found 'ret'"}},
        {"mov.u32 %r1, 12345678901234567890123;", 14, {"does not fit 64 bits", ""}},
        {"mov.f32 %f1, 0f3F8;", 14, {"0f needs 8", ""}},
        {"mov.u32 %r1, (1 / 0);", 20, {"divided by zero", ""}},
        {"mov.u32 %r1, \x01;", 14, {"a character that PTX does not use", ""}},
        {"mov.b32 %r1, {%h1, %h2, %h3};", 14, {"3 elements do not make", ""}},
        {"atom.global.cas.b32 %r1, [%q1], %r2;",
         36,
         {"expected a register or constant as operand 4", ""}},
        {"atom.global.inc.s32 %r1, [%q1], %r2;", 1, {"does not come for .s32", ""}},
        {"bfe.u32 %r1, %r2, 256, 1;", 1, {"from 0 to 255", "found 256"}},
        {"add.s32 %r1, %f1, %r2;", 14, {"expected a register of type .s32", "'%f1' of type .f32"}},
        {"add.u64 %q1, q, %q2;", 14, {"expected a register or constant", "'q'"}},
        {"add.rz.f16 %h1, %h2, %h3;", 1, {"expected .rn for .f16", ""}},
        {"add.sat.u32 %r1, %r2, %r3;", 1, {"there is no .sat of .u32", ""}},
        {"cvt.f32.u32 %f1, %r1;", 1, {"expected .rn, .rz, .rm or .rp", "from .u32 to .f32"}},
        {"cvt.rn.f64.f32 %d1, %f1;", 1, {"expected no such rounding mode", ""}},
        {"setp.lo.s32 %p1, %r1, %r2;", 1, {"does not come for .s32", ""}},
        {"bar.sync 16;", 1, {"from 0 to 15", "found 16"}},
        {"bar.arrive 1, 40;", 1, {"whole warps", "found 40"}},
        {"ld.relaxed.global.u32 %r1, [%q1];", 1, {"expected a scope", ""}},
        {"ld.gpu.global.u32 %r1, [%q1];", 1, {"with a scope", ""}},
        {"st.acquire.gpu.global.u32 [%q1], %r1;", 1, {".acquire is of loads", ""}},
        {"ld.volatile.local.u32 %r1, [%r2];", 1, {"no such memory order in .local", ""}},
        {"ld.global.wb.u32 %r1, [%q1];", 1, {"as cache operator", ".ca"}},
        {"ld.shared.nc.u32 %r1, [%r2];", 1, {"expected .global with .nc", ""}},
        {"ld.global.u32 %r1, [16];", 1, {"expected a register or a variable as address", ""}},
        {"mov.u32 %r1, %clock64;", 14, {"%clock64 does not fit", ".u32"}},
        {".reg .b32 %r3;", 11, {"'%r3' is declared twice", ""}},
        {".shared .v4 .f64 x;", 18, {"128 bits", ""}},
        {".shared .b32 x[0];", 14, {"a variable of no bytes", ""}},
        {".reg .bf16 x;", 6, {"expected a register type", ".bf16"}},
        {"cp.async.ca.shared.global [%r1], [%q1], 5;", 1, {"4, 8 or 16", "found 5"}},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};",
         1,
         {"list of 4 registers", ""}},
        {"mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};",
         1,
         {"this shape", ""}},
        {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%q1, {%f1}];",
         1,
         {"expected 2 coordinates", "found 1"}},
        {"tex.2d.v2.f32.f32 {%f1, %f2}, [%q1, {%f1, %f2}];", 1, {"expected .v4", ""}},
        {"tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%q1, {%f1, %f2, %f3}];", 1, {"found 3", ""}},
        {"suld.b.cube.b32.trap %r1, [%q1, {%r1, %r2, %r3, %r4}];", 1, {"expected .1d", ""}},
        {"suld.b.2d.b32 %r1, [%q1, {%r1, %r2}];", 14, {".trap, .clamp or .zero", ""}},
        {"txq.width.b32 %r1, [%q1+8];", 1, {"expected a register of 64 bits", ""}},
        {".reg .b32 x; .reg .b32 x;", 24, {"'x' is declared twice", ""}},
        {".reg .foo x;", 6, {"expected a register type", "'.foo'"}},
        {".local .b8 x[-1];", 14, {"expected an array size", "found '-'"}},
        {".local .align 3 .b8 x[4];", 15, {"power of two", "found 3"}},
        {".param .b32 x; st.param.b32 [x], 1; ld.param.b32 %r1, [x];",
         37,
         {"no call above returns 'x'", ""}},
        {".param .b32 x; st.param.b32 [x+1], 1;", 16, {"not inside the parameter 'x'", ""}},
        {".param .b8 x[24]; st.param.v2.b64 [x-8], {%q1, %q2};", 19, {"not inside", "'x'"}},
        {".loc 1 2;", 9, {"expected a number", "found ';'"}},
        {".loc 1 2 3, inlined_at 1 2;", 27, {"expected a number", "found ';'"}},
        {".loc 1 2 3, function_name 4;", 27, {"expected a label", "found '4'"}},
        {".loc 1 2 3, mov.u32 %r1, 0;", 13, {"expected function_name or inlined_at", ""}},
    };
    struct ptx_error err;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = ptx_wrap_body(cases[i].body);
        int status = parse(text, &err);

        if (status != -EINVAL ||
            (cases[i].column && (err.line != 7 || err.column != cases[i].column)) ||
            !strstr(err.text, cases[i].says[0]) || !strstr(err.text, cases[i].says[1]))
            fail_msg("%s gives %d, %u:%u: %s", cases[i].body, status, err.line, err.column,
                     err.text);
        free(text);
    }
}

static void mistakes_outside_of_functions_are_placed_and_explained(void **state)
{
    static const struct {
        const char *text;
        unsigned line, column;
        const char *says;
    } cases[] = {
        {"", 1, 1, "expected .version, found the end of the text"},
        {"int main() { return 0; }", 1, 1, "expected .version, found 'int'"},
        {".version 8.7\n", 2, 1, "expected .target"},
        {".version 8.7\n.target compute_90\n", 2, 9, "expected a target such as sm_90"},
        {HEADER ".global .u32 x = y;", 4, 18, "'y' is not declared"},
        {HEADER ".global .u32 x[2] = {1, 2, 3};", 4, 28,
         "more values than the variable has room for"},
        {HEADER ".global .u16 a; .global .u16 x = a;", 4, 34, "does not fit in .u16"},
        {HEADER ".global .u32 x; .global .f32 x;", 4, 30, "'x' was declared differently before"},
        {HEADER ".global .v2 .f32 x[2] = {{1.0, 2.0}, {3.0}};", 4, 23, "expected all 2 values"},
        {HEADER ".global .pred x;", 4, 15, "cannot be .pred"},
        {HEADER ".shared .u32 x = 1;", 4, 16, "may have an initialiser"},
        {HEADER ".global .b8 x[];", 4, 13, "without a size"},
        {HEADER ".entry k() { ret; } .entry k() { ret; }", 4, 32, "'k' is defined twice"},
        {HEADER ".func f(.param .b32 a); .func f(.param .b64 a);", 4, 31,
         "with other parameters before"},
        {HEADER ".entry k(.param .u32 a { ret; }", 4, 24, "expected ',' or ')', found '{'"},
        {HEADER ".func f(.param .b32 a);\n.entry k() {\n call f, ();\n}", 6, 2,
         "the call has 0 arguments, its callee 1"},
        {HEADER ".func f(.param .b32 a) {\n.reg .b32 r; ld.param.b32 r, [a+4]; ret; }", 5, 14,
         "not inside the parameter 'a'"},
        {HEADER ".func (.param .b32 r) f();\n.entry k() { .param .b32 x; .reg .b32 r;\n"
                "bra B; A: ld.param.b32 r, [x]; ret; B: call (x), f; bra A; }",
         6, 11, "no call above returns 'x'"},
        {HEADER "/* never ends", 4, 1, "a comment that does not end"},
        {HEADER ".file 1 \"never ends", 4, 9, "a string that does not end on its line"},
        {HEADER ".wrong", 4, 1, "found '.wrong'"},
    };
    struct ptx_error err;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = parse(cases[i].text, &err);

        if (status != -EINVAL || err.line != cases[i].line || err.column != cases[i].column ||
            !strstr(err.text, cases[i].says))
            fail_msg("%s\ngives %d, %u:%u: %s", cases[i].text, status, err.line, err.column,
                     err.text);
    }
}

static void what_is_left_out_is_refused_by_name_and_line(void **state)
{
    static const char *const bodies[][2] = {
        {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %q1, %q2, "
         "%r1, "
         "0, %p1, 1, 1, 0, 0;",
         "wgmma.mma_async.sp"},
        {"cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1],"
         " [%q1, {%r2, %r2, %r2}], [%r3], {%h1};",
         "im2col copies"},
        {"cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col_no_offs.bulk_group "
         "[%q1, {%r1, %r1, %r1}], [%r2];",
         "im2col copies"},
        {"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes"
         " [%r1], [%q1, {%r1, %r2, %r3, %r4, %r5}], [%r3];",
         "gathered and scattered rows"},
        {"cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"
         ".cta_group::2 [%r1], [%q1, {%r2}], [%r3];",
         "pairs of blocks"},
        {"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%r1], 32;", "tcgen05.alloc"},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
         "[%r1], [%q1], 16, [%r2], %h1;",
         "copies to several blocks of a cluster"},
        {"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %r1;",
         "clusterlaunchcontrol"},
        {"multimem.ld_reduce.add.f32 %f1, [%q1];", "multimem"},
        {"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1, %f2, %f3, %f4}, "
         "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
         "block-scaled matrices"},
    };
    struct ptx_error err;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        char *text = ptx_wrap_body(bodies[i][0]);

        if (parse(text, &err) != -ENOTSUP || err.line != 7 || !strstr(err.text, bodies[i][1]) ||
            !strstr(err.text, "not supported"))
            fail_msg("%s gives %u:%u: %s", bodies[i][0], err.line, err.column, err.text);
        free(text);
    }
    assert_int_equal(parse(HEADER ".entry k() .blocksareclusters { ret; }", &err), -ENOTSUP);
    assert_int_equal(parse(".version 9.1\n.target sm_90\n", &err), -ENOTSUP);
}

static void wgmma_says_what_does_not_go_together(void **state)
{
#define WGMMA "wgmma.mma_async.sync.aligned."
    static const char *const all[][3] = {
        {"sm_90a", WGMMA "m64n8k16.f32.f16.f16 {%f1, %f1}, %q1, %q2, %p1, 1, 1, 0, 0;",
         "expected a list of 4 registers, found 2"},
        {"sm_90a", WGMMA "m64n8k16.f16.f16.f16 {%f1, %f1}, %q1, %q2, %p1, 1, 1, 0, 0;",
         "expected registers for elements of .f16, found .f32"},
        {"sm_90a", WGMMA "m64n8k16.f16.bf16.bf16 {%r1, %r1}, %q1, %q2, %p1, 1, 1, 0, 0;",
         "there is no product of .bf16 and .bf16 to .f16"},
        {"sm_90a", WGMMA "m64n8k8.f16.f16.f16 {%r1, %r1}, %q1, %q2, %p1, 1, 1, 0, 0;",
         ".f16 does not come in this shape"},
        {"sm_90a", WGMMA "m64n12k16.f16.f16.f16 {%r1, %r1}, %q1, %q2, %p1, 1, 1, 0, 0;",
         "expected a matrix shape"},
        {"sm_90a", WGMMA "m64n8k16.f16.f16.f16 {%r1, %r1}, %q1, %q2, %p1, 1, 0, 0, 0;",
         "expected -1 or 1, found 0"},
        {"sm_90a", WGMMA "m64n8k16.f16.f16.f16 {%r1, %r1}, %q1, %q2, %p1, 1, 1, 2, 0;",
         "expected 0 or 1, found 2"},
        {"sm_90a", WGMMA "m64n8k16.f16.f16.f16 {%r1, %r1}, %q1, %q2, %p1, 1, 1;",
         "expected another constant"},
        {"sm_90a", WGMMA "m64n8k32.f16.e4m3.e4m3 {%r1, %r1}, %q1, %q2, %p1, 1, 1, 0, 0;",
         "expected fewer constants"},
        {"sm_90a", WGMMA "m64n8k32.s32.s8.u8 {%r1, %r1, %r1, %r1}, %q1, %q2, %p1;",
         "expected .version 8.4 or later for .s8 and .u8"},
        {"sm_90a", WGMMA "m64n8k256.s32.b1.b1.xor.popc {%r1, %r1, %r1, %r1}, %q1, %q2, %p1;",
         ".and.popc goes with .b1"},
        {"sm_90a", "wgmma.wait_group.sync.aligned -1;", "expected a count of groups, found -1"},
        {"sm_90", "wgmma.fence.sync.aligned;", "expected .target sm_90a, found sm_90"},
        {"sm_100a", "wgmma.fence.sync.aligned;", "expected .target sm_90a, found sm_100"},
        {"sm_90a", "setmaxnreg.inc.sync.aligned.u32 100;", "a multiple of 8 from 24 to 256"},
        {"sm_90a", "setmaxnreg.dec.sync.aligned.u32 16;", "a multiple of 8 from 24 to 256"},
    };
#undef WGMMA
    struct ptx_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char text[1024];

        snprintf(text, sizeof(text),
                 ".version 8.3\n.target %s\n.address_size 64\n.entry k()\n{ .reg .b32 %%r<2>; "
                 ".reg .b64 %%q<3>; .reg .f32 %%f<2>; .reg .pred %%p<2>;\n%s ret; }",
                 all[i][0], all[i][1]);
        if (parse(text, &err) != -EINVAL || err.line != 6 || !strstr(err.text, all[i][2]))
            fail_msg("%s gives %u:%u: %s", all[i][1], err.line, err.column, err.text);
    }
}

/* ---- bounds ---- */

static char *repeat(const char *before, const char *unit, size_t times, const char *after)
{
    size_t n = strlen(unit), i;
    char *text = malloc(strlen(before) + n * times + strlen(after) + 1), *at = stpcpy(text, before);

    for (i = 0; i < times; i++, at += n)
        memcpy(at, unit, n);
    strcpy(at, after);
    return text;
}

static void huge_things_are_refused_before_they_are_made(void **state)
{
    static const char *const texts[] = {
        HEADER ".entry k() { .reg .b32 %r<4294967295>; ret; }",
        HEADER ".entry k() { .reg .b32 %r<1048577>; ret; }",
        HEADER ".entry k() { .reg .b32 %r<900000>; .reg .b32 %s<900000>; ret; }",
        HEADER ".global .b8 x[18446744073709551615];",
        HEADER ".global .u64 x[1000000][1000000][1000000];",
        HEADER ".global .u64 x[4294967296][4294967296];",
        HEADER ".global .b8 x[300000000000];",
        HEADER ".entry k(.param .b8 x[100000000]) { ret; }",
        HEADER ".const .b8 x[4294967296];",
        HEADER ".const .b8 x[600000]; .entry k() { .const .b8 x[600000]; ret; }",
        HEADER ".const .align 524288 .b8 x, y, z;",
        HEADER ".entry k() .reqntid 4294967295 { ret; }",
        HEADER ".entry k() .maxntid 1024, 1024, 1025 { ret; }",
        HEADER ".entry k() .reqnctapercluster 1, 1, 1073741825 { ret; }",
    };
    struct ptx_error err;
    char *more, *text;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (parse(texts[i], &err) != -E2BIG)
            fail_msg("%s gives %u:%u: %s", texts[i], err.line, err.column, err.text);
    text = repeat(HEADER ".entry k() { ", "{ ", 100000, "");
    assert_int_equal(parse(text, &err), -E2BIG);
    free(text);
    text = repeat(HEADER ".entry k() { .reg .b32 r; mov.b32 r, ", "(", 100000, "");
    assert_int_equal(parse(text, &err), -E2BIG);
    free(text);
    text = repeat(HEADER ".entry k() { .reg .b32 r; mov.b32 r, ", "-", 100000, "");
    assert_int_equal(parse(text, &err), -E2BIG);
    free(text);
    text = repeat(HEADER ".entry k() { .reg .b32 r; mov.b32 r, ", "1 ? ", 100000, "");
    assert_int_equal(parse(text, &err), -E2BIG);
    free(text);
    text = repeat(HEADER ".global .b8 x[4] = ", "{", 100000, "");
    assert_int_equal(parse(text, &err), -EINVAL);
    free(text);
    text = repeat(HEADER ".entry k() { .reg .b32 r; mov.b32 r, {", "r, ", 100000, "r}; }");
    assert_int_equal(parse(text, &err), -E2BIG);
    free(text);
    text = repeat(HEADER ".func f(", ".param .b32 a, ", 100000, ".param .b32 a);");
    assert_int_equal(parse(text, &err), -E2BIG);
    free(text);
    text = repeat(HEADER ".global .b8 x", "[1]", 100000, ";");
    assert_int_equal(parse(text, &err), -E2BIG);
    free(text);
    text = repeat(HEADER ".entry k() { .reg .b32 r; mov.b32 r", ", r", 100000, "; }");
    assert_int_equal(parse(text, &err), -EINVAL);
    free(text);
    /* 1,100 branches by a list of 1,000 labels: as many ways as the square of the text's length */
    more = repeat(HEADER ".entry k() { .reg .b32 r; .reg .pred p; l: t: .branchtargets l", ", l",
                  999, "; ");
    text = repeat(more, "@p brx.idx r, t; ", 1000, "}");
    assert_int_equal(parse(text, &err), 0);
    free(text);
    text = repeat(more, "@p brx.idx r, t; ", 1100, "}");
    assert_int_equal(parse(text, &err), -E2BIG);
    free(text);
    free(more);
}

static void the_bytes_of_a_kernels_parameters_have_a_bound(void **state)
{
    static const struct {
        const char *version, *target;
        unsigned bytes;
        int result;
    } table[] = {
        {"8.1", "sm_70", 4353, 0},      {"8.1", "sm_70", 32764, 0}, {"8.1", "sm_70", 32765, -E2BIG},
        {"8.1", "sm_90a", 32764, 0},    {"8.0", "sm_90", 4352, 0},  {"8.0", "sm_90", 4353, -E2BIG},
        {"8.1", "sm_60", 4353, -E2BIG},
    };
    struct ptx_error err;
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        snprintf(text, sizeof(text),
                 ".version %s\n.target %s\n.address_size 64\n"
                 ".entry k(.param .b8 x[%u]) { ret; }",
                 table[i].version, table[i].target, table[i].bytes);
        if (parse(text, &err) != table[i].result)
            fail_msg("%s gives %u:%u: %s", text, err.line, err.column, err.text);
    }
    assert_non_null(strstr(err.text, "4352 bytes; .target sm_70 and .version 8.1 allow more"));
}

/* Each of these would take minutes if something in the reader were quadratic. */
static void long_texts_are_read_in_linear_time(void **state)
{
    struct ptx_error err;
    char *text;

    (void)state;
    text = repeat(HEADER ".entry k() {", "{ .reg .b32 x; mov.b32 x, 1; bra L; L: }\n", 200000,
                  "ret; }");
    assert_int_equal(parse(text, &err), 0);
    free(text);
    text = repeat(HEADER ".entry k() {", "{{{{{{{{ bra L; }}}}}}}}\n", 100000, "L: ret; }");
    assert_int_equal(parse(text, &err), 0);
    free(text);
    text = repeat(HEADER, "// nothing\n", 500000, "");
    assert_int_equal(parse(text, &err), 0);
    free(text);
    text = repeat(HEADER ".global .b8 x[4000000] = {", "1,", 1000000, "1};");
    assert_int_equal(parse(text, &err), 0);
    free(text);
}

/* ---- cuts and flips ---- */

static void every_cut_of_a_module_gives_an_error_or_a_module(void **state)
{
    static const char *const names[] = {"every_form.ptx", "sample_O3.ptx"};
    struct ptx_error err;
    size_t len, n, i;

    (void)state;
    for (i = 0; i < 2; i++) {
        char *text = ptx_file_read(names[i], &len);

        for (n = 0; n < len; n += n < 3000 ? 1 : 37) {
            char *cut = malloc(n ? n : 1); /* so that a sanitizer sees a read beyond */
            struct ptx_module *m = NULL;
            int status;

            memcpy(cut, text, n);
            status = ptx_parse(cut, n, &m, &err);
            if (status) {
                assert_true(status == -EINVAL && err.line > 0 && err.column > 0 && err.text[0]);
                assert_null(m);
            }
            ptx_module_free(m);
            free(cut);
        }
        free(text);
    }
}

static void every_flipped_byte_gives_an_error_or_a_module(void **state)
{
    static const char replacements[] = {0, ';', '{', '}', '.', '%', '0', ',', '(', '"', (char)0xff};
    struct ptx_error err;
    size_t len, n, i;
    char *text = ptx_file_read("clang_O2.ptx", &len), old;

    (void)state;
    for (n = 0; n < len; n++) {
        old = text[n];
        for (i = n % 3; i < sizeof(replacements); i += 3) {
            text[n] = replacements[i];
            parse(text, &err);
        }
        text[n] = old;
    }
    free(text);
}

/* ---- no memory ---- */

#if OWN_ALLOCATOR
static void each_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    size_t len;
    char *text = ptx_file_read("every_form.ptx", &len);
    struct ptx_module *m;
    struct ptx_error err;
    int status = -ENOMEM;
    long n, before;

    (void)state;
    for (n = 0; status; n++) {
        m = NULL;
        before = live;
        fail_at = n;
        status = ptx_parse(text, len, &m, &err);
        if (status && status != -ENOMEM)
            fail_msg("with request %ld failed: %d, %u:%u: %s", n, status, err.line, err.column,
                     err.text);
        if (status)
            assert_int_equal(live, before);
        if (fail_at >= 0)
            assert_int_equal(status, 0); /* fewer requests than that */
    }
    fail_at = -1;
    assert_true(n > 20);
    ptx_module_free(m);
    free(text);
}
#else
static void each_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    print_message("the sanitizer has its own allocator\n");
    skip();
}
#endif

/* The driver's compiler copies each message that names one to a buffer of 100,000 bytes. */
static void names_and_strings_are_bounded(void **state)
{
    static const char *const forms[] = {
        ".visible .entry %s() { ret; }\n",
        ".pragma \"%s\";\n.visible .entry k() { ret; }\n",
        ".visible .entry k() { %s: ret; }\n",
        ".visible .entry k() { .reg .b32 %s; ret; }\n",
    };
    static char name[PTX_MAX_NAME + 2], text[PTX_MAX_NAME + 256];
    struct ptx_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        for (size_t beyond = 0; beyond < 2; beyond++) {
            memset(name, 'n', PTX_MAX_NAME + beyond);
            name[PTX_MAX_NAME + beyond] = '\0';
            strcpy(text, HEADER);
            snprintf(text + strlen(text), sizeof(text) - strlen(text), forms[i], name);
            assert_int_equal(parse(text, &err), beyond ? -EINVAL : 0);
        }
        assert_int_equal(err.line, 4);
        assert_non_null(strstr(err.text, "a name or a string of more than 16384 bytes"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_instructions_are_placed_and_explained),
        cmocka_unit_test(mistakes_outside_of_functions_are_placed_and_explained),
        cmocka_unit_test(what_is_left_out_is_refused_by_name_and_line),
        cmocka_unit_test(wgmma_says_what_does_not_go_together),
        cmocka_unit_test(huge_things_are_refused_before_they_are_made),
        cmocka_unit_test(the_bytes_of_a_kernels_parameters_have_a_bound),
        cmocka_unit_test(names_and_strings_are_bounded),
        cmocka_unit_test(long_texts_are_read_in_linear_time),
        cmocka_unit_test(every_cut_of_a_module_gives_an_error_or_a_module),
        cmocka_unit_test(every_flipped_byte_gives_an_error_or_a_module),
        cmocka_unit_test(each_failed_allocation_is_reported_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
