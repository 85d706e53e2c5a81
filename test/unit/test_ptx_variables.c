/* PTX_PASS_VARIABLES: the .global variables of a module move into a block of the caller's, and
 * accesses that name none stay as they are; where a variable cannot move, none does. What the
 * kernels then do is in test_corpus and test_takeover. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

static struct ptx_rewrite_report report;

/* NULL: the text stays as it is. */
static char *rewritten(const char *text)
{
    char *out = NULL;
    size_t len;
    int result;

    ptx_rewrite_report_deinit(&report);
    result = ptx_rewrite(text, strlen(text), PTX_PASS_VARIABLES, &out, &len, &report);
    assert_true(result == 0 || result == -ENOENT);
    assert_int_equal(report.fence.moved, result == 0);
    assert_false(report.fence.fenced);
    if (result == 0) {
        struct ptx_module *m = NULL;
        struct ptx_error error;
        assert_int_equal(ptx_parse(out, len, &m, &error), 0);
        ptx_module_free(m);
    }
    return out;
}

static void variables_move_and_other_accesses_stay(void **state)
{
    char *out =
        rewritten(HEAD ".visible .global .align 4 .u32 a = 5;\n.global .align 16 .b8 b[40];\n"
                       ".const .u32 c = 3;\n"
                       ".visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r;\n"
                       " ld.param.u64 %rd0, [p]; ld.global.u32 %r, [a];\n"
                       " st.global.u32 [%rd0+4], %r; mov.u64 %rd1, b;\n"
                       " st.global.u32 [%rd1], %r; ld.const.u32 %r, [c]; ret; }\n"
                       ".visible .entry other(.param .u64 p) { .reg .b64 %rd;\n"
                       " ld.param.u64 %rd, [p]; st.global.u32 [%rd], 1; ret; }\n");

    (void)state;
    assert_non_null(out);
    assert_int_equal(report.fence.nvariables, 2);
    assert_string_equal(report.fence.variables[0].name, "a");
    assert_int_equal(report.fence.variables[0].nbytes, 4);
    assert_int_equal(report.fence.variables[1].offset, 16);
    assert_int_equal(report.fence.bytes, 56);
    assert_null(strstr(out, ".global .align"));
    assert_non_null(strstr(out, "[gshare$globals]"));
    assert_non_null(strstr(out, "gshare$globals, 16"));
    assert_null(strstr(out, "lop3"));
    /* Who names no variable has no more instructions than before. */
    assert_null(strstr(strstr(out, "other(.param .u64 p)\n{"), "gshare$"));
    free(out);
}

static void what_cannot_move_stays(void **state)
{
    static const char *const texts[] = {
        /* none */
        HEAD ".const .u32 c = 3;\n.visible .entry k() { ret; }\n",
        /* in a kernel */
        HEAD ".global .u32 a;\n.visible .entry k() { .global .u32 b; ret; }\n",
        /* defined elsewhere, a texture, aligned beyond any place */
        HEAD ".extern .global .u32 a;\n.visible .entry k() { ret; }\n",
        HEAD ".global .texref t;\n.global .u32 a;\n.visible .entry k() { ret; }\n",
        HEAD ".global .align 131072 .b8 a[4];\n.visible .entry k() { ret; }\n",
        /* beside constants that fill their 64 KiB, where the window's have no room */
        HEAD ".const .align 4 .b8 c[65536];\n.global .u32 a;\n.visible .entry k() { ret; }\n",
        /* an instruction that may only be known by its variable */
        HEAD ".global .u32 a;\n.visible .entry k() { prefetch.global.L2 [a]; ret; }\n",
        /* names that the pass has itself */
        HEAD ".global .u32 gshare$globals;\n.visible .entry k() { ret; }\n",
        /* addresses of 32 bits; no PTX at all */
        ".version 7.8\n.target sm_80\n.address_size 32\n.global .u32 a;\n",
        "nonsense",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (rewritten(texts[i]))
            fail_msg("case %zu has moved", i);
}

static void managed_variables_have_pages_of_their_own(void **state)
{
    char *out =
        rewritten(HEAD ".global .u32 a;\n.global .attribute(.managed) .align 4 .b8 m[5000];\n"
                       ".global .u32 b;\n.visible .entry k() { .reg .b32 %r;\n"
                       " ld.global.u32 %r, [m]; st.global.u32 [b], %r; ret; }\n");

    (void)state;
    assert_non_null(out);
    assert_true(report.fence.managed);
    assert_int_equal(report.fence.align, MANAGED_PAGE);
    assert_int_equal(ptx_fence_report_variable(&report.fence, "m")->offset, MANAGED_PAGE);
    assert_int_equal(ptx_fence_report_variable(&report.fence, "m")->size, 5000);
    assert_int_equal(ptx_fence_report_variable(&report.fence, "b")->offset, 3 * MANAGED_PAGE);
    assert_null(strstr(out, "managed"));
    free(out);
}

/* Addresses of functions are told, for they are others in another context. */
static void addresses_of_functions_are_told(void **state)
{
    char *out =
        rewritten(HEAD ".func f() { ret; }\n.visible .global .align 8 .u64 t[2] = {f, 0};\n"
                       ".visible .entry k() { .reg .b64 %rd; ld.global.u64 %rd, [t]; ret; }\n");

    (void)state;
    assert_non_null(out);
    assert_int_equal(report.fence.nfunctions, 1);
    free(out);
}

/* A module may have a million, for which its tenant asks one by one. */
static void many_variables_are_found_by_name(void **state)
{
    enum { VARIABLES = 1000 };
    char *text = malloc((size_t)VARIABLES * 32 + 1024), name[16];
    size_t at;

    (void)state;
    assert_non_null(text);
    at = (size_t)sprintf(text, HEAD);
    for (unsigned i = 0; i < VARIABLES; i++)
        at += (size_t)sprintf(text + at, ".global .u32 v%u;\n", i * 7919 % VARIABLES);
    sprintf(text + at, ".visible .entry k() { .reg .b32 %%r; ld.global.u32 %%r, [v1]; ret; }\n");
    free(rewritten(text));
    assert_int_equal(report.fence.nvariables, VARIABLES);
    for (unsigned i = 0; i < VARIABLES; i++) {
        sprintf(name, "v%u", i * 7919 % VARIABLES);
        const struct ptx_fence_variable *v = ptx_fence_report_variable(&report.fence, name);
        assert_non_null(v);
        assert_string_equal(v->name, name);
        assert_int_equal(v->offset, 4 * i);
    }
    assert_null(ptx_fence_report_variable(&report.fence, "v"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_move_and_other_accesses_stay),
        cmocka_unit_test(what_cannot_move_stays),
        cmocka_unit_test(managed_variables_have_pages_of_their_own),
        cmocka_unit_test(addresses_of_functions_are_told),
        cmocka_unit_test(many_variables_are_found_by_name),
    };
    int failed = cmocka_run_group_tests_name("variables", tests, NULL, NULL);

    ptx_rewrite_report_deinit(&report);
    return failed;
}
