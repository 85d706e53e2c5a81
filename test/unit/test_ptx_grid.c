/* Kernels that synchronise their grid: which they are, and what the pass makes of them where they
 * are fenced. What they then do is in test_corpus and test_cooperative. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/grid_sync.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx_files.h"

#define HEAD  ".version 7.0\n.target sm_80\n.address_size 64\n"
#define READS "mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; "
#define BODY  "{ .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p; "
#define TRAPS "setp.eq.u32 %p, %r1, 0; @%p trap; "

static void expect_kernels(const char *text, const char *const *names, uint32_t count)
{
    struct grid_sync found;

    assert_int_equal(grid_sync_find(text, strlen(text), &found), 0);
    assert_int_equal(found.count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_true(grid_sync_has(&found, names[i]));
    assert_false(grid_sync_has(&found, "other"));
    grid_sync_deinit(&found);
    assert_int_equal(found.count, 0);
}

static void a_kernel_that_reads_the_workspace_and_can_trap_synchronises(void **state)
{
    (void)state;
    expect_kernels(HEAD ".visible .entry k() " BODY READS TRAPS "ret; }\n"
                        ".visible .entry other() " BODY "trap; }\n",
                   (const char *const[]){"k"}, 1);
}

static void one_that_only_asks_does_not(void **state)
{
    (void)state;
    expect_kernels(HEAD ".visible .entry other() " BODY READS "ret; }\n", NULL, 0);
    expect_kernels(HEAD ".visible .entry other() " BODY "mov.u32 %r1, %envreg3; " TRAPS "ret; }\n",
                   NULL, 0);
    expect_kernels(HEAD "// %envreg1\n.visible .entry other() " BODY "trap; }\n", NULL, 0);
}

static void functions_count_for_those_who_call_them(void **state)
{
    (void)state;
    expect_kernels(HEAD ".func reads() " BODY READS "ret; }\n"
                        ".func traps() " BODY "trap; ret; }\n"
                        ".func both() { call reads; call traps; ret; }\n"
                        ".visible .entry k() { call both; ret; }\n"
                        ".visible .entry l() { call reads; trap; }\n"
                        ".visible .entry other() { call reads; ret; }\n",
                   (const char *const[]){"k", "l"}, 2);
}

static void what_cannot_be_read_has_none(void **state)
{
    struct grid_sync found;

    (void)state;
    assert_int_equal(grid_sync_find("%envreg1 trap", 13, &found), 0);
    assert_int_equal(found.count, 0);
    grid_sync_deinit(&found);
}

static void nvcc_s_kernels_are_known(void **state)
{
    static const char *const levels[] = {"O0", "O3"};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
        char path[96];
        size_t len;
        snprintf(path, sizeof(path), "../corpus/ptx/grid_sync.%s.ptx", levels[i]);
        char *text = ptx_file_read(path, &len);
        struct grid_sync found;

        assert_int_equal(grid_sync_find(text, len, &found), 0);
        assert_true(grid_sync_has(&found, "rotate_sum"));
        assert_false(grid_sync_has(&found, "tiles"));
        grid_sync_deinit(&found);
        free(text);
    }
}

/* Every module with the barrier gets one variable for it in the window; the addresses that the
 * driver passes are read in the prologue only. */
static void a_fenced_barrier_has_a_variable_in_the_window(void **state)
{
    static const char text[] =
        HEAD ".visible .entry k() " BODY READS TRAPS
             "cvt.u64.u32 %rd1, %r1; cvt.u64.u32 %rd2, %r2; bfi.b64 %rd3, %rd2, %rd1, 32, 32;"
             "atom.add.release.gpu.u32 %r3, [%rd3+4], 1; ret; }\n"
             ".visible .entry other() " BODY "ret; }\n";
    struct ptx_rewrite_report report;
    char *out;
    size_t len;

    (void)state;
    memset(&report, 0, sizeof(report));
    assert_int_equal(ptx_rewrite(text, strlen(text),
                                 PTX_PASS_FENCE | PTX_PASS_GRID | PTX_PASS_COMPLETION, &out, &len,
                                 &report),
                     0);
    assert_int_equal(report.fence.nvariables, 1);
    assert_string_equal(report.fence.variables[0].name, GRID_VARIABLE);
    assert_true(report.fence.variables[0].size >= 8);
    assert_null(strstr(out, GRID_VARIABLE "["));
    assert_non_null(strstr(out, "gshare$envreg2, %envreg2"));
    assert_null(strstr(out, "%r1, %envreg2"));
    ptx_rewrite_report_deinit(&report);
    ptx_module_free(ptx_parse_good(out));
    free(out);
}

static void other_modules_stay_as_they_are(void **state)
{
    static const char text[] = HEAD ".visible .entry k() " BODY "mov.u32 %r1, %envreg3; ret; }\n";
    struct ptx_rewrite_report report;
    char *out;
    size_t len;

    (void)state;
    memset(&report, 0, sizeof(report));
    assert_int_equal(ptx_rewrite(text, strlen(text), PTX_PASS_GRID, &out, &len, &report), -ENOENT);
    ptx_rewrite_report_deinit(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_reads_the_workspace_and_can_trap_synchronises),
        cmocka_unit_test(one_that_only_asks_does_not),
        cmocka_unit_test(functions_count_for_those_who_call_them),
        cmocka_unit_test(what_cannot_be_read_has_none),
        cmocka_unit_test(nvcc_s_kernels_are_known),
        cmocka_unit_test(a_fenced_barrier_has_a_variable_in_the_window),
        cmocka_unit_test(other_modules_stay_as_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
